"""A scripted upstream: a real HTTP server on loopback that replays recorded votes as completions.

It speaks OpenAI's chat completions. The question is the one that the last message names ("question 17"); any other text
stands for one of the recorded questions. Sample k is asked for with `seed` k (and `n` for the ones that follow);
without a seed, each call gets the next recorded vote.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from swaplaw.decide.policy import Member, Policy
from swaplaw.serve.gate import server_options
from swaplaw.serve.settings import Served, served_from
from swaplaw.serve.vote import SILENT, Vote

if TYPE_CHECKING:
    from starlette.types import ASGIApp

PRIMARY, SECONDARY, WEIGHT, SAMPLES = "claude-3-opus-20240229", "gpt-4", Fraction(2, 3), 24
NAME = "demo"
NAMED = re.compile(r"\bquestion\s+(\S+?)[.?!,;:]*(?=\s|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Script:
    """Recorded answers of each model to each question, in order."""

    answers: Mapping[tuple[str, str], Sequence[Vote]]

    @property
    def questions(self) -> list[str]:
        """All questions, sorted."""
        return sorted({question for _, question in self.answers})

    def question(self, text: str) -> str:
        """The recorded question that a text names or stands for."""
        questions = self.questions
        named = NAMED.search(text)
        if named and named[1] in questions:
            return named[1]
        return questions[int.from_bytes(sha256(text.encode("utf-8", "replace")).digest()[:8]) % len(questions)]


def scripted_app(script: Script, *, delay: float = 0.0) -> ASGIApp:
    """The upstream as an ASGI app; `delay` is its latency in seconds."""
    calls: Counter[tuple[str, str]] = Counter()

    async def chat(request: Request) -> Response:
        asked = await request.json()
        text = _text(asked["messages"][-1].get("content"))
        key = (asked["model"], script.question(text))
        if key not in script.answers:
            return JSONResponse({"error": {"message": "no such model"}}, 404)
        number = asked.get("n", 1)
        first = asked.get("seed", calls[key])
        calls[key] += number
        await asyncio.sleep(delay)
        recorded = script.answers[key]
        choices = [
            {
                "index": index,
                "message": {"role": "assistant", "content": completion(recorded[(first + index) % len(recorded)])},
                "finish_reason": "stop",
            }
            for index in range(number)
        ]
        usage = {"prompt_tokens": 20, "completion_tokens": 12 * number, "total_tokens": 20 + 12 * number}
        reply: dict[str, Any] = {"id": "scripted", "object": "chat.completion", "created": 0, "model": key[0]}
        return JSONResponse({**reply, "choices": choices, "usage": usage})

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])


def _text(content: Any) -> str:
    """The words of a message, whether it is one text or a list of parts: both ask the same question."""
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content)


def completion(answer: Vote) -> str:
    """What a model might have written around a recorded answer."""
    return (
        "I cannot tell from what is given."
        if answer is None or answer is SILENT
        else f"On balance, the answer is ({answer})."
    )


@contextmanager
def running(app: ASGIApp, port: int = 0) -> Iterator[str]:
    """Run an app on loopback in a thread of its own; yields its base URL."""
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=2, lifespan="auto", **server_options())
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", port), backlog=2048) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            # Connections wait in the backlog until the server takes them, so it is ready to be used now.
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            server.should_exit = True
            thread.join(timeout=10)


def demo_script() -> Script:
    """The bundled real votes of the demo's two members."""
    from swaplaw.serve.replay import recorded
    from swaplaw.votes.bundled import demo_votes

    return Script(recorded(demo_votes(), [PRIMARY, SECONDARY]).answers)


def demo_policy(base_url: str) -> Served:
    """Two models of the bundled votes, both at the scripted upstream."""
    members = (Member(PRIMARY, Fraction(1), SAMPLES, 0.015), Member(SECONDARY, WEIGHT, SAMPLES, 0.01))
    serving = {
        "upstreams": {member.model: {"base_url": base_url, "batch": SAMPLES} for member in members},
        "seed": 0,
        "answer": {"read": "choice", "choices": "ABCDE"},
    }
    evidence = {"note": "a demonstration on recorded votes, recommended by nobody"}
    return served_from(Policy(members, "demo", evidence, {"dataset": "renze-temperature"}, serving), NAME)
