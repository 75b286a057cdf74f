"""An option that is repeated after the reply's own list of options is its answer."""

import pytest

from swaplaw.answers import read_choice

LIST = "A) 12\nB) 15\nC) 18\nD) 21\n\n"
REPLIES = [
    (f"The options again:\n{LIST}It is 6 times 7, halved.\n\nD) 21", "D"),
    (f"{LIST}Half of 30.\n\n**B) 15**", "B"),
    (f"{LIST}B) 15", None),  # Nothing is said between the list and its repetition.
    (f"{LIST}Let us go through them.\n\nA) 12\nB) 15", None),
    (f"{LIST}The sum comes to something else.\n\nD) 22", None),
    ("- **A. Red** → warm\n- **B. Blue** → cold\n- **C. Green** → calm\n\n## Select\n__B. Blue__", "B"),
    ("- A. Red → warm\n- B. Blue → cold\n- C. Green → calm\n\nNow the answer choices in turn.\nA. Red", None),
    ("A. Yes\nB. No\n\nThe premise is false.\n\nB. No", "B"),
]


@pytest.mark.parametrize(("reply", "answer"), REPLIES)
def test_the_option_that_is_listed_again_is_the_answer(reply: str, answer: str | None) -> None:
    assert read_choice(reply, 4) == answer
