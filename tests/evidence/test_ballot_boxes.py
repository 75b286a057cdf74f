"""Ballots drawn from boxes, all questions at once, against every subset of the votes of each, one by one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.evidence.ballot_boxes import Boxes


def listed(box: list[int], size: int) -> dict[tuple[int, ...], Fraction]:
    """Every ballot of one box with its probability, from all subsets of its votes."""
    votes = [category for category, count in enumerate(box) for _ in range(count)]
    drawn = Counter(tuple(np.bincount(subset, minlength=len(box)).tolist()) for subset in combinations(votes, size))
    return {ballot: Fraction(number, drawn.total()) for ballot, number in drawn.items()}


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Counts of members on questions, padded with categories of no votes, and sizes that every box allows."""
    shape = draw(st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4)))
    number = prod(shape)
    counts = np.array(draw(st.lists(st.integers(0, 3), min_size=number, max_size=number))).reshape(shape)
    counts[:, :, 0] += (counts.sum(axis=2) == 0).astype(int)
    sizes = np.array([[draw(st.integers(1, int(box.sum()))) for box in member] for member in counts])
    return counts, sizes


@given(case=cases())
def test_all_ballots_are_listed_once_with_their_probabilities(case: tuple[np.ndarray, np.ndarray]) -> None:
    counts, sizes = case
    boxes = Boxes(counts, np.full(counts.shape[1], counts.shape[2]))
    found = boxes.all_ballots(sizes)
    possible = boxes.possible(limit=5, most=int(sizes.max()))
    ends = np.cumsum(found.number)
    for question, (end, number) in enumerate(zip(ends.tolist(), found.number.tolist(), strict=True)):
        own = [
            listed(box.tolist(), int(size)) for box, size in zip(counts[:, question], sizes[:, question], strict=True)
        ]
        for member, ballots in enumerate(own):
            assert possible[member][question, sizes[member, question]] == min(len(ballots), 6)
        plain = {
            tuple(ballot for ballot, _ in combination): np.prod([float(chance) for _, chance in combination])
            for combination in product(*(ballots.items() for ballots in own))
        }
        given_ = found.counts[:, :, end - number : end].transpose(2, 0, 1).tolist()
        shares = found.share[end - number : end].tolist()
        assert {tuple(map(tuple, ballot)): share for ballot, share in zip(given_, shares, strict=True)} == plain
        assert len(given_) == len(plain)


def test_some_members_leave_out_what_none_of_them_answered() -> None:
    boxes = Boxes(np.array([[[0, 0, 2, 1]], [[1, 2, 0, 0]], [[0, 0, 0, 3]]]), np.array([4]))
    assert boxes.of((0, 2)).counts.tolist() == [[[0, 2, 1, 0]], [[0, 0, 3, 0]]]
    assert boxes.of((0, 2)).widths.tolist() == [3]
    assert boxes.of((1,)).counts.tolist() == [[[1, 2, 0, 0]]]
