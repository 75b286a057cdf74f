"""The table of graded answers in tests/data/grading: people add lines there, and no code."""

import re
from pathlib import Path
from typing import get_args

import pytest

from swaplaw_forensic.challenges.gold import Gold
from swaplaw_forensic.challenges.manifest import Tier
from swaplaw_forensic.grading.grade import grade

from testbed.grading import BATCHES, TABLE, batch, shipped_golds


@pytest.mark.parametrize("name", sorted({name for name, _, _, _ in TABLE}))
def test_table(name: str) -> None:
    graded = [(answer, outcome, grade(key, answer)) for named, key, answer, outcome in TABLE if named == name]
    assert [(answer, outcome, got.why) for answer, outcome, got in graded if got.outcome not in outcome] == []


def test_table_is_large_and_covers_the_tiers() -> None:
    assert len(TABLE) >= 300
    for tier in set(get_args(Tier)) - {"rubric"}:
        assert {"correct", "incorrect"} <= {
            one for _, key, _, outcome in TABLE for one in outcome if key.tier == tier
        }, tier


SETS = [key for key in shipped_golds().values() if key.tier == "set" and not key.ungradeable]


SINGLE = [key for key in shipped_golds().values() if key.tier in ("exact", "normalised", "number", "time")]


def members(key: Gold) -> list[str]:
    return [" ".join([*item.names[:1], *(part[0] for part in item.has), *item.when[:1]]) for item in key.items]


@pytest.mark.parametrize("key", SETS, ids=lambda key: key.question)
def test_right_items_among_a_hundred_wrong_ones_are_no_answer(key: Gold) -> None:
    right, junk = members(key), [f"wrong{number}.x" for number in range(100)]
    assert grade(key, "\n".join(right)).outcome == "correct"
    for mark in ("\n", ", ", " ", "/"):
        for answer in (mark.join(right + junk), "\n".join([*right, mark.join(junk)])):
            assert grade(key, answer[:4000]).outcome != "correct", repr(mark)


@pytest.mark.parametrize("key", SETS, ids=lambda key: key.question)
def test_wrong_names_in_every_row_are_no_answer(key: Gold) -> None:
    names = [f"zor{first}{second}" for first in "abcdefgh" for second in "bcdfghkl"]
    for beside in (" {0} {1}", " ({0}, {1})", " {0}.txt {1}.txt", "/{0}/{1}", ", {0}, {1}", " and {0}"):
        if key.measure == "recall" and beside.startswith((",", " and")):
            continue  # further members are allowed here, up to a number
        if ".txt" in beside and re.fullmatch("[0-9a-fA-F]{32}", members(key)[0]):
            continue  # the name of a file behind a hash is what md5sum prints
        rows = [f"{row}{beside.format(names[2 * n], names[2 * n + 1])}" for n, row in enumerate(members(key))]
        assert grade(key, "\n".join(rows)).outcome != "correct", rows


@pytest.mark.parametrize("file", BATCHES, ids=lambda file: file.stem)
def test_few_right_answers_are_missed(file: Path) -> None:
    """What is listed as missed is right and not accepted: move it to `right` when it is."""
    right = [case for case in batch(file, missed=True) if case[3] == ("correct",)]
    missed = [answer for _, key, answer, _ in right if grade(key, answer).outcome != "correct"]
    listed = {answer for _, _, answer, _ in right} - {answer for _, _, answer, _ in batch(file)}
    assert set(missed) == listed
    assert len(missed) <= 0.15 * len(right)


NOT_SAID = (
    "not {}", "It is not {}", "never {}", "{} or something else", "maybe {}", "{}?", "I think {}",
    "either {} or nothing", "{} (not certain)", "anything but {}", "probably {}", "{}, but I am unsure",
    "it could be {}", "{} is wrong",
    "{} seems unlikely", "hardly {}", "{} has been ruled out", "it cannot be {}", "{} was excluded", "wrong: {}",
    "everything except {}", "by no means {}", "{}, or not", "apparently {}", "{} is a decoy", "I'm guessing {}",
)  # fmt: skip
SAID = ("{}", "{}.", "`{}`", "**{}**", "Answer: {}", "The answer is {}.", '"{}"', " {}\n", "Final answer: {}")


@pytest.mark.parametrize("key", SINGLE, ids=lambda key: key.question)
def test_what_is_denied_or_hedged_is_not_said(key: Gold) -> None:
    value = key.accept[0]
    assert [words for words in NOT_SAID if grade(key, words.format(value)).outcome == "correct"] == []
    assert [words for words in SAID if grade(key, words.format(value)).outcome != "correct"] == []


@pytest.mark.parametrize("key", SETS, ids=lambda key: key.question)
def test_a_list_of_what_is_denied_or_hedged_is_not_said(key: Gold) -> None:
    for words in NOT_SAID:
        rows = [words.format(row) for row in members(key)]
        assert grade(key, "\n".join(rows)).outcome != "correct", rows


def test_partial_credit_is_kept() -> None:
    key = next(key for key in SETS if key.question == "dlc-13")
    score = grade(key, "Firefox, Chrome, Internet Explorer, Opera, Safari").score
    assert score is not None
    assert 0.5 < score < 0.6
