"""Rules for combining a fleet on every real dataset: held-out gains with standard errors, beside crowd-kit's peers.

    python -m benchmarks.combine tests/data/votes > table.md
    python -m benchmarks.combine tests/data/votes --quick > table.md

`--quick` deals every dataset once and leaves `best_panel` and the peers out.

Datasets are those of the vote tables; the exams and the subjects of MMLU-Pro count once together and once each.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import swaplaw as sl
from swaplaw._arrays import Bools
from swaplaw.decide.rules import RULES
from swaplaw.votes.tally import Tally

LARGE = 2_000
"""Datasets of more questions are dealt once, and leave the slowest rules out."""
SLOW = ("best_panel",)
MOST_PEER_QUESTIONS = 400


@dataclass(frozen=True)
class Cell:
    """A held-out gain in points, and its standard error."""

    gain: float
    error: float

    def __str__(self) -> str:
        """As the table shows it."""
        return f"{self.gain:+.1f} ± {self.error:.1f}"


def datasets(folder: Path) -> Iterator[tuple[str, pl.DataFrame]]:
    """Every real dataset as a vote table."""
    both = pl.read_parquet(folder / "best-of-infinity.parquet")
    for (name,), rows in sorted(both.group_by("dataset"), key=lambda item: str(item[0])):
        yield str(name), rows
    yield "renze-temperature", pl.read_parquet(folder / "renze-temperature.parquet")
    yield "renze-exams", _unambiguous(pl.read_parquet(folder / "renze-exams.parquet"))
    yield "reasoning-gym", pl.read_parquet(folder / "reasoning-gym.parquet")
    mmlu = pl.read_parquet(folder / "mmlu-pro.parquet")
    for (subject,), rows in sorted(mmlu.group_by("cluster"), key=lambda item: str(item[0])):
        yield f"mmlu-pro: {subject}", rows
    yield "mmlu-pro", mmlu


def _unambiguous(rows: pl.DataFrame) -> pl.DataFrame:
    """Name questions by exam, number and gold, and leave out those that still share a name."""
    named = rows.with_columns(question=pl.concat_str("cluster", "question", "gold", separator="/"))
    twice = named.filter(pl.len().over("question", "model", "sample") > 1)["question"].unique()
    return named.filter(~pl.col("question").is_in(twice.implode()))


def held_out_gains(tally: Tally, names: Sequence[str], quick: bool) -> dict[str, Cell]:
    """Held-out gains of all rules over the best single model, in points."""
    once = quick or len(tally.questions) > LARGE
    rules = [name for name in names if not (once and name in SLOW)]
    found = sl.combine(tally, rules=rules, by="question", repeats=1 if once else 2)
    return {one.rule.name: Cell(100 * one.gain.mean, 100 * one.gain.standard_error) for one in found.rules}


def peer_gains(rows: pl.DataFrame, tally: Tally) -> dict[str, Cell]:
    """What crowd-kit's aggregators, which need no labels, gain over the best single model on the same questions."""
    from crowdkit.aggregation import GLAD, MACE, DawidSkene

    best = max(tally.scores, key=lambda scores: scores.total / scores.denominator)
    single = dict(zip(tally.questions, best.numerators / best.denominator, strict=True))
    asked = rows.filter(pl.col("question").is_in(tally.questions) & pl.col("answer").is_not_null())
    counted = asked.group_by("question", "model", "answer").agg(votes=pl.len())
    first = counted.sort("votes", "answer", descending=[True, False]).group_by("question", "model").first()
    labels = first.select(task="question", worker="model", label="answer").sort("task", "worker").to_pandas()
    gold = dict(rows.select("question", "gold").unique().iter_rows())
    found = {}
    for peer in (MACE(random_state=0), GLAD(), DawidSkene()):
        answers = peer.fit_predict(labels)
        gains = np.array([float(answers.get(name) == gold[name]) - single[name] for name in tally.questions])
        found[type(peer).__name__] = Cell(100 * gains.mean(), 100 * gains.std(ddof=1) / len(gains) ** 0.5)
    return found


def main(folder: Path, quick: bool) -> None:
    """Print the table as Markdown, a line as soon as its dataset is done."""
    names = [name for name in RULES if not (quick and name in SLOW)]
    peers = [] if quick else ["MACE", "GLAD", "DawidSkene"]
    print(f"| dataset | models | questions | {' | '.join([*names, *peers])} |")
    print("|:--|" + "--:|" * (2 + len(names) + len(peers)))
    table = []
    for name, rows in datasets(folder):
        votes = sl.votes_from(rows.with_columns(dataset=pl.lit(name))).tally()
        everyone: Bools = np.logical_and.reduce(votes.answered)
        tally = votes.select(questions=everyone)
        cells = held_out_gains(tally, names, quick)
        if peers and len(tally.questions) <= MOST_PEER_QUESTIONS and "correct" not in rows.columns:
            cells |= peer_gains(rows, tally)
        table.append(cells)
        shown = " | ".join(str(cells.get(column, "")) for column in [*names, *peers])
        print(f"| {name} | {len(tally.models)} | {len(tally.questions):,} | {shown} |", flush=True)
    for label, of in (("mean", np.mean), ("worst", np.min)):
        row = [[cells[column].gain for cells in table if column in cells] for column in [*names, *peers]]
        print(f"| **{label}** | | | {' | '.join(f'{of(gains):+.1f}' if gains else '' for gains in row)} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--quick" in sys.argv)
