"""Pairs worked out together, and with next to nothing kept, give what each gives alone, and what the twin says."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw._arrays import Kept, alike
from swaplaw.law import spans
from swaplaw.law.curve import curve_of, curves_of
from swaplaw.law.pair import Pair
from swaplaw.law.spans import batches

from support.corpora import corpora, weights
from support.twin import Corpus, law


@given(case=corpora(models=4), x=weights)
def test_batches_equal_single_curves_and_their_twin(case: Corpus, x: Fraction) -> None:
    tally = sl.votes_from(case.frame()).tally()
    for curve in sl.law.curves(tally):
        alone = curve_of(sl.pair(tally, curve.primary, curve.secondary))
        assert curve.denominator == alone.denominator
        assert curve.contributions.tolist() == alone.contributions.tolist()
        assert [(piece.low, piece.high, piece.outcome) for piece in curve.pieces] == [
            (piece.low, piece.high, piece.outcome) for piece in alone.pieces
        ]
        plain, at = law(case, curve.primary, curve.secondary, x), curve.at(x)
        assert (at.rescued, at.damaged, at.repaired, at.corrupted) == plain.gains
        assert (curve.n, curve.masses.p, curve.masses.q) == (plain.n, plain.p, plain.q)


def demo_pairs() -> list[Pair]:
    tally = sl.demo_votes().tally()
    return [Pair(tally, a, b) for a, b in combinations(range(len(tally.models)), 2)]


def test_batches_hold_every_pair_in_order_and_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    given_pairs = demo_pairs()
    margins = len(given_pairs[0].tally.rivals.question)
    monkeypatch.setattr(spans, "BATCH", 3 * margins)
    found = list(batches(given_pairs))
    assert [pair for batch in found for pair in batch] == given_pairs
    assert max(map(len, found)) == 3
    for batch in found:
        assert len({(pair.tally.samples[pair.a], pair.tally.samples[pair.b]) for pair in batch}) == 1


def test_a_ragged_pair_stands_alone() -> None:
    frame = sl.demo_votes().frame.collect()
    first = frame["model"].unique().sort()[0]
    # One vote less on one question makes the first model's counts ragged.
    ragged = sl.votes_from(
        frame.with_row_index().filter(
            ~((frame["model"] == first) & (frame["question"] == frame["question"][0])).shift(1, fill_value=False)
        )
    ).tally()
    pairs = [Pair(ragged, 0, b) for b in range(1, 5)]
    assert ragged.samples[0] is None
    assert [len(batch) for batch in batches(pairs)] == [1] * 4
    assert [curve.lifts.tolist() for curve in curves_of(pairs)] == [curve_of(pair).lifts.tolist() for pair in pairs]


def test_nothing_kept_changes_nothing() -> None:
    usual, forgetful = sl.demo_votes().tally(), sl.demo_votes().tally()
    forgetful._kept.room = 1
    assert [curve.best_plateau for curve in sl.law.curves(forgetful)] == [
        curve.best_plateau for curve in sl.law.curves(usual)
    ]


def test_kept_makes_room_for_what_was_used_last() -> None:
    kept, made = Kept(10), []

    def get(key: str, size: int = 4) -> str:
        def derive() -> tuple[str, int]:
            made.append(key)
            return key.upper(), size

        found: str = kept.get(key, derive)
        return found

    assert [get("a"), get("b"), get("a")] == ["A", "B", "A"]
    get("c")  # b was used longest ago
    get("a")
    assert made == ["a", "b", "c"]
    get("b")
    assert made == ["a", "b", "c", "b"]
    assert get("large", 99) == "LARGE"
    assert get("large", 99) == "LARGE"
    assert made[-1] == "large"


def test_what_can_be_derived_is_not_sent() -> None:
    tally = sl.demo_votes().tally()
    tally.margins(0)
    before = len(pickle.dumps(tally))
    tally.margins(1)
    assert len(pickle.dumps(tally)) == before
    assert (copy.deepcopy(tally).margins(0) == tally.margins(0)).all()


@given(
    columns=st.lists(st.tuples(*[st.integers(-3, 3)] * 4), max_size=30),
    stretch=st.sampled_from([1, 1000, 2**20]),
)
def test_alike_columns_share_a_number_however_large_theirs_are(columns: list[tuple[int, ...]], stretch: int) -> None:
    table = np.array(columns, dtype=np.int64).reshape(-1, 4).T * stretch
    which, first = alike(table)
    assert (table[:, first][:, which] == table).all()
    assert len(first) == len(set(columns))
