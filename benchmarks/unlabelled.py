"""Estimates without labels or with few, on every real dataset: the tables of docs/labels.md.

    python -m benchmarks.unlabelled tests/data/votes

Bias is the mean over models (or pairs at 2/3, the more accurate model first) of estimate less truth, in points.
Coverage: labels are hidden but for some changed questions that are drawn at random, again and again; the interval
should hold the lift of the full table 95% of the time. crowd-kit's Dawid-Skene and its one-coin variant see one vote
per model and question, the model's plurality.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import swaplaw as sl
from benchmarks.labels import counted
from swaplaw._arrays import Floats
from swaplaw.decide.labels.change import Change
from swaplaw.decide.labels.estimates import MOST_ANSWERS, Method, accuracy, believed
from swaplaw.evidence.prediction_powered import prediction_powered
from swaplaw.law.pair import pairs
from swaplaw.votes.ballots import Ballots

METHODS: tuple[Method, ...] = ("one_coin", "dawid_skene")
LABELS = (10, 20, 50)
DRAWS = 200
MOST_PEER_ROWS = 12_000
"""Votes that crowd-kit is given at most: its time grows with them."""


@dataclass(frozen=True)
class Errors:
    """Estimates less truths, in points."""

    accuracy: Floats
    lift: Floats

    def __str__(self) -> str:
        """As the table shows it: bias of accuracies, and bias and root mean square error of lifts."""
        if not len(self.lift):
            return f"{self.accuracy.mean():+.1f} |"
        return f"{self.accuracy.mean():+.1f} | {self.lift.mean():+.1f} ({np.sqrt((self.lift**2).mean()):.1f})"


def errors(tally: sl.Tally, ballots: Ballots, right: Floats, changes: list[tuple[Change, float]]) -> Errors:
    """How far estimates are from the truth."""
    truth = [float(scores.total) / scores.denominator / votes for scores, votes in _scored(tally)]
    guessed = [accuracy(ballots, model, right) for model in range(len(tally.models))]
    lifts = [float(change.expected(right).sum() / change.n) - lift for change, lift in changes]
    return Errors(100 * np.subtract(guessed, truth), 100 * np.array(lifts))


def _scored(tally: sl.Tally) -> Iterator[tuple[Any, int]]:
    for model, scores in enumerate(tally.scores):
        yield scores, int(tally.answered[model].sum())


def peer(ballots: Ballots, name: str) -> Floats | None:
    """How likely each category is right by crowd-kit; None where it would take too long."""
    import crowdkit.aggregation
    import pandas as pd

    starts, tasks, workers, labels = ballots.starts, [], [], []
    for model in range(len(ballots.models)):
        own = np.where(ballots.null, 0, ballots.counts[model])
        for question in range(len(ballots.questions)):
            part = own[starts[question] : starts[question + 1]]
            if part.any():
                tasks.append(question)
                workers.append(model)
                labels.append(str(ballots.answers[starts[question] + int(part.argmax())]))
    if len(tasks) > MOST_PEER_ROWS or len(set(labels)) > MOST_ANSWERS:
        return None
    data = pd.DataFrame({"task": tasks, "worker": workers, "label": labels})
    found = getattr(crowdkit.aggregation, name)(n_iter=100).fit_predict_proba(data)
    column = {label: place for place, label in enumerate(found.columns)}
    row = {task: place for place, task in enumerate(found.index)}
    table, right = found.to_numpy(), np.zeros(len(ballots.question))
    for place, (question, answer) in enumerate(zip(ballots.question, ballots.answers, strict=True)):
        if answer is not None and question in row and str(answer) in column:
            right[place] = table[row[question], column[str(answer)]]
    return right


def coverage(changes: list[tuple[Change, float]], right: Floats, labels: int, seed: int = 0) -> tuple[float, float]:
    """How often the interval holds the lift of the table, and its width over that of labels alone."""
    rng, held, widths = np.random.default_rng(seed), [], []
    for change, _ in changes:
        changed = np.flatnonzero(change.changed)
        if len(changed) <= labels:
            continue
        values, expected = change.values[changed], change.expected(right)[changed]
        for _ in range(max(5, DRAWS // len(changes))):
            order = rng.permutation(len(changed))
            known, others = order[:labels], order[labels:]
            found = prediction_powered(values[known], expected[known], expected[others])
            alone = prediction_powered(values[known], 0 * expected[known], 0 * expected[others])
            held.append(found.low <= values.mean() <= found.high)
            widths.append((found.high - found.low) / (alone.high - alone.low))
    return (float(np.mean(held)), float(np.median(widths))) if held else (float("nan"), float("nan"))


def same_errors(tally: sl.Tally) -> float:
    """How often two models that are both wrong give the same answer: the mean over pairs."""
    from swaplaw.predict.agreement import same_wrong, summands

    chosen = (sl.law.Pair(tally, a, b) for a, b in combinations(range(len(tally.models)), 2))
    found = [same_wrong(summands(pair).sum(axis=1))[0] for pair in chosen]
    return float(np.nanmean(found))


def main(folder: Path) -> None:
    """Print the table as Markdown, a line as soon as its dataset is done."""
    heads = ["one coin", "", "Dawid-Skene", "", "crowd-kit one coin", "", "crowd-kit Dawid-Skene", ""]
    print(f"| dataset | same wrong | {' | '.join(heads)} | {' | '.join(f'PPI, {n} labels' for n in LABELS)} |")
    print("|:--|" + "--:|" * (1 + len(heads) + len(LABELS)))
    for name, tally, ballots in counted(folder):
        changes = [
            (Change(ballots, (pair.a, pair.b), (Fraction(1), Fraction(2, 3))), float(pair.at("2/3").lift))
            for pair in pairs(tally)
        ]
        changes = [each for each in changes if each[0].changed.any()]
        coin = believed(ballots)
        letters = len(set(ballots.answers[~ballots.null])) <= MOST_ANSWERS and not ballots.graded
        found: list[Floats | None] = [coin, believed(ballots, "dawid_skene") if letters else None]
        found += [peer(ballots, one) for one in ("OneCoinDawidSkene", "DawidSkene")] if letters else [None, None]
        cells = ["|" if each is None else str(errors(tally, ballots, each, changes)) for each in found]
        covered = [coverage(changes, coin, labels) for labels in LABELS]
        shown = ["" if np.isnan(held) else f"{held:.0%}, {width:.2f}" for held, width in covered]
        print(f"| {name} | {same_errors(tally):.0%} | {' | '.join([*cells, *shown])} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
