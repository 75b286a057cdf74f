"""A member's upstream: any OpenAI-compatible endpoint, with bounds on everything it may do to us.

Concurrency, time and size of responses are limited; what may pass is tried again after a random pause; an upstream that
keeps failing is left alone for a while (circuit breaking). Redirects are not followed, proxies and credentials are not
taken from the environment, and nothing that an upstream says about an error is repeated: it may quote the key.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from swaplaw.decide.policy import Member
from swaplaw.serve.settings import Upstream

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 10.0
IDLE = 4.0
"""Seconds that an idle connection is kept: less than the five after which many servers hang up."""
PASSING = frozenset({408, 409, 425, 429, *range(500, 600)})
"""Statuses worth another try."""
OUR_FAULT = frozenset({400, 413, 422})
"""Statuses that the client's request may have caused: they say nothing about the upstream's health."""


@dataclass(frozen=True)
class Completion:
    """One sample, as an upstream gave it."""

    text: str
    finish_reason: str | None
    input_tokens: int = 0
    output_tokens: int = 0


class UpstreamError(Exception):
    """A call that gave no sample; the message is ours and holds nothing of the upstream's."""

    def __init__(self, result: str, *, passing: bool = True, healthy: bool = False, wait: float = 0.0) -> None:
        super().__init__(result)
        self.result = result
        self.passing = passing
        self.healthy = healthy
        self.wait = wait


class Circuit:
    """Leaves an upstream alone after several failures in a row, then lets one call try."""

    def __init__(self, failures: int, cooldown: float, clock: Callable[[], float] = monotonic) -> None:
        self._most, self._cooldown, self._clock = failures, cooldown, clock
        self._failures = 0
        self._retry_at = 0.0

    @property
    def open(self) -> bool:
        """Whether calls are refused, or would be but for one that may try."""
        return self._failures >= self._most

    def enter(self) -> bool:
        """Ask to make a call."""
        if not self.open:
            return True
        now = self._clock()
        if now < self._retry_at:
            return False
        self._retry_at = now + self._cooldown  # Others wait for the outcome of this one.
        return True

    def record(self, *, healthy: bool) -> None:
        """Say how a call went."""
        if healthy:
            self._failures = 0
            return
        self._failures += 1
        if self.open:
            self._retry_at = self._clock() + self._cooldown


Observe = Callable[[str, float], None]
"""Told the result and the seconds of every attempt."""


class Client:
    """Draws samples of one member."""

    def __init__(
        self,
        member: Member,
        upstream: Upstream,
        *,
        max_answer_bytes: int,
        observe: Observe = lambda result, seconds: None,
    ) -> None:
        self.member, self.upstream = member, upstream
        self.circuit = Circuit(upstream.breaker, upstream.cooldown)
        self._slots = asyncio.Semaphore(upstream.concurrency)
        self._observe = observe
        self._max_answer_bytes = max_answer_bytes
        self._pauses = random.Random()
        headers = {"accept": "application/json", "accept-encoding": "identity", "content-type": "application/json"}
        if (key := upstream.key()) is not None:
            headers["authorization"] = f"Bearer {key}"
        self._headers = httpx.Headers(headers)
        self._url = httpx.URL(f"{upstream.base_url}/chat/completions")
        self._transport = _transport(upstream.concurrency)

    async def close(self) -> None:
        """Let the connections go."""
        await self._transport.aclose()

    async def draw(self, body: Mapping[str, Any], number: int) -> list[Completion]:
        """Draw this many samples with one call, trying again where that may help."""
        content = {**body, "model": self.upstream.model or self.member.model, **self.upstream.extra}
        if number > 1:
            content["n"] = number
        payload = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        for attempt in range(self.upstream.retries + 1):
            async with self._slots:
                try:
                    return await self._attempt(payload, number)
                except UpstreamError as error:
                    if not error.passing or attempt == self.upstream.retries:
                        raise
                    pause = self._pauses.uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt))
                    wait = max(pause, min(error.wait, LONGEST_PAUSE))
            await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _attempt(self, payload: bytes, number: int) -> list[Completion]:
        if not self.circuit.enter():
            raise UpstreamError("circuit open", passing=False)
        start = monotonic()
        try:
            async with asyncio.timeout(self.upstream.timeout):
                completions = await self._post(payload, number)
        except UpstreamError as error:
            failure = error
        except httpx.ConnectTimeout:  # Also what the transport calls a connection that the upstream closed.
            failure = UpstreamError("connection failed")
        except (TimeoutError, httpx.TimeoutException):
            failure = UpstreamError("timeout")
        except (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError):
            failure = UpstreamError("connection failed")
        else:
            self.circuit.record(healthy=True)
            self._observe("ok", monotonic() - start)
            return completions
        self.circuit.record(healthy=failure.healthy)
        self._observe(failure.result, monotonic() - start)
        raise failure

    async def _post(self, payload: bytes, number: int) -> list[Completion]:
        request = httpx.Request("POST", self._url, headers=self._headers, content=payload)
        response = await self._transport.handle_async_request(request)
        try:
            if response.status_code != 200:
                raise _refusal(response)
            body = await self._read(response, number)
        finally:
            await response.aclose()
        return parse(body, number)

    async def _read(self, response: httpx.Response, number: int) -> bytes:
        # Anything compressed might unfold to any size; it was not asked for.
        if response.headers.get("content-encoding", "identity") != "identity":
            raise UpstreamError("malformed", passing=False)
        limit = self._max_answer_bytes * number
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > limit:
                raise UpstreamError("too large", passing=False, healthy=True)
        return bytes(body)


def _transport(connections: int) -> httpx.AsyncBaseTransport:
    """What carries requests; a client around it would add cookies, redirects and proxies, and none of that is wanted.

    httpx's own transport looks at every connection for every request, which tells at hundreds of them.
    """
    context = httpx.create_ssl_context(trust_env=False)

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=connections, keepalive_timeout=IDLE, ssl=context)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    return AiohttpTransport(verify=context, client=session)


def _refusal(response: httpx.Response) -> UpstreamError:
    status = response.status_code
    try:
        wait = float(response.headers.get("retry-after", "0"))
    except ValueError:
        wait = 0.0
    wait = wait if 0 <= wait < float("inf") else 0.0
    return UpstreamError(f"status {status}", passing=status in PASSING, healthy=status in OUR_FAULT, wait=wait)


def parse(body: bytes, number: int) -> list[Completion]:
    """Read the samples of a response; raise for anything that is not one."""
    try:
        document = json.loads(body)
        choices = document["choices"]
        usage = document.get("usage") or {}
        tokens = [_count(usage.get(key)) for key in ("prompt_tokens", "completion_tokens")]
        found = [
            Completion(_text(choice["message"]), _word(choice.get("finish_reason")))
            for choice in sorted(choices, key=lambda choice: _count(choice.get("index")))
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UpstreamError("malformed") from None
    if not found:
        raise UpstreamError("malformed")
    # Some upstreams ignore `n`, none may answer more often than it was asked.
    found = found[:number]
    first = found[0]
    return [Completion(first.text, first.finish_reason, *tokens), *found[1:]]


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    if content is None:
        return ""
    if not isinstance(content, str):
        raise TypeError
    # Lone surrogates, which JSON can smuggle in, could not be sent on.
    return content.encode("utf-8", "replace").decode()


def _word(value: object) -> str | None:
    return value if value in ("stop", "length", "content_filter") else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
