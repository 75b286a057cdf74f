r"""Mathematics in one spelling: `\frac{1}{2}`, `0.5` and `1/2` are one answer, and so are `2\sqrt{2}` and `\sqrt{8}`.

A small exact algebra, not a computer algebra system: sums of rational multiples of powers of numbers, constants and
variables. Everything is bounded, so that no answer takes long; what the algebra does not know keeps its own spelling,
and so do dates, ranges, versions, telephone numbers and hexadecimal digits: `2024-03-01` is no difference.
Units, degrees, percent and currency signs tell no two answers to one question apart, and are left out.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import partial

from swaplaw.answers.characters import unify

LONGEST = 400
_MOST_TERMS = 60
_DEEPEST = 12
_LARGEST = 10**30
_MOST_POWER = 12

Monomial = tuple[tuple[str, Fraction], ...]
Sum = dict[Monomial, Fraction]
"""Rational coefficients of products of powers; the empty product is the number one."""


class _UnknownError(ValueError):
    """Something that the algebra does not know."""


def mathematics(text: str) -> str:
    r"""Write a mathematical answer in one way.

    >>> mathematics(r"so $\boxed{\dfrac{1}{2}}$.") == mathematics("0.5") == mathematics("1/2") == "0.5"
    True
    >>> mathematics(r"\sqrt{8}") == mathematics(r"2\sqrt2")
    True
    >>> mathematics(r"\left(3, \frac{\pi}{2}\right)") == mathematics(r"(3,\pi/2)")
    True
    """
    plain = _undressed(_opened(text))
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
_UNITS = re.compile(
    r"(?<=[\d})])\s*(?:square\s|cubic\s|sq\.?\s)?(?:units?|degrees?|percent|dollars?|cents?|inch(?:es)?|feet|foot|ft|miles?|mph|meters?"
    r"|metres?|centimeters?|centimetres?|kilometers?|cm|mm|km|m|kg|grams?|g|seconds?|sec|s|minutes?|min|hours?|hrs?|days?|weeks?|years?"
    r"|people|students|ways|points?|liters?|litres?|pounds?|lbs?|ounces?|oz|cubic|square|pm|am|a\.m\.|p\.m\.)"
    r"(?:\s(?:units?|inches|feet|meters?|centimeters?|cm|m))?(?:\s?\^?\{?[23]\}?)?\s*\.?$",
    re.IGNORECASE,
)
_WORDS = {
    "\\leq": "<=",
    "\\le": "<=",
    "\\geq": ">=",
    "\\ge": ">=",
    "\\neq": "!=",
    "\\ne": "!=",
    "\\ldots": "...",
    "\\dots": "...",
}
_NAMED = re.compile(r"^(?:[a-zA-Z]|[a-zA-Z]\([a-zA-Z]\)|\\theta|\\alpha|\\angle\s?[A-Z]{1,3})\s*(?:=|\\in)\s*(?=\S)")


def _opened(text: str) -> str:
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
    plain = re.sub(r"\\[dtc]frac(?![a-z])", r"\\frac", plain)
    plain = re.sub(r"_\{(\w{1,3})\}", r"_\1", plain)
    for word, sign in _WORDS.items():
        plain = re.sub(re.escape(word) + r"(?![a-z])", sign, plain)
    plain = " ".join(plain.replace("**", "").strip(" \t\n;:,!?`'\"").rstrip(".").split())
    plain = _UNITS.sub("", plain)
    return " ".join(_NAMED.sub("", plain).split())


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
        return _value(text.replace(",", ""))
    if matrix := _MATRIX.fullmatch(text):
        rows = [[write(cell) for cell in row.split("&")] for row in re.split(r"\\\\", matrix[2]) if row.strip()]
        return "\\begin{pmatrix}" + "\\\\".join("&".join(row) for row in rows) + "\\end{pmatrix}"
    unions = _split(text, "\\cup")
    if len(unions) > 1:
        return " \\cup ".join(sorted(map(write, unions)))
    if text.startswith("\\{") and text.endswith("\\}"):
        return "\\{" + ", ".join(sorted({write(part) for part in _split(text[2:-2], ",")})) + "\\}"
    if text[:1] in "([" and text[-1:] in ")]" and _whole(text) and len(parts := _split(text[1:-1], ",")) > 1:
        return text[0] + ", ".join(map(write, parts)) + text[-1]
    parts = [part for part in re.split(r"\s(?:and|or)\s", text) if part.strip()]
    parts = [piece for part in parts for piece in _split(part, ",") if piece.strip()]
    if len(parts) > 1:
        return ", ".join(sorted(map(write, parts)))
    if text.count("\\pm") == 1:
        return ", ".join(sorted({write(text.replace("\\pm", f" {sign} ").lstrip("+ ")) for sign in "+-"}))
    return _value(text)


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
    tokens = _tokens(text)
    found, end = _sum(tokens, 0, 0)
    if end != len(tokens):
        raise _UnknownError
    return _shown(found)


# Reading values

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?|\.\d+)|(\\[a-zA-Z]+)|([a-zA-Z])|([-+*/^(){}\[\]]))")
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
            result = _times(result, _inverse(factor))
        elif token in ("+", "-", ")", "}", "]"):
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
        return _times(above, _inverse(below)), place
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
    if any(max(abs(value.numerator), value.denominator) > _LARGEST**2 for value in found.values()):
        raise _UnknownError
    return found


def _merged(one: Monomial, other: Monomial) -> tuple[Monomial, Fraction]:
    powers = dict(one)
    for base, exponent in other:
        powers[base] = powers.get(base, Fraction(0)) + exponent
    factor = Fraction(1)
    for base, exponent in list(powers.items()):
        if base.isdigit():
            whole = exponent.numerator // exponent.denominator
            factor *= Fraction(int(base)) ** whole
            powers[base] = exponent - whole
    return tuple(sorted((base, exponent) for base, exponent in powers.items() if exponent)), factor


def _inverse(found: Sum) -> Sum:
    if len(found) == 2 and () in found:
        return _conjugate_inverse(found)
    if len(found) != 1:
        raise _UnknownError if found else ZeroDivisionError
    [(monomial, value)] = found.items()
    inverse, factor = _merged((), tuple((base, -exponent) for base, exponent in monomial))
    return {inverse: factor / value}


def _conjugate_inverse(found: Sum) -> Sum:
    """One over a + b with b a square root: (a - b) over (a² - b²)."""
    [(root, value)] = [(monomial, value) for monomial, value in found.items() if monomial]
    conjugate = {(): found[()], root: -value}
    below = _times(found, conjugate)
    if set(below) != {()}:
        raise _UnknownError
    return {monomial: value / below[()] for monomial, value in conjugate.items()}


def _raised(base: Sum, exponent: Fraction) -> Sum:
    if exponent.denominator == 1 and abs(exponent) <= _MOST_POWER:
        result = _ONE
        for _ in range(abs(int(exponent))):
            result = _times(result, base)
        return result if exponent >= 0 else _inverse(result)
    if len(base) != 1 or exponent.denominator > _MOST_POWER or abs(exponent) > _MOST_POWER:
        raise _UnknownError
    [(monomial, value)] = base.items()
    if value < 0 or any(not name.isdigit() and name != "\\pi" for name, _ in monomial):
        raise _UnknownError  # The root of a variable may have two signs.
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
    from swaplaw.answers.forms import decimal

    if not found:
        return "0"
    terms = []
    for monomial, value in sorted(found.items(), key=lambda item: (item[0] == (), item[0])):
        factors = [base if exponent == 1 else f"{base}^({exponent})" for base, exponent in monomial]
        number = decimal(abs(value))
        shown = "*".join(([] if number == "1" and factors else [number]) + factors)
        terms.append(("-" if value < 0 else "+") + shown)
    return "".join(terms).removeprefix("+")
