"""API keys: known by their digests only, each with limits and a budget of its own."""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from swaplaw.errors import InputError, quote

Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]
DAY = 86_400.0


class KeyEntry(BaseModel):
    """One key of a key file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Annotated[str, Field(min_length=1, max_length=100)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """SHA-256 of the key, in hexadecimal: `printf %s "$KEY" | sha256sum`."""
    requests_per_minute: Amount | None = None
    budget: Amount | None = None
    """Cost a day, in the unit of the policy's prices, after which requests are refused until the next day (UTC)."""


class KeyFile(BaseModel):
    """A key file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    keys: Annotated[list[KeyEntry], Field(min_length=1)]


Refusal = Literal["rate", "budget"]


@dataclass
class Key:
    """A key and what it has used; the owner of several processes gives each its share of the limits."""

    name: str
    digest: bytes = field(repr=False)
    requests_per_minute: float | None = None
    budget: float | None = None
    spent: float = 0.0
    _day: int = 0
    _allowance: float = 0.0
    _seen: float = 0.0

    def __post_init__(self) -> None:
        self._allowance = max(1.0, self.requests_per_minute or 0.0)

    def admit(self, now: float | None = None) -> Refusal | None:
        """Let a request pass, or say what is used up."""
        now = time() if now is None else now
        self._turn_day(now)
        if self.budget is not None and self.spent >= self.budget:
            return "budget"
        if self.requests_per_minute is None:
            return None
        earned = max(0.0, now - self._seen) * self.requests_per_minute / 60
        self._allowance = min(max(1.0, self.requests_per_minute), self._allowance + earned)
        self._seen = now
        if self._allowance < 1:
            return "rate"
        self._allowance -= 1
        return None

    def charge(self, cost: float, now: float | None = None) -> None:
        """Book what a request cost."""
        self._turn_day(time() if now is None else now)
        self.spent += cost

    def _turn_day(self, now: float) -> None:
        if (day := int(now // DAY)) != self._day:
            self._day, self.spent = day, 0.0


class Keyring:
    """All keys that are accepted; none at all means that everybody is."""

    def __init__(self, keys: Sequence[Key] = ()) -> None:
        self._keys = list(keys)

    def __bool__(self) -> bool:
        return bool(self._keys)

    def find(self, authorization: str) -> Key | None:
        """The key that a request shows, compared in constant time: digests tell nothing, not even a length."""
        scheme, _, shown = authorization.partition(" ")
        digest = sha256(shown.strip().encode()).digest()
        matches = [key for key in self._keys if hmac.compare_digest(digest, key.digest)]
        return matches[0] if matches and scheme.lower() == "bearer" else None


def plain_keys(keys: Sequence[str]) -> Keyring:
    """Keys without limits, forgotten but for their digests."""
    return Keyring([Key(f"key-{place}", sha256(key.encode()).digest()) for place, key in enumerate(keys, 1)])


def read_keys(path: str | Path, workers: int = 1) -> Keyring:
    """Read a key file; limits are shared out among processes."""
    place = quote(str(path), 200)
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        entries = KeyFile.model_validate(document).keys
    except OSError as error:
        raise InputError(f"{place}: cannot read the keys ({error.strerror})") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise InputError(f"{place}: {'.'.join(map(str, first['loc'])) or 'keys'}: {first['msg']}") from None
    except ValueError:
        raise InputError(f'{place}: not JSON; expected {{"keys": [{{"name": …, "sha256": …}}]}}') from None
    names = [entry.name for entry in entries]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"{place}: two keys are called {quote(twice[0])}: name each differently")
    return Keyring([_key(entry, workers) for entry in entries])


def _key(entry: KeyEntry, workers: int) -> Key:
    rate, budget = (value / workers if value else None for value in (entry.requests_per_minute, entry.budget))
    return Key(entry.name, bytes.fromhex(entry.sha256), rate, budget)
