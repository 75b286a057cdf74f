"""Read the table of graded answers in tests/data/grading."""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

from swaplaw_forensic.challenges.gold import Gold, load_gold, parse_gold
from swaplaw_forensic.challenges.manifest import Question, Tier, load, shipped

from testbed.places import DATA

OUTCOMES = {"right": ("correct",), "wrong": ("incorrect", "unsure"), "abstains": ("abstained",), "missed": ("correct",)}
FILES = sorted((DATA / "grading").glob("*.toml"))
BATCHES = sorted((DATA / "grading" / "batches").glob("*.toml"))
Case = tuple[str, Gold, str, tuple[str, ...]]
"""Name, gold, answer, and the outcomes that it may have: what is wrong may hold the right answer, too."""


def _rows(name: str, key: Gold, answers: dict[str, list[str]], *, missed: bool = False) -> Iterator[Case]:
    for kind, texts in answers.items():
        for text in texts if missed or kind != "missed" else ():
            yield name, key, text, OUTCOMES[kind]


def _own(name: str, tier: str, table: dict[str, Any], where: str) -> Gold:
    return parse_gold(Question(name, table["asked"], "text", cast("Tier", tier)), table["gold"], f"{where}: {name}")


def cases() -> Iterator[Case]:
    """One file for each tier, with golds of its own."""
    for file in FILES:
        for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items():
            yield from _rows(f"{file.stem}-{name}", _own(name, file.stem, table, file.name), table["answers"])


@cache
def shipped_golds() -> dict[str, Gold]:
    """The golds of the real challenges, by question."""
    real = [load(name) for name in shipped() if not name.startswith("synthetic")]
    return {question: key for challenge in real for question, key in load_gold(challenge).items()}


def batch(file: Path, *, missed: bool = False) -> Iterator[Case]:
    """One file of hard answers; `missed` ones are right and not accepted."""
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    for name, answers in tables.get("shipped", {}).items():
        yield from _rows(f"{file.stem}-{name}", shipped_golds()[name], answers, missed=missed)
    for name, table in tables.get("own", {}).items():
        key = _own(name, table["tier"], table, file.name)
        yield from _rows(f"{file.stem}-{name}", key, table["answers"], missed=missed)


TABLE = [*cases(), *(case for file in BATCHES for case in batch(file))]
