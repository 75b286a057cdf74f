"""Choosing an ensemble from part of the questions: what is chosen, and by which rule.

A *rule* is any callable that takes training parts (rows of a mask over questions) and returns one `Choice` for each;
`held_out` (see `holdout`) judges rules without knowing what is inside. `PairRule` chooses among single models,
pairs at every weight and panels along lines of weights (see `lines`); `each` turns any function of a training tally (a
panel search, say) into a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Literal, Protocol

import numpy as np

from swaplaw._core.arrays import Bools, Floats, Ints
from swaplaw._core.parallel import ALONE, Crew, Progress
from swaplaw.law.lines import Line, mixed
from swaplaw.law.pair import Pair
from swaplaw.law.scoresheet import Scoresheet, exact_product, scoresheet
from swaplaw.law.weights import vote
from swaplaw.votes.tally import Tally

By = Literal["lift", "swap"]
"""Exact lift on the best plateau, or the paper's rule: the largest swap mass S*."""


@dataclass(frozen=True, order=True)
class Choice:
    """Members of an ensemble (places in the tally), the primary first, and their weights, 1 first."""

    members: tuple[int, ...]
    weights: tuple[Fraction, ...]

    @property
    def ensemble(self) -> frozenset[int]:
        """The set of members, whoever is the primary."""
        return frozenset(self.members)


Rule = Callable[[Bools], Sequence[Choice]]
"""Training parts (parts x questions) to the choice made on each."""


class Scorer(Protocol):
    """Scores of single models, pairs and any choice, question by question."""

    @property
    def tally(self) -> Tally:
        """The votes."""

    @property
    def own(self) -> tuple[Floats, int]:
        """Each model's own scores, models x questions, times a scale."""

    def sheet(self, a: int, b: int) -> Scoresheet:
        """The scoresheet of a pair with primary a."""

    def along(self, line: Line) -> Scoresheet:
        """The scoresheet of an ensemble whose secondaries keep to a mix."""

    def score(self, choice: Choice) -> Floats:
        """Scores of a choice on every question, as fractions of one."""


@dataclass(frozen=True)
class Recorded:
    """Scores with all the votes that were recorded: exact."""

    tally: Tally
    _scores: dict[Choice, Floats] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def own(self) -> tuple[Floats, int]:
        """Each model's own plurality scores on one scale."""
        scale = int(np.lcm.reduce([scores.denominator for scores in self.tally.scores], dtype=object))
        rows = [scores.numerators * (scale // scores.denominator) for scores in self.tally.scores]
        return np.array(rows), scale

    def sheet(self, a: int, b: int) -> Scoresheet:
        """Lay out a pair's scores."""
        return scoresheet(Pair(self.tally, a, b))

    def along(self, line: Line) -> Scoresheet:
        """Lay out a panel's scores along a line of weights."""
        return self.sheet(*line.members) if len(line.members) == 2 else scoresheet(Pair(mixed(self.tally, line), 0, 1))

    def score(self, choice: Choice) -> Floats:
        """Pool the members' votes."""
        if choice not in self._scores:
            pooled = vote(self.tally, choice.members, choice.weights)
            self._scores[choice] = np.asarray(pooled.numerators / pooled.denominator, dtype=np.float64)
        return self._scores[choice]


def each(tally: Tally, choose: Callable[[Tally], Choice], crew: Crew = ALONE, progress: Progress = iter) -> Rule:
    """Turn a function of a training tally into a rule that `held_out` can judge.

    Parameters
    ----------
    tally : Tally
        The votes.
    choose : callable
        From the votes of a training part to members and weights.
    crew : Crew
        Who does the work; by default this process.
    progress : callable
        Wraps the training parts as they are done.

    Returns
    -------
    Rule
        Chooses on every training part.

    Examples
    --------
    >>> import swaplaw as sl
    >>> tally = sl.demo_votes().tally()
    >>> rule = each(tally, lambda train: alone(train.index("gpt-4")))
    >>> rule(np.ones((1, len(tally.questions)), dtype=bool))
    [Choice(members=(5,), weights=(Fraction(1, 1),))]
    """
    return lambda parts: list(crew.share(partial(_on_part, choose), tally, list(parts), progress=progress))


def _on_part(choose: Callable[[Tally], Choice], tally: Tally, part: Bools) -> Choice:
    return choose(tally.select(questions=part))


@dataclass(frozen=True)
class BestSingle:
    """The most accurate single model of each training part; equal accuracies: name order."""

    scorer: Scorer
    singles: tuple[int, ...]

    def __call__(self, parts: Bools) -> list[Choice]:
        """Choose on each part."""
        return [alone(self.singles[row]) for row in self.totals(parts).argmax(axis=0)]

    def totals(self, parts: Bools) -> Floats:
        """Scores summed over each part: singles x parts, times the scorer's scale."""
        own, scale = self.scorer.own
        return exact_product(parts, own[list(self.singles)].T, scale).T


def alone(model: int) -> Choice:
    """One model by itself."""
    return Choice((model,), (Fraction(1),))


@dataclass(frozen=True)
class _Best:
    """The best so far on one part, and what is needed to name its weight."""

    value: Fraction
    line: Line
    sheet: Scoresheet | None = None
    run: tuple[int, int] = (0, 0)

    @property
    def choice(self) -> Choice:
        if self.sheet is None:
            return alone(self.line.members[0])
        weight = self.sheet.weight(*self.run)
        return Choice(self.line.members, self.line.weights(weight)) if weight else alone(self.line.members[0])


Won = dict[int, tuple[Fraction, Choice]]
"""On which parts an ensemble is better than any single model: its value there, and what it is."""


@dataclass(frozen=True)
class _Contest:
    """What it takes to compare ensembles on training parts."""

    scorer: Scorer
    parts: Bools
    totals: Floats
    """Each model's scores summed over each part."""
    singles: tuple[_Best, ...]
    """The best single model of each part."""
    by: By

    def winners(self, candidates: Sequence[tuple[int, int] | Line]) -> Won:
        """The best of these candidates on each part, the first of equals, where it beats the best single model."""
        best = list(self.singles)
        for candidate in candidates:
            for line, where in self._led(candidate):
                if where.any():
                    self._challenge(best, line, np.flatnonzero(where))
        return {part: (found.value, found.choice) for part, found in enumerate(best) if found.sheet is not None}

    def _led(self, candidate: tuple[int, int] | Line) -> Iterator[tuple[Line, Bools]]:
        """Which lines a candidate stands for on which parts: a pair is led by whoever is more accurate there."""
        if isinstance(candidate, Line):
            yield candidate, led_by_best(candidate, self.totals)
        else:
            a, b = candidate
            ahead = self.totals[:, a] >= self.totals[:, b]
            yield Line((a, b)), ahead
            yield Line((b, a)), ~ahead

    def _challenge(self, best: list[_Best], line: Line, where: Ints) -> None:
        """Put an ensemble in the place of what it beats, on the parts on which it is oriented like this."""
        sheet = self.scorer.along(line)
        if self.by == "swap":
            sums, scale = self._promised(sheet, self.parts[where], *line.members)
        else:
            sums, scale = sheet.sums(self.parts[where]), sheet.scale
        eligible = np.where(sheet.open, sums, -1) if self.by == "lift" else sums
        for part, row, stretch in zip(where, sums, eligible.argmax(axis=1), strict=True):
            value = _fraction(row[stretch], scale)
            if value > best[part].value:
                run = sheet.run(row, stretch) if self.by == "lift" else (stretch, stretch)
                best[part] = _Best(value, line, sheet, run)

    def _promised(self, sheet: Scoresheet, parts: Bools, a: int, b: int) -> tuple[Floats, int]:
        """P + S* summed over each part: ok_A + (P_x - ok_A) times the weight of the cells R and D, and the scale.

        Only questions on which the models disagree, in part at least, depend on the weight.
        """
        own, unit = self.scorer.own
        largest = sheet.scale * unit**3
        wide = own.dtype if own.dtype.kind == "f" or largest < 2**62 else np.dtype(object)
        right_a, right_b = own[a].astype(wide), own[b].astype(wide)
        disagree = (unit - right_a) * right_b + right_a * (unit - right_b)
        alone = right_a * (sheet.scale * unit**2) - disagree * right_a * sheet.scale
        # Both are as wide as their sum needs.
        base = exact_product(parts, alone[:, None], largest, 2 * parts.shape[1])
        return base + sheet.weighted(disagree * unit, largest).sums(parts), largest


@dataclass(frozen=True)
class PairRule:
    """The best ensemble at its best weight, or a smaller one where it does no better on the training part.

    By `lift`, the pair and plateau of weights with the highest accuracy, at the simplest weight of the plateau. By
    `swap`, the paper's rule: each pair at the smallest weight that has its largest S*, and the pair that promises the
    highest accuracy p + S*. Orientation, too, is decided on the training part: the more accurate model leads.
    """

    scorer: Scorer
    singles: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    by: By = "lift"
    progress: Progress = field(default=iter, repr=False, compare=False)
    lines: tuple[Line, ...] = ()
    """Along which panels, too, are tried; only those that the most accurate member leads count on a part."""
    crew: Crew = field(default=ALONE, repr=False, compare=False)

    def __call__(self, parts: Bools) -> list[Choice]:
        """Choose on each part."""
        totals, scale = model_totals(self.scorer, parts), self.scorer.own[1]
        singles = self._singles(totals, scale)
        best = [(found.value, found.choice) for found in singles]
        contest = _Contest(self.scorer, parts, totals, singles, self.by)
        candidates: list[tuple[int, int] | Line] = [*self.pairs, *self.lines]
        for won in self.crew.share(_Contest.winners, contest, self.crew.split(candidates), progress=self.progress):
            for part, found in won.items():
                # Of equals the first stays, as if all were compared in turn.
                if found[0] > best[part][0]:
                    best[part] = found
        return [choice for _, choice in best]

    def _singles(self, totals: Floats, scale: int) -> tuple[_Best, ...]:
        rows = totals[:, list(self.singles)]
        return tuple(
            _Best(_fraction(row[leader], scale), Line((self.singles[leader],)))
            for row, leader in zip(rows, rows.argmax(axis=1), strict=True)
        )


def _fraction(value: Any, scale: int) -> Fraction:
    number = value if isinstance(value, int) else value.item()
    return Fraction(number) / scale


def model_totals(scorer: Scorer, parts: Bools) -> Floats:
    """Each model's scores summed over each part: parts x models, times the scorer's scale."""
    own, scale = scorer.own
    return exact_product(parts, own.T, scale)


def led_by_best(line: Line, totals: Floats) -> Bools:
    """On which parts (rows of the models' total scores) a line's primary is its best member; equals: name order."""
    panel = sorted(line.members)
    led: Bools = totals[:, panel].argmax(axis=1) == panel.index(line.members[0])
    return led


def all_pairs(models: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Every pair of these models."""
    return tuple(combinations(models, 2))
