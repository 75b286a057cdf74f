"""Roundabout ways to name an option are read as plain ones, and only where it is plain which option is meant."""

import pytest

from swaplaw.answers import read_choice
from swaplaw.answers.replies.paraphrase import plainly

KNOWN = frozenset("ABCD")

PLAIN = [
    ("Between A and B, I would choose the latter.", "Between A and B, I would choose option B."),
    ("It is A or **C**. The former is wrong.", "It is A or **C**. option A is wrong."),
    ("May I propose B?", "I propose B."),
    ("It can't not be B.", "It must be B."),
    ("Option 3 (C) is the one.", "option C is the one."),
    ("A is wrong, B is wrong; the third option is right", "A is wrong, B is wrong; option C is right"),
    ("The second option is right.", "The second option is right."),  # Nobody said that the options are called A, B, C.
    ("The first option that I tried was C, then B.", "The first option that I tried was C, then B."),
    ("The latter is right.", "The latter is right."),
    ("A (crossed out). B.", " B."),
    ("C, unless I misread the question.", "C."),
    ("C, unless it is cold.", "C, unless it is cold."),
    ("i think its b bc of the heart", "i think it is B because of the heart"),
    ("it's a because-clause", "it's a because-clause"),
    ("Not A, but D is safe, and that is my answer.", "Not A, but D is safe. My answer is D."),
    ("D beats A, and that is my answer.", "D beats A, and that is my answer."),  # It does not say which.
]


@pytest.mark.parametrize(("said", "plain"), PLAIN)
def test_references_become_the_options_they_are_about(said: str, plain: str) -> None:
    assert plainly(said, KNOWN) == plain


def test_what_is_put_plainly_is_read() -> None:
    assert read_choice("It comes down to C and D. Since it is exothermic, the latter is correct.", 4) == "D"
    assert read_choice("It is between A and B. The former is tempting, the latter safe. I cannot decide.", 4) is None
    assert read_choice("There is no way it isn't B.", 4) == "B"
