"""The set tier: rows of a list against the members of a set, each row for one member only."""

import re
from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import lru_cache

from swaplaw.answers.hedges import bounds, hedged, negated
from swaplaw_forensic.challenges.gold import Gold, Item
from swaplaw_forensic.reading.kinds import MARK, key, kind_of, marked, plain
from swaplaw_forensic.reading.lists import fields, is_detail, rows, splittings
from swaplaw_forensic.reading.remarks import WORDS, doubted, known_words, without_remarks
from swaplaw_forensic.reading.spans import instant, moments

# A row that names one thing may say this much more about it; a record may have this many more words and fields.
WORDS_BESIDE, WORDS_OF_RECORD, FIELDS_OF_RECORD = 7, 12, 4
_DESCRIPTIONS, _LINKS = (frozenset(WORDS[name].split()) for name in ("descriptions", "links"))
_LABEL = re.compile(r"^[^:=>\n]{1,40}?(?:: |(?<=\w)=|\s=\s|\s->\s|\s→\s)")
_ZERO = re.compile(r"(?<!\w)(?:0|zero|none|never|no)(?!\w)", re.IGNORECASE)
# A second number beside the one that was asked for.
_MORE_NUMBERS = re.compile(rf"{MARK}\s+\d+(?![\w.:])|(?<![\w.:])\d+\s+{MARK}(?=[^{MARK}]*\Z)")


def overlap(gold: Gold, answer: str) -> Fraction:
    """Return F1 or recall of the reading of the list that fits best: how it was punctuated is not what was asked."""
    texts = dict.fromkeys((answer, without_remarks(answer, gold.asked)))
    return max(_score(gold, reading) for text in texts for reading in _readings(gold, text))


def _readings(gold: Gold, answer: str) -> list[list[str]]:
    """Return the ways to punctuate the list; one mixes lines kept whole with lines split into their fields."""
    # A line that hedges stays whole: split, its names would lose what takes them back.
    hedging = [row for row in rows(answer) if hedged(row)]
    if hedging:
        sure = "\n".join(row for row in rows(answer) if not hedged(row))
        return [[*reading, *hedging] for reading in (_readings(gold, sure) if sure else [[]])]
    things = {row: [field for field in fields(row) if not is_detail(field)] for row in rows(answer)}
    mixed = [part for row in rows(answer) for part in ([row] if len(things[row]) <= 1 else fields(row))]
    # Single words would lose what denies them, and names within a phrase would be taken for it.
    words = not (negated(answer) or hedged(answer)) and all(item.names for item in gold.items)
    return [*(splittings(answer) if words else splittings(answer)[:-1] or splittings(answer)), mixed]


def _score(gold: Gold, found: Sequence[str]) -> Fraction:
    lines = list({key(row) if not gold.keep_case else row: row for row in found if key(row)}.values())
    hits = [[_is(item, row, gold) for item in gold.items] for row in lines]
    matched = _matching(hits)
    recall = Fraction(len(matched), len(gold.items))
    if gold.measure == "recall":
        claimed = len(matched) + sum(_claims(row) for n, row in enumerate(lines) if n not in matched.values())
        return recall if claimed <= (gold.at_most or max(10, 3 * len(gold.items))) else Fraction(0)
    extra = _extra(gold, lines, hits, matched)
    # Optional members neither help nor harm.
    precision = Fraction(len(matched), len(matched) + extra) if matched else Fraction(0)
    return 2 * precision * recall / (precision + recall) if precision + recall else Fraction(0)


def _extra(gold: Gold, lines: Sequence[str], hits: Sequence[Sequence[bool]], matched: dict[int, int]) -> int:
    """Count the rows that claim something else; a member may be named twice."""
    repeats = [0] * len(gold.items)
    extra = 0
    for number, row in enumerate(lines):
        if number in matched.values() or any(_is(item, row, gold) for item in gold.optional):
            continue
        again = [place for place, hit in enumerate(hits[number]) if hit and repeats[place] == 0]
        if again:
            repeats[again[0]] += 1
            continue
        affirmed = re.sub(r"\b(?:not|never|no|n't)\b", " ", row, flags=re.IGNORECASE)
        if not negated(row) or any(_is(item, affirmed, gold) for item in gold.items):
            extra += _claims(row)  # a row that denies something foreign claims nothing
    return extra


def _claims(row: str) -> int:
    """Count what a row may name: a hundred names on one line are a hundred."""
    words = len(row.split())
    return max(1, len(_claimed(row)), words // 2 if words > WORDS_OF_RECORD else 0)


def _claimed(row: str) -> list[str]:
    """Return the fields of a row that are not details, alternatives behind a slash apart."""
    parts = [part for field in fields(row) for part in re.split(rf"(?<=[\w{MARK}])/(?=\w)", field)]
    return [part for part in parts if not is_detail(part)]


def _matching(hits: Sequence[Sequence[bool]]) -> dict[int, int]:
    """Return a largest matching, item -> row (augmenting paths)."""
    taken: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for item, hit in enumerate(hits[row]):
            if hit and item not in seen:
                seen.add(item)
                if item not in taken or place(taken[item], seen):
                    taken[item] = row
                    return True
        return False

    for row in range(len(hits)):
        place(row, set())
    return taken


@lru_cache(maxsize=65536)
def _is(item: Item, row: str, gold: Gold) -> bool:
    """Say whether a row holds all parts and the time of a member, and little else."""
    rest = plain(row)
    label = None if item.has or item.when else _LABEL.match(rest)
    if label and not doubted(label[0], gold.asked):
        rest = rest[label.end() :]
    parts = item.has or ((item.names,) if item.names else ())
    if item.when:
        found, rest = moments(rest)
        wanted = [instant(one) for one in item.when]
        hits = [any(one.near(gold_, gold.tolerance, gold.zones) for gold_ in wanted) for one in found]
        # A row may hold no other time: that would pair any name with any time.
        if not all(hits) or (not hits and item.when_required):
            return False
    for spellings in parts:
        taken = next(
            (left for one in spellings if (left := _without(rest, one, gold, record=bool(item.has))) is not None), None
        )
        if taken is None:
            return False
        rest = taken
    spelt = [one for spellings in parts for one in spellings]
    if hedged(rest) or (negated(rest) and "0" not in spelt):
        return False
    if any(part.isdecimal() for part in spelt) and bounds(re.sub(r"[-=]>", " ", row)):
        return False
    return _little(rest.replace("\\", "/").casefold(), spelt, gold, record=len(parts) + bool(item.when) > 1)


def _without(text: str, part: str, gold: Gold, *, record: bool) -> str | None:
    """Return the text with a mark in place of a part of a member; None if it does not hold it."""
    if part.isdecimal():
        grouped = f"(?:0*{part}|{re.escape(f'{int(part):,}')})"
        pattern = _ZERO.pattern if part == "0" else rf"(?<![\w.]){grouped}(?![\w]|\.\d)"
        left = re.sub(pattern, MARK, text, count=1, flags=re.IGNORECASE)
    elif record:
        left = re.sub(rf"(?<!\w){re.escape(part)}(?!\w)", MARK, text, count=1, flags=re.IGNORECASE)
    else:
        left = marked(text, part, gold.asked, gold.keep_case)
    return left if left.count(MARK) > text.count(MARK) else None


def _little(rest: str, parts: Collection[str], gold: Gold, *, record: bool) -> bool:
    """Say whether what stands beside the parts of a member is about it, rather than further answers."""
    known = _known(gold)
    text = re.sub(rf"(?:[a-z]:|(?<!\S))/\S*|\S*{MARK}/\S*\.\w+", lambda m: MARK * m[0].count(MARK), rest)
    if re.search(rf"{MARK}\s?/\s?\w|\w\s?/\s?{MARK}", text) and not record:
        return False
    if _rivals(text, parts, gold) or (sum(part.isdecimal() for part in parts) == 1 and _MORE_NUMBERS.search(text)):
        return False
    open_text = re.sub(r"\([^()]*\)", lambda m: MARK * m[0].count(MARK), text)
    foreign = [field for field in _claimed(open_text) if MARK not in field]
    words = _words(open_text)
    if record:
        strangers = any(strange(field, known) for field in _claimed(re.sub("[()]", ",", text)))
        return len(words) <= WORDS_OF_RECORD and len(foreign) <= FIELDS_OF_RECORD and not strangers
    return len(words) <= WORDS_BESIDE and not foreign and not strange(text, known)


def _words(text: str) -> list[str]:
    return re.findall(r"(?<!\w)[^\W\d_][\w'-]*", text)


def strange(text: str, known: Collection[str]) -> bool:
    """Say whether words that describe nothing stand there without making a sentence.

    >>> strange("firefox, opera", ()), strange("the default browser", ()), strange("used to erase files", ())
    (True, False, False)
    """
    words = _words(text)
    if all(word in _DESCRIPTIONS or word in known or word in _LINKS for word in words):
        return False
    return not any(word in _LINKS for word in words)


def _rivals(text: str, parts: Collection[str], gold: Gold) -> bool:
    """Say whether something of the same kind as a part stands beside it: a second name, not a remark."""
    kinds = {kind for part in parts if (kind := kind_of(part, "file hash address name")) is not None}
    return any(
        re.search(kind.pattern, text.replace(MARK, " "), re.IGNORECASE)
        for kind in kinds
        if kind.name in ("ip", "hash", "file", "uuid")
    )


@lru_cache(maxsize=1024)
def _known(gold: Gold) -> frozenset[str]:
    """Return the words that claim nothing new: of the question, and of all members."""
    names = [name for item in gold.items + gold.optional for name in item.names]
    parts = [part for item in gold.items + gold.optional for spellings in item.has for part in spellings]
    return known_words(" ".join([gold.asked, *gold.beside, *names, *parts]))
