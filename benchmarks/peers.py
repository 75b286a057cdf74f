"""Beside what people would use instead: NumPy loops, crowd-kit, pandas; on real votes first, then on synthetic ones.

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
from swaplaw._arrays import Floats, Ints
from swaplaw.law.curve import curve_of
from swaplaw.votes.tally import Tally

WHOLE = bool(os.environ.get("SWAPLAW_BENCH_WHOLE"))
SYNTHETIC = "synthetic votes"
LOOP = "NumPy loop over 25 weights"
SIZE = f"{MODELS} x {QUESTIONS:,} x {SAMPLES}"


def measure() -> Iterator[Row]:
    if not guarding():
        yield from curves_of_real()
    answers, gold = fleet()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        write(answers, gold, file)
        tally = sl.read_votes(file).tally()
        yield curves_beside_numpy(tally, answers, gold)
        yield curves_beside_fast_numpy(tally, answers, gold)
        yield curves_beside_crowdkit(file)
        yield count_beside_pandas(file)
    if not guarding():
        yield curves_of_synthetic(50, 10_000)


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


def curves_beside_fast_numpy(tally: Tally, answers: Ints, gold: Ints) -> Row:
    """The loop that people write who know NumPy: narrow counts, a category a row, nothing but lift."""
    counts = np.stack([(answers == option).sum(axis=2) for option in range(OPTIONS + 1)]).astype(np.int16)
    every, here = list(combinations(range(MODELS), 2)), np.arange(QUESTIONS)

    def scores(votes: Ints) -> Floats:
        tied = votes == votes.max(axis=0)
        return np.where(tied[gold, here], 1 / np.add.reduce(tied, axis=0, dtype=np.int8), 0.0)

    alone = [scores(counts[:, model]) for model in range(MODELS)]

    def loop() -> list[list[float]]:
        found = []
        for a, b in every:
            first, second = (a, b) if alone[a].mean() >= alone[b].mean() else (b, a)
            pooled = (w.denominator * counts[:, first] + w.numerator * counts[:, second] for w in sl.law.PAPER_GRID)
            found.append([float((scores(votes) - alone[first]).mean()) for votes in pooled])
        return found

    twothirds = sl.law.PAPER_GRID.index(sl.law.as_weight("2/3"))
    ours = sorted(float(curve.at("2/3").lift) for curve in sl.law.curves(tally))
    assert np.allclose(ours, sorted(lifts[twothirds] for lifts in loop()))
    against = "int16 NumPy loop, a category a row, lift at 25 weights"
    name = f"exact curves of 45 pairs, {SIZE}"
    return compare(name, partial(_all, tally), loop, against, 3, processor=True, note=SYNTHETIC, guarded=True)


def curves_beside_crowdkit(file: Path) -> Row:
    """From a dataframe of votes to every weight, against crowd-kit's weighted vote of 45 pairs at 25 weights."""
    import pandas as pd
    from crowdkit.aggregation import MajorityVote

    votes = pd.read_parquet(file)
    tally = sl.tally(votes)
    every = list(product(combinations(range(MODELS), 2), sl.law.PAPER_GRID))
    few = every if WHOLE else every[:: len(every) // 3][:3]
    table = votes.rename(columns={"question": "task", "model": "worker", "answer": "label"}).fillna({"label": "null"})

    def vote(pair: tuple[int, int], weight: float) -> Any:
        first, second = (tally.models[model] for model in pair)
        ballots = table[table["worker"].isin([first, second])]
        return MajorityVote().fit_predict(ballots, pd.Series({first: 1.0, second: weight}))

    def theirs() -> list[Any]:
        return [vote(pair, float(weight)) for pair, weight in few]

    gold = votes.drop_duplicates("question").set_index("question")["gold"]
    winners = vote((0, 1), 0.51)
    # Ties go to one of their labels there, and are shared here.
    own = float(sl.pair(tally, tally.models[0], tally.models[1]).at("51/100").accuracy)
    assert abs(own - float((winners == gold.loc[winners.index]).mean())) < 0.02
    return compare(
        f"a dataframe of votes to exact curves of 45 pairs, {SIZE}",
        lambda: _all(sl.tally(votes)),
        theirs,
        "crowd-kit's weighted majority vote, 45 pairs x 25 weights",
        100,
        rounds=1 if WHOLE else 2,
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
    # One pass of Polars is nearly all of ours: it also sums marks of sample numbers, by which no vote is counted twice.
    return compare(name, ours, theirs, "pandas read_parquet and group-by", 0.75, rounds=3, note=SYNTHETIC, guarded=True)


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
