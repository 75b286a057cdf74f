"""Equal compute: is the lift diversity, or just more samples?

For a total of T samples per question, the expected accuracy of each model alone and of every split a + b = T, each at
its own best weight, when samples are drawn without replacement from the votes at hand. A best weight is chosen, so
every split shows its held-out accuracy too. With prices per sample, accuracy against cost and its Pareto front.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw._core.parallel import Crew, Progress, Workers
from swaplaw._core.results import Result
from swaplaw.decide.cost import check_prices
from swaplaw.decide.defaults import FOLDS
from swaplaw.decide.holdout import Folds, deal, held_out_weight
from swaplaw.errors import InputError, quote
from swaplaw.evidence.subsample import Shuffled
from swaplaw.evidence.units import Unit, require_several, resampling_units
from swaplaw.law.pair import Pair, pair
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike

BUDGET_REPEATS = 3


@dataclass(frozen=True)
class Split:
    """Some samples of the primary and some of the secondary, at the best weight for that many."""

    primary: int
    """Samples of the primary."""
    secondary: int
    weight: Fraction | None
    """Weight of the secondary; None where one model is alone."""
    accuracy: float
    """Expected accuracy, at a weight chosen on the same questions."""
    held_out: float
    """Expected accuracy at weights chosen without the question."""
    standard_error: float
    """Of the accuracy, from drawing ballots at random; 0 where every ballot is listed."""
    exact: bool
    """Whether every ballot of every question is listed."""
    cost: float
    efficient: bool = False
    """On the Pareto front: nothing that costs as little is more accurate (held out)."""

    @property
    def samples(self) -> int:
        """Samples in all."""
        return self.primary + self.secondary

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON."""
        return {
            "samples": self.samples,
            "primary": self.primary,
            "secondary": self.secondary,
            "weight": None if self.weight is None else str(self.weight),
            "accuracy": self.accuracy,
            "held_out": self.held_out,
            "standard_error": self.standard_error,
            "exact": self.exact,
            "cost": self.cost,
            "efficient": self.efficient,
        }


@dataclass(frozen=True)
class Budget(Result):
    """Every split of every requested total, for one pair."""

    dataset: str
    primary: str
    secondary: str
    n: int
    of: int
    priced: bool
    splits: tuple[Split, ...] = field(repr=False)

    @property
    def front(self) -> list[Split]:
        """The Pareto front, the cheapest first."""
        return sorted((split for split in self.splits if split.efficient), key=lambda split: split.cost)

    def best(self, samples: int) -> tuple[Split, Split | None]:
        """The best single model and the best true split (by held-out accuracy) of a total.

        Parameters
        ----------
        samples : int
            Samples per question.
        """
        rows = [split for split in self.splits if split.samples == samples]
        alone = [split for split in rows if split.weight is None]
        mixed = [split for split in rows if split.weight is not None]
        return max(alone, key=_held_out), max(mixed, key=_held_out, default=None)

    @property
    def totals(self) -> list[int]:
        """The totals that were asked for."""
        return sorted({split.samples for split in self.splits})

    def rows(self) -> list[dict[str, Any]]:
        """List the splits."""
        return [split.to_dict() for split in self.splits]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "dataset": self.dataset,
            "primary": self.primary,
            "secondary": self.secondary,
            "n": self.n,
            "of": self.of,
            "priced": self.priced,
            "splits": [split.to_dict() for split in self.splits],
            "front": [split.to_dict() for split in self.front],
        }


def budget(
    votes: VotesLike,
    primary: str,
    secondary: str,
    samples: int | Sequence[int] | None = None,
    *,
    prices: Mapping[str, float] | None = None,
    by: Unit | None = None,
    ballots: int | None = None,
    seed: int = 0,
    workers: Workers = None,
    progress: Progress = iter,
) -> Budget:
    """Compare a pair with its models alone at equal compute: every split of the same number of samples.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    primary, secondary : str
        The two models.
    samples : int or sequence of int, optional
        Samples per question in all; by default as many as the primary has.
    prices : mapping of str to float, optional
        What a sample of each model costs.
    by : {"question", "cluster"}, optional
        What is held out together.
    ballots : int, optional
        How many random ballots to draw where there are too many to list.
    seed : int
        The same seed gives the same numbers.
    workers : int, optional
        Share the splits among this many; the numbers stay the same.
    progress : callable
        Wraps the shares of the work as they are done.

    Returns
    -------
    Budget
        Accuracy, held-out accuracy and cost of every split; `.best(samples)` names the best.

    Raises
    ------
    InputError
        If a model is unknown, or has too few samples.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = sl.decide.budget(sl.demo_votes(), "gpt-4", "mistral-large", 4)
    >>> [(split.primary, split.secondary) for split in found.best(4)]
    [(4, 0), (3, 1)]
    """
    tally = inputs.tally(votes)
    chosen = pair(tally, primary, secondary)
    common = tally.select(models=[primary, secondary], questions=chosen.common)
    most = common.votes.min(axis=1).astype(int)
    totals = _totals(samples, chosen, most)
    costs = check_prices(tally, common.models, prices)
    units = resampling_units(common, by)
    require_several(common, units)
    dealt = deal(units.member, folds=FOLDS, repeats=BUDGET_REPEATS, seed=seed)
    sizes = [(total - b, b) for total in totals for b in range(total + 1) if total - b <= most[0] and b <= most[1]]
    data = Shuffled(common, seed, ballots), dealt
    work = partial(_split, costs=costs)
    splits = tuple(_marked(Crew(workers).share(work, data, sizes, progress=progress)))
    return Budget(tally.dataset, primary, secondary, chosen.n, chosen.of, prices is not None, splits)


def _totals(samples: int | Sequence[int] | None, chosen: Pair, most: Sequence[int]) -> list[int]:
    """Check the totals: each must leave a model that can give them alone."""
    asked = [int(most[0])] if samples is None else [samples] if isinstance(samples, int) else sorted(set(samples))
    for total in asked:
        if total < 1:
            raise InputError(f"{total} samples per question answer nothing: give 1 or more")
        if total > max(most):
            raise InputError(
                f"{total} samples per question are more than either model has: {quote(chosen.primary)} has at least "
                f"{most[0]} on every question, {quote(chosen.secondary)} {most[1]}; ask for at most {max(most)}"
            )
    return asked


def _split(data: tuple[Shuffled, Folds], size: tuple[int, int], costs: Floats) -> Split:
    """Expected accuracy of one split at its best weight."""
    votes, dealt = data
    cost = float(np.dot(size, costs))
    if 0 in size:
        member = int(size[0] == 0)
        drawn = votes.draw((member,), (max(size),))
        scores, error = drawn.scores((Fraction(1),))
        mean = float(scores.mean())
        return Split(*size, None, mean, mean, error, bool(drawn.exact.all()), cost)
    drawn = votes.draw((0, 1), size)
    sheet = drawn.sheet()
    totals = sheet.sums(np.ones((1, dealt.tests.shape[1])))[0]
    best = int(np.where(sheet.open, totals, -1).argmax())
    weight = sheet.weight(*sheet.run(totals, best))
    scores, error = drawn.scores((Fraction(1), weight))
    held_out = float(held_out_weight(sheet, dealt).mean())
    return Split(*size, weight, float(scores.mean()), held_out, error, bool(drawn.exact.all()), cost)


def _marked(rows: Iterable[Split]) -> Iterable[Split]:
    """Mark the Pareto front: walking up in cost, whatever beats all that is cheaper or as cheap."""
    best = -1.0
    efficient = set()
    listed = list(rows)
    for number, row in sorted(enumerate(listed), key=lambda item: (item[1].cost, -item[1].held_out, item[0])):
        if row.held_out > best:
            best = row.held_out
            efficient.add(number)
    return (replace(row, efficient=number in efficient) for number, row in enumerate(listed))


def _held_out(split: Split) -> float:
    return split.held_out
