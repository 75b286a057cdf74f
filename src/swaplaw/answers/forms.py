"""Answer canonicalisers that need no gold, so that they also hold in deployment.

Votes can only be pooled where equal answers are spelt alike. The paper maps every answer graded correct to gold, which
nobody can do at deployment, where there is no grade. Canonicalisers are what can be done there: each is a function of
the answer alone, has a name, and can be composed with others, in order: `canonicaliser(["unicode", "case", "number"])`.
What a canonicaliser does not recognise it leaves as it is. Names of question types stand for a fitting chain.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import lru_cache
from urllib.parse import urlsplit, urlunsplit

from swaplaw._core.registry import Registry
from swaplaw.answers.characters import latin, unify
from swaplaw.answers.mathematics import mathematics
from swaplaw.errors import InputError, quote

Canonicaliser = Callable[[str], str]

_EDGES = " \t\n.,;:!?\"'`*_<>"


MAX_NUMBER = 200
"""Longer runs of digits are not numbers that anybody meant."""


def space(text: str) -> str:
    """Collapse white space."""
    return " ".join(text.split())


def case(text: str) -> str:
    """Fold case."""
    return text.casefold()


def punctuation(text: str) -> str:
    """Strip punctuation and markup around the answer; what stands inside it stays."""
    stripped = text.strip(_EDGES)
    # Brackets go only as a pair that holds everything: "(B)" loses them, "(a) and (b)" does not.
    while len(stripped) > 1 and stripped[0] + stripped[-1] in ("()", "[]", "{}") and _holds_all(stripped):
        stripped = stripped[1:-1].strip(_EDGES)
    return stripped or text


def _holds_all(text: str) -> bool:
    """Whether the first bracket closes only at the end."""
    depth = 0
    for index, char in enumerate(text):
        depth += (char == text[0]) - (char == text[-1])
        if depth == 0:
            return index == len(text) - 1
    return False


_NUMBER = re.compile(
    r"(?P<currency>[$€£])?\s*(?P<sign>[+-]?)\s*"
    r"(?P<whole>\d{1,3}(?:[,_ ]\d{3})+|\d+)?(?P<point>\.\d+)?(?:e(?P<exponent>[+-]?\d{1,3}))?"
    r"(?:\s*/\s*(?P<below>\d+))?\s*(?P<unit>%|°?[a-zµ][a-z0-9/²³^]*)?",
    re.IGNORECASE,
)
# unit -> (base unit, how many base units it is)
_UNITS: dict[str, tuple[str, Fraction]] = {
    **{name: ("m", Fraction(size)) for name, size in (("m", 1), ("km", 1000), ("cm", "1/100"), ("mm", "1/1000"))},
    **{name: ("g", Fraction(size)) for name, size in (("g", 1), ("kg", 1000), ("mg", "1/1000"))},
    **{name: ("s", Fraction(size)) for name, size in (("s", 1), ("ms", "1/1000"), ("min", 60), ("h", 3600))},
    **{name: ("b", Fraction(1)) for name in ("b", "byte", "bytes")},
    **{name: ("b", Fraction(1000**power)) for power, name in enumerate(("kb", "mb", "gb", "tb"), 1)},
    **{name: ("b", Fraction(1024**power)) for power, name in enumerate(("kib", "mib", "gib", "tib"), 1)},
    **{name: ("s", Fraction(size)) for name, size in (("second", 1), ("seconds", 1), ("minute", 60), ("minutes", 60))},
    **{name: ("s", Fraction(size)) for name, size in (("hour", 3600), ("hours", 3600))},
}


def number(text: str) -> str:
    """Write numbers exactly and in one way: `1,234.50` is 1234.5, `1/2` is 0.5, `2 km` is `2000 m`."""
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= MAX_NUMBER else None
    if match is None or not (match["whole"] or match["point"]):
        return text
    value = Fraction(re.sub(r"[,_ ]", "", match["whole"] or "0") + (match["point"] or ""))
    value *= Fraction(10) ** int(match["exponent"] or 0)
    if match["below"]:
        if int(match["below"]) == 0:
            return text
        value /= int(match["below"])
    unit = (match["unit"] or "").lower()
    base, size = _UNITS.get(unit, (unit, Fraction(1)))
    shown = decimal(-value * size if match["sign"] == "-" else value * size)
    return f"{match['currency'] or ''}{shown}{'' if base in ('', '%') else ' '}{base}"


def decimal(value: Fraction) -> str:
    """Show a fraction exactly: as a decimal where that ends, as a/b where it does not."""
    below, twos, fives = value.denominator, 0, 0
    while below % 2 == 0:
        below, twos = below // 2, twos + 1
    while below % 5 == 0:
        below, fives = below // 5, fives + 1
    if below > 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE_FORMATS = ("%d %b %Y", "%b %d %Y", "%d %B %Y", "%B %d %Y", "%Y/%m/%d", "%Y%m%d")
_TIME_FORMATS = ("%H:%M:%S.%f", "%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p")


def dates(text: str) -> str:
    """Write dates as ISO, and times that name their zone in UTC. `03/04/2024` could be either: it stays."""
    flat = re.sub(r"(\d)(?:st|nd|rd|th)\b", r"\1", " ".join(text.replace(",", " ").split()), flags=re.IGNORECASE)
    zoned = re.sub(r"\s*(?:UTC|GMT|Z)$", "+00:00", flat, flags=re.IGNORECASE)
    zoned = re.sub(r"\s+([+-]\d{2}:?\d{2})$", r"\1", zoned)
    for candidate in (flat, zoned):
        try:
            return _iso(datetime.fromisoformat(candidate), has_time=bool(re.search(r"\d:\d", candidate)))
        except ValueError:
            pass
    zone = re.search(r"[+-]\d{2}:?\d{2}$", zoned) if ":" in zoned else None
    bare = zoned[: zone.start()].strip() if zone else zoned
    for form in _DATE_FORMATS:
        for time in ("", *_TIME_FORMATS):
            try:
                found = datetime.strptime(
                    f"{bare}{zone[0] if zone else ''}", f"{form} {time}".strip() + "%z" * bool(zone)
                )
            except ValueError:
                continue
            return _iso(found, has_time=bool(time))
    return text


def _iso(moment: datetime, *, has_time: bool) -> str:
    if not has_time:
        return date(moment.year, moment.month, moment.day).isoformat()
    try:
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment.tzinfo else moment.isoformat()
    except OverflowError:
        return moment.isoformat()


def digest(text: str) -> str:
    """Write hashes in lower-case hex without their prefix or separators."""
    bare = re.sub(r"^(?:md5|sha-?(?:1|224|256|384|512))\s*[:=]\s*", "", text.strip(), flags=re.IGNORECASE)
    joined = re.sub(r"[\s:-]", "", bare)
    return joined.lower() if re.fullmatch(r"[0-9a-fA-F]+", joined) and len(joined) in _HASH_LENGTHS else text


_HASH_LENGTHS = (32, 40, 56, 64, 96, 128)


def refang(text: str) -> str:
    """Undo the defanging of addresses: `hxxp://evil[.]example` and the like."""
    plain = re.sub(r"[\[({](\.|dot)[\])}]", ".", text, flags=re.IGNORECASE)
    plain = re.sub(r"[\[({](@|at)[\])}]", "@", plain, flags=re.IGNORECASE).replace("[:]", ":").replace("[://]", "://")
    return re.sub(r"^h(?:xx|XX|tt)p(s?)(?=://)", r"http\1", plain.strip(), flags=re.IGNORECASE)


def ip(text: str) -> str:
    """Write IP addresses in their shortest form."""
    try:
        return str(ipaddress.ip_address(refang(text).strip("[] ")))
    except ValueError:
        return text


def url(text: str) -> str:
    """Write URLs with lower-case scheme and host, without default port, fragment or trailing slash."""
    plain = refang(text)
    try:
        parts = urlsplit(plain)
        port = parts.port
    except ValueError:
        return text
    if not parts.scheme or not parts.hostname or re.search(r"\s", plain):
        return text
    scheme = parts.scheme.lower()
    host = parts.hostname.rstrip(".")
    host = f"[{host}]" if ":" in host else host
    shown = "" if port is None or {"http": 80, "https": 443}.get(scheme) == port else f":{port}"
    return urlunsplit((scheme, host + shown, parts.path.rstrip("/"), parts.query, ""))


def path(text: str) -> str:
    """Write paths with forward slashes, without doubled or trailing ones; Windows drives in upper case."""
    if not re.search(r"[\\/]", text):
        return text
    plain = re.sub(r"(?<!\w\w:)/{2,}", "/", text.strip().strip("\"'`").replace("\\", "/"))
    plain = re.sub(r"/\.(?=/|$)", "", plain)
    plain = re.sub(r"^([a-z]):", lambda drive: f"{drive[1].upper()}:", plain)
    return plain.rstrip("/") if len(plain) > 1 and not re.fullmatch(r"[A-Z]:/", plain) else plain


def boxed(text: str) -> str:
    """Take the last LaTeX box and undress it: `\\boxed{\\frac{1}{2}}` is 1/2."""
    start = max(text.rfind("\\boxed{"), text.rfind("\\fbox{"))
    inner = text if start < 0 else _braced(text, text.index("{", start))
    if inner is None:
        return text
    plain = inner.strip().strip("$").strip()
    plain = re.sub(r"\\(?:left|right|displaystyle|,|;|!| )", "", plain)
    plain = re.sub(r"\\(?:text|mathrm|mathbf|textbf|mbox)\{([^{}]*)\}", r"\1", plain)
    plain = re.sub(r"\\[dt]?frac\{([^{}]+)\}\{([^{}]+)\}", r"\1/\2", plain)
    plain = plain.replace("\\%", "%").replace("\\$", "$").replace("^{\\circ}", "°").replace("^\\circ", "°")
    return plain.strip() or text


def _braced(text: str, opening: int) -> str | None:
    depth = 0
    for index in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return text[opening + 1 : index]
    return None


def sets(text: str) -> str:
    """Sort the parts of a list and drop repeats: `b, a and a` is `a; b`."""
    bare = text.strip().strip("{}[]()")
    parts = re.split(r"\s*(?:;|,|\n|\band\b)\s*", bare)
    return "; ".join(sorted({part.strip() for part in parts if part.strip()})) or text


_OPTION = re.compile(
    r"(?:b(?=['\"]))?[\s(\[*\"'`]*(?:option |answer:? ?)?[(\[*]*([a-z])(?:[)\].:*]|[\"'`](?!\w)|$)", re.IGNORECASE
)
"""A letter with what may stand around it; a quote that a word follows is an apostrophe ("I'd say")."""


def letter(text: str) -> str:
    """Write an option as its letter: `B)`, `(b)`, `B. Paris`, `["B"]` and a Cyrillic or full-width look-alike are B."""
    found = _OPTION.match(latin(unify(text)))
    return found[1].upper() if found else text


CANONICALISERS: Registry[Canonicaliser] = Registry("canonicaliser")
for _name, _form in {
    "exact": lambda text: text,
    "unicode": unify,
    "space": space,
    "case": case,
    "punctuation": punctuation,
    "number": number,
    "date": dates,
    "hash": digest,
    "ip": ip,
    "path": path,
    "url": url,
    "boxed": boxed,
    "set": sets,
    "mathematics": mathematics,
    "letter": letter,
}.items():
    CANONICALISERS.register(_name, _form)


def register(name: str, form: Canonicaliser) -> None:
    """Add a canonical form of your own: from then on it can be named wherever forms are.

    Parameters
    ----------
    name : str
        What it is called.
    form : callable
        The spelling that stands for an answer; answers that it does not recognise it leaves as they are.

    Raises
    ------
    InputError
        If a form of that name is there already.

    Examples
    --------
    >>> register("first_word", lambda text: text.split(" ")[0])
    >>> canonicaliser(["case", "first_word"])("Paris it is")
    'paris'
    >>> CANONICALISERS.unregister("first_word")
    """
    CANONICALISERS.register(name, form)


TYPES: dict[str, tuple[str, ...]] = {
    "text": ("unicode", "space", "punctuation", "case"),
    "numeric": ("unicode", "boxed", "punctuation", "number"),
    "math": ("mathematics",),
    "time": ("unicode", "space", "punctuation", "date"),
    "address": ("unicode", "space", "url", "ip"),
    "file": ("unicode", "space", "path"),
    "digest": ("unicode", "punctuation", "hash"),
    "list": ("unicode", "space", "case", "set"),
}
"""Question types: the chain that fits each."""


def canonicaliser(names: Sequence[str]) -> Canonicaliser:
    """Compose canonicalisers, or the chains of question types, by name, in the order given.

    Parameters
    ----------
    names : sequence of str
        Forms such as `case` or `number`, or question types such as `math` or `text`.

    Returns
    -------
    callable
        Brings an answer to its canonical spelling; what it does not recognise it leaves as it is.

    Raises
    ------
    InputError
        If there is no form of a name.

    Examples
    --------
    >>> canonicaliser(["math"])("so \\\\boxed{1,000}")
    '1000'
    """
    steps: list[Canonicaliser] = []
    for name in names:
        if name not in CANONICALISERS and name not in TYPES:
            known = ", ".join([*CANONICALISERS, *TYPES])
            raise InputError(f"there is no canonicaliser {quote(name)}; there are {known}")
        steps += [CANONICALISERS[step] for step in TYPES.get(name, (name,))]

    @lru_cache(maxsize=65536)
    def apply(text: str) -> str:
        for step in steps:
            text = step(text)
        return text

    return apply
