"""The tables of docs/decisions.md, from the rows that a run wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from benchmarks.decisions.competitors import DECIDERS
from benchmarks.decisions.fleets import HARD, MODELS, NULL, SAMPLES

Row = dict[str, Any]


def real(rows: Sequence[Row]) -> str:
    """Each way to decide over all datasets."""
    lines = ["| decision | mean gain | worst dataset | worst split | deploys more than one |", "|---|--:|--:|--:|--:|"]
    for decider in DECIDERS:
        own = [row for row in rows if row["decider"] == decider]
        if own:
            gains, deployed = [row["gain"] for row in own], sum(row["deployed"] for row in own) / len(own)
            error = sum(row["error"] ** 2 for row in own) ** 0.5 / len(own)
            lines.append(
                f"| {decider} | {100 * sum(gains) / len(own):+.2f} ± {100 * error:.2f} | {100 * min(gains):+.2f} | "
                f"{100 * min(row['worst'] for row in own):+.1f} | {deployed:.0%} |"
            )
    return "\n".join(lines)


def by_size(kinds: Iterable[str], rows: Sequence[Row]) -> str:
    """Draws with an ensemble recommended, and the share of intervals that held the truth."""
    found = {(row["fleet"], row["models"], row["samples"]): row for row in rows}
    votes = ", ".join(map(str, SAMPLES))
    head = " | ".join(f"{models} models" for models in MODELS)
    lines = [f"| fleet ({votes} votes) | {head} |", "|---" + "|--:" * len(MODELS) + "|"]
    for kind in kinds:
        cells = [[found.get((kind, models, samples)) for samples in SAMPLES] for models in MODELS]
        lines.append(f"| {kind} | " + " | ".join(", ".join(map(_cell, cell)) for cell in cells) + " |")
    return "\n".join(lines)


def _cell(row: Row | None) -> str:
    if row is None:
        return "?"
    held = f"{100 * row['covered'] / row['judged']:.0f}%" if row["judged"] else "–"
    return f"{row['deployed']}/{row['draws']} ({held})"


def power(rows: Sequence[Row]) -> str:
    """How often a true gain is found, by recommend and by one who knows it beforehand."""
    head = [
        "| fleet | true gain | recommends an ensemble | oracle | interval held the truth |",
        "|---|--:|--:|--:|--:|",
    ]
    lines = [
        f"| {row['fleet']} | {100 * row['gain']:+.1f} | {row['deployed'] / row['draws']:.0%} | "
        f"{row['oracle'] / row['draws']:.0%} | {100 * row['covered'] / row['judged']:.0f}% |"
        for row in rows
    ]
    return "\n".join(head + lines)


TABLES: dict[str, Callable[[Sequence[Row]], str]] = {
    "real": real,
    "null": partial(by_size, NULL),
    "hard": partial(by_size, HARD),
    "power": power,
}
