"""What the policy's part `serving` says: where members are, how answers are read, what to do when things go wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from swaplaw.answers.readers import LABELS, Reader
from swaplaw.decide.policy import Member, Policy, read_policy
from swaplaw.errors import InputError, listing, quote
from swaplaw.serve.voting.stopping import StopRule

MOST_SAMPLES = 1000
"""Samples a question over all members: a policy that asks for more is a mistake, or an attack on the bill."""

Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
# Chosen by the vote, not by whoever fills in an upstream.
RESERVED = ("messages", "model", "n", "stream", "stream_options", "temperature", "seed")


class Part(BaseModel):
    """Strict and immutable: a misspelt setting is an error, not a surprise."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TokenPrice(Part):
    """Cost of a million tokens."""

    input: Price
    output: Price


class Upstream(Part):
    """One OpenAI-compatible endpoint."""

    base_url: str
    model: str | None = None
    """Its name there; the member's own name by default."""
    key_env: str | None = None
    """The environment variable that holds its key."""
    price: Price | TokenPrice | None = None
    """Cost of a sample, or of a million tokens; else the policy's price of a sample."""
    batch: Annotated[int, Field(ge=1, le=128)] = 1
    """Samples a call may ask for with `n`, where the upstream supports it."""
    concurrency: Annotated[int, Field(ge=1, le=10_000)] = 64
    timeout: Seconds = 60.0
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    breaker: Annotated[int, Field(ge=1)] = 5
    """Failures in a row that open the circuit."""
    cooldown: Seconds = 10.0
    """How long an open circuit stays so before one call may try."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """More fields for the request body, such as a grammar."""

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("expected a URL such as 'https://api.example.com/v1'")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("give only the address here: a key belongs in the environment variable named by key_env")
        return value.rstrip("/")

    @field_validator("extra")
    @classmethod
    def _nothing_reserved(cls, value: dict[str, Any]) -> dict[str, Any]:
        if taken := [name for name in value if name in RESERVED]:
            raise ValueError(f"{taken[0]!r} is not for extra to set")
        return value

    def key(self, environment: Mapping[str, str] = os.environ) -> str | None:
        """The key, read from the environment."""
        if self.key_env is None:
            return None
        key = environment.get(self.key_env, "").strip()
        if not key:
            raise InputError(f"the environment variable {quote(self.key_env)} is empty: put the upstream's key there")
        return key


class AnswerSettings(Part):
    """How a completion's answer is read and spelt."""

    read: Literal["choice", "boxed", "regex", "json", "text"] = "choice"
    choices: str | list[str] = Field(default_factory=lambda: list(LABELS))
    pattern: str | None = None
    field: str = "answer"
    canonical: list[str] | None = None

    @cached_property
    def reader(self) -> Reader:
        """What reads it."""
        return Reader(
            self.read,
            labels=tuple(self.choices),
            pattern=self.pattern,
            field=self.field,
            canonical=self.canonical,
        )


class StopSettings(Part):
    """When sampling stops."""

    exact: bool = True
    """Stop as soon as no completion of the remaining votes can change the outcome."""
    error: Annotated[float, Field(gt=0, lt=0.5)] | None = None
    """Also stop when a change has at most this probability (statistical; off by default)."""
    rounds: Annotated[int, Field(ge=1)] | None = None
    """Draw all that is left after this many rounds: saves time, costs samples."""

    @model_validator(mode="after")
    def _statistical_includes_exact(self) -> Self:
        if self.error is not None and not self.exact:
            raise ValueError("a statistical stop (error) includes the exact one: leave exact true, or error out")
        return self

    @property
    def rule(self) -> StopRule:
        """The rule that these settings state."""
        return StopRule(self.exact, self.error, self.rounds)


class Serving(Part):
    """The part `serving` of a policy file."""

    upstreams: dict[str, Upstream]
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The model that clients ask for; the file's name by default."""
    temperature: Annotated[float, Field(ge=0, le=10)] | None = None
    seed: int | None = None
    """Sample k of each member is asked for with seed + k, so that reruns can repeat."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Most tokens a sample may have, whatever the client asks for."""
    answer: AnswerSettings = Field(default_factory=AnswerSettings)
    stop: StopSettings = Field(default_factory=StopSettings)
    null_win: Literal["abstain", "primary", "error"] = "abstain"
    """What to answer when the null category wins."""
    abstention: str = "The models polled did not settle on an answer."
    """The message of an abstention."""
    degrade: Literal["renormalise", "primary", "unavailable"] = "renormalise"
    """What to do when a member is down."""
    quorum: str = "1/2"
    """A member whose share of samples that can still arrive falls below this is down for the question."""
    timeout: Seconds = 300.0
    """For the whole question."""
    max_answer_bytes: Annotated[int, Field(ge=1024, le=2**28)] = 2**20
    """Longest response of an upstream, times its batch."""

    @field_validator("quorum")
    @classmethod
    def _share(cls, value: str) -> str:
        try:
            share = Fraction(value)
        except (ValueError, ZeroDivisionError):
            share = Fraction(0)
        if not 0 < share <= 1:
            raise ValueError("expected a fraction above 0 and up to 1 as text, such as '1/2'")
        return value


@dataclass(frozen=True)
class Served:
    """A policy that can be served: its members with their upstreams, and what clients call it."""

    name: str
    policy: Policy
    serving: Serving

    @property
    def members(self) -> tuple[Member, ...]:
        """The members, the primary first."""
        return self.policy.members

    def upstream(self, member: Member) -> Upstream:
        """Where a member is."""
        return self.serving.upstreams[member.model]


def read_served(path: str | Path) -> Served:
    """Read a policy file that says how it is served."""
    return served_from(read_policy(path), name=Path(path).stem, place=quote(str(path), 200))


def served_from(policy: Policy, name: str, place: str = "policy") -> Served:
    """Hold the part `serving` of a policy to its schema."""
    if not policy.serving:
        raise InputError(
            f"{place}: nothing says where the members are: fill in `serving`, at least "
            '{"upstreams": {MODEL: {"base_url": URL}}} for each of ' + listing([m.model for m in policy.members])
        )
    try:
        serving = Serving.model_validate(dict(policy.serving))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(["serving", *map(str, first["loc"])])
        given = "" if first["type"] == "missing" else f" (given: {quote(first['input'])})"
        raise InputError(f"{place}: {where}: {first['msg'].removeprefix('Value error, ')}{given}") from None
    models = [member.model for member in policy.members]
    if missing := [model for model in models if model not in serving.upstreams]:
        raise InputError(f"{place}: serving.upstreams lacks {quote(missing[0])}: say where that member is")
    if unknown := [model for model in serving.upstreams if model not in models]:
        raise InputError(f"{place}: serving.upstreams has {quote(unknown[0])}, which is no member ({listing(models)})")
    total = sum(member.samples for member in policy.members)
    if total > MOST_SAMPLES:
        raise InputError(f"{place}: {total} samples a question are more than the {MOST_SAMPLES} that are served")
    _ = serving.answer.reader  # Built now, so that a bad pattern is an error at the start.
    return Served(serving.name or name, policy, serving)
