"""What a reproduction works on: the datasets, which of the paper's they are, and what is computed of them once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from swaplaw.errors import InputError, quote
from swaplaw.evidence.jackknife import PARTS
from swaplaw.law.curve import Curve, curves
from swaplaw.law.pair import Outcome
from swaplaw.law.weights import DEFAULT_WEIGHT, PAPER_GRID
from swaplaw.paper.published import published
from swaplaw.paper.reproduce.trios import Trio, best_trio
from swaplaw.predict.calibrate import calibrate
from swaplaw.predict.law_file import Law
from swaplaw.predict.predictors import Predictors, predictors
from swaplaw.votes.bundled import TWIN as SUFFIX
from swaplaw.votes.summary import Summary, summary
from swaplaw.votes.table import Votes
from swaplaw.votes.tally import Tally


@dataclass(frozen=True)
class Dataset:
    """One dataset of a study."""

    key: str
    """The paper's key where it is one of the paper's datasets or its twin, else its own name."""
    tally: Tally = field(repr=False)
    synthetic: bool = False
    weights: tuple[Fraction, ...] = PAPER_GRID
    """The weights that are searched."""

    @property
    def title(self) -> str:
        """Its name for people; what is synthetic says so."""
        title = published().datasets.get(self.key, self.key)
        return f"{title} (synthetic{' twin' if self.twin else ''})" if self.synthetic else title

    @property
    def twin(self) -> bool:
        """Whether it is a synthetic twin of one of the paper's datasets."""
        return self.synthetic and self.key in published().datasets

    @cached_property
    def models(self) -> Summary:
        """The fleet, the most accurate first."""
        return summary(self.tally)

    @cached_property
    def curves(self) -> list[Curve]:
        """The exact curve of every pair."""
        return list(curves(self.tally))

    @cached_property
    def at_weight(self) -> list[Outcome]:
        """Every pair at 40:60, in the order of `curves`."""
        return [curve.at(DEFAULT_WEIGHT) for curve in self.curves]

    @cached_property
    def grid(self) -> list[list[Outcome]]:
        """Every pair at every weight that is searched, in the order of `curves`."""
        return [curve.grid(self.weights) for curve in self.curves]

    @cached_property
    def mean_lifts(self) -> list[Fraction]:
        """Mean lift over pairs at each weight of the grid."""
        return [
            sum((outcomes[place].lift for outcomes in self.grid), Fraction(0)) / len(self.grid)
            for place in range(len(self.weights))
        ]

    @cached_property
    def top(self) -> Curve:
        """The top-accuracy pair: the two most accurate models."""
        names = {self.models[0].model, self.models[1].model}
        return next(curve for curve in self.curves if {curve.primary, curve.secondary} == names)

    @cached_property
    def best_pair(self) -> tuple[Curve, Outcome]:
        """The best pair and weight of the grid, in-sample; the smallest weight of equally good ones."""
        return max(
            ((curve, outcome) for curve, row in zip(self.curves, self.grid, strict=True) for outcome in row),
            key=lambda found: (found[1].lift, -found[1].weight),
        )

    @cached_property
    def best_trio(self) -> Trio | None:
        """The best trio on the grid of 24ths, in-sample; None with fewer than three models."""
        return best_trio(self.tally)

    @cached_property
    def tied_at_all(self) -> int:
        """Model-question votes whose top is tied, whether gold is part of it or not."""
        return sum(_tied_at_all(self.tally, model) for model in range(len(self.tally.models)))

    @property
    def tied(self) -> int:
        """Model-question votes that tie with gold among the tied, so score a fraction."""
        return sum(model.tied for model in self.models)


@dataclass(frozen=True)
class Study:
    """The datasets that are reproduced together; rates are calibrated on one of them and carried to the others."""

    datasets: Mapping[str, Dataset]
    seed: int = 0
    replicates: int = PARTS
    problems: tuple[str, ...] = ()
    """What had to be left out, a sentence each."""
    grid: tuple[Fraction, ...] | None = None
    """Weights to search, where they were given; otherwise the 13 that the paper names and 12 of ours."""
    sources: tuple[str, ...] = ()
    """What was read from where, a sentence per dataset."""

    @property
    def guessed(self) -> bool:
        """Whether some of the weights that are searched are not the paper's own words."""
        return self.grid is None

    @property
    def synthetic(self) -> bool:
        """Whether any of the votes are synthetic."""
        return any(dataset.synthetic for dataset in self.datasets.values())

    @property
    def twin(self) -> bool:
        """Whether any dataset is a synthetic twin of one of the paper's."""
        return any(dataset.twin for dataset in self.datasets.values())

    @cached_property
    def calibration(self) -> Dataset:
        """SuperGPQA as in the paper, or the largest dataset."""
        largest = max(self.datasets.values(), key=lambda dataset: (len(dataset.tally.questions), dataset.key))
        return self.datasets.get("supergpqa", largest)

    @cached_property
    def weighing(self) -> Dataset:
        """The dataset whose weights are looked at closely: the forensic one as in the paper, or the calibration set."""
        return self.datasets.get("forensic", self.calibration)

    @cached_property
    def law(self) -> Law:
        """The rates; questions are the units, as in the paper."""
        return calibrate(self.calibration.tally, by="question", seed=self.seed, replicates=self.replicates)

    @cached_property
    def predictors(self) -> dict[str, Predictors]:
        """The table of predictors of each dataset, with the rates frozen."""
        return {
            key: predictors(dataset.tally, self.law, by="question", seed=self.seed, replicates=self.replicates)
            for key, dataset in self.datasets.items()
        }


def study_of(
    votes: Votes | Iterable[Votes],
    *,
    seed: int = 0,
    replicates: int = PARTS,
    problems: Sequence[str] = (),
    grid: Sequence[Fraction] | None = None,
    sources: Sequence[str] = (),
) -> Study:
    """Take every dataset with a pair of models from vote tables, the paper's first and in its order."""
    known = list(published().datasets)
    found: dict[str, Dataset] = {}
    said = list(problems)
    for table in [votes] if isinstance(votes, Votes) else votes:
        synthetic = _synthetic(table)
        # The paper groups free-text answers by whether they are right.
        table = table.merging_right()
        for name in table.datasets:
            key = name.removesuffix(SUFFIX) if name.removesuffix(SUFFIX) in known else name
            dataset = Dataset(
                key, table.merging_right().tally(name), name in synthetic, PAPER_GRID if grid is None else tuple(grid)
            )
            try:
                assert dataset.curves
            except InputError as error:
                said.append(f"dataset {quote(name)} is left out: {error}")
                continue
            if key in found:
                raise InputError(
                    f"there are two datasets for {quote(key)}: reproduce a dataset and its twin one by one"
                )
            found[key] = dataset
    if not found:
        raise InputError("; ".join(said) or "there are no votes to reproduce anything from")
    order = sorted(found, key=lambda key: (known.index(key) if key in known else len(known), key))
    return Study(
        {key: found[key] for key in order},
        seed,
        replicates,
        tuple(said),
        None if grid is None else tuple(grid),
        tuple(sources),
    )


def _tied_at_all(tally: Tally, model: int) -> int:
    counts, rows = tally.dense(model), tally.rivals.rows
    gold = tally.gold[model].astype(np.int64).take(tally.rivals.order)
    top = np.maximum(rows.maximum(counts, 0), gold)
    level = rows.count_equal(counts, top).astype(np.int64) + (gold == top)
    return int(((level > 1) & tally.answered[model].take(tally.rivals.order)).sum())


def _synthetic(votes: Votes) -> set[str]:
    """Datasets that say they are synthetic: by the column, or by a twin's name."""
    import polars as pl

    named = {name for name in votes.datasets if name.endswith(SUFFIX)}
    if "synthetic" not in votes.frame.collect_schema().names():
        return named
    flagged = votes.frame.filter(pl.col("synthetic").cast(pl.String).str.to_lowercase() == "true")
    return named | set(flagged.select("dataset").unique().collect()["dataset"])
