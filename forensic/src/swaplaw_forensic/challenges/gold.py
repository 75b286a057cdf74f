"""Gold answers: what only grading may know. Nothing on the agent's side imports this module."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from swaplaw.answers.times import moment
from swaplaw.errors import InputError, listing, quote
from swaplaw_forensic.challenges.manifest import Challenge, Question, check_keys, read_toml
from swaplaw_forensic.reading.spans import instant, unit_of
from swaplaw_forensic.synthetic.case import build_case

MEASURES = ("f1", "recall")
_NEEDS = {
    "exact": "accept", "normalised": "accept", "number": "accept", "time": "accept",
    "set": "items", "regex": "patterns", "rubric": "rubric",
}  # fmt: skip
_KEYS: dict[str, Any] = {
    "accept": list, "tolerance": (int, str), "zones": list, "items": list, "optional": list, "beside": list,
    "threshold": (int, float), "measure": str, "patterns": list, "rubric": str, "category": str,
    "unit": str, "keep_case": bool, "at_most": int,
    "ungradeable": str, "erratum": str, "printed": list, "source": str, "note": str,
}  # fmt: skip

_SECRET = re.compile(r"\b(?:password|passphrase|pass phrase|passcode)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Item:
    """One member of a set: one of `names`, or a row that holds every part of `has` and the moment `when`."""

    names: tuple[str, ...] = ()
    has: tuple[tuple[str, ...], ...] = ()
    when: tuple[str, ...] = ()
    when_required: bool = True


@dataclass(frozen=True)
class Gold:
    """What is accepted for one question."""

    question: str
    tier: str
    category: str
    accept: tuple[str, ...] = ()
    tolerance: Fraction = Fraction(0)
    zones: tuple[str, ...] = ("UTC",)
    items: tuple[Item, ...] = ()
    optional: tuple[Item, ...] = ()
    beside: tuple[str, ...] = ()
    """Words that may stand in a row without being a claim, such as the model of a device."""
    threshold: Fraction = Fraction(1)
    measure: str = "f1"
    at_most: int = 0
    """Rows of a list beyond which it is a spray and no answer, where recall is measured; 0: three times the items."""
    unit: str | None = None
    """Of a number; another unit is converted, and one that measures something else is wrong."""
    keep_case: bool = False
    """Upper and lower case differ, as in passwords."""
    asked: str = ""
    """The question: an answer may repeat its words."""
    patterns: tuple[str, ...] = ()
    rubric: str = ""
    ungradeable: str = ""
    erratum: str = ""
    printed: tuple[str, ...] = ()
    """What an erroneous key prints, where the evidence says otherwise: graded incorrect, and said so."""
    source: str = ""

    def __hash__(self) -> int:
        """Return a hash that costs little: golds are keys of caches that are asked for every row of a list."""
        return hash((self.question, self.tier, self.category))


def load_gold(challenge: Challenge) -> dict[str, Gold]:
    """Load or compute the answers of every question of a challenge."""
    if challenge.kind == "synthetic":
        # No file at all: the answers are computed again from the seed.
        where, answers = f"{challenge.ref} (computed)", _computed(challenge)
    else:
        file = challenge.folder / "gold.toml"
        if not file.is_file():
            raise InputError(
                f"challenge {quote(challenge.id)} has no gold file: {file} is missing; "
                "write it (see docs/forensic.md), or leave this challenge's logs out"
            )
        where, answers = str(file), _answers(read_toml(file), challenge, file)
    missing = [name for name in challenge.question_ids if name not in answers]
    if missing:
        raise InputError(
            f"{where}: lacks a gold answer for {listing(missing)}; "
            'add [answers.ID], or say there why it cannot be graded with ungradeable = "..."'
        )
    return {q.id: parse_gold(q, answers[q.id], f"{where}: answers.{q.id}") for q in challenge.questions}


def _computed(challenge: Challenge) -> dict[str, Any]:
    topics = {asked.topic: asked.gold for asked in build_case(challenge.id, challenge.seed or 0, challenge.level).asked}
    return {question.id: topics[question.topic] for question in challenge.questions}


def _answers(table: Mapping[str, Any], challenge: Challenge, file: Path) -> dict[str, Any]:
    check_keys(
        table,
        {"challenge": str, "source": str, "answers": dict},
        {"challenge": str, "answers": dict},
        f"{file}",
    )
    if table["challenge"] != challenge.id:
        raise InputError(f"{file}: is for challenge {quote(table['challenge'])}, not {quote(challenge.id)}")
    answers: dict[str, Any] = table["answers"]
    strangers = [name for name in answers if name not in challenge.question_ids]
    if strangers:
        raise InputError(f"{file}: answers {listing(strangers)} to questions that the manifest does not ask")
    return answers


def parse_gold(question: Question, row: Any, where: str) -> Gold:
    """Turn one table of a gold file into a `Gold`, checked for its question's tier."""
    check_keys(row, _KEYS, {}, where)
    if not row.get("ungradeable") and not row.get(_NEEDS[question.tier]):
        raise InputError(f'{where}: tier {question.tier} needs {_NEEDS[question.tier]!r}, or ungradeable = "why"')
    measure = row.get("measure", "f1")
    if measure not in MEASURES:
        raise InputError(f"{where}: measure {quote(measure)} is not known; accepted are {listing(MEASURES)}")
    try:
        gold = Gold(
            question=question.id,
            tier=question.tier,
            category=row.get("category") or _category(row),
            accept=tuple(str(value) for value in row.get("accept", ())),
            tolerance=Fraction(row.get("tolerance", 0)),
            zones=tuple(row.get("zones", ("UTC",))),
            items=tuple(_item(item) for item in row.get("items", ())),
            optional=tuple(_item(item) for item in row.get("optional", ())),
            beside=tuple(row.get("beside", ())),
            threshold=Fraction(str(row.get("threshold", 1))),
            measure=measure,
            at_most=row.get("at_most", 0),
            unit=row.get("unit") or _unit_asked(question),
            keep_case=row.get("keep_case", _asks_secret(question.text)),
            asked=question.text,
            patterns=tuple(row.get("patterns", ())),
            rubric=row.get("rubric", ""),
            ungradeable=row.get("ungradeable", ""),
            erratum=row.get("erratum", ""),
            printed=tuple(row.get("printed", ())),
            source=row.get("source", ""),
        )
        _check(gold)
    except (ValueError, TypeError, re.error) as error:
        raise InputError(f"{where}: {error}") from None
    return gold


def _check(gold: Gold) -> None:
    """Refuse gold that the grader could not read."""
    for zone in gold.zones:
        if moment(f"2000-01-01 00:00 {zone}") is None:
            raise ValueError(f"not a zone: {zone}")
    for pattern in gold.patterns:
        re.compile(pattern)
    moments = list(gold.accept) if gold.tier == "time" else []
    for text in moments + [text for item in gold.items + gold.optional for text in item.when]:
        instant(text)
    if gold.tier == "number":
        for text in gold.accept:
            Fraction(text)
    if gold.unit is not None and unit_of(gold.unit) is None:
        raise ValueError(f"unit {quote(gold.unit)} is not known: write it in full, such as seconds, bytes or EUR")
    if not 0 < gold.threshold <= 1:
        raise ValueError(f"threshold {gold.threshold} must be above 0 and at most 1")


def _asks_secret(text: str) -> bool:
    """Say whether a password is asked for, rather than whose it is or how often it was tried."""
    about = re.match(r"(?:which (?:account|user)(?:'s)?|whose|how many)\b", text, re.IGNORECASE)
    return _SECRET.search(text) is not None and about is None


def _unit_asked(question: Question) -> str | None:
    """Return the unit that a question asks for: "... in seconds?"."""
    if question.tier != "number":
        return None
    named = [word.casefold() for word in re.findall(r"\b(?:in|how many) ([A-Za-z€$£%]+)", question.text, re.IGNORECASE)]
    return next((word for word in named if unit_of(word)), None)


def _item(row: Any) -> Item:
    if isinstance(row, str):
        return Item(names=(row,))
    if isinstance(row, list):
        return Item(names=tuple(row))
    strangers = set(row) - {"has", "when", "when_required"}
    if strangers or not (row.get("has") or row.get("when")):
        raise ValueError(f"an item is a text, a list of texts, or a table with has and when, not {quote(row)}")
    when = row.get("when", ())
    return Item(
        has=tuple(tuple(part.split("|")) for part in row.get("has", ())),
        when=(when,) if isinstance(when, str) else tuple(when),
        when_required=row.get("when_required", True),
    )


def _category(row: Mapping[str, Any]) -> str:
    """Return the name of the gold category: the first accepted answer, or the members of the set."""
    if row.get("accept"):
        return str(row["accept"][0])
    if row.get("items"):
        return "; ".join(_item_name(_item(item)) for item in row["items"])
    return "correct"


def _item_name(item: Item) -> str:
    if item.names:
        return item.names[0]
    return " ".join([part[0] for part in item.has] + list(item.when[:1]))
