"""Anytime evidence: false alarms, how many labels it takes, and replays of real votes.

    python -m benchmarks.anytime tests/data/votes

The tables of docs/labels.md are what this prints. Simulated streams have losses on 3% of all questions, and as many
gains more as the lift says. A fixed-n test is the exact one-sided sign test at 5% with as many changed questions as
give it a power of 80%.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy.special import bdtrc

from benchmarks.labels import counted
from swaplaw._arrays import Floats, Ints
from swaplaw.decide.labels.change import Change
from swaplaw.evidence.interval import effects
from swaplaw.law.pair import pairs

LOSSES = 0.03
LIFTS = (0.02, 0.03, 0.05)
LOOKS = 20
"""Questions between two looks at a plain interval."""
ORDERS = 200
"""Random orders in which a real pair is replayed."""
CLEAR = Fraction(2, 100)
"""Real pairs with at least this lift are replayed."""


def wealth_path(values: Floats, null: float = 0.0) -> Floats:
    """Logarithm of the e-value against "the mean is at most `null`" after every unit; streams are rows."""
    points, weights = np.polynomial.legendre.leggauss(64)
    shares = (points + 1) / 2
    counted = weights * shares * (1 - shares) ** 2
    kinds, codes = np.unique(values, return_inverse=True)
    steps = np.log1p(shares / (1 + null) * (kinds[:, None] - null))
    held = np.tile(np.log(counted / counted.sum()), (len(values), 1))
    path = np.empty(values.shape)
    for place, step in enumerate(codes.reshape(values.shape).T):
        held += steps[step]
        path[:, place] = np.logaddexp.reduce(held, axis=1)
    return path


def null_streams(streams: int, changed: int, rng: np.random.Generator, halves: float = 0.2) -> Floats:
    """Changed questions of pairs that gain nothing: gains and losses alike, some of them halves."""
    signs = rng.choice([-1.0, 1.0], (streams, changed))
    return np.where(rng.random((streams, changed)) < halves, signs / 2, signs)


def false_alarms(streams: int, changed: int, seed: int = 0, batch: int = 1_000) -> float:
    """The share of null streams that are ever taken for a gain, with a look after every question."""
    rng, alarms = np.random.default_rng(seed), 0
    for start in range(0, streams, batch):
        path = wealth_path(null_streams(min(batch, streams - start), changed, rng))
        alarms += int((path.max(axis=1) >= np.log(20)).sum())
    return alarms / streams


def plain_alarms(streams: int, questions: int, seed: int = 0) -> float:
    """The same for the plain 95% interval, looked at every 20 questions: how often it ever excludes 0."""
    rng = np.random.default_rng(seed)
    gains = rng.choice([-1.0, 0.0, 1.0], (streams, questions), p=[LOSSES, 1 - 2 * LOSSES, LOSSES])
    ever = np.zeros(streams, dtype=bool)
    for n in range(LOOKS, questions + 1, LOOKS):
        found = effects(gains[:, :n], np.arange(n))
        ever |= np.abs(found.mean) > found.half_width
    return float(ever.mean())


def labels_to_find(lift: float, streams: int, most: int = 3_000, seed: int = 0) -> Ints:
    """Changed questions after which each stream shows the gain; `most` and more where it never does."""
    rng = np.random.default_rng(seed)
    right = (LOSSES + lift) / (2 * LOSSES + lift)
    gains = np.where(rng.random((streams, most)) < right, 1.0, -1.0)
    shown = wealth_path(gains) >= np.log(20)
    return np.where(shown.any(axis=1), shown.argmax(axis=1) + 1, most)


def fixed_labels(lift: float, power: float = 0.8) -> int:
    """Changed questions with which the exact sign test finds the gain four times in five, from there on."""
    right, found = (LOSSES + lift) / (2 * LOSSES + lift), 0
    for n in range(1_000, 0, -1):
        wins = np.arange(n + 1)
        reject = wins[bdtrc(wins - 1, n, 0.5) <= 0.05]
        if not len(reject) or bdtrc(reject[0] - 1, n, right) < power:
            return found
        found = n
    return found


def replays(change: Change, orders: int, seed: int = 0) -> tuple[float, float]:
    """A real pair in random orders: how often the gain is shown by the end, and after how many changed labels."""
    rng = np.random.default_rng(seed)
    changed = change.values[change.values != 0]
    path = wealth_path(np.stack([rng.permutation(changed) for _ in range(orders)]))
    shown = path >= np.log(20)
    after = shown.argmax(axis=1)[shown.any(axis=1)] + 1
    return float(shown.any(axis=1).mean()), float(np.median(after)) if len(after) else float("nan")


def replay_rows(folder: Path) -> Iterator[str]:
    """Real pairs with a clear lift, the more accurate model first."""
    for name, tally, ballots in counted(folder):
        found = []
        for pair in pairs(tally):
            if pair.at("2/3").lift >= CLEAR:
                change = Change(ballots, (pair.a, pair.b), (Fraction(1), Fraction(2, 3)))
                found.append((int((change.values != 0).sum()), *replays(change, ORDERS)))
        if found:
            table = np.array(found)
            shown = table[table[:, 1] > 0.5]
            after = "–" if not len(shown) else f"{np.median(shown[:, 2]):.0f} of {np.median(shown[:, 0]):.0f}"
            yield f"| {name} | {len(found)} | {np.median(table[:, 0]):.0f} | {table[:, 1].mean():.0%} | {after} |"


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.anytime", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--streams", type=int, default=10_000)
    chosen = parser.parse_args()
    streams = chosen.streams
    print("| null streams, up to | looks | false alarms |\n|:--|:--|--:|")
    for changed in (100, 300):
        print(f"| {changed:,} changed questions | every question | {false_alarms(streams, changed):.1%} |", flush=True)
    plain = plain_alarms(max(200, streams // 20), 3_000)
    print(f"| 3,000 questions, plain 95% intervals | every {LOOKS} questions | {plain:.1%} |\n", flush=True)
    print("| lift | changed | median labels | 90% found within | fixed-n test, 80% power |\n|--:|--:|--:|--:|--:|")
    for lift in LIFTS:
        after = labels_to_find(lift, streams * 3 // 20, most=600)
        middle, late = np.quantile(after, [0.5, 0.9])
        share = f"{2 * LOSSES + lift:.0%}"
        print(f"| +{100 * lift:.0f} | {share} | {middle:.0f} | {late:.0f} | {fixed_labels(lift)} |", flush=True)
    print("\n| dataset | pairs with +2 points or more | changed | shown by the end | labels until shown |")
    print("|:--|--:|--:|--:|--:|")
    for row in replay_rows(chosen.folder):
        print(row, flush=True)


if __name__ == "__main__":
    main()
