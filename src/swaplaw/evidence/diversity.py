"""The classical measures of diversity (Kuncheva & Whitaker 2003): what any new indicator must beat.

All rest on which models are right on which question. Where a model's own vote ties, its score is fractional: the
chance of being right if ties were broken at random, each model's on its own. Every measure here is its expectation
over such tie-breaking, which is also how the paper's masses are defined (means of products); without ties it is the
textbook measure. Undefined measures are None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, lcm
from typing import Any

import numpy as np

from swaplaw._core.arrays import Floats
from swaplaw._core.exact_floats import grid_for
from swaplaw._core.results import Result
from swaplaw._core.threads import one_thread
from swaplaw.errors import InputError, quote
from swaplaw.evidence.quantities import Quantities
from swaplaw.law.pair import Masses
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import tie_credit


def pairwise(masses: Masses) -> dict[str, float | None]:
    """Measure two models by their four masses; the correlation is phi, Eq. (phi).

    Parameters
    ----------
    masses : Masses
        Of a pair: `sl.pair(...).masses`.

    Returns
    -------
    dict of str to float or None
        The classical pairwise measures; None where one is undefined.

    Examples
    --------
    >>> import swaplaw as sl
    >>> round(pairwise(sl.pair(sl.demo_votes(), "gpt-4", "mistral-large").masses)["disagreement"], 3)
    0.15
    """
    return {name: None if value is None else float(value) for name, value in _pairwise(masses).items()}


def _pairwise(cells: Any) -> dict[str, Any]:
    """The pairwise measures of anything with the four masses: exact ones, or arrays of many draws."""
    agree, differ = cells.both_right * cells.both_wrong, cells.rescue * cells.damage
    return {
        "q_statistic": _divide(agree - differ, agree + differ),
        "correlation": cells.phi,
        "disagreement": cells.rescue + cells.damage,
        "double_fault": cells.both_wrong,
    }


@dataclass(frozen=True)
class _Cells:
    """The four masses of many pairs."""

    both_right: Floats
    rescue: Floats
    damage: Floats
    both_wrong: Floats

    @property
    def phi(self) -> Floats:
        """Correlation of correctness, in the form that is exactly undefined where a model is always or never right."""
        right_a, right_b = self.both_right + self.damage, self.both_right + self.rescue
        wrong_a, wrong_b = self.both_wrong + self.rescue, self.both_wrong + self.damage
        covered = self.both_right * self.both_wrong - self.rescue * self.damage
        found: Floats = _divide(covered, np.sqrt(right_a * wrong_a * right_b * wrong_b))
        return found


def pairwise_of(votes: VotesLike) -> dict[str, Floats]:
    """Measure all pairs of models at once: the product of the scores with themselves says how often both are right.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).

    Returns
    -------
    dict of str to array
        The measures of `pairwise`, one number per pair of models in name order, on the questions that both answered;
        NaN where undefined.

    Examples
    --------
    >>> import swaplaw as sl
    >>> pairwise_of(sl.demo_votes())["disagreement"].shape
    (36,)
    """
    tally = inputs.tally(votes)
    sizes = [size for size in range(1, int(tally.ties.max(initial=0)) + 1) if (tally.ties == size).any()]
    scale = lcm(*sizes)
    if grid_for(scale**2, len(tally.questions)):
        scale = 2**16
    # Scores are whole numbers on one scale, so that what is nothing is exactly nothing.
    worth = np.zeros(max(sizes, default=0) + 1)
    worth[sizes] = [round(tie_credit(float(scale), size)) for size in sizes]
    scores = worth.take(tally.ties)
    first, second = np.triu_indices(len(scores), 1)
    with one_thread():
        both = (scores @ scores.T)[first, second]
        if tally.complete:
            own, unit = scores.sum(axis=1) * scale, np.full(len(first), float(len(tally.questions) * scale**2))
            a, b = own[first], own[second]
        else:
            asked = tally.answered.astype(np.float64)
            right, unit = (scores @ asked.T) * scale, (asked @ asked.T)[first, second] * scale**2
            a, b = right[first, second], right[second, first]
    with np.errstate(invalid="ignore", divide="ignore"):
        return _pairwise(_Cells(*(each / unit for each in (both, b - both, a - both, unit - a - b + both))))


@dataclass(frozen=True)
class Diversity(Result):
    """How many of a set of models are right at once, and what follows from that."""

    models: tuple[str, ...]
    n: int
    """Questions that all of them answered."""
    of: int
    right: tuple[Fraction, ...] = field(repr=False)
    """The share of questions on which exactly 0, 1, …, L models are right."""

    @property
    def measures(self) -> dict[str, float | None]:
        """The non-pairwise measures by name."""
        found = _non_pairwise(self.right)
        return {name: None if value is None else float(value) for name, value in found.items()}

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        shares = [float(share) for share in self.right]
        return {"models": list(self.models), "n": self.n, "of": self.of, "right": shares, **self.measures}


def _non_pairwise(right: Sequence[Any]) -> dict[str, Any]:
    """The non-pairwise measures from the shares of questions with 0, 1, …, L models right: exact, or arrays of them."""
    size = len(right) - 1
    number = range(size + 1)
    mean = sum(k * right[k] for k in number) / size
    mixed = sum(k * (size - k) * right[k] for k in number)
    two_fail = sum((size - k) * (size - k - 1) * right[k] for k in number) / (size * (size - 1))
    others_right = sum(k * right[k] for k in range(size)) / (size - 1)
    return {
        "entropy": sum(min(k, size - k) * right[k] for k in number) / (size - ceil(size / 2)),
        "kohavi_wolpert": mixed / size**2,
        "kappa": _less(1, _divide(mixed, size * (size - 1) * mean * (1 - mean))),
        "difficulty": sum(k * k * right[k] for k in number) / size**2 - mean**2,
        "generalised_diversity": _less(1, _divide(two_fail, 1 - mean)),
        # Kuncheva & Whitaker set it to 0 where no model ever fails.
        "coincident_failure": _divide(others_right, 1 - right[size], empty=0),
    }


def _divide(top: Any, bottom: Any, empty: int | None = None) -> Any:
    """Divide exact numbers or arrays; where there is nothing to divide by, `empty` (None: undefined)."""
    if isinstance(bottom, np.ndarray):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(bottom == 0, np.nan if empty is None else empty, top / bottom)
    return top / bottom if bottom else empty


def _less(whole: int, part: Any) -> Any:
    return None if part is None else whole - part


def classical(found: Quantities) -> dict[str, Floats]:
    """Every measure for many pairs in many draws: for two models the non-pairwise ones follow from the masses too."""
    return _pairwise(found) | _non_pairwise([found.both_wrong, found.rescue + found.damage, found.both_right])


def diversity_of(votes: VotesLike, models: Sequence[str] | None = None) -> Diversity:
    """Measure the diversity of any set of models on the questions that all of them answered.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).
    models : sequence of str, optional
        Which models; by default the fleet.

    Returns
    -------
    Diversity
        The classical measures for more than two classifiers.

    Raises
    ------
    InputError
        If fewer than two models are named, or they share no question.

    Examples
    --------
    >>> import swaplaw as sl
    >>> round(diversity_of(sl.demo_votes(), ["gpt-4", "mistral-large"]).measures["entropy"], 3)
    0.15
    """
    tally = inputs.tally(votes)
    chosen = tuple(tally.models if models is None else models)
    if len(chosen) < 2 or len(set(chosen)) < len(chosen):
        raise InputError(f"diversity needs two or more different models, not {', '.join(map(quote, chosen)) or 'none'}")
    members = [tally.index(model) for model in chosen]
    common = tally.answered[members].all(axis=0)
    n = int(common.sum())
    if not n:
        raise InputError(f"the models {', '.join(map(quote, chosen))} have no question in common")
    ties = np.stack([tally.scores[member].ties[common] for member in members])
    # Few combinations of tie sizes occur, and models are interchangeable: count each once.
    found = Counter(map(tuple, np.sort(ties, axis=0).T.tolist()))
    total = [Fraction(0)] * (len(chosen) + 1)
    for sizes, times in found.items():
        for k, chance in enumerate(_number_right(sizes)):
            total[k] += chance * Fraction(times, n)
    return Diversity(chosen, n, len(tally.questions), tuple(total))


def _number_right(ties: Sequence[int]) -> list[Fraction]:
    """How likely 0, 1, …, L models are right when each breaks its own tie at random (tie size 0: surely wrong)."""
    chances = [Fraction(1)]
    for size in ties:
        right = tie_credit(Fraction(1), size) if size else Fraction(0)
        wrong = [chance * (1 - right) for chance in chances] + [Fraction(0)]
        chances = [stay + move * right for stay, move in zip(wrong, [Fraction(0), *chances], strict=True)]
    return chances
