"""What accuracy do n calls buy? Operating points of a fleet, from one call of one model to the whole panel.

A point says who is asked how often, what silence does, and whether the others are asked only where the first leaves
something open. Who votes at what weight is chosen on training folds and scored on the others (see `crossfit`), so every
accuracy is held out. Calls are expected calls: models that are asked only where needed cost only there.

Fewer samples than were recorded are drawn from those without replacement. One model's expected score is then a sum over
its possible counts; several models' is the sum over all their ballots where these are few. Only where they are too many
are ballots drawn, and then the seed says which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import product
from math import comb, isfinite, lcm, prod
from typing import Any, Literal

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw._parallel import ALONE, Crew, Progress, Workers
from swaplaw._result import Result, above
from swaplaw.decide.crossfit import Choice, Crossfit, alone, crossfit, deal, read_as
from swaplaw.decide.defaults import FOLDS, MIN_GAIN, REPEATS
from swaplaw.decide.policy import Silence
from swaplaw.decide.rules import RULES, CombiningRule, Contests, counts_of, smooth, smooth_up_to
from swaplaw.errors import InputError, listing, quote, suggestion
from swaplaw.evidence.interval import Effect
from swaplaw.evidence.units import Unit, resampling_units
from swaplaw.law.weights import narrowest, whole_factors
from swaplaw.votes import inputs
from swaplaw.votes.checks.names import apart
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally, tie_credit

LEADS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
"""The others are asked where the first leads by no more than one of these shares."""
TIED = Fraction(0)
MOST_BALLOTS = 400
"""Ballots of a question that are listed; where there are more, this many are drawn."""
SURE = 0.05
"""A gain is proven by a one-sided test at this level."""

Lead = Fraction | Literal["silent"] | None


@dataclass(frozen=True)
class Plan:
    """Who is asked, how often and when."""

    choice: Choice
    samples: int | None = None
    """Samples of every model, or as many as there are; None: all that were recorded."""
    lead: Lead = None
    """The members behind the first are asked where its lead is at most this, or where it said nothing; None: always."""

    @property
    def models(self) -> tuple[int, ...]:
        """Members, then the fallback, in the order in which they are asked."""
        return (*self.choice.members, *self.choice.fallback)


@dataclass(frozen=True)
class Outcome:
    """What a plan does on some questions, question by question."""

    scores: Floats
    calls: Floats
    """Expected calls of each model of the plan: models x questions."""


@dataclass(frozen=True)
class Room:
    """Votes of a plan's models on some contests (see `rules.Contests`), laid out to be decided."""

    counts: Ints
    """Votes: models x lines; the first line of a contest is gold."""
    owner: Ints
    """The contest of each line, numbered from 0."""
    first: Ints
    cast: Ints
    """Votes of each model in each contest, null ones among them."""
    factors: tuple[Ints, ...]
    """What each member's votes count in each contest, in whole numbers."""

    def decided(self, plan: Plan) -> Outcome:
        """Who wins, and who was asked: exact."""
        members = len(plan.choice.members)
        calls = np.zeros(self.cast.shape)
        calls[:members] = self.cast[:members]
        pooled: Ints = np.zeros(self.counts.shape[1], dtype=self.factors[0].dtype)
        for place, factor in enumerate(self.factors):
            pooled = pooled + self._spread(factor) * self.counts[place]
        if members > 1 and plan.lead is not None:
            asked = self._asked(plan.lead)
            calls[1:members] *= asked
            pooled = np.where(asked[self.owner], pooled, self._spread(self.factors[0]) * self.counts[0])
        tied = self._leading(pooled)
        said = np.maximum.reduceat(pooled, self.first) > 0
        for place in range(members, len(self.cast)):
            open_ = ~said | (self._size(tied) != 1)
            calls[place] = self.cast[place] * open_
            own = np.where(tied, self.counts[place], -1)
            most = np.maximum.reduceat(own, self.first)
            tied &= np.where(open_[self.owner], own == most[self.owner], tied)
            said |= open_ & (most > 0)
        won = tied[self.first] & said
        return Outcome(np.where(won, tie_credit(1.0, np.maximum(self._size(tied), 1)), 0.0), calls)

    def _size(self, tied: Bools) -> Ints:
        """How many answers to each question are tied."""
        size: Ints = np.add.reduceat(tied.astype(np.int64), self.first)
        return size

    def _spread(self, factor: Ints) -> Ints:
        return factor if len(factor) == 1 else factor[self.owner]

    def _leading(self, pooled: Ints) -> Bools:
        leading: Bools = pooled == np.maximum.reduceat(pooled, self.first)[self.owner]
        return leading

    def _asked(self, lead: Fraction | Literal["silent"]) -> Bools:
        """Where the first member leaves the others a say."""
        own = self.counts[0]
        top = np.maximum.reduceat(own, self.first)
        if lead == "silent":
            silent: Bools = top == 0
            return silent
        leading = self._leading(own)
        below = np.maximum.reduceat(np.where(leading, 0, own), self.first)
        second = np.where(np.add.reduceat(leading.astype(np.int64), self.first) > 1, top, below)
        asked: Bools = (top - second) * lead.denominator <= lead.numerator * self.cast[0]
        return asked


@dataclass(frozen=True)
class Asked:
    """What plans do on the recorded votes of one dataset."""

    tally: Tally
    seed: int = 0
    _laid_out: dict[Silence, Contests] = field(default_factory=dict, repr=False, compare=False)

    def outcome(self, plan: Plan, questions: Bools | None = None) -> Outcome:
        """Expected scores and calls on some of the questions."""
        read = read_as(self.tally, plan.choice.silence)
        if plan.choice.silence not in self._laid_out:
            self._laid_out[plan.choice.silence] = counts_of(read)
        contests, rights = self._laid_out[plan.choice.silence], read.rights
        kept = np.ones(read.gold.shape[1], dtype=bool) if questions is None else read.by_row(questions)
        if questions is not None and not kept.all():
            contests, rights = contests.select(kept), None if rights is None else rights.select(questions)
        found = self._decided(plan, contests, read, kept)
        if rights is None:
            return found
        # What is asked does not depend on which of the right answers is taken for gold.
        starts = np.flatnonzero(np.diff(rights.question, prepend=-1))
        return Outcome(rights.gather(found.scores), found.calls[:, starts])

    def _decided(self, plan: Plan, contests: Contests, read: Tally, kept: Bools) -> Outcome:
        models = list(plan.models)
        counts = contests.matrix[:, models].toarray().T
        cast = read.by_row(read.votes[models])[:, kept].astype(np.int64)
        factors = whole_factors(read, plan.choice.members, plan.choice.weights)
        whole = [factor if len(factor) == 1 else read.by_row(factor)[kept] for factor in factors]
        if plan.samples is None or (cast <= plan.samples).all():
            owner = np.repeat(np.arange(len(contests.first)), np.diff(contests.first, append=counts.shape[1]))
            return self._room(counts, owner, contests.first, cast, whole).decided(plan)
        if len(models) == 1:
            calls = np.minimum(cast, plan.samples).astype(np.float64)
            return Outcome(expected_alone(counts[0], contests.first, cast[0], plan.samples), calls)
        return self._expected(plan, counts, contests.first, cast)

    def _room(self, counts: Ints, lines: Ints, first: Ints, cast: Ints, whole: Sequence[Ints]) -> Room:
        bound = sum(int(factor.max(initial=0)) * int(cast.max(initial=0)) for factor in whole)
        dtype: Any = narrowest(bound)
        return Room(counts, lines, first, cast, tuple(factor.astype(dtype) for factor in whole))

    def _expected(self, plan: Plan, counts: Ints, first: Ints, cast: Ints) -> Outcome:
        """The mean over ballots of fewer samples: all of them where these are few, else a seeded draw."""
        samples, ends = plan.samples or 0, np.append(first, counts.shape[1])
        rng = np.random.default_rng([self.seed, samples, len(counts)])
        drawn = [
            _ballots(counts[:, ends[place] : ends[place + 1]], cast[:, place], samples, rng)
            for place in range(len(first))
        ]
        number = np.array([len(chance) for _, chance in drawn])
        owner, chance = np.repeat(np.arange(len(first)), number), np.concatenate([chance for _, chance in drawn])
        # Every ballot is decided as a question of its own.
        widths = np.repeat(np.diff(ends), number)
        flat = np.concatenate([own.transpose(1, 0, 2).reshape(len(counts), -1) for own, _ in drawn], axis=1)
        sizes = np.minimum(cast, samples)[:, owner]
        common = np.lcm.reduce(sizes[: len(plan.choice.members)])
        scale = lcm(*(weight.denominator for weight in plan.choice.weights))
        whole = [
            int(weight * scale) * (common // size) for weight, size in zip(plan.choice.weights, sizes, strict=False)
        ]
        starts, lines = np.cumsum(widths) - widths, np.repeat(np.arange(len(widths)), widths)
        found = self._room(flat, lines, starts, sizes, whole).decided(plan)
        sums = [np.bincount(owner, chance * row, minlength=len(first)) for row in (found.scores, *found.calls)]
        return Outcome(np.asarray(sums[0], dtype=np.float64), np.array(sums[1:], dtype=np.float64))


def _ballots(counts: Ints, cast: Ints, samples: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Ballots of several models on one question (ballots x models x answers), and how likely each is."""
    with_null = [(*own.tolist(), int(number - own.sum())) for own, number in zip(counts, cast, strict=True)]
    sizes = [min(samples, int(number)) for number in cast]
    if prod(_number(tuple(sorted(own)), size) for own, size in zip(with_null, sizes, strict=True)) <= MOST_BALLOTS:
        listed = [_listed(own, size) for own, size in zip(with_null, sizes, strict=True)]
        together = list(product(*(range(len(chance)) for _, chance in listed)))
        drawn = np.array([[listed[model][0][each] for model, each in enumerate(one)] for one in together])
        chance = np.array([np.prod([listed[model][1][each] for model, each in enumerate(one)]) for one in together])
        return drawn[:, :, :-1], chance
    some = MOST_BALLOTS // 4
    random = [rng.multivariate_hypergeometric(own, size, size=some) for own, size in zip(with_null, sizes, strict=True)]
    return np.stack(random, axis=1)[:, :, :-1], np.full(some, 1 / some)


@lru_cache(maxsize=100_000)
def _number(counts: tuple[int, ...], size: int) -> float:
    """How many different ballots of this size can be drawn from these counts."""
    ways = np.ones(1)
    for count in counts:
        ways = np.convolve(ways, np.ones(min(count, size) + 1))[: size + 1]
    return float(ways[-1])


@lru_cache(maxsize=100_000)
def _listed(counts: tuple[int, ...], size: int) -> tuple[Ints, Floats]:
    """Every ballot of this size drawn from these counts without replacement, and how likely it is."""
    found: list[tuple[tuple[int, ...], int]] = [((), 1)]
    left = sum(counts)
    for count in counts:
        left -= count
        found = [
            ((*drawn, taken), ways * comb(count, taken))
            for drawn, ways in found
            for taken in range(max(0, size - sum(drawn) - left), min(count, size - sum(drawn)) + 1)
        ]
    total = comb(sum(counts), size)
    return np.array([drawn for drawn, _ in found]), np.array([ways / total for _, ways in found])


def expected_alone(counts: Ints, first: Ints, cast: Ints, samples: int) -> Floats:
    """Expected plurality score of one model that is asked so often, its votes drawn without replacement: exact.

    Gold drawn g times wins against rivals drawn fewer times, and shares with those drawn as often. The ways to draw a
    number of votes with a number of rivals level are the coefficients of a product of polynomials, one for each answer.
    """
    ends = np.append(first, len(counts))
    kinds: dict[tuple[int, ...], list[int]] = {}
    for place, number in enumerate(cast.tolist()):
        gold, *rivals = counts[ends[place] : ends[place + 1]].tolist()
        shown = (number - gold - sum(rivals), gold, *sorted((each for each in rivals if each), reverse=True))
        kinds.setdefault(shown, []).append(place)
    found = np.zeros(len(first))
    for shown, places in kinds.items():
        found[places] = _win_alone(shown, min(samples, sum(shown)))
    return found


@lru_cache(maxsize=100_000)
def _win_alone(counts: tuple[int, ...], size: int) -> float:
    """The expected score of a question with these counts: null votes, gold, rivals."""
    null, gold, *rivals = counts
    if not gold:
        return 0.0
    total, silent = 0.0, np.array([float(comb(null, taken)) for taken in range(min(null, size) + 1)])
    for lead in range(1, min(gold, size) + 1):
        tied = min(len(rivals), size // lead - 1)
        ways = np.zeros((tied + 1, size - lead + 1))
        ways[0, : len(silent)] = silent[: size - lead + 1]
        for rival in rivals:
            more = np.zeros_like(ways)
            for taken in range(min(lead, rival, size - lead) + 1):
                drawn = comb(rival, taken) * ways[:, : ways.shape[1] - taken]
                if taken == lead:
                    more[1:, taken:] += drawn[:-1]
                else:
                    more[:, taken:] += drawn
            ways = more
        total += comb(gold, lead) * float(tie_credit(1.0, np.arange(1, tied + 2)) @ ways[:, -1])
    return total / comb(sum(counts), size)


@dataclass(frozen=True)
class Point:
    """One operating point, judged on questions that had no part in its choice."""

    plan: Plan
    """Who votes as chosen on all questions."""
    models: tuple[str, ...]
    """Members, then the fallback."""
    samples: tuple[int, ...]
    """Samples of each, at most."""
    calls: float
    """Mean calls of a question."""
    cost: float | None
    """Mean cost of a question; None where prices are unknown."""
    accuracy: float
    gain: Effect
    """Over the best single model with all its samples, both chosen on other questions."""
    over_best: float
    """The same over the one model that is best on all questions."""
    on_front: bool = False

    @property
    def price(self) -> float:
        """What is compared: the cost, or the calls where prices are unknown."""
        return self.calls if self.cost is None else self.cost

    @property
    def size(self) -> int:
        """How many members vote."""
        return len(self.plan.choice.members)

    def proven(self, min_gain: float) -> bool:
        """Whether the gain passes the test (see `proves`)."""
        return proves(self.gain, self.over_best, min_gain)

    @property
    def ask_next_if(self) -> str | None:
        """When the members behind the first are asked: None (always), "silent", "tied" or a share."""
        lead = self.plan.lead
        return None if lead is None else "tied" if lead == TIED else str(lead)

    def to_dict(self, min_gain: float = 0.0) -> dict[str, Any]:
        """Fractions of one, weights as text, ready for JSON."""
        asked = list(zip(self.models, self.samples, strict=True))
        weighted = zip(asked, self.plan.choice.weights, strict=False)
        return {
            "members": [{"model": name, "weight": str(w), "samples": number} for (name, number), w in weighted],
            "fallback": [{"model": name, "samples": number} for name, number in asked[self.size :]],
            "silence": self.plan.choice.silence,
            "ask_next_if": self.ask_next_if,
            "calls": self.calls,
            "cost": self.cost,
            "accuracy": self.accuracy,
            "gain": self.gain.mean,
            "low": self.gain.low,
            "high": self.gain.high,
            "proven": self.proven(min_gain),
            "on_front": self.on_front,
        }


def proves(gain: Effect, over_best: float, min_gain: float) -> bool:
    """Whether a gain is proven: a one-sided test at 5%, a gain that is worth it, and one that luck does not explain.

    The single model is chosen on training parts, as the ensemble is. Where several models are about as good, the parts
    take turns, each choosing a model that does worse on its test part: so the gain over the one model that is the best
    on all questions must be above 0, too.
    """
    return gain.p <= SURE and gain.mean >= min_gain and over_best > 0


def rows_of(points: Sequence[Point], min_gain: float) -> list[dict[str, Any]]:
    """Operating points as rows: who is asked in words, and numbers."""
    worded = above("swaplaw.report.words:point_words")
    plain = ((point, point.to_dict(min_gain)) for point in points)
    return [
        {"ask": worded(point)} | {name: value for name, value in found.items() if not isinstance(value, list)}
        for point, found in plain
    ]


@dataclass(frozen=True, repr=False)
class Front(Result):
    """All operating points, the cheapest first."""

    dataset: str
    n: int
    of: int
    priced: bool
    points: tuple[Point, ...]
    min_gain: float = 0.0

    def rows(self) -> list[dict[str, Any]]:
        """One row for each point."""
        return rows_of(self.points, self.min_gain)

    @cached_property
    def best(self) -> tuple[Point, ...]:
        """The Pareto front: no cheaper point is as accurate."""
        return tuple(point for point in self.points if point.on_front)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "dataset": self.dataset,
            "n": self.n,
            "of": self.of,
            "priced": self.priced,
            "points": [point.to_dict(self.min_gain) for point in self.points],
        }


def pricing(tally: Tally, models: Sequence[str], prices: Mapping[str, float] | None) -> Floats | None:
    """What a sample of each model costs, checked: a price for every model that is considered, none below 0."""
    if prices is None:
        return None
    for model, price in prices.items():
        if model not in tally.models:
            raise InputError(f"there is a price for {quote(model)}; {suggestion(model, tally.models)}")
        if isinstance(price, bool) or not isinstance(price, int | float) or not isfinite(price) or price < 0:
            raise InputError(f"the price of {quote(model)} is {quote(price)}: give a number, 0 or more, per sample")
    if missing := [model for model in models if model not in prices]:
        raise InputError(f"there is no price for {listing(missing)}: give one for every model that is considered")
    return np.array([float(prices[model]) for model in models])


@dataclass(frozen=True)
class Judge:
    """Judges plans whose choices come from one cross-fit."""

    fitted: Crossfit
    asked: Asked
    prices: Floats | None
    """What a sample of each model costs; None where nobody knows."""
    _points: dict[Any, Point] = field(default_factory=dict, repr=False, compare=False)

    def point(self, rule: str | None, lead: Lead = None, samples: int | None = None) -> Point:
        """A rule's choice (None: the single model's) as an operating point."""
        key = rule, lead, samples
        if key not in self._points:
            fitted = self.fitted.single if rule is None else self.fitted[rule]
            plan = Plan(fitted.choice, samples, lead)
            self._points[key] = self._judged([fitted.choice, *fitted.choices], plan)
        return self._points[key]

    def fixed(self, choice: Choice, samples: int | None = None) -> Point:
        """A choice that no votes made."""
        return self._judged([choice], Plan(choice, samples))

    def _judged(self, choices: Sequence[Choice], plan: Plan) -> Point:
        tally, folds, n = self.fitted.tally, self.fitted.folds, len(self.fitted.tally.questions)
        prices = np.ones(len(tally.models)) if self.prices is None else self.prices
        everything = [(plan.choice, np.ones(n, dtype=bool))]
        parts = everything if len(set(choices)) == 1 else list(zip(choices[1:], folds.tests, strict=True))
        scores, calls, costs = np.zeros(n), np.zeros(n), np.zeros(n)
        for choice, part in parts:
            own = replace(plan, choice=choice)
            found = self.asked.outcome(own, part)
            scores[part] += found.scores
            calls[part] += found.calls.sum(axis=0)
            costs[part] += prices[list(own.models)] @ found.calls
        times = 1 if parts is everything else folds.repeats
        scores, calls, costs = scores / times, calls / times, costs / times
        most = [int(tally.votes[model].max()) for model in plan.models]
        return Point(
            plan,
            tuple(tally.models[model] for model in plan.models),
            tuple(most if plan.samples is None else (min(plan.samples, number) for number in most)),
            float(calls.mean()),
            None if self.prices is None else float(costs.mean()),
            float(scores.mean()),
            self.fitted.over_single(scores),
            float((scores - self.fitted.single.own).mean()),
        )


def points_of(judge: Judge, panel: str, samples: Sequence[int] | None = None) -> list[Point]:
    """The operating points that are looked at: single models, the chain, the panel, and the panel where needed."""
    tally = judge.fitted.tally
    most = int(tally.votes.max())
    sizes = samples or [2**power for power in range(most.bit_length()) if 2**power < most]
    found = [judge.point(None, samples=size) for size in sizes]
    found += [judge.point(None), judge.point("chain"), judge.point(panel)]
    members = len(judge.fitted[panel].choice.members)
    if members > 1:
        found += [judge.point(panel, lead) for lead in ("silent", TIED, *LEADS)]
        fewer = {*(samples or ()), 1, max(1, most // members)}
        found += [judge.point(panel, samples=number) for number in sorted(fewer) if number < most]
    if judge.prices is not None:
        models = range(len(tally.models))
        found += [judge.fixed(alone(model, tally.silent), size) for model in models for size in (*sizes[:1], None)]
    return found


def marked(points: Sequence[Point], budget: float | None = None) -> tuple[Point, ...]:
    """The points within a budget, each once and the cheapest first, with the Pareto front marked."""
    kept: list[Point] = []
    best = -1.0
    for point in sorted(points, key=lambda one: (one.price, -one.accuracy, len(one.models))):
        if (budget is None or point.price <= budget) and all(point.plan != other.plan for other in kept):
            kept.append(replace(point, on_front=point.accuracy > best))
            best = max(best, point.accuracy)
    return tuple(kept)


def panel_rule(most: int | None, primary: int | None = None) -> CombiningRule:
    """The rule that chooses the panel: `smooth`, with this many models at most, or led by a primary."""
    found = RULES["smooth"] if most is None else smooth_up_to(most)
    return found if primary is None else replace(found, on_parts=partial(_led, primary))


def _led(primary: int, tally: Tally, parts: Bools) -> list[Choice]:
    """The choices of `smooth` with the primary asked first, wherever it votes."""
    found = []
    for made in smooth(tally, parts):
        ranked = sorted(zip(made.members, made.weights, strict=True), key=lambda each: each[0] != primary)
        members, weights = zip(*ranked, strict=True)
        found.append(Choice(members, weights, fallback=made.fallback))
    return found


def judge_of(
    tally: Tally,
    rules: Sequence[CombiningRule],
    *,
    prices: Floats | None,
    by: Unit | None,
    folds: int,
    repeats: int,
    seed: int,
    crew: Crew = ALONE,
    progress: Progress = iter,
) -> Judge:
    """Cross-fit rules and what every front needs, to judge operating points."""
    dealt = deal(resampling_units(tally, by).member, folds=folds, repeats=repeats, seed=seed)
    named = {rule.name: rule for rule in (*rules, RULES["chain"])}
    fitted = crossfit(tally, list(named.values()), dealt, crew=crew, progress=progress)
    return Judge(fitted, Asked(tally, seed), prices)


def front(
    votes: VotesLike,
    *,
    models: Sequence[str] | None = None,
    primary: str | None = None,
    secondary: str | None = None,
    samples: Sequence[int] | None = None,
    prices: Mapping[str, float] | None = None,
    budget: float | None = None,
    min_gain: float = MIN_GAIN,
    by: Unit | None = None,
    folds: int = FOLDS,
    repeats: int = REPEATS,
    seed: int = 0,
    workers: Workers = None,
    progress: Progress = iter,
) -> Front:
    """Say what accuracy n calls buy: operating points from one call of one model to the whole panel.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset. Questions that some model did not answer are left out.
    models : sequence of str, optional
        Consider these models only.
    primary, secondary : str, optional
        Consider these two only, the primary asked first.
    samples : sequence of int, optional
        Numbers of samples to look at; by default powers of two, and all that were recorded.
    prices : mapping of str to float, optional
        Price of a sample of each model; without prices calls are counted.
    budget : float, optional
        Leave out what costs more than this for a question.
    min_gain : float
        Smallest gain that counts as proven.
    by, folds, repeats, seed
        What is held out together, how questions are dealt, and the seed.
    workers, progress
        Who does the work, and what shows it.

    Returns
    -------
    Front
        The points, the cheapest first, each with its held-out accuracy.

    Raises
    ------
    InputError
        If models or prices are missing, or the budget buys nothing.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = front(sl.demo_votes(), repeats=1)
    >>> [(point.calls, round(point.accuracy, 3)) for point in found.best][:2]
    [(1.0, 0.755), (4.0, 0.767)]
    """
    tally = inputs.tally(votes)
    if (primary is None) != (secondary is None):
        raise InputError("name both the primary and the secondary, or neither")
    if samples is not None and (not samples or min(samples) < 1):
        raise InputError(f"samples are {listing([str(number) for number in samples])}: give whole numbers, 1 or more")
    named = models if primary is None or secondary is None else [primary, secondary]
    considered = answered_by_all(tally, named)
    rule = panel_rule(None, None if primary is None else considered.index(primary))
    judge = judge_of(
        considered,
        [rule],
        prices=pricing(tally, considered.models, prices),
        by=by,
        folds=folds,
        repeats=repeats,
        seed=seed,
        crew=Crew(workers),
        progress=progress,
    )
    points = marked(points_of(judge, rule.name, samples), budget)
    if not points:
        raise InputError(f"a budget of {budget:g} per question buys no sample of any model")
    return Front(tally.dataset, len(considered.questions), len(tally.questions), prices is not None, points, min_gain)


def answered_by_all(tally: Tally, models: Sequence[str] | None) -> Tally:
    """Keep the models asked for, and the questions that all of them answered."""
    if models is not None:
        if not models:
            raise InputError(f"no model is named: choose from {listing(tally.models)}")
        if twice := [model for model in models if list(models).count(model) > 1]:
            raise InputError(f"{quote(twice[0])} is named twice among the models")
    kept = tally if models is None else tally.select(models=sorted(models, key=tally.index))
    answered: Bools = np.logical_and.reduce(kept.answered)
    if not answered.any():
        raise InputError(
            f"there is no question in dataset {quote(tally.dataset)} that all {len(kept.models)} models "
            f"answered{apart(kept)}; name models that share questions"
        )
    return kept if answered.all() else kept.select(questions=answered)
