"""An upstream: `python -m benchmarks.loopback.upstream PORT DELAY FAULTS [LENGTH]`.

Every call is answered A after `DELAY` seconds, by as little code as an upstream needs: it shares the machine with what
is measured. With a `LENGTH`, no two replies are the same, each has that many characters and names every option. A
share `FAULTS` of the calls goes wrong in some way, each of which real upstreams have been seen to.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import sys
from collections.abc import Iterator, Sequence
from itertools import count, repeat

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

Fault = tuple[int, Sequence[tuple[bytes, bytes]], bytes, float]
"""Status, headers, body, and seconds that it takes longer."""

CHOICE = {"index": 0, "finish_reason": "stop"}
USAGE = {"prompt_tokens": 20, "completion_tokens": 12, "total_tokens": 32}
OPTIONS = "It could be (A), but (B) or C fits some of it; option D does not, nor E. "


def reply(text: str) -> bytes:
    choice = {**CHOICE, "message": {"role": "assistant", "content": text}}
    document = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return json.dumps({**document, "usage": USAGE}).encode()


def replies(length: int) -> Iterator[bytes]:
    """One reply after the other, each with a number of its own."""
    end, number = "So the answer is (A).", "Number 0000000. "
    argued = (OPTIONS * (length // len(OPTIONS) + 1))[: max(0, length - len(end) - len(number))]
    first, last = reply(f"Number #. {argued}{end}").split(b"#")
    return (b"%b%07d%b" % (first, place, last) for place in count())


REPLY = reply("The answer is (A).")
FAULTS: Sequence[Fault] = (
    (500, [], b"{}", 0),
    (503, [(b"retry-after", b"1")], b"busy", 0),
    (429, [(b"retry-after", b"1")], b"{}", 0),
    (429, [(b"retry-after", b"Wed, 21 Oct 2015 07:28:00 GMT")], b"{}", 0),
    (429, [], b"{}", 0),
    (200, [], b"{", 0),
    (200, [], b'{"choices": []}', 0),
    (200, [], b'{"choices": [{"message": {"content": 7}}]}', 0),
    (200, [(b"content-encoding", b"gzip")], b"\x1f\x8b", 0),
    (200, [], b"\xff" * 70_000, 0),
    (200, [], REPLY, 1.0),
    (307, [(b"location", b"/elsewhere")], b"", 0),
    (200, [(b"content-length", b"9999")], b"{", 0),
)
"""The last hangs up in the middle."""


def upstream(delay: float, faults: float, length: int = 0) -> ASGIApp:
    chance, well = random.Random(0), replies(length) if length else repeat(REPLY)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        while (await receive()).get("more_body"):
            pass
        fault: Fault = (200, [], next(well), 0)
        if scope["path"] != "/health":
            if chance.random() < faults:
                fault = chance.choice(FAULTS)
            await asyncio.sleep(delay + fault[3])
        status, headers, body, _ = fault
        whole = not any(name == b"content-length" for name, _ in headers)
        length = [(b"content-length", b"%d" % len(body))] if whole else []
        kind = (b"content-type", b"application/json")
        await send({"type": "http.response.start", "status": status, "headers": [kind, *length, *headers]})
        await send({"type": "http.response.body", "body": body, "more_body": not whole})

    return app


if __name__ == "__main__":
    app = upstream(float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 0)
    gc.freeze()
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_level="critical",
        access_log=False,
        backlog=2048,
        lifespan="off",
    )
