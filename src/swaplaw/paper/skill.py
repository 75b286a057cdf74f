"""Solve a synthetic model's skill and sharpness for the accuracies it shall have.

With all random numbers given, a vote is gold when its own number u lies below logistic(sharpness x (skill + ease)),
that is once the skill exceeds logit(u) / sharpness - ease. More gold votes can only raise a question's score, so as the
skill rises plurality accuracy climbs a staircase: its steps are sorted once, and the skill is read off. At that
plurality, sharper models have other single-sample accuracies, and sharpness is searched for the one that is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Ints

Floats = npt.NDArray[np.float64]

SHARP = tuple(float(value) for value in np.geomspace(0.7, 50.0, 11))
"""Sharpnesses tried before the best is refined."""
BLUNT = tuple(float(value) for value in np.geomspace(0.03, 0.7, 6))
"""Sharpnesses of models that hardly know what they know: luck decides most of their votes."""
REFINEMENTS = 8


@dataclass(frozen=True)
class Leanings:
    """The random numbers of one model's votes, questions x samples."""

    ease: Floats
    """The model's leaning on each question, less the question's difficulty."""
    chance: Floats
    wrong: Ints
    """What each vote is if it is wrong: 1, 2, …"""
    null: Bools
    lost: Bools


@dataclass(frozen=True)
class Solution:
    """Parameters and what they give."""

    skill: float
    sharpness: float
    theta: Floats
    """Probability of gold on each question, for votes that are not null."""
    plurality: float
    single: float

    def miss(self, plurality: float, single: float | None) -> float:
        """How far off; plurality counts double, as it is held to half the tolerance."""
        return max(2 * abs(self.plurality - plurality), 0.0 if single is None else abs(self.single - single))


def solve(
    ballot: Leanings,
    plurality: float,
    single: float | None,
    sharpness: float,
    candidates: Sequence[float] = SHARP,
) -> Solution:
    """Find the skill (and, for a given `single`, the sharpness) that realise these accuracies most closely."""
    ladder = _Ladder.build(ballot)
    if single is None:
        return ladder.at_plurality(plurality, None, sharpness)
    tried = [ladder.at_plurality(plurality, single, candidate) for candidate in candidates]
    # Between two sharpnesses that miss on either side there is one that misses less.
    straddling = [each for each in pairwise(tried) if (each[0].single < single) != (each[1].single < single)]
    finer = [between for low, high in straddling for between in _between(ladder, low, high, plurality, single)]
    return min([*tried, *finer], key=lambda each: each.miss(plurality, single))


def _between(ladder: _Ladder, low: Solution, high: Solution, plurality: float, single: float) -> list[Solution]:
    found = []
    for _ in range(REFINEMENTS):
        middle = ladder.at_plurality(plurality, single, (low.sharpness * high.sharpness) ** 0.5)
        found.append(middle)
        low, high = (middle, high) if (middle.single < single) == (low.single < single) else (low, middle)
    return found


@dataclass(frozen=True)
class _Ladder:
    """The steps that plurality accuracy takes as the skill rises."""

    ease: Floats
    logits: Floats
    """Logits of the numbers of votes that could be gold; infinite for the others."""
    votes: Ints
    """Votes of each question that are not lost."""
    question: Ints
    """The question of each step."""
    logit: Floats
    """The logit of the vote that makes each step."""
    rise: Floats
    """What each step adds to plurality accuracy."""

    @classmethod
    def build(cls, ballot: Leanings) -> _Ladder:
        logits = np.where(ballot.null | ballot.lost, np.inf, np.log(ballot.chance) - np.log1p(-ballot.chance))
        order = np.argsort(logits, axis=1, kind="stable")
        ranked = np.take_along_axis(logits, order, axis=1)
        votes = (~ballot.lost).sum(axis=1)
        rises = np.diff(_scores(ballot, order), axis=1) / int((votes > 0).sum())
        rises[~np.isfinite(ranked)] = 0.0
        question, place = np.nonzero(rises)
        return cls(ballot.ease, logits, votes, question, ranked[question, place], rises[question, place])

    def at_plurality(self, plurality: float, single: float | None, sharpness: float) -> Solution:
        """Find the skill for the plurality; of a stretch of equally good skills, the best for the single-sample one."""
        steps = self.logit / sharpness - self.ease[self.question]
        order = np.argsort(steps, kind="stable")
        heights = np.concatenate([[0.0], np.cumsum(self.rise[order])])
        place = int(np.abs(heights - plurality).argmin())
        reach = 40 / sharpness + float(np.abs(self.ease).max())
        ends = np.concatenate([[-reach], steps[order], [reach]])
        low, high = float(ends[place]), float(ends[place + 1])
        height = float(heights[place])
        return self._inside(low, high, height, single, sharpness)

    def _inside(self, low: float, high: float, plurality: float, single: float | None, sharpness: float) -> Solution:
        """Between two steps of the plurality every single vote is a small step of the single-sample accuracy."""
        steps = self.logits / sharpness - self.ease[:, None]
        share = np.broadcast_to((1 / np.maximum(self.votes, 1) / (self.votes > 0).sum())[:, None], steps.shape)
        sure, open_ = steps <= low, (steps > low) & (steps < high)
        order = np.argsort(steps[open_], kind="stable")
        ends = np.concatenate([[low], steps[open_][order], [high]])
        heights = share[sure].sum() + np.concatenate([[0.0], np.cumsum(share[open_][order])])
        place = len(order) // 2 if single is None else int(np.abs(heights - single).argmin())
        skill = float(ends[place] + ends[place + 1]) / 2
        with np.errstate(over="ignore"):
            theta = 1 / (1 + np.exp(-sharpness * (skill + self.ease)))
        return Solution(skill, sharpness, theta, plurality, float(heights[place]))


def _scores(ballot: Leanings, order: Ints) -> Floats:
    """Plurality score of each question when the first 0, 1, … of its votes in `order` are gold."""
    kinds = np.arange(1, int(ballot.wrong.max(initial=1)) + 1)
    kind = np.take_along_axis(np.where(ballot.null | ballot.lost, 0, ballot.wrong), order, axis=1)
    each = kind[:, None, :] == kinds[None, :, None]
    left = np.cumsum(each[:, :, ::-1], axis=2, dtype=np.int16)[:, :, ::-1]
    left = np.concatenate([left, np.zeros((*left.shape[:2], 1), dtype=np.int16)], axis=2)
    null = np.broadcast_to(ballot.null.sum(axis=1, dtype=np.int16)[:, None, None], (len(order), 1, left.shape[2]))
    rivals = np.concatenate([null, left], axis=1)
    gold = np.arange(left.shape[2], dtype=np.int16)
    ahead = (rivals > gold).any(axis=1)
    ties = 1 + (rivals == gold).sum(axis=1)
    return np.where(ahead | (gold == 0), 0.0, 1 / ties)
