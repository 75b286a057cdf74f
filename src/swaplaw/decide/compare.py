"""Who beats whom: paired differences between models, with the one interval, McNemar's test and Holm's adjustment.

Every question that two models answered gives one difference of their scores: of their own pluralities, or of the share
of their samples that is right (the expected score of a single sample). The mean difference has the interval that every
mean has here (see `evidence.interval`), so questions of one cluster count as one. p-values are two-sided and adjusted
over all comparisons that are shown (Holm, 1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np

from swaplaw._arrays import Floats
from swaplaw._result import Result
from swaplaw.errors import InputError, listing, quote
from swaplaw.evidence.anytime import Anytime, adjusted, anytime_effect, reaches
from swaplaw.evidence.interval import LEVEL, POWER, Effect, effect_among
from swaplaw.evidence.units import Unit, Units, resampling_units
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.position import holm
from swaplaw.votes.tally import Tally

Score = Literal["plurality", "single"]
SCORES: tuple[Score, ...] = get_args(Score)
DIFFERENCES = (
    "However often and whenever you look: the chance that two equal models are ever reported to differ is at most "
    "{error} over all comparisons shown; the chance that an interval ever misses the truth is at most {error}."
)


@dataclass(frozen=True)
class Comparison:
    """Two models on the questions that both answered, the more accurate first."""

    first: str
    second: str
    first_score: float
    second_score: float
    effect: Effect
    """The difference: the first model's score less the second's."""
    mcnemar: float | None
    """McNemar's exact p-value: of the questions on which the scores differ, how evenly they fall to either model.

    None where units are clusters: it takes questions to be independent.
    """
    p_adjusted: float
    anytime: Anytime | None = None
    """The difference judged validly at every look, where that was asked for."""
    e_adjusted: float | None = None
    """The e-value against "no difference", adjusted for all comparisons shown."""

    @property
    def difference(self) -> float:
        """The first model's mean score less the second's."""
        return self.effect.mean

    @property
    def significant(self) -> bool:
        """Whether the difference is significant at 5%, adjusted for all comparisons shown."""
        return self.p_adjusted < 1 - LEVEL

    @property
    def detectable(self) -> float:
        """The smallest difference that this many questions would show four times in five."""
        return (self.effect.critical + NormalDist().inv_cdf(POWER)) * self.effect.standard_error

    @property
    def needed(self) -> int | None:
        """Questions at which the observed difference would be shown four times in five; None: out of reach."""
        return self.effect.questions_needed(0.0)

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one."""
        found = self.effect
        return {
            "first": self.first,
            "second": self.second,
            "n": found.n,
            "units": found.units,
            "first_score": self.first_score,
            "second_score": self.second_score,
            "difference": self.difference,
            "low": found.low,
            "high": found.high,
            "p": found.p_two_sided,
            "p_adjusted": self.p_adjusted,
            "mcnemar": self.mcnemar,
            "detectable": self.detectable,
            "needed": self.needed,
            **self._anytime(),
        }

    def _anytime(self) -> dict[str, Any]:
        found, shown = self.anytime, self.e_adjusted
        if found is None or shown is None:
            return {}
        return {"anytime": found.to_dict() | {"e_adjusted": shown, "decided": reaches(shown, found.level)}}


@dataclass(frozen=True, repr=False)
class Comparisons(Result):
    """Every two models of a fleet, compared."""

    dataset: str
    score: Score
    units: Units
    comparisons: tuple[Comparison, ...]
    disjoint: int
    """Pairs of models that share too few questions to be compared."""

    def rows(self) -> list[dict[str, Any]]:
        """List the comparisons, the largest difference first."""
        return [
            {name: value for name, value in each.to_dict().items() if name != "anytime"} for each in self.comparisons
        ]

    def worse(self, model: str) -> bool:
        """Whether some model is significantly better than this one."""
        named = {name for each in self.comparisons for name in (each.first, each.second)}
        if model not in named:
            raise InputError(f"{quote(model)} is not compared; there are {listing(sorted(named))}")
        return any(each.significant and each.second == model for each in self.comparisons)

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one."""
        return {
            "dataset": self.dataset,
            "score": self.score,
            "unit": self.units.kind,
            "comparisons": [each.to_dict() for each in self.comparisons],
            "disjoint": self.disjoint,
            **({} if self.anytime is None else {"anytime": self.anytime}),
        }

    @property
    def anytime(self) -> dict[str, Any] | None:
        """What anytime evidence promises and how much of it is needed, where it was asked for."""
        judged = [each.anytime for each in self.comparisons if each.anytime is not None]
        if not judged:
            return None
        error = 1 - judged[0].level
        return {
            "needed": 1 / error,
            "decided": sum(reaches(each.e_adjusted or 0.0, judged[0].level) for each in self.comparisons),
            "guarantee": DIFFERENCES.format(error=f"{100 * error:g}%"),
        }


def compare(
    votes: VotesLike,
    models: Sequence[str] | None = None,
    *,
    score: Score = "plurality",
    by: Unit | None = None,
    level: float = LEVEL,
    anytime: bool = False,
) -> Comparisons:
    """Compare every two models on the questions that both answered.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    models : sequence of str, optional
        Compare only these.
    score : {"plurality", "single"}
        What is compared: each model's own plurality vote, or the share of its samples that is right.
    by : {"question", "cluster"}, optional
        What is resampled; by default clusters where there are several.
    level : float
        Level of the intervals.
    anytime : bool
        Whether to add evidence that is valid at every look (see `evidence.anytime`).

    Returns
    -------
    Comparisons
        The largest difference first.

    Raises
    ------
    InputError
        If there are fewer than two models, a model is unknown or named twice, or no two models share two units.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = sl.compare(sl.demo_votes(), ["gpt-4", "mistral-large"]).comparisons[0]
    >>> found.first, round(found.difference, 2), round(found.p_adjusted, 3)
    ('gpt-4', 0.08, 0.044)
    """
    if score not in SCORES:
        raise InputError(f"there is no score {quote(score)}; there are {listing(SCORES)}")
    tally = inputs.tally(votes)
    chosen = _chosen(tally, models)
    units = resampling_units(tally, by)
    scores = _scores(tally, chosen, score)
    found: list[tuple[str, str, float, float, Effect, float | None]] = []
    looks: list[Anytime] = []
    for one, other in combinations(range(len(chosen)), 2):
        common = tally.answered[chosen[one]] & tally.answered[chosen[other]]
        first, second = scores[one][common], scores[other][common]
        names = tally.models[chosen[one]], tally.models[chosen[other]]
        if first.sum() < second.sum():
            first, second, names = second, first, (names[1], names[0])
        effect = effect_among(first - second, units.member[common], level=level)
        if effect is not None:
            exact = _mcnemar(first, second) if units.kind == "question" else None
            found.append((*names, float(first.mean()), float(second.mean()), effect, exact))
            if anytime:
                looks.append(_look(first - second, units.among(common), level))
    if not found:
        raise InputError(f"no two models of dataset {quote(tally.dataset)} share enough questions to be compared")
    smallest = holm([effect.p_two_sided for *_, effect, _ in found])
    shown = adjusted([look.either for look in looks])
    judged: list[tuple[Anytime | None, float | None]] = [(None, None)] * len(found)
    if anytime:
        judged = list(zip(looks, shown, strict=True))
    compared = [Comparison(*row, p, look, e) for row, p, (look, e) in zip(found, smallest, judged, strict=True)]
    compared.sort(key=lambda each: (-each.difference, each.first, each.second))
    possible = len(chosen) * (len(chosen) - 1) // 2
    return Comparisons(tally.dataset, score, units, tuple(compared), possible - len(compared))


def _look(differences: Floats, units: Units, level: float) -> Anytime:
    clustered = units.count < len(differences)
    return anytime_effect(differences, units.member if clustered else None, level=level)


def _chosen(tally: Tally, models: Sequence[str] | None) -> list[int]:
    names = list(tally.models if models is None else models)
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"{quote(twice[0])} is named twice among the models")
    if len(names) < 2:
        raise InputError(f"a comparison needs two models, not {len(names)}; there are {listing(tally.models)}")
    return [tally.index(name) for name in names]


def _scores(tally: Tally, chosen: Sequence[int], score: Score) -> list[Floats]:
    """Each model's score on every question; 0 where it did not answer."""
    if score == "plurality":
        return [np.asarray(tally.scores[m].numerators / tally.scores[m].denominator, dtype=float) for m in chosen]
    return [tally.right_votes(m) / np.maximum(tally.votes[m], 1) for m in chosen]


def _mcnemar(first: Floats, second: Floats) -> float:
    """The exact test on questions that one model scores higher on; with scores of 0 and 1 it is McNemar's."""
    from scipy.special import bdtr

    wins, losses = int((first > second).sum()), int((first < second).sum())
    return min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5))) if wins + losses else 1.0
