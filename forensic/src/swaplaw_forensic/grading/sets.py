"""The set tier: rows of a list against the members of a set, each row for one member only."""

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from swaplaw.answers.characters import visible
from swaplaw.answers.hedges import bounds, hedged, negated
from swaplaw_forensic.challenges.gold import Gold, Item
from swaplaw_forensic.grading.beside import MARK, WORDS_OF_RECORD, claims, little, strange
from swaplaw_forensic.grading.readings import without_repetition
from swaplaw_forensic.reading.lists import fields, is_detail, rows, splittings
from swaplaw_forensic.reading.quantities import Times, instant, numbers, times
from swaplaw_forensic.reading.text import equivalents, normalise, refang, unwrap

_ZERO = re.compile(r"(?<!\w)(?:0|zero|none|never|no)(?!\w)", re.IGNORECASE)
# What `uniq -c` prints.
_COUNTED = re.compile(r"\d+ ([^\W\d].*)")
# A person and an address: Anna <anna@example.org>.
_MAILBOX = re.compile(r"[^<>@]*<([^<>\s]+@[^<>\s]+)>")
# What nmap prints of a port.
_PORT = re.compile(r"(?P<number>\d+)/(?P<protocol>tcp|udp)(?: +open(?: +\S+)*)?")
_REMARK = re.compile(r"(.+?)\s*\(([^()]*)\)", re.DOTALL)
_LABEL = re.compile(r": |(?<=\w)=|\s=\s|\s->\s|\s→\s")


_normal = lru_cache(maxsize=8192)(normalise)


def overlap(gold: Gold, answer: str) -> Fraction:
    """Return F1 or recall of the reading of the list that fits best: how it was punctuated is not what was asked."""
    return max((_score(gold, reading) for reading in _readings(gold, answer)), default=Fraction(0))


def _readings(gold: Gold, answer: str) -> list[list[str]]:
    """Return the ways to punctuate the list; one mixes lines kept whole with lines split into their fields."""
    # A line that hedges stays whole: split, its names would lose what takes them back.
    hedging = [row for row in rows(answer) if hedged(row)]
    if hedging:
        sure = "\n".join(row for row in rows(answer) if not hedged(row))
        return [[*reading, *hedging] for reading in (_readings(gold, sure) if sure else [[]])]
    mixed = [part for row in rows(answer) for part in ([row] if _one_thing(row) else fields(row))]
    # Single words would lose what denies them, and names within a phrase would be taken for it.
    words = not _denies(answer) and all(item.names for item in gold.items)
    return [*(splittings(answer) if words else splittings(answer)[:-1] or splittings(answer)), mixed]


def _one_thing(row: str) -> bool:
    return sum(not is_detail(field) for field in fields(row)) <= 1


def _score(gold: Gold, found: Sequence[str]) -> Fraction:
    lines = list({_normal(row) if not gold.keep_case else row: row for row in found if _normal(row)}.values())
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
        elif not negated(row) or any(_is(item, _affirmed(row), gold) for item in gold.items):
            extra += _claims(row)  # a row that denies something foreign claims nothing
    return extra


def _claims(row: str) -> int:
    """Count what a row may name: a hundred names on one line are a hundred."""
    words = len(row.split())
    return max(1, len(claims(row)), words // 2 if words > WORDS_OF_RECORD else 0)


def _affirmed(row: str) -> str:
    return re.sub(r"\b(?:not|never|no|n't)\b", " ", row, flags=re.IGNORECASE)


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


def _is(item: Item, row: str, gold: Gold) -> bool:
    return _named(item, row, gold) if item.names else _holds_all(item, row, gold)


def _named(item: Item, row: str, gold: Gold) -> bool:
    """Say whether a row is one of the names: bare, labelled, or with details beside it."""
    if hedged(row):
        return False
    if gold.keep_case:
        return not _texts(row, gold).isdisjoint(item.names)
    accepted = _accepted(item.names)
    forms = _row_forms(row, gold)
    if not any("/" in form for form in accepted):
        forms |= {form.rsplit("/", 1)[-1] for form in forms if "://" not in form}
    return not forms.isdisjoint(accepted)


@lru_cache(maxsize=4096)
def _texts(row: str, gold: Gold) -> frozenset[str]:
    """Return the texts that a row may stand for."""
    texts = [row, *(row[label.end() :] for label in _LABEL.finditer(row) if not _denies(row[: label.start()]))]
    remarks = [match for text in texts if (match := _REMARK.fullmatch(text))]
    texts += [match[1] for match in remarks if _only_describes(match[1], match[2], gold)]
    texts += [field for text in texts for field in fields(text) if _only_details_beside(field, text)]
    texts += [part for text in texts for part in without_repetition(text, gold.asked)]
    texts += [match[1] for text in texts if (match := _COUNTED.fullmatch(text))]
    texts += [match[1] for text in texts if (match := _MAILBOX.fullmatch(text))]
    port, asked = _PORT.fullmatch(row), gold.asked.casefold()
    if port and (port["protocol"] in asked or not re.search(r"\b(?:tcp|udp)\b", asked)):
        texts.append(port["number"])
    return frozenset(unwrap(visible(text)) for text in texts)


@lru_cache(maxsize=4096)
def _row_forms(row: str, gold: Gold) -> frozenset[str]:
    return frozenset(_normal(text) for text in _texts(row, gold))


def _only_describes(main: str, remark: str, gold: Gold) -> bool:
    """Say whether a remark in brackets is about what stands before it; a hash may be followed by its file's name."""
    named = re.fullmatch(r"[0-9a-f]{32,128}", main.strip(), re.IGNORECASE) and len(remark.split()) == 1
    return not _denies(remark) and (bool(named) or not strange(remark.casefold(), _known(gold)))


@lru_cache(maxsize=4096)
def _accepted(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(form for name in names for form in equivalents(name))


@lru_cache(maxsize=4096)
def _row_times(row: str) -> Times:
    return times(row, epochs=False)


def _only_details_beside(field: str, text: str) -> bool:
    others = [other for other in fields(text) if other != field]
    return bool(others) and all(is_detail(other) for other in others)


def _denies(text: str) -> bool:
    return negated(text) or hedged(text)


def _holds_all(item: Item, row: str, gold: Gold) -> bool:
    """Say whether a row holds all parts and the time of a record, and little else."""
    loose = _loose(row)
    if any(_without(loose, parts) is None for parts in item.has):
        return False
    if item.when:
        read = _row_times(row)
        wanted = [instant(one) for one in item.when]
        hits = [any(moment.matches(one, gold.tolerance, gold.zones) for one in wanted) for moment in read.moments]
        # A row may hold no other time: that would pair any name with any time.
        if not all(hits) or (not hits and (item.when_required or read.undated)):
            return False
        loose = _loose(read.rest(MARK))
    rest = loose
    for parts in item.has:
        taken = _without(rest, parts)
        if taken is None:
            return False
        rest = taken
    spelt = [_loose(part) for parts in item.has for part in parts]
    if hedged(rest) or (negated(rest) and "0" not in spelt):
        return False
    if any(part.isdecimal() for part in spelt) and bounds(re.sub(r"[-=]>", " ", loose)):
        return False
    return little(rest, spelt, _known(gold), record=len(item.has) + bool(item.when) > 1)


def _without(text: str, parts: Sequence[str]) -> str | None:
    """Return the text with a mark in place of the first of some spellings; None if it holds none of them."""
    for part in parts:
        found = _ZERO.search(text) if part == "0" else _find(text, part)
        if found is not None:
            return f"{text[: found.start()]}{MARK}{text[found.end() :]}"
    return None


def _find(text: str, part: str) -> re.Match[str] | None:
    if part.isdecimal():
        for match in re.finditer(r"(?<![\w.])(?:\d{1,3}(?:[ ,.']\d{3})+|\d+)(?![\w]|\.\d)", text):
            if numbers(match.group().lstrip("0") or "0") == [Fraction(part)]:
                return match
    return re.search(rf"(?<!\w){re.escape(_loose(part))}(?!\w)", text)


@lru_cache(maxsize=1024)
def _known(gold: Gold) -> frozenset[str]:
    """Return the words that claim nothing new: of the question, and of all members."""
    names = [name for item in gold.items + gold.optional for name in item.names]
    parts = [part for item in gold.items + gold.optional for spellings in item.has for part in spellings]
    return frozenset(re.findall(r"[^\W\d_][\w'-]*", " ".join([gold.asked, *gold.beside, *names, *parts]).casefold()))


@lru_cache(maxsize=4096)
def _loose(text: str) -> str:
    return refang(visible(text)).replace("\\", "/").casefold()
