"""Secondaries that know nothing: as many votes, as concentrated, gold no likelier than any other option."""

from __future__ import annotations

import numpy as np
import pytest

import swaplaw as sl
from swaplaw.decide.placebo import options_of, with_placebo

from support.data import real_votes
from support.worlds import independent, tally_of, vote_counts


def test_options_are_read_off_the_votes() -> None:
    mmlu = sl.read_votes(real_votes("mmlu-pro.parquet")).tally()
    assert options_of(mmlu.select(models=mmlu.models[:3])) == 10
    assert options_of(sl.read_votes(real_votes("reasoning-gym.parquet")).tally()) is None
    rng = np.random.default_rng(0)
    assert options_of(tally_of(vote_counts(independent(rng, 50, (0.6, 0.5)), 6, rng))) == 4


@pytest.mark.parametrize("options", [4, 10, None])
def test_votes_are_moved_not_made(options: int | None) -> None:
    rng = np.random.default_rng(5)
    counts = vote_counts(independent(rng, 2000, (0.6, 0.9)), 6, rng)
    tally = tally_of(counts[[0, 1, 1]])
    blind = with_placebo(tally, (0, 1, 2), options, rng)
    assert (blind.votes == tally.votes).all()
    assert (blind.gold[0] == tally.gold[0]).all()
    assert (blind.gold[1] == blind.gold[2]).all(), "all secondaries are moved alike"
    chance = 0 if options is None else 1 / options
    assert blind.gold[1].sum() / blind.votes[1].sum() == pytest.approx(chance, abs=0.02)
    assert (blind.scores[0].ties == tally.scores[0].ties).all()
