"""When two answers are the same: one equivalence, by keys that need no gold, and with a gold by what it leaves open.

`key` is what votes are pooled by: a time, a quantity, mathematics or a name, whichever a text is. `same` compares an
answer with a gold: beside equal keys it lets an answer leave out (or add) what the gold's question states, a unit, a
currency, the base of a number or the name before an equals sign, where the two then agree. `disputes` asks a second
opinion.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from swaplaw.answers.characters import unify
from swaplaw.answers.mathematics import mathematics, units_left_out
from swaplaw.answers.quantities import bare_number, quantity
from swaplaw.answers.times import moment
from swaplaw.errors import InputError

_EDGES = " \t\n.,;:!?\"'`*_"
_BASE = re.compile(r"([0-9a-z]+)_\{?(\d{1,2})\}?", re.IGNORECASE)
_LATEX = re.compile(r"\\[a-zA-Z(\[]|^\$.*\$$")
_MARKS = {"%": r"%|per\s?cent", "°": r"°|\\circ|degree", "$": r"(?<!\\)\\\$|^\$(?=[\d.,]+$)|dollar"}


def key(text: str) -> str:
    r"""Write an answer in the one way that stands for all its spellings.

    >>> key("$1,200.00") == key("1200 dollars"), key("March 1, 2024") == key("2024-03-01")
    (True, True)
    >>> key(r"\frac{1}{2}") == key("0.5"), key("Paris.") == key("**paris**")
    (True, True)
    """
    if _LATEX.search(text):
        return mathematics(text)
    return moment(text) or quantity(text) or _mathematical(text) or name(text)


def _mathematical(text: str) -> str | None:
    """Mathematics, where a text has any: digits or signs."""
    return mathematics(text) if re.search(r"\d|[=<>+*/^√π]", text) else None


def name(text: str) -> str:
    """Write words in one way: case, blanks, markup and punctuation around them aside.

    Parameters
    ----------
    text : str
        An answer.
    """
    plain = " ".join(unify(text).split())
    return (plain.strip(_EDGES) or plain).casefold()


def same(answer: str, gold: str) -> bool:
    r"""Say whether an answer is the gold, where the gold may leave a unit, a base or a name to its question.

    Parameters
    ----------
    answer, gold : str
        What was answered, and what is right.

    Examples
    --------
    >>> same("5 km", "5000 m"), same("5", "5 apples"), same("5 cm", "5 m")
    (True, True, False)
    >>> same("2516", "2516_8"), same("2516_8", "2516"), same("x = 5", "5")
    (True, False, True)
    """
    marks = _marks(answer), _marks(gold)
    if all(marks) and not marks[0] & marks[1]:
        return False
    plain, meant = bare_number(answer), bare_number(gold)
    if ("%" in marks[0]) != ("%" in marks[1]) and any(found and abs(found[0]) <= 1 for found in (plain, meant)):
        return False  # 0.5 may be a share itself.
    if key(answer) == key(gold) or mathematics(answer) == mathematics(gold):
        return True
    if (base := _BASE.fullmatch(gold.strip().strip("$"))) and answer.strip().strip("$") == base[1]:
        return True
    if moment(answer) or moment(gold):
        return False
    if plain and meant and plain[0] == meant[0] and "" in (plain[1], meant[1]):
        return True
    return not any(marks) and _latex_left_out(answer, gold)


def _marks(text: str) -> set[str]:
    return {mark for mark, pattern in _MARKS.items() if re.search(pattern, text, re.IGNORECASE)}


def _latex_left_out(answer: str, gold: str) -> bool:
    """Whether one of two names a unit of measure, and they are the same without it."""
    one, other = units_left_out(answer), units_left_out(gold)
    return (one != answer) != (other != gold) and mathematics(one) == mathematics(other)


Opinion = Callable[[str, str], bool]


def disputes(pairs: Iterable[tuple[str, str]], opinion: Opinion | None = None) -> list[tuple[str, str, bool]]:
    """List the pairs of answer and gold about which a second opinion differs, with what `same` says of each.

    Parameters
    ----------
    pairs : iterable of pairs of str
        Answers and golds.
    opinion : callable, optional
        Says whether two texts are the same; by default `math-verify`, if that is installed. It never changes a vote.

    Returns
    -------
    list of tuples
        Answer, gold, and whether they are the same here.

    Raises
    ------
    InputError
        If there is no second opinion to ask.

    Examples
    --------
    >>> disputes([("1/2", "0.5"), ("0.33", "1/3")], lambda one, other: True)
    [('0.33', '1/3', False)]
    """
    ask = opinion or _math_verify()
    judged = ((answer, gold, same(answer, gold)) for answer, gold in dict.fromkeys(pairs))
    return [(answer, gold, here) for answer, gold, here in judged if ask(answer, gold) != here]


def _math_verify() -> Opinion:
    try:
        from math_verify import parse, verify  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise InputError("a second opinion needs math-verify; install it, or give `opinion`") from None

    def ask(answer: str, gold: str) -> bool:
        return bool(verify(parse(f"${gold}$"), parse(f"${answer}$")))

    return ask
