"""What clients get: chat completions and responses in OpenAI's forms, whole or streamed, with the vote beside them."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from time import time
from typing import Any, NamedTuple

from pydantic_core import to_json
from starlette.responses import Response, StreamingResponse

PIECE = 200
"""Characters of a streamed chunk."""


class Said(NamedTuple):
    """An answer, ready to be put into one form or another."""

    model: str
    text: str
    finish: str
    input_tokens: int
    output_tokens: int
    vote: Mapping[str, Any]
    headers: Mapping[str, str]
    id: str
    """The question's id in recorded votes, too."""
    refused: bool = False
    """The text says why there is no answer, to a client that expects JSON."""


def new_id() -> str:
    """An id for a request, or for a question and its reply: no secret, but never given twice."""
    return f"{random.getrandbits(128):032x}"


def chat_reply(said: Said, *, streamed: bool, with_usage: bool) -> Response:
    """A chat completion."""
    head = {"id": f"chatcmpl-{said.id}", "created": int(time()), "model": said.model}
    usage = {
        "prompt_tokens": said.input_tokens,
        "completion_tokens": said.output_tokens,
        "total_tokens": said.input_tokens + said.output_tokens,
    }
    if streamed:
        return _event_stream(_chunks(head, said, usage if with_usage else None), said.headers)
    content, refusal = (None, said.text) if said.refused else (said.text, None)
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": said.finish}
    reply = {**head, "object": "chat.completion", "choices": [choice], "usage": usage, "swaplaw": said.vote}
    return _whole(reply, said.headers)


def _chunks(head: Mapping[str, Any], said: Said, usage: Mapping[str, int] | None) -> Iterator[bytes]:
    """The winning completion in chunks, then how it ended together with the vote, then the usage if wanted."""

    def event(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**head, "object": "chat.completion.chunk", "choices": [choice], **more})

    yield event({"role": "assistant", "content": ""})
    for piece in _pieces(said.text):
        yield event({"refusal" if said.refused else "content": piece})
    yield event({}, said.finish, swaplaw=said.vote)
    if usage is not None:
        yield _event({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def response_reply(said: Said, *, streamed: bool) -> Response:
    """A response of the Responses API."""
    whole = _response(said)
    if streamed:
        return _event_stream(_response_events(said, whole), said.headers)
    return _whole(whole, said.headers)


def _response(said: Said) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "output_text", "text": said.text, "annotations": []}
    if said.refused:
        part = {"type": "refusal", "refusal": said.text}
    cut = said.finish == "length"
    message = {
        "id": f"msg_{said.id}",
        "type": "message",
        "role": "assistant",
        "status": "incomplete" if cut else "completed",
        "content": [part],
    }
    return {
        "id": f"resp_{said.id}",
        "object": "response",
        "created_at": int(time()),
        "status": message["status"],
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "model": said.model,
        "output": [message],
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
        "usage": {
            "input_tokens": said.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": said.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": said.input_tokens + said.output_tokens,
        },
        "swaplaw": said.vote,
    }


def _response_events(said: Said, whole: dict[str, Any]) -> Iterator[bytes]:
    (message,) = whole["output"]
    (part,) = message["content"]
    place = {"item_id": message["id"], "output_index": 0, "content_index": 0}
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    kind, key = ("response.refusal", "refusal") if said.refused else ("response.output_text", "text")
    more: dict[str, Any] = {} if said.refused else {"logprobs": []}
    events: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": begun}),
        ("response.in_progress", {"response": begun}),
        (
            "response.output_item.added",
            {"output_index": 0, "item": {**message, "status": "in_progress", "content": []}},
        ),
        ("response.content_part.added", {**place, "part": {**part, key: ""}}),
        *((f"{kind}.delta", {**place, "delta": piece, **more}) for piece in _pieces(said.text)),
        (f"{kind}.done", {**place, key: said.text, **more}),
        ("response.content_part.done", {**place, "part": part}),
        ("response.output_item.done", {"output_index": 0, "item": message}),
        (f"response.{whole['status']}", {"response": whole}),
    ]
    for number, (name, content) in enumerate(events):
        yield b"event: %b\n" % name.encode() + _event({"type": name, "sequence_number": number, **content})


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def _write(document: Mapping[str, Any]) -> bytes:
    """Write JSON in a fifth of the time that Python's own writer takes, which is for lone surrogates only."""
    try:
        return to_json(document)
    except ValueError:
        return json.dumps(document, separators=(",", ":")).encode()


def _whole(document: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    return Response(_write(document), media_type="application/json", headers=dict(headers))


def _event(document: Mapping[str, Any]) -> bytes:
    return b"data: %b\n\n" % _write(document)


def _event_stream(events: Iterator[bytes], headers: Mapping[str, str]) -> Response:
    async def each() -> AsyncIterator[bytes]:
        for event in events:
            yield event

    return StreamingResponse(each(), media_type="text/event-stream", headers=dict(headers))
