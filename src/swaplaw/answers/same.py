"""When two answers are the same: one equivalence, by keys that need no gold, and with a gold by what it leaves open.

`key` is what votes are pooled by: a time, a quantity, mathematics or a name, whichever a text is. In the light of a
gold (`Context`) more is the same: what the gold states beside its value (a unit, a currency, a base) an answer may
leave out, and what the gold leaves out an answer may state. Right and wrong answers are read in the same light, so no
answer is pooled for being right. `same` compares an answer with a gold, `meant` pools all answers to a question, and
`disputes` asks a second opinion.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from swaplaw.answers.characters import unify
from swaplaw.answers.mathematics import mathematics, split_unit
from swaplaw.answers.quantities import bare_number, decimal, measure, quantity
from swaplaw.answers.times import moment
from swaplaw.errors import InputError

LONGEST = 400
"""Longer texts are prose, and the same only if they are spelt alike."""
_EDGES = " \t\n.,;:!?\"'`*_"
_BASE = re.compile(r"\$?([0-9a-z]+)_\{?(\d{1,2})\}?\$?", re.IGNORECASE)
_LATEX = re.compile(r"\\[a-zA-Z(\[]|^\$.*\$$")
_MATHEMATICAL = re.compile(r"\d|[=<>+*/^√π]")
_MARKS = {"%": r"%|per\s?cent", "°": r"°|\\circ|degree", "$": r"(?<!\\)\\\$|^\$(?=[\d.,]+$)|dollar"}


@lru_cache(maxsize=1 << 16)
def key(text: str) -> str:
    r"""Write an answer in the one way that stands for all its spellings.

    >>> key("$1,200.00") == key("1200 dollars"), key("March 1, 2024") == key("2024-03-01")
    (True, True)
    >>> key(r"\frac{1}{2}") == key("0.5"), key("Paris.") == key("**paris**")
    (True, True)
    """
    if _LATEX.search(text):
        return mathematics(text)
    if not _MATHEMATICAL.search(text):
        return moment(text) or quantity(text) or name(text)
    return moment(text) or quantity(text) or mathematics(text)


def name(text: str) -> str:
    """Write words in one way: case, blanks, markup and punctuation around them aside.

    Parameters
    ----------
    text : str
        An answer.
    """
    plain = " ".join(unify(text).split())
    return (plain.strip(_EDGES) or plain).casefold()


class Context:
    """What a gold states, and so what its question leaves open: the light in which answers to it are read.

    Parameters
    ----------
    gold : str
        The right answer.
    """

    def __init__(self, gold: str) -> None:
        self._marks, self._timed = _marks(gold), moment(gold) is not None
        self._number, self._whole, self._unit = bare_number(gold), measure(gold), split_unit(gold)[1]

    def keys(self, text: str) -> set[str]:
        """What an answer may be meant as: answers that share any of it are the same.

        Parameters
        ----------
        text : str
            An answer, or the gold itself.
        """
        if len(text) > LONGEST:
            return {name(text)}
        marks, number = _marks(text), bare_number(text)
        # 0.5 may be a share itself, and is no 0.5%.
        share = number is not None and abs(number[0]) <= 1 and ("%" in marks) != ("%" in self._marks)
        # Signs tell answers apart only where the gold has one; an answer without any has the gold's.
        signs = "".join(sorted(marks if share else marks or self._marks)) if self._marks else ""
        found = {signs + key(text)}
        if share:
            return found
        found.add(signs + mathematics(text))
        if self._timed or moment(text):
            return found
        if number and self._number and self._whole:
            if not self._number[1]:
                found.add(decimal(number[0]))
            elif not number[1] and self._number[0]:
                scale = self._whole[0] / self._number[0]
                found.add(f"{signs}{decimal(number[0] * scale)} {self._whole[1]}")
        if not marks | self._marks:
            value, unit = split_unit(text)
            if bool(unit) != bool(self._unit):
                found.add(mathematics(f"{value} {self._unit}" if self._unit else value))
        return found


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
    return (_based(gold) is not None or _based(answer) is None) and meant([answer], gold)[answer] == gold


def meant(answers: Iterable[str], gold: str) -> dict[str, str]:
    r"""Pool the answers to one question in the light of its gold: each with a text that stands for its category.

    A base that all who state one agree on is the question's, and left out.

    Parameters
    ----------
    answers : iterable of str
        All answers to the question, right or wrong.
    gold : str
        The right answer.

    Examples
    --------
    >>> meant(["0.5", r"\frac{2}{6}", "1/3"], "1/2")
    {'1/2': '1/2', '0.5': '1/2', '1/3': '1/3', '\\frac{2}{6}': '1/3'}
    >>> meant(["2516_{8}", "2516", "12_8", "12"], "2516_8")
    {'2516_8': '2516_8', '2516_{8}': '2516_8', '2516': '2516_8', '12': '12', '12_8': '12'}
    """
    texts = dict.fromkeys((gold, *sorted(answers, key=lambda text: (len(text), text))))
    based = {text: found for text in texts if (found := _based(text))}
    agreed = len({base for _, base in based.values()}) == 1
    plain = {text: based[text][0] if agreed and text in based else text for text in texts}
    context = Context(plain[gold])
    keys = {text: context.keys(plain[text]) for text in texts}
    sharing: dict[str, list[str]] = {}
    for text in texts:
        for each in keys[text]:
            sharing.setdefault(each, []).append(text)
    category: dict[str, str] = {}
    for first in texts:
        reached = [first]
        while reached:
            text = reached.pop()
            if text not in category:
                category[text] = first
                reached += [other for each in keys[text] for other in sharing.pop(each, ())]
    return category


def _based(text: str) -> tuple[str, str] | None:
    """The digits of a number that names its base, and that base."""
    found = _BASE.fullmatch(text.strip())
    return (found[1], found[2]) if found else None


def _marks(text: str) -> set[str]:
    return {mark for mark, pattern in _MARKS.items() if re.search(pattern, text, re.IGNORECASE)}


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
