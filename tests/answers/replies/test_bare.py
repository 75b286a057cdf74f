"""Replies that are nothing but an answer are read at once, and as the whole reader reads them."""

from __future__ import annotations

from itertools import product

import pytest

from swaplaw.answers import choice, read_choice
from swaplaw.answers.replies.bare import bare_answer

STATED = ["", "Answer: ", "ANSWER: ", "The answer is ", "the final answer is: ", "Correct answer: ", "answer is "]
DRESSED = [
    "{}",
    "({})",
    "**{}**",
    "**({})**",
    "{}.",
    "({}).",
    "**{}**.",
    " {}\n",
    "{})",
    "*{}*",
    "**{}",
    "{}**",
    "'{}'",
]


def test_the_whole_reader_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [stated + dressed.format(letter) for stated, dressed, letter in product(STATED, DRESSED, "ABEIZb")]
    at_once = [bare_answer(text) for text in texts]
    found = [[read_choice(text, options) for options in (4, 10, 26)] for text in texts]
    monkeypatch.setattr(choice, "bare_answer", lambda text: None)
    assert found == [[read_choice(text, options) for options in (4, 10, 26)] for text in texts]
    assert sum(letter is not None for letter in at_once) > len(texts) / 3


@pytest.mark.parametrize("text", ["", "b", "AB", "A or B", "The answer is not A.", "Answer:", "A" * 100, "**A", "(A"])
def test_more_or_less_than_an_answer_is_left_to_the_reader(text: str) -> None:
    assert bare_answer(text) is None
