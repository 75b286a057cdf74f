"""Values that are known by their shape, each with one key for all its spellings, and the lines that tools print.

`kinds.toml` is the table. What has no kind is a phrase, whose key is its words.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_interface, ip_network
from pathlib import Path

from swaplaw.answers.characters import visible

MARK = "\ue000"
"""Stands where a value was found."""
_PORTS = {"http": ":80", "https": ":443", "ftp": ":21"}


def unwrap(text: str) -> str:
    """Take off quotes, backticks, emphasis marks or a fence around the whole, and the period behind it."""
    text = re.sub(r"^```\w*\n(.*?)\n?```$", r"\1", text.strip(), flags=re.DOTALL).strip()
    whole = re.fullmatch(r"([\"'`]|\*\*|__)(.+)\1\.?|<(\S+)>|\\boxed\{(.*)\}", text, re.DOTALL)
    if whole is None or (whole[1] and whole[1] in whole[2]):
        return text
    return next(part for part in (whole[2], whole[3], whole[4]) if part is not None).strip()


def refang(text: str) -> str:
    """Undo the defanging of names and addresses: hxxp://evil[.]com is http://evil.com."""
    text = re.sub(r"\bhxxp(s?)\b", r"http\1", text, flags=re.IGNORECASE)
    text = re.sub(r"[\[({](?:\.|dot)[\])}]", ".", text, flags=re.IGNORECASE)
    text = re.sub(r"[\[({](?:@|at)[\])}]", "@", text, flags=re.IGNORECASE)
    return re.sub(r"\[(:|://|/)\]", r"\1", text)


def plain(text: str) -> str:
    """Return what a reader sees of an answer: unwrapped, with one kind of quotes and blanks, nothing defanged."""
    return unwrap(refang(visible(text))).replace("**", "").replace("`", "'")


def _url(text: str) -> str:
    """Write the host in small letters and leave out a usual port; the path keeps its case, because servers do."""
    found = re.fullmatch(r"(?:([a-z][a-z0-9+.-]*)://)?([^/:?#]+)(:\d+)?([/?#].*)?", text, re.IGNORECASE)
    if found is None:
        return text.casefold()
    scheme = (found[1] or "").casefold()
    port = "" if found[3] == _PORTS.get(scheme, ":80") else found[3] or ""
    rest = (found[4] or "").rstrip("/.,")
    return f"{scheme}{'://' if scheme else ''}{found[2].casefold()}{port}{rest}"


def _ip(text: str) -> str:
    """Write an address alone, whatever port or length of its network stands behind it."""
    bare = re.sub(r"(?<=\d)\]?:\d{1,5}$", "", text) if "." in text else text
    try:
        found = ip_interface(bare.replace("[", "").replace("]", "").partition("%")[0]).ip
    except ValueError:
        return ""  # a time or a hardware address
    return (getattr(found, "ipv4_mapped", None) or found).compressed


def _network(text: str) -> str:
    try:
        return ip_network(text, strict=False).compressed
    except ValueError:
        return ""


def _mac(text: str) -> str:
    """Pad what some systems print without leading zeros: 0:19:d1:b2:4d:ad."""
    parts = re.split(r"[:\- ]", text.casefold())
    return "".join(part.zfill(2) for part in parts) if len(parts) == 6 else re.sub(r"\W", "", text.casefold())


def _hostname(text: str) -> str:
    return re.sub(r"^[a-z][a-z0-9+.-]*://", "", text.casefold()).strip("./")


def _alphanumeric(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold().removeprefix("0x")


def _filename(text: str) -> str:
    return re.split(r"[\\/]", text)[-1].casefold()


def _path(text: str) -> str:
    return re.sub(r"[\\/]+", "/", text.casefold()).removeprefix("c:").removeprefix(".").strip("/")


@dataclass(frozen=True)
class Kind:
    """Values of one shape."""

    name: str
    pattern: str
    key: Callable[[str], str]
    asked: str = ""
    """Words of a question without which a text is not read so."""
    spelling: bool = True
    """Whether spelling never matters, even where the exact text is asked for."""

    def asked_by(self, question: str) -> bool:
        """Say whether a question may ask for such a value."""
        return not self.asked or re.search(self.asked, question, re.IGNORECASE) is not None


_TABLE = tomllib.loads((Path(__file__).parent / "kinds.toml").read_text(encoding="utf-8"))


def _spelt(pattern: str) -> str:
    """Put the shapes in place of their names."""
    for name, shape in _TABLE["shapes"].items():
        pattern = pattern.replace(f"{{{name}}}", shape)
    return pattern


_KEYS: dict[str, Callable[[str], str]] = {
    "url": _url, "ip": _ip, "network": _network, "mac": _mac, "hostname": _hostname, "alphanumeric": _alphanumeric,
    "filename": _filename, "path": _path, "small": str.casefold,
}  # fmt: skip
KINDS = tuple(Kind(**row | {"pattern": _spelt(row["pattern"]), "key": _KEYS[row["key"]]}) for row in _TABLE["kinds"])
_TOOL_LINES = tuple((_spelt(row["pattern"]), row["left"], row.get("asked", "")) for row in _TABLE["lines"])
_ASKS_PATH = r"\b(?:paths?|where|location|directory|folder)\b"


@lru_cache(maxsize=4096)
def cut_lines(text: str, asked: str) -> str:
    r"""Cut the lines of tools to the field that a question asks for.

    >>> cut_lines("r/r * 1043:\tnotes/burn.txt", "Which inode?"), cut_lines(r"CORP\eve", "Which user?")
    ('1043', 'eve')
    """
    for pattern, left, words in _TOOL_LINES:
        if not words or re.search(words, asked, re.IGNORECASE):
            text = re.sub(pattern, left, text, flags=re.IGNORECASE | re.MULTILINE)
    return text


@lru_cache(maxsize=4096)
def kind_of(text: str, asked: str) -> Kind | None:
    """Return the kind of value that a gold is.

    >>> kind_of("10.2.28.88", "").name, kind_of("evil.com", "Which domain was asked for?").name
    ('ip', 'domain')
    """
    for kind in KINDS:
        if kind.asked_by(asked) and re.fullmatch(kind.pattern, text, re.IGNORECASE):
            return None if kind.name == "file" and re.search(_ASKS_PATH, asked, re.IGNORECASE) else kind
    return None


@lru_cache(maxsize=8192)
def key(text: str, asked: str = "") -> str:
    """Return the one string that stands for all spellings of a value.

    >>> key(" `WhitePepper[.]SU` "), key("00-21-5D-C8-0E-F2"), key("Tomorrow... it's OK.")
    ('whitepepper.su', '00215dc80ef2', "tomorrow it's ok")
    """
    text = plain(text).replace("\n", " ").strip()
    kind = kind_of(text, asked)
    if kind is not None and (known := kind.key(text)):
        return known
    return " ".join(filter(None, (_edgeless(word) for word in text.casefold().split())))


def _edgeless(word: str) -> str:
    """Drop punctuation at a word's edges; a sign before a digit is part of a number."""
    sign = word[0] if re.match(r"[-+]\d", word) else ""
    return sign + re.sub(r"^[\W_]+|[\W_]+$", "", word)


@lru_cache(maxsize=8192)
def marked(text: str, gold: str, asked: str, exact: bool) -> str:
    """Put a mark in place of a gold wherever a text has it."""
    kind = kind_of(gold, asked)
    if kind is None or (exact and not kind.spelling):
        return re.sub(_phrase(gold, exact), MARK, text, flags=0 if exact else re.IGNORECASE)
    # A path may have blanks in it, which no pattern finds.
    text = re.sub(_spelt_path(gold), MARK, text, flags=re.IGNORECASE) if kind.name == "path" else text

    def mark(found: re.Match[str]) -> str:
        same = kind.key(found[0]) == kind.key(gold)
        return MARK if same and not (exact and kind.name == "file" and not found[0].endswith(gold)) else found[0]

    return re.sub(kind.pattern, mark, text, flags=re.IGNORECASE)


# What another phrase would look like beside one of this shape. A plain word has none.
_SHAPES = (
    r"(?<![\w.-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]+(?![\w-])|(?<!\w)\w+_\w+|\b[A-Za-z]*[a-z][A-Z]\w*",
    r"(?<![\w.:-])\d+(?![\w:-]|\.\d)",
    r"(?<![\w./\\-])\w+(?:[-.]\w+)+",
    r"(?<=\S )[A-Z][a-z]+(?: [A-Z][a-z]+)*|^[A-Z][a-z]+(?= [A-Z,])(?: [A-Z][a-z]+)*|[A-Z][a-z]+(?: [A-Z][a-z]+)+",
)


def rivals(gold: str, asked: str) -> Callable[[str], list[str]] | None:
    """Return what finds other values of a gold's kind or shape in what is left of a text; None where it has neither."""
    kind = kind_of(gold, asked)
    if kind is not None:
        return lambda text: [one[0] for one in re.finditer(kind.pattern, text, re.IGNORECASE) if kind.key(one[0])]
    shape = next((pattern for pattern in _SHAPES if re.fullmatch(pattern, plain(gold))), None)
    return None if shape is None else lambda text: re.findall(shape, text)


def _phrase(gold: str, exact: bool) -> str:
    """Return a pattern of a text that has no kind: its words, whatever punctuation stands between them."""
    if exact:
        return r"(?<![^\s\"'(:=])" + r"\s+".join(map(re.escape, gold.split())) + r"(?![^\s.,;:)\"']|[.,;:]\S)"
    if re.search(r"[\\/]", gold):
        return _spelt_path(gold)
    words = [re.escape(word) for raw in plain(gold).split() if (word := _edgeless(raw))]
    between = r"\W*\s\W*" if "(" in gold else r"[^\w()\[\]]*\s[^\w()\[\]]*"
    hexadecimal = "(?:0x|v)?" if re.fullmatch(r"[0-9a-f.-]+", gold, re.IGNORECASE) else ""
    return (
        r"(?<![\w@\\-])(?<![^\s\"'(]/)(?<!\d\.)"
        + hexadecimal
        + between.join(words or [re.escape(gold)])
        + r"(?![\w@\\/-]|\.\w|:\d)"
    )


def _spelt_path(gold: str) -> str:
    drive, parts = re.fullmatch(r"([a-z]:)?(.*)", gold, re.IGNORECASE | re.DOTALL).groups()  # type: ignore[union-attr]
    names = [re.escape(part) for part in re.split(r"[\\/]+", parts) if part not in ("", ".")]
    before = f"(?:{drive})?" if drive else "(?:c:)?" if "\\" in gold else ""
    return rf"(?<![\w.:\\/-]){before}\.?[\\/]*" + r"[\\/]+".join(names) + r"[\\/]*(?![\w\\/-]|\.\w)"


def file_type(text: str) -> str:
    """Return the name of a type in what `file` prints, in a media type, or in the words of a person.

    >>> file_type("sunset.jpg: PNG image data, 30 x 30"), file_type("a ZIP archive"), file_type("image/png")
    ('png', 'zip', 'png')
    """
    words = re.sub(r"^\S+: |^\w+/|,.*|\(.*?\)", "", plain(text).casefold())
    words = re.sub(r"\b(?:an?|the|data|image|archive|document|compressed|picture|file|database|format)\b", "", words)
    name = re.sub(r"[\W_]", "", words)
    return {"jpg": "jpeg", "7zip": "7z", "portablenetworkgraphics": "png", "sqlite3x": "sqlite3"}.get(name, name)
