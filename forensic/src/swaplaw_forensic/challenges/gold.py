"""Gold answers: what only grading may know. Nothing on the agent's side imports this module."""

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from swaplaw.answers.times import moment
from swaplaw.errors import InputError, listing, quote
from swaplaw_forensic.challenges.manifest import NO_OTHERS, Challenge, Question, Tier, checked, read_toml
from swaplaw_forensic.reading.spans import instant, unit_of
from swaplaw_forensic.synthetic.case import build_case

_NEEDS = {"set": "items", "regex": "patterns", "rubric": "rubric"}
"""Tier -> the key that it cannot do without, where that is not `accept`."""

_SECRET = re.compile(r"\b(?:password|passphrase|pass phrase|passcode)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Item:
    """One member of a set: one of `names`, or a row that holds every part of `has` and the moment `when`."""

    names: tuple[str, ...] = ()
    has: tuple[tuple[str, ...], ...] = ()
    when: tuple[str, ...] = ()
    when_required: bool = True


def _item(row: Any) -> Item:
    if isinstance(row, str | list | Item):
        return row if isinstance(row, Item) else Item(names=(row,) if isinstance(row, str) else tuple(row))
    if set(row) - {"has", "when", "when_required"} or not (row.get("has") or row.get("when")):
        raise ValueError(f"an item is a text, a list of texts, or a table with has and when, not {quote(row)}")
    when = row.get("when", ())
    return Item(
        has=tuple(tuple(part.split("|")) for part in row.get("has", ())),
        when=(when,) if isinstance(when, str) else tuple(when),
        when_required=row.get("when_required", True),
    )


Exact = Annotated[Fraction, BeforeValidator(lambda value: Fraction(str(value)))]
Items = tuple[Annotated[Item, BeforeValidator(_item)], ...]
Texts = tuple[Annotated[str, BeforeValidator(str)], ...]


@dataclass(frozen=True, config=NO_OTHERS)
class Gold:
    """What is accepted for one question."""

    question: str
    tier: Tier
    category: str
    accept: Texts = ()
    tolerance: Exact = Fraction(0)
    zones: tuple[str, ...] = ("UTC",)
    items: Items = ()
    optional: Items = ()
    beside: tuple[str, ...] = ()
    """Words that may stand in a row without being a claim, such as the model of a device."""
    threshold: Annotated[Exact, Field(gt=0, le=1)] = Fraction(1)
    measure: Literal["f1", "recall"] = "f1"
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
    printed: Texts = ()
    """What an erroneous key prints, where the evidence says otherwise: graded incorrect, and said so."""
    source: str = ""
    note: str = ""

    def __hash__(self) -> int:
        """Return a hash that costs little: golds are keys of caches that are asked for every row of a list."""
        return hash((self.question, self.tier, self.category))


def load_gold(challenge: Challenge) -> dict[str, Gold]:
    """Load or compute the answers of every question of a challenge."""
    if challenge.kind == "synthetic":
        # No file at all: the answers are computed again from the seed.
        asked = build_case(challenge.id, challenge.seed or 0, challenge.level).asked
        where = f"{challenge.ref} (computed)"
        answers = {question.id: one.gold for question, one in zip(challenge.questions, asked, strict=True)}
    else:
        file = challenge.folder / "gold.toml"
        if not file.is_file():
            raise InputError(
                f"challenge {quote(challenge.id)} has no gold file: {file} is missing; "
                "write it (see docs/forensic.md), or leave this challenge's logs out"
            )
        where, table = str(file), read_toml(file)
        if table.get("challenge") != challenge.id:
            raise InputError(f"{file}: is for challenge {quote(table.get('challenge'))}, not {quote(challenge.id)}")
        answers = table.get("answers", {})
        strangers = [name for name in answers if name not in challenge.question_ids]
        if strangers:
            raise InputError(f"{file}: answers {listing(strangers)} to questions that the manifest does not ask")
    missing = [name for name in challenge.question_ids if name not in answers]
    if missing:
        raise InputError(
            f"{where}: lacks a gold answer for {listing(missing)}; "
            'add [answers.ID], or say there why it cannot be graded with ungradeable = "..."'
        )
    return {q.id: parse_gold(q, answers[q.id], f"{where}: answers.{q.id}") for q in challenge.questions}


def parse_gold(question: Question, row: Any, where: str) -> Gold:
    """Turn one table of a gold file into a `Gold`, checked for its question's tier."""
    need = _NEEDS.get(question.tier, "accept")
    if not isinstance(row, Mapping) or not (row.get("ungradeable") or row.get(need)):
        raise InputError(f'{where}: tier {question.tier} needs {need!r}, or ungradeable = "why"')
    known = {"question": question.id, "tier": question.tier, "asked": question.text, "category": ""}
    read = {"unit": _unit_asked(question), "keep_case": _asks_secret(question.text)}
    gold = checked(Gold, {**known, **read, **row}, where)
    try:
        _check(gold)
    except (ValueError, re.error) as error:
        raise InputError(f"{where}: {error}") from None
    return gold if gold.category else replace(gold, category=_category(gold))


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


def _category(gold: Gold) -> str:
    """Return the name of the gold category: the first accepted answer, or the members of the set."""
    members = [" ".join([*item.names[:1], *(part[0] for part in item.has), *item.when[:1]]) for item in gold.items]
    return gold.accept[0] if gold.accept else "; ".join(members) or "correct"
