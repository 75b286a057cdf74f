"""Effective votes: planted correlations are found; and the classical measures against their definitions."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import swaplaw as sl
from swaplaw._arrays import Floats, Ints
from swaplaw.evidence import effective_votes, effective_votes_unlabelled
from swaplaw.evidence.diversity import classical
from swaplaw.evidence.quantities import quantities_of

from support.commands import Run
from support.corpora import corpora
from support.twin import Corpus


def judges(right: Ints, clusters: Ints | None = None) -> sl.Tally:
    """Judges that say yes or no of each item, where they are right and wrong as given: judges x items."""
    many, items = right.shape
    gold = np.where(np.arange(items) % 2, "yes", "no")
    other = np.where(np.arange(items) % 2, "no", "yes")
    frame = pl.DataFrame(
        {
            "dataset": "judged",
            "question": np.tile([f"item-{number:05}" for number in range(items)], many),
            "model": np.repeat([f"judge-{number}" for number in range(many)], items),
            "sample": 0,
            "answer": np.where(right, gold, other).reshape(-1),
            "gold": np.tile(gold, many),
        }
    )
    if clusters is not None:
        frame = frame.with_columns(cluster=pl.Series(np.tile(clusters, many)).cast(pl.String))
    return sl.tally(frame)


def planted(rng: np.random.Generator, many: int, items: int, rho: float, accuracy: float = 0.8) -> Ints:
    """Judges that are right together with correlation rho: with chance sqrt(rho) each does what all others do."""
    together = rng.random((many, items)) < np.sqrt(rho)
    shared, own = rng.random(items) < accuracy, rng.random((many, items)) < accuracy
    return np.where(together, shared, own)


def by_definition(right: Floats) -> float:
    """Kish's number from NumPy's own correlations."""
    many = len(right)
    correlations: Floats = np.atleast_2d(np.corrcoef(right))
    mean = correlations[np.triu_indices(many, 1)].mean()
    return float(min(many, many / (1 + (many - 1) * mean)))


def test_effective_votes_are_their_definition_without_each_model_too() -> None:
    right = planted(np.random.default_rng(1), 5, 300, 0.4)
    found = effective_votes(judges(right))
    assert found.of == 5
    assert found.value == pytest.approx(by_definition(right))
    for place, worth in enumerate(found.without.values()):
        assert worth == pytest.approx(by_definition(np.delete(right, place, axis=0)))
    assert found.low is not None
    assert found.value is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    assert found.to_dict()["of"] == 5


def test_copies_are_one_voter_and_are_spared() -> None:
    rng = np.random.default_rng(2)
    first, second = planted(rng, 2, 2_000, 0.0)
    found = effective_votes(judges(np.stack([first, first, second])))
    assert found.value == pytest.approx(3 / (1 + 2 / 3), abs=0.1)
    assert set(found.spared) == {"judge-0", "judge-1"}
    assert "; without judge-" in found.sentence
    assert effective_votes(judges(np.stack([first, first]))).value == pytest.approx(1)


def test_six_judges_worth_two_are_found_to_be() -> None:
    rho = (6 / 1.9 - 1) / 5
    found = effective_votes(judges(planted(np.random.default_rng(3), 6, 2_000, rho)))
    assert found.value == pytest.approx(1.9, abs=0.2)


@pytest.mark.parametrize(("many", "items", "rho"), [(6, 300, 0.43), (3, 60, 0.2), (4, 100, 0.0)])
def test_planted_correlations_are_inside(many: int, items: int, rho: float) -> None:
    rng, inside = np.random.default_rng(4), 0
    truth = many / (1 + (many - 1) * rho)
    for _ in range(60):
        found = effective_votes(judges(planted(rng, many, items, rho)))
        assert found.low is not None
        assert found.high is not None
        inside += found.low - 1e-9 <= truth <= found.high + 1e-9
    assert inside / 60 >= 0.9


def test_items_of_one_cluster_are_one_observation() -> None:
    right = planted(np.random.default_rng(5), 4, 60, 0.3)
    often = np.repeat(right, 10, axis=1)
    apart = effective_votes(judges(often))
    together = effective_votes(judges(often, np.repeat(np.arange(60), 10)))
    assert together.value == pytest.approx(apart.value)
    assert None not in (together.low, together.high, apart.low, apart.high)
    assert together.high - together.low > 2 * (apart.high - apart.low)  # type: ignore[operator]


def test_undefined_where_nobody_errs_or_there_is_one_item() -> None:
    assert effective_votes(judges(np.ones((3, 10), dtype=bool))).value is None
    one = effective_votes(judges(np.array([[True], [False]])))
    assert (one.value, one.low, one.high) == (None, None, None)
    assert "not known" in one.sentence


def test_questions_that_some_skipped_count_where_both_answered() -> None:
    right = planted(np.random.default_rng(6), 3, 200, 0.3)
    frame = sl.demo_votes().frame
    skipped = frame.filter((pl.col("model") != "gpt-4") | (pl.col("question").hash(0) % 3 != 0))
    tally = sl.tally(skipped)
    assert not tally.complete
    phi = [found.masses.phi for found in sl.pairs(tally)]
    found = effective_votes(tally)
    assert found.correlation == pytest.approx(np.mean([each for each in phi if each is not None]))
    assert effective_votes(judges(right)).correlation == pytest.approx(
        np.mean([found.masses.phi for found in sl.pairs(judges(right))])
    )


def test_without_labels_there_are_bounds() -> None:
    right = planted(np.random.default_rng(7), 5, 400, 0.3)
    truth = effective_votes(judges(right)).value
    counts, question = np.zeros((5, 800), dtype=int), np.repeat(np.arange(400), 2)
    counts[np.arange(5)[:, None], 2 * np.arange(400) + right] = 1
    found = effective_votes_unlabelled(counts, question)
    agree = np.mean([(right[a] == right[b]).mean() for a in range(5) for b in range(a)])
    assert found.correlation == pytest.approx(agree)
    assert found.value is None
    assert found.high == 5
    assert found.low is not None
    assert truth is not None
    assert found.low <= 5 / (1 + 4 * agree) <= truth
    with pytest.raises(sl.InputError, match="give one for each"):
        effective_votes_unlabelled(counts, question[1:])


def test_summary_says_what_the_fleet_is_worth(swaplaw: Run) -> None:
    told = json.loads(swaplaw("summary", "demo", "--json").out)["effective_votes"]
    found = effective_votes(sl.demo_votes())
    assert told == found.to_dict()
    assert {"of", "value", "low", "high"} <= set(told)
    assert f"{found.sentence}." in " ".join(swaplaw("summary", "demo").out.split())


@given(case=corpora(questions=6))
def test_classical_measures_are_their_definitions(case: Corpus) -> None:
    pair = sl.pairs(sl.votes_from(case.frame()).tally())[0]
    m = pair.masses
    found = classical(quantities_of([pair], "1"))
    agree, differ, mean = m.both_right * m.both_wrong, m.rescue * m.damage, (m.p + m.q) / 2
    apart = m.rescue + m.damage
    expected: dict[str, Fraction | float | None] = {
        "q_statistic": (agree - differ) / (agree + differ) if agree + differ else None,
        "correlation": m.phi,
        "disagreement": apart,
        "double_fault": m.both_wrong,
        "entropy": apart,
        "kohavi_wolpert": apart / 4,
        "kappa": 1 - apart / (2 * mean * (1 - mean)) if 0 < mean < 1 else None,
        "difficulty": m.both_wrong * mean**2 + apart * (mean - Fraction(1, 2)) ** 2 + m.both_right * (1 - mean) ** 2,
        "generalised_diversity": 1 - m.both_wrong / (1 - mean) if mean < 1 else None,
        "coincident_failure": apart / (1 - m.both_right) if m.both_right < 1 else 0,
    }
    assert set(found) == set(expected)
    for name, value in expected.items():
        assert (
            np.isnan(found[name][0, 0]) if value is None else found[name][0, 0] == pytest.approx(float(value), abs=1e-9)
        )
