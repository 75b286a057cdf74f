"""Does the place where an option stands sway a model? Chosen positions against evenly spread ones.

Votes may carry two more columns: `position`, at which (from 1) the chosen option was shown, and `options`, how many
were shown. Where every question is asked in balanced orders (see `collect.schedule`), a model that goes by the options'
content picks every position equally often, whatever it knows. Pearson's chi-square tells chance from bias, from its
distribution where every position is expected five times or more, by simulation elsewhere; p-values are Holm's over
the models of a dataset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from swaplaw.votes import engines
from swaplaw.votes.contract import DEFAULT_DATASET
from swaplaw.votes.counts import FEWEST_OPTIONS, MOST_OPTIONS
from swaplaw.votes.inputs import VotesLike, vote_table

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.table import Votes

LEVEL = 0.05
"""A bias is flagged where chance would hardly make it …"""
NOTEWORTHY = Fraction(1, 20)
"""… and this many votes would have to move for positions to be even."""
ENOUGH = 5
"""Fewer expected votes at a position than these, and the chi-square distribution is not to be trusted."""
SIMULATIONS = 9_999

Counts = Mapping[int, Sequence[int]]
"""For each number of options shown, the votes at each position."""


@dataclass(frozen=True)
class PositionBias:
    """How far one model's chosen positions are from even."""

    votes: int
    """Votes with a known position."""
    effect: Fraction
    """The share of votes that would have to move for positions to be even: from 0 to 1 - 1/K."""
    position: int
    """The position that is chosen too often by the largest number of votes."""
    share: Fraction
    """The share of votes at that position."""
    expected: Fraction
    """The share of votes there if positions did not matter."""
    p_value: float
    adjusted: float
    """The p-value, allowing for all models of the dataset."""

    @property
    def flagged(self) -> bool:
        """Whether the bias is both too large for chance and large enough to matter."""
        return self.adjusted < LEVEL and self.effect >= NOTEWORTHY

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON."""
        return {
            "votes": self.votes,
            "effect": float(self.effect),
            "position": self.position,
            "share": float(self.share),
            "expected": float(self.expected),
            "p_value": self.p_value,
            "adjusted": self.adjusted,
            "flagged": self.flagged,
        }


def position_bias(votes: VotesLike, dataset: str) -> dict[str, PositionBias]:
    """Measure how far the place of an option sways each model.

    Parameters
    ----------
    votes : Votes, dataframe, path or paths
        Votes with the columns `position` and `options`.
    dataset : str
        The dataset.

    Returns
    -------
    dict of str to PositionBias
        Each model with known positions; p-values are adjusted over the models.

    Examples
    --------
    >>> rows = {"question": ["1"] * 20, "model": ["a"] * 20, "answer": ["A"] * 20, "gold": ["A"] * 20}
    >>> found = position_bias(rows | {"position": [1] * 20, "options": [4] * 20}, "votes")
    >>> found["a"].position, float(found["a"].share)
    (1, 1.0)
    """
    found = {model: measure(counts) for model, counts in _counts(vote_table(votes), dataset).items()}
    adjusted = holm([bias.p_value for bias in found.values()])
    return {model: replace(bias, adjusted=p) for (model, bias), p in zip(found.items(), adjusted, strict=True)}


def measure(counts: Counts) -> PositionBias:
    """Measure one model's position bias, as if it were the only one."""
    total = sum(map(sum, counts.values()))
    even = {options: Fraction(sum(chosen), options) for options, chosen in counts.items()}
    excess = [Fraction(0)] * max(counts)
    for options, chosen in counts.items():
        for place, number in enumerate(chosen):
            excess[place] += number - even[options]
    favourite = excess.index(max(excess))
    there = [options for options in counts if favourite < options]
    over = sum((max(number - even[k], Fraction(0)) for k, chosen in counts.items() for number in chosen), Fraction(0))
    p = _p_value(counts)
    return PositionBias(
        votes=total,
        effect=over / total,
        position=favourite + 1,
        share=Fraction(sum(counts[options][favourite] for options in there), total),
        expected=sum((even[options] for options in there), Fraction(0)) / total,
        p_value=p,
        adjusted=p,
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: the least goes times all, the next times all but one, …; never falling."""
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = running
    return adjusted


def _p_value(counts: Counts) -> float:
    """The chance of positions as uneven as these, if they did not matter."""
    observed = sum(float(_chi_square(np.array([chosen]))[0]) for chosen in counts.values())
    if all(sum(chosen) >= ENOUGH * options for options, chosen in counts.items()):
        from scipy.special import chdtrc

        return float(chdtrc(sum(options - 1 for options in counts), observed))
    rng = np.random.default_rng(0)
    simulated = sum(
        _chi_square(rng.multinomial(sum(chosen), [1 / options] * options, size=SIMULATIONS))
        for options, chosen in sorted(counts.items())
    )
    # Equal statistics may differ in the last bit, depending on the order of their sums.
    return (1 + int(np.sum(simulated >= observed * (1 - 1e-9)))) / (1 + SIMULATIONS)


def _chi_square(counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Pearson's statistic of each row against even counts."""
    even = counts.sum(axis=1, keepdims=True) / counts.shape[1]
    squares: np.ndarray[Any, Any] = ((counts - even) ** 2 / even).sum(axis=1)
    return squares


def _counts(votes: Votes, dataset: str) -> dict[str, dict[int, list[int]]]:
    """Votes by model, number of options and position; a table's own columns of these names are left alone."""
    import polars as pl

    tables = []
    for source in votes.sources:
        frame = source.scan()
        names = engines.columns(frame, source.name)
        if {"position", "options"} <= set(names):
            keys = [key for key in ("dataset", "model", "options", "position") if key in names]
            tables.append(_positions(engines.count_by(frame, source.name, keys)))
    found: dict[str, dict[int, list[int]]] = {}
    if tables:
        whole = pl.concat(tables).filter(pl.col("dataset") == dataset).sort("model", "options")
        for model, options, position, number in whole.select("model", "options", "position", "votes").iter_rows():
            found.setdefault(model, {}).setdefault(options, [0] * options)[position - 1] += number
    return found


def _positions(table: pl.DataFrame) -> pl.DataFrame:
    """Keep what can be a position among options."""
    import polars as pl

    named = table if "dataset" in table.columns else table.with_columns(pl.lit(DEFAULT_DATASET).alias("dataset"))
    position, options = pl.col("position"), pl.col("options")
    return (
        named.with_columns(pl.col("dataset", "model").cast(pl.String))
        .with_columns(pl.col("options", "position").cast(pl.Int64, strict=False))
        .filter(options.is_between(FEWEST_OPTIONS, MOST_OPTIONS) & position.is_between(1, options))
        .select("dataset", "model", "options", "position", "votes")
    )
