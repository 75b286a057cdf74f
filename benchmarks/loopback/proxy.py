"""The bare fan-out proxy: `python -m benchmarks.loopback.proxy PORT FIRST SECOND SAMPLES`.

It makes the calls that a policy of two members makes and hands the first reply on, by the libraries that the server
uses and as cheaply as they allow: one request written for all samples, connections kept, replies neither parsed nor
written anew. It votes nothing, checks nothing, retries nothing and counts nothing.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from typing import Any

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from yarl import URL

HEADERS = {"content-type": "application/json"}


def proxy(first: int, second: int, samples: int) -> Starlette:
    urls = {
        model: URL(f"http://127.0.0.1:{port}/v1/chat/completions")
        for model, port in (("first", first), ("second", second))
    }
    held: list[aiohttp.ClientSession] = []

    def session() -> aiohttp.ClientSession:
        if not held:
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=4)
            held.append(aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()))
        return held[0]

    async def one(url: URL, body: bytes) -> bytes:
        async with session().post(url, data=body, headers=HEADERS) as reply:
            return await reply.read()

    async def chat(request: Request) -> Response:
        asked: dict[str, Any] = json.loads(await request.body())
        bodies = {model: json.dumps({**asked, "model": model}).encode()[:-1] for model in urls}
        calls = (
            one(urls[model], b'%b,"seed":%d}' % (body, k)) for model, body in bodies.items() for k in range(samples)
        )
        found = await asyncio.gather(*calls)
        return Response(found[0], media_type="application/json")

    async def health(request: Request) -> Response:
        return JSONResponse({})

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"]), Route("/health", health)])


if __name__ == "__main__":
    port, *rest = map(int, sys.argv[1:])
    app = proxy(*rest)
    gc.freeze()
    gc.set_threshold(20_000)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="critical", access_log=False, backlog=2048)
