"""Requests that no vote can answer, such as those with tools: the primary answers alone, visibly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
from starlette.responses import JSONResponse, Response, StreamingResponse

from swaplaw.serve.http.gate import error
from swaplaw.serve.http.schemas import ChatRequest
from swaplaw.serve.settings import Served
from swaplaw.serve.upstream.client import OUR_FAULT, Client
from swaplaw.serve.upstream.completions import UpstreamError

HEADER = "x-swaplaw-passed-through"


async def pass_through(served: Served, primary: Client, question: ChatRequest, because: str, until: float) -> Response:
    """Let the primary answer alone; the reply says so in a header, and whole ones beside the answer, too."""
    body: dict[str, Any] = question.for_primary(served.serving.max_tokens)
    if question.stream:
        body |= {"stream": True}
        if question.stream_options is not None:
            body["stream_options"] = question.stream_options.model_dump(exclude_unset=True)
    payload = primary.prepare(body) + b"}"
    if not primary.circuit.enter():
        return error(503, "the primary is down", "members_down", retry_after="5")
    stack = AsyncExitStack()
    try:
        await stack.enter_async_context(primary.throttle.slot(until))
        async with asyncio.timeout(primary.upstream.timeout):
            response = await stack.enter_async_context(primary.post(payload))
            if response.status != 200:
                return await _refused(stack, response)
            if question.stream:
                chunks = _relay(stack, response, primary, served.serving.max_answer_bytes)
                return StreamingResponse(chunks, media_type="text/event-stream", headers={HEADER: because})
            reply = await _whole(response, served.serving.max_answer_bytes)
    except UpstreamError:
        await stack.aclose()
        return error(429, "the primary is asked too often: try again", "busy", retry_after="5")
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError):
        await stack.aclose()
        primary.circuit.record(healthy=False)
        return error(503, "the primary gave no usable answer", "members_down", retry_after="5")
    await stack.aclose()
    primary.circuit.record(healthy=True)
    vote = {"policy": served.name, "decision": "passed_through", "member": primary.member.model, "because": because}
    return JSONResponse({**reply, "model": served.name, "swaplaw": vote}, headers={HEADER: because})


async def _refused(stack: AsyncExitStack, response: aiohttp.ClientResponse) -> Response:
    """Say what the primary's status was; what it says about it may quote the key."""
    response.close()
    await stack.aclose()
    if response.status in OUR_FAULT or response.status == 429:
        return error(response.status, f"the primary refused the request: status {response.status}", "refused_upstream")
    return error(503, f"the primary failed: status {response.status}", "members_down", retry_after="5")


async def _whole(response: aiohttp.ClientResponse, most: int) -> dict[str, Any]:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > most:
            response.close()
            raise ValueError("too large")
    reply = json.loads(body)
    if not isinstance(reply, dict):
        raise ValueError("not an object")
    return reply


async def _relay(
    stack: AsyncExitStack, response: aiohttp.ClientResponse, primary: Client, most: int
) -> AsyncIterator[bytes]:
    """Hand on what the primary streams, until it ends, takes too long or says too much."""
    size = 0
    async with stack:
        try:
            async with asyncio.timeout(primary.upstream.timeout):
                async for chunk in response.content.iter_any():
                    size += len(chunk)
                    if size > 20 * most:  # An event is some hundred bytes around a few characters.
                        break
                    yield chunk
            primary.circuit.record(healthy=True)
        except (TimeoutError, aiohttp.ClientError, OSError):
            primary.circuit.record(healthy=False)
        finally:
            response.close()
