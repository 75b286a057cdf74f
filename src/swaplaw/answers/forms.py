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
from functools import lru_cache
from urllib.parse import urlsplit, urlunsplit

from swaplaw._result import Registry
from swaplaw.answers.characters import latin, unify
from swaplaw.answers.mathematics import mathematics, opened
from swaplaw.answers.quantities import quantity
from swaplaw.answers.same import key
from swaplaw.answers.times import moment
from swaplaw.errors import InputError, quote

Canonicaliser = Callable[[str], str]

_EDGES = " \t\n.,;:!?\"'`*_<>"


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


def number(text: str) -> str:
    """Write numbers, money and measures exactly and in one way: `1,234.50` is 1234.5, `2 km` is `2000 m`."""
    return quantity(text) or text


def dates(text: str) -> str:
    """Write dates as ISO, times that name their zone in UTC, and how long something lasted in seconds."""
    return moment(text) or (quantity(text) if re.search(r"[a-zA-Z]", text) else None) or text


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
    inner = opened(text)
    if inner is text:
        return text
    plain = inner.strip().strip("$").strip()
    plain = re.sub(r"\\(?:left|right|displaystyle|,|;|!| )", "", plain)
    plain = re.sub(r"\\(?:text|mathrm|mathbf|textbf|mbox)\{([^{}]*)\}", r"\1", plain)
    plain = re.sub(r"\\[dt]?frac\{([^{}]+)\}\{([^{}]+)\}", r"\1/\2", plain)
    plain = plain.replace("\\%", "%").replace("\\$", "$").replace("^{\\circ}", "°").replace("^\\circ", "°")
    return plain.strip() or text


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
_FORMS: dict[str, Canonicaliser] = {
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
    "same": key,
}
for _name, _form in _FORMS.items():
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
    "numeric": ("boxed", "number", "unicode", "space", "case"),
    "math": ("mathematics",),
    "time": ("date", "unicode", "space", "case"),
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
