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
    ("# Gas\n\nC is argon.\n\n### Conclusion\n> **Correct option: B - Nitrogen**\n\nD is a trace gas.", "B"),
    ("A and C are out.\n\n> **Answer: B**", "B"),
    ("A and C are out. My classmate wrote\n\n> **Answer: B**", None),
    ("### Student's answer\n> **Correct option: B**\n\nThis overlooks friction, so C.", "C"),
    ("Forgetting the sign leads many to option C.", None),
    ("Some convert 2.5 h to 2 h 50 min, which would lead to option C, but that is a mistake. Now we add", None),
    ("This leads you to option C.", "C"),
]


@pytest.mark.parametrize(("reply", "answer"), REPLIES)
def test_a_reply_is_read_in_its_own_voice(reply: str, answer: str | None) -> None:
    assert read_choice(reply, 4) == answer


def test_an_option_in_quotes_is_no_quotation() -> None:
    assert without_quotations('The answer is "C".') is None
    assert own_words('The answer is "C".') == ('The answer is "C".',)
    assert without_quotations("> It is A\nNo, B.") == "No, B."
