"""What others say in a reply is no answer of its own."""

import pytest

from swaplaw.answers import read_choice
from swaplaw.answers.replies.voices import own_words, without_quotations

REPLIES = [
    ("'It is B!' shouted Tom. But I would go with D.", "D"),
    ('"B," I reply without hesitation.', "B"),
    ('"It\'s C," whispered the student next to me.', None),
    ('"A," said Ann. "B," said Ben.', None),
    ("My roommate insists it's B. The textbook disagrees, and so do I: D.", "D"),
    ('Student: "I think the answer is A."\nTutor: Not quite. Look at the units again. The answer is C.', "C"),
    ("Tutor: Is it A?\nStudent: No, A isn't even.\nTutor: So?\nStudent: B.\nTutor: Right.", "B"),
    ("Host: Your choice?\nContestant: I'd go with A.\nHost: Why not C?\nContestant: Because C isn't safe.", "A"),
    ('"Hello, Margaret?" "It\'s definitely C, dear." She slipped up. The card in my hand says D.', "D"),
    ("Correct: B\nYour answer: A", "B"),
    ("Your answer: A", "A"),
]


@pytest.mark.parametrize(("reply", "answer"), REPLIES)
def test_a_reply_is_read_in_its_own_voice(reply: str, answer: str | None) -> None:
    assert read_choice(reply, 4) == answer


def test_an_option_in_quotes_is_no_quotation() -> None:
    assert without_quotations('The answer is "C".') is None
    assert own_words('The answer is "C".') == ('The answer is "C".',)
    assert without_quotations("> It is A\nNo, B.") == "No, B."
