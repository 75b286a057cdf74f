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
from contextlib import AbstractAsyncContextManager
from email.utils import parsedate_to_datetime
from math import inf, isfinite
from time import monotonic, time
from typing import Any

import aiohttp
from yarl import URL

from swaplaw.decide.policy import Member
from swaplaw.errors import InputError
from swaplaw.serve.settings import TokenPrice, Upstream
from swaplaw.serve.upstream.completions import Completion, RateLimitedError, UpstreamError, parse
from swaplaw.serve.upstream.limits import Circuit, Deadlines, Throttle

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 10.0
LEAST_REST, LONGEST_REST = 0.1, 300.0
"""Seconds that calls to a model rest after a rate limit, whatever it asks for.

One that asks for a thousandth must not be asked a thousand times a second, nor one that asks for a year be given up for
good: a call may try now and then, and is told again.
"""
MORE_TRIES = 4
"""Tries, beyond the upstream's retries, of calls that were told to slow down but not for how long."""
IDLE = 4.0
"""Seconds that an idle connection is kept: less than the five after which many servers hang up."""
PASSING = frozenset({408, 409, 425, *range(500, 600)})
"""Statuses worth another try; 429 has a way of its own."""
OUR_FAULT = frozenset({400, 413, 422})
"""Statuses that the client's request may have caused: they say nothing about the upstream's health."""
HEADERS = {"accept": "application/json", "accept-encoding": "identity", "content-type": "application/json"}
NO_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=None)
"""Each call is timed as a whole, by the upstream's own `timeout`."""

Observe = Callable[[str, float], None]
"""Told the result and the seconds of every attempt."""


class Asked:
    """What all members are asked alike, written once: the fields that follow a member's own.

    Raises
    ------
    InputError
        If it holds something that JSON does not have.
    """

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body
        try:
            self.more = b"," + open_json(body)[1:] if body else b""
        except ValueError:
            raise InputError("the request holds a number that is too large") from None


def open_json(content: Mapping[str, Any]) -> bytes:
    """Write an object as JSON without its last brace, so that more can follow."""
    return _write(content)[:-1].encode("utf-8", "replace")


_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False).encode


class Switchboard:
    """What callers share: connections, and for each model at an upstream its throttle and its circuit."""

    def __init__(self) -> None:
        self._connector: aiohttp.TCPConnector | None = None
        self._sessions: dict[str | None, aiohttp.ClientSession] = {}
        self._throttles: dict[tuple[str, str | None, str], Throttle] = {}
        self._most: dict[tuple[str, str | None, str], int] = {}
        self._circuits: dict[tuple[str, str | None, str], Circuit] = {}

    def session(self, key: str | None) -> aiohttp.ClientSession:
        """Connections, asked with an upstream's key; opened when first asked for, inside the event loop."""
        found = self._sessions.get(key)
        if found is None:
            if self._connector is None:
                self._connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE)
            found = self._sessions[key] = aiohttp.ClientSession(
                connector=self._connector,
                connector_owner=False,
                headers=HEADERS if key is None else {**HEADERS, "authorization": f"Bearer {key}"},
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=NO_TIMEOUT,
                auto_decompress=False,
                trust_env=False,
            )
        return found

    def throttle(self, upstream: Upstream, model: str) -> Throttle:
        """The throttle of one model at an upstream; where several policies limit it, the smallest number holds."""
        key = (upstream.base_url, upstream.key_env, model)
        found = self._throttles.setdefault(key, Throttle(upstream.concurrency))
        self._most[key] = min(self._most.get(key, upstream.concurrency), upstream.concurrency)
        found.allow(self._most[key])
        return found

    def circuit(self, upstream: Upstream, model: str) -> Circuit:
        """The circuit of one model at an upstream."""
        key = (upstream.base_url, upstream.key_env, model)
        return self._circuits.setdefault(key, Circuit(upstream.breaker, upstream.cooldown))

    def forget_limits(self) -> None:
        """Policies are read anew: what they say now counts, not what they said before."""
        self._most.clear()
        self._circuits.clear()

    async def close(self) -> None:
        """Let the connections go; who asks again gets new ones."""
        sessions, self._sessions = self._sessions, {}
        connector, self._connector = self._connector, None
        for session in sessions.values():
            await session.close()
        if connector is not None:
            await connector.close()


class Client:
    """Draws samples of one member."""

    def __init__(
        self,
        member: Member,
        upstream: Upstream,
        switchboard: Switchboard,
        *,
        max_answer_bytes: int,
        observe: Observe = lambda result, seconds: None,
    ) -> None:
        self.member, self.upstream = member, upstream
        self.model = upstream.model or member.model
        self.throttle = switchboard.throttle(upstream, self.model)
        self.circuit = switchboard.circuit(upstream, self.model)
        self._deadlines = Deadlines(upstream.timeout)
        self._switchboard = switchboard
        self._observe = observe
        self._max_answer_bytes = max_answer_bytes
        self._pauses = random.Random()
        self._trials: set[asyncio.Task[list[Completion]]] = set()
        self._key = upstream.key()
        self._own = {"model": self.model, **upstream.extra}
        self._own_text = open_json(self._own)
        self._url = URL(f"{upstream.base_url}/chat/completions")

    def prepare(self, asked: Asked) -> bytes:
        """Write a request once for all samples of a question: a JSON object that is still open."""
        if asked.body.keys() & self.upstream.extra.keys():
            return open_json({**asked.body, **self._own})
        return self._own_text + asked.more

    async def draw(
        self, prepared: bytes, number: int = 1, seed: int | None = None, until: float = inf
    ) -> list[Completion]:
        """Draw this many samples with one call, trying again where that may help and there is time until `until`."""
        more = b"" if seed is None else b',"seed":%d' % seed
        payload = prepared + more + (b',"n":%d}' % number if number > 1 else b"}")
        give_up = min(until, monotonic() + self.upstream.patience)
        failures = refusals = 0
        while True:
            started = monotonic()
            try:
                await self.throttle.enter(give_up)
                try:
                    started = monotonic()
                    return await self._attempt(payload, number)
                finally:
                    self.throttle.leave()
            except RateLimitedError as error:
                refusals += not error.wait
                wait = error.wait or self._pause(refusals)
                self.rest(wait, started)
                if monotonic() + wait > give_up or refusals > self.upstream.retries + MORE_TRIES:
                    raise
            except UpstreamError as error:
                failures += 1
                wait = self._pause(failures)
                if not error.passing or failures > self.upstream.retries or monotonic() + wait > until:
                    raise
                await asyncio.sleep(wait)

    def post(self, payload: bytes) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Send a request as it is; the caller bounds its time."""
        return self._switchboard.session(self._key).post(self._url, data=payload, allow_redirects=False)

    def rest(self, wait: float, started: float) -> None:
        """A call that began at `started` was told to slow down: let the model rest."""
        self.throttle.limited(min(max(wait, LEAST_REST), LONGEST_REST), started)

    def cost(self, samples: int, input_tokens: int, output_tokens: int) -> float | None:
        """What samples cost, by their number or their tokens; None where the price is not known."""
        price = self.upstream.price
        if isinstance(price, TokenPrice):
            return (price.input * input_tokens + price.output * output_tokens) / 1e6
        each = price if price is not None else self.member.price
        return None if each is None else each * samples

    def _pause(self, times: int) -> float:
        return self._pauses.uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(times - 1, 10)))

    async def _attempt(self, payload: bytes, number: int) -> list[Completion]:
        trial = self.circuit.open
        if not self.circuit.enter():
            raise UpstreamError("circuit open", passing=False)
        return await (self._try(payload, number) if trial else self._timed(payload, number))

    async def _try(self, payload: bytes, number: int) -> list[Completion]:
        """Find out whether an upstream is well again, even if the question no longer needs its answer.

        The member's other samples are refused meanwhile, which may decide the question without it: if that called the
        trial off, an open circuit would never close.
        """
        trial = asyncio.create_task(self._timed(payload, number))
        try:
            await asyncio.wait([trial])
        except asyncio.CancelledError:
            self.throttle.keep()
            self._trials.add(trial)
            trial.add_done_callback(self._end_trial)
            raise
        return trial.result()

    def _end_trial(self, trial: asyncio.Task[list[Completion]]) -> None:
        """A trial that nobody waits for has ended; see how, or asyncio would complain."""
        self._trials.discard(trial)
        self.throttle.leave()
        if not trial.cancelled():
            trial.exception()

    async def _timed(self, payload: bytes, number: int) -> list[Completion]:
        start = monotonic()
        try:
            with self._deadlines():
                completions = await self._call(payload, number)
        except RateLimitedError:
            # The upstream is there and well: neither a failure nor the proof that it can answer.
            self._observe("status 429", monotonic() - start)
            raise
        except UpstreamError as error:
            failure = error
        except TimeoutError:
            failure = UpstreamError("timeout")
        except (aiohttp.ClientError, OSError, ValueError):
            failure = UpstreamError("connection failed")
        else:
            self.circuit.record(healthy=True)
            self.throttle.succeeded()
            self._observe("ok", monotonic() - start)
            return completions
        self.circuit.record(healthy=failure.healthy)
        self._observe(failure.result, monotonic() - start)
        raise failure

    async def _call(self, payload: bytes, number: int) -> list[Completion]:
        async with self.post(payload) as response:
            if response.status != 200:
                response.close()
                raise refusal(response)
            body = await self._read(response, self._max_answer_bytes * number)
        return parse(body, number)

    async def _read(self, response: aiohttp.ClientResponse, limit: int) -> bytes:
        # Anything compressed might unfold to any size; it was not asked for.
        if response.headers.get("content-encoding", "identity") != "identity":
            response.close()
            raise UpstreamError("malformed", passing=False)
        chunks, size = [], 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > limit:
                response.close()
                raise UpstreamError("too large", passing=False, healthy=True)
            chunks.append(chunk)
        return b"".join(chunks)


def refusal(response: aiohttp.ClientResponse) -> UpstreamError:
    """What a status other than 200 means."""
    status = response.status
    if status == 429:
        return RateLimitedError(_wait(response.headers))
    return UpstreamError(f"status {status}", passing=status in PASSING, healthy=status in OUR_FAULT, status=status)


def _wait(headers: Mapping[str, str]) -> float:
    """Seconds to wait: `retry-after-ms`, or `retry-after` as a number or a date; 0 where nothing sensible is said."""
    try:
        if "retry-after-ms" in headers:
            wait = float(headers["retry-after-ms"]) / 1000
        else:
            wait = _seconds(headers.get("retry-after", "0"))
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return wait if isfinite(wait) and wait > 0 else 0.0


def _seconds(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return parsedate_to_datetime(value).timestamp() - time()
