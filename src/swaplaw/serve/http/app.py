"""The endpoint: OpenAI's chat completions and responses, answered by the weighted vote of a policy."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from time import time
from typing import Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from swaplaw.errors import InputError, SwaplawError, listing, quote
from swaplaw.serve.drift import monitor_of
from swaplaw.serve.http.endpoint import Endpoint, Panel
from swaplaw.serve.http.gate import Asking, Bounds, Gate, error
from swaplaw.serve.http.keys import Keyring, plain_keys
from swaplaw.serve.http.metrics import Metrics
from swaplaw.serve.http.schemas import (
    ChatReply,
    ChatRequest,
    ErrorReply,
    Health,
    Live,
    ModelCard,
    ModelList,
    Ready,
    ResponsesReply,
    ResponsesRequest,
)
from swaplaw.serve.record import Recorder
from swaplaw.serve.settings import Served
from swaplaw.serve.upstream.client import Client, Switchboard

log = logging.getLogger("swaplaw.serve")
Load = Callable[[], Sequence[Served]]


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
        for member in served.members:
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
        What to serve; `app.state.reload(policies)` replaces them.
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
    panels = Panels(metrics, share)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        panels.put(policies)
        writing = asyncio.create_task(recorder.keep_writing(metrics.record_failures)) if recorder else None
        yield
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
    endpoint = Endpoint(panels, metrics, recorder=recorder, log_content=log_content)
    answers = {"/v1/chat/completions": endpoint.chat, "/v1/responses": endpoint.respond}
    inner = partial(FastAPI.__call__, app)
    app.gate = Gate(inner, keys=ring, hosts=hosts, bounds=bounds or Bounds(), metrics=metrics, answers=answers)
    app.add_exception_handler(HTTPException, _plain_refusal)
    app.state.reload = partial(reload, panels)
    _add_questions(app, endpoint)
    _add_operation(app, panels, metrics)
    return app


def check_names(policies: Sequence[Served]) -> None:
    """Clients tell policies apart by name."""
    names = [served.name for served in policies]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two policies are called {quote(twice[0])}: set `serving.name` in one of them")


def reload(panels: Panels, load: Load) -> bool:
    """Replace the policies by what `load` gives; where that fails, what is served stays, and the log says why."""
    try:
        policies = load()
        panels.put(policies)
    except SwaplawError as problem:
        log.error("not reloaded, what was served before still is: %s", problem)
        return False
    log.info("reloaded: %s", listing([served.name for served in policies]))
    return True


def _add_questions(app: FastAPI, endpoint: Endpoint) -> None:
    """Describe what can be asked; the gate answers it."""
    errors: dict[int | str, dict[str, Any]] = {
        status: {"model": ErrorReply} for status in (400, 401, 404, 408, 413, 415, 421, 422, 429, 431, 500, 503, 504)
    }

    @app.post("/v1/chat/completions", response_model=ChatReply, responses=errors, openapi_extra=_body(app, ChatRequest))
    async def chat(request: Request) -> Response:
        """Ask the members, pool their votes, answer with a completion of the winning category."""
        return await endpoint.chat(Asking(request.scope, await request.body()))

    @app.post(
        "/v1/responses", response_model=ResponsesReply, responses=errors, openapi_extra=_body(app, ResponsesRequest)
    )
    async def respond(request: Request) -> Response:
        """Do the same in the form of the Responses API."""
        return await endpoint.respond(Asking(request.scope, await request.body()))


def _body(app: FastAPI, kind: type[Any]) -> dict[str, Any]:
    """Describe a request's body, which we read ourselves to say what is wrong with it in our own words."""
    schema = kind.model_json_schema()
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _add_operation(app: FastAPI, panels: Panels, metrics: Metrics) -> None:
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
