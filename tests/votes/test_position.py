"""Position bias: flagged where an option's place sways a model, and nowhere else."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import swaplaw as sl
from swaplaw.collect.design import order
from swaplaw.votes.position import holm, measure

from support.commands import Run

Chooser = Callable[[tuple[int, ...], int, np.random.Generator], int]
"""From the order shown and the gold option, the position that a model picks (from 0)."""


def first(shown: tuple[int, ...], gold: int, rng: np.random.Generator) -> int:
    return 0


def knows(shown: tuple[int, ...], gold: int, rng: np.random.Generator) -> int:
    return shown.index(gold)


def guesses(shown: tuple[int, ...], gold: int, rng: np.random.Generator) -> int:
    return int(rng.integers(len(shown)))


def stubborn(shown: tuple[int, ...], gold: int, rng: np.random.Generator) -> int:
    """Always the same option, right or wrong."""
    return shown.index(0)


MODELS: dict[str, Chooser] = {"first": first, "knows": knows, "guesses": guesses, "stubborn": stubborn}


def collected(questions: int, samples: int, options: Callable[[int], int], seed: int = 0) -> pl.DataFrame:
    """Votes of scripted models on scheduled orders, as a collection writes them."""
    rng = np.random.default_rng(seed)
    rows = []
    for model, choose in MODELS.items():
        for number, epoch in product(range(questions), range(1, samples + 1)):
            k = options(number)
            shown, gold = order(0, f"q{number}", epoch, k), number % k
            place = choose(shown, gold, rng)
            vote = {"question": f"q{number}", "model": model, "sample": epoch, "answer": chr(65 + shown[place])}
            rows.append(vote | {"gold": chr(65 + gold), "position": place + 1, "options": k})
    return pl.DataFrame(rows)


def test_a_model_that_always_picks_position_one_is_flagged(swaplaw: Run, tmp_path: Path) -> None:
    collected(40, 24, lambda _: 4).write_parquet(tmp_path / "votes.parquet")
    models = {
        row["model"]: row for row in json.loads(swaplaw("summary", tmp_path / "votes.parquet", "--json").out)["models"]
    }
    assert models["first"]["plurality"] == models["first"]["single"] == 0.25  # chance
    assert models["knows"]["plurality"] == models["knows"]["single"] == 1
    bias = models["first"]["position"]
    assert (bias["effect"], bias["position"], bias["share"], bias["expected"]) == (0.75, 1, 1, 0.25)
    assert [model for model, row in models.items() if row["position"]["flagged"]] == ["first"]
    assert models["knows"]["position"]["effect"] == models["stubborn"]["position"]["effect"] == 0
    shown = swaplaw("summary", tmp_path / "votes.parquet").out
    assert "first chose position 1 in 100.0% of 960 votes, where 25.0% would be even (p < 0.001)" in shown
    assert "Position bias %" in shown


@pytest.mark.parametrize(("questions", "samples"), [(3, 4), (10, 1), (30, 10)])
def test_questions_of_many_sizes(questions: int, samples: int) -> None:
    votes = sl.votes_from(collected(questions, samples, lambda number: 4 + number % 7))
    found = sl.votes.position_bias(votes, "votes")
    assert {model for model, bias in found.items() if bias.flagged} == {"first"}
    assert found["first"].votes == questions * samples


def test_chance_is_rarely_flagged() -> None:
    flags = 0
    for seed in range(100):
        votes = collected(12, 4, lambda _: 4, seed).filter(pl.col("model") == "guesses")
        flags += sl.votes.position_bias(sl.votes_from(votes), "votes")["guesses"].flagged
    assert flags <= 11  # 5 expected


def test_votes_without_positions_are_summarised_as_ever(swaplaw: Run) -> None:
    assert not any("position" in row for row in json.loads(swaplaw("summary", "demo", "--json").out)["models"])
    assert "Position" not in swaplaw("summary", "demo").out


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_every_format_and_abstentions(swaplaw: Run, tmp_path: Path, suffix: str) -> None:
    votes = collected(10, 8, lambda _: 4).with_columns(
        pl.when(pl.col("sample") <= 6).then(pl.col(name)).alias(name) for name in ("answer", "position")
    )
    file = tmp_path / f"votes.{suffix}"
    sl.votes_from(votes).write(file)
    rows = json.loads(swaplaw("summary", file, "--json").out)["models"]
    assert {row["position"]["votes"] for row in rows} == {60}
    table = swaplaw("summary", file, "--format", "csv")
    assert table.out.count("biased") == 1
    assert "chose position 1" in table.err


def test_other_engines_and_several_tables() -> None:
    votes = collected(10, 8, lambda _: 4)
    expected = sl.votes.position_bias(sl.votes_from(votes), "votes")
    assert sl.votes.position_bias(sl.votes_from(votes.to_pandas()), "votes") == expected
    assert sl.votes.position_bias(sl.votes_from(votes.lazy()), "votes") == expected


def test_columns_of_the_same_name_that_mean_something_else_are_left_alone(tmp_path: Path) -> None:
    votes = collected(4, 2, lambda _: 4)
    for odd in (
        pl.lit("left").alias("position"),
        pl.lit(99).alias("position"),
        pl.lit(-1).alias("position"),
        pl.lit("a,b,c").alias("options"),
        pl.lit(1000).alias("options"),
        pl.lit(None).alias("position"),
    ):
        frame = votes.with_columns(odd)
        assert sl.votes.position_bias(sl.votes_from(frame), "votes") == {}
        frame.write_parquet(tmp_path / "odd.parquet")
        assert sl.votes.position_bias(sl.read_votes(tmp_path / "odd.parquet"), "votes") == {}
    assert sl.votes.position_bias(sl.votes_from(votes.drop("options")), "votes") == {}
    assert sl.votes.position_bias(sl.votes_from(votes), "another") == {}


counts = st.lists(st.integers(0, 60), min_size=2, max_size=26).filter(any)


@given(counts)
def test_effect_is_the_share_of_votes_that_must_move(chosen: list[int]) -> None:
    bias = measure({len(chosen): chosen})
    even = Fraction(sum(chosen), len(chosen))
    assert bias.effect == sum((abs(number - even) for number in chosen), Fraction(0)) / 2 / sum(chosen)
    assert chosen[bias.position - 1] == max(chosen)
    assert 0 < bias.p_value <= 1


@given(st.lists(st.integers(5, 60), min_size=2, max_size=8))
def test_large_counts_follow_the_chi_square_distribution(chosen: list[int]) -> None:
    assert math.isclose(measure({len(chosen): chosen}).p_value, chisquare(chosen).pvalue, rel_tol=1e-9, abs_tol=1e-300)


@pytest.mark.parametrize("chosen", [[4, 0, 0, 0], [2, 1, 0], [3, 3], [0, 5], [3, 1, 0, 0]])
def test_small_counts_are_simulated_rightly(chosen: list[int]) -> None:
    k, n = len(chosen), sum(chosen)
    outcomes = [tuple(votes.count(place) for place in range(k)) for votes in product(range(k), repeat=n)]
    extreme = sum(sum(c * c for c in outcome) >= sum(c * c for c in chosen) for outcome in outcomes)
    exact = extreme / k**n
    assert abs(measure({k: chosen}).p_value - exact) < 4 * math.sqrt(exact * (1 - exact) / 9_999) + 2e-4


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(one <= other <= 1 for one, other in zip(p_values, adjusted, strict=True))
    ranked = sorted(zip(p_values, adjusted, strict=True))
    assert [p for _, p in ranked] == sorted(adjusted)
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
