"""What the paper published, where it says so, and how close our numbers come.

All published values live in `data/published.json`, in the paper's own units, each with the decimals it was rounded to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

Value = float | str | None
"""A cell of a table or a stated number: a number in the paper's units, a text such as a weight, or undefined."""


@dataclass(frozen=True)
class Statement:
    """One published number and its place."""

    id: str
    place: str
    says: str
    value: float | str
    decimals: int = 0
    unit: str = ""
    kind: str = "value"
    """value, at_most, at_least, below or above."""
    grid: bool = False
    """Whether it depends on which weights are searched: the paper names 13 of its 25."""
    reading_of: str = ""
    """The statement that this is another reading of."""

    @property
    def rounding(self) -> float:
        """Half a unit of the last published digit."""
        return 0.5 * 10.0**-self.decimals

    def show(self, value: Value) -> str:
        """Write a value as the paper would, with one digit more than was published where it is ours."""
        return show(value, self.decimals, self.unit)


@dataclass(frozen=True)
class Comparison:
    """A published number beside ours."""

    published: Statement
    ours: Value
    tolerance: float = 0.0
    """What ours may differ by beyond rounding: Monte Carlo error where we simulate, else 0."""
    guessed: bool = False
    """Whether ours depends on weights that the paper does not name."""
    reason: str = ""
    """Why ours differs, where that is known."""

    @property
    def difference(self) -> float | None:
        """Ours less the published one; None for texts and for what is undefined."""
        if isinstance(self.ours, str) or self.ours is None or isinstance(self.published.value, str):
            return None
        return self.ours - self.published.value

    @property
    def within(self) -> bool:
        """Whether ours agrees with what was published, up to rounding and tolerance."""
        if self.difference is None:
            return self.ours == self.published.value
        # The last term absorbs binary fractions: 0.285 is stored a hair below itself.
        allowed = self.published.rounding + self.tolerance + 1e-9
        if self.published.kind in ("below", "above"):
            # "Under 1" and "over 30" are meant as they are said.
            return self.difference < 0 if self.published.kind == "below" else self.difference > 0
        if self.published.kind == "at_most":
            return self.difference <= allowed
        if self.published.kind == "at_least":
            return self.difference >= -allowed
        return abs(self.difference) <= allowed

    @property
    def should_agree(self) -> bool:
        """Whether real votes must give this very value: nothing is simulated, resampled or guessed."""
        resampled = self.published.id.endswith(("_low", "_high")) and not self.published.grid
        return not (self.tolerance or self.guessed or resampled or self.published.reading_of)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, in the paper's units."""
        return {
            "id": self.published.id,
            "place": self.published.place,
            "says": self.published.says,
            "unit": self.published.unit,
            "kind": self.published.kind,
            "published": self.published.value,
            "ours": self.ours,
            "difference": self.difference,
            "tolerance": self.tolerance,
            "within": self.within,
            "guessed": self.guessed,
            "reason": "" if self.within else self.reason,
        }


@dataclass(frozen=True)
class PublishedTable:
    """One table of the paper."""

    name: str
    place: str
    title: str
    keys: tuple[str, ...]
    """Columns that tell rows apart."""
    decimals: Mapping[str, int]
    rows: tuple[Mapping[str, Any], ...]
    grid: bool = False
    """Whether it depends on which weights are searched."""

    def ids(self) -> list[str]:
        """The names of its values; words about formats are none."""
        return [
            ".".join([self.name, *(str(row[key]) for key in self.keys), column])
            for row in self.rows
            for column in row
            if column not in (*self.keys, "format")
        ]

    def compare(self, ours: Sequence[Mapping[str, Any]]) -> list[Comparison]:
        """Compare cell by cell, rows matched by their keys; rows and columns that we have not got are left out."""
        mine = {tuple(row.get(key) for key in self.keys): row for row in ours}
        found = []
        for row in self.rows:
            key = tuple(row[key] for key in self.keys)
            for column, value in row.items():
                if column in self.keys or column not in mine.get(key, {}):
                    continue
                says = f"{column} of {', '.join(str(part) for part in key)}"
                name = ".".join([self.name, *(str(part) for part in key), column])
                statement = Statement(name, self.place, says, value, self.decimals.get(column, 0), grid=self.grid)
                found.append(Comparison(statement, mine[key][column]))
        return found


@dataclass(frozen=True)
class Published:
    """All that the paper states."""

    paper: str
    datasets: Mapping[str, str]
    """Key of each dataset and its title."""
    codes: Mapping[str, str]
    """Models and their short names in figures."""
    tables: Mapping[str, PublishedTable]
    prose: Mapping[str, Statement]
    simulation: Mapping[str, Statement]


@lru_cache(maxsize=1)
def published() -> Published:
    """Read the published values."""
    raw = json.loads((files("swaplaw") / "data" / "published.json").read_text(encoding="utf-8"))
    tables = {
        name: PublishedTable(
            name,
            table["place"],
            table["title"],
            tuple(table["keys"]),
            table["decimals"],
            tuple(table["rows"]),
            table.get("grid", False),
        )
        for name, table in raw["tables"].items()
    }
    prose, simulation = ({entry["id"]: Statement(**entry) for entry in raw[kind]} for kind in ("prose", "simulation"))
    return Published(raw["paper"], raw["datasets"], raw["codes"], tables, prose, simulation)


def show(value: Value, decimals: int, unit: str = "") -> str:
    """Write a value for people: rounded, with its unit; undefined is a dash.

    >>> show(-0.5149, 2, "pp")
    '-0.51 pp'
    """
    if value is None:
        return "—"
    if isinstance(value, str):
        return value
    text = f"{value:,.{decimals}f}"
    # Minus nought is nought.
    text = text.removeprefix("-") if not text.strip("-0.,") else text
    return f"{text}{'' if unit in ('', '%') else ' '}{unit}"
