"""The answer-order schedule: balanced for every number of samples, without repeats, and the same for everyone."""

import subprocess
import sys
from collections import Counter
from itertools import pairwise, permutations
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.collect.design import order
from swaplaw.errors import InputError

seeds = st.integers(-(2**70), 2**70)
questions = st.text(max_size=12)
options = st.integers(2, 26)


def orders(seed: int, question: str, samples: int, options: int) -> list[tuple[int, ...]]:
    return [order(seed, question, epoch, options) for epoch in range(1, samples + 1)]


@given(seeds, questions, options, st.integers(1, 48))
def test_every_option_stands_at_every_position_equally_often(
    seed: int, question: str, options: int, samples: int
) -> None:
    shown = orders(seed, question, samples, options)
    places = Counter((position, option) for one in shown for position, option in enumerate(one))
    assert all(sorted(one) == list(range(options)) for one in shown)
    least, most = samples // options, -(-samples // options)
    assert all(least <= places[p, o] <= most for p in range(options) for o in range(options))


@given(seeds, questions, options, st.integers(1, 48))
def test_no_order_comes_twice_before_all_have_come(seed: int, question: str, options: int, samples: int) -> None:
    assert len(set(orders(seed, question, samples, options))) == min(samples, factorial(options))


@pytest.mark.parametrize("options", range(2, 27))
def test_every_small_case(options: int) -> None:
    """Hypothesis samples the cases; here they all are, for one seed and question."""
    shown = orders(3, "q", 48, options)
    assert len(set(shown)) == min(48, factorial(options))
    for samples in range(1, 49):
        places = Counter((position, option) for one in shown[:samples] for position, option in enumerate(one))
        counts = {places[p, o] for p in range(options) for o in range(options)}
        assert counts <= {samples // options, -(-samples // options)}


@given(seeds, questions)
def test_24_samples_of_4_options_are_all_24_orders(seed: int, question: str) -> None:
    assert sorted(orders(seed, question, 24, 4)) == sorted(permutations(range(4)))


@given(seeds, questions, st.integers(2, 5), st.integers(0, 2))
def test_every_round_of_orders_is_complete(seed: int, question: str, options: int, round_: int) -> None:
    every = factorial(options)
    shown = [order(seed, question, round_ * every + epoch, options) for epoch in range(1, every + 1)]
    assert sorted(shown) == sorted(permutations(range(options)))


@given(seeds, questions, options)
def test_orders_within_a_square_differ_everywhere(seed: int, question: str, options: int) -> None:
    square = orders(seed, question, options, options)
    assert all(len(set(column)) == options for column in zip(*square, strict=True))
    if options % 2 == 0:
        neighbours = Counter(pair for one in square for pair in pairwise(one))
        assert set(neighbours.values()) == {1}


def test_seed_question_and_options_each_matter() -> None:
    base = orders(1, "q1", 10, 6)
    assert orders(2, "q1", 10, 6) != base
    assert orders(1, "q2", 10, 6) != base
    assert len({tuple(orders(seed, "q1", 8, 4)) for seed in range(200)}) > 150


def test_the_first_order_is_spread_evenly_over_questions() -> None:
    firsts = Counter(order(0, f"q{number}", 1, 3) for number in range(6000))
    assert len(firsts) == 6
    assert all(880 < count < 1120 for count in firsts.values())  # 1000 expected, standard deviation 29


def test_another_process_sees_the_same_orders() -> None:
    """Nothing may hang on Python's salted hash or on a generator's state."""
    code = "from swaplaw.collect.design import order; print([order(5, 'é', e, 7) for e in range(1, 20)])"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert seen.strip() == str(orders(5, "é", 19, 7))


def test_orders_never_change() -> None:
    """Others must draw the same orders from the same seed: these values are frozen."""
    assert orders(1, "q1", 4, 4) == [(0, 1, 2, 3), (2, 0, 3, 1), (1, 3, 0, 2), (3, 2, 1, 0)]
    assert order(1, "q1", 11, 10) == (1, 6, 9, 3, 0, 5, 8, 7, 2, 4)


@pytest.mark.parametrize(("epoch", "options"), [(0, 4), (-1, 4), (1, 1), (1, 0), (1, 27)])
def test_impossible_requests_are_refused(epoch: int, options: int) -> None:
    with pytest.raises(InputError, match=r"epochs count from 1|2 to 26"):
        order(1, "q", epoch, options)
