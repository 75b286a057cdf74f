"""What can be known of lift from few labels, or none, and which questions to label next.

At a weight x the pooled score differs from the primary's own only on questions where the tie set *changes*. There it
depends on the label: with T_0 and T_x the tie sets, gold g adds [g in T_x]/|T_x| - [g in T_0]/|T_0|, and gold outside
both adds nothing. So without any label the sum over questions of the largest (smallest) change that any answer could
make bounds n times the lift from above (below), sharply: some labels attain it. A label replaces a question's range by
its one value; once every changed question has one, both bounds are the exact lift. Null is never right, and an answer
that nobody gave may be.

Where answers are graded, any set of spellings may be right, and counts as one answer. Then the largest and smallest
change over all sets are taken; a question with more than `MOST_SPELLINGS` different answers is left fully open.

All arithmetic is in whole numbers: shares c_A/N_A + x c_B/N_B are compared after multiplying by every denominator.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from math import lcm, prod
from pathlib import Path
from typing import Any

import numpy as np

from swaplaw._core.arrays import Bools, Ints
from swaplaw._core.results import Result
from swaplaw.errors import InputError, quote
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.votes.ballots import Ballots

NEXT = 20
"""Questions that are named as the next to label."""
MOST_SPELLINGS = 10
"""Graded answers to a question of which all sets are gone through."""


@dataclass(frozen=True)
class Change:
    """What one ensemble's vote changes over its primary's own, question by question, on the questions all answered."""

    ballots: Ballots = field(repr=False)
    members: tuple[int, ...]
    weights: tuple[Fraction, ...]

    @cached_property
    def answered(self) -> Bools:
        """Which questions all members answered."""
        everyone: Bools = np.logical_and.reduce(self.ballots.votes[list(self.members)] > 0)
        return everyone

    @cached_property
    def _pooled(self) -> tuple[Ints, Ints]:
        """The primary's votes and the weighted ones of each category, in units that are the same on one question."""
        return _pool(self.ballots, self.members[:1], self.weights[:1]), _pool(self.ballots, self.members, self.weights)

    @cached_property
    def _open(self) -> tuple[Ints, Ints, int]:
        """The least and the most that each question could add without its label, and their denominator."""
        before, after = self._pooled
        if self.ballots.graded:
            return _over_sets(self.ballots, before, after)
        return _over_answers(self.ballots, before, after)

    @cached_property
    def _ends(self) -> tuple[Ints, Ints, int]:
        """The least and the most that each question can add, given the labels at hand, and their denominator."""
        low, high, scale = self._open
        before, after = (_gold_ties(self.ballots, pooled) for pooled in self._pooled)
        known, own = _difference(before, after)
        shared = lcm(scale, own)
        low, high, known = low * (shared // scale), high * (shared // scale), known * (shared // own)
        ends = (np.where(self.ballots.labelled, known, end) for end in (low, high))
        least, most = (np.where(self.answered, end, 0) for end in ends)
        return least, most, shared

    @cached_property
    def changed(self) -> Bools:
        """Which questions could score otherwise with the ensemble than with the primary alone."""
        low, high, _ = self._open
        moved: Bools = ((low != 0) | (high != 0)) & self.answered
        return moved

    @property
    def n(self) -> int:
        """Questions that all members answered."""
        return int(self.answered.sum())

    @property
    def low(self) -> Fraction:
        """No labels make the lift smaller."""
        return Fraction(int(self._ends[0].sum()), self._ends[2] * self.n)

    @property
    def high(self) -> Fraction:
        """No labels make the lift larger."""
        return Fraction(int(self._ends[1].sum()), self._ends[2] * self.n)

    @cached_property
    def widths(self) -> Ints:
        """By how much labelling each question would narrow the bounds, as floats: for ordering only."""
        low, high, scale = self._ends
        return ((high - low) / (scale * max(self.n, 1))).astype(np.float64)

    def competing(self, question: int) -> list[str]:
        """The answers that lead a question, for the primary or the ensemble; where answers are graded, all of them."""
        own = slice(self.ballots.starts[question], self.ballots.starts[question + 1])
        answers = self.ballots.answers[own]
        leading = np.logical_or.reduce([pooled[own] == pooled[own].max() for pooled in self._pooled])
        shown = np.ones(len(answers), dtype=bool) if self.ballots.graded else leading
        return [answer for answer, show in zip(answers, shown, strict=True) if show and answer is not None]


def _pool(ballots: Ballots, members: Sequence[int], weights: Sequence[Fraction]) -> Ints:
    """Weighted shares of each category times all denominators: whole numbers that compare within a question."""
    top = lcm(*(weight.denominator for weight in weights))
    wholes = [int(weight * top) for weight in weights]
    largest = sum(wholes) * prod(int(ballots.votes[member].max(initial=1)) for member in members)
    dtype = np.int64 if largest < 2**62 else object
    pooled: Ints = np.zeros(len(ballots.question), dtype=dtype)
    for member, whole in zip(members, wholes, strict=True):
        factor = np.full(len(ballots.questions), whole, dtype=dtype)
        for other in members:
            if other != member:
                factor = factor * ballots.votes[other].astype(dtype)
        pooled = pooled + ballots.counts[member].astype(dtype) * factor[ballots.question]
    return pooled


def _gold_ties(ballots: Ballots, pooled: Ints) -> Ints:
    """The size of the tie set on each question, 0 where gold is not in it; right spellings count as one answer."""
    starts, right = ballots.starts[:-1], ballots.right
    gold = np.add.reduceat(np.where(right, pooled, 0), starts)
    rival = np.maximum.reduceat(np.where(right, -1, pooled), starts)
    level = np.add.reduceat((~right & (pooled == gold[ballots.question])).astype(np.int64), starts)
    voted = np.add.reduceat(right.astype(np.int64), starts) > 0
    return np.where(voted & (gold >= rival), 1 + level, 0)


def _difference(before: Ints, after: Ints) -> tuple[Ints, int]:
    """What ties of these sizes (0: gold loses) are worth, the second less the first, and the denominator."""
    sizes = [int(size) for size in np.unique(np.concatenate([before.ravel(), after.ravel()])) if size]
    scale = lcm(*sizes)
    credit = np.zeros(max(sizes, default=0) + 1, dtype=object)
    credit[sizes] = [scale // size for size in sizes]
    worth = credit if scale >= 2**31 else credit.astype(np.int64)
    return worth[after] - worth[before], scale


def _over_answers(ballots: Ballots, before: Ints, after: Ints) -> tuple[Ints, Ints, int]:
    """The least and the most that any one answer could add, were it right."""
    starts = ballots.starts[:-1]
    ties = []
    for pooled in (before, after):
        leads = pooled == np.maximum.reduceat(pooled, starts)[ballots.question]
        size = np.add.reduceat(leads.astype(np.int64), starts)[ballots.question]
        ties.append(np.where(leads, size, 0))
    effect, scale = _difference(*ties)
    effect = np.where(ballots.null, 0, effect)
    return np.minimum(0, np.minimum.reduceat(effect, starts)), np.maximum(0, np.maximum.reduceat(effect, starts)), scale


def _over_sets(ballots: Ballots, before: Ints, after: Ints) -> tuple[Ints, Ints, int]:
    """The least and the most that any set of spellings could add, were it right."""
    sizes = np.diff(ballots.starts)
    scale = lcm(*range(1, min(int(sizes.max(initial=1)), MOST_SPELLINGS + 1) + 1))
    low, high = np.full(len(sizes), -scale), np.full(len(sizes), scale)
    for size in np.unique(sizes[sizes <= MOST_SPELLINGS]):
        those = np.flatnonzero(sizes == size)
        places = ballots.starts[those][:, None] + np.arange(size)
        effects = _effects_of_sets(before[places], after[places], ballots.null[places], scale)
        low[those], high[those] = effects.min(axis=0), effects.max(axis=0)
    return low, high, scale


def _effects_of_sets(before: Ints, after: Ints, null: Bools, scale: int) -> Ints:
    """What each set of categories would add on each of some questions, were it right: sets x questions."""
    size = before.shape[1]
    sets = (np.arange(2**size)[:, None] >> np.arange(size)) & 1 == 1
    worth = []
    for pooled in (before, after):
        gold = np.where(sets[:, None, :], pooled, 0).sum(axis=2)
        rivals = np.where(sets[:, None, :], -1, pooled)
        level = (rivals == gold[:, :, None]).sum(axis=2)
        wins = sets.any(axis=1)[:, None] & (gold >= rivals.max(axis=2))
        worth.append(np.where(wins, scale // (1 + level), 0))
    # A set with the null category in it is never right: it counts as no set.
    possible = ~(sets[:, None, :] & null).any(axis=2)
    return np.where(possible, worth[1] - worth[0], 0)


@dataclass(frozen=True)
class PairLabels:
    """One pair at one weight: bounds on its lift, and what to label next."""

    primary: str
    secondary: str
    weight: Fraction
    n: int
    labelled: int
    """Questions of these that have a label."""
    changed: int
    """Questions whose tie set the secondary changes."""
    changed_labelled: int
    low: Fraction
    high: Fraction
    next: tuple[str, ...] = field(repr=False)
    """Questions to label, those first that narrow the bounds most."""

    @property
    def known(self) -> bool:
        """Whether the lift is known exactly: every changed question has a label."""
        return self.low == self.high

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: fractions of one, the weight as text."""
        return {
            "primary": self.primary,
            "secondary": self.secondary,
            "weight": str(self.weight),
            "n": self.n,
            "labelled": self.labelled,
            "changed": self.changed,
            "changed_labelled": self.changed_labelled,
            "lift_low": float(self.low),
            "lift_high": float(self.high),
            "next": list(self.next),
        }


@dataclass(frozen=True)
class Labels(Result):
    """Bounds on lift from the labels at hand, for one pair or every ordered pair of a fleet."""

    dataset: str
    ballots: Ballots = field(repr=False)
    pairs: tuple[PairLabels, ...] = field(repr=False)
    changes: tuple[Change, ...] = field(repr=False)

    @cached_property
    def order(self) -> list[int]:
        """Questions to label, those first that narrow the bounds of all pairs together most."""
        total = sum((change.widths for change in self.changes), np.zeros(len(self.ballots.questions)))
        ranked = np.lexsort((np.arange(len(total)), -total))
        return [int(place) for place in ranked if total[place] > 0]

    def rows(self) -> list[dict[str, Any]]:
        """List the pairs."""
        return [{name: value for name, value in pair.to_dict().items() if name != "next"} for pair in self.pairs]

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data."""
        return {
            "dataset": self.dataset,
            "questions": len(self.ballots.questions),
            "labelled": int(self.ballots.labelled.sum()),
            "to_label": len(self.order),
            "next": [self.ballots.questions[place] for place in self.order[:NEXT]],
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def sheet(self) -> Iterator[dict[str, str]]:
        """The rows of a labelling sheet, blind: a question, the answers that compete there, and room for the label."""
        for place in self.order:
            answers = sorted({answer for change in self.changes for answer in change.competing(place)})
            question = self.ballots.questions[place]
            answers.sort(key=lambda answer: sha256(f"{question}\0{answer}".encode()).digest())
            yield {"question": question, "answers": " | ".join(answers), "label": ""}

    def write_sheet(self, path: str | Path) -> int:
        """Write the labelling sheet as CSV; returns how many questions it has."""
        rows = list(self.sheet())
        try:
            with Path(path).open("x", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, ["question", "answers", "label"])
                writer.writeheader()
                writer.writerows(rows)
        except FileExistsError:
            raise InputError(f"{quote(str(path), 200)}: the file is there already; name another one") from None
        return len(rows)


def labels_needed(
    ballots: Ballots,
    weight: str | float | Fraction = DEFAULT_WEIGHT,
    *,
    primary: str | None = None,
    secondary: str | None = None,
    top: int = NEXT,
) -> Labels:
    """Bound the lift of pairs from the labels at hand, and name the questions to label next.

    Parameters
    ----------
    ballots : Ballots
        Counted votes, labelled or not (see `ballots_of`).
    weight : str, float or Fraction
        The weight of the secondary; the primary carries 1.
    primary, secondary : str, optional
        One pair; by default every ordered pair of models, because which of two is better takes labels to know.
    top : int
        Questions to name for each pair.

    Returns
    -------
    Labels
        Sharp bounds for each pair; `.write_sheet` writes what an annotator needs.

    Raises
    ------
    InputError
        If a model is not there, only one of the two is named, or no two models share a question.

    Examples
    --------
    >>> import swaplaw as sl
    >>> from swaplaw.votes.ballots import ballots_of
    >>> hidden = ballots_of(sl.demo_votes()).without_labels()
    >>> found = labels_needed(hidden, "2/3", primary="gpt-4", secondary="mistral-large").pairs[0]
    >>> found.changed, found.n, float(found.low), float(found.high)
    (5, 100, -0.05, 0.05)
    """
    x = as_weight(weight)
    changes = [change for change in _pairs(ballots, x, primary, secondary) if change.n]
    if not changes:
        raise InputError(f"no two models of dataset {quote(ballots.dataset)} have a question in common")
    return Labels(ballots.dataset, ballots, tuple(_summed(change, top) for change in changes), tuple(changes))


def _pairs(ballots: Ballots, x: Fraction, primary: str | None, secondary: str | None) -> Iterator[Change]:
    if (primary is None) != (secondary is None):
        raise InputError("name both the primary and the secondary, or neither")
    weights = (Fraction(1), x)
    if primary is not None and secondary is not None:
        if primary == secondary:
            raise InputError(f"primary and secondary are both {quote(primary)}: name two different models")
        yield Change(ballots, (ballots.index(primary), ballots.index(secondary)), weights)
        return
    models = range(len(ballots.models))
    for a in models:
        for b in models:
            if a != b:
                yield Change(ballots, (a, b), weights)


def _summed(change: Change, top: int) -> PairLabels:
    ballots, labelled = change.ballots, change.ballots.labelled & change.answered
    order = np.lexsort((np.arange(len(change.widths)), -change.widths))
    ahead = [ballots.questions[place] for place in order[:top] if change.widths[place] > 0]
    return PairLabels(
        ballots.models[change.members[0]],
        ballots.models[change.members[1]],
        change.weights[1],
        change.n,
        int(labelled.sum()),
        int(change.changed.sum()),
        int((change.changed & labelled).sum()),
        change.low,
        change.high,
        tuple(ahead),
    )


def read_sheet(path: str | Path) -> Mapping[str, str]:
    """Read the labels that an annotator filled in: question to right answer; rows without a label say nothing.

    Parameters
    ----------
    path : str or Path
        A CSV file with the columns `question` and `label`.

    Returns
    -------
    mapping of str to str
        The labels.

    Raises
    ------
    InputError
        If a column is missing, or a question has two labels.
    """
    name = quote(str(path), 200)
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if not {"question", "label"} <= set(reader.fieldnames or ()):
                raise InputError(
                    f"{name}: expected the columns 'question' and 'label'; give the sheet that was written"
                )
            rows = [(row["question"], (row["label"] or "").strip()) for row in reader]
    except OSError as error:
        raise InputError(f"{name}: cannot read the labels ({error.strerror})") from None
    found: dict[str, str] = {}
    for question, label in rows:
        if label and found.setdefault(question, label) != label:
            raise InputError(
                f"{name}: question {quote(question)} has the labels {quote(found[question])} and {quote(label)}"
            )
    return found


def changing_questions(ballots: Ballots, primary: int, secondary: int) -> Bools:
    """Which questions change at *some* weight: those where the primary's tie set is not led by the secondary, too.

    At every weight the tie set stays T_0 exactly where all members of T_0 have the secondary's largest count.
    """
    starts, question = ballots.starts[:-1], ballots.question
    own, other = ballots.counts[primary], ballots.counts[secondary]
    leads = own == np.maximum.reduceat(own, starts)[question]
    led = other == np.maximum.reduceat(other, starts)[question]
    broken = np.add.reduceat((leads & ~led).astype(np.int64), starts)
    both = (ballots.votes[primary] > 0) & (ballots.votes[secondary] > 0)
    changes: Bools = (broken > 0) & both
    return changes
