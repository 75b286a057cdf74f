"""The mixed-integer program: as good as brute force and as another program, silent, and never wrong about accuracy."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import product
from math import gcd

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.law.weights import vote
from swaplaw.panels import exact as engine
from swaplaw.panels.arrangement import arrangement
from swaplaw.panels.exact import NODES, BySolver, Certificate, Parts, certify, fleet_optimum
from swaplaw.panels.milp import program, quiet_solver, solve
from swaplaw.panels.panel import Panel, oriented
from swaplaw.votes.tally import Tally

from support.data import real_votes
from support.milp_twin import best_wins


def random_rows(models: int, questions: int, samples: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    places = list(product(range(questions), range(models), range(samples)))
    rows = {
        "question": [f"q{question:02}" for question, _, _ in places],
        "model": [f"m{model}" for _, model, _ in places],
        "sample": [sample for _, _, sample in places],
        "answer": rng.choice(list("AABCD"), len(places)),
    }
    return pl.DataFrame(rows).with_columns(gold=pl.lit("A"))


def random_tally(models: int, questions: int, samples: int, seed: int) -> Tally:
    return sl.votes_from(random_rows(models, questions, samples, seed)).tally()


def safe_accuracy(found: Certificate) -> Fraction:
    """The accuracy of the best weights that do not rest on ties."""
    return found.recommended.accuracy


def brute_force(votes: Tally, largest: int) -> Fraction:
    """The best score of all whole-number weights up to a largest one, the primary's above 0."""
    panel = oriented(votes, range(len(votes.models)))
    best = Fraction(0)
    for point in product(range(largest + 1), repeat=len(votes.models)):
        if point[0] and gcd(*point) == 1:
            members = [index for index, weight in zip(panel.indices, point, strict=True) if weight]
            pooled = vote(votes, members, [Fraction(weight) for weight in point if weight])
            best = max(best, Fraction(pooled.total, pooled.denominator))
    return best


def by_solver(panel: Panel) -> Certificate:
    """What the solver proves alone, whatever the exact engine could do."""
    parts = Parts(panel, {})
    for place in range(1, parts.size):
        parts.search_pair(place)
    parts.bound = Fraction(1)
    return BySolver(parts).certificate(NODES)


@pytest.mark.parametrize(("models", "questions", "samples", "largest"), [(3, 12, 3, 8), (3, 20, 1, 8), (4, 14, 5, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_certificates_equal_brute_force_and_the_solver_bounds_them(
    models: int, questions: int, samples: int, largest: int, seed: int
) -> None:
    votes = random_tally(models, questions, samples, seed)
    panel = oriented(votes, range(models))
    exact, solver = certify(panel), by_solver(panel)
    assert exact.certified
    assert exact.best.accuracy * questions >= brute_force(votes, largest)
    # Many ties at once are bounded from above only; open cones are always found.
    assert solver.best.accuracy <= exact.best.accuracy <= solver.bound
    assert exact.plateau is not None
    assert solver.best.accuracy >= exact.plateau.accuracy


def test_weights_of_the_solver_score_what_the_certificate_says() -> None:
    votes = random_tally(5, 25, 4, 7)
    found = by_solver(oriented(votes, range(5)))
    members = [index for index, weight in zip(found.panel.indices, found.best.weights, strict=True) if weight]
    pooled = vote(votes, members, [weight for weight in found.best.weights if weight])
    assert found.best.accuracy == Fraction(pooled.total, pooled.denominator * len(votes.questions))
    assert found.best.weights[0] == 1
    assert found.to_dict()["proof"] in ("solver", "none")


def test_what_branch_and_bound_leaves_open_goes_to_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = random_tally(6, 20, 3, 1)
    panel = oriented(votes, range(6))
    monkeypatch.setattr(engine, "WORK", 0)
    hurried = certify(panel)
    assert hurried.solver
    assert hurried.best.accuracy == by_solver(panel).best.accuracy
    assert hurried.proof == ("solver" if hurried.certified else "none")


def test_bounded_work_on_a_fleet_ends_with_a_gap_and_no_proof() -> None:
    found = fleet_optimum(sl.demo_votes().tally(), work=1e4)
    assert found.accuracy < found.bound
    assert found.proof == "none"


def test_fleets_of_more_than_eight_are_searched() -> None:
    votes = random_tally(9, 12, 1, 0)
    found = fleet_optimum(votes)
    assert found.proof in ("solver", "none")
    assert found.accuracy <= found.bound < 1
    pooled = vote(votes, [votes.index(name) for name in found.weights], list(found.weights.values()))
    assert found.accuracy == Fraction(pooled.total, pooled.denominator * len(votes.questions))


def test_known_weights_stand_where_nothing_better_is_found() -> None:
    votes = random_tally(3, 12, 3, 0)
    best = fleet_optimum(votes)
    start = {votes.index(name): weight for name, weight in best.weights.items()}
    assert fleet_optimum(votes, starts=[start]).accuracy == best.accuracy


def test_one_model_is_its_own_optimum() -> None:
    found = fleet_optimum(random_tally(1, 5, 3, 0))
    assert found.weights == {"m0": 1}
    assert found.proof == "exact"


def test_the_solver_says_nothing_on_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet_solver():
        os.write(1, b"stray")
    print("kept", flush=True)
    votes = random_tally(5, 25, 4, 7)
    panel = oriented(votes, range(5))
    those = arrangement(votes, panel.indices, panel.common)
    solve(program(those, votes, panel.indices), 0.0, ties=True, nodes=NODES)
    assert capfd.readouterr().out == "kept\n"


def test_conflicts_are_pairs_that_no_weights_win_together() -> None:
    votes = random_tally(3, 30, 1, 5)
    panel = oriented(votes, range(3))
    those = arrangement(votes, panel.indices, panel.common)
    pairs = program(those, votes, panel.indices).conflicts()
    assert len(pairs)
    points = np.array(list(product(range(1, 9), repeat=3))).T
    holds, more = those.holds(points)
    leads = holds & (more == 0)
    real = pairs[(pairs < len(those.ties)).all(axis=1)]
    assert not (leads[real[:, 0]] & leads[real[:, 1]]).any()


@pytest.mark.parametrize("seed", range(3))
def test_open_cones_are_those_of_another_program(seed: int) -> None:
    votes = random_tally(4, 30, 3, seed)
    found = certify(oriented(votes, range(4)))
    rows = random_rows(4, 30, 3, seed)
    assert safe_accuracy(found) * 30 >= best_wins(rows, votes.models).wins


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, 6, 7])
def test_math500_equals_an_independent_program(size: int) -> None:
    """Run with `pytest -m slow tests/panels`; the times are on the page about panels."""
    rows = pl.read_parquet(real_votes("best-of-infinity.parquet")).filter(pl.col("dataset") == "math500")
    votes = sl.votes_from(rows).tally()
    strongest = sorted(range(7), key=lambda model: -votes.scores[model].total)[:size]
    found = certify(oriented(votes, strongest))
    assert found.certified
    other = best_wins(rows, [votes.models[model] for model in strongest])
    assert other.finished
    assert found.best.accuracy * 500 == other.wins == 484


@pytest.mark.slow
@pytest.mark.parametrize("questions", [1_000, 3_000])
def test_mmlu_pro_equals_an_independent_program(questions: int) -> None:
    rows = pl.read_parquet(real_votes("mmlu-pro.parquet"))
    asked = rows.group_by("question").agg(pl.col("model").n_unique()).filter(pl.col("model") == 29)["question"]
    rows = rows.filter(pl.col("question").is_in(asked.sort().head(questions).implode()))
    votes = sl.votes_from(rows).tally()
    strongest = sorted(range(29), key=lambda model: -votes.scores[model].total)[:5]
    found = certify(oriented(votes, strongest))
    assert found.certified
    other = best_wins(rows, [votes.models[model] for model in strongest])
    assert other.finished
    assert safe_accuracy(found) * questions == other.wins
