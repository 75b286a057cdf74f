"""Upstreams that behave in every way, good and bad, and policies that use them: real HTTP on loopback."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from fractions import Fraction
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from swaplaw.decide.policy import Member, Policy
from swaplaw.serve.settings import Served, served_from

Start = Callable[..., httpx.Client]
"""Serves policies, and gives a client for them."""
Behaviour = Callable[[Request, dict[str, Any], str], Awaitable[Response]]


class World:
    """One HTTP server with many models: the name says how each behaves, `says-X` answers X."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.cancelled = 0
        self.broken: set[str] = set()
        self.texts: dict[str, str] = {}
        self.replies: dict[str, Response] = {}
        self.limited = 0
        self.at_once = self.most_at_once = 0
        self._window: list[float] = []
        self.app = Starlette(routes=[Route("/v1/chat/completions", self.chat, methods=["POST"])])

    async def chat(self, request: Request) -> Response:
        body = await request.json()
        model = body["model"]
        self.calls[model] += 1
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        if model in self.broken:
            return JSONResponse({"error": {"message": "down: your key sk-secret"}}, 500)
        kind, _, rest = model.partition("-")
        behaviour: Behaviour = getattr(self, f"_{kind}")
        return await behaviour(request, body, rest)

    async def _says(self, request: Request, body: dict[str, Any], answer: str) -> Response:
        return reply(f"The answer is ({answer}).", body.get("n", 1))

    async def _mumbles(self, request: Request, body: dict[str, Any], rest: str) -> Response:
        return reply("Hard to say.", body.get("n", 1))

    async def _cut(self, request: Request, body: dict[str, Any], rest: str) -> Response:
        return reply("Let me think about", body.get("n", 1), finish="length")

    async def _filtered(self, request: Request, body: dict[str, Any], rest: str) -> Response:
        return reply("", body.get("n", 1), finish="content_filter")

    async def _slow(self, request: Request, body: dict[str, Any], rest: str) -> Response:
        """Answers after a while, unless the caller hangs up before."""
        sleeping = asyncio.create_task(asyncio.sleep(float(rest)))
        while not sleeping.done():
            if await request.is_disconnected():
                self.cancelled += 1
                sleeping.cancel()
                break
            await asyncio.sleep(0.02)
        return reply("The answer is (A).")

    async def _status(self, request: Request, body: dict[str, Any], status: str) -> Response:
        code = int(status.rstrip("b"))
        return JSONResponse({"error": {"message": "your key sk-secret"}}, code, {"retry-after": "0"})

    async def _texts(self, request: Request, body: dict[str, Any], name: str) -> Response:
        return reply(self.texts[name], body.get("n", 1))

    async def _replies(self, request: Request, body: dict[str, Any], name: str) -> Response:
        """Whatever a test has laid out."""
        return self.replies[name]

    async def _lengthy(self, request: Request, body: dict[str, Any], name: str) -> Response:
        return reply(self.texts[name], body.get("n", 1), finish="length")

    async def _burst(self, request: Request, body: dict[str, Any], most: str) -> Response:
        """Allows so many calls per second."""
        now = time.monotonic()
        self._window = [at for at in self._window if at > now - 1]
        if len(self._window) >= int(most):
            self.limited += 1
            return JSONResponse({}, 429, {"retry-after": "1"})
        self._window.append(now)
        return reply("The answer is (A).")

    async def _later(self, request: Request, body: dict[str, Any], seconds: str) -> Response:
        return JSONResponse({}, 429, {"retry-after": seconds})

    async def _counts(self, request: Request, body: dict[str, Any], rest: str) -> Response:
        """Takes a while, and notes how many calls there were at once."""
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0.05)
        self.at_once -= 1
        return reply("The answer is (A).")

    async def _streams(self, request: Request, body: dict[str, Any], answer: str) -> Response:
        async def events() -> AsyncIterator[bytes]:
            yield b'data: {"choices": [{"delta": {"content": "The answer is (A)."}}]}\n\n'
            yield b"data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    async def _refuses(self, request: Request, body: dict[str, Any], rest: str) -> Response:
        message = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
        return JSONResponse({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    async def _parts(self, request: Request, body: dict[str, Any], answer: str) -> Response:
        parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": f"The answer is ({answer})."}]
        message = {"role": "assistant", "content": parts}
        return JSONResponse({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    async def _once(self, request: Request, body: dict[str, Any], status: str) -> Response:
        """Fails the first time, then answers B."""
        if self.calls[body["model"]] == 1:
            return JSONResponse({}, int(status), {"retry-after": "0"})
        return reply("The answer is (B).")

    async def _broken(self, request: Request, body: dict[str, Any], how: str) -> Response:
        bodies = {
            "json": b'{"choices": [',
            "html": b"<html>busy</html>",
            "list": b"[1, 2]",
            "empty": b'{"choices": []}',
            "choice": b'{"choices": [{"text": "A"}]}',
            "content": b'{"choices": [{"message": {"content": 7}}]}',
            "deep": b"[" * 100_000,
            "latin": b'{"choices": "\xff"}',
        }
        return Response(bodies[how], media_type="application/json")

    async def _truncated(self, request: Request, body: dict[str, Any], rest: str) -> Response:
        async def half() -> AsyncIterator[bytes]:
            yield b'{"choices": [{"message": {"con'

        # Promises more than it sends: the server closes the connection in the middle.
        return StreamingResponse(half(), headers={"content-length": "1000", "content-type": "application/json"})

    async def _giant(self, request: Request, body: dict[str, Any], rest: str) -> Response:
        async def heaps() -> AsyncIterator[bytes]:
            yield b'{"choices": [{"message": {"content": "'
            for _ in range(500):
                yield b"A" * 65536
                await asyncio.sleep(0)

        return StreamingResponse(heaps(), media_type="application/json")

    async def _packed(self, request: Request, body: dict[str, Any], rest: str) -> Response:
        return Response(b"\x1f\x8b", headers={"content-encoding": "gzip"})

    async def _moved(self, request: Request, body: dict[str, Any], rest: str) -> Response:
        return RedirectResponse("/v1/elsewhere", 307)

    async def _ignores(self, request: Request, body: dict[str, Any], answer: str) -> Response:
        """Answers once, however many are asked for."""
        return reply(f"The answer is ({answer}).")


def reply(text: str, number: int = 1, finish: str = "stop") -> JSONResponse:
    message = {"role": "assistant", "content": text}
    choices = [{"index": index, "message": message, "finish_reason": finish} for index in range(number)]
    usage = {"prompt_tokens": 5, "completion_tokens": 3 * number}
    return JSONResponse({"choices": choices, "usage": usage})


def serve(
    base_url: str,
    *members: tuple[str, str, int],
    name: str = "pool",
    upstream: dict[str, Any] | None = None,
    price: float | None = None,
    **serving: Any,
) -> Served:
    """A policy of (model, weight, samples) at one upstream."""
    fast = {"base_url": base_url, "timeout": 2.0, "retries": 1, "cooldown": 0.2, **(upstream or {})}
    everything = {"upstreams": {model: fast for model, _, _ in members}, "answer": {"choices": "ABCDE"}, **serving}
    chosen = tuple(Member(model, Fraction(weight), samples, price) for model, weight, samples in members)
    return served_from(Policy(chosen, "test", {}, {}, everything), name)


def ask(text: str = "Which?", model: str = "pool", **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": text}], **more}
