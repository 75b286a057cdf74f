"""Requests that no vote can answer, such as those with tools: the primary answers alone, visibly."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from time import monotonic
from typing import Any

import aiohttp
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from swaplaw.serve.http.gate import error
from swaplaw.serve.http.schemas import ChatRequest
from swaplaw.serve.settings import Served
from swaplaw.serve.upstream.client import OUR_FAULT, Asked, Client, refusal
from swaplaw.serve.upstream.completions import RateLimitedError, UpstreamError, parse_json, tokens_used

HEADER = "x-swaplaw-passed-through"
LONGEST_TAIL = 8192
"""Bytes at the end of a stream that are searched for its usage."""
USAGE = re.compile(rb'"(prompt|completion)_tokens"\s{0,9}:\s{0,9}(\d{1,15})')
Charge = Callable[[float], None]
"""Told what an answer costs, when that is known."""


async def pass_through(
    served: Served, primary: Client, question: ChatRequest, because: str, until: float, charge: Charge
) -> Response:
    """Let the primary answer alone; the reply says so in a header, and whole ones beside the answer, too.

    Raises
    ------
    InputError
        If the request holds something that JSON does not have.
    """
    payload = primary.prepare(Asked(_body(served, question))) + b"}"
    if not primary.circuit.enter():
        return error(503, "the primary is down", "members_down", retry_after="5")
    started = monotonic()
    async with AsyncExitStack() as stack:
        try:
            await primary.throttle.enter(until)
            stack.callback(primary.throttle.leave)
            started = monotonic()
            async with asyncio.timeout(primary.upstream.timeout):
                response = await stack.enter_async_context(primary.post(payload))
                if response.status != 200:
                    response.close()
                    raise refusal(response)
                if question.stream:
                    chunks = _relay(response, primary, served.serving.max_answer_bytes, len(payload), charge)
                    return _Relayed(stack.pop_all(), chunks, because)
                reply = await _whole(response, served.serving.max_answer_bytes)
            # Written in ASCII, as lone surrogates, which JSON can smuggle in, have no other form.
            text = json.dumps({**reply, **_marks(served, primary, because)}, separators=(",", ":"), allow_nan=False)
        except UpstreamError as failure:
            return _refused(primary, failure, started)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError, RecursionError):
            return _failed(primary, "it gave no usable answer")
    primary.circuit.record(healthy=True)
    charge(primary.cost(1, *tokens_used(reply)) or 0.0)
    return Response(text, media_type="application/json", headers={HEADER: because})


def _marks(served: Served, primary: Client, because: str) -> dict[str, Any]:
    """What a whole reply says of how it came about."""
    vote = {"policy": served.name, "decision": "passed_through", "member": primary.member.model, "because": because}
    return {"model": served.name, "swaplaw": vote}


def _body(served: Served, question: ChatRequest) -> dict[str, Any]:
    body = question.for_primary(served.serving.max_tokens)
    if question.stream:
        body |= {"stream": True}
        if question.stream_options is not None:
            body["stream_options"] = question.stream_options.model_dump(exclude_unset=True)
    return body


def _refused(primary: Client, failure: UpstreamError, started: float) -> Response:
    """Say what the primary's status was; what it says about it may quote the key."""
    if isinstance(failure, RateLimitedError):
        primary.rest(failure.wait, started)
    if failure.status == 429:
        wait = str(max(1, round(primary.throttle.paused)))
        return error(429, "the primary is asked too often: try again", "rate_limited", retry_after=wait)
    if failure.status in OUR_FAULT:
        primary.circuit.record(healthy=True)
        return error(failure.status, f"the primary refused the request: {failure.result}", "refused_upstream")
    return _failed(primary, failure.result)


def _failed(primary: Client, why: str) -> Response:
    primary.circuit.record(healthy=False)
    return error(503, f"the primary failed: {why}", "members_down", retry_after="5")


async def _whole(response: aiohttp.ClientResponse, most: int) -> dict[str, Any]:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > most:
            response.close()
            raise ValueError("too large")
    reply = parse_json(body)
    if not isinstance(reply, dict):
        raise ValueError("not an object")
    return reply


class _Relayed(StreamingResponse):
    """A stream handed on; whatever becomes of it, the call that it comes from ends with it."""

    def __init__(self, stack: AsyncExitStack, chunks: AsyncIterator[bytes], because: str) -> None:
        super().__init__(chunks, media_type="text/event-stream", headers={HEADER: because})
        self._stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._stack:
            await super().__call__(scope, receive, send)


async def _relay(
    response: aiohttp.ClientResponse, primary: Client, most: int, asked: int, charge: Charge
) -> AsyncIterator[bytes]:
    """Hand on what the primary streams, until it ends, takes too long or says too much."""
    size, events, tail = 0, 0, b""
    try:
        async with asyncio.timeout(primary.upstream.timeout):
            async for chunk in response.content.iter_any():
                size += len(chunk)
                if size > 20 * most:  # An event is some hundred bytes around a few characters.
                    break
                events += chunk.count(b"data:")
                tail = (tail + chunk)[-LONGEST_TAIL:]
                yield chunk
        primary.circuit.record(healthy=True)
    except (TimeoutError, aiohttp.ClientError, OSError):
        primary.circuit.record(healthy=False)
    finally:
        response.close()
        told = {name: int(number) for name, number in USAGE.findall(tail)}
        # A stream that does not tell its usage: about a token an event, and four bytes asked.
        charge(primary.cost(1, told.get(b"prompt", asked // 4), told.get(b"completion", events)) or 0.0)
