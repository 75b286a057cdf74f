"""OpenTelemetry spans where somebody has set it up, else nothing. Attributes are names and numbers, never content.

Requests that no vote can answer, such as those with tools: the primary answers alone, visibly.

A question's way through the server: checked, asked, decided, answered, and booked.

The endpoint: OpenAI's chat completions and responses, answered by the weighted vote of a policy.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
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
from dataclasses import dataclass
from functools import cached_property, partial
from time import monotonic, time
from typing import Any

import aiohttp
from fastapi import FastAPI, Request
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from swaplaw.errors import InputError, SwaplawError, listing, quote
from swaplaw.serve.drift import Monitor, monitor_of
from swaplaw.serve.forms import (
    ChatReply,
    ChatRequest,
    ErrorReply,
    Health,
    Live,
    ModelCard,
    ModelList,
    Ready,
    Said,
    chat_reply,
    new_id,
)
from swaplaw.serve.gate import CALLER, KEY, Asking, Bounds, Caller, Gate, error
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
    Deadlines,
    RateLimitedError,
    Switchboard,
    UpstreamError,
    parse_json,
    refusal,
    tokens_used,
)

try:
    from opentelemetry import trace
except ImportError:  # The extra `tracing` is not installed.
    trace = None  # type: ignore[assignment]

Attributes = dict[str, str | int]
Span = Callable[[str, Attributes], AbstractContextManager[Attributes]]


def tracer() -> Span:
    """What traces a piece of work; what is put into the yielded dictionary becomes attributes, too."""
    # Where no provider is set, a stand-in for it would be asked for every span and drop it.
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return lambda name, attributes: nullcontext(attributes)
    return _traced


@contextmanager
def _traced(name: str, attributes: Attributes) -> Iterator[Attributes]:
    with trace.get_tracer("swaplaw.serve").start_as_current_span(name) as current:
        try:
            yield attributes
        finally:
            current.set_attributes(attributes)


HEADER = "x-swaplaw-passed-through"
LONGEST_TAIL = 8192
"""Bytes at the end of a stream that are searched for its usage."""
USAGE = re.compile(rb'"(prompt|completion)_tokens"\s{0,9}:\s{0,9}(\d{1,15})')


async def pass_through(
    served: Served, primary: Client, question: ChatRequest, because: str, until: float, bill: Bill
) -> Response:
    """Let the primary answer alone; the reply says so in a header, and whole ones beside the answer, too.

    Raises
    ------
    InputError
        If the request holds something that JSON does not have.
    """
    asked = Asked(_body(served, question))
    payload = primary.prepare(asked) + b"}"
    if not bill.open(primary.most(1, len(payload), asked.max_tokens) or 0.0):
        return over_budget()
    if not primary.circuit.enter():
        return error(503, "the primary is down", "members_down", retry_after="5")
    started = monotonic()
    async with AsyncExitStack() as stack:
        stack.callback(bill.settle)
        try:
            await primary.throttle.enter(until)
            stack.callback(primary.throttle.leave)
            started = monotonic()
            async with asyncio.timeout(primary.upstream.timeout):
                bill.cost = bill.most
                response = await stack.enter_async_context(primary.post(payload))
                if response.status != 200:
                    bill.cost = 0.0
                    response.close()
                    raise refusal(response)
                if question.stream:
                    chunks = _relay(response, primary, served.serving.max_answer_bytes, len(payload), bill)
                    return _Relayed(stack.pop_all(), chunks, because)
                reply = await _whole(response, served.serving.max_answer_bytes)
            bill.cost = primary.cost(1, *tokens_used(reply)) or 0.0
            # Written in ASCII, as lone surrogates, which JSON can smuggle in, have no other form.
            text = json.dumps({**reply, **_marks(served, primary, because)}, separators=(",", ":"), allow_nan=False)
        except UpstreamError as failure:
            return _refused(primary, failure, started)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError, RecursionError):
            return _failed(primary, "it gave no usable answer")
    primary.circuit.record(healthy=True)
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


class Bill:
    """What one request may cost, and does: reserved before it asks, settled when it ends, however it ends."""

    def __init__(self, key: Key | None, ledger: Ledger, metrics: Metrics, booked: Callable[[Bill], None]) -> None:
        self._key, self._ledger, self._metrics, self._booked = key, ledger, metrics, booked
        self.most = self.cost = 0.0

    def open(self, most: float) -> bool:
        """Reserve the most that it may cost; False where the key's budget has no room for that."""
        self.most = most
        key = self._key
        if key is None or key.budget is None or self._ledger.reserve(key.name, most, key.budget):
            return True
        self._metrics.refused.labels(key.name, "budget").inc()
        return False

    def settle(self) -> None:
        """Book what it did cost."""
        self._booked(self)
        if self._key is None:
            return
        self._metrics.key_cost.labels(self._key.name).inc(self.cost)
        if self._key.budget is not None:
            self._ledger.add(self._key.name, self.cost - self.most)


def over_budget() -> Response:
    """Refuse what a key's budget may not cover."""
    return error(429, "today's budget of this key has no room for what this may cost", "insufficient_quota")


class _Relayed(StreamingResponse):
    """A stream handed on; whatever becomes of it, the call that it comes from ends with it."""

    def __init__(self, stack: AsyncExitStack, chunks: AsyncIterator[bytes], because: str) -> None:
        super().__init__(chunks, media_type="text/event-stream", headers={HEADER: because})
        self._stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._stack:
            await super().__call__(scope, receive, send)


async def _relay(
    response: aiohttp.ClientResponse, primary: Client, most: int, asked: int, bill: Bill
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
        bill.cost = primary.cost(1, told.get(b"prompt", asked // 4), told.get(b"completion", events)) or 0.0


log = logging.getLogger("swaplaw.serve")
LINE = "%s: status %s in %.3f s"
ANSWERED = {200: logging.DEBUG}
"""What goes well is in the metrics; a line for each would take longer to write than its vote to count."""


@dataclass(frozen=True)
class Panel:
    """A policy and the clients that its members are reached by."""

    served: Served
    clients: tuple[Client, ...]
    monitor: Monitor | None = None

    @cached_property
    def deadlines(self) -> Deadlines:
        """The time that each question has."""
        return Deadlines(self.served.serving.timeout)


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
        self._canary = random.Random()
        self._span = tracer()

    async def chat(self, asking: Asking) -> Response:
        """Answer in the form of a chat completion."""
        question = _checked(ChatRequest, asking.body)
        if isinstance(question, Response):
            return question
        panel = self._panels.get(question.model)
        if panel is None:
            known = listing(list(self._panels))
            return error(
                404, f"there is no model {quote(question.model)}; there are {known}", "model_not_found", "model"
            )
        name, start = panel.served.name, monotonic()
        with self._span("swaplaw.vote", {"policy": name}) as attributes:
            response = await self._served(asking, question, panel)
            attributes["status"] = response.status_code
        seconds = monotonic() - start
        self._metrics.count_request(name, response.status_code, seconds)
        log.log(ANSWERED.get(response.status_code, logging.INFO), LINE, quote(name), response.status_code, seconds)
        return response

    async def _served(self, asking: Asking, question: ChatRequest, panel: Panel) -> Response:
        serving = panel.served.serving
        until = monotonic() + serving.timeout
        because = question.unpooled(reads_json=panel.served.reader.kind == "json")
        if because and serving.pass_through == "refuse":
            return error(400, f"a pooled answer cannot honour {because!r}: leave it out", "unsupported", because)
        try:
            work = (
                self._passed(asking, question, panel, because, until)
                if because
                else self._pooled(asking, question, panel, until)
            )
            response = await _unless_left(asking, work, panel.deadlines)
        except TimeoutError:
            return error(504, f"the vote was not decided within {serving.timeout:g} s", "timeout")
        except InputError as problem:
            return error(400, str(problem), "invalid_request", "messages")
        except RecursionError:
            return error(400, "the request is nested too deeply", "invalid_request")
        return Response(status_code=499) if response is None else response

    async def _passed(
        self, asking: Asking, question: ChatRequest, panel: Panel, because: str, until: float
    ) -> Response:
        """Let the primary answer alone."""
        self._metrics.passed.labels(panel.served.name, because).inc()
        primary = panel.clients[0]
        counted = partial(self._metrics.count_cost, panel.served.name, primary.member.model)
        bill = self._bill(asking, lambda bill: counted(bill.cost))
        return await pass_through(panel.served, primary, question, because, until, bill)

    async def _pooled(self, asking: Asking, question: ChatRequest, panel: Panel, until: float) -> Response:
        """Let the members vote."""
        served = panel.served
        body = question.for_members(served.temperature, served.serving.max_tokens, served.prompt)
        seed = question.seed if question.seed is not None else served.serving.seed
        poll = Poll(served, panel.clients, body, seed, until, self._reading)
        bill = self._bill(asking, lambda bill: self._count_costs(panel, poll))
        if not bill.open(poll.most):
            return over_budget()
        try:
            decision = await poll.decide()
        except UnavailableError as down:
            return _unavailable(served, down)
        finally:
            # Paid for, whatever becomes of it.
            bill.cost = sum(cost or 0.0 for cost in poll.costs)
            bill.settle()
        if poll.down:
            log.warning("%s: decided without %s", quote(served.name), listing(list(poll.down)))
        reply_id = new_id()
        response = self._reply(question, panel, poll, decision, reply_id)
        try:
            self._book(question, panel, poll, decision, reply_id)
        except Exception:
            # The answer is there and paid for: keeping the books must not cost it.
            log.exception("%s: a decision could not be booked", quote(served.name))
        return response

    def _bill(self, asking: Asking, booked: Callable[[Bill], None]) -> Bill:
        """The bill of a request, for its key where it has one."""
        return Bill(asking.scope.get(KEY), self._keys.ledger, self._metrics, booked)

    def _count_costs(self, panel: Panel, poll: Poll) -> None:
        for client, cost in zip(panel.clients, poll.costs, strict=True):
            self._metrics.count_cost(panel.served.name, client.member.model, cost or 0.0)

    def _reply(self, question: ChatRequest, panel: Panel, poll: Poll, decision: Decision, reply_id: str) -> Response:
        served = panel.served
        answer, completion = decision.answer, decision.completion
        vote = {"policy": served.name, **decision.vote, "ignored": question.ignored()}
        headers = {"x-swaplaw-degraded": str(len(poll.down))} if poll.down else {}
        if (how := self._primary_shown(served)) and (alone := poll.primary_alone()) is not None:
            answer, completion = alone
            headers["x-swaplaw-served"] = how
            vote |= {"served": how, "served_answer": answer}
            self._metrics.shadow.labels(served.name, str(answer == decision.answer).lower()).inc()
        if completion is None and served.serving.null_win == "error":
            return error(422, served.serving.abstention, "no_answer")
        text, finish = served.serving.abstention, "stop"
        if completion is not None:
            text, finish = completion.text, completion.finish_reason or "stop"
        tokens = decision.input_tokens, decision.output_tokens
        refused = completion is None and question.wants_json
        options = question.stream_options
        said = Said(served.name, text, finish, *tokens, vote, headers, reply_id, refused)
        with_usage = options is not None and bool(options.include_usage)
        return chat_reply(said, streamed=bool(question.stream), with_usage=with_usage)

    def _primary_shown(self, served: Served) -> str | None:
        """Whether this reply is the primary's: in shadow, or beyond the canary's share."""
        if served.serving.shadow:
            return "shadow"
        share = served.serving.canary
        return "primary" if share < 1 and self._canary.random() >= share else None

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


def _unavailable(served: Served, down: UnavailableError) -> Response:
    log.warning("%s: no decision, members down: %s", quote(served.name), down)
    if down.status is not None:
        # The request is at fault, not the members: a client that tries again would only buy the same again.
        return error(down.status, f"the members refuse the request: {down}", "refused_upstream")
    return error(503, f"too many members are down to decide: {down}", "members_down", retry_after="5")


async def _unless_left(asking: Asking, work: Awaitable[Response], deadlines: Deadlines) -> Response | None:
    """Do the work before it is due; None, and all of it is stopped, when the client has gone."""
    caller: Caller = asking.scope.get(CALLER) or Caller()
    try:
        with deadlines() as deadline:
            caller.watch(deadline.expire)
            return await work
    except TimeoutError:
        if caller.gone:
            return None
        raise
    finally:
        caller.unwatch()


def _checked(kind: type[Any], body: bytes) -> Any:
    """A request held to its schema, or what is wrong with it, which repeats nothing that it holds."""
    try:
        return kind.model_validate(parse_json(body or b"{}"))
    except json.JSONDecodeError as problem:
        return error(400, f"the body is not JSON: {problem.msg} at character {problem.pos}", "invalid_json")
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part)[:60] for part in first["loc"]) or "body"
        return error(400, f"{quote(place, 200)}: {first['msg']}", "invalid_request", place[:200])
    except (ValueError, RecursionError):
        # Not text, numbers that JSON does not have, or nested too deeply.
        return error(400, "the body is not JSON", "invalid_json")


log = logging.getLogger("swaplaw.serve")
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
            upstream = served.upstream(member)
            if self._share > 1:
                upstream = upstream.model_copy(update={"concurrency": max(1, upstream.concurrency // self._share)})
            limit = served.serving.max_answer_bytes
            clients.append(Client(member, upstream, self.switchboard, max_answer_bytes=limit, observe=observe))
        return Panel(served, tuple(clients), monitor_of(served.policy))


class Service(FastAPI):
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

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        panels.put(policies)
        writing = asyncio.create_task(recorder.keep_writing()) if recorder else None
        yield
        reading.close()
        if writing is not None:
            writing.cancel()
            with suppress(asyncio.CancelledError):
                await writing
        await panels.switchboard.close()

    app = Service(
        title="swaplaw",
        summary="Weighted votes of language models",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    ring = keys if isinstance(keys, Keyring) else plain_keys(keys)
    endpoint = Endpoint(panels, metrics, ring, reading, recorder=recorder, log_content=log_content)
    answers = {"/v1/chat/completions": endpoint.chat}
    inner = partial(FastAPI.__call__, app)
    app.gate = Gate(inner, keys=ring, hosts=hosts, bounds=bounds or Bounds(), metrics=metrics, answers=answers)
    app.add_exception_handler(HTTPException, _plain_refusal)
    app.state.reading = reading
    app.state.reload = partial(reload, panels, ring)
    _add_questions(app, endpoint)
    _add_operation(app, panels, ring, metrics)
    return app


def check_names(policies: Sequence[Served]) -> None:
    """Clients tell policies apart by name."""
    names = [served.name for served in policies]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two policies are called {quote(twice[0])}: set `serving.name` in one of them")


def reload(panels: Panels, keys: Keyring, load: Load) -> bool:
    """Replace policies and keys by what `load` gives; where that fails, what is served stays, and the log says why."""
    try:
        policies, accepted = load()
        panels.put(policies)
    except SwaplawError as problem:
        log.error("not reloaded, what was served before still is: %s", problem)
        return False
    keys.replace(accepted)
    log.info("reloaded: %s", listing([served.name for served in policies]))
    return True


def _add_questions(app: FastAPI, endpoint: Endpoint) -> None:
    """Describe what can be asked; the gate answers it."""
    errors: dict[int | str, dict[str, Any]] = {
        status: {"model": ErrorReply} for status in (400, 401, 404, 408, 413, 415, 421, 422, 429, 431, 500, 503, 504)
    }

    @app.post(
        "/v1/chat/completions", response_model=ChatReply, responses=errors, openapi_extra=_described(app, ChatRequest)
    )
    async def chat(request: Request) -> Response:
        """Ask the members, pool their votes, answer with a completion of the winning category."""
        return await endpoint.chat(Asking(request.scope, await request.body()))


def _described(app: FastAPI, kind: type[Any]) -> dict[str, Any]:
    """Describe a request's body, which we read ourselves to say what is wrong with it in our own words."""
    schema = kind.model_json_schema()
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _add_operation(app: FastAPI, panels: Panels, keys: Keyring, metrics: Metrics) -> None:
    started = int(time())
    refusals: dict[int | str, dict[str, Any]] = {401: {"model": ErrorReply}}

    @app.get("/v1/models", responses=refusals)
    async def models() -> ModelList:
        """One model per policy."""
        return ModelList(data=[ModelCard(id=name, created=started) for name in panels])

    @app.get("/v1/models/{name:path}", response_model=ModelCard, responses={**refusals, 404: {"model": ErrorReply}})
    async def model(name: str) -> Response:
        """One policy."""
        if name not in panels:
            return error(404, f"there is no model {quote(name)}; there are {listing(list(panels))}", "model_not_found")
        return JSONResponse(ModelCard(id=name, created=started).model_dump())

    @app.get("/health")
    async def health() -> Health:
        """Whether questions can be answered, and which circuits are open."""
        return _health(panels)

    @app.get("/health/live")
    async def live() -> Live:
        """The process runs: restart it if this does not answer."""
        return Live()

    @app.get("/health/ready", response_model=Ready, responses={503: {"model": Ready}})
    async def ready() -> Response:
        """Whether some policy can be answered: send requests elsewhere while none can."""
        able = any(not client.circuit.open for panel in panels.values() for client in panel.clients)
        return JSONResponse({"status": "ready" if able else "unready"}, 200 if able else 503)

    @app.get("/metrics", response_class=Response, responses=refusals)
    async def scrape() -> Response:
        """For Prometheus."""
        for key in keys:
            if key.budget is not None:
                metrics.key_spent.labels(key.name).set(keys.ledger.spent(key.name))
        for panel in panels.values():
            for client in panel.clients:
                metrics.circuit.labels(panel.served.name, client.member.model).set(client.circuit.open)
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _health(panels: Panels) -> Health:
    circuits = {
        name: {client.member.model: "open" if client.circuit.open else "closed" for client in panel.clients}
        for name, panel in panels.items()
    }
    degraded = any("open" in members.values() for members in circuits.values())
    return Health.model_validate({"status": "degraded" if degraded else "ok", "policies": circuits})


async def _plain_refusal(request: Request, problem: Exception) -> Response:
    status = getattr(problem, "status_code", 500)
    code = {404: "not_found", 405: "method_not_allowed"}.get(status, "invalid_request")
    reply = error(status, str(getattr(problem, "detail", "the request failed")), code)
    reply.headers.update(getattr(problem, "headers", None) or {})
    return reply
