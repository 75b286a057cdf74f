"""Results: what every one can do, how many digits a number deserves, and what can be extended or is found above.

A lift of +1.2345 points with an interval of 6.5 points to either side is +1.2: the interval's half-width is shown with
two significant digits, and the number with as many decimals. Terminal, verdict and page round by this rule alone; the
page's script has it once more (`report/assets/numbers.js`), and tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from html import escape
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from swaplaw.errors import InputError, listing, quote

if TYPE_CHECKING:
    import polars as pl


def above(place: str) -> Any:
    """Something of an upper layer, by `module:name`.

    >>> above("fractions:Fraction")(1, 2)
    Fraction(1, 2)
    """
    return resolve_name(place)


Thing = TypeVar("Thing")
One = TypeVar("One", bound="Result")


class Registry(Generic[Thing]):
    """What is known by name, in the order in which it was added.

    >>> shapes = Registry[int]("shape")
    >>> shapes.register("square", 4)
    >>> shapes["square"]
    4
    """

    def __init__(self, kind: str, built_in: Callable[[], None] | None = None) -> None:
        """Say what the things are called in errors; `built_in` registers those of the package, when first asked."""
        self._kind, self._things = kind, dict[str, Thing]()
        self._built_in = built_in

    def register(self, name: str, thing: Thing) -> None:
        """Add a thing under a name of its own."""
        self._load()
        if name in self._things:
            raise InputError(f"there is a {self._kind} {quote(name)} already; choose another name")
        self._things[name] = thing

    def unregister(self, name: str) -> None:
        """Take out what was registered."""
        del self._things[name]

    def __getitem__(self, name: str) -> Thing:
        self._load()
        if name not in self._things:
            raise InputError(f"there is no {self._kind} {quote(name)}; there are {listing(list(self._things), 20)}")
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        self._load()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(list(self._things))

    @property
    def untouched(self) -> bool:
        """Whether nobody has asked for anything yet, or added anything: what is built in is not loaded."""
        return self._built_in is not None

    def _load(self) -> None:
        if (built_in := self._built_in) is not None:
            self._built_in = None
            built_in()


PLAIN = 2
"""Decimals of percentage points that have no interval."""
ARROWS = ("▲", "▼")
_LEAST = (10.0, 1.0, 0.1, 0.01)
"""Half-widths in points from which on 0, 1, 2, 3 decimals show two significant digits; below the last, 4 do."""


def decimals(low: float | None, high: float | None) -> int:
    """Decimals in percentage points of a fraction of one whose interval is this."""
    if low is None or high is None or low == high:
        return PLAIN
    half = 50 * (high - low)
    return next((place for place, least in enumerate(_LEAST) if half >= least), len(_LEAST))


def share(value: Fraction | float, places: int = 1) -> str:
    """A fraction of one in per cent, halves rounded away from zero."""
    size = Decimal(abs(100 * float(value))).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return f"-{size}" if value < 0 and size else f"{size}"


def points(value: Fraction | float, places: int = PLAIN) -> str:
    """A difference of fractions of one in signed percentage points; what rounds to zero has no sign."""
    text = share(value, places)
    return f"+{text}" if value > 0 and Decimal(text) else text


def arrow(low: float | None, high: float | None) -> str:
    """Up or down where the interval excludes zero, else nothing."""
    if low is None or high is None:
        return ""
    up, down = ARROWS
    return up if low > 0 else down if high < 0 else ""


SHOWN = 30
"""Rows that a notebook shows; `to_frame` has all of them."""


class Result:
    """A result that says in a sentence what it found, and turns into plain data, a dataframe, a table or a picture."""

    @property
    def sentence(self) -> str:
        """What was found, in the words of the command line and the page."""
        worded: str = above("swaplaw.report.words:SENTENCES")[type(self).__name__](self)
        return worded

    def __repr__(self) -> str:
        """The sentence: a notebook puts the table below it."""
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data, ready for JSON: fractions of one, weights as text, None where undefined."""
        raise NotImplementedError

    def rows(self) -> list[dict[str, Any]]:
        """List what the table of it shows; by default one row, without what is nested."""
        return [{name: value for name, value in self.to_dict().items() if not isinstance(value, dict | list)}]

    def to_frame(self) -> pl.DataFrame:
        """Lay it out as a Polars dataframe."""
        import polars as pl

        return pl.DataFrame(self.rows(), infer_schema_length=None)

    def plot(self) -> Any:
        """Draw it as an Altair chart (needs the extra `plot`)."""
        draw = above("swaplaw.report.figures:PICTURES").get(type(self).__name__)
        if draw is None:
            name = type(self).__name__
            raise InputError(
                f"there is no picture of {'an' if name[0] in 'AEIOU' else 'a'} {name}; `to_frame` has its numbers"
            )
        return draw(self)

    def _repr_html_(self) -> str:
        """Show it in a notebook; names come from votes, so they are escaped."""
        rows = self.rows()
        names = list(rows[0]) if rows else []
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            f"<tr>{''.join(f'<td>{_cell(row.get(name))}</td>' for name in names)}</tr>" for row in rows[:SHOWN]
        )
        more = f"<p>… and {len(rows) - SHOWN} more rows</p>" if len(rows) > SHOWN else ""
        return f"<p>{escape(repr(self))}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


class Results(Result, tuple[One, ...]):
    """Results of one kind, in order: a tuple that is a table, too."""

    def to_dict(self) -> dict[str, Any]:
        """Turn them into plain data."""
        return {"rows": [each.to_dict() for each in self]}

    def rows(self) -> list[dict[str, Any]]:
        """One row for each."""
        return [row for each in self for row in each.rows()]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else escape(str(value))
