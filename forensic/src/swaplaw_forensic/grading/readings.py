"""The ways in which one right answer may be written: restated, as a tool prints it, with its domain or its type."""

import re
from functools import lru_cache
from ipaddress import ip_address

from swaplaw.answers.characters import visible
from swaplaw.answers.hedges import hedged, negated
from swaplaw_forensic.challenges.gold import Gold
from swaplaw_forensic.reading.remarks import LONGEST
from swaplaw_forensic.reading.text import normalise, refang, unwrap
from swaplaw_forensic.reading.vocabulary import WORDS, vocabulary

_SEPARATOR = re.compile(r"\s*(?::|=|->|→)\s+|\s+(?:is|was|are|were)\s+", re.IGNORECASE)
_FILLERS = vocabulary("fillers")
# What `file` says of common types, and other names of the same.
_TYPES: dict[str, str] = {
    "png": r"png(?: image)?(?: data)?|portable network graphics|image/png",
    "jpeg": r"jpe?g(?: image)?(?: data)?|image/jpeg", "gif": r"gif(?: image)?(?: data)?|image/gif",
    "pdf": r"pdf(?: document)?|application/pdf|portable document format",
    "zip": r"zip(?: archive)?(?: data)?|application/zip", "gzip": r"gzip(?: compressed)?(?: data)?|application/gzip",
    "7z": r"7-?z(?:ip)?(?: archive)?(?: data)?", "rar": r"rar(?: archive)?(?: data)?",
    "sqlite": r"sqlite ?3?(?:\.x)?(?: database)?",
    "elf": r"elf(?: (?:32|64)-bit)?.*", "pe": r"pe(?:32\+?)? executable.*",
    "bmp": r"(?:pc )?bitmap|bmp(?: image)?", "ole": r"composite document file.*|cdf ?v2.*",
}  # fmt: skip
_HIVES = {
    "HKEY_CURRENT_USER": "HKCU", "HKEY_LOCAL_MACHINE": "HKLM", "HKEY_USERS": "HKU", "HKEY_CLASSES_ROOT": "HKCR",
}  # fmt: skip
# DOMAIN\\user, user@domain, a line of /etc/passwd, and what `id` prints.
_ACCOUNT = re.compile(
    r"[\w.$-]+\\(?P<a>[\w.$-]+)|(?P<b>[\w.$-]+)@[\w.-]+|(?P<c>[\w.$-]+):[x*!]:\d+:\d+:.*|uid=\d+\((?P<d>[\w.$-]+)\).*"
)
_ASKS_PROGRAM = re.compile(r"\b(?:tool|program|process|command|utility)\b", re.IGNORECASE)
_ASKS_ACCOUNT = re.compile(r"\b(?:user|account|log(?:ged)?[ -]?on|log-?in)\b", re.IGNORECASE)


def candidates(gold: Gold, answer: str) -> list[str]:
    """Return the answer and what is left of it when the question's own words are taken away."""
    text = unwrap(answer)
    boxed = re.fullmatch(r"\\boxed\{(.*)\}", text)
    found = [text, answer.strip(), re.sub(r"^(?:tel|mailto):|<[0-9a-f]{2}>$", "", text, flags=re.IGNORECASE)]
    found += [boxed[1]] if boxed else []
    found += [f"{short}{text[len(long) :]}" for long, short in _HIVES.items() if text.upper().startswith(long)]
    for separator in _SEPARATOR.finditer(text):
        head, tail = text[: separator.start()], text[separator.end() :]
        if _repeats(head, gold.asked):
            found += [tail, tail.rstrip(".")]
        if separator.group().strip(" \t\n:=->→") != "" and _repeats(tail, gold.asked):
            found.append(head)
    if _ASKS_PROGRAM.search(gold.asked):
        found.append(re.sub(r"\.exe$", "", text, flags=re.IGNORECASE))
    found += without_repetition(text, gold.asked)
    remark = re.fullmatch(r"(.+?)\s*\(([^()]*)\)\.?", text, re.DOTALL)
    if remark and _repeats(remark[2], gold.asked):
        found.append(remark[1])
    return list(dict.fromkeys(bare for one in found if (bare := unwrap(unwrap(one.strip()).strip("*_")))))


def without_repetition(text: str, asked: str) -> list[str]:
    """Return what is left when words that only repeat the question are taken from both ends."""
    words = visible(text).split()
    if len(words) > LONGEST or not re.search(r"\w", asked):
        return []
    first = last = 0
    while first < len(words) - 1 and _repeats(words[first], asked):
        first += 1
    while last < len(words) - 1 and _repeats(words[-1 - last], asked):
        last += 1
    cut = [words[start : len(words) - end] for start in range(first + 1) for end in range(last + 1)]
    left = [" ".join(part) for part in cut if part]
    return left + [part.rstrip(".") for part in left]


def _repeats(words: str, asked: str) -> bool:
    """Say whether some words only repeat the question: they claim nothing."""
    if negated(words) or (hedged(words) and not hedged(asked)):
        return False  # even where the question denies something
    known = _known(asked)
    said = [word for word in re.findall(r"\w+", visible(words).casefold()) if word not in _FILLERS]
    return bool(words.strip()) and all(_stem(word) in known for word in said) and (bool(known) or not said)


@lru_cache(maxsize=1024)
def _known(asked: str) -> frozenset[str]:
    """Return the words of a question, and those that stand for them."""
    words = {_stem(word) for word in re.findall(r"\w+", asked.casefold())}
    like = [group.split() for group in WORDS["synonyms"].splitlines()]
    return frozenset(words | {_stem(word) for group in like if words & {*map(_stem, group)} for word in group})


def _stem(word: str) -> str:
    return word.removesuffix("s")


def turned(text: str, asked: str) -> str | None:
    """Return "Rolf, Becka" as "Becka Rolf", where a person's name is asked for."""
    match = re.fullmatch(r"([\w'-]+), ([\w'-]+)", unwrap(visible(text)))
    asks = re.search(r"\b(?:who|full name|author|person)\b", asked, re.IGNORECASE)
    return f"{match[2]} {match[1]}" if match and asks else None


def same_text(gold: Gold, wanted: str, text: str) -> bool:
    """Compare character by character, but addresses and hashes by what they are."""
    if text == wanted:
        return True
    try:
        return ip_address(refang(visible(text)).strip("[]").partition("%")[0]) == ip_address(wanted)
    except ValueError:
        pass
    return re.fullmatch(r"[0-9a-fA-F]{32,128}", wanted) is not None and normalise(text) == normalise(wanted)


def file_type(text: str) -> str | None:
    """Return the short name of a file type, from what `file` prints or a person says."""
    form = visible(text).casefold().strip(" .")
    # `file` names its input first, unless it is told not to.
    form = re.sub(r"^(?:\S+|/dev/stdin): +", "", form).partition(",")[0].strip()
    form = re.sub(r"^(?:an?|the) |\s+(?:file|picture)$", "", form)
    form = re.sub(r"\s*\((?:portable network graphics|portable document format)\)", "", form)
    return next((name for name, pattern in _TYPES.items() if re.fullmatch(pattern, form)), None)


def account(gold: Gold, text: str) -> str | None:
    """Return the user of DOMAIN\\user and the like, where an account is asked for."""
    match = _ACCOUNT.fullmatch(unwrap(visible(text)))
    if match and (_ASKS_ACCOUNT.search(gold.asked) or not re.search(r"\w", gold.asked)):
        return match["a"] or match["b"] or match["c"] or match["d"]
    return None


def undecided(text: str, beside: str = "") -> bool:
    """Say whether a text denies or hedges; the words of `beside`, which are part of the gold, do not count."""
    rest = re.sub(re.escape(beside), " ", text, flags=re.IGNORECASE) if beside else text
    return negated(rest) or hedged(rest)
