"""What can go wrong, said so that the reader can fix it: what, the value, what is accepted, what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


class SwaplawError(Exception):
    """Work that failed for a reason outside the input (exit code 1 on the command line)."""


@dataclass(frozen=True)
class Fix:
    """What fixes an error: an argument and its value, which each surface words for itself.

    >>> print(Fix("scorer", "NAME", "choose one"))
    choose one with scorer=NAME
    >>> print(Fix("columns", {"gold": "NAME"}))
    columns={'gold': NAME}
    """

    argument: str
    """The argument of the function; the command line knows the flag that fills it."""
    value: str | bool | Mapping[str, str]
    """Its value; words in capitals stand for what the reader must fill in."""
    do: str = ""
    """What to do with it, as an order: `choose one`."""
    when: str = ""
    """Where it is right: `if the spelling is meant`."""

    def worded(self, spelt: str) -> str:
        """The whole fix around an argument or a flag."""
        return " ".join(filter(None, [f"{self.do} with" if self.do else "", spelt, self.when]))

    def __str__(self) -> str:
        if isinstance(self.value, Mapping):
            pairs = ", ".join(f"{part!r}: {_literal(value)}" for part, value in self.value.items())
            return self.worded(f"{self.argument}={{{pairs}}}")
        return self.worded(f"{self.argument}={_literal(self.value)}")


def _literal(value: str | bool) -> str:
    return value if isinstance(value, str) and value.isupper() else repr(value)


class InputError(SwaplawError, ValueError):
    """Input that breaks a contract and that the user can fix (exit code 2 on the command line).

    >>> print(InputError("there are 2 datasets", Fix("dataset", "NAME", "choose one")))
    there are 2 datasets: choose one with dataset=NAME
    """

    fixes: tuple[Fix, ...] = ()
    """What fixes it."""

    def __init__(self, message: str, fix: Fix | tuple[Fix, ...] = ()) -> None:
        super().__init__(message)
        self.fixes = (fix,) if isinstance(fix, Fix) else fix

    def worded(self, spell: Callable[[Fix], str]) -> str:
        """The message with its fixes as one surface words them."""
        return ": ".join(filter(None, [super().__str__(), ", or ".join(map(spell, self.fixes))]))

    def __str__(self) -> str:
        return self.worded(str)


class MissingExtraError(SwaplawError, ImportError):
    """An optional part that is not installed; the message names the command that installs it."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs an optional part: pip install 'swaplaw[{extra}]', or '.[{extra}]' in a clone"
        )


class StatisticalWarning(UserWarning):
    """A number that is right but that the data can hardly carry."""


class LostWorkerWarning(UserWarning):
    """A worker died, and its share of the work is done again: the result is right, but took longer."""


def quote(value: object, limit: int = 60) -> str:
    """Show untrusted text safely: quoted, control characters escaped, shortened.

    >>> quote("gpt\\x1b[31m")
    "'gpt\\\\x1b[31m'"
    """
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 2] + "…" + text[-1]


def printable(text: str) -> str:
    """Escape what could move a terminal's cursor, hide text or break a page."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def suggestion(name: str, known: list[str] | tuple[str, ...]) -> str:
    """Say which known name was meant, or which there are."""
    from difflib import get_close_matches

    spelt = {each.lower(): each for each in known}
    meant = get_close_matches(name.lower(), list(spelt), n=1)
    return f"did you mean {quote(spelt[meant[0]])}?" if meant else f"there are {listing(known)}"


def several(number: int, what: str) -> str:
    """Return a number of things.

    >>> several(1, "pair"), several(2_000, "question")
    ('1 pair', '2,000 questions')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def listing(values: list[str] | tuple[str, ...], limit: int = 8) -> str:
    """Name what is accepted without flooding the terminal."""
    shown = ", ".join(quote(value) for value in values[:limit])
    return shown + (f" and {len(values) - limit} more" if len(values) > limit else "")
