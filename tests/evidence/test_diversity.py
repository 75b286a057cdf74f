"""The classical measures against their definitions, ties broken in every possible way."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import ceil

import numpy as np
import pytest
from hypothesis import given

import swaplaw as sl
from swaplaw.evidence.diversity import classical
from swaplaw.evidence.quantities import terms_of

from support.corpora import corpora
from support.twin import Corpus, score


def chances(case: Corpus, models: list[str]) -> list[list[Fraction]]:
    """Each question's chance of being right, model by model, on the questions that all answered."""
    common = [q for q in sorted(case.gold) if all(q in case.ballots[m] for m in models)]
    return [[score({m: Fraction(1)}, case.ballots, q, case.gold[q]) for m in models] for q in common]


def plain(rows: list[list[Fraction]]) -> dict[str, float | None]:
    """Kuncheva & Whitaker's formulas over every way to break every tie, each weighted by its chance."""
    size, n = len(rows[0]), len(rows)
    outcomes: list[tuple[int, Fraction]] = []
    for row in rows:
        for way in product((0, 1), repeat=size):
            chance = Fraction(1, n)
            for right, share in zip(way, row, strict=True):
                chance *= share if right else 1 - share
            outcomes.append((sum(way), chance))
    mean = sum(k * c for k, c in outcomes) / size
    fails = [sum((c for k, c in outcomes if size - k == i), Fraction(0)) for i in range(size + 1)]
    one = sum(Fraction(i, size) * fails[i] for i in range(size + 1))
    two = sum(Fraction(i * (i - 1), size * (size - 1)) * fails[i] for i in range(size + 1))
    mixed = sum(k * (size - k) * c for k, c in outcomes)
    coincident = sum(Fraction(size - i, size - 1) * fails[i] for i in range(1, size + 1))
    found: dict[str, Fraction | float | None] = {
        "entropy": sum((min(k, size - k) * c for k, c in outcomes), Fraction(0)) / (size - ceil(size / 2)),
        "kohavi_wolpert": mixed / Fraction(size**2),
        "kappa": 1 - mixed / size / ((size - 1) * mean * (1 - mean)) if 0 < mean < 1 else None,
        "difficulty": sum((Fraction(k, size) - mean) ** 2 * c for k, c in outcomes),
        "generalised_diversity": 1 - two / one if one else None,
        "coincident_failure": coincident / (1 - fails[0]) if fails[0] < 1 else Fraction(0),
    }
    return {name: None if value is None else float(value) for name, value in found.items()}


@given(case=corpora(models=3, questions=4))
def test_non_pairwise_measures_are_their_definitions(case: Corpus) -> None:
    tally = sl.votes_from(case.frame()).tally()
    for models in (["aa", "bb", "cc"], ["cc", "aa"]):
        rows = chances(case, models)
        found = sl.evidence.diversity_of(tally, models)
        assert found.n == len(rows)
        assert found.measures == pytest.approx(plain(rows), abs=1e-12)
        assert sum(found.right) == 1


@given(case=corpora(questions=6))
def test_pairwise_measures_are_their_definitions(case: Corpus) -> None:
    tally = sl.votes_from(case.frame()).tally()
    pair = next(sl.pairs(tally))
    m, found = pair.masses, sl.evidence.pairwise(pair.masses)
    agree, differ = m.both_right * m.both_wrong, m.rescue * m.damage
    assert set(found) == {"q_statistic", "correlation", "disagreement", "double_fault"}
    assert found["q_statistic"] == (float((agree - differ) / (agree + differ)) if agree + differ else None)
    assert found["correlation"] == m.phi
    assert found["disagreement"] == float(m.rescue + m.damage)
    assert found["double_fault"] == float(m.both_wrong)
    both = sl.evidence.diversity_of(tally, [pair.primary, pair.secondary]).measures
    assert both["entropy"] == pytest.approx(found["disagreement"])
    assert both["kohavi_wolpert"] == pytest.approx(float(m.rescue + m.damage) / 4)
    # Many pairs and draws at once give the same numbers.
    arrays = classical(terms_of([pair], "1").quantities())
    for name, value in (found | both).items():
        assert np.isnan(arrays[name][0]) if value is None else arrays[name][0] == pytest.approx(value, abs=1e-9)
    names = "entropy kohavi_wolpert kappa difficulty generalised_diversity coincident_failure"
    assert set(both) == set(names.split())


def test_textbook_case() -> None:
    """Two models right on different halves: nothing is more diverse."""
    case = Corpus(
        {"aa": {"q": Counter("A"), "r": Counter("B")}, "bb": {"q": Counter("B"), "r": Counter("A")}},
        {"q": "A", "r": "A"},
    )
    found = sl.evidence.diversity_of(sl.votes_from(case.frame()).tally())
    assert found.measures == {
        "entropy": 1,
        "kohavi_wolpert": 0.25,
        "kappa": -1,
        "difficulty": 0,
        "generalised_diversity": 1,
        "coincident_failure": 1,
    }
    assert found.to_dict()["right"] == [0, 1, 0]


def test_a_set_needs_two_different_models() -> None:
    tally = sl.demo_votes().tally()
    for models in (["gpt-4"], ["gpt-4", "gpt-4"], []):
        with pytest.raises(sl.InputError, match="two or more different models"):
            sl.evidence.diversity_of(tally, models)


@given(case=corpora(models=3))
def test_all_pairs_at_once_are_each_pair_alone(case: Corpus) -> None:
    tally = sl.votes_from(case.frame()).tally()
    found = sl.evidence.pairwise_of(tally)
    for place, (a, b) in enumerate(combinations(tally.models, 2)):
        try:
            alone = sl.evidence.pairwise(sl.pair(tally, a, b).masses)
        except sl.InputError:
            assert all(np.isnan(each[place]) for each in found.values())
            continue
        for name, value in alone.items():
            assert (
                np.isnan(found[name][place]) if value is None else found[name][place] == pytest.approx(value, abs=1e-9)
            )
