"""Beside what people would use instead: a NumPy loop, crowd-kit, DESlib, pandas; on synthetic and on real votes.

`SWAPLAW_BENCH_WHOLE=1` runs crowd-kit on every pair and weight (minutes) instead of on a few.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

import swaplaw as sl
from benchmarks.fleets import synthetic
from benchmarks.harness import Row, compare, guarding
from benchmarks.law import MODELS, OPTIONS, QUESTIONS, SAMPLES, fleet, grid_loop, write
from swaplaw._core.arrays import Ints
from swaplaw.law.curve import curve_of
from swaplaw.votes.tally import Tally

WHOLE = bool(os.environ.get("SWAPLAW_BENCH_WHOLE"))
SYNTHETIC = "synthetic votes"
LOOP = "NumPy loop over 25 weights"
SIZE = f"{MODELS} x {QUESTIONS:,} x {SAMPLES}"


def measure() -> Iterator[Row]:
    answers, gold = fleet()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        write(answers, gold, file)
        tally = sl.read_votes(file).tally()
        yield curves_beside_numpy(tally, answers, gold)
        yield curves_beside_crowdkit(tally, file)
        yield diversity_beside_deslib(tally, answers, gold)
        yield count_beside_pandas(file)
    if not guarding():
        yield curves_of_synthetic(50, 10_000)
        yield from curves_of_real()


def curves_beside_numpy(tally: Tally, answers: Ints, gold: Ints) -> Row:
    """All 45 pairs: every weight exactly, against 25 weights in a plain loop."""
    counts = np.stack([(answers == option).sum(axis=2) for option in range(OPTIONS + 1)], axis=2)
    every = list(combinations(range(MODELS), 2))

    def loop() -> list[list[float]]:
        return [grid_loop(counts, gold, *pair) for pair in every]

    twothirds = sl.law.PAPER_GRID.index(sl.law.as_weight("2/3"))
    assert np.allclose(
        sorted(float(curve.at("2/3").lift) for curve in sl.law.curves(tally)),
        sorted(lifts[twothirds] for lifts in loop()),
    )
    ours = partial(_all, tally)
    return compare(
        f"exact curves of 45 pairs, {SIZE}", ours, loop, LOOP, 20, processor=True, note=SYNTHETIC, guarded=True
    )


def _all(tally: Tally) -> list[sl.law.Curve]:
    return list(sl.law.curves(tally))


def curves_beside_crowdkit(tally: Tally, file: Path) -> Row:
    """Every weight exactly, against crowd-kit's weighted majority vote for each of 45 pairs and 25 weights."""
    import pandas as pd
    from crowdkit.aggregation import MajorityVote

    every = list(product(combinations(range(MODELS), 2), sl.law.PAPER_GRID))
    few = every if WHOLE else every[:: len(every) // 3][:3]
    votes = pd.read_parquet(file)
    table = votes.rename(columns={"question": "task", "model": "worker", "answer": "label"}).fillna({"label": "null"})
    ballots = {
        pair: table[table["worker"].isin([tally.models[model] for model in pair])].reset_index(drop=True)
        for pair, _ in few
    }

    def vote(pair: tuple[int, int], weight: float) -> Any:
        first, second = (tally.models[model] for model in pair)
        return MajorityVote().fit_predict(ballots[pair], pd.Series({first: 1.0, second: weight}))

    def theirs() -> list[Any]:
        return [vote(pair, float(weight)) for pair, weight in few]

    gold = votes.drop_duplicates("question").set_index("question")["gold"]
    winners = vote((0, 1), 0.51)
    # Ties go to one of their labels there, and are shared here.
    own = float(sl.pair(tally, tally.models[0], tally.models[1]).at("51/100").accuracy)
    assert abs(own - float((winners == gold.loc[winners.index]).mean())) < 0.02
    return compare(
        f"exact curves of 45 pairs, {SIZE}",
        partial(_all, tally),
        theirs,
        "crowd-kit's weighted majority vote, 45 pairs x 25 weights",
        1000,
        rounds=1 if WHOLE else 2,
        share=len(few) / len(every),
        processor=True,
        note=SYNTHETIC,
        guarded=True,
    )


def diversity_beside_deslib(tally: Tally, answers: Ints, gold: Ints) -> Row:
    """Four classical measures of all pairs, from each model's own vote."""
    from deslib.util import diversity

    first = np.stack([(answers == option).sum(axis=2) for option in range(OPTIONS + 1)], axis=2).argmax(axis=2)
    named = {
        "q_statistic": diversity.Q_statistic,
        "correlation": diversity.correlation_coefficient,
        "disagreement": diversity.disagreement_measure,
        "double_fault": diversity.double_fault,
    }
    every = list(combinations(range(MODELS), 2))
    few = every[::9]

    def ours() -> list[dict[str, float | None]]:
        return [sl.evidence.pairwise(pair.masses) for pair in sl.pairs(tally)]

    def theirs() -> list[dict[str, float]]:
        return [{name: measure(gold, first[a], first[b]) for name, measure in named.items()} for a, b in few]

    for own, (a, b), other in zip(ours(), every, theirs()[:1], strict=False):
        # They break ties by the order of options; we take the mean over all ways of breaking them.
        assert abs((own["double_fault"] or 0) - other["double_fault"]) < 0.02, (a, b)
    return compare(
        f"diversity of 45 pairs, {SIZE}",
        ours,
        theirs,
        "DESlib, the same four measures",
        20,
        rounds=2,
        share=len(few) / len(every),
        processor=True,
        note=SYNTHETIC,
        guarded=True,
    )


def count_beside_pandas(file: Path) -> Row:
    """From a file of votes to counts, and for us to a checked tally."""
    import pandas as pd

    def theirs() -> object:
        return pd.read_parquet(file).groupby(["question", "model", "answer", "gold"], dropna=False).size()

    def ours() -> Tally:
        return sl.read_votes(file).tally()

    assert int(ours().votes.sum()) == int(pd.Series(theirs()).sum())
    name = f"count and check {MODELS * QUESTIONS * SAMPLES:,} votes of a file"
    return compare(name, ours, theirs, "pandas read_parquet and group-by", 1, rounds=3, note=SYNTHETIC, guarded=True)


def curves_of_synthetic(models: int, questions: int) -> Row:
    return curves_beside_sampled_loop(f"{models} x {questions:,} x 24", synthetic(models, questions), SYNTHETIC)


def curves_of_real() -> Iterator[Row]:
    """The bundled votes, and the larger tables that the tests use."""
    folder = Path(__file__).resolve().parents[1] / "tests" / "data" / "votes"
    exams = sl.importers.Options(question=("cluster", "question", "gold"), drop_ambiguous=True)
    tallies = [sl.demo_votes().tally(), sl.import_votes(folder / "renze-exams.parquet", exams).votes.tally()]
    tallies += [sl.read_votes(folder / f"{name}.parquet").tally() for name in ("reasoning-gym", "mmlu-pro")]
    for tally in tallies:
        size = f"{tally.dataset}, {len(tally.models)} x {len(tally.questions):,}"
        # A hundred questions are little work for either side.
        yield curves_beside_sampled_loop(size, tally, "real votes", 3 if len(tally.questions) > 1000 else 1)


def curves_beside_sampled_loop(size: str, tally: Tally, kind: str, goal: float = 5) -> Row:
    """All pairs, against the plain loop on at most twelve of them."""
    every = list(sl.pairs(tally))
    few = every[:: -(-len(every) // 12)]
    ballots = [[dense(tally, model)[pair.common] for model in (pair.a, pair.b)] for pair in few]

    def theirs() -> list[list[float]]:
        return [grid_loop(both, np.zeros(len(both[0]), dtype=np.intp), 0, 1) for both in ballots]

    twothirds = sl.law.PAPER_GRID.index(sl.law.as_weight("2/3"))
    for pair, lifts in zip(few, theirs(), strict=True):
        assert abs(float(curve_of(pair).at("2/3").lift) - lifts[twothirds]) < 1e-9
    name, share = f"exact curves of {len(every):,} pairs, {size}", len(few) / len(every)
    return compare(
        name, partial(_all, tally), theirs, LOOP, goal, rounds=2, repeats=1, share=share, processor=True, note=kind
    )


def dense(tally: Tally, model: int) -> Ints:
    """A model's votes as an array of questions x categories, gold first; on one scale, so that shares are compared."""
    rows = tally.rivals.rows
    counts = np.zeros((len(tally.questions), rows.height + 1), dtype=np.int64)
    counts[:, 0] = tally.gold[model]
    row = np.repeat(np.arange(rows.height), rows.widths)
    counts[tally.rivals.question, 1 + row] = tally.dense(model)
    cast = np.maximum(tally.votes[model].astype(np.int64), 1)
    scale = int(np.lcm.reduce(np.unique(tally.votes[tally.answered]).astype(np.int64)))
    scaled: Ints = counts * (scale // cast)[:, None]
    return scaled
