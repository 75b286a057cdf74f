"""The exact vote and its stop, held to brute-force enumeration of every completion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.serve.vote import Answer, Ballot

NEW = "never seen"
ANSWERS: list[Answer] = ["A", "B", None]
any_weight = st.fractions(min_value="1/6", max_value=3, max_denominator=6)


@st.composite
def ballots(draw: st.DrawFn, most: int = 4) -> Ballot:
    """Two or three members, some of their votes cast."""
    members = draw(st.integers(1, 3))
    samples = [draw(st.integers(1, most if members < 3 else 2)) for _ in range(members)]
    ballot = Ballot([draw(any_weight) for _ in samples], samples)
    for member, n in enumerate(samples):
        for answer in draw(st.lists(st.sampled_from(ANSWERS), max_size=n)):
            ballot.cast(member, answer)
    return ballot


def twin_tie_set(weights: Sequence[Fraction], samples: list[int], counts: list[Counter[Answer]]) -> frozenset[Answer]:
    """Eq. (vote) as written: shares times weights, in Fractions."""
    vector: dict[Answer, Fraction] = {}
    for weight, n, votes in zip(weights, samples, counts, strict=True):
        for answer, count in votes.items():
            vector[answer] = vector.get(answer, Fraction(0)) + weight * Fraction(count, n)
    top = max(vector.values())
    return frozenset(answer for answer, value in vector.items() if value == top)


def fill(ballot: Ballot, counts: Sequence[Counter[Answer]]) -> None:
    for member, votes in enumerate(counts):
        for answer in votes.elements():
            ballot.cast(member, answer)


def decided(ballot: Ballot) -> bool:
    standing = ballot.standing()
    return standing.remaining == 0 or standing.lead > standing.remaining


def winner(ballot: Ballot) -> Answer:
    return ballot.preferred(ballot.standing().leaders)


def outcomes(ballot: Ballot) -> set[frozenset[Answer]]:
    """The tie sets that some completion of the remaining votes leads to."""
    options: list[Answer] = [*ANSWERS, NEW]
    return {
        twin_tie_set(ballot.weights, ballot.samples, counts)
        for counts in completions(ballot.counts, ballot.left, options)
    }


def completions(
    counts: list[Counter[Answer]], left: list[int], options: list[Answer]
) -> Iterator[list[Counter[Answer]]]:
    ways = [list(combinations_with_replacement(options, n)) for n in left]
    for chosen in product(*ways):
        yield [votes + Counter(more) for votes, more in zip(counts, chosen, strict=True)]


@given(ballots(most=3))
def test_decided_exactly_when_no_completion_changes_the_tie_set(ballot: Ballot) -> None:
    possible = outcomes(ballot)
    assert decided(ballot) == (len(possible) == 1)
    if decided(ballot):
        assert possible == {frozenset(ballot.standing().leaders)}


@given(ballots(most=3))
def test_a_wave_is_the_fewest_samples_that_could_decide(ballot: Ballot) -> None:
    if decided(ballot):
        return
    planned = ballot.wave()
    assert could_decide(ballot, planned)
    smaller = [plan for plan in product(*(range(left + 1) for left in ballot.left)) if sum(plan) < sum(planned)]
    assert not any(could_decide(ballot, list(plan)) for plan in smaller)


def could_decide(ballot: Ballot, plan: list[int]) -> bool:
    options: list[Answer] = [*ANSWERS, NEW]
    for counts in completions(ballot.counts, plan, options):
        after = Ballot(ballot.weights, ballot.samples)
        fill(after, counts)
        if decided(after):
            return True
    return False


@given(ballots(), st.data())
def test_lost_samples_and_members_leave_the_vote_of_the_rest(ballot: Ballot, data: st.DataObject) -> None:
    scale = list(ballot.weights)
    for member in range(len(ballot.samples)):
        for _ in range(data.draw(st.integers(0, ballot.left[member]))):
            ballot.lose(member)
    out = data.draw(st.sets(st.integers(0, len(scale) - 1), max_size=len(scale) - 1))
    for member in out:
        ballot.drop(member)
    assert not out & set(ballot.members)
    rest = ballot.members
    if any(ballot.counts[member] for member in rest):
        expected = twin_tie_set(
            [scale[m] for m in rest], [ballot.samples[m] for m in rest], [ballot.counts[m] for m in rest]
        )
        assert frozenset(ballot.standing().leaders) == expected


def test_a_tie_needs_all_votes_and_goes_to_the_primary() -> None:
    ballot = Ballot([Fraction(1), Fraction(1)], [1, 1])
    ballot.cast(1, "A")
    ballot.cast(0, "B")
    assert decided(ballot)
    assert set(ballot.standing().leaders) == {"A", "B"}
    assert winner(ballot) == "B"


def test_an_answer_goes_before_null_in_a_tie_of_equals() -> None:
    ballot = Ballot([Fraction(1)], [4])
    for answer in (None, "B", "A"):
        ballot.cast(0, answer)
    assert not decided(ballot)
    ballot.lose(0)
    assert winner(ballot) == "A"


def test_more_votes_than_planned_are_refused() -> None:
    ballot = Ballot([Fraction(1)], [1])
    ballot.cast(0, "A")
    with pytest.raises(ValueError, match="cast all"):
        ballot.cast(0, "A")
    with pytest.raises(ValueError, match="no vote to lose"):
        ballot.lose(0)
    assert winner(Ballot([Fraction(1)], [1])) is None
