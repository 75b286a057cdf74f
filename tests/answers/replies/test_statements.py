"""Set phrases that state an answer, and what stands around it, in the words of ordinary replies."""

import pytest

from swaplaw.answers import read_choice

STATED = [
    (r"$\boxed{\boldsymbol{\text{A}}}$", "A"),
    ('Hepatitis A and C have RNA genomes. So choose D: "Hepatitis B".', "D"),
    ('Plan B was adopted. Therefore the best title is the one in C: "How Plan B Won".', "C"),
    ("The best wrong answer is the one in C.", None),
    ("I hope you can now see for yourself why B is the one to pick!", "B"),
    ("It is not clear why B is the one to pick.", None),
    ("Students often ask why B is correct.", None),
    ("But pink he is not in the rainbow. So I choose D pink. Thank you.", "D"),
    ("Biotin is one of the vitamins. So I choose B vitamins.", None),  # Part of a name.
    ("So its A i am sure about it. C is boiling it is more hot. D is fire.", "A"),
    ("So its A i am not sure about it. C is boiling.", None),
]


@pytest.mark.parametrize(("reply", "answer"), STATED)
def test_ordinary_phrases_state_an_answer(reply: str, answer: str | None) -> None:
    assert read_choice(reply, 4) == answer


BELOW = [
    ("Sure! Here is the answer of your question:\n\nC) ice is melt\n\nThis is because it get hot.", "C"),
    ("Here is the answer to your question:\n\nA) red\nB) blue\nC) green\nD) pink", None),
    ("Answer:\nA) red\nB) blue\nC) green\nD) pink\n\nThe correct option is B.", "B"),
    (
        "### ✅ Answer: **D. Both are false**\n\n### Why not the others?\n\n"
        "- **A** – requires both to be true\n- **B** – requires the first to be true",
        "D",
    ),
    ("Final answer: D\n\nWhy the others are wrong:\n- A: true of some cells\n- B: right\n- C: correct", "D"),
    ("Why not the others?\n\nA - small\nB - big\nC - correct", None),
]


@pytest.mark.parametrize(("reply", "answer"), BELOW)
def test_what_stands_below_a_heading_is_read_by_it(reply: str, answer: str | None) -> None:
    assert read_choice(reply, 4) == answer
