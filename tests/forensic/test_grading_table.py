"""The table of graded answers in tests/data/grading: people add lines there, and no code."""

import pytest

from swaplaw.forensic.challenges.gold import Gold, load_gold
from swaplaw.forensic.challenges.manifest import TIERS, load, shipped
from swaplaw.forensic.grading.grade import grade

from support.grading import TABLE


@pytest.mark.parametrize(("name", "key", "answer", "outcome"), TABLE, ids=[f"{row[0]}-{row[2]!r}" for row in TABLE])
def test_table(name: str, key: Gold, answer: str, outcome: str) -> None:
    assert grade(key, answer).outcome == outcome, f"{name}: {grade(key, answer).why}"


def test_table_is_large_and_covers_the_tiers() -> None:
    assert len(TABLE) >= 300
    for tier in set(TIERS) - {"rubric"}:
        assert {"correct", "incorrect"} <= {outcome for _, key, _, outcome in TABLE if key.tier == tier}, tier


SETS = [
    key
    for challenge in shipped()
    if load(challenge).kind == "real"
    for key in load_gold(load(challenge)).values()
    if key.tier == "set" and not key.ungradeable
]


def members(key: Gold) -> list[str]:
    return [" ".join([*item.names[:1], *(part[0] for part in item.has), *item.when[:1]]) for item in key.items]


@pytest.mark.parametrize("key", SETS, ids=lambda key: key.question)
def test_right_items_among_a_hundred_wrong_ones_are_no_answer(key: Gold) -> None:
    right, junk = members(key), [f"wrong{number}.x" for number in range(100)]
    assert grade(key, "\n".join(right)).outcome == "correct"
    for mark in ("\n", ", ", " ", "/"):
        for answer in (mark.join(right + junk), "\n".join([*right, mark.join(junk)])):
            assert grade(key, answer[:4000]).outcome != "correct", repr(mark)


def test_partial_credit_is_kept() -> None:
    key = next(key for key in SETS if key.question == "dlc-13")
    score = grade(key, "Firefox, Chrome, Internet Explorer, Opera, Safari").score
    assert score is not None
    assert 0.5 < score < 0.6
