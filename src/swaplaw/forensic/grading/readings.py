"""The ways in which one right answer may be written: restated, as a tool prints it, with its domain or its type."""

import re
from ipaddress import ip_address

from swaplaw.answers.characters import visible
from swaplaw.answers.hedges import hedged, negated
from swaplaw.answers.text import normalise, refang, unwrap
from swaplaw.forensic.challenges.gold import Gold

_SEPARATOR = re.compile(r"\s*(?::|=|->|→)\s+|\s+(?:is|was|are|were)\s+", re.IGNORECASE)
_FILLERS = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "in",
        "on",
        "for",
        "to",
        "this",
        "that",
        "it",
        "its",
        "s",
        "is",
        "was",
        "final",
        "answer",
        "value",
        "result",
        "found",
        "as",
        "by",
        "with",
        "from",
        "my",
        "at",
    ]
)
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
_ACCOUNT = re.compile(r"[\w.$-]+\\([\w.$-]+)")
_ASKS_ACCOUNT = re.compile(r"\b(?:user|account|log(?:ged)?[ -]?on|log-?in)\b", re.IGNORECASE)


def candidates(gold: Gold, answer: str) -> list[str]:
    """Return the answer and what is left of it when the question's own words are taken away."""
    text = unwrap(answer)
    boxed = re.fullmatch(r"\\boxed\{(.*)\}", text)
    found = [text, answer.strip()] + ([boxed[1]] if boxed else [])
    for separator in _SEPARATOR.finditer(text):
        head, tail = text[: separator.start()], text[separator.end() :]
        if _repeats(head, gold.asked):
            found.append(unwrap(tail.strip()))
            found.append(unwrap(tail.strip().rstrip(".")))
        if separator.group().strip(" \t\n:=->→") != "" and _repeats(tail, gold.asked):
            found.append(unwrap(head))
    words = text.split()
    for number in range(max(1, len(words) - 12), len(words) - 1):
        if _repeats(" ".join(words[number:]), gold.asked):
            found.append(unwrap(" ".join(words[:number])))
    remark = re.fullmatch(r"(.+?)\s*\(([^()]*)\)\.?", text, re.DOTALL)
    if remark and _repeats(remark[2], gold.asked):
        found.append(unwrap(remark[1]))
    return list(dict.fromkeys(one for one in found if one))


def _repeats(words: str, asked: str) -> bool:
    """Say whether some words only repeat the question: they claim nothing."""
    known = {_stem(word) for word in re.findall(r"\w+", asked.casefold())}
    said = [word for word in re.findall(r"\w+", visible(words).casefold()) if word not in _FILLERS]
    return bool(words.strip()) and all(_stem(word) in known for word in said) and (bool(known) or not said)


def _stem(word: str) -> str:
    return word.removesuffix("s")


def same_text(gold: Gold, wanted: str, text: str) -> bool:
    """Compare character by character, but addresses and hashes by what they are."""
    if text == wanted:
        return True
    try:
        return ip_address(refang(visible(text)).strip("[]")) == ip_address(wanted)
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
    """Return the user of DOMAIN\\user, where an account is asked for."""
    match = _ACCOUNT.fullmatch(unwrap(visible(text)))
    if match and (_ASKS_ACCOUNT.search(gold.asked) or not re.search(r"\w", gold.asked)):
        return match[1]
    return None


def undecided(text: str, beside: str = "") -> bool:
    """Say whether a text denies or hedges; the words of `beside`, which are part of the gold, do not count."""
    rest = re.sub(re.escape(beside), " ", text, flags=re.IGNORECASE) if beside else text
    return negated(rest) or hedged(rest)
