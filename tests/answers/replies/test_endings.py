"""A reply ends before another question of its own making, and before an item that breaks off."""

from swaplaw.answers import read_choice
from swaplaw.answers.replies.endings import without_stump


def test_an_item_that_breaks_off_is_no_answer() -> None:
    listed = "**A.** Plausible, since it rises in the morning.\n\n**B.** Wrong; it does the opposite.\n\n"
    assert read_choice(listed + "**C.** Glucagon raises blood", 4) is None
    assert without_stump(listed + "**C.** Glucagon raises blood sugar.").endswith("sugar.")
    assert read_choice("**C.** Glucagon raises blood sugar.", 4) == "C"


def test_answers_to_several_questions_are_no_answer_to_one() -> None:
    assert read_choice("Question 1: B\nQuestion 2: D", 4) is None
    assert read_choice("The answer is B.\n\nQuestion: What is next?\nA) x\nThe answer is C.", 4) == "B"
