"""What clients send and get: the part of OpenAI's chat completions that a pooled answer can honour."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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
REFUSED = ("tools", "functions", "logprobs", "audio")
"""What a pooled answer cannot give: to leave it out silently would be to mislead."""

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Open(BaseModel):
    """Fields that we do not know are let through to where it is decided what becomes of them."""

    model_config = ConfigDict(extra="allow")


class Message(Open):
    """One message; what its content holds is between client and members."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, Any]] | None = None


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

    def refused(self) -> str | None:
        """The first field that cannot be honoured."""
        given = self.model_extra or {}
        return next((name for name in REFUSED if given.get(name)), None)

    def ignored(self) -> list[str]:
        """Fields that have no say here, such as `temperature`, which the policy sets."""
        return sorted(name[:60] for name in (self.model_extra or {}))[:20]

    def for_members(self, temperature: float | None, max_tokens: int | None) -> dict[str, Any]:
        """The body that every sample is asked for with, but for model and seed."""
        body: dict[str, Any] = {"messages": [message.model_dump(exclude_unset=True) for message in self.messages]}
        for name in PASSED_ON:
            if (value := getattr(self, name)) is not None:
                body[name] = value
        if temperature is not None:
            body["temperature"] = temperature
        if max_tokens is not None:
            name = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
            body[name] = min(max_tokens, body.get(name, max_tokens))
        return body


class ErrorBody(BaseModel):
    """What went wrong, in OpenAI's words."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ErrorReply(BaseModel):
    """The body of every error."""

    error: ErrorBody


class ReplyMessage(BaseModel):
    """The winning completion."""

    role: Literal["assistant"]
    content: str
    refusal: None = None


class Choice(BaseModel):
    """The one choice."""

    index: Literal[0]
    message: ReplyMessage
    logprobs: None = None
    finish_reason: str


class Usage(BaseModel):
    """Tokens of all samples together."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatReply(BaseModel):
    """A chat completion, with the vote beside it."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Choice]
    usage: Usage
    swaplaw: dict[str, Any]


class ModelCard(BaseModel):
    """A policy as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: Literal["swaplaw"] = "swaplaw"


class ModelList(BaseModel):
    """All policies."""

    object: Literal["list"] = "list"
    data: list[ModelCard]


class Health(BaseModel):
    """Whether questions can be answered."""

    status: Literal["ok", "degraded"]
    policies: dict[str, dict[str, Literal["closed", "open"]]]
    """The circuit of each member."""
