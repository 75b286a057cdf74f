"""Clauses that name an option are for it, against it, or neither: what settles a reply that no set phrase does."""

import pytest

from swaplaw.answers import read_choice
from swaplaw.answers.replies.stances import Stance, stances

KNOWN = frozenset("ABCD")

CLAUSES = [
    ("I'd mark B on the sheet.", "B", Stance.CHOSEN),
    ("so B", "B", Stance.CHOSEN),
    ("I come down on the side of B.", "B", Stance.CHOSEN),
    ("B holds for all living cells.", "B", Stance.FAVOURED),
    ("It cannot be told - option B.", "B", Stance.FAVOURED),
    ("That is the query in B.", "B", Stance.PLACED),
    ("B is an example of a simile.", "B", Stance.STANDING),
    ("B omits the sign.", "B", Stance.REJECTED),
    ("B is close, but it ignores friction.", "B", Stance.REJECTED),
    ("rather than B", "B", Stance.REJECTED),
    ("Is it B?", "B", Stance.NAMED),
    ("If the ball rolls, it is B.", "B", Stance.NAMED),
    ("Somebody might say B.", "B", Stance.NAMED),
    ("maybe B", "B", Stance.RIVAL),
    ("Both A and B are correct.", "AB", Stance.FAVOURED),
    ("A and B are out.", "AB", Stance.REJECTED),
]


@pytest.mark.parametrize(("sentence", "letters", "stance"), CLAUSES)
def test_a_clause_takes_a_stance(sentence: str, letters: str, stance: Stance) -> None:
    (one,) = stances(sentence, 0, KNOWN)
    assert (one.letters, one.stance) == (frozenset(letters), stance)


SETTLED = [
    ("Although A is a misconception, B is outdated, and D applies only to prokaryotes, C holds for all cells.", "C"),
    ('That matches B exactly; A omits "done".', "B"),
    ("La respuesta correcta es la A, porque ocurre en los cloroplastos y no en las mitocondrias (opción B).", "A"),
    ("Hmm. C? No, C is the capital of the province. B, then - Ottawa.", "B"),
    (
        'I would select option (B), "irony". Option (A), "metaphor", might tempt some, and (D), "simile", would not.',
        "B",
    ),
    ("| Option | Verdict | Why |\n|---|---|---|\n| A | ✗ | slow |\n| B | ✓ | stable |\n| C | ✗ | unstable |", "B"),
    ("**Answer:** A\n**Common wrong answer:** C", "A"),
    ("We get \\boxed{B}. The sign was dropped. The corrected answer is \\boxed{C}.", "C"),
    ("TL;DR: D\n\nMutating is fine, so A (throws) and B (ignored) are out.", "D"),
    ("You can safely cross out A, B, and D.", "C"),
    ("A. No wait. The sample is without replacement, so it's 6/30. B.", "B"),
    ("A is haste. C is fear. D leads nowhere. Walk thou the path of B.", "B"),
    ("A? No. B? Yes. C? No. D? No.", "B"),
    ("So much for A. What about B? Yes: it all checks out there. No need to look at C or D.", "B"),
    ("We need the FALSE statement. B, C, and D are all correct statements. A is the false one.", "A"),
    ("All of these are true except B.", "B"),
    ("A is a red herring, and so are B and D.", "C"),
    ("Not enough information (D).", "D"),
    ("I want to say B, but the units tell me A.", "A"),
    ("The options are haste (A), fear (C), vanity (D), and maybe love (B).", None),
    ("A is haste. C is fear. D leads nowhere. Perhaps walk the path of B.", None),
    ("All options except D are right.", None),
    ("Rule out A, B and C.", None),  # A list may break off before its last option.
    ("Hence (A) it is void; hence (B) it is not. Both (A) and (B) are therefore correct answers.", None),
    ("I believe this the answer D, but also A can be the answer.", None),
    ("If the code applies, then A; otherwise, B.", None),
    ("I'm leaning toward C, but D is just as likely.", None),
    ("Options (A) and (B) misapply the rule. The view taken in (C) has merit, and (D) presupposes an offer.", None),
    ("Note: option A (oxygen) is the most frequently chosen wrong answer.", None),
    ("My answer: A. (Option C, 'spear fishing', is a sport.)", "A"),
    ("My answer: A. (Option C, on reflection, is better.)", None),
    ("Option A (oxygen) is 21%. Option B (nitrogen) is 78%. Option C (argon) is 1%.", None),
    ("A. more demand\nB. less demand\nC.", None),
]


@pytest.mark.parametrize(("reply", "answer"), SETTLED)
def test_clauses_settle_a_reply_or_leave_it_open(reply: str, answer: str | None) -> None:
    assert read_choice(reply, 4) == answer


def test_answers_in_calls_are_read() -> None:
    assert read_choice('submit(option="A", rationale="B is wrong")', 4) == "A"
    assert read_choice('[{"function": {"name": "choose", "arguments": "{\\"letter\\": \\"B\\"}"}}]', 4) == "B"
    assert read_choice('{"scores": {"A": 0.1, "D": 0.9}, "argmax": "D"}', 4) == "D"


def test_a_list_of_verdicts_and_small_letters_are_weighed() -> None:
    assert (
        read_choice("- A: plausible but unsupported\n- B: contradicted\n- C: supported by the data\n- D: irrelevant", 4)
        == "C"
    )
    assert (
        read_choice("Among the given options that we have looked at, (a) is the only one that is consistent.", 4) == "A"
    )
    assert (
        read_choice("This fails for two reasons: (a) it is slow, and (b) it is the wrong way round altogether.", 4)
        is None
    )
