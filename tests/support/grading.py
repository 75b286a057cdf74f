"""Read the table of graded answers in tests/data/grading."""

import tomllib
from collections.abc import Iterator

from swaplaw.forensic.challenges.gold import Gold, parse_gold
from swaplaw.forensic.challenges.manifest import Question

from support.data import DATA

OUTCOMES = {"right": "correct", "wrong": "incorrect", "abstains": "abstained"}
FILES = sorted((DATA / "grading").glob("*.toml"))


def cases() -> Iterator[tuple[str, Gold, str, str]]:
    for file in FILES:
        for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items():
            key = parse_gold(Question(name, table["asked"], "text", file.stem), table["gold"], f"{file.name}: {name}")
            for kind, answers in table["answers"].items():
                for answer in answers:
                    yield f"{file.stem}-{name}", key, answer, OUTCOMES[kind]


TABLE = list(cases())
