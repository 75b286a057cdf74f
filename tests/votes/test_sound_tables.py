"""Honest votes of unusual tasks are not accused, and the faults that look like them still are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.votes.checks import Check, find_checks

Text = Callable[[np.random.Generator], str]


def free(wrong: Text, gold: Text, n: int = 100, right: float = 0.5, samples: int = 6) -> sl.Votes:
    """Two models that give the right answer half of the time, and any other answer else."""
    rng = np.random.default_rng(5)
    rows = []
    for question in range(n):
        meant = gold(rng)
        for model in "ab":
            share = rng.beta(2 * right, 2 - 2 * right)
            for _ in range(samples):
                rows.append((f"q{question}", model, meant if rng.random() < share else wrong(rng), meant))
    return sl.votes_from(pl.DataFrame(rows, schema=["question", "model", "answer", "gold"], orient="row"))


def drawn(letters: str, size: int) -> Text:
    return lambda rng: "".join(rng.choice(list(letters), size))


def accused(votes: sl.Votes | sl.Tally) -> list[tuple[str, str | None]]:
    return [(check.name, check.model) for check in find_checks(votes) if check.severity == "error"]


def errors(found: tuple[Check, ...], name: str) -> list[str | None]:
    return [check.model for check in found if (check.name, check.severity) == (name, "error")]


def chosen(*texts: str) -> Text:
    return lambda rng: str(rng.choice(texts))


def joined(*parts: Text) -> Text:
    return lambda rng: "".join(part(rng) for part in parts)


SQUARE = joined(drawn("abcdefgh", 1), drawn("12345678", 1))
SYLLABLE = joined(drawn("bcdfglmnprst", 1), drawn("aeiou", 1))
NAME = joined(drawn("BCDFGLMN", 1), drawn("aeiou", 1), SYLLABLE, SYLLABLE)
DATE = joined(drawn("123456789", 1), chosen(" March ", " May ", " July "), drawn("123456789", 4))
SOUND = {
    "DNA": drawn("ACGT", 12),
    "chess": joined(chosen("K", "Q", "R", "B", "N", ""), SQUARE),
    "word": joined(SYLLABLE, SYLLABLE, SYLLABLE),
    "name": NAME,
    "full name": joined(NAME, chosen(" "), NAME),
    "written date": DATE,
    "file": joined(SYLLABLE, SYLLABLE, chosen(".py", ".txt", ".md")),
    "identifier": joined(chosen("get_", "set_", "make_"), SYLLABLE, SYLLABLE),
}


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND)
def test_short_answers_that_rarely_repeat_are_no_prose_if_golds_look_like_them(text: Text) -> None:
    votes = free(text, text)
    assert not accused(votes)
    assert not accused(votes.tally())


@pytest.mark.parametrize(
    ("wrong", "gold"),
    [
        (joined(chosen("wrong-"), drawn("0123456789", 6)), chosen("right")),
        (joined(chosen("wrong-"), drawn("0123456789", 6)), joined(chosen("right-"), drawn("0123456789", 4))),
        (joined(chosen("no "), NAME, chosen(" "), NAME, chosen(" "), NAME), NAME),
        (NAME, drawn("ABCDEFGHIJ", 1)),
        (joined(NAME, NAME, NAME, NAME), NAME),
        (joined(NAME, drawn("0123456789", 3)), NAME),
    ],
)
def test_short_wrong_texts_unlike_gold_are_graded_prose(wrong: Text, gold: Text) -> None:
    assert errors(find_checks(free(wrong, gold)), "graded_prose")
