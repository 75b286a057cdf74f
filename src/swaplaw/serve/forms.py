"""What clients send and get: the part of OpenAI's chat completions that a pooled answer can honour.

What clients get: chat completions and responses in OpenAI's forms, whole or streamed, with the vote beside them.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from time import time
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json
from starlette.responses import Response, StreamingResponse
from typing_extensions import TypedDict

from swaplaw.decide.policy import QUESTION
from swaplaw.errors import InputError

PASSED_ON = (
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "response_format",
    "reasoning_effort",
)
"""What a client may ask of the members; the rest is the policy's to say."""
UNPOOLED = ("tools", "functions", "logprobs", "audio", "modalities", "prediction", "web_search_options")
"""What a pooled answer cannot give: to leave it out silently would be to mislead."""
NOT_TOLD = ("model", "stream", "stream_options", "user", "metadata", "store")
"""What a primary that answers alone is not told: it is ours to say, or about the client."""

Finite = Annotated[float, Field(allow_inf_nan=False)]


OPEN = ConfigDict(extra="allow")


class Open(BaseModel):
    """Fields that we do not know are let through to where it is decided what becomes of them."""

    model_config = OPEN


class Message(TypedDict):
    """One message, which stays the object that it came as; what its content holds is between client and members."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: NotRequired[str | list[dict[str, Any]] | None]


class StreamOptions(Open):
    """How to stream."""

    include_usage: bool | None = None


class ChatRequest(Open):
    """A request for one pooled answer."""

    model: Annotated[str, Field(max_length=200)]
    messages: Annotated[list[Message], Field(min_length=1, max_length=10_000)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Field(ge=1, le=1, description="A policy gives one answer.")] | None = None
    seed: Annotated[int, Field(ge=-(2**62), le=2**62)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=2**31)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1, le=2**31)] | None = None
    stop: str | Annotated[list[str], Field(max_length=16)] | None = None
    top_p: Annotated[Finite, Field(ge=0, le=1)] | None = None
    presence_penalty: Annotated[Finite, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[Finite, Field(ge=-2, le=2)] | None = None
    response_format: dict[str, Any] | None = None
    reasoning_effort: Annotated[str, Field(max_length=50)] | None = None

    def unpooled(self, reads_json: bool = False) -> str | None:
        """The first field that cannot be honoured by a vote; JSON can where the reader finds its answer in JSON."""
        given = self.model_extra or {}
        if given and (found := next((name for name in UNPOOLED if given.get(name)), None)):
            return found
        if self.wants_json and not reads_json:
            return "response_format"
        # Replies to tools make no sense to a model that was not told of them.
        return "tool messages" if any(message["role"] in ("tool", "function") for message in self.messages) else None

    @property
    def wants_json(self) -> bool:
        """Whether the reply is to be JSON, so that nothing else may be said."""
        return self.response_format is not None and self.response_format.get("type") in ("json_object", "json_schema")

    def ignored(self) -> list[str]:
        """Fields that have no say here, such as `temperature`, which the policy sets."""
        return sorted(name[:60] for name in (self.model_extra or {}))[:20]

    def for_members(self, temperature: float | None, max_tokens: int | None, prompt: str | None) -> dict[str, Any]:
        """The body that every sample is asked for with, but for model and seed.

        Raises
        ------
        InputError
            If there is a prompt, and no user's text to put into it.
        """
        messages = self.said()
        if prompt is not None:
            _put_into(prompt, messages)
        body: dict[str, Any] = {"messages": messages}
        for name in PASSED_ON:
            if (value := getattr(self, name)) is not None:
                body[name] = value
        if temperature is not None:
            body["temperature"] = temperature
        return capped(body, max_tokens)

    def said(self) -> list[dict[str, Any]]:
        """The messages as they came."""
        return [{**message} for message in self.messages]

    def for_primary(self, max_tokens: int | None) -> dict[str, Any]:
        """The request as it came, for a primary that answers alone: what the policy caps stays capped."""
        given = self.model_dump(exclude_unset=True)
        return capped({name: value for name, value in given.items() if name not in NOT_TOLD}, max_tokens)


def _put_into(prompt: str, messages: list[dict[str, Any]]) -> None:
    """Put the last user message into the policy's prompt; what it holds besides text, such as an image, stays."""
    for message in reversed(messages):
        if message["role"] != "user":
            continue
        content = message.get("content")
        if isinstance(content, str):
            message["content"] = prompt.replace(QUESTION, content)
            return
        if isinstance(content, list) and (text := "".join(_texts(content))):
            rest = [part for part in content if part.get("type") != "text"]
            message["content"] = [{"type": "text", "text": prompt.replace(QUESTION, text)}, *rest]
            return
    raise InputError("the policy puts the question into its own prompt, and there is no user message with text")


def _texts(parts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    return (part["text"] for part in parts if part.get("type") == "text" and isinstance(part.get("text"), str))


CAPS = ("max_tokens", "max_completion_tokens")


def capped(body: dict[str, Any], most: int | None) -> dict[str, Any]:
    """Hold a body to the policy's cap: in every field that sets one, or in one of its own."""
    if most is not None:
        for name in [name for name in CAPS if name in body] or CAPS[:1]:
            body[name] = min(most, body.get(name, most))
    return body


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
    """An id for a reply, under which its votes are recorded, too: no secret, but never given twice."""
    return f"chatcmpl-{random.getrandbits(128):032x}"


def chat_reply(said: Said, *, streamed: bool, with_usage: bool) -> Response:
    """A chat completion."""
    head = {"id": said.id, "created": int(time()), "model": said.model}
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
