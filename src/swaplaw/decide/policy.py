"""The policy file: what to deploy, on what evidence, from which votes. `recommend` writes it and serving reads it.

Small readable JSON. Its digest covers all that was decided: the members, the evidence, and, in `voting`, how the votes
came about that the decision rests on (reader, temperature, prompt, what a truncated completion counts as, the threshold
of a cascade). Only `serving` is left to whoever deploys it to fill in.

The digest is a fingerprint, which notices a change by accident: whoever changes a policy on purpose can make one, too.
Where a secret key is given, it is an HMAC, which only who has the key can make.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any, Literal, get_args

from swaplaw._files import regular, write_text
from swaplaw._result import Result
from swaplaw.errors import Fix, InputError, quote

SCHEMA = "swaplaw.policy"
VERSION = 2
READABLE = (1, VERSION)
"""Policies of version 1 know neither silence nor fallback: their null votes count, and nobody is asked in between."""
Silence = Literal["counts", "ignored"]
REMEDY = "give a file that `swaplaw recommend VOTES -o policy.json` wrote"
_KEYS = ("schema", "version", "verdict", "members", "evidence", "data", "digest")
_SINCE_2 = ("silence", "fallback")
_VOTING = ("reader", "temperature", "prompt", "truncated", "threshold")
SHORTEST_KEY = 16
"""Bytes of a secret key at least."""
KEYED = "hmac-sha256:"
QUESTION = "{question}"
"""Where a prompt holds what is asked."""


@dataclass(frozen=True)
class Member:
    """One model of the ensemble. Its share of each answer counts `weight` times, Eq. (vote)."""

    model: str
    weight: Fraction
    samples: int
    """Samples drawn per question."""
    price: float | None = None
    """Cost of a sample, where known."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; the weight as text, exact."""
        return {"model": self.model, "weight": str(self.weight), "samples": self.samples, "price": self.price}


@dataclass(frozen=True)
class Fallback:
    """A model that is asked where the vote so far says nothing or is tied: a member of infinitesimal weight."""

    model: str
    samples: int
    price: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"model": self.model, "samples": self.samples, "price": self.price}


@dataclass(frozen=True)
class Voting:
    """How the votes came about that a policy was judged on, so that served votes come about in the same way.

    What is not known of recorded votes is None, and then left to `serving`.
    """

    reader: Mapping[str, Any] | None = None
    """How an answer is read from a completion (see `swaplaw.answers`)."""
    temperature: float | None = None
    prompt: str | None = None
    """The template that a question was put in; holds `{question}`."""
    truncated: Literal["abstain", "read"] | None = None
    """What a completion cut off by its token limit counts as."""
    threshold: Fraction | None = None
    """Of a cascade: the other members are asked when the primary's lead, a share of its votes, is at most this."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, without what is not known."""
        known = {name: getattr(self, name) for name in _VOTING if getattr(self, name) is not None}
        if self.reader is not None:
            known["reader"] = dict(self.reader)
        if self.threshold is not None:
            known["threshold"] = str(self.threshold)
        return known


@dataclass(frozen=True, repr=False)
class Policy(Result):
    """An ensemble to deploy (or a single model), the primary first."""

    members: tuple[Member, ...]
    verdict: str
    evidence: Mapping[str, Any]
    data: Mapping[str, Any]
    """The dataset, how many of its questions, and a fingerprint of the votes."""
    serving: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else serving needs; not part of the digest."""
    voting: Voting = field(default_factory=Voting)
    silence: Silence = "counts"
    """Whether null votes are a category that can win, or add nothing."""
    fallback: tuple[Fallback, ...] = ()
    """Models asked in this order where nothing was said or a tie stands."""

    @property
    def asked(self) -> tuple[Member | Fallback, ...]:
        """Whoever may be asked: the members, the primary first, then the fallback models in their order."""
        return (*self.members, *self.fallback)

    @property
    def models(self) -> list[str]:
        """Their names."""
        return [one.model for one in self.asked]

    def rows(self) -> list[dict[str, Any]]:
        """One row per member, the primary first."""
        return [member.to_dict() for member in self.members]

    @property
    def cost(self) -> float | None:
        """Cost of a question, where every price is known; without what a fallback costs where it is asked."""
        prices = [member.price for member in self.members]
        known = [price for price in prices if price is not None]
        if len(known) < len(prices):
            return None
        return sum(price * member.samples for price, member in zip(known, self.members, strict=True))

    def judged_on(self, origin: Mapping[str, Any]) -> Policy:
        """The same policy, with the way its votes were made (`Votes.origin`).

        Parameters
        ----------
        origin : mapping
            What is known about it: `reader`, `temperature`, `truncated`.

        Returns
        -------
        Policy
            A policy that must be served with the same reading and sampling.

        Raises
        ------
        InputError
            If something in it is of the wrong kind.
        """
        known = _voting({**self.voting.to_dict(), **origin}, "these votes")
        return replace(self, voting=known)

    def _decided(self) -> dict[str, Any]:
        voting = self.voting.to_dict()
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "verdict": self.verdict,
            "members": [member.to_dict() for member in self.members],
            "silence": self.silence,
            "fallback": [each.to_dict() for each in self.fallback],
            "evidence": dict(self.evidence),
            "data": dict(self.data),
            # Policies that say nothing of it keep the digest that they always had.
            **({"voting": voting} if voting else {}),
        }

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: everything that the file holds."""
        decided = self._decided()
        return {**decided, "digest": _digest(decided), "serving": dict(self.serving)}

    def write(self, path: str | Path, key: bytes | None = None) -> None:
        """Write the policy file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            The file to write.
        key : bytes, optional
            A secret (see `policy_key`): the policy then carries an HMAC in place of a fingerprint.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        document = {**self.to_dict(), "digest": _digest(self._decided(), key)}
        text = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
        write_text(path, text)


def is_policy(path: str | Path) -> bool:
    """Whether a file says that it is a policy, which it does at its beginning."""
    try:
        with Path(path).open("rb") as file:
            return f'"{SCHEMA}"'.encode() in file.read(200)
    except OSError:
        return False


def policy_key(path: str | Path) -> bytes:
    """Read a secret key from a file.

    Raises
    ------
    InputError
        If it cannot be read, or is too short to be secret.
    """
    try:
        with regular(path).open("rb") as file:
            key = file.read(2**16).strip()
    except OSError as error:
        raise InputError(f"{quote(str(path), 200)}: cannot read the key ({error.strerror})") from None
    if len(key) < SHORTEST_KEY:
        raise InputError(
            f"{quote(str(path), 200)}: a key of {len(key)} bytes can be guessed: write at least {SHORTEST_KEY} random "
            "ones, such as by `openssl rand -hex 32`"
        )
    return key


def read_policy(path: str | Path, key: bytes | None = None) -> Policy:
    """Read a policy file, and check its schema and its digest.

    Parameters
    ----------
    path : str or Path
        A file that `Policy.write` wrote.
    key : bytes, optional
        The secret that it must have been written with (see `policy_key`).

    Returns
    -------
    Policy
        What to deploy, and the evidence for it.

    Raises
    ------
    InputError
        If it is not a policy file, or was changed after it was written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> policy = Policy((Member("gpt-4", Fraction(1), 5),), "deploy_single", {}, {})
    >>> with TemporaryDirectory() as folder:
    ...     policy.write(f"{folder}/policy.json")
    ...     read_policy(f"{folder}/policy.json").members[0].model
    'gpt-4'
    """
    name = quote(str(path), 200)
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{name}: cannot read the policy ({error.strerror}); {REMEDY}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{name}: not JSON, so not a policy file; {REMEDY}") from None
    return policy_from(document, name, key)


def policy_from(document: Any, name: str = "policy", key: bytes | None = None) -> Policy:
    """Build a policy from what its file holds; `name` says where that came from."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        found = document.get("schema") if isinstance(document, dict) else None
        raise InputError(f"{name}: schema is {quote(found)}, expected {quote(SCHEMA)}; {REMEDY}")
    version = document.get("version")
    if isinstance(version, bool) or version not in READABLE:
        raise InputError(
            f"{name}: policy version {quote(version)}, this swaplaw reads versions up to {VERSION}; "
            "recommend again, or use the swaplaw that wrote it"
        )
    keys = _KEYS if version == 1 else (*_KEYS, *_SINCE_2)
    if missing := [key for key in keys if key not in document]:
        raise InputError(f"{name}: {quote(missing[0])} is missing; {REMEDY}")
    if unknown := [key for key in document if key not in (*keys, "voting", "serving")]:
        raise InputError(f"{name}: {quote(unknown[0])} is not a part of a policy; {REMEDY}")
    decided = {key: document[key] for key in (*keys, "voting") if key != "digest" and key in document}
    digest = str(document["digest"])
    if key is None and digest.startswith(KEYED):
        raise InputError(
            f"{name}: this policy was written with a secret key, which is needed to check it",
            Fix("policy_key_file", "FILE", "read it"),
        )
    if key is not None and not digest.startswith(KEYED):
        raise InputError(
            f"{name}: this policy has a fingerprint, which anybody can make, and a key was given: recommend again "
            "with the key"
        )
    if not hmac.compare_digest(digest.encode(), _digest(decided, key).encode()):
        raise InputError(
            f"{name}: the policy was changed after it was written (its digest does not fit): only `serving` may be "
            "edited; recommend again for another decision"
        )
    evidence, data, serving = (_object(document.get(key, {}), key, name) for key in ("evidence", "data", "serving"))
    if not isinstance(document["verdict"], str):
        raise InputError(f"{name}: verdict is {quote(document['verdict'])}, expected text; {REMEDY}")
    voting = _voting(_object(document.get("voting", {}), "voting", name), name)
    members, fallback = _members(document["members"], name), _fallback(document.get("fallback", []), name)
    silence = document.get("silence", "counts")
    if silence not in get_args(Silence):
        raise InputError(f"{name}: silence is {quote(silence)}, expected 'counts' or 'ignored'")
    models = [each.model for each in members] + [each.model for each in fallback]
    if twice := [model for model in models if models.count(model) > 1]:
        raise InputError(f"{name}: {quote(twice[0])} is there twice; a model is a member or a fallback, once")
    return Policy(members, document["verdict"], evidence, data, serving, voting, silence, fallback)


def _digest(decided: Mapping[str, Any], key: bytes | None = None) -> str:
    canonical = json.dumps(decided, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    if key is None:
        return f"sha256:{hashlib.sha256(canonical).hexdigest()}"
    return f"{KEYED}{hmac.digest(key, canonical, 'sha256').hex()}"


def _object(value: Any, key: str, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{name}: {key} is {quote(value)}, expected an object; {REMEDY}")
    return value


def _voting(value: Mapping[str, Any], name: str) -> Voting:
    if unknown := [key for key in value if key not in _VOTING]:
        raise InputError(f"{name}: voting.{quote(unknown[0])} is not known; this swaplaw knows {', '.join(_VOTING)}")
    temperature, prompt, truncated = (value.get(key) for key in ("temperature", "prompt", "truncated"))
    if temperature is not None and not (_is_number(temperature) and 0 <= temperature <= 10):
        raise InputError(f"{name}: voting.temperature is {quote(temperature)}, expected a number from 0 to 10")
    if prompt is not None and not (isinstance(prompt, str) and QUESTION in prompt):
        raise InputError(f"{name}: voting.prompt is {quote(prompt)}, expected text that holds {QUESTION}")
    if truncated not in (None, "abstain", "read"):
        raise InputError(f"{name}: voting.truncated is {quote(truncated)}, expected 'abstain' or 'read'")
    reader = _object(value["reader"], "voting.reader", name) if "reader" in value else None
    threshold = as_threshold(value["threshold"], f"{name}: voting.threshold") if "threshold" in value else None
    return Voting(reader, temperature, prompt, truncated, threshold)


def as_threshold(value: Any, name: str = "threshold") -> Fraction:
    """Read the threshold of a cascade: a share of the primary's votes, exact."""
    try:
        threshold = Fraction(value) if isinstance(value, str | int | Fraction) else None
    except (ValueError, ZeroDivisionError):
        threshold = None
    if threshold is None or not 0 <= threshold <= 1:
        raise InputError(f"{name} is {quote(value)}, expected a fraction from 0 to 1 as text, such as '1/3'")
    return threshold


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _members(value: Any, name: str) -> tuple[Member, ...]:
    if not isinstance(value, list) or not value:
        raise InputError(f"{name}: members is {quote(value)}, expected a list of at least one; {REMEDY}")
    return tuple(_member(each, f"{name}: member {number}") for number, each in enumerate(value, 1))


def _fallback(value: Any, name: str) -> tuple[Fallback, ...]:
    if not isinstance(value, list):
        raise InputError(f"{name}: fallback is {quote(value)}, expected a list; {REMEDY}")
    return tuple(Fallback(*_asked(each, f"{name}: fallback {number}")) for number, each in enumerate(value, 1))


def _member(value: Any, name: str) -> Member:
    model, samples, price = _asked(value, name)
    return Member(model, _weight(value.get("weight"), name), samples, price)


def _asked(value: Any, name: str) -> tuple[str, int, float | None]:
    """Whom to ask, how often, at what price."""
    if not isinstance(value, dict) or not isinstance(value.get("model"), str) or not value["model"]:
        raise InputError(f"{name} is {quote(value)}, expected an object with the name of a model; {REMEDY}")
    samples, price = value.get("samples"), value.get("price")
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise InputError(f"{name}: samples is {quote(samples)}, expected a whole number, 1 or more")
    if price is not None and not (_is_number(price) and price >= 0):
        raise InputError(f"{name}: price is {quote(price)}, expected null or a number, 0 or more")
    return value["model"], samples, price


def _weight(value: Any, name: str) -> Fraction:
    try:
        weight = Fraction(value) if isinstance(value, str) else None
    except (ValueError, ZeroDivisionError):
        weight = None
    if weight is None or weight <= 0:
        raise InputError(f"{name}: weight is {quote(value)}, expected a fraction above 0 as text, such as '2/3'")
    return weight
