"""A question's way through the server: checked, asked, decided, answered, and booked."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from time import monotonic
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

from swaplaw.errors import InputError, listing, quote
from swaplaw.serve.drift import Monitor
from swaplaw.serve.http.gate import KEY, Asking, error
from swaplaw.serve.http.metrics import Metrics
from swaplaw.serve.http.passing import pass_through
from swaplaw.serve.http.protocol import CALLER, Caller
from swaplaw.serve.http.replies import Said, chat_reply, new_id, response_reply
from swaplaw.serve.http.schemas import ChatRequest, ResponsesRequest
from swaplaw.serve.http.tracing import tracer
from swaplaw.serve.record import Recorder
from swaplaw.serve.settings import Served
from swaplaw.serve.upstream.client import Client
from swaplaw.serve.upstream.completions import parse_json
from swaplaw.serve.upstream.limits import Deadlines
from swaplaw.serve.voting.poll import Decision, Poll, UnavailableError

log = logging.getLogger("swaplaw.serve")
LINE = "%s: status %s in %.3f s"
ANSWERED = {200: logging.DEBUG}
"""What goes well is in the metrics; a line for each would take longer to write than its vote to count."""
Form = Callable[[Said], Response]


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
        self, panels: Mapping[str, Panel], metrics: Metrics, *, recorder: Recorder | None, log_content: bool
    ) -> None:
        self._panels, self._metrics, self._recorder, self._log_content = panels, metrics, recorder, log_content
        self._canary = random.Random()
        self._span = tracer()

    async def chat(self, asking: Asking) -> Response:
        """Answer in the form of a chat completion."""
        question = _checked(ChatRequest, asking.body)
        if isinstance(question, Response):
            return question
        options = question.stream_options
        usage = options is not None and bool(options.include_usage)
        return await self._answer(
            asking, question, lambda said: chat_reply(said, streamed=bool(question.stream), with_usage=usage)
        )

    async def respond(self, asking: Asking) -> Response:
        """Answer in the form of the Responses API."""
        asked = _checked(ResponsesRequest, asking.body)
        if isinstance(asked, Response):
            return asked
        question = asked.as_chat()
        if isinstance(question, str):
            return error(400, f"{question} cannot be put as a chat: leave it out", "unsupported", question)
        return await self._answer(asking, question, lambda said: response_reply(said, streamed=bool(asked.stream)))

    async def _answer(self, asking: Asking, question: ChatRequest, form: Form) -> Response:
        panel = self._panels.get(question.model)
        if panel is None:
            known = listing(list(self._panels))
            return error(
                404, f"there is no model {quote(question.model)}; there are {known}", "model_not_found", "model"
            )
        name, start = panel.served.name, monotonic()
        with self._span("swaplaw.vote", {"policy": name}) as attributes:
            response = await self._served(asking, question, panel, form)
            attributes["status"] = response.status_code
        seconds = monotonic() - start
        self._metrics.count_request(name, response.status_code, seconds)
        log.log(ANSWERED.get(response.status_code, logging.INFO), LINE, quote(name), response.status_code, seconds)
        return response

    async def _served(self, asking: Asking, question: ChatRequest, panel: Panel, form: Form) -> Response:
        serving = panel.served.serving
        until = monotonic() + serving.timeout
        because = question.unpooled(reads_json=panel.served.reader.kind == "json")
        if because and (serving.pass_through == "refuse" or asking.scope["path"].endswith("/responses")):
            return error(400, f"a pooled answer cannot honour {because!r}: leave it out", "unsupported", because)
        try:
            work = (
                self._passed(asking, question, panel, because, until)
                if because
                else self._pooled(asking, question, panel, form, until)
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
        charge = partial(self._charge, asking)
        return await pass_through(panel.served, panel.clients[0], question, because, until, charge)

    async def _pooled(self, asking: Asking, question: ChatRequest, panel: Panel, form: Form, until: float) -> Response:
        """Let the members vote."""
        served = panel.served
        body = question.for_members(served.temperature, served.serving.max_tokens, served.prompt)
        seed = question.seed if question.seed is not None else served.serving.seed
        poll = Poll(served, panel.clients, body, seed, until)
        try:
            decision = await poll.decide()
        except UnavailableError as down:
            return _unavailable(served, down)
        finally:
            # Paid for, whatever becomes of it.
            if KEY in asking.scope:
                self._charge(asking, poll.cost or 0.0)
        if poll.down:
            log.warning("%s: decided without %s", quote(served.name), listing(list(poll.down)))
        reply_id = new_id()
        response = self._reply(question, panel, poll, decision, form, reply_id)
        try:
            self._book(question, panel, poll, decision, reply_id)
        except Exception:
            # The answer is there and paid for: keeping the books must not cost it.
            log.exception("%s: a decision could not be booked", quote(served.name))
        return response

    def _charge(self, asking: Asking, cost: float) -> None:
        """Book what was spent on a key's request."""
        if (key := asking.scope.get(KEY)) is not None:
            key.charge(cost)
            self._metrics.key_cost.labels(key.name).inc(cost)

    def _reply(
        self, question: ChatRequest, panel: Panel, poll: Poll, decision: Decision, form: Form, reply_id: str
    ) -> Response:
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
        return form(Said(served.name, text, finish, *tokens, vote, headers, reply_id, refused))

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
            panel.monitor.observe([{cast.sample: cast.answer for cast in record.cast} for record in poll.records])
            metrics.show_drift(served.name, panel.monitor)
        if self._recorder is not None:
            self._recorder.add(served, reply_id, poll.records, question.said())
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
