"""The endpoint: OpenAI's chat completions, answered by the weighted vote of a policy."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from time import monotonic, time
from typing import Any
from uuid import uuid4

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse

from swaplaw.errors import InputError, listing, quote
from swaplaw.serve.http.gate import Bounds, Gate, error
from swaplaw.serve.http.metrics import Metrics
from swaplaw.serve.http.schemas import ChatReply, ChatRequest, ErrorReply, Health, ModelCard, ModelList
from swaplaw.serve.http.tracing import span
from swaplaw.serve.settings import Served
from swaplaw.serve.upstream import Client
from swaplaw.serve.voting.poll import Decision, Poll, UnavailableError

log = logging.getLogger("swaplaw.serve")
PIECE = 200
"""Characters of a streamed chunk."""


@dataclass(frozen=True)
class Panel:
    """A policy and the clients that its members are reached by."""

    served: Served
    clients: tuple[Client, ...]


def create_app(
    policies: Sequence[Served],
    *,
    keys: Sequence[str] = (),
    hosts: Sequence[str] = (),
    bounds: Bounds | None = None,
    log_content: bool = False,
) -> FastAPI:
    """Build the app that serves these policies, one model each; `hosts` are the names it answers to, any by default."""
    names = [served.name for served in policies]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two policies are called {quote(twice[0])}: set `serving.name` in one of them")
    metrics = Metrics()
    panels: dict[str, Panel] = {}

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        panels.update((served.name, _panel(served, metrics)) for served in policies)
        yield
        for panel in panels.values():
            await asyncio.gather(*(client.close() for client in panel.clients))

    app = FastAPI(title="swaplaw", summary="Weighted votes of language models", lifespan=lifespan, docs_url=None)
    app.add_middleware(Gate, keys=keys, hosts=hosts, bounds=bounds or Bounds(), metrics=metrics)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain_refusal)
    started = int(time())
    endpoint = Endpoint(panels, metrics, log_content)
    errors: dict[int | str, dict[str, Any]] = {
        status: {"model": ErrorReply} for status in (400, 401, 404, 408, 413, 415, 422, 429, 503, 504)
    }

    @app.post("/v1/chat/completions", response_model=ChatReply, responses=errors)
    async def chat(request: Request, question: ChatRequest) -> Response:
        """Ask the members, pool their votes, answer with a completion of the winning category."""
        return await endpoint.answer(request, question)

    @app.get("/v1/models", responses={401: {"model": ErrorReply}})
    async def models() -> ModelList:
        """One model per policy."""
        return ModelList(data=[ModelCard(id=name, created=started) for name in names])

    @app.get("/health")
    async def health() -> Health:
        """Whether questions can be answered, and which circuits are open."""
        return _health(panels)

    @app.get("/metrics", response_class=Response, responses={401: {"model": ErrorReply}})
    async def scrape() -> Response:
        """For Prometheus."""
        for panel in panels.values():
            for client in panel.clients:
                metrics.circuit.labels(panel.served.name, client.member.model).set(client.circuit.open)
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return app


class Endpoint:
    """Answers questions."""

    def __init__(self, panels: dict[str, Panel], metrics: Metrics, log_content: bool) -> None:
        self._panels, self._metrics, self._log_content = panels, metrics, log_content

    async def answer(self, request: Request, question: ChatRequest) -> Response:
        """Answer, and keep the books on it."""
        panel = self._panels.get(question.model)
        if panel is None:
            known = listing(list(self._panels))
            return error(
                404, f"there is no model {quote(question.model)}; there are {known}", "model_not_found", "model"
            )
        if refused := question.refused():
            return error(400, f"a pooled answer cannot honour {refused!r}: leave it out", "unsupported", refused)
        name, start = panel.served.name, monotonic()
        with span("swaplaw.vote", policy=name) as attributes:
            response, decision = await self._decide(request, question, panel)
            attributes["status"] = response.status_code
        seconds = monotonic() - start
        self._metrics.requests.labels(name, str(response.status_code)).inc()
        self._metrics.seconds.labels(name).observe(seconds)
        log.info("%s: status %s in %.3f s", quote(name), response.status_code, seconds)
        if decision is not None:
            self._record(panel.served, decision)
            if self._log_content:
                said = json.dumps([message.model_dump(exclude_unset=True) for message in question.messages])
                log.info("%s: asked %s, answered %s", quote(name), said, quote(decision.answer, 500))
        return response

    async def _decide(self, request: Request, question: ChatRequest, panel: Panel) -> tuple[Response, Decision | None]:
        serving = panel.served.serving
        body = question.for_members(serving.temperature, serving.max_tokens)
        try:
            json.dumps(body, allow_nan=False)
        except (ValueError, RecursionError):
            return error(400, "the request holds numbers that JSON does not have", "invalid_json"), None
        seed = question.seed if question.seed is not None else serving.seed
        poll = Poll(panel.served, panel.clients, body, seed)
        try:
            decision = await _decided(request, poll, serving.timeout)
        except UnavailableError as down:
            log.warning("%s: no decision, members down: %s", quote(panel.served.name), down)
            message = f"too many members are down to decide: {down}"
            return error(503, message, "members_down", retry_after="5"), None
        except TimeoutError:
            return error(504, f"the vote was not decided within {serving.timeout:g} s", "timeout"), None
        if decision is None:
            return Response(status_code=499), None
        if poll.down:
            log.warning("%s: decided without %s", quote(panel.served.name), listing(list(poll.down)))
        if decision.answer is None and serving.null_win == "error":
            return error(422, serving.abstention, "no_answer"), decision
        return self._reply(question, panel.served, decision, poll), decision

    def _reply(self, question: ChatRequest, served: Served, decision: Decision, poll: Poll) -> Response:
        vote = {"policy": served.name, **decision.vote, "ignored": question.ignored()}
        text, finish = served.serving.abstention, "stop"
        if decision.completion is not None:
            text, finish = decision.completion.text, decision.completion.finish_reason or "stop"
        usage = {
            "prompt_tokens": decision.input_tokens,
            "completion_tokens": decision.output_tokens,
            "total_tokens": decision.input_tokens + decision.output_tokens,
        }
        head = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time()), "model": served.name}
        headers = {"x-swaplaw-degraded": str(len(poll.down))} if poll.down else {}
        if question.stream:
            wants_usage = question.stream_options is not None and bool(question.stream_options.include_usage)
            chunks = stream(head, text, finish, vote, usage if wants_usage else None)
            return StreamingResponse(chunks, media_type="text/event-stream", headers=headers)
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        reply = {**head, "object": "chat.completion", "choices": [choice], "usage": usage, "swaplaw": vote}
        return JSONResponse(reply, headers=headers)

    def _record(self, served: Served, decision: Decision) -> None:
        vote, name, metrics = decision.vote, served.name, self._metrics
        metrics.decisions.labels(name, decision.by, vote["stopped"]).inc()
        metrics.saved.labels(name).inc(vote["samples"]["saved"])
        metrics.cost.labels(name).inc(vote["cost"] or 0)
        metrics.added.labels(name).observe(monotonic() - decision.arrived)
        if vote["ties"]:
            metrics.ties.labels(name).inc()
        for member in vote["members"]:
            abstained = sum(member["abstentions"].values())
            fates = {"vote": member["votes"] - abstained, "abstention": abstained, "lost": member["lost"]}
            for fate, number in fates.items():
                metrics.samples.labels(name, member["model"], fate).inc(max(0, number))
        for model in (vote["degraded"] or {"down": {}})["down"]:
            metrics.degraded.labels(name, model).inc()


async def _decided(request: Request, poll: Poll, seconds: float) -> Decision | None:
    """Decide within these seconds; None, and all work is stopped, when the client has gone."""
    deadline = asyncio.timeout(seconds)
    leaving = asyncio.create_task(_watch(request, deadline))
    try:
        async with deadline:
            return await poll.decide()
    except TimeoutError:
        if leaving.done():
            return None
        raise
    finally:
        leaving.cancel()


async def _watch(request: Request, deadline: asyncio.Timeout) -> None:
    """When the client leaves, the time is up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    if not deadline.expired():
        deadline.reschedule(asyncio.get_running_loop().time())


async def stream(
    head: dict[str, Any], text: str, finish: str, vote: dict[str, Any], usage: dict[str, int] | None
) -> AsyncIterator[str]:
    """The winning completion in chunks, then how it ended together with the vote, then the usage if wanted."""

    def event(delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**head, "object": "chat.completion.chunk", "choices": [choice], **more})

    yield event({"role": "assistant", "content": ""})
    for start in range(0, len(text), PIECE):
        yield event({"content": text[start : start + PIECE]})
    yield event({}, finish, swaplaw=vote)
    if usage is not None:
        yield _event({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _event(document: dict[str, Any]) -> str:
    return f"data: {json.dumps(document, separators=(',', ':'))}\n\n"


def _panel(served: Served, metrics: Metrics) -> Panel:
    clients = []
    for member in served.members:
        observe = partial(_observe, metrics, served.name, member.model)
        limit = served.serving.max_answer_bytes
        clients.append(Client(member, served.upstream(member), max_answer_bytes=limit, observe=observe))
    return Panel(served, tuple(clients))


def _observe(metrics: Metrics, policy: str, member: str, result: str, seconds: float) -> None:
    metrics.attempts.labels(policy, member, result).inc()
    metrics.upstream.labels(policy, member).observe(seconds)


def _health(panels: dict[str, Panel]) -> Health:
    circuits = {
        name: {client.member.model: "open" if client.circuit.open else "closed" for client in panel.clients}
        for name, panel in panels.items()
    }
    degraded = any("open" in members.values() for members in circuits.values())
    return Health.model_validate({"status": "degraded" if degraded else "ok", "policies": circuits})


async def _invalid(request: Request, problem: Exception) -> Response:
    """Say what is wrong with a request without repeating what it holds."""
    assert isinstance(problem, RequestValidationError)
    first = problem.errors()[0]
    if first["type"] == "json_invalid":
        message = f"the body is not JSON: {first['ctx']['error']} at character {first['loc'][-1]}"
        return error(400, message, "invalid_json")
    place = ".".join(str(part)[:60] for part in first["loc"][1:]) or "body"
    return error(400, f"{quote(place, 200)}: {first['msg']}", "invalid_request", place[:200])


async def _plain_refusal(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(problem.status_code, "invalid_request")
    reply = error(problem.status_code, str(problem.detail), code)
    reply.headers.update(problem.headers or {})
    return reply
