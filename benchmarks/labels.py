"""Labels that give the identical lift, on every real dataset: the tables of docs/labels.md.

    python -m benchmarks.labels tests/data/votes

The more accurate model of each pair leads. A question needs a label where the secondary changes the tie set, and no
other does; "any weight" is what the whole curve needs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl

import swaplaw as sl
from benchmarks.combine import datasets
from swaplaw._arrays import Floats
from swaplaw.decide.labels.change import Change, changing_questions
from swaplaw.law.pair import pairs
from swaplaw.votes.ballots import Ballots, ballots_of

WEIGHTS = ("1/3", "2/3", "1")
LEAST = Fraction(1, 100)


def counted(folder: Path) -> Iterator[tuple[str, sl.Tally, Ballots]]:
    """Every real dataset, counted with gold set apart and without; subjects of MMLU-Pro together."""
    for name, rows in datasets(folder):
        if ":" not in name:
            votes = sl.votes_from(rows.with_columns(dataset=pl.lit(name)))
            yield name, votes.tally(), ballots_of(votes)


def needed(tally: sl.Tally, ballots: Ballots) -> tuple[Floats, Floats, float]:
    """Labels needed at each weight and at any weight, pairs x weights; their share; pairs ruled out without a label."""
    hidden, rows, ruled_out = ballots.without_labels(), [], []
    sizes = []
    for pair in pairs(tally):
        changes = [Change(hidden, (pair.a, pair.b), (Fraction(1), Fraction(weight))) for weight in WEIGHTS]
        rows.append([*(change.changed.sum() for change in changes), changing_questions(hidden, pair.a, pair.b).sum()])
        sizes.append(pair.n)
        ruled_out.append(changes[1].high < LEAST)
    labels = np.array(rows, dtype=np.float64)
    return labels, labels / np.array(sizes)[:, None], float(np.mean(ruled_out))


def main(folder: Path) -> None:
    """Print the table as Markdown, a line as soon as its dataset is done."""
    heads = [*(f"at {weight}" for weight in WEIGHTS), "any weight"]
    print(f"| dataset | pairs | questions | {' | '.join(heads)} | share at 2/3 | ruled out at 2/3 |")
    print("|:--|" + "--:|" * (len(heads) + 4))
    for name, tally, ballots in counted(folder):
        labels, shares, ruled_out = needed(tally, ballots)
        low, middle, high = np.quantile(labels, [0.25, 0.5, 0.75], axis=0)
        cells = [f"{m:,.0f} ({a:,.0f}-{b:,.0f})" for a, m, b in zip(low, middle, high, strict=True)]
        share = f"{100 * np.median(shares[:, 1]):.1f}%"
        print(
            f"| {name} | {len(labels)} | {len(tally.questions):,} | {' | '.join(cells)} | {share} | {ruled_out:.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
