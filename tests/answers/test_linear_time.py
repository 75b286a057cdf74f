"""No reply takes longer than its length allows: the work of readers grows no faster than the text, up to its cap."""

from __future__ import annotations

import cProfile
import pstats
from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from swaplaw.answers import Reader, read_choice
from swaplaw.answers.thinking import LONGEST, spoken

PIECES = [
    *("[[A]] ", "A B C D ", "\\boxed{A} ", "so B. ", "答案是A，"),
    *("\n", "(", "[", "\\boxed{", "answer ", "answer:", "the answer is B ", "<answer>", "**A ", "<think>", "</think>"),
    *("a\n", "answer:(((((", "\\", "A ", "so A.", "so A.\n", "The answer is not A, ", "A or B ", "|", "| A |\n", "{"),
    *('"answer": "', '{"a":', "wait, no: ", "actually ", "<|channel|>", "~~", "A: wrong\n", "```json\n{", "\u200b"),
    *("I would choose ", "the the final ", "1. ", "not A, not ", "答案", "<details ", "_", "$", "- ", "A->B "),
    *(
        '"It is A!" said ',
        '"It is A." ',
        '"',
        "'a ",
        "Tutor: A\n",
        "A and B, the latter ",
        "the third option ",
        "may I propose A ",
    ),
    *("> Answer: B\n", "I, ", "A. x\n", "A? No. ", "Q: x\nA: ", "答えはA", "the wise think ", "all is true except A "),
    *(
        "\\boxed{A} error ",
        ", and that is my answer",
        "A (crossed out) ",
        "its b because ",
        ", unless I misread ",
        "A) x\n\ny\n",
    ),
]
GENEROUS = 40
"""Eight times the text would take 64 times as long if the time were quadratic, and about 8 times if it is linear."""


def time_of(reader: Reader, text: str) -> float:
    times = []
    for _ in range(3):
        started = process_time()
        reader.read(text)
        times.append(process_time() - started)
    return max(min(times), 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["choice", "boxed", "json", "text"])
@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_no_faster_than_the_text(kind: str, piece: str) -> None:
    reader, short = Reader(kind), LONGEST // 8
    small, large = piece * (short // len(piece)), piece * (8 * short // len(piece))
    assert time_of(reader, large) < GENEROUS * time_of(reader, small)


SOME = st.lists(st.sampled_from(PIECES), max_size=3).map("".join)


@given(SOME, SOME.filter(bool), SOME, st.integers(1, 700))
@settings(max_examples=60, deadline=None)
@example("The answer", "\n", "", 20_000)
@example("", '"It is A." ', '"', 700)
def test_calls_grow_no_faster_than_the_text(before: str, piece: str, after: str, times: int) -> None:
    """Counted rather than timed: how many functions are called for each character."""
    text = before + piece * times + after
    profile = cProfile.Profile()
    profile.runcall(read_choice, text, 4)
    calls = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    assert calls < 5000 + 60 * len(text)


def test_only_the_end_of_what_is_spoken_is_read() -> None:
    assert len(spoken("x" * 10 * LONGEST)) == LONGEST
    assert read_choice("x " * LONGEST + "\nANSWER: B", 4) == "B"
    assert read_choice("\n" * 700, 4) is None
