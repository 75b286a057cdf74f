"""An OpenAI-compatible server whose models are scripted: real HTTP, known answers, every request remembered."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

KEY = "sk-nothing-but-a-test-4711"
PROVIDER = "openai-api/scripted"
"""Inspect's name for the server; it takes the key from SCRIPTED_API_KEY."""


@dataclass
class Answering:
    """The server: which option is right for which question, and what was asked."""

    golds: Mapping[str, str]
    """Question -> the text of the right option."""
    pause: float = 0.0
    asked: list[dict[str, Any]] = field(default_factory=list)

    def __enter__(self) -> Answering:
        handler = type("Handler", (_Handler,), {"world": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def questions_asked(self) -> list[dict[str, Any]]:
        """Requests that put a question, in order; probes left out."""
        return [request for request in self.asked if _options(request)]

    def answer(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """HTTP status and body of a reply."""
        self.asked.append(request)
        time.sleep(self.pause)
        script = getattr(self, f"_{request['model']}", None)
        if script is None:
            return 404, _error("model_not_found", f"The model `{request['model']}` does not exist")
        if not _options(request) and "What is" not in str(request["messages"]):
            return 200, _completion("OK", "stop")
        return script(request)  # type: ignore[no-any-return]

    def _adds(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Adds by a tool where it has one, and then is wrong now and then; its replies are long and short."""
        first = next(each["content"] for each in request["messages"] if each["role"] == "user")
        number = int(re.findall(r"\d+", first)[0])
        if request.get("tools") and request["messages"][-1]["role"] == "user":
            call = {"name": request["tools"][0]["function"]["name"], "arguments": json.dumps({"x": number})}
            return 200, _completion("", "tool_calls", [{"id": "c1", "type": "function", "function": call}])
        luck = Random(json.dumps([first, len(self.asked)]))
        total = 2 * number + (luck.random() < 0.3)
        return 200, _completion(f"{'so ' * luck.randint(1, 60)}\n\nANSWER: {total}", "stop")

    _sums = _adds

    def _first(self, _: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return 200, _completion("I like the first one.\nANSWER: A", "stop")

    def _knows(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        prompt = request["messages"][-1]["content"]
        gold = next(gold for question, gold in self.golds.items() if f"\n{question}\n" in prompt)
        (letter,) = [letter for letter, option in _options(request) if option == gold]
        return 200, _completion(f"<think>\nNot A, not B.\nANSWER: Z\n</think>\nIt is {gold}.\nANSWER: {letter}", "stop")

    def _seeded(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Guesses, always the same for the same prompt and seed."""
        known = json.dumps([request["seed"], request["messages"][-1]["content"]])
        letters = [letter for letter, _ in _options(request)] + ["?"]
        return 200, _completion(f"ANSWER: {letters[sha256(known.encode()).digest()[0] % len(letters)]}", "stop")

    def _talks(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Reasons for 200 tokens before it answers: a smaller cap cuts it off."""
        words = ["reason"] * 200 + ["\nANSWER:", "A"]
        cap = request.get("max_tokens") or request.get("max_completion_tokens") or len(words)
        return 200, _completion(" ".join(words[:cap]), "stop" if cap >= len(words) else "length")

    def _refuses(self, _: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return 200, _completion("ANSWER: A", "content_filter")

    def _garbage(self, _: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return 200, _completion("\ud83e\x00 \x1b[31m <script> maybe A, maybe B, or Q", "stop")

    def _breaks(self, _: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return 422, _error("unprocessable", "this model cannot be asked today")

    def _hangs(self, _: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        time.sleep(20)
        return 200, _completion("ANSWER: A", "stop")


def _options(request: dict[str, Any]) -> list[tuple[str, str]]:
    return re.findall(r"^([A-Z])\) (.*)$", request["messages"][-1]["content"], flags=re.MULTILINE)


def _completion(text: str, stop: str, calls: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text.encode("utf-8", "replace").decode()}
    message |= {"tool_calls": calls} if calls else {}
    tokens = len(text.split())
    usage = {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens}
    choice = {"index": 0, "message": message, "finish_reason": stop}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Clients that are killed hang up; nothing is wrong."""


class _Handler(BaseHTTPRequestHandler):
    world: Answering
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        allowed = self.headers["authorization"] == f"Bearer {KEY}"
        status, body = self.world.answer(request) if allowed else (401, _error("invalid_api_key", "wrong API key"))
        sent = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
