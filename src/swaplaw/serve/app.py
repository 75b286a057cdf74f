"""The endpoint: OpenAI's chat completions, answered by the weighted vote of a policy.

A question is checked, asked, decided, answered and booked. What no vote can answer, such as requests with tools, the
primary answers alone, visibly. OpenTelemetry spans are made where somebody has set it up; their attributes are names
and numbers, never content.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from time import monotonic, time
from typing import Any

import aiohttp
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from swaplaw.errors import InputError, SwaplawError, listing, quote
from swaplaw.serve.drift import Monitor, monitor_of
from swaplaw.serve.forms import ChatRequest, Said, chat_reply, new_id
from swaplaw.serve.gate import KEY, Asking, Attributes, Bounds, Gate, error
from swaplaw.serve.ledger import Key, Keyring, Ledger, plain_keys
from swaplaw.serve.metrics import Metrics
from swaplaw.serve.poll import Decision, Poll, UnavailableError
from swaplaw.serve.reading import Reading
from swaplaw.serve.record import Recorder
from swaplaw.serve.settings import Served
from swaplaw.serve.upstream import (
    OUR_FAULT,
    Asked,
    Client,
    RateLimitedError,
    Switchboard,
    UpstreamError,
    parse_json,
    refusal,
    tokens_used,
    whole,
)

try:
    from opentelemetry import trace
except ImportError:  # The extra `tracing` is not installed.
    trace = None  # type: ignore[assignment]

log = logging.getLogger("swaplaw.serve")
HEADER = "x-swaplaw-passed-through"
LONGEST_TAIL = 8192
"""Bytes at the end of a stream that are searched for its usage."""
USAGE = re.compile(rb'"(prompt|completion)_tokens"\s{0,9}:\s{0,9}(\d{1,15})')
MOST_CACHED = 1000
"""Decisions that are kept to be given again, the last ones of each policy."""


def tracer() -> Callable[[str, Attributes], AbstractContextManager[object]]:
    """What traces a piece of work; what is put into the attributes meanwhile is told, too."""
    # Where no provider is set, a stand-in for it would be asked for every span and drop it.
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return lambda name, attributes: nullcontext()
    return _traced


@contextmanager
def _traced(name: str, attributes: Attributes) -> Iterator[None]:
    with trace.get_tracer("swaplaw.serve").start_as_current_span(name, kind=trace.SpanKind.SERVER) as current:
        try:
            yield
        finally:
            current.set_attributes(attributes)


class Bill:
    """What one request may cost, and does: reserved before it asks, settled when it ends, however it ends."""

    def __init__(self, policy: str, key: Key | None, ledger: Ledger, metrics: Metrics) -> None:
        self._policy, self._key, self._ledger, self._metrics = policy, key, ledger, metrics
        self.most = 0.0

    def afford(self, amount: float) -> bool:
        """Reserve what it may cost, or may cost more; False where the key's budget has no room for that."""
        key = self._key
        if key is not None and key.budget is not None and not self._ledger.reserve(key.name, amount, key.budget):
            self._metrics.refused.labels(key.name, "budget").inc()
            return False
        self.most += amount
        return True

    def settle(self, costs: Mapping[str, float]) -> None:
        """Book what it did cost, by member."""
        cost = sum(costs.values())
        for member, each in costs.items():
            self._metrics.count_cost(self._policy, member, each)
        if self._key is not None:
            self._metrics.key_cost.labels(self._key.name).inc(cost)
            if self._key.budget is not None:
                self._ledger.add(self._key.name, cost - self.most)


def over_budget() -> Response:
    """Refuse what a key's budget may not cover."""
    return error(429, "today's budget of this key has no room for what this may cost", "insufficient_quota")


async def pass_through(
    served: Served, primary: Client, question: ChatRequest, because: str, until: float, bill: Bill
) -> Response:
    """Let the primary answer alone; the reply says so in a header, and whole ones beside the answer, too.

    Raises
    ------
    InputError
        If the request holds something that JSON does not have.
    """
    body = question.for_primary(served.serving.max_tokens)
    asked, most = Asked(body), served.serving.max_answer_bytes
    payload = asked.written(primary) + b"}"
    if not bill.afford(primary.most(1, len(payload), asked.max_tokens) or 0.0):
        return over_budget()
    spent = {primary.member.model: 0.0}
    started = monotonic()
    async with AsyncExitStack() as stack:
        stack.callback(bill.settle, spent)
        if not primary.circuit.enter():
            return error(503, "the primary is down", "members_down", retry_after="5")
        try:
            await primary.throttle.enter(until)
            stack.callback(primary.throttle.leave)
            started = monotonic()
            async with asyncio.timeout(primary.upstream.timeout):
                spent[primary.member.model] = bill.most
                response = await stack.enter_async_context(primary.post(payload))
                if response.status != 200:
                    spent[primary.member.model] = 0.0
                    response.close()
                    raise refusal(response)
                if question.stream:
                    return _Relayed(stack.pop_all(), _relay(response, primary, most, len(payload), spent), because)
                reply = parse_json(await whole(response, most))
            if not isinstance(reply, dict):
                raise ValueError("not an object")
            spent[primary.member.model] = primary.cost(1, *tokens_used(reply)) or 0.0
            told = {"policy": served.name, "decision": "passed_through", "member": primary.member.model}
            marked = {**reply, "model": served.name, "swaplaw": {**told, "because": because}}
            # Written in ASCII, as lone surrogates, which JSON can smuggle in, have no other form.
            text = json.dumps(marked, separators=(",", ":"), allow_nan=False)
        except UpstreamError as failure:
            return _refused(primary, failure, started)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError, RecursionError):
            return _failed(primary, "it gave no usable answer")
    primary.circuit.record(healthy=True)
    return Response(text, media_type="application/json", headers={HEADER: because})


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


class _Relayed(StreamingResponse):
    """A stream handed on; whatever becomes of it, the call that it comes from ends with it."""

    def __init__(self, stack: AsyncExitStack, chunks: AsyncIterator[bytes], because: str) -> None:
        super().__init__(chunks, media_type="text/event-stream", headers={HEADER: because})
        self._stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._stack:
            await super().__call__(scope, receive, send)


async def _relay(
    response: aiohttp.ClientResponse, primary: Client, most: int, asked: int, spent: dict[str, float]
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
        cost = primary.cost(1, told.get(b"prompt", asked // 4), told.get(b"completion", events))
        spent[primary.member.model] = cost or 0.0


@dataclass(frozen=True)
class Panel:
    """A policy, the clients that its members are reached by, and what it decided lately."""

    served: Served
    clients: tuple[Client, ...]
    monitor: Monitor | None = None
    decided: dict[bytes, tuple[float, Decision]] = field(default_factory=dict)

    def known(self, question: bytes) -> Decision | None:
        """What was decided on the very same question, not long ago."""
        at, decision = self.decided.get(question, (-1e9, None))
        return decision if monotonic() - at < (self.served.serving.cache or 0) else None

    def keep(self, question: bytes, decision: Decision) -> None:
        """Remember a decision."""
        self.decided.pop(question, None)
        self.decided[question] = (monotonic(), decision)
        if len(self.decided) > MOST_CACHED:
            del self.decided[next(iter(self.decided))]


class Endpoint:
    """Answers questions."""

    def __init__(
        self,
        panels: Mapping[str, Panel],
        metrics: Metrics,
        keys: Keyring,
        reading: Reading,
        *,
        recorder: Recorder | None,
        log_content: bool,
    ) -> None:
        self._keys, self._reading = keys, reading
        self._panels, self._metrics, self._recorder, self._log_content = panels, metrics, recorder, log_content
        self._span = tracer()

    async def chat(self, asking: Asking) -> Response:
        """Answer in the form of a chat completion."""
        question = _checked(asking.body)
        if isinstance(question, Response):
            return question
        panel = self._panels.get(question.model)
        if panel is None:
            return _no_model(question.model, self._panels)
        name, start = panel.served.name, monotonic()
        asking.told.update({"gen_ai.operation.name": "chat", "gen_ai.provider.name": "swaplaw"})
        asking.told["gen_ai.request.model"] = name
        with self._span(f"chat {name}", asking.told):
            response = await self._served(asking, question, panel)
            asking.told["http.response.status_code"] = response.status_code
        seconds = monotonic() - start
        self._metrics.count_request(name, response.status_code, seconds)
        # What goes well is in the metrics; a line for each would take longer to write than its vote to count.
        level = logging.DEBUG if response.status_code == 200 else logging.INFO
        log.log(level, "%s: status %s in %.3f s", quote(name), response.status_code, seconds)
        return response

    async def _served(self, asking: Asking, question: ChatRequest, panel: Panel) -> Response:
        serving = panel.served.serving
        until = monotonic() + serving.timeout
        because = question.unpooled(reads_json=panel.served.reader.kind == "json")
        if because and serving.pass_through == "refuse":
            return error(400, f"a pooled answer cannot honour {because!r}: leave it out", "unsupported", because)
        bill = Bill(panel.served.name, asking.scope.get(KEY), self._keys.ledger, self._metrics)
        try:
            work = (
                self._passed(bill, question, panel, because, until)
                if because
                else self._pooled(bill, asking.told, question, panel, until)
            )
            response = await _unless_left(asking, work, serving.timeout)
        except TimeoutError:
            return error(504, f"the vote was not decided within {serving.timeout:g} s", "timeout")
        except InputError as problem:
            return error(400, str(problem), "invalid_request", "messages")
        except RecursionError:
            return error(400, "the request is nested too deeply", "invalid_request")
        return Response(status_code=499) if response is None else response

    async def _passed(self, bill: Bill, question: ChatRequest, panel: Panel, because: str, until: float) -> Response:
        """Let the primary answer alone."""
        self._metrics.passed.labels(panel.served.name, because).inc()
        return await pass_through(panel.served, panel.clients[0], question, because, until, bill)

    async def _pooled(
        self, bill: Bill, told: Attributes, question: ChatRequest, panel: Panel, until: float
    ) -> Response:
        """Let the members vote, unless they have on the very same question."""
        served = panel.served
        body = question.for_members(served.temperature, served.serving.max_tokens, served.prompt)
        seed = question.seed if question.seed is not None else served.serving.seed
        exact = sha256(json.dumps([body, seed], sort_keys=True).encode()).digest() if served.serving.cache else b""
        if exact and (decision := panel.known(exact)) is not None:
            self._metrics.cached.labels(served.name).inc()
            return _reply(served, question, decision._replace(input_tokens=0, output_tokens=0), told, new_id(), True)
        poll = Poll(served, panel.clients, body, seed, until, self._reading, bill.afford)
        if not bill.afford(poll.most):
            return over_budget()
        try:
            decision = await poll.decide()
        except UnavailableError as down:
            return _unavailable(served, down)
        finally:
            # Paid for, whatever becomes of it.
            bill.settle(dict(zip(served.policy.models, (cost or 0.0 for cost in poll.costs), strict=True)))
        if poll.down:
            log.warning("%s: decided without %s", quote(served.name), listing(list(poll.down)))
        elif exact:
            panel.keep(exact, decision)
        reply_id = new_id()
        response = _reply(served, question, decision, told, reply_id)
        try:
            self._book(question, panel, poll, decision, reply_id)
        except Exception:
            # The answer is there and paid for: keeping the books must not cost it.
            log.exception("%s: a decision could not be booked", quote(served.name))
        return response

    def _book(self, question: ChatRequest, panel: Panel, poll: Poll, decision: Decision, reply_id: str) -> None:
        """Keep the books on a decision."""
        served, metrics = panel.served, self._metrics
        metrics.count_decision(served.name, decision.by, decision.vote, monotonic() - decision.arrived)
        if panel.monitor is not None:
            members = poll.records[: len(served.members)]
            silence = served.policy.silence
            panel.monitor.observe([{cast.sample: cast.vote(silence) for cast in one.cast} for one in members])
            metrics.show_drift(served.name, panel.monitor)
        if self._recorder is not None:
            try:
                self._recorder.add(served, reply_id, poll.records, question.said())
            except OSError as problem:
                metrics.record_failures.inc()
                log.error("%s: a decision could not be recorded: %s", quote(served.name), problem.strerror)
        if self._log_content:
            said = json.dumps(question.said())
            log.info("%s: asked %s, answered %s", quote(served.name), said, quote(decision.answer, 500))


def _reply(
    served: Served, question: ChatRequest, decision: Decision, told: Attributes, reply_id: str, cached: bool = False
) -> Response:
    """A decision in the form that was asked for."""
    completion, vote = decision.completion, {"policy": served.name, **decision.vote, "ignored": question.ignored()}
    down = (decision.vote["degraded"] or {"down": ()})["down"]
    headers = {"x-swaplaw-degraded": str(len(down))} if down else {}
    if cached:
        headers["x-swaplaw-cached"], vote["cached"] = "true", True
    if completion is None and served.serving.null_win == "error":
        return error(422, served.serving.abstention, "no_answer")
    text, finish = served.serving.abstention, "stop"
    if completion is not None:
        text, finish = completion.text, completion.finish_reason or "stop"
    tokens = decision.input_tokens, decision.output_tokens
    told.update({"gen_ai.response.id": reply_id, "gen_ai.response.model": served.name})
    told.update({"gen_ai.usage.input_tokens": tokens[0], "gen_ai.usage.output_tokens": tokens[1]})
    told["gen_ai.response.finish_reasons"] = (finish,)
    refused = completion is None and question.wants_json
    options = question.stream_options
    said = Said(served.name, text, finish, *tokens, vote, headers, reply_id, refused)
    with_usage = options is not None and bool(options.include_usage)
    return chat_reply(said, streamed=bool(question.stream), with_usage=with_usage)


def _no_model(name: str, panels: Mapping[str, Panel]) -> JSONResponse:
    there = listing(list(panels))
    return error(404, f"there is no model {quote(name)}; there are {there}", "model_not_found", "model")


def _unavailable(served: Served, down: UnavailableError) -> Response:
    log.warning("%s: no decision, members down: %s", quote(served.name), down)
    if down.status is not None:
        # The request is at fault, not the members: a client that tries again would only buy the same again.
        return error(down.status, f"the members refuse the request: {down}", "refused_upstream")
    return error(503, f"too many members are down to decide: {down}", "members_down", retry_after="5")


async def _unless_left(asking: Asking, work: Awaitable[Response], seconds: float) -> Response | None:
    """Do the work before it is due; None, and all of it is stopped, when the client has gone."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(asking.receive())
    try:
        await asyncio.wait((working, leaving), timeout=seconds, return_when="FIRST_COMPLETED")
        if working.done():
            return working.result()
        if leaving.done():
            return None
        raise TimeoutError
    finally:
        leaving.cancel()
        working.cancel()
        await asyncio.gather(leaving, working, return_exceptions=True)


def _checked(body: bytes) -> ChatRequest | Response:
    """A request held to its schema, or what is wrong with it, which repeats nothing that it holds."""
    try:
        return ChatRequest.model_validate(parse_json(body or b"{}"))
    except json.JSONDecodeError as problem:
        return error(400, f"the body is not JSON: {problem.msg} at character {problem.pos}", "invalid_json")
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part)[:60] for part in first["loc"]) or "body"
        return error(400, f"{quote(place, 200)}: {first['msg']}", "invalid_request", place[:200])
    except (ValueError, RecursionError):
        # Not text, numbers that JSON does not have, or nested too deeply.
        return error(400, "the body is not JSON", "invalid_json")


Load = Callable[[], tuple[Sequence[Served], Keyring]]


class Panels(dict[str, Panel]):
    """The policies being served, by name; they can be replaced while questions are being answered."""

    def __init__(self, metrics: Metrics, share: int = 1) -> None:
        super().__init__()
        self._metrics, self._share = metrics, share
        self.switchboard = Switchboard()

    def put(self, policies: Sequence[Served]) -> None:
        """Serve these from now on; questions that are being answered keep what they began with."""
        check_names(policies)
        self.switchboard.forget_limits()
        panels = {served.name: self._panel(served) for served in policies}
        self.clear()
        self.update(panels)

    def _panel(self, served: Served) -> Panel:
        clients = []
        for member in served.asked:
            observe = self._metrics.attempts_of(served.name, member.model)
            upstream = served.upstream(member).shared_by(self._share)
            limit = served.serving.max_answer_bytes
            clients.append(Client(member, upstream, self.switchboard, max_answer_bytes=limit, observe=observe))
        return Panel(served, tuple(clients), monitor_of(served.policy))

    def reload(self, keys: Keyring, load: Load) -> bool:
        """Replace policies and keys by what `load` gives; where that fails, what is served stays, as the log says."""
        try:
            policies, accepted = load()
            self.put(policies)
        except SwaplawError as problem:
            log.error("not reloaded, what was served before still is: %s", problem)
            return False
        keys.replace(accepted)
        log.info("reloaded: %s", listing([served.name for served in policies]))
        return True


def check_names(policies: Sequence[Served]) -> None:
    """Clients tell policies apart by name."""
    names = [served.name for served in policies]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two policies are called {quote(twice[0])}: set `serving.name` in one of them")


class Service(Starlette):
    """The app behind its gate, which comes before everything else: each layer around it would cost every request."""

    gate: Gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self.gate(scope, receive, send)


def create_app(
    policies: Sequence[Served],
    *,
    keys: Sequence[str] | Keyring = (),
    hosts: Sequence[str] = (),
    bounds: Bounds | None = None,
    log_content: bool = False,
    recorder: Recorder | None = None,
    share: int = 1,
) -> Service:
    """Build the app that serves these policies, one model each.

    Parameters
    ----------
    policies
        What to serve; `app.state.reload(load)` replaces them and the keys.
    keys
        API keys to accept; everybody's requests are, where there are none.
    hosts
        The names it answers to, any by default.
    bounds
        How much is accepted.
    log_content
        Whether questions and answers are logged.
    recorder
        Where votes are written to.
    share
        How many processes serve the same: each takes its share of the upstreams' concurrency.
    """
    check_names(policies)
    metrics = Metrics()
    panels, reading = Panels(metrics, share), Reading()
    ring = keys if isinstance(keys, Keyring) else plain_keys(keys)
    endpoint = Endpoint(panels, metrics, ring, reading, recorder=recorder, log_content=log_content)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        panels.put(policies)
        writing = asyncio.create_task(recorder.keep_writing()) if recorder else None
        yield
        reading.close()
        if writing is not None:
            writing.cancel()
            with suppress(asyncio.CancelledError):
                await writing
        await panels.switchboard.close()

    async def chat(request: Request) -> Response:
        return error(405, "ask by POST", "method_not_allowed", allow="POST")

    path = "/v1/chat/completions"
    app = Service(
        routes=[Route(path, chat), *_operation(panels, ring, metrics)],
        lifespan=lifespan,
        exception_handlers={HTTPException: _plain_refusal},
    )
    app.router.redirect_slashes = False
    inner, answers = partial(Starlette.__call__, app), {path: endpoint.chat}
    app.gate = Gate(inner, keys=ring, hosts=hosts, bounds=bounds or Bounds(), metrics=metrics, answers=answers)
    app.state.reading = reading
    app.state.reload = partial(panels.reload, ring)
    return app


def _operation(panels: Panels, keys: Keyring, metrics: Metrics) -> list[Route]:
    """What can be asked besides questions."""
    started = int(time())

    def card(name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": started, "owned_by": "swaplaw"}

    async def models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [card(name) for name in panels]})

    async def model(request: Request) -> Response:
        name = request.path_params["name"]
        return JSONResponse(card(name)) if name in panels else _no_model(name, panels)

    async def health(request: Request) -> Response:
        """Whether questions can be answered, and which circuits are open."""
        circuits = {
            name: {client.member.model: "open" if client.circuit.open else "closed" for client in panel.clients}
            for name, panel in panels.items()
        }
        degraded = any("open" in members.values() for members in circuits.values())
        return JSONResponse({"status": "degraded" if degraded else "ok", "policies": circuits})

    async def live(request: Request) -> Response:
        """The process runs: restart it if this does not answer."""
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> Response:
        """Whether some policy can be answered: send requests elsewhere while none can."""
        able = any(not client.circuit.open for panel in panels.values() for client in panel.clients)
        return JSONResponse({"status": "ready" if able else "unready"}, 200 if able else 503)

    async def scrape(request: Request) -> Response:
        """For Prometheus."""
        for key in keys:
            if key.budget is not None:
                metrics.key_spent.labels(key.name).set(keys.ledger.spent(key.name))
        for panel in panels.values():
            for client in panel.clients:
                metrics.circuit.labels(panel.served.name, client.member.model).set(client.circuit.open)
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    paths = {
        "/v1/models": models, "/v1/models/{name:path}": model, "/metrics": scrape,
        "/health": health, "/health/live": live, "/health/ready": ready,
    }  # fmt: skip
    return [Route(path, endpoint) for path, endpoint in paths.items()]


async def _plain_refusal(request: Request, problem: Exception) -> Response:
    status = getattr(problem, "status_code", 500)
    code = {404: "not_found", 405: "method_not_allowed"}.get(status, "invalid_request")
    reply = error(status, str(getattr(problem, "detail", "the request failed")), code)
    reply.headers.update(getattr(problem, "headers", None) or {})
    return reply
