"""Tables of votes with one fault: sound models, and an odd one that writes what it means in its own way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

import swaplaw as sl

COLUMNS = ["question", "model", "answer", "gold"]
Rows = Sequence[tuple[str, str, str | None, str]]
Other = Callable[[np.random.Generator], str]


def votes_of_rows(rows: Rows, **columns: list[str]) -> sl.Votes:
    """Question, model, answer and gold of each vote, and columns beside them."""
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    return sl.votes_from(frame.with_columns(**{name: pl.Series(each) for name, each in columns.items()}))


def fleet(
    golds: Sequence[str],
    other: Other | Sequence[str],
    writes: Callable[[str], str | None] = str,
    *,
    models: Sequence[str] = ("sound", "odd"),
    samples: int = 3,
    right: float = 0.6,
) -> sl.Votes:
    """Models that mean the right answer at a rate, and otherwise another; the last one writes in its own way."""
    rng = np.random.default_rng(2)
    rows: list[tuple[str, str, str | None, str]] = []
    for question, gold in enumerate(golds):
        for model in models:
            for _ in range(samples):
                wrong = other(rng) if callable(other) else str(rng.choice(list(other)))
                meant = gold if rng.random() < right else wrong
                rows.append((f"q{question}", model, writes(meant) if model == models[-1] else meant, gold))
    return votes_of_rows(rows)
