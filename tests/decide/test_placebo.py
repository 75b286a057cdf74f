"""Secondaries that know nothing: as many votes, as concentrated, gold no likelier than any other option."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.decide.choice import Choice, Recorded, alone
from swaplaw.decide.placebo import FREE_TEXT, PLACEBOS, options_of, placebo, with_placebo
from swaplaw.decide.rules.smooth import smooth, with_options

from support.data import real_votes
from support.worlds import independent, narrow_leader, tally_of, vote_counts


def test_options_are_read_off_the_votes() -> None:
    mmlu = sl.read_votes(real_votes("mmlu-pro.parquet")).tally()
    assert set(options_of(mmlu.select(models=mmlu.models[:3]))) == {10}
    assert set(options_of(sl.read_votes(real_votes("reasoning-gym.parquet")).tally())) == {FREE_TEXT}
    rng = np.random.default_rng(0)
    assert set(options_of(tally_of(vote_counts(independent(rng, 50, (0.6, 0.5)), 6, rng)))) == {4}


@pytest.mark.parametrize("options", [4, 10, FREE_TEXT])
def test_votes_are_moved_not_made(options: int) -> None:
    rng = np.random.default_rng(5)
    counts = vote_counts(independent(rng, 2000, (0.6, 0.9)), 6, rng)
    tally = tally_of(counts[[0, 1, 1]])
    blind = with_placebo(tally, (0, 1, 2), np.full(2000, options), rng)
    assert (blind.votes == tally.votes).all()
    assert (blind.gold[0] == tally.gold[0]).all()
    assert (blind.gold[1] == blind.gold[2]).all(), "all secondaries are moved alike"
    chance = 0 if options == FREE_TEXT else 1 / options
    assert blind.gold[1].sum() / blind.votes[1].sum() == pytest.approx(chance, abs=0.02)
    assert (blind.scores[0].ties == tally.scores[0].ties).all()


MIXED = pl.DataFrame(
    [
        # question, options, gold, and the votes of the primary and of two secondaries
        ("q1", 2, "A", "BBA", "AAA", "ABB"),
        ("q2", 5, "C", "CDD", "CCE", "DCC"),
        ("q3", 3, "B", "AAB", "BBB", "B  "),
        ("q4", None, "D", "AAD", "DDA", "AAA"),
        ("q5", 4, "A", "   ", "ABC", "AB "),
    ],
    schema=["question", "options", "gold", "a", "b", "c"],
    orient="row",
)
"""Options are stated but for one question, whose five are read off the votes; blanks are abstentions."""


def mixed_table() -> pl.DataFrame:
    rows = MIXED.unpivot(["a", "b", "c"], index=["question", "options", "gold"], variable_name="model")
    return rows.with_columns(pl.col("value").str.split("").alias("answer")).explode("answer").drop("value")


def plain_placebo(weights: tuple[Fraction, ...], seed: int) -> list[Fraction]:
    """Mean scores over shuffles: each question's own options change places among the secondaries' votes."""
    total = [Fraction(0)] * MIXED.height
    for shuffle in range(PLACEBOS):
        random = np.random.default_rng([seed, shuffle]).random((MIXED.height, 5)).tolist()
        for number, row in enumerate(MIXED.iter_rows(named=True)):
            places = sorted(range(row["options"] or 5), key=random[number].__getitem__)
            given = sorted({*row["a"], *row["b"], *row["c"]} - {" ", row["gold"]})
            names = [row["gold"], *given, *(f"unvoted {n}" for n in range(5))][: len(places)]
            moved = {names[place]: to for place, to in zip(places, names, strict=True)} | {" ": " "}
            pooled: dict[str, Fraction] = {}
            for model, weight in zip("abc", weights, strict=True):
                for answer in row[model]:
                    cast = answer if model == "a" else moved[answer]
                    pooled[cast] = pooled.get(cast, Fraction(0)) + weight
            winners = [answer for answer, votes in pooled.items() if votes == max(pooled.values())]
            total[number] += Fraction(row["gold"] in winners, len(winners))
    return [score / PLACEBOS for score in total]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_votes_are_moved_among_the_options_of_their_own_question(seed: int) -> None:
    tally = sl.tally(mixed_table())
    assert options_of(tally).tolist() == [2, 5, 3, 5, 4]
    weights = (Fraction(1), Fraction(2), Fraction(3, 2))
    found = placebo(Recorded(tally), Choice((0, 1, 2), weights), alone(0), seed=seed)
    expected = plain_placebo(weights, seed)
    assert expected[0] > 0, "with two options, a guess is right about half the time"
    assert found.scores.tolist() == pytest.approx([float(score) for score in expected])
    assert found.options == 5


def test_guesses_among_a_questions_own_options_are_not_deployed() -> None:
    """Half of the questions have two options: a placebo that guesses among four everywhere is worse than guessers."""
    votes = narrow_leader(np.random.default_rng(2), (2, 4), questions=300, samples=24)
    assert sl.recommend(votes.drop("options")).verdict == "deploy_panel"
    told = sl.recommend(votes)
    assert not told.verdict.startswith("deploy_p")


def test_smooth_weights_do_not_pay_guessers_for_knowing_which_options_exist() -> None:
    votes = narrow_leader(np.random.default_rng(2), (2, 4), questions=300, samples=24)
    assert len(smooth(sl.tally(votes.drop("options"))).members) > 1
    assert smooth(sl.tally(votes)).members == (0,)


def test_smooth_weights_count_the_options_that_are_stated() -> None:
    table = mixed_table()
    assert with_options(sl.tally(table)).options.tolist() == [2, 5, 3, 5, 4]
    many = table.with_columns(options=pl.when(pl.col("options") == 5).then(20).otherwise("options"))
    assert with_options(sl.tally(many)).options.tolist() == [2, 20, 3, 5, 4]
