"""What people would use instead, beside our kernels: NumPy loops, SciPy, crowd-kit, pandas; real votes and synthetic.

Synthetic fleets resemble real ones: models share questions that are hard for all, and a lure takes half of a model's
wrong votes on a question. Questions have up to three lures, and most models fall for the first one: so models that are
both wrong may agree or not, and a vote of both may repair either. `SWAPLAW_BENCH_WHOLE=1` runs crowd-kit on every pair
and weight (minutes) instead of on a few.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy.stats

import swaplaw as sl
from benchmarks.harness import Row, compare, guarding, seconds
from swaplaw._arrays import Floats, Ints
from swaplaw.evidence.quantities import MEANS, QUANTITIES
from swaplaw.law.curve import curve_of
from swaplaw.panels.panel import oriented
from swaplaw.predict.law_file import Law
from swaplaw.votes.tally import Tally, tally_array

LEVELS, DRAWS = 64, 512
"""Chances of being right that ballots are drawn for, and ballots drawn for each."""
LURES, FIRST_LURE = 3, 0.6
"""Lures of a question, and how often a model falls for the first."""


def synthetic(models: int, questions: int, samples: int = 24, options: int = 10, seed: int = 0) -> Tally:
    """A fleet in which every model has `samples` votes on every question: gold, rivals and null, `options` and one."""
    rng = np.random.default_rng(seed)
    ballots = _ballots(samples, options, rng)
    names = tuple(f"synthetic-{number:04d}" for number in range(models))
    ids = tuple(f"question-{number:06d}" for number in range(questions))
    empty = tally_array("synthetic", names[:1], ids, np.zeros((1, questions, options + 1), dtype=np.int8))
    votes = np.full((models, questions), samples, dtype=np.uint8)
    gold = np.empty((models, questions), dtype=np.uint8)
    starts, positions, counts = [0], _Growing(np.int32), _Growing(np.uint8)
    for row in _members(ballots, gold, rng):
        spots = np.flatnonzero(row)
        positions.add(spots)
        counts.add(row.take(spots))
        starts.append(starts[-1] + len(spots))
    entries = positions.whole(), counts.whole()
    return replace(
        empty, models=names, votes=votes, gold=gold, starts=np.array(starts), positions=entries[0], counts=entries[1]
    )


class _Growing:
    """An array that parts are added to; it grows in place, so that large ones are never held twice."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self._array: Ints = np.empty(0, dtype=dtype)
        self._length = 0

    def add(self, part: Ints) -> None:
        end = self._length + len(part)
        if end > len(self._array):
            self._array.resize(max(end, len(self._array) * 9 // 8), refcheck=False)
        self._array[self._length : end] = part
        self._length = end

    def whole(self) -> Ints:
        self._array.resize(self._length, refcheck=False)
        return self._array


def _ballots(samples: int, options: int, rng: np.random.Generator) -> Ints:
    """Counts of gold, the lure, the other wrong answers and null: levels x draws x categories."""
    chance = (np.arange(LEVELS) + 0.5) / LEVELS
    null = 0.03
    other = np.full(options - 2, 1 / (options - 2)) if options > 2 else np.zeros(0)
    shares = [[p, (1 - p) / 2, *(1 - p) / 2 * other, null] for p in chance]
    return np.stack([rng.multinomial(samples, np.array(each) / sum(each), DRAWS) for each in shares]).astype(np.uint8)


def _members(ballots: Ints, gold: Ints, rng: np.random.Generator) -> Iterator[Ints]:
    """Fill in each model's votes for gold, and give those for its rivals."""
    models, questions = gold.shape
    lures = min(LURES, ballots.shape[2] - 2)
    difficulty = rng.normal(0, 1.2, questions)
    for model, skill in enumerate(rng.permutation(np.linspace(1.2, -0.6, models))):
        leaning = skill - difficulty + rng.normal(0, 1, questions)
        level = (LEVELS / (1 + np.exp(-2 * leaning))).astype(np.intp).clip(max=LEVELS - 1)
        ballot = ballots.reshape(LEVELS * DRAWS, -1).take(level * DRAWS + rng.integers(0, DRAWS, questions), axis=0)
        lure = np.where(rng.random(questions) < FIRST_LURE, 1, rng.integers(1, lures + 1, questions))
        every = np.arange(questions)
        ballot[every, 1], ballot[every, lure] = ballot[every, lure], ballot[every, 1].copy()
        gold[model] = ballot[:, 0]
        yield np.ascontiguousarray(ballot[:, 1:].T).reshape(-1)


MODELS, QUESTIONS, SAMPLES, OPTIONS = 10, 3000, 24, 10
NULL = OPTIONS


def command_line_rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        write(fleet(), file)
        yield from command_line(file)


def fleet() -> Tally:
    """The fleet that most comparisons are made on: 720,000 votes."""
    return synthetic(MODELS, QUESTIONS, SAMPLES, OPTIONS)


def write(tally: Tally, file: Path) -> None:
    """Write a tally's votes as the table that they would have been counted from."""
    labels = pl.Series(["gold", *(f"rival {number}" for number in range(tally.rivals.rows.height))])
    parts = []
    row = np.repeat(np.arange(tally.rivals.rows.height), tally.rivals.rows.widths)
    for model, name in enumerate(tally.models):
        own = slice(tally.starts[model], tally.starts[model + 1])
        position = tally.positions[own]
        question = np.concatenate([np.arange(len(tally.questions)), tally.rivals.question[position]])
        label = np.concatenate([np.zeros(len(tally.questions), dtype=np.intp), 1 + row[position]])
        times = np.concatenate([tally.gold[model], tally.counts[own]])
        parts.append(
            pl.DataFrame(
                {
                    "question": pl.Series(tally.questions).gather(np.repeat(question, times)),
                    "answer": labels.gather(np.repeat(label, times)),
                }
            ).with_columns(pl.lit(name).alias("model"), pl.lit("gold").alias("gold"))
        )
    pl.concat(parts).write_parquet(file)


def grid_loop(counts: Ints | Sequence[Ints], a: int, b: int) -> list[float]:
    """What one would write: pool, take the maximum, share the credit, split it by cell, at each weight; gold first."""
    scores = []
    for votes in (counts[a], counts[b]):
        tied = votes == votes.max(axis=1)[:, None]
        scores.append(np.where(tied[:, 0], 1 / tied.sum(axis=1), 0.0))
    if scores[0].mean() < scores[1].mean():
        a, b, scores = b, a, scores[::-1]
    cells = [(1 - scores[0]) * scores[1], scores[0] * (1 - scores[1])]
    lifts = []
    for weight in sl.law.PAPER_GRID:
        pooled = weight.denominator * counts[a] + weight.numerator * counts[b]
        tied = pooled == pooled.max(axis=1)[:, None]
        credit = np.where(tied[:, 0], 1 / tied.sum(axis=1), 0.0)
        swap = sum(((credit - scores[0]) * cell).mean() for cell in cells)
        assert abs(swap) <= 1
        lifts.append(float((credit - scores[0]).mean()))
    return lifts


def command_line(file: Path) -> Iterator[Row]:
    """Whole processes, from a cold start."""
    bare = f"import polars; polars.scan_parquet({str(file)!r}).group_by('question', 'model', 'answer').len().collect()"
    pairs = seconds(lambda: run("-m", "swaplaw", "pairs", str(file)))
    counting = seconds(lambda: run("-c", bare))
    yield Row("`swaplaw pairs` on 720,000 rows", pairs, counting, "a bare process that groups and counts them", 1 / 3)
    yield Row("`swaplaw --help`", seconds(lambda: run("-m", "swaplaw", "--help")), seconds(click_alone), CLICK, 1 / 1.5)
    yield Row("peak memory of `swaplaw pairs`", peak_megabytes(file), 300, "the limit", 1, "MB")


CLICK = "the help of a bare click program"


def click_alone() -> None:
    run("-c", "import click; click.command()(lambda: None).main(['--help'])")


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def peak_megabytes(file: Path) -> float:
    code = (
        "import resource, subprocess, sys; subprocess.run([sys.executable, '-m', 'swaplaw', 'pairs', sys.argv[1]], "
        "check=True, stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    finished = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    return int(finished.stdout) / 1024


REPLICATES = 10_000
FLEET, QUESTIONS = 1000, 3000
LAW = Law(Fraction(2, 3), 0.335, 0.138, 1.0, {}, {}, {}, {})


def evidence_rows() -> Iterator[Row]:
    yield intervals_against_scipy(fleet())
    yield screen_against_product()


def intervals_against_scipy(tally: Tally) -> Row:
    """Intervals of all rates and correlations of 45 pairs against the bootstrap interval of one pair's lift."""
    chosen = list(sl.pairs(tally))
    gains, scale = chosen[0].gains(Fraction(2, 3))
    lift, names = gains.sum(axis=0) / scale, [name for name in QUANTITIES if name not in MEANS]

    def ours() -> Any:
        return sl.intervals(tally, quantities=names)

    def theirs() -> Any:
        return scipy.stats.bootstrap((lift,), np.mean, n_resamples=REPLICATES, method="percentile", rng=0)

    name = f"intervals of {len(names)} rates and correlations of 45 pairs x {QUESTIONS:,} questions"
    against = f"scipy.stats.bootstrap (percentile, {REPLICATES:,} draws) of one pair's lift"
    return compare(name, ours, theirs, against, 1 / 3, note="synthetic votes", guarded=True)


def screen_against_product() -> Row:
    """499,500 pairs from scores that are there, against the bare product of the scores with themselves."""
    large = synthetic(FLEET, QUESTIONS)
    scores = large.ties.astype(bool).astype(np.float32)
    assert len(sl.screen(large, LAW)) == 499_500
    name = f"S-hat of the 499,500 pairs of {FLEET:,} models x {QUESTIONS:,} questions"
    return compare(
        name,
        lambda: sl.screen(large, LAW).predicted,
        lambda: scores @ scores.T,
        "the bare product of 32-bit floats alone",
        1 / 4,
        note="synthetic votes",
        guarded=True,
    )


TRIOS = tuple(combinations(range(MODELS), 3))


def panel_rows() -> Iterator[Row]:
    if guarding():
        return
    tally = fleet()
    counts = np.stack([dense(tally, model) for model in range(MODELS)])
    found: list[sl.panels.Certificate] = []
    ours = seconds(lambda: found.extend(sl.panels.certify(oriented(tally, trio)) for trio in TRIOS), repeats=1)
    grids: list[float] = []
    theirs = seconds(lambda: grids.extend(panel_grid_loop(counts, found[at].panel) for at in range(len(TRIOS))), 1)
    for one, grid in zip(found, grids, strict=True):
        assert one.certified
        assert float(one.best.accuracy) >= grid - 1e-12
    yield Row(f"certified weights of {len(TRIOS)} trios", ours, theirs, "NumPy loop over 25 x 25 weights", 1)
    pruned = seconds(lambda: sl.panels.best_panels(tally, 3, top=1), repeats=1)
    yield Row("the best trio, proven", pruned, theirs, "NumPy loop over 25 x 25 weights", 4)


def panel_grid_loop(counts: Ints, panel: sl.panels.Panel) -> float:
    """What one would write: pool, take the maximum, share the credit, once per combination of weights."""
    a, b, c = panel.indices
    grid = [float(weight) for weight in sl.law.PAPER_GRID]
    best = 0.0
    for x in grid:
        for y in grid:
            pooled = counts[a] + x * counts[b] + y * counts[c]
            tied = pooled == pooled.max(axis=1)[:, None]
            best = max(best, float(np.where(tied[:, 0], 1 / tied.sum(axis=1), 0.0).mean()))
    return best


WHOLE = bool(os.environ.get("SWAPLAW_BENCH_WHOLE"))
SYNTHETIC = "synthetic votes"
LOOP = "NumPy loop over 25 weights"
SIZE = f"{MODELS} x {QUESTIONS:,} x {SAMPLES}"


def curve_rows() -> Iterator[Row]:
    if not guarding():
        yield from curves_of_real()
    tally = fleet()
    counts = np.stack([dense(tally, model) for model in range(MODELS)])
    yield curves_beside_numpy(tally, counts)
    yield curves_beside_fast_numpy(tally, np.ascontiguousarray(np.moveaxis(counts, 2, 0)).astype(np.int16))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        write(tally, file)
        yield curves_beside_crowdkit(file)
        yield count_beside_pandas(file)
    if not guarding():
        yield curves_of_synthetic(50, 10_000)


def curves_beside_numpy(tally: Tally, counts: Ints) -> Row:
    """All 45 pairs: every weight exactly, against 25 weights in a plain loop."""
    every = list(combinations(range(MODELS), 2))

    def loop() -> list[list[float]]:
        return [grid_loop(counts, *pair) for pair in every]

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


def curves_beside_fast_numpy(tally: Tally, counts: Ints) -> Row:
    """The loop that people write who know NumPy: narrow counts, a category a row, nothing but lift."""
    every = list(combinations(range(MODELS), 2))

    def scores(votes: Ints) -> Floats:
        tied = votes == votes.max(axis=0)
        return np.where(tied[0], 1 / np.add.reduce(tied, axis=0, dtype=np.int8), 0.0)

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
        return [grid_loop(both, 0, 1) for both in ballots]

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


def measure() -> Iterator[Row]:
    """All of them; the quick and steady ones only, where ratios are guarded."""
    yield from curve_rows()
    yield from evidence_rows()
    yield from panel_rows()
    if not guarding():
        yield from command_line_rows()
