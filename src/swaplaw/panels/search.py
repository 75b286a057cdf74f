"""Which panel: all panels of a size, their weights certified, without searching those that can't be among the best.

Every panel first gets a bound from its members' gold votes and strongest margins (`Reach`). Panels are then searched
from the highest bound down; once the bounds fall below the worst of the best so far, all that remain are out, and a
panel is left as soon as its own proof falls below. Fleets with too many panels are searched greedily, one member at a
time, and the answer says how much better any panel could be at most.

Panels go in waves, which workers share (see `crew`): all of a wave have to beat what was the last of the best when it
began. So the search takes the same path whether one process does it or many.

Panels are compared on the same questions: those that every model of the fleet answered.

At any weights some members *lead*: nobody weighs more than they do. Let l lead, let r be l's strongest rival of
gold, and scale weights so that l carries 1. Gold holds against r only where l's own margin plus the others' votes
for gold, each times its weight of at most 1, is not negative. So a question that l alone misses by more than the
others' gold votes together is lost wherever l leads. Where the sum is exactly 0, gold can only tie, and only if all
members with gold votes lead. Counting the questions left for every set of leaders bounds the panel; that no panel
wins a question on which none of its members ever votes gold is a special case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from swaplaw._arrays import Bools, Ints
from swaplaw._parallel import Crew, Workers
from swaplaw._result import Result
from swaplaw.errors import InputError, listing, quote, several
from swaplaw.law.weights import whole_factors
from swaplaw.panels.branch_and_bound import Work
from swaplaw.panels.exact import WORK, Certificate, Curves, challenge, check_work
from swaplaw.panels.panel import LARGEST_PANEL, Panel, oriented
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally

TOP = 10
SMALLEST_WAVE, LARGEST_WAVE = 4, 256
"""Panels that are searched with one floor: more of them the more were searched before, as the floor rises less."""
SHARES = 20
"""A panel may take one part of this number of the work that is allowed."""
LARGEST_SEARCH = 20_000
"""More panels than this are not searched one by one."""

Progress = Callable[[int, int], None]
"""Told how many panels are done, of how many."""

# A panel as good as the last of the best must still be seen: names decide between equals.
_HAIR = Fraction(1, 10**12)


@dataclass(frozen=True)
class PanelSearch(Result):
    """The best panels of a size, and what happened to all the others."""

    panels: tuple[Certificate, ...]
    """Best first."""
    size: int
    of: int
    """How many panels there are."""
    searched: int
    """Panels whose weights were searched to the end (or as far as the work allowed)."""
    cut: int
    """Panels abandoned when their bound fell below the best ones."""
    pruned: int
    """Panels ruled out by their bound before their weights were searched."""
    bound: Fraction
    """No panel of this size, at any weights, is more accurate than this."""
    questions: int
    """Questions that every model answered, on which panels are compared."""
    dropped: int
    """Questions that some model did not answer."""
    complete: bool
    """Whether every panel was searched, cut or pruned: not so after a limit, Ctrl-C or a greedy search."""
    greedy: bool = False

    def __repr__(self) -> str:
        best = f", best {self.panels[0]!r}" if self.panels else ""
        return f"PanelSearch({len(self.panels):,} of {several(self.of, 'panel')} of {self.size}{best})"

    def rows(self) -> list[dict[str, Any]]:
        """One row per panel, the most accurate first."""
        return [
            {
                "members": " + ".join(one.panel.members),
                "weights": " : ".join(map(str, one.best.weights)),
                "accuracy": float(one.best.accuracy),
                "lift": float(one.lift),
                "bound": float(one.bound),
                "proof": one.proof,
            }
            for one in self.panels
        ]

    @property
    def share_pruned(self) -> float:
        """Share of panels that were never searched."""
        return self.pruned / self.of

    @property
    def gap(self) -> Fraction:
        """How much better than the first panel any other could be; 0 when the first is proven best."""
        return self.bound - max(one.best.accuracy for one in self.panels)

    @property
    def certified(self) -> bool:
        """Whether the most accurate panel listed is proven to be the best of its size."""
        return not self.gap

    def to_dict(self) -> dict[str, Any]:
        """What the search did, ready for JSON."""
        return {
            "size": self.size,
            "of": self.of,
            "searched": self.searched,
            "cut": self.cut,
            "pruned": self.pruned,
            "share_pruned": self.share_pruned,
            "bound": float(self.bound),
            "gap": float(self.gap),
            "questions": self.questions,
            "dropped": self.dropped,
            "complete": self.complete,
            "greedy": self.greedy,
        }


@dataclass
class _Ranking:
    """The best panels so far."""

    tally: Tally
    crew: Crew
    fleet: _Fleet
    top: int | None
    left: float | None
    """Work that may still be done; None: any."""
    each: float
    """Work that one panel may take."""
    best: list[Certificate] = field(default_factory=list)
    searched: int = 0
    cut: int = 0
    bound: Fraction = Fraction(0)
    """No panel considered so far is more accurate than this."""

    @property
    def floor(self) -> Fraction | None:
        """What a panel must reach to be listed; None while there is room."""
        return self.best[-1].best.accuracy if len(self.best) == self.top else None

    @property
    def is_late(self) -> bool:
        """Whether the work is done that was allowed, and there is an answer to give."""
        return bool(self.best) and self.left is not None and self.left <= 0

    @property
    def room(self) -> int:
        """How many panels may be searched with one floor: up to the first one that there is, or a wave."""
        if self.top is not None and self.floor is None:
            return min(LARGEST_WAVE, self.top - len(self.best))
        return min(LARGEST_WAVE, max(SMALLEST_WAVE, (self.searched + self.cut) // 4))

    def consider(self, wave: Sequence[tuple[int, ...]]) -> Iterator[None]:
        """Search these panels and rank them, one at a time."""
        floor = None if self.floor is None else self.floor - _HAIR
        shares = [_Challenge(members, floor, self.each) for members in wave]
        for found, work in self.crew.share(_search, self.fleet, shares):
            self.left = None if self.left is None else self.left - work
            if found is None:
                self.cut += 1
            else:
                self.searched += 1
                self.bound = max(self.bound, found.bound)
                ranked = sorted([*self.best, found], key=lambda one: (-one.best.accuracy, one.panel.members))
                self.best = ranked[: self.top]
            yield

    def tidied(self) -> tuple[Certificate, ...]:
        """The best panels, at their simplest weights."""
        return tuple(one.tidied(self.each) for one in self.best)


@dataclass(frozen=True)
class _Fleet:
    """What it takes to search any panel."""

    tally: Tally
    curves: Curves = field(default_factory=dict)
    """Optima of pairs that earlier panels needed."""


@dataclass(frozen=True)
class _Challenge:
    """One panel, and what it has to beat."""

    members: tuple[int, ...]
    floor: Fraction | None
    work: float


def _search(fleet: _Fleet, asked: _Challenge) -> tuple[Certificate | None, float]:
    """Search one panel; tells the work that it took, too."""
    work = Work(asked.work)
    found = challenge(oriented(fleet.tally, asked.members), floor=asked.floor, curves=fleet.curves, work=work)
    return found, asked.work - work.left


def best_panels(
    votes: VotesLike,
    size: int = 3,
    *,
    top: int | None = TOP,
    work: float | None = None,
    prune: bool = True,
    workers: Workers = None,
    progress: Progress | None = None,
) -> PanelSearch:
    """Find the most accurate panels of a size, at weights that are proven best.

    With more than `LARGEST_SEARCH` panels the search is greedy. Ctrl-C ends it with the best so far.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).
    size : int
        Members of a panel.
    top : int or None
        How many to list; None lists all.
    work : float, optional
        Planes that may be looked at in all, after which the best so far are given, with a bound on the rest; by
        default as many for each panel as `certify` looks at.
    prune : bool
        Whether panels that cannot win are ruled out by bounds, without being searched.
    workers : int, optional
        Share the panels among this many; the numbers stay the same.
    progress : callable, optional
        Called with how many panels are done, and of how many.

    Returns
    -------
    PanelSearch
        The panels, the most accurate first, and what was searched.

    Raises
    ------
    InputError
        If there are too few models or questions for a panel of this size.

    Examples
    --------
    >>> import swaplaw as sl
    >>> best_panels(sl.demo_votes(), 2, top=1).panels[0]
    Certificate('claude-3-opus-20240229' + 'gemini-1.5-pro-preview-0409' at 1, 1/2, accuracy=0.8200, proof='exact')
    """
    tally = inputs.tally(votes)
    _check(tally, size, top)
    check_work(work)
    same = shared(tally)
    number = comb(len(same.models), size)
    run = _greedily if number > LARGEST_SEARCH else _one_by_one
    ranking = _Ranking(same, Crew(workers), _Fleet(same), top, work, WORK if work is None else work / SHARES)
    remaining, bound, complete = run(ranking, size, number, prune, progress or (lambda done, of: None))
    return PanelSearch(
        ranking.tidied(),
        size,
        number,
        ranking.searched,
        ranking.cut,
        remaining if complete else 0,
        max(ranking.bound, bound),
        len(same.questions),
        len(tally.questions) - len(same.questions),
        complete,
        greedy=run is _greedily,
    )


def _one_by_one(
    ranking: _Ranking, size: int, number: int, prune: bool, progress: Progress
) -> tuple[int, Fraction, bool]:
    """Go from the highest bound down; returns how many panels were left, their bound, and if that rules them out."""
    bounds = reach(ranking.tally)
    order = [
        (bounds.bound(members) if prune else Fraction(1), members)
        for members in combinations(range(len(ranking.tally.models)), size)
    ]
    order.sort(key=lambda item: (-item[0], item[1]))
    done = 0
    try:
        while done < number:
            floor = ranking.floor or Fraction(0)
            if order[done][0] < floor:
                return number - done, Fraction(0), True
            if ranking.is_late:
                return number - done, order[done][0], False
            wave = [members for bound, members in order[done : done + ranking.room] if bound >= floor]
            progress(done, number)
            for _ in ranking.consider(wave):
                done += 1
                progress(done, number)
    except KeyboardInterrupt:
        if not ranking.best:
            raise
        return number - done, order[done][0], False
    progress(number, number)
    return 0, Fraction(0), True


def _greedily(ranking: _Ranking, size: int, number: int, prune: bool, progress: Progress) -> tuple[int, Fraction, bool]:
    """Begin with the most accurate model and add whichever model helps most, until the panel is full."""
    tally, top = ranking.tally, ranking.top
    models = range(len(tally.models))
    chosen = [min(models, key=lambda model: (-Panel(tally, (model,)).accuracies[0], model))]
    steps, done = sum(len(models) - placed for placed in range(1, size)), 0
    try:
        while len(chosen) < size:
            # Before the last step only the best matters.
            ranking.best, ranking.top = [], top if len(chosen) == size - 1 else 1
            left = [(*chosen, model) for model in models if model not in chosen]
            while left and not ranking.is_late:
                wave, left = left[: ranking.room], left[ranking.room :]
                for _ in ranking.consider(wave):
                    progress(done, steps)
                    done += 1
            leader = ranking.best[0].panel.indices
            chosen.append(next(model for model in leader if model not in chosen))
    except KeyboardInterrupt:
        if not ranking.best:
            raise
    progress(steps, steps)
    return number - ranking.searched - ranking.cut, reach(tally).fleet_bound(size), False


def shared(tally: Tally) -> Tally:
    """Keep the questions that every model answered: on those, panels can be compared."""
    everyone: Bools = np.logical_and.reduce(tally.answered, axis=0)
    if everyone.all():
        return tally
    if not everyone.any():
        least = min(range(len(tally.models)), key=lambda model: int(tally.answered[model].sum()))
        raise InputError(
            f"no question of dataset {quote(tally.dataset)} was answered by all {len(tally.models)} models; leave some "
            f"out ({quote(tally.models[least])} answered the fewest, {int(tally.answered[least].sum())})"
        )
    return tally.select(questions=everyone)


def _check(tally: Tally, size: int, top: int | None) -> None:
    fleet = len(tally.models)
    if not 2 <= size <= min(fleet, LARGEST_PANEL):
        most = f"2 to {min(fleet, LARGEST_PANEL)}" if fleet > 1 else "at least two models"
        raise InputError(
            f"a panel of {size} from a fleet of {fleet} ({listing(tally.models)}): give a size of {most}"
            if fleet > 1
            else f"dataset {quote(tally.dataset)} has only one model ({quote(tally.models[0])}); a panel needs two"
        )
    if top is not None and top < 1:
        raise InputError(f"the best {top} panels: ask for 1 or more")


@dataclass(frozen=True)
class Reach:
    """Gold votes and strongest margins of every model on questions that all of them answered."""

    gold: Ints
    """Votes for gold, models x rows, each row on a scale of its own."""
    margin: Ints
    """Gold's votes less those of its strongest rival."""
    copies: Ints
    """How many right answers each row stands for."""
    questions: int

    def bound(self, members: Sequence[int]) -> Fraction:
        """No weights of these members are more accurate than this."""
        gold = self.gold[list(members)]
        room = self.margin[list(members)] + gold.sum(axis=0) - gold
        wins, ties = room > 0, room == 0
        votes = gold > 0
        halves = 0
        for leaders in _subsets(len(members)):
            others = [place for place in range(len(members)) if place not in leaders]
            lead = list(leaders)
            won = np.logical_and.reduce(wins[lead], axis=0)
            tied = np.logical_and.reduce((wins | ties)[lead], axis=0) & ~np.logical_or.reduce(votes[others], axis=0)
            halves = max(halves, int(self.copies @ (2 * won + (tied & ~won))))
        return Fraction(halves, 2 * self.questions)

    def fleet_bound(self, size: int) -> Fraction:
        """No panel of this size is more accurate than this: each leader with the others' most gold votes."""
        most = 0
        for leader in range(len(self.gold)):
            others = np.sort(np.delete(self.gold, leader, axis=0), axis=0)[::-1]
            most = max(most, int(self.copies @ (self.margin[leader] + others[: size - 1].sum(axis=0) >= 0)))
        return Fraction(most, self.questions)


def reach(tally: Tally) -> Reach:
    """Collect what bounds need of a tally in which every model answered every question."""
    models = range(len(tally.models))
    factors = [np.asarray(factor) for factor in whole_factors(tally, models, [Fraction(1)] * len(models))]
    factors = [factor if len(factor) == 1 else tally.by_row(factor) for factor in factors]
    largest = max(int(factor.max()) for factor in factors) * int(tally.votes.max()) * len(models)
    dtype = next((kind for kind in (np.int16, np.int32, np.int64) if largest < np.iinfo(kind).max), object)
    gold = np.stack([tally.gold[model].astype(dtype) * factor.astype(dtype) for model, factor in enumerate(factors)])
    margins = [_strongest(tally, model).astype(dtype) * factors[model].astype(dtype) for model in models]
    copies = np.ones(gold.shape[1], dtype=np.int64) if tally.rights is None else tally.rights.copies
    return Reach(gold, np.stack(margins), copies, len(tally.questions))


def _strongest(tally: Tally, model: int) -> Ints:
    """Gold's votes less those of the strongest rival that anybody voted for, or of none."""
    rivals = tally.rivals
    least = -rivals.rows.maximum(-tally.margins(model), -int(tally.votes.max()) - 1)
    strongest: Ints = np.minimum(least.take(rivals.rank), tally.gold[model].astype(np.int64))
    return strongest


def _subsets(size: int) -> Iterator[tuple[int, ...]]:
    for number in range(1, size + 1):
        yield from combinations(range(size), number)
