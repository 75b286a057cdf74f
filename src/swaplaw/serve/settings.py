"""What the policy's part `serving` says: where members are, and what to do when things go wrong.

How votes come about (reader, temperature, prompt, what a truncated completion counts as) is part of the decision where
that was known. `serving` may say it only where the decision does not: a policy must not be served with other votes than
those it was judged on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from swaplaw.answers.readers import LABELS, Reader
from swaplaw.decide.policy import QUESTION, Fallback, Member, Policy, read_policy
from swaplaw.errors import InputError, listing, quote
from swaplaw.serve.stop import ROUNDS, Degrade, StopRule, Terms, as_share, terms_of

if TYPE_CHECKING:
    from swaplaw.serve.upstream import Completion

MOST_SAMPLES = 1000
"""Samples per question over all members: a policy that asks for more is a mistake, or an attack on the bill."""
HOW = ("reader", "temperature", "prompt", "truncated")
"""How votes come about."""
SHORT = 400
"""Characters of a reply that is read at once, and worth remembering how."""

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
    """Samples that a call may ask for with `n`, where the upstream supports it."""
    concurrency: Annotated[int, Field(ge=1, le=10_000)] = 64
    timeout: Seconds = 60.0
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    patience: Seconds = 60.0
    """How long a sample may wait, all in all, for an upstream that says it is asked too often."""
    breaker: Annotated[int, Field(ge=1)] = 5
    """Failures in a row that open the circuit; being asked too often is none."""
    cooldown: Seconds = 10.0
    """How long an open circuit stays so before one call may try."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """More fields for the request body, such as a grammar."""
    fallback: Upstream | None = None
    """Where the same model is asked when this upstream fails; what it says costs as much."""
    hedge: Seconds | None = None
    """After how long a sample that has not come is asked for once more, of `fallback` where there is one."""

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("expected a URL such as 'https://api.example.com/v1'")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("give only the address here: a key belongs in the environment variable named by key_env")
        return value.rstrip("/")

    @field_validator("fallback")
    @classmethod
    def _one_of_them(cls, value: Upstream | None) -> Upstream | None:
        if value is not None and (value.fallback or value.hedge or value.price is not None):
            raise ValueError("a fallback has no fallback, hedge or price of its own")
        return value

    @field_validator("extra")
    @classmethod
    def _nothing_reserved(cls, value: dict[str, Any]) -> dict[str, Any]:
        if taken := [name for name in value if name in RESERVED]:
            raise ValueError(f"{taken[0]!r} cannot be set in extra")
        return value

    def shared_by(self, processes: int) -> Self:
        """One process's share of this upstream."""
        less = {"concurrency": max(1, self.concurrency // processes)}
        return self.model_copy(update={**less, "fallback": self.fallback and self.fallback.shared_by(processes)})

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
    rounds: Annotated[int, Field(ge=1)] | None = None
    """Draw all that is left after this many rounds: saves time, costs samples."""


class Serving(Part):
    """The part `serving` of a policy file."""

    upstreams: dict[str, Upstream]
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The model that clients ask for; the file's name by default."""
    temperature: Annotated[float, Field(ge=0, le=10)] | None = None
    prompt: str | None = None
    """What the last user message is put into, at `{question}`."""
    truncated: Literal["abstain", "read"] | None = None
    """What a completion that hit its token limit counts as; an abstention unless said."""
    seed: int | None = None
    """Sample k of each member is asked for with seed + k, so that reruns can repeat."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Most tokens that a sample may have, whatever the client asks for."""
    answer: AnswerSettings | None = None
    stop: StopSettings = Field(default_factory=lambda: StopSettings(rounds=ROUNDS))
    null_win: Literal["abstain", "primary", "primary_text", "error"] = "abstain"
    """What to answer when the null category wins."""
    pass_through: Literal["primary", "refuse"] = "primary"
    """What becomes of requests that cannot be pooled, such as those with tools."""
    abstention: str = "The models polled did not settle on an answer."
    """The message of an abstention."""
    degrade: Degrade = "renormalise"
    """What to do when a member is down."""
    quorum: str = "1/2"
    """A member whose share of samples that can still arrive falls below this is down for the question."""
    timeout: Seconds = 300.0
    """For the whole question."""
    cache: Seconds | None = None
    """How long the decision on a question is given again to whoever asks the very same."""
    max_answer_bytes: Annotated[int, Field(ge=1024, le=2**28)] = 2**20
    """Longest response of an upstream, times its batch."""

    @field_validator("quorum")
    @classmethod
    def _share(cls, value: str) -> str:
        try:
            as_share(value, "it")
        except InputError:
            raise ValueError("expected a fraction above 0 and up to 1 as text, such as '1/2'") from None
        return value

    @field_validator("prompt")
    @classmethod
    def _holds_the_question(cls, value: str | None) -> str | None:
        if value is not None and QUESTION not in value:
            raise ValueError(f"expected text that holds {QUESTION}")
        return value


@dataclass(frozen=True)
class Served:
    """A policy that can be served: its members with their upstreams, and what clients call it."""

    name: str
    policy: Policy
    serving: Serving
    reader: Reader
    """How answers are read, as judged or as `serving` says."""

    @property
    def members(self) -> tuple[Member, ...]:
        """The members, the primary first."""
        return self.policy.members

    @cached_property
    def asked(self) -> tuple[Member | Fallback, ...]:
        """Whoever may be asked: the members, then the fallback models in their order."""
        return self.policy.asked

    def upstream(self, member: Member | Fallback) -> Upstream:
        """Where a model is."""
        return self.serving.upstreams[member.model]

    @cached_property
    def terms(self) -> Terms:
        """What decides, the cheaper of equals first."""
        return terms_of(self.policy, [_sample_price(one, self.upstream(one)) for one in self.members])

    @cached_property
    def stop_rule(self) -> StopRule:
        """When to stop."""
        return StopRule(self.serving.stop.exact, self.serving.stop.rounds)

    @cached_property
    def weights(self) -> list[str]:
        """The members' weights as text."""
        return [str(member.weight) for member in self.members]

    @property
    def temperature(self) -> float | None:
        """Of every sample."""
        judged = self.policy.voting.temperature
        return self.serving.temperature if judged is None else judged

    @property
    def prompt(self) -> str | None:
        """What the last user message is put into."""
        return self.policy.voting.prompt or self.serving.prompt

    @cached_property
    def reads_truncated(self) -> bool:
        """Whether a completion that hit its token limit is read."""
        return (self.policy.voting.truncated or self.serving.truncated) == "read"

    @property
    def unknown(self) -> list[str]:
        """What the policy does not say of the votes it was judged on, so that nothing can hold serving to it."""
        return [name for name in HOW if getattr(self.policy.voting, name) is None]

    @cached_property
    def _read_short(self) -> Callable[[str], str | None]:
        """Short replies repeat each other; the last few thousand are remembered."""
        return lru_cache(maxsize=4096)(self.reader.read)

    def read(self, completion: Completion) -> tuple[str | None, str | None]:
        """The vote that a completion is: its answer, or None and why."""
        return self.settled(completion) or self.outcome(completion, self.reader.read(completion.text))

    def settled(self, completion: Completion) -> tuple[str | None, str | None] | None:
        """The vote that a completion is where that takes no time to tell; None where its text must be read.

        As in `collect`, a completion that was cut off has no answer: the model did not end it, whatever it says.
        """
        if completion.refused or completion.finish_reason == "content_filter":
            return None, "refused"
        if completion.finish_reason == "length" and not self.reads_truncated:
            return None, "truncated"
        text = completion.text
        if len(text) <= SHORT:
            return self.outcome(completion, self._read_short(text))
        declared = self.reader.declared(text)
        return None if declared is None else (declared, None)

    def outcome(self, completion: Completion, answer: str | None) -> tuple[str | None, str | None]:
        """The vote that a completion is, once its text has been read."""
        if answer is None:
            return None, "truncated" if completion.finish_reason == "length" else "no_parse"
        return answer, None


def _sample_price(member: Member, upstream: Upstream) -> float:
    if isinstance(upstream.price, TokenPrice):
        return upstream.price.output
    return upstream.price if upstream.price is not None else member.price or 0.0


def read_served(path: str | Path, key: bytes | None = None) -> Served:
    """Read a policy file that says how it is served."""
    return served_from(read_policy(path, key), name=Path(path).stem, place=quote(str(path), 200))


def served_from(policy: Policy, name: str, place: str = "policy") -> Served:
    """Hold the part `serving` of a policy to its schema, and to what was judged."""
    if not policy.serving:
        raise InputError(
            f"{place}: nothing says where the members are: fill in `serving`, at least "
            '{"upstreams": {MODEL: {"base_url": URL}}} for each of ' + listing(policy.models)
        )
    try:
        serving = Serving.model_validate(dict(policy.serving))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(["serving", *map(str, first["loc"])])
        given = "" if first["type"] == "missing" else f" (given: {quote(first['input'])})"
        raise InputError(f"{place}: {where}: {first['msg'].removeprefix('Value error, ')}{given}") from None
    models = policy.models
    if missing := [model for model in models if model not in serving.upstreams]:
        raise InputError(f"{place}: serving.upstreams lacks {quote(missing[0])}: say where that model is")
    if unknown := [model for model in serving.upstreams if model not in models]:
        raise InputError(f"{place}: serving.upstreams has {quote(unknown[0])}, which nobody asks ({listing(models)})")
    total = sum(one.samples for one in policy.asked)
    if total > MOST_SAMPLES:
        raise InputError(f"{place}: {total} samples per question are more than the {MOST_SAMPLES} that are served")
    judged = policy.voting.reader
    try:
        reader = Reader.from_dict(judged) if judged is not None else (serving.answer or AnswerSettings()).reader
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    _check_judged(policy, serving, place)
    return Served(serving.name or name, policy, serving, reader)


def _check_judged(policy: Policy, serving: Serving, place: str) -> None:
    """What was judged cannot be said otherwise."""
    said = {
        "reader": None if serving.answer is None else serving.answer.reader.to_dict(),
        **{name: getattr(serving, name) for name in HOW[1:]},
    }
    for name, value in said.items():
        judged = getattr(policy.voting, name)
        if value is not None and judged is not None and value != judged:
            key = "answer" if name == "reader" else name
            raise InputError(
                f"{place}: serving.{key} is {quote(value)}, but the policy was judged on votes with {quote(judged)}: "
                "leave it out of `serving`"
            )
