"""The exact law and its fast curve against the plain twin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, takewhile
from math import isclose
from typing import TypeVar

from hypothesis import example, given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.law.weights import PAPER_GRID, simplest_between

from support.corpora import ODD, corpora, weights
from support.twin import Corpus, every_breakpoint, law

Test = TypeVar("Test", bound=Callable[..., None])


def odd_examples(test: Test) -> Test:
    for case in ODD.values():
        test = example(case=case, x=Fraction(2, 3))(example(case=case, x=Fraction(1))(test))
    return test


@odd_examples
@given(case=corpora(), x=weights)
def test_pair_equals_its_twin(case: Corpus, x: Fraction) -> None:
    chosen = sl.pair(sl.votes_from(case.frame()).tally(), "aa", "bb")
    plain = law(case, "aa", "bb", x)
    m, at = chosen.masses, chosen.at(x)
    assert (chosen.n, chosen.of) == (plain.n, len(set(case.ballots["aa"]) | set(case.ballots["bb"])))
    assert (m.p, m.q) == (plain.p, plain.q)
    assert (m.rescue, m.damage, m.both_wrong, m.both_right) == plain.cells
    assert (at.rescued, at.damaged, at.repaired, at.corrupted) == plain.gains
    assert at.lift == plain.lift


@odd_examples
@given(case=corpora(), x=weights)
def test_identities_hold_exactly(case: Corpus, x: Fraction) -> None:
    chosen = sl.pair(sl.votes_from(case.frame()).tally(), "aa", "bb")
    m, at = chosen.masses, chosen.at(x)
    assert m.rescue + m.damage + m.both_right + m.both_wrong == 1
    assert m.damage == m.rescue + m.gap
    assert m.ceiling == min(m.q, 1 - m.p)
    assert at.accuracy == m.p + at.lift

    def times(rate: Fraction | None, mass: Fraction) -> Fraction:
        assert (rate is None) == (mass == 0)
        return Fraction(0) if rate is None else rate * mass

    alpha_r, gamma_d = times(at.alpha, m.rescue), times(at.gamma, m.damage)
    assert alpha_r - gamma_d + times(at.beta, m.both_wrong) - times(at.kappa, m.both_right) == at.lift
    assert at.swap == alpha_r - gamma_d
    assert at.lift == at.swap + at.residual
    if at.alpha is not None and at.gamma is not None:
        assert at.swap == m.predicted_swap(at.alpha, at.gamma)
        assert m.threshold is not None
        if at.gamma > 0:
            assert (at.alpha / at.gamma > m.threshold) == (at.swap > 0)
    if m.phi_adj is not None:
        assert m.rescue == m.q * (1 - m.p) * (1 - m.phi_adj)
        if m.phi is not None and m.phi_max is not None:
            assert isclose(m.phi, float(m.phi_adj) * m.phi_max, abs_tol=1e-12)
    else:
        assert m.q == 0 or m.p == 1
    assert (m.phi is None) == (m.phi_max is None) == (m.p in (0, 1) or m.q in (0, 1))


@odd_examples
@given(case=corpora(), x=weights)
def test_changes_account_for_all_lift(case: Corpus, x: Fraction) -> None:
    chosen = sl.pair(sl.votes_from(case.frame()).tally(), "aa", "bb")
    at = chosen.at(x)
    total = dict.fromkeys(("rescued", "damaged", "repaired", "corrupted"), Fraction(0))
    for change in chosen.changes(x):
        assert change.credit != 0
        total[change.kind] += change.credit / chosen.n
    assert total == {
        "rescued": at.rescued,
        "damaged": -at.damaged,
        "repaired": at.repaired,
        "corrupted": -at.corrupted,
    }


@odd_examples
@given(case=corpora(), x=weights)
def test_curve_equals_the_law_at_every_weight(case: Corpus, x: Fraction) -> None:
    tally = sl.votes_from(case.frame()).tally()
    chosen, curve = sl.pair(tally, "aa", "bb"), sl.curve(tally, "aa", "bb")
    points = every_breakpoint(case, "aa", "bb")
    between = [(low + high) / 2 for low, high in pairwise(points)]
    for weight in {x, *points, *between, points[-1] + 1, 10**6 * (points[-1] + 1)}:
        assert curve.at(weight) == chosen.at(weight)
    plain = {weight: law(case, "aa", "bb", weight).lift for weight in [*points, *between, points[-1] + 1]}
    assert curve.best_lift.lift == max(plain.values())


@odd_examples
@given(case=corpora(), x=weights)
def test_pieces_tile_the_half_line(case: Corpus, x: Fraction) -> None:
    curve = sl.curve(sl.votes_from(case.frame()).tally(), "aa", "bb")
    assert curve.pieces[0].low == curve.pieces[0].high == 0
    assert curve.pieces[-1].high is None
    for number, (piece, following) in enumerate(pairwise(curve.pieces)):
        assert piece.is_point == (number % 2 == 0)
        assert piece.high == following.low
    for piece in curve.pieces:
        inside = piece.low if piece.is_point else simplest_between(piece.low, piece.high)
        assert (piece.lift, piece.swap) == (curve.at(inside).lift, curve.at(inside).swap)
    # No point is there for nothing.
    for before, point, after in zip(curve.pieces[1::2], curve.pieces[2::2], curve.pieces[3::2], strict=False):
        outcomes = [p.outcome for p in (before, point, after)]
        assert len({(o.rescued, o.damaged, o.repaired, o.corrupted) for o in outcomes}) > 1


@odd_examples
@given(case=corpora(), x=weights)
def test_optima_are_what_they_say(case: Corpus, x: Fraction) -> None:
    curve = sl.curve(sl.votes_from(case.frame()).tally(), "aa", "bb")
    lift, plateau, swap = curve.best_lift, curve.best_plateau, curve.best_swap
    assert lift.lift == max(piece.lift for piece in curve.pieces)
    assert plateau.lift == max(piece.lift for piece in curve.pieces[1::2])
    assert swap.swap == max(piece.swap for piece in curve.pieces)
    for best in (lift, plateau, swap):
        assert best.outcome == curve.at(best.weight)
        assert best.low <= best.weight
        assert best.high is None or best.weight <= best.high
    assert plateau.low < plateau.weight
    assert plateau.high is None or plateau.weight < plateau.high
    assert lift.fragile == (lift.low == lift.high and lift.weight > 0)
    # Of equally good ranges, the one with the smallest weights, all of it, and the simplest weight inside.
    first = next(place for place, piece in enumerate(curve.pieces) if piece.swap == swap.swap)
    alike = list(takewhile(lambda piece: piece.swap == swap.swap, curve.pieces[first:]))
    assert (swap.low, swap.high) == (alike[0].low, alike[-1].high)
    assert swap.weight == (swap.low if swap.low == swap.high else simplest_between(swap.low, swap.high))
    # The paper's rule: its grid, and of equal weights the smallest.
    masses = {weight: curve.at(weight).swap for weight in PAPER_GRID}
    assert curve.paper_rule.weight == min(weight for weight in PAPER_GRID if masses[weight] == max(masses.values()))
    assert curve.paper_rule.swap == max(masses.values()) <= swap.swap


@given(case=corpora(models=3, missing=True))
def test_nothing_depends_on_names_or_order(case: Corpus) -> None:
    frame = case.frame()
    relabelled = frame.with_columns(
        answer=frame["answer"].replace({"A": "z1", "B": "A", "C": "B"}),
        gold=frame["gold"].replace({"A": "z1", "B": "A", "C": "B"}),
    )
    for other in (relabelled, frame.reverse()):
        ours, theirs = sl.votes_from(frame).tally(), sl.votes_from(other).tally()
        for one, two in zip(sl.law.curves(ours), sl.law.curves(theirs), strict=True):
            assert (one.primary, one.secondary, one.masses) == (two.primary, two.secondary, two.masses)
            assert [(p.low, p.high, p.outcome) for p in one.pieces] == [(p.low, p.high, p.outcome) for p in two.pieces]


@given(case=corpora(), x=weights, factor=st.integers(2, 5))
def test_repeating_every_vote_changes_nothing(case: Corpus, x: Fraction, factor: int) -> None:
    more = Corpus(
        {
            m: {q: Counter({k: n * factor for k, n in v.items()}) for q, v in qs.items()}
            for m, qs in case.ballots.items()
        },
        case.gold,
    )
    ours, theirs = (sl.pair(sl.votes_from(c.frame()).tally(), "aa", "bb") for c in (case, more))
    assert ours.at(x) == theirs.at(x)


def test_huge_counts_and_odd_weights_stay_exact() -> None:
    """Numbers far past 64 bits take the same road, only slower."""
    case = Corpus(
        {
            "aa": {"q": Counter({"A": 49_999, "B": 50_001}), "r": Counter({"A": 3, "B": 2})},
            "bb": {"q": Counter({"A": 50_021, "C": 49_979}), "r": Counter({"B": 70_001, "A": 69_999})},
        },
        {"q": "A", "r": "A"},
    )
    chosen = sl.pair(sl.votes_from(case.frame()).tally(), "aa", "bb")
    curve = sl.curve(chosen.tally, "aa", "bb")
    for weight in [*every_breakpoint(case, "aa", "bb"), Fraction(10**30 + 1, 10**30), Fraction(1, 10**40)]:
        plain = law(case, "aa", "bb", weight)
        assert chosen.at(weight).lift == curve.at(weight).lift == plain.lift


def test_wide_ties_stay_exact() -> None:
    """Tie sizes whose least common multiple is past 64 bits."""
    answers = [f"w{i}" for i in range(60)]
    ballots: dict[str, dict[str, Counter[str | None]]] = {"aa": {}, "bb": {}}
    for size in range(1, 54):
        ballots["aa"][f"q{size}"] = Counter(["gold", *answers[: size - 1]])
        ballots["bb"][f"q{size}"] = Counter(["gold", *answers[: (size * 7) % 53]])
    case = Corpus(ballots, {f"q{size}": "gold" for size in range(1, 54)})
    chosen = sl.pair(sl.votes_from(case.frame()).tally(), "aa", "bb")
    for weight in ("0", "1/3", "1", "5"):
        plain = law(case, "aa", "bb", Fraction(weight))
        at = chosen.at(weight)
        assert (at.rescued, at.damaged, at.repaired, at.corrupted) == plain.gains
        assert sl.curve(chosen.tally, "aa", "bb").at(weight) == at
