"""A member's upstream: any OpenAI-compatible endpoint, with bounds on everything it may do to us.

What comes back is samples, or nothing that can be used. An upstream is spared by a circuit where it fails, and by a
throttle where it wants fewer calls. A rate limit is not a failure. It never opens the circuit: it pauses all calls to
that upstream for as long as it asks, and halves how many may run at once; every success then adds a little back.

Concurrency, time and size of responses are limited; what may pass is tried again after a random pause; an upstream that
keeps failing is left alone for a while (circuit breaking). Redirects are not followed, proxies and credentials are not
taken from the environment, and nothing that an upstream says about an error is repeated: it may quote the key.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from email.utils import parsedate_to_datetime
from functools import partial
from math import inf, isfinite
from time import monotonic, time
from typing import Any, NamedTuple

import aiohttp
from aiohttp.client_proto import ResponseHandler
from pydantic_core import from_json
from yarl import URL

from swaplaw.decide.policy import Fallback, Member
from swaplaw.errors import InputError
from swaplaw.serve.settings import TokenPrice, Upstream


class Completion(NamedTuple):
    """One sample, as an upstream gave it."""

    text: str
    finish_reason: str | None
    input_tokens: int = 0
    output_tokens: int = 0
    refused: bool = False
    """The model declined, in the field that is there for it."""


class UpstreamError(Exception):
    """A call that gave no sample; the message is ours and holds nothing of the upstream's."""

    def __init__(self, result: str, *, passing: bool = True, healthy: bool = False, status: int | None = None) -> None:
        super().__init__(result)
        self.result = result
        self.passing = passing
        """Another try may help."""
        self.healthy = healthy
        """It says nothing against the upstream."""
        self.status = status


class RateLimitedError(UpstreamError):
    """The upstream is well but wants fewer calls; `wait` is how many seconds it asks for, 0 if it does not say."""

    def __init__(self, wait: float) -> None:
        super().__init__("status 429", healthy=True, status=429)
        self.wait = wait


def parse(body: bytes, number: int) -> list[Completion]:
    """Read the samples of a response; raise for anything that is not one."""
    try:
        document = _read(body, _LENIENT)
        choices = document["choices"]
        given, made = tokens_used(document)
        if len(choices) > 1:
            choices = sorted(choices, key=lambda choice: _count(choice.get("index")))
        # Some upstreams ignore `n`, none may answer more often than it was asked; tokens are told for all together.
        first, *others = choices[:number]
        return [_completion(first, given, made), *map(_completion, others)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UpstreamError("malformed") from None


def tokens_used(document: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens that a response says were given and made; 0 where it does not."""
    usage = document.get("usage")
    if not isinstance(usage, dict):
        return 0, 0
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def parse_json(text: bytes | bytearray) -> Any:
    """Read JSON strictly.

    Raises
    ------
    ValueError
        If it is not JSON, or holds a number that JSON or a float does not have.
    RecursionError
        If it is nested too deeply.
    """
    return _STRICT.decode(text.decode()) if _VAST.search(text) else _read(text, _STRICT)


def _read(text: bytes | bytearray, thorough: json.JSONDecoder) -> Any:
    """Read JSON with a parser that takes a fifth of the time.

    What it refuses is read by Python's own, which knows lone surrogates and deeper nesting, and says what is wrong.
    """
    try:
        return from_json(text, allow_inf_nan=thorough is _LENIENT, cache_strings="keys")
    except ValueError:
        return thorough.decode(text.decode())


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number that JSON has")


def _finite(text: str) -> float:
    found = float(text)
    return found if isfinite(found) else _no_number("a number beyond all floats")


_LENIENT = json.JSONDecoder()
_STRICT = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
_VAST = re.compile(rb"[eE]\+?[0-9]{3}|[0-9]{200}")
"""What may be a number beyond all floats, which the quick parser takes for infinity."""


def _completion(choice: Mapping[str, Any], input_tokens: int = 0, output_tokens: int = 0) -> Completion:
    message = choice["message"]
    refusal = message.get("refusal")
    refused = isinstance(refusal, str) and bool(refusal)
    content = message["content"] if not refused else message.get("content")
    return Completion(_text(content), _word(choice.get("finish_reason")), input_tokens, output_tokens, refused)


def _text(content: object) -> str:
    """What is said; of content in parts, the text parts."""
    if content is None:
        return ""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") in ("text", "output_text"))
    if not isinstance(content, str):
        raise TypeError
    # Lone surrogates, which JSON can smuggle in, could not be sent on; a question mark in their place might be read.
    return content if content.isascii() else content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value in ("stop", "length", "content_filter") else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


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


class Throttle:
    """How many calls to one model run at once, and until when none may start; shared by all policies that use it."""

    def __init__(self, most: int, clock: Callable[[], float] = monotonic) -> None:
        self._most, self._clock = most, clock
        self._limit = float(most)
        self._running = 0
        self._resume_at = 0.0
        self._halved_at = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """How many calls may run at once now."""
        return int(self._limit)

    def allow(self, most: int) -> None:
        """Set how many calls may ever run at once; one that has been told to slow down keeps to what it runs."""
        slowed = self._limit < self._most
        self._most = most
        self._limit = min(self._limit, float(most)) if slowed else float(most)

    @property
    def paused(self) -> float:
        """Seconds until calls may start again."""
        return max(0.0, self._resume_at - self._clock())

    async def enter(self, until: float) -> None:
        """Wait for a turn, which `leave` ends; a pause that lasts beyond `until` is not waited for."""
        self._hold_to(until)
        if self._waiting or self._running >= self.limit:
            await self._queue()
        else:
            self._running += 1
        try:
            while pause := self.paused:
                self._hold_to(until)
                await asyncio.sleep(pause)
        except BaseException:
            self.leave()
            raise

    def _hold_to(self, until: float) -> None:
        if self._resume_at > until:
            raise UpstreamError("status 429", passing=False, healthy=True, status=429)

    async def _queue(self) -> None:
        """Wait until a slot is handed over; it then counts as running."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()  # The slot was given to one that has gone: pass it on.
            elif turn in self._waiting:
                self._waiting.remove(turn)
            raise

    def keep(self) -> None:
        """Let the turn last on, for a call that outlives who made it: one more `leave` ends it."""
        self._running += 1

    def leave(self) -> None:
        """Give the turn to the next."""
        self._running -= 1
        while self._waiting and self._running < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)

    def succeeded(self) -> None:
        """A call went well: allow a little more."""
        if self._limit < self._most:
            self._limit = min(self._most, self._limit + 1 / self._limit)

    def limited(self, wait: float, started: float) -> None:
        """A call that began at `started` was told to slow down: pause, and halve the calls at once.

        One burst is answered with many refusals; only the first of them halves.
        """
        now = self._clock()
        self._resume_at = max(self._resume_at, now + wait)
        if started > self._halved_at:
            self._limit = max(1.0, self._limit / 2)
            self._halved_at = now


FIRST_PAUSE, LONGEST_PAUSE = 0.25, 10.0
LEAST_REST, LONGEST_REST = 0.1, 300.0
"""Seconds that calls to a model rest after a rate limit, whatever it asks for.

One that asks for a thousandth must not be asked a thousand times a second, nor one that asks for a year be given up for
good: a call may try now and then, and is told again.
"""
MORE_TRIES = 4
"""Tries, beyond the upstream's retries, of calls that were told to slow down but not for how long."""
MOST_INFORMATIONAL = 16
"""Answers without content (100 to 199) that may come before the real one."""
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
        self._body = body
        caps = [body[name] for name in ("max_tokens", "max_completion_tokens") if name in body]
        self.max_tokens: int | None = min(caps, default=None)
        """The most that a sample may say."""
        self._written: dict[Client, bytes] = {}
        try:
            self._more = b"," + open_json(body)[1:] if body else b""
        except ValueError:
            raise InputError("the request holds a number that is too large") from None

    def written(self, client: Client) -> bytes:
        """The request to an upstream, once for all samples: a JSON object that is still open."""
        found = self._written.get(client)
        if found is None:
            own = client.own
            found = open_json({**self._body, **own}) if self._body.keys() & own.keys() else open_json(own) + self._more
            self._written[client] = found
        return found


def open_json(content: Mapping[str, Any]) -> bytes:
    """Write an object as JSON without its last brace, so that more can follow."""
    return _write(content)[:-1].encode("utf-8", "replace")


_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False).encode


class _Bounded(ResponseHandler):
    """A connection that ends where an upstream says more than was asked: endless `100 Continue` would hold all up."""

    def data_received(self, data: bytes) -> None:
        """Take what arrives; a request has one answer, and a few informational ones before it."""
        super().data_received(data)
        if len(self._buffer) > MOST_INFORMATIONAL:
            self.close()
            self._buffer.clear()
            self.set_exception(aiohttp.ClientConnectionError("too many answers to one request"))


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
                # Nothing public bounds what is read ahead of an answer.
                vars(self._connector)["_factory"] = partial(_Bounded, loop=asyncio.get_running_loop())
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
    """Draws samples of one member, of its upstream or of the one that stands in for that."""

    def __init__(
        self,
        member: Member | Fallback,
        upstream: Upstream,
        switchboard: Switchboard,
        *,
        max_answer_bytes: int,
        observe: Observe = lambda result, seconds: None,
    ) -> None:
        self.member, self.upstream = member, upstream
        model = upstream.model or member.model
        self.own = {"model": model, **upstream.extra}
        """The fields of a request that are this upstream's."""
        self.throttle = switchboard.throttle(upstream, model)
        self.circuit = switchboard.circuit(upstream, model)
        self._switchboard, self._observe, self._max_answer_bytes = switchboard, observe, max_answer_bytes
        self._pauses = random.Random()
        self._trials: set[asyncio.Task[list[Completion]]] = set()
        self._key = upstream.key()
        self._url = URL(f"{upstream.base_url}/chat/completions")
        self._other = (
            Client(member, upstream.fallback, switchboard, max_answer_bytes=max_answer_bytes, observe=observe)
            if upstream.fallback
            else None
        )

    async def draw(
        self,
        asked: Asked,
        number: int = 1,
        seed: int | None = None,
        until: float = inf,
        sent: Callable[[int], None] = lambda samples: None,
    ) -> list[Completion]:
        """Draw this many samples with one call, trying again where that may help and there is time until `until`.

        Where that fails, the upstream that stands in is asked; where it only takes long (`hedge`), another call is
        made, and the first answer counts. `sent` is told of samples that may have to be paid: of each attempt, and less
        by those that were refused.
        """
        call, hedge, other = (asked, number, seed, until, sent), self.upstream.hedge, self._other or self
        if other is self and hedge is None:
            return await self._draw(*call)
        first = asyncio.create_task(self._draw(*call))
        asking = {first}
        try:
            await asyncio.wait(asking, timeout=hedge)
            failure = first.exception() if first.done() else None
            if first.done() and (failure is None or other is self or getattr(failure, "status", None) in OUR_FAULT):
                return first.result()
            asking.add(asyncio.create_task(other._draw(*call)))
            while True:
                ended, asking = await asyncio.wait(asking, return_when="FIRST_COMPLETED")
                well = [task for task in ended if task.exception() is None]
                if well or not asking:
                    return (well or list(ended))[0].result()
        finally:
            for task in asking:
                task.cancel()

    async def _draw(
        self, asked: Asked, number: int, seed: int | None, until: float, sent: Callable[[int], None]
    ) -> list[Completion]:
        more = b"" if seed is None else b',"seed":%d' % seed
        payload = asked.written(self) + more + (b',"n":%d}' % number if number > 1 else b"}")
        give_up = min(until, monotonic() + self.upstream.patience)
        failures = refusals = 0
        while True:
            started = monotonic()
            try:
                await self.throttle.enter(give_up)
                try:
                    started = monotonic()
                    return await self._attempt(payload, number, sent)
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

    def most(self, samples: int, asked: int, max_tokens: int | None) -> float | None:
        """What samples may cost at most, each asked with this many bytes: a token is one of them at least."""
        return self.cost(samples, samples * asked, samples * (max_tokens or 0))

    def _pause(self, times: int) -> float:
        return self._pauses.uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(times - 1, 10)))

    async def _attempt(self, payload: bytes, number: int, sent: Callable[[int], None]) -> list[Completion]:
        trial = self.circuit.open
        if not self.circuit.enter():
            raise UpstreamError("circuit open", passing=False)
        sent(number)
        try:
            return await (self._try(payload, number) if trial else self._timed(payload, number))
        except UpstreamError as error:
            if error.status is not None:
                sent(-number)
            raise

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
            async with asyncio.timeout(self.upstream.timeout):
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
            return parse(await whole(response, self._max_answer_bytes * number), number)


async def whole(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body of a response, which is bounded."""
    # Anything compressed might unfold to any size; it was not asked for.
    if response.headers.get("content-encoding", "identity") != "identity":
        response.close()
        raise UpstreamError("malformed", passing=False)
    chunks, size = [], 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > most:
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
