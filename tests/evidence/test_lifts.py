"""One lift, one interval: whoever is asked for it gives the very same ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.evidence import accuracy_effect, effects, lift_effect, resampling_units
from swaplaw.evidence.lifts import errors_along
from swaplaw.evidence.quantities import MEANS, question_values
from swaplaw.law.curve import curve_of
from swaplaw.law.pair import pooled
from swaplaw.law.scoresheet import scoresheet
from swaplaw.report.explorer import curve_data

from support.commands import Finished
from support.corpora import corpora
from support.data import real_votes
from support.fleets import Population
from support.reports import sometimes, votes_of
from support.twin import Corpus

WEIGHTS = ("1/3", "2/3", "1", "7/5")


def tallies() -> dict[str, sl.Votes]:
    """Clusters, no clusters, and questions that not all models answered."""
    models = {"a": sometimes(3), "b": sometimes(4), "c": sometimes(5, 2)}
    holed = votes_of(models, questions=40, cluster=lambda q, m, s: f"c{q % 7}").frame.collect()
    import polars as pl

    keep = ~((pl.col("model") == "b") & pl.col("question").is_in(["q003", "q017", "q031"]))
    return {
        "demo": sl.demo_votes(),
        "reasoning": sl.read_votes(real_votes("reasoning-gym.parquet")),
        "holed": sl.votes_from(holed.filter(keep)),
        "plain": votes_of(models, questions=50),
        "single": votes_of(models, questions=50, samples=1),
    }


VOTES = tallies()


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("name", list(VOTES))
def test_python_gives_one_interval(name: str, weight: str) -> None:
    """`intervals`, `lift_effect`, many rows at once, and the report's explorer, for every pair."""
    tally = VOTES[name].tally()
    units = resampling_units(tally)
    drawn = sl.intervals(tally, weight, quantities=["lift"])
    x = Fraction(weight)
    assert len(drawn.pairs) > 2
    for pair in drawn.pairs:
        found = lift_effect(tally, (pair.a, pair.b), (Fraction(1), x), units)
        interval = drawn.of(pair.primary, pair.secondary)["lift"].interval
        assert found is not None
        assert interval is not None
        assert (interval.low, interval.high) == (found.low, found.high)
        assert interval.method == "student"
        rows = effects(question_values(next(pooled([pair], x)), ["lift", "swap"]), units.among(pair.common).member)
        assert found.certain or rows[0] == found


def test_the_panel_of_a_pair_and_its_curve_give_the_pairs_interval() -> None:
    tally = sl.demo_votes().tally()
    units = resampling_units(tally)
    for pair in sl.pairs(tally):
        x = Fraction(2, 3)
        found = lift_effect(tally, (pair.a, pair.b), (Fraction(1), x), units)
        duo = sl.panel(tally, [pair.primary, pair.secondary])
        assert lift_effect(tally, duo.indices, (Fraction(1), x), units) == found
        assert found is not None
        assert found.mean == pytest.approx(float(pair.at(x).lift))


@pytest.mark.parametrize("name", ["demo", "single"])
def test_the_page_shows_the_pairs_interval(name: str) -> None:
    """The explorer stores standard errors of every piece in millionths."""
    tally = VOTES[name].tally()
    units = resampling_units(tally)
    for pair in list(sl.pairs(tally))[:6]:
        data = curve_data(pair, curve_of(pair), scoresheet(pair), units.member)
        ends = [Fraction(x, y) for x, y in zip(data["x"], data["y"], strict=True)]
        for piece, (low, high) in enumerate(pairwise(ends)):
            found = lift_effect(tally, (pair.a, pair.b), (Fraction(1), (low + high) / 2), units)
            assert found is not None
            assert data["critical"] == found.critical
            assert data["errorsA"][2 * piece + 1] == round(1e6 * found.standard_error)


@pytest.mark.parametrize("votes", ["demo", "reasoning-gym.parquet"])
def test_the_commands_give_pythons_interval(votes: str, swaplaw: Callable[..., Finished]) -> None:
    source = votes if votes == "demo" else real_votes(votes)
    tally = (sl.demo_votes() if votes == "demo" else sl.read_votes(source)).tally()
    printed = json.loads(swaplaw("pairs", source, "--json").out)["pairs"]
    drawn = sl.intervals(tally, "2/3", quantities=["lift"])
    assert len(printed) == len(drawn.pairs)
    for row in printed:
        interval = drawn.of(row["primary"], row["secondary"])["lift"].interval
        assert interval is not None
        assert row["lift_interval"] == [interval.low, interval.high]
    fleet = json.loads(swaplaw("summary", source, "--json").out)["models"]
    for row in fleet:
        found = accuracy_effect(tally, tally.index(row["model"]), resampling_units(tally))
        assert found is not None
        assert row["interval"] == [found.low, found.high]
        assert 0 <= found.low < found.high <= 1


def test_what_no_vote_could_change_is_certain(tmp_path: Path, swaplaw: Callable[..., Finished]) -> None:
    """One vote outweighs any lighter one: such a lift is 0 by construction, and nothing is uncertain about it."""
    tally = VOTES["single"].tally()
    units = resampling_units(tally)
    for weights, certain in [
        ((1, "2/3"), True),
        ((1, "1"), False),
        ((1, "1/3", "2/3"), False),
        ((1, "1/3", "1/2"), True),
    ]:
        found = lift_effect(tally, range(len(weights)), tuple(map(Fraction, weights)), units)
        assert found is not None
        assert found.certain is certain
        assert certain is (found.low == found.high)
    assert VOTES["plain"].tally().samples[0] != 1
    VOTES["single"].frame.collect().write_parquet(tmp_path / "votes.parquet")
    done = swaplaw("pairs", tmp_path / "votes.parquet")
    assert done.code == 0
    assert "0 by construction" in done.out


@pytest.mark.parametrize("name", ["demo", "holed"])
def test_every_mean_is_the_mean_of_its_questions(name: str) -> None:
    tally = VOTES[name].tally()
    found = sl.intervals(tally, "2/3", quantities=list(MEANS))
    units = resampling_units(tally)
    for pair in found.pairs:
        values = question_values(next(pooled([pair], Fraction(2, 3))), list(MEANS))
        judged = effects(values, units.among(pair.common).member)
        for row, (quantity, least) in enumerate(MEANS.items()):
            each = found.of(pair.primary, pair.secondary)[quantity]
            assert each.interval is not None
            assert each.value == pytest.approx(values[row].mean())
            assert each.interval.low == max(judged[row].low, least)
            assert each.interval.high == judged[row].high


def test_lift_and_accuracy_are_the_exact_ones() -> None:
    """Of pairs and panels alike, on the questions that all of their members answered."""
    tally = sl.demo_votes().tally()
    units = resampling_units(tally)
    trio = sl.panel(tally, ["gpt-4", "mistral-large", "gpt-35-turbo"])
    weights = (Fraction(1), Fraction(1, 2), Fraction(1, 3))
    judged = lift_effect(tally, trio.indices, weights, units)
    assert judged is not None
    assert judged.mean == pytest.approx(float(trio.at(weights).lift))
    chosen = sl.pair(tally, "gpt-4", "mistral-large")
    alone = accuracy_effect(tally, chosen.a, units)
    assert alone is not None
    assert alone.mean == pytest.approx(float(chosen.masses.p))


def test_changes_in_few_clusters_are_said_on_standard_error(tmp_path: Path, swaplaw: Callable[..., Finished]) -> None:
    file = tmp_path / "votes.parquet"
    Population(4).draw(60, np.random.default_rng(0))
    models = {"a": sometimes(3), "b": sometimes(4)}
    votes_of(models, questions=40, cluster=lambda q, m, s: f"c{q % 4}").frame.collect().write_parquet(file)
    for arguments in (("pairs", file, "--weight", "1"), ("summary", file)):
        found = swaplaw(*arguments, "--json")
        assert found.code == 0
        assert "too few clusters (fewer than 6" in found.err


@given(case=corpora(), data=st.data())
def test_errors_along_a_line_are_those_of_each_weight(case: Corpus, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally()
    pair = sl.pair(tally, "aa", "bb")
    if pair.n < 2:
        return
    sheet = scoresheet(pair).among(pair.common)
    own = pair.alone[0]
    base = own.numerators.astype(np.float64) / own.denominator
    gains = np.array([sheet.at(sheet.weight(place, place)) - base for place in range(len(sheet.firsts))])
    units = np.unique([data.draw(st.integers(0, pair.n - 1)) for _ in range(pair.n)], return_inverse=True)[1]
    for member in (np.arange(pair.n), units):
        if member.any():
            plain = effects(gains, member).standard_error
            assert errors_along(sheet, base, member) == pytest.approx(plain, rel=1e-9)
