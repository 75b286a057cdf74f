r"""Mathematics in one spelling: `\frac{1}{2}`, `0.5` and `1/2` are one answer, and so are `2\sqrt{2}` and `\sqrt{8}`.

A small exact algebra, not a computer algebra system: sums of rational multiples of powers of numbers, constants and
variables. Everything is bounded, so that no answer takes long; what the algebra does not know keeps its own spelling,
and so do dates, ranges, versions, telephone numbers and hexadecimal digits: `2024-03-01` is no difference.
Degrees, percent and currency signs and what is counted tell no two answers to one question apart, and are left out;
so is the name before the one equals sign (`x = 5`). Units of measure stay: 5 m is not 5 cm.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache, partial
from math import comb, factorial

from swaplaw.answers.characters import unify
from swaplaw.answers.quantities import TWO_NUMBERS, decimal, measure

LONGEST = 400
_MOST_TERMS = 60
_DEEPEST = 12
_LARGEST = 10**30
_MOST_POWER = 12
_MOST_BITS = 600
"""Numbers are no longer than this, in bits."""

Monomial = tuple[tuple[str, Fraction], ...]
Sum = dict[Monomial, Fraction]
"""Rational coefficients of products of powers; the empty product is the number one."""


class _UnknownError(ValueError):
    """Something that the algebra does not know."""


@lru_cache(maxsize=1 << 16)
def mathematics(text: str) -> str:
    r"""Write a mathematical answer in one way.

    >>> mathematics(r"so $\boxed{\dfrac{1}{2}}$.") == mathematics("0.5") == mathematics("1/2") == "0.5"
    True
    >>> mathematics(r"\sqrt{8}") == mathematics(r"2\sqrt2")
    True
    >>> mathematics(r"\left(3, \frac{\pi}{2}\right)") == mathematics(r"(3,\pi/2)")
    True
    """
    plain = _undressed(opened(text))
    if not plain or len(plain) > LONGEST:
        return plain or text
    try:
        return _structure(plain, 0)
    except (_UnknownError, ZeroDivisionError, OverflowError):
        return plain.casefold() if re.fullmatch(r"[^\W\d_][\w\s'-]*", plain) else "".join(plain.split())


# Undressing

_SUPERSCRIPTS = str.maketrans({**dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", map(str, range(10)), strict=True)), "⁻": "-", "⁺": "+"})
_SPACING = re.compile(
    r"(?<!\\)\\[,;:!> ]|\\q?quad|\\(?:left|right|displaystyle|textstyle|mathstrut|limits|big|Big|bigg|Bigg)(?![a-z])"
    r"|~|&nbsp;"
)
_TEXT = re.compile(
    r"\\(?:text|mathrm|mathbf|textbf|textit|mathit|mbox|rm|operatorname|textnormal|mathbb)\s?\{([^{}]{0,200})\}"
)
_COUNTED = re.compile(
    r"(?<=[\d})])\s*(?:(?:square|cubic)\s)?(?:units?|degrees?|percent|dollars?|people|students|ways|points?)"
    r"(?:\s?\^?\{?[23]\}?)?\s*\.?$",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"(?<=[\d})])\s*(?P<unit>(?:(?:square|cubic|sq\.?)\s)?(?:inch(?:es)?|feet|foot|ft|yards?|miles?|mph|(?:centi|kilo|milli)?met(?:er|re)s?"
    r"|cm|mm|km|m|kg|(?:kilo)?grams?|g|seconds?|sec|s|minutes?|min|hours?|hrs?|days?|weeks?|months?|years?|lit(?:er|re)s?|pounds?|lbs?"
    r"|ounces?|oz|cents?|gallons?|cups?)(?:\s?(?:/|per)\s?(?:hour|hr|h|second|sec|s|minute|min|day))?(?:\s?\^?\s?\{?(?P<power>[23])\}?)?)\s*\.?$",
    re.IGNORECASE,
)
_WORDS = {
    "\\leq": "<=",
    "\\le": "<=",
    "\\geq": ">=",
    "\\ge": ">=",
    "\\neq": "!=",
    "\\ne": "!=",
    "\\varnothing": "\\emptyset",
    "\\ldots": "...",
    "\\dots": "...",
}
_WORD = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(_WORDS, key=len, reverse=True)))})(?![a-z])")
_NAME = r"(?:[a-zA-Z]{1,3}|[a-zA-Z]\([a-zA-Z]\)|[a-zA-Z]_\w|\\[a-z]{2,7}|\\angle\s?[A-Z]{1,3})"
_NAMED = re.compile(rf"({_NAME})\s*(?:=|\\in(?![a-z]))\s*(?=\S)")
_REPEATING = re.compile(
    r"(\d*)\.(\d{0,15})\\overline\s?\{?\s?(\d{1,15})\}?|(\d*)\.(\d{0,9}?)(\d{1,6}?)\6{2,}\s?(?:\.\.\.|\\[lc]?dots)"
)
_CHOOSE = re.compile(r"\{([^{}]{1,20})\\choose([^{}]{1,20})\}")


def opened(text: str) -> str:
    """What stands in the last box, or all of it."""
    start = max(text.rfind("\\boxed{"), text.rfind("\\fbox{"))
    if start < 0:
        return text
    opening = text.index("{", start)
    depth = 0
    for place in range(opening, min(len(text), opening + 2 * LONGEST)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return text[opening + 1 : place]
    return text


def _undressed(text: str) -> str:
    raised = re.sub(
        r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]{1,9}", lambda power: "^{" + power[0].translate(_SUPERSCRIPTS) + "}", text[: 4 * LONGEST]
    )
    plain = unify(raised).replace("⁄", "/").replace("√", "\\sqrt").replace("π", "\\pi").replace("∞", "\\infty")
    plain = plain.replace("×", "*").replace("·", "*").replace("÷", "/").replace("∪", "\\cup").replace("°", "")
    plain = re.sub(r"\\\(|\\\)|\\\[(?!\d)|\\\]|\$\$?", "", plain.replace("\\$", "").replace("\\%", "").replace("%", ""))
    plain = re.sub(r"(?<=\d)\\,(?=\d{3}(?!\d))", "", plain)
    plain = re.sub(r"\{,\}|(?<=\d)\\!,|(?<=\d),\\!", ",", plain)
    plain = _SPACING.sub(" ", plain)
    plain = re.sub(r"\^\s?\{?\s?\\circ\s?\}?|\\circ(?![a-z])|\\degree", "", plain)
    plain = _TEXT.sub(r" \1 ", plain)
    plain = re.sub(r"\\[dtc](frac|binom)(?![a-z])", r"\\\1", plain)
    plain = _CHOOSE.sub(r"\\binom{\1}{\2}", _REPEATING.sub(_repeated, plain))
    plain = re.sub(r"(?<!\\log)_\{(\w{1,3})\}", r"_\1", plain)
    plain = _WORD.sub(lambda word: _WORDS[word[0]], plain)
    plain = " ".join(plain.replace("**", "").strip(" \t\n;:,?`'\"").rstrip(".").split())
    return " ".join(_COUNTED.sub("", plain).split())


def _repeated(found: re.Match[str]) -> str:
    """A repeating decimal as a fraction."""
    whole, once, again = (found[1], found[2], found[3]) if found[3] else (found[4], found[5], found[6])
    below = (10 ** len(again) - 1) * 10 ** len(once)
    value = Fraction(int(again), below) + Fraction(int(once or 0), 10 ** len(once)) + int(whole or 0)
    return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


@lru_cache(maxsize=1 << 16)
def split_unit(text: str) -> tuple[str, str]:
    r"""A text without the unit of measure at its end, and that unit; empty where there is none.

    >>> split_unit(r"\sqrt{2}\text{ cm}")
    ('\\sqrt{2}', 'cm')
    """
    plain = _undressed(opened(text))
    found = _UNIT.search(plain)
    return (plain[: found.start()].rstrip(), found["unit"]) if found else (plain, "")


# Structures

_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_MATRIX = re.compile(r"\\begin\{([bpvV]?matrix|array)\}(?:\{[lcr|]{1,20}\})?(.*)\\end\{\1\}")
_IDENTIFIER = re.compile(
    r"\+?\d+(?:-\d+)+|\d+(?:/\d+){2,}|(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{6,}", re.IGNORECASE
)
"""Whole numbers with nothing but hyphens between them, or several slashes, and hexadecimal digits."""
_NO_PRODUCT = re.compile(r"(?<![\\a-zA-Z])(?:[a-zA-Z]{3,}|[a-zA-Z]+\d)|(?<![\d.])0\d.*[^\d.]|[^\d.].*(?<![\d.])0\d")
"""A word, a number behind a letter (a chess move, a formula of chemistry), a padded number beside something else."""


def _structure(text: str, depth: int) -> str:
    """Write sets, tuples, intervals, matrices, unions and lists by their members, and anything else as a value."""
    if depth > _DEEPEST:
        raise _UnknownError
    write = partial(_member, depth=depth + 1)
    text = text.strip()
    if _IDENTIFIER.fullmatch(text):
        raise _UnknownError
    if _THOUSANDS.fullmatch(text):
        if TWO_NUMBERS.fullmatch(text):
            raise _UnknownError
        return _value(text.replace(",", ""))
    if matrix := _MATRIX.fullmatch(text):
        rows = [[write(cell) for cell in row.split("&")] for row in re.split(r"\\\\", matrix[2]) if row.strip()]
        return "\\begin{pmatrix}" + "\\\\".join("&".join(row) for row in rows) + "\\end{pmatrix}"
    unions = _split(text, "\\cup")
    if len(unions) > 1:
        return " \\cup ".join(sorted(map(write, unions)))
    if text.startswith("\\{") and text.endswith("\\}") and _split(text[2:-2], "\\}")[1:] == []:
        return ", ".join(sorted({write(part) for part in _split(text[2:-2], ",") if part.strip()})) or "\\emptyset"
    if text[:1] in "([" and text[-1:] in ")]" and _whole(text) and len(parts := _split(text[1:-1], ",")) > 1:
        return text[0] + ", ".join(map(write, parts)) + text[-1]
    parts = [part for part in re.split(r"\s(?:and|or)\s", text) if part.strip()]
    parts = [piece for part in parts for piece in _split(part, ",") if piece.strip()]
    names = [_NAMED.match(part.strip()) for part in parts]
    if named := [found for found in names if found]:
        # One name says nothing; several say which is which.
        shown = len({found[1] for found in named}) > 1 or len(named) < len(parts)
        values = [part.strip()[found.end() :] if found else part for part, found in zip(parts, names, strict=True)]
        marks = [f"{found[1]}=" if found and shown else "" for found in names]
        return ", ".join(sorted(mark + write(value) for mark, value in zip(marks, values, strict=True)))
    if len(parts) > 1:
        return ", ".join(sorted(map(write, parts)))
    text = parts[0].strip()
    if found := _RELATION.search(text):
        return _related(text, found, write)
    if text.count("\\pm") == 1:
        return ", ".join(sorted({write(text.replace("\\pm", f" {sign} ").lstrip("+ ")) for sign in "+-"}))
    if (unit := _UNIT.search(text)) and (scale := _scale(unit["unit"])):
        return f"{_shown(_times(_parsed(text[: unit.start()]), {(): scale[0]}))} {scale[1]}"
    return _value(text)


def _scale(unit: str) -> tuple[Fraction, str] | None:
    """How many base units a unit is, and of what."""
    return measure("1 " + unit.replace("{", "").replace("}", "").replace(" ^", "^"))


_RELATION = re.compile(r"(?P<sign><=|>=|!=|<|>|=)")
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _related(text: str, found: re.Match[str], write: partial[str]) -> str:
    """An equation by its sides; an inequality of one name as the interval that it describes."""
    sides = [side.strip() for side in _RELATION.split(text)[::2]]
    signs = [sign["sign"] for sign in _RELATION.finditer(text)]
    if not all(sides) or len(sides) > 3:
        raise _UnknownError
    if len(sides) == 2 and re.fullmatch(_NAME, sides[1]) and not re.fullmatch(_NAME, sides[0]):
        sides, signs = sides[::-1], [_TURNED.get(signs[0], signs[0])]
    if len(sides) == 2 and re.fullmatch(_NAME, sides[0]) and signs[0] in _TURNED:
        bound = write(sides[1])
        if signs[0][0] == ">":
            return f"{'[' if signs[0] == '>=' else '('}{bound}, \\infty)"
        return f"(-\\infty, {bound}{']' if signs[0] == '<=' else ')'}"
    if len(sides) == 3 and re.fullmatch(_NAME, sides[1]) and {sign[0] for sign in signs} in ({"<"}, {">"}):
        if signs[0][0] == ">":
            sides, signs = sides[::-1], [_TURNED[sign] for sign in signs[::-1]]
        return (
            f"{'[' if signs[0] == '<=' else '('}{write(sides[0])}, {write(sides[2])}{']' if signs[1] == '<=' else ')'}"
        )
    written = [write(side) for side in sides]
    return "".join(part for pair in zip(written, [*signs, ""], strict=True) for part in pair)


def _member(text: str, depth: int) -> str:
    try:
        return _structure(text, depth)
    except (_UnknownError, ZeroDivisionError, OverflowError):
        return "".join(text.split())


def _split(text: str, mark: str) -> list[str]:
    """Split at marks outside brackets."""
    parts, depth, start, place = [], 0, 0, 0
    while place < len(text):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0 and text.startswith(mark, place):
            parts.append(text[start:place])
            place += len(mark)
            start = place
            continue
        place += 1
    return [*parts, text[start:]]


def _whole(text: str) -> bool:
    """Whether the first bracket closes only at the end; intervals may mix their brackets."""
    depth = 0
    for place, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if depth == 0:
            return place == len(text) - 1
    return False


def _value(text: str) -> str:
    return _shown(_parsed(text))


def _parsed(text: str) -> Sum:
    tokens = _tokens(text)
    found, end = _sum(tokens, 0, 0)
    if end != len(tokens):
        raise _UnknownError
    return found


# Reading values

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?|\.\d+)|(\\[a-zA-Z]+)|([a-zA-Z])|([-+*/^(){}\[\]!_]))")
_SYMBOLS = {"\\pi", "\\infty", "\\theta", "\\alpha", "\\beta", "\\lambda", "\\phi", "\\omega", "\\sigma", "\\mu"}
_PRODUCTS = {"*", "\\cdot", "\\times"}


def _tokens(text: str) -> list[str]:
    found, place = [], 0
    text = text.rstrip()
    # A word is no product of its letters: only single letters, apart from one another, are variables.
    if _NO_PRODUCT.search(text.lstrip("+-")):
        raise _UnknownError
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise _UnknownError
        found.append(next(group for group in token.groups() if group))
        place = token.end()
    return found


def _sum(tokens: list[str], place: int, depth: int) -> tuple[Sum, int]:
    if depth > _DEEPEST:
        raise _UnknownError
    total: Sum = {}
    sign = 1
    if place < len(tokens) and tokens[place] in "+-":
        sign, place = (-1 if tokens[place] == "-" else 1), place + 1
    while True:
        term, place = _product(tokens, place, depth)
        for monomial, coefficient in term.items():
            total[monomial] = total.get(monomial, Fraction(0)) + sign * coefficient
        if place >= len(tokens) or tokens[place] not in ("+", "-"):
            return {monomial: value for monomial, value in total.items() if value}, place
        sign, place = (-1 if tokens[place] == "-" else 1), place + 1


def _product(tokens: list[str], place: int, depth: int) -> tuple[Sum, int]:
    result, place = _power(tokens, place, depth)
    while place < len(tokens):
        token = tokens[place]
        if token in _PRODUCTS:
            factor, place = _power(tokens, place + 1, depth)
            result = _times(result, factor)
        elif token in ("/", "\\div"):
            factor, place = _power(tokens, place + 1, depth)
            result = _divided(result, factor)
        elif token in ("+", "-", ")", "}", "]", "\\rfloor", "\\rceil"):
            break
        elif token[0] in ".0123456789" and tokens[place - 1][-1].isdigit():
            raise _UnknownError  # Two numbers side by side are no product.
        elif token == "\\frac" and re.fullmatch(r"\d+", tokens[place - 1]):
            factor, place = _power(tokens, place, depth)  # A mixed number: 3\frac{1}{2} is three and a half.
            result = _mixed(result, factor)
        else:
            factor, place = _power(tokens, place, depth)
            result = _times(result, factor)
    return result, place


def _mixed(whole: Sum, part: Sum) -> Sum:
    if set(whole) <= {()} and set(part) <= {()} and 0 < part.get((), Fraction(0)) < 1:
        return {(): whole.get((), Fraction(0)) + part[()]}
    return _times(whole, part)


def _power(tokens: list[str], place: int, depth: int) -> tuple[Sum, int]:
    base, place = _atom(tokens, place, depth)
    if place < len(tokens) and tokens[place] == "!":
        return {(): Fraction(factorial(_whole_number(base)))}, place + 1
    if place < len(tokens) and tokens[place] == "^":
        exponent, place = _atom(tokens, place + 1, depth, single=True)
        if set(exponent) - {()}:
            raise _UnknownError
        return _raised(base, exponent.get((), Fraction(0))), place
    return base, place


def _atom(tokens: list[str], place: int, depth: int, single: bool = False) -> tuple[Sum, int]:
    if place >= len(tokens):
        raise _UnknownError
    token = tokens[place]
    if token == "-":
        found, place = _power(tokens, place + 1, depth + 1)
        return {monomial: -value for monomial, value in found.items()}, place
    if token[0].isdigit() or token[0] == ".":
        if single and len(token) > 1 and "." not in token:
            tokens[place : place + 1] = [token[0], token[1:]]  # x^12 is x to the one, times two, in LaTeX.
            token = tokens[place]
        number = Fraction(token)
        if number > _LARGEST or len(token) > 40:
            raise _UnknownError
        return ({(): number} if number else {}), place + 1
    if token in "({[" and (close := {"(": ")", "{": "}", "[": "]"}[token]):
        found, place = _sum(tokens, place + 1, depth + 1)
        if place >= len(tokens) or tokens[place] != close:
            raise _UnknownError
        return found, place + 1
    if token == "\\frac":
        above, place = _argument(tokens, place + 1, depth)
        below, place = _argument(tokens, place, depth)
        return _divided(above, below), place
    if token == "\\binom":
        above, place = _argument(tokens, place + 1, depth)
        below, place = _argument(tokens, place, depth)
        return {(): Fraction(comb(_whole_number(above), _whole_number(below)))}, place
    if token in _FUNCTIONS:
        return _function(tokens, place, depth)
    if token in ("\\lfloor", "\\lceil"):
        found, place = _sum(tokens, place + 1, depth + 1)
        if set(found) - {()} or place >= len(tokens):
            raise _UnknownError
        value = found.get((), Fraction(0))
        whole = (
            value.numerator // value.denominator if token == "\\lfloor" else -(-value.numerator // value.denominator)
        )
        return ({(): Fraction(whole)} if whole else {}), place + 1
    if token == "\\sqrt":
        root = Fraction(2)
        if place + 1 < len(tokens) and tokens[place + 1] == "[":
            index, place = _atom(tokens, place + 1, depth + 1)
            root, place = index.get((), Fraction(0)), place - 1
        found, place = _argument(tokens, place + 1, depth)
        return _raised(found, 1 / root), place
    if token in _SYMBOLS or (len(token) == 1 and token.isalpha()):
        return {((token, Fraction(1)),): Fraction(1)}, place + 1
    raise _UnknownError


_FUNCTIONS = {"\\log", "\\ln", "\\sin", "\\cos", "\\tan", "\\exp", "\\arctan", "\\arcsin", "\\arccos"}


def _function(tokens: list[str], place: int, depth: int) -> tuple[Sum, int]:
    """A function of one argument: logarithms where they are whole, else a name of its own."""
    name, base = tokens[place], ""
    place += 1
    if name == "\\log" and place < len(tokens) and tokens[place] == "_":
        found, place = _atom(tokens, place + 1, depth + 1, single=True)
        base = _shown(found)
    argument, place = _power(tokens, place, depth + 1)
    if name == "\\ln" and len(argument) == 1:
        [(monomial, value)] = argument.items()
        if value == 1 and {letter for letter, _ in monomial} <= {"e"}:
            return ({(): monomial[0][1]} if monomial else {}), place
    if base.isdigit() and int(base) > 1 and set(argument) == {()}:
        value, power = argument[()], 0
        while value.denominator == 1 and value.numerator % int(base) == 0:
            value, power = value / int(base), power + 1
        while value.numerator == 1 and value.denominator % int(base) == 0:
            value, power = value * int(base), power - 1
        if value == 1:
            return ({(): Fraction(power)} if power else {}), place
    return {((f"{name}{'_' + base if base else ''}({_shown(argument)})", Fraction(1)),): Fraction(1)}, place


def _whole_number(found: Sum) -> int:
    value = found.get((), Fraction(0))
    if set(found) - {()} or value.denominator != 1 or not 0 <= value <= 100:
        raise _UnknownError
    return int(value)


def _argument(tokens: list[str], place: int, depth: int) -> tuple[Sum, int]:
    r"""An argument of a command: a group, or a single digit as in \frac12."""
    return _atom(tokens, place, depth + 1, single=True)


# Calculating

_ONE: Sum = {(): Fraction(1)}


def _times(left: Sum, right: Sum) -> Sum:
    if len(left) * len(right) > _MOST_TERMS:
        raise _UnknownError
    result: Sum = {}
    for one, first in left.items():
        for other, second in right.items():
            monomial, factor = _merged(one, other)
            result[monomial] = result.get(monomial, Fraction(0)) + first * second * factor
    found = {monomial: value for monomial, value in result.items() if value}
    if any(max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS for value in found.values()):
        raise _UnknownError
    return found


def _merged(one: Monomial, other: Monomial) -> tuple[Monomial, Fraction]:
    powers = dict(one)
    for base, exponent in other:
        powers[base] = powers.get(base, Fraction(0)) + exponent
    factor = Fraction(1)
    for base, exponent in list(powers.items()):
        if base == "i" and exponent.denominator == 1:
            factor *= (1, 1, -1, -1)[int(exponent) % 4]
            powers[base] = exponent % 2
        if base.isdigit():
            whole = exponent.numerator // exponent.denominator
            factor *= Fraction(int(base)) ** whole
            powers[base] = exponent - whole
    return tuple(sorted((base, exponent) for base, exponent in powers.items() if exponent)), factor


def _inverse(found: Sum) -> Sum:
    if len(found) == 2 and () in found and all(base.isdigit() for monomial in found for base, _ in monomial):
        return _conjugate_inverse(found)
    if not found:
        raise ZeroDivisionError
    if len(found) > 1:
        _, leading = max(found.items())
        name = _shown({monomial: value / leading for monomial, value in found.items()})
        return {((f"({name})", Fraction(-1)),): 1 / leading}
    [(monomial, value)] = found.items()
    inverse, factor = _merged((), tuple((base, -exponent) for base, exponent in monomial))
    return {inverse: factor / value}


def _divided(above: Sum, below: Sum) -> Sum:
    """A quotient; polynomials of one name that divide without rest are divided."""
    names = {base for monomial in (*above, *below) for base, _ in monomial}
    if len(below) < 2 or len(names) != 1 or next(iter(names)).isdigit():
        return _times(above, _inverse(below))
    rest: Sum = dict(above)
    quotient: Sum = {}
    degree, leading = max((_degree(monomial), value) for monomial, value in below.items())
    while rest:
        top, value = max((_degree(monomial), value) for monomial, value in rest.items())
        if top < degree or min(map(_degree, [*rest, *below])) < 0 or degree < 1:
            return _times(above, _inverse(below))
        power: Monomial = ((next(iter(names)), top - degree),) if top > degree else ()
        step = {power: value / leading}
        quotient = _added(quotient, step)
        rest = _added(rest, _times({(): Fraction(-1)}, _times(step, below)))
    return quotient


def _degree(monomial: Monomial) -> Fraction:
    return monomial[0][1] if monomial else Fraction(0)


def _added(one: Sum, other: Sum) -> Sum:
    total = dict(one)
    for monomial, value in other.items():
        total[monomial] = total.get(monomial, Fraction(0)) + value
    return {monomial: value for monomial, value in total.items() if value}


def _conjugate_inverse(found: Sum) -> Sum:
    """One over a + b with b a square root: (a - b) over (a² - b²)."""
    [(root, value)] = [(monomial, value) for monomial, value in found.items() if monomial]
    conjugate = {(): found[()], root: -value}
    below = _times(found, conjugate)
    if set(below) != {()}:
        raise _UnknownError
    return {monomial: value / below[()] for monomial, value in conjugate.items()}


def _raised(base: Sum, exponent: Fraction) -> Sum:
    if set(base) == {()} and exponent.denominator == 1 and abs(exponent) <= _MOST_BITS:
        value = base[()]
        if abs(exponent) * max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
            raise _UnknownError
        return {(): value ** int(exponent)}
    if exponent.denominator == 1 and abs(exponent) <= _MOST_POWER:
        result = _ONE
        for _ in range(abs(int(exponent))):
            result = _times(result, base)
        return result if exponent >= 0 else _inverse(result)
    if exponent.denominator > _MOST_POWER or abs(exponent) > _MOST_POWER or not base:
        raise _UnknownError
    if len(base) > 1:
        return {((f"({_shown(base)})", exponent),): Fraction(1)}
    [(monomial, value)] = base.items()
    if value < 0 or any(not name.isdigit() and name != "\\pi" and power != 1 for name, power in monomial):
        raise _UnknownError  # The root of a square may have two signs.
    raised = tuple((name, power * exponent) for name, power in monomial)
    merged, factor = _merged((), raised)
    roots = _times({merged: factor}, _root(value.numerator, exponent))
    return _times(roots, _root(value.denominator, -exponent))


def _root(number: int, exponent: Fraction) -> Sum:
    """A whole number to a fractional power, by its prime factors."""
    if number > 10**8:
        raise _UnknownError
    powers: list[tuple[str, Fraction]] = []
    prime = 2
    while number > 1:
        count = 0
        while number % prime == 0:
            number, count = number // prime, count + 1
        if count:
            powers.append((str(prime), count * exponent))
        prime += 1
        if prime * prime > number > 1:
            prime = number
    monomial, factor = _merged((), tuple(powers))
    return {monomial: factor}


# Writing values


def _shown(found: Sum) -> str:
    if not found:
        return "0"
    terms = []
    for monomial, value in sorted(found.items(), key=lambda item: (item[0] == (), item[0])):
        factors = [base if exponent == 1 else f"{base}^({exponent})" for base, exponent in monomial]
        number = decimal(abs(value))
        shown = "*".join(([] if number == "1" and factors else [number]) + factors)
        terms.append(("-" if value < 0 else "+") + shown)
    return "".join(terms).removeprefix("+")
