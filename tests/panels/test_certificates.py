"""Certified weights against a visit to every cell of the arrangement."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import lcm

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.law.weights import simplest_between
from swaplaw.panels.arrangement import Arrangement, Ray, arrangement, narrowed, orthant, primitive, simplest
from swaplaw.panels.branch_and_bound import Best, best_by_cuts, branch_and_bound
from swaplaw.panels.exact import challenge
from swaplaw.panels.line_search import best_on_line, line_search

from support.corpora import corpora
from support.panel_twin import tally_of, visits
from support.twin import Corpus

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def certified(tally: sl.Tally, members: list[str]) -> sl.panels.Certificate:
    found = sl.panels.certify(sl.panel(tally, members))
    assert found.certified
    assert found.bound == found.best.accuracy
    return found


def planes_of(panel: sl.panels.Panel) -> Arrangement:
    return arrangement(panel.tally, panel.indices, panel.common)


def whole(weights: tuple[Fraction, ...]) -> Ray:
    scale = lcm(*(weight.denominator for weight in weights))
    return primitive([int(weight * scale) for weight in weights])


def check_against_every_cell(case: Corpus) -> None:
    found = certified(tally_of(case), sorted(case.ballots))
    cells = visits(case, found.panel.members)
    top = max(cell.accuracy for cell in cells)
    assert found.best.accuracy == top
    assert found.panel.at(found.best.weights).accuracy == top
    assert found.best.fragile == (not any(cell.safe for cell in cells if cell.accuracy == top))
    # The best plateau: all weights positive, no plane near.
    plateau = found.plateau
    assert plateau is not None
    inner = [cell for cell in cells if cell.safe and all(cell.weights)]
    assert all(plateau.weights)
    assert plateau.accuracy == max(cell.accuracy for cell in inner)
    assert found.panel.at(plateau.weights).accuracy == plateau.accuracy
    # No equally good cell lets the secondaries weigh less than the cone that was chosen.
    lightest = planes_of(found.panel).around(whole(plateau.weights)).least_total
    assert all(sum(cell.weights[1:]) >= lightest for cell in inner if cell.accuracy == plateau.accuracy)
    assert found.recommended.fragile is False or found.plateau is None


@given(case=corpora(models=3, questions=4, samples=3))
@settings(patient)
def test_trios_are_best_over_every_cell(case: Corpus) -> None:
    check_against_every_cell(case)


@given(case=corpora(models=4, questions=3, samples=2))
@settings(patient)
def test_quartets_are_best_over_every_cell(case: Corpus) -> None:
    check_against_every_cell(case)


@pytest.mark.slow
@given(case=corpora(models=3, questions=7, samples=6))
@settings(patient)
def test_larger_trios_are_best_over_every_cell(case: Corpus) -> None:
    check_against_every_cell(case)


def test_a_fragile_optimum_is_told_and_a_plateau_offered() -> None:
    """Gold leads on q only where the members weigh exactly the same: between, two rivals tie with it."""
    case = Corpus(
        {
            "aa": {"q": Counter({"A": 3, "B": 6, "D": 1})},
            "bb": {"q": Counter({"A": 3, "C": 6, "D": 1})},
            "cc": {"q": Counter({"D": 10})},
        },
        {"q": "A"},
    )
    found = certified(tally_of(case), ["aa", "bb", "cc"])
    assert found.best.accuracy == Fraction(1, 3)
    assert found.best.fragile
    assert found.best.weights == (Fraction(1), Fraction(1), Fraction(0))
    assert found.recommended == found.plateau
    assert found.recommended.accuracy == 0


@given(case=corpora(models=2))
@settings(patient)
def test_two_members_are_the_curve(case: Corpus) -> None:
    tally = tally_of(case)
    found, curve = certified(tally, ["aa", "bb"]), next(iter(sl.law.curves(tally)))
    assert found.panel.members == (curve.primary, curve.secondary)
    assert found.best.weights == (Fraction(1), curve.best_lift.weight)
    assert (found.lift, found.best.fragile) == (curve.best_lift.lift, curve.best_lift.fragile)
    assert found.plateau is not None
    assert found.plateau.weights == (Fraction(1), curve.best_plateau.weight)
    assert found.plateau.accuracy == curve.best_plateau.outcome.accuracy
    assert found.ceiling == curve.masses.rescue


def searched(those: Arrangement) -> Best:
    """All positive weights, searched to the end."""
    best = Best(those, -1, Fraction(-1))
    assert branch_and_bound(best) == -1
    return best


@given(case=corpora(models=2, questions=8))
@settings(patient)
def test_branch_and_bound_agrees_with_the_curve(case: Corpus) -> None:
    """Two members need no branching, and so can check it."""
    tally = tally_of(case)
    curve, pair = next(iter(sl.law.curves(tally))), next(iter(sl.pairs(tally)))
    those = arrangement(tally, (pair.a, pair.b), pair.common)
    best = searched(those)
    assert best.plateau == curve.best_plateau.outcome.accuracy * curve.n * those.unit
    # The first piece is 0, which is no positive weight.
    assert best.face == max(piece.outcome.accuracy for piece in curve.pieces[1:]) * curve.n * those.unit


@given(case=corpora(models=3, questions=6), seed=st.integers(0, 99))
@settings(patient)
def test_lines_are_searched_exactly(case: Corpus, seed: int) -> None:
    those = planes_of(sl.panel(tally_of(case), sorted(case.ballots)))
    rng = np.random.default_rng(seed)
    start, end = (primitive(rng.integers(0, 6, 3).tolist() + np.array([0, 0, 1])) for _ in range(2))
    end = primitive([a + b + 1 for a, b in zip(start, end, strict=True)])
    peak = best_on_line(those, start, end)
    assert those.score(peak.point) == peak.score
    steps = [Fraction(a, b) for a in range(1, 30) for b in (1, 2, 3, 5, 7, 12)]
    on_line = [[x.denominator * a + x.numerator * b for a, b in zip(start, end, strict=True)] for x in steps]
    assert peak.score >= max(those.scores(np.array(on_line).T))
    climbed = line_search(those, seed=seed)
    assert those.score(climbed.point) == climbed.score <= searched(those).face / those.unit


@given(
    size=st.integers(2, 4),
    rows=st.lists(st.lists(st.integers(-5, 5), min_size=4, max_size=4), min_size=1, max_size=8),
    point=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    flat=st.booleans(),
)
@settings(patient)
def test_simplest_points_have_the_smallest_sum(size: int, rows: list[list[int]], point: list[int], flat: bool) -> None:
    normals, inside = np.array(rows)[:, :size], np.array(point[:size])
    values = normals @ inside
    levels = normals[values == 0][: int(flat)]
    sides = normals[values != 0] * np.sign(values[values != 0])[:, None]
    walls = np.concatenate([sides, np.eye(size, dtype=np.int64)])
    found = np.array(next(simplest(narrowed(orthant(size), walls, levels), walls, levels)))
    assert (walls @ found > 0).all()
    assert (levels @ found == 0).all()
    grids = np.stack(np.meshgrid(*[np.arange(1, found.sum())] * size)).reshape(size, -1)
    smaller = grids[:, grids.sum(axis=0) < found.sum()]
    assert not ((walls @ smaller > 0).all(axis=0) & (levels @ smaller == 0).all(axis=0)).any()


@given(low=st.fractions(0, 9, max_denominator=40), width=st.fractions(Fraction(1, 900), 3, max_denominator=900))
@settings(patient)
def test_simplest_of_two_is_the_simplest_fraction(low: Fraction, width: Fraction) -> None:
    high = low + width
    walls = np.array(
        [[-low.numerator, low.denominator], [high.numerator, -high.denominator], [1, 0], [0, 1]], dtype=np.int64
    )
    levels = walls[:0]
    first, second = next(simplest(narrowed(orthant(2), walls, levels), walls, levels))
    assert Fraction(second, first) == simplest_between(low, high)


def test_huge_counts_stay_exact() -> None:
    """Margins far past 64 bits take the same road, only slower."""
    case = Corpus(
        {
            "aa": {"q": Counter({"A": 49_999, "B": 50_001}), "r": Counter({"A": 3, "B": 2}), "s": Counter({"C": 7})},
            "bb": {
                "q": Counter({"A": 50_021, "C": 49_979}),
                "r": Counter({"B": 70_001, "A": 69_999}),
                "s": Counter({"A": 2, "C": 1}),
            },
            "cc": {
                "q": Counter({"B": 60_013, "A": 60_017}),
                "r": Counter({"B": 90_001, "A": 1}),
                "s": Counter({"A": 99_991, "B": 9}),
            },
        },
        {"q": "A", "r": "A", "s": "A"},
    )
    check_against_every_cell(case)


def test_wide_ties_stay_exact() -> None:
    """Tie sizes whose least common multiple is past 64 bits."""
    answers = [f"w{i}" for i in range(60)]
    ballots: dict[str, dict[str, Counter[str | None]]] = {"aa": {}, "bb": {}, "cc": {}}
    for size in range(1, 54):
        for name in ballots:
            ballots[name][f"q{size}"] = Counter(["gold", *answers[: size - 1]])
    # One question that the weights decide.
    for name, votes in (("aa", "AAB"), ("bb", "BBB"), ("cc", "ABB")):
        ballots[name]["decided"] = Counter(votes)
    case = Corpus(ballots, {**{f"q{size}": "gold" for size in range(1, 54)}, "decided": "A"})
    check_against_every_cell(case)


def test_questions_that_tie_anyway_may_be_worth_most_on_planes() -> None:
    """Gold ties with B throughout; against C two planes have a question on either side, and meet at equal weights.

    Off the planes two questions score 1/2 each; where the planes meet all four score 1/3.
    """
    ballots = {
        "m1": ["GGBBD", "GBCCC", "GGBBC", "GBCCD"],
        "m2": ["GBCCD", "GGBBC", "GBCCC", "GGBBD"],
        "m3": ["GBCCD", "GGBBC", "GGBBC", "GBCCD"],
    }
    questions = [f"q{place}" for place in range(4)]
    votes: dict[str, dict[str, Counter[str | None]]] = {
        model: {question: Counter(own) for question, own in zip(questions, words, strict=True)}
        for model, words in ballots.items()
    }
    case = Corpus(votes, dict.fromkeys(questions, "G"))
    check_against_every_cell(case)
    found = certified(tally_of(case), sorted(ballots))
    assert found.best.accuracy == Fraction(1, 3)
    assert set(found.best.weights) == {Fraction(1)}
    assert found.best.fragile


def test_identical_members_and_perfect_ones() -> None:
    same: dict[str, Counter[str | None]] = {"q": Counter("AAB"), "r": Counter("BBA")}
    found = certified(tally_of(Corpus({"aa": same, "bb": same, "cc": same}, {"q": "A", "r": "A"})), ["aa", "bb", "cc"])
    assert found.best.accuracy == Fraction(1, 2)
    assert found.best.weights == (Fraction(1), Fraction(0), Fraction(0))
    assert found.ceiling == 0
    right: dict[str, Counter[str | None]] = {"q": Counter("A")}
    found = certified(tally_of(Corpus({"aa": right, "bb": right, "cc": right}, {"q": "A"})), ["aa", "bb", "cc"])
    assert found.best.accuracy == 1
    assert found.panel.union.phi_adj is None


def test_bounded_work_leaves_a_proven_gap_and_the_same_one_every_time() -> None:
    tally = sl.demo_votes().tally()
    for members in (tally.models[:4], tally.models[:5]):
        chosen = sl.panel(tally, [*members])
        proven = sl.panels.certify(chosen)
        for work in (0, 3e3, 3e4, 1e7):
            found = sl.panels.certify(chosen, work=work)
            assert found.best.accuracy <= proven.best.accuracy <= proven.bound <= found.bound
            assert found.gap == found.bound - found.best.accuracy
            assert found.panel.at(found.best.weights).accuracy == found.best.accuracy
            assert found.certified == (found.gap == 0)
            assert found == sl.panels.certify(chosen, work=work)
        assert found.certified
    for refused in (-1, float("nan")):
        with pytest.raises(sl.InputError, match=f"work {refused}"):
            sl.panels.certify(chosen, work=refused)


def test_a_floor_ends_the_search_of_lesser_panels() -> None:
    tally = sl.demo_votes().tally()
    chosen = sl.panel(tally, ["gpt-4", "gpt-35-turbo", "mistral-large"])
    best = certified(tally, list(chosen.members)).best.accuracy
    assert challenge(chosen, floor=best) is None
    above = challenge(chosen, floor=best - Fraction(1, 1000))
    assert above is not None
    assert above.best.accuracy == best


def test_marginals_are_what_a_member_is_worth() -> None:
    tally = sl.demo_votes().tally()
    found = certified(tally, ["claude-3-opus-20240229", "gemini-1.5-pro-preview-0409", "mistral-large"])
    losses = sl.panels.marginals(found)
    for name, loss in losses.items():
        rest = certified(tally, [other for other in found.panel.members if other != name])
        assert loss == found.best.accuracy - rest.best.accuracy
    assert all(losses[name] >= 0 for name in found.panel.members[1:])
    pair = certified(tally, ["gpt-4", "mistral-large"])
    assert sl.panels.marginals(pair)["mistral-large"] == pair.lift


@pytest.mark.parametrize("seed", range(12))
def test_bisection_agrees_with_cutting_plane_by_plane(seed: int) -> None:
    """More planes than a visit to every cell could bear, with many that coincide or meet in one ray."""
    rng = np.random.default_rng(seed)
    members, questions = (4, 12) if seed % 4 == 3 else (3, 40)
    ballots: dict[str, dict[str, Counter[str | None]]] = {}
    for member in range(members):
        shares = rng.dirichlet([0.6] * 4, questions)
        ballots[f"m{member}"] = {
            f"q{question}": Counter(rng.choice(["A", "B", "C", "D"], rng.integers(1, 2 + seed % 6), p=share).tolist())
            for question, share in enumerate(shares)
        }
    chosen = sl.panel(tally_of(Corpus(ballots, {f"q{question}": "A" for question in range(questions)})), [*ballots])
    those = planes_of(chosen)
    best, other = Best(those, -1, Fraction(-1)), Best(those, -1, Fraction(-1))
    best_by_cuts(best, orthant(members), np.arange(len(those.normals)), Fraction(those.sure))
    assert branch_and_bound(other) == -1
    assert (other.plateau, other.face) == (best.plateau, best.face)
    assert other.plateau_at is not None
    assert those.score(other.plateau_at) * those.unit == other.plateau
