"""Pooled votes, in numbers of any width, beside the same vote in plain fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from swaplaw.law.weights import narrowest, pooled_margins, vote
from swaplaw.votes.tally import tally_array


@pytest.mark.parametrize("denominator", [1, 300, 30_011, 2**33 - 9, 2**61 - 1, 2**90 + 7])
@pytest.mark.parametrize("even", [True, False])
def test_a_vote_is_that_of_plain_fractions_whatever_its_numbers_need(denominator: int, even: bool) -> None:
    rng = np.random.default_rng(denominator % 1000)
    counts = rng.integers(0, 9, (3, 60, 4))
    counts[:, :, 0] += 1
    if even:
        counts[:, :, 3] = counts[:, :, :3].sum(axis=2).max() + 1 - counts[:, :, :3].sum(axis=2)
    tally = tally_array("made", ["a", "b", "c"], [f"{k:02}" for k in range(60)], counts)
    weights = [Fraction(1), Fraction(denominator - 1, denominator), Fraction(1, denominator)]
    scores = vote(tally, range(3), weights)
    for question in range(60):
        own = counts[:, question].tolist()
        shares = [
            sum(w * Fraction(votes[k], sum(votes)) for w, votes in zip(weights, own, strict=True)) for k in range(4)
        ]
        expected = Fraction(shares[0] == max(shares), shares.count(shares[0]))
        assert Fraction(int(scores.numerators[question]), scores.denominator) == expected


def test_numbers_are_as_narrow_as_their_sums_allow() -> None:
    assert [narrowest(2**power) for power in (10, 20, 40, 62, 70)] == [np.int16, np.int32, np.int64, object, object]
    tally = tally_array("made", ["a"], ["q"], np.array([[[3, 1]]]))
    assert pooled_margins(tally, [0], [Fraction(1)]).dtype == np.int16
