"""The mixed-integer program: as good as brute force and as another program, silent, and never wrong about accuracy."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import product
from math import gcd

import numpy as np
import polars as pl
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import swaplaw as sl
from swaplaw._core.arrays import Bools
from swaplaw.law.plurality import vote
from swaplaw.panels import certificates
from swaplaw.panels.arrangement import arrangement
from swaplaw.panels.certificates import BySolver, Certificate, Parts, certify
from swaplaw.panels.fleet import fleet_optimum
from swaplaw.panels.milp import program, quiet_solver, solve
from swaplaw.panels.panel import Panel, oriented
from swaplaw.votes.tally import Tally

from support.data import real_votes


def random_tally(models: int, questions: int, samples: int, seed: int) -> Tally:
    rng = np.random.default_rng(seed)
    places = list(product(range(questions), range(models), range(samples)))
    rows = {
        "question": [f"q{question:02}" for question, _, _ in places],
        "model": [f"m{model}" for _, model, _ in places],
        "sample": [sample for _, _, sample in places],
        "answer": rng.choice(list("AABCD"), len(places)),
    }
    return sl.votes_from(pl.DataFrame(rows).with_columns(gold=pl.lit("A"))).tally()


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
    parts = Parts(panel, None, {})
    for place in range(1, parts.size):
        parts.search_pair(place)
    parts.bound = Fraction(1)
    return BySolver(parts).certificate(None)


def plain_program(votes: Tally, members: list[int]) -> float:
    """Another formulation, row by row: one switch per question, M from that row alone, no ties, no conflicts.

    Written from the votes, without anything of `panels`.
    """
    rows, credit, low = [], [], []
    sure = 0
    answers = {name: place for place, name in enumerate(votes.questions)}
    dense = [votes.dense(member) for member in members]
    for place in answers.values():
        at = np.flatnonzero(votes.rivals.question == place)
        gold = np.array([votes.gold[member, place] / votes.votes[member, place] for member in members])
        cast = votes.votes[members, place]
        shares = np.array([[own[spot] for own in dense] / cast for spot in at])
        margins = gold - shares if len(at) else np.empty((0, len(members)))
        margins = margins[(shares > 0).any(axis=1)] if len(at) else margins
        if (margins.max(axis=1, initial=-1) <= 0).any() or not gold.any():
            continue
        if (margins >= 0).all():
            sure += 1
            continue
        credit.append(1)
        rows += [(len(credit) - 1, row) for row in margins if row.min() < 0]
    k, q = len(members), len(credit)
    matrix = np.zeros((len(rows), k + q))
    for line, (question, margin) in enumerate(rows):
        reach = 1e-5 - margin.min()
        matrix[line, :k], matrix[line, k + question] = margin, -reach
        low.append(1e-5 - reach)
    simplex = np.concatenate([np.ones(k), np.zeros(q)])
    with quiet_solver():
        found = milp(
            -np.concatenate([np.zeros(k), np.ones(q)]),
            constraints=[LinearConstraint(matrix, low, np.inf), LinearConstraint(simplex[None], 1, 1)],
            integrality=np.concatenate([np.zeros(k), np.ones(q)]),
            bounds=Bounds(0, 1),
            options={"mip_rel_gap": 0.0},
        )
    assert found.fun is not None
    return sure - float(found.fun)


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
    monkeypatch.setattr(certificates, "EFFORT", 0)
    hurried = certify(panel)
    assert hurried.solver
    assert hurried.best.accuracy == by_solver(panel).best.accuracy
    assert hurried.proof == ("solver" if hurried.certified else "none")


def test_few_members_are_finished_exactly_where_the_solver_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = random_tally(4, 25, 3, 3)
    panel = oriented(votes, range(4))
    monkeypatch.setattr(certificates, "EFFORT", 0)
    monkeypatch.setattr(certificates, "NODES", 0)
    found = certify(panel)
    assert found.certified
    assert found.best.accuracy >= by_solver(panel).best.accuracy


def test_a_time_limit_ends_with_a_gap_and_no_proof() -> None:
    votes = sl.demo_votes().tally()
    found = fleet_optimum(votes, time_limit=0.01)
    assert found.accuracy <= found.bound
    assert found.proof in ("none", "solver")


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
    solve(program(those, votes, panel.indices), 0.0, ties=True)
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


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, 6, 7])
def test_math500_equals_an_independent_program(size: int) -> None:
    votes = sl.read_votes(real_votes("best-of-infinity.parquet")).tally("math500")
    strongest = sorted(range(7), key=lambda model: -votes.scores[model].total)[:size]
    found = certify(oriented(votes, strongest))
    assert found.certified
    assert found.best.accuracy * 500 == round(plain_program(votes, strongest)) == 484


@pytest.mark.slow
@pytest.mark.parametrize("questions", [1_000, 3_000])
def test_mmlu_pro_equals_an_independent_program(questions: int) -> None:
    votes = sl.read_votes(real_votes("mmlu-pro.parquet")).tally()
    everyone: Bools = np.logical_and.reduce(votes.answered)
    votes = votes.select(questions=everyone & (np.cumsum(everyone) <= questions))
    strongest = sorted(range(29), key=lambda model: -votes.scores[model].total)[:5]
    panel = oriented(votes, strongest)
    found = certify(panel)
    assert found.certified
    assert found.plateau is not None
    assert found.plateau.accuracy * panel.n == round(plain_program(votes, strongest))
