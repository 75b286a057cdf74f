"""API keys, known by their digests only, and what each has spent: a ledger that all processes share.

A key with a budget pays before it asks: the most that its request may cost is reserved, and what it did cost is settled
when the request ends, however it ends. A reservation counts as spent, so a process that dies in the middle leaves its
requests paid, and no number of requests at once can spend more than the budget. The ledger is a SQLite file beside the
key file: it survives a restart, and a day (UTC) begins with nothing spent.
"""

from __future__ import annotations

import hmac
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Annotated

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


class Ledger:
    """What each key has spent on each day."""

    def __init__(self, path: str | Path = ":memory:") -> None:
        try:
            self._books = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
            # A process that is killed loses nothing; of a power cut, the last moments.
            self._books.execute("PRAGMA journal_mode=WAL")
            self._books.execute("PRAGMA synchronous=NORMAL")
            self._books.execute(
                "CREATE TABLE IF NOT EXISTS spent (day INTEGER, key TEXT, amount REAL, PRIMARY KEY (day, key))"
            )
        except sqlite3.Error as error:
            raise InputError(f"{quote(str(path), 200)}: this ledger of budgets cannot be used ({error})") from None

    def reserve(self, key: str, amount: float, most: float, now: float | None = None) -> bool:
        """Take an amount from a budget, if there is as much left."""
        if amount > most:
            return False
        rows = self._books.execute(
            "INSERT INTO spent VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET amount = amount + ?3 "
            "WHERE amount + ?3 <= ?4 RETURNING amount",
            (_day(now), key, amount, most),
        )
        return rows.fetchone() is not None

    def add(self, key: str, amount: float, now: float | None = None) -> None:
        """Book an amount, or give back what was reserved and not spent."""
        self._books.execute(
            "INSERT INTO spent VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET amount = amount + ?3",
            (_day(now), key, amount),
        )

    def spent(self, key: str, now: float | None = None) -> float:
        """What a key has spent and reserved on this day."""
        found = self._books.execute("SELECT amount FROM spent WHERE day = ? AND key = ?", (_day(now), key)).fetchone()
        return float(found[0]) if found else 0.0


def _day(now: float | None) -> int:
    return int((time() if now is None else now) // DAY)


@dataclass
class Key:
    """A key, its limits, and how many requests it has left for now."""

    name: str
    digest: bytes = field(repr=False)
    requests_per_minute: float | None = None
    budget: float | None = None
    _allowance: float = field(default=0.0, init=False)
    _seen: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._allowance = max(1.0, self.requests_per_minute or 0.0)

    def admit(self, now: float | None = None) -> bool:
        """Let a request pass, unless the key has asked too often."""
        if self.requests_per_minute is None:
            return True
        now = time() if now is None else now
        earned = max(0.0, now - self._seen) * self.requests_per_minute / 60
        self._allowance = min(max(1.0, self.requests_per_minute), self._allowance + earned)
        self._seen = now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True


class Keyring:
    """All keys that are accepted; none at all means that everybody is."""

    def __init__(self, keys: Sequence[Key] = (), ledger: Ledger | None = None) -> None:
        self._keys = list(keys)
        self.ledger = ledger or Ledger()

    def __bool__(self) -> bool:
        return bool(self._keys)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def find(self, authorization: str) -> Key | None:
        """The key that a request shows, compared in constant time: digests tell nothing, not even a length."""
        scheme, _, shown = authorization.partition(" ")
        digest = sha256(shown.strip().encode()).digest()
        matches = [key for key in self._keys if hmac.compare_digest(digest, key.digest)]
        return matches[0] if matches and scheme.lower() == "bearer" else None

    def replace(self, other: Keyring) -> None:
        """Accept these keys from now on, and no others; one that stays keeps what it has used of its rate."""
        before = {key.digest: key for key in self._keys}
        for key in other._keys:
            if (known := before.get(key.digest)) is not None:
                key._allowance, key._seen = min(key._allowance, known._allowance), known._seen
        self._keys, self.ledger = other._keys, other.ledger


def plain_keys(keys: Sequence[str]) -> Keyring:
    """Keys without limits, forgotten but for their digests."""
    return Keyring([Key(f"key-{place}", sha256(key.encode()).digest()) for place, key in enumerate(keys, 1)])


def keys_from(variable: str) -> Keyring:
    """The keys that an environment variable holds, with commas between."""
    keys = [key.strip() for key in os.environ.get(variable, "").split(",") if key.strip()]
    if not keys:
        raise InputError(f"the environment variable {quote(variable)} holds no keys: set it, or leave --keys-env out")
    return plain_keys(keys)


def read_keys(path: str | Path, workers: int = 1, ledger: str | Path | None = None) -> Keyring:
    """Read a key file; rates are shared out among processes, budgets are kept in one ledger, by default beside it."""
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
    rates = [None if entry.requests_per_minute is None else entry.requests_per_minute / workers for entry in entries]
    keys = [
        Key(entry.name, bytes.fromhex(entry.sha256), rate, entry.budget)
        for entry, rate in zip(entries, rates, strict=True)
    ]
    budgets = any(key.budget is not None for key in keys)
    return Keyring(keys, Ledger(ledger or f"{path}.ledger") if budgets else None)
