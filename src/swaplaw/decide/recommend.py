"""The decision: is an ensemble proven to gain, and what should be deployed now?

*Proven* is one test that was settled in advance: the ensemble of the rule `smooth` against the best single model, both
chosen on the same training folds and scored on the others; one-sided, at 5%, over the units that the votes have. The
gain must be at least `min_gain`, and above 0 over the one model that is best on all questions, too (see `proves`).

*Now* is the single model or the ensemble, whichever is expected to be more accurate less the price of its calls,
whatever is proven. There are no other candidates: the best of many looks better than it is. What to expect of a gain
is a posterior: the cross-fitted gain, and the gains that ensembles had on real datasets before (`PRIOR`). Its range and
its probability are those of the gain on as many new questions.

Votes in which something is wrong (see `votes.checks`, severity *error*) get no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import isfinite
from statistics import NormalDist
from typing import Any, Literal

from swaplaw._parallel import Crew, Progress, Workers
from swaplaw._result import Result, above
from swaplaw.decide.crossfit import Choice, Crossfit
from swaplaw.decide.defaults import FOLDS, MIN_GAIN, REPEATS
from swaplaw.decide.front import (
    LEADS,
    Judge,
    Plan,
    Point,
    answered_by_all,
    judge_of,
    marked,
    panel_rule,
    points_of,
    pricing,
    proves,
    rows_of,
)
from swaplaw.decide.policy import Fallback, Member, Policy
from swaplaw.errors import InputError
from swaplaw.evidence.diversity import effective_votes
from swaplaw.evidence.interval import LEVEL, POWER, Effect
from swaplaw.evidence.units import Unit
from swaplaw.votes import inputs
from swaplaw.votes.checks import FEW_QUESTIONS, Check, copy_checks, find_checks
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.notation import Notation, notation
from swaplaw.votes.provenance import fingerprint_of
from swaplaw.votes.tally import Tally

Verdict = Literal["deploy_pair", "deploy_panel", "deploy_single", "cannot_tell"]
Reason = Literal["gain", "too_little", "no_change", "alone", "always_right", "checks", "unsure"]
"""Why a verdict is what it is: the sentence about it quotes the numbers of just this reason."""
RULE = "smooth"
"""The rule whose ensemble is tested, and no other."""
WORTH = 0.002
"""What an ensemble has to be expected to add where prices are unknown; else as much money again as a single costs."""
UNSURE = LEADS[-1]
"""The others of an ensemble may be asked only where the first leads by at most this."""
BY_NOTATION = {"spelling", "notation"}
"""Errors in how answers are written, which reading them as they are meant puts right."""
MOST = 100
"""More than this many times the questions at hand are no practical answer."""
FEW_UNITS = 10
"""With fewer units than this, the spread is too uncertain to plan by."""


@dataclass(frozen=True)
class Belief:
    """A normal belief about a gain."""

    mean: float
    deviation: float

    @property
    def low(self) -> float:
        """Lower end of the range that holds the gain with a probability of 95%."""
        return self.quantile((1 - LEVEL) / 2)

    @property
    def high(self) -> float:
        """Upper end of that range."""
        return self.quantile((1 + LEVEL) / 2)

    def above(self, gain: float) -> float:
        """How likely the true gain is above another.

        >>> Belief(0.02, 0.02).above(0.0) > 0.8
        True
        """
        return float(self.mean > gain) if not self.deviation else 1 - NormalDist(self.mean, self.deviation).cdf(gain)

    def quantile(self, probability: float) -> float:
        """The gain that the true one is below with this probability."""
        return NormalDist(self.mean, self.deviation).inv_cdf(probability) if self.deviation else self.mean


PRIOR = Belief(0.02, 0.025)
"""What ensembles gain over the best single model on halves of real data (`python -m benchmarks.decisions prior`)."""


def belief(gain: Effect, prior: Belief = PRIOR) -> Belief:
    """Combine a measured gain with what was known before: the gain on as many new questions.

    >>> measured = Effect(0.03, 0.03, 2.0, 0.95, 0.2, 100, 100)
    >>> round(belief(measured, Belief(0.01, 0.03)).mean, 3)
    0.02
    """
    # How uncertain the measurement is, its interval knows, which allows for few clusters.
    error = gain.half_width / NormalDist().inv_cdf((1 + gain.level) / 2)
    trust = prior.deviation**2 / (prior.deviation**2 + error**2)
    return Belief(trust * gain.mean + (1 - trust) * prior.mean, error * (1 + trust) ** 0.5)


@dataclass(frozen=True)
class Now:
    """What to deploy today."""

    point: Point
    gain: Belief
    """Over the best single model with all its samples."""
    single: float
    """What that model is expected to score: chosen and scored on different questions, as the policy is."""

    @property
    def accuracy(self) -> float:
        """What the policy is expected to score."""
        return self.single + self.gain.mean

    @property
    def deploys_more(self) -> bool:
        """Whether more than one model may be asked."""
        return len(self.point.models) > 1

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        shown = self.point.to_dict()
        return {
            **{name: shown[name] for name in ("members", "fallback", "silence", "ask_next_if", "calls", "cost")},
            "accuracy": self.accuracy,
            "gain": {"mean": self.gain.mean, "low": self.gain.low, "high": self.gain.high},
            "probability": self.gain.above(0),
        }


@dataclass(frozen=True)
class More:
    """How many questions would tell (see `Effect.questions_needed`)."""

    effect: Effect = field(repr=False)
    gain: float
    """What the gain is expected to be."""
    boundary: float
    """What it must differ from: 0 for an ensemble, the smallest gain worth having for the single model."""

    @property
    def questions(self) -> int | None:
        """Questions needed in all; None where these votes cannot say, or no practical number would do."""
        if self.effect.units < FEW_UNITS:
            return None
        needed = replace(self.effect, mean=self.gain).questions_needed(self.boundary)
        return None if needed is None or needed > MOST * self.effect.n else needed

    @property
    def more(self) -> int | None:
        """Questions needed beyond those at hand."""
        return None if self.questions is None else max(0, self.questions - self.effect.n)

    def to_dict(self) -> dict[str, Any]:
        """The arithmetic, ready for JSON."""
        return {
            "check": "held_out",
            "effect": self.gain,
            "boundary": self.boundary,
            "standard_error": self.effect.standard_error,
            "critical": self.effect.critical,
            "power": POWER,
            "have": self.effect.n,
            "need": self.questions,
            "more": self.more,
        }


@dataclass(frozen=True, repr=False)
class Recommendation(Result):
    """A verdict, what to deploy now, and the evidence. Choices hold places in `tally`."""

    verdict: Verdict
    reason: Reason
    votes: Tally
    """The whole dataset."""
    tally: Tally
    """The models considered, on the questions that all of them answered."""
    min_gain: float
    judge: Judge
    now: Now
    points: tuple[Point, ...]
    """All operating points, the cheapest first."""
    checks: tuple[Check, ...]
    """What looks wrong in the votes."""
    budget: float | None = None
    notation: Readings | None = None
    """Where notation makes wrong answers of right ones: both readings of the votes."""

    @property
    def fitted(self) -> Crossfit:
        """The cross-fit that all numbers come from."""
        return self.judge.fitted

    @property
    def proven(self) -> bool:
        """Whether an ensemble passed the one test."""
        return self.reason == "gain"

    @property
    def baseline(self) -> Choice:
        """The best single model."""
        return self.fitted.single.choice

    @property
    def choice(self) -> Choice:
        """The ensemble that was tested, proven or not."""
        return self.fitted[RULE].choice

    @property
    def kind(self) -> str:
        """What that ensemble is called."""
        return "panel" if len(self.choice.everyone) > 2 else "pair"

    @property
    def ensemble(self) -> Point:
        """The tested ensemble as an operating point."""
        return self.judge.point(RULE)

    @cached_property
    def held_out(self) -> Effect:
        """What the ensemble gains over the single model, both chosen on other questions."""
        return self.fitted.gain(RULE)

    @cached_property
    def in_sample(self) -> Effect:
        """The same on the very questions of the choice."""
        return self.fitted.in_sample(RULE)

    @cached_property
    def belief(self) -> Belief:
        """What to expect of the ensemble."""
        return belief(self.held_out)

    @cached_property
    def more(self) -> More | None:
        """How many questions would tell, where the verdict is open because there are too few."""
        if self.reason != "unsure":
            return None
        boundary = 0.0 if self.belief.mean >= self.min_gain else self.min_gain
        return More(self.held_out, self.belief.mean, boundary)

    @cached_property
    def telling(self) -> tuple[Point, ...]:
        """The most telling points: one call, all calls of the best model, the panel at that cost, it, it where needed.

        Each once; points that a budget rules out are left out.
        """
        cheap = [point for point in self.points if point.size > 1 and point.plan.samples not in (None, 1)]
        named = [
            self.judge.point(None, samples=1),
            self.judge.point(None),
            *cheap[-1:],
            self.ensemble,
            self.judge.point(RULE, UNSURE),
        ]
        known = {point.plan: point for point in self.points}
        return tuple(known[plan] for plan in dict.fromkeys(point.plan for point in named) if plan in known)

    @cached_property
    def notes(self) -> list[str]:
        """What a careful reader should know besides."""
        worded: list[str] = above("swaplaw.report.words:notes")(self)
        return worded

    @property
    def errors(self) -> tuple[Check, ...]:
        """What makes a verdict impossible."""
        return tuple(check for check in self.checks if check.severity == "error")

    def names(self, choice: Choice) -> list[str]:
        """The members of a choice, the primary first."""
        return [self.tally.models[member] for member in choice.members]

    @property
    def silent(self) -> bool:
        """Whether any vote is null."""
        return any(sum(reasons.values()) for reasons in self.tally.reasons)

    @cached_property
    def single(self) -> dict[str, Any]:
        """The best single model: its samples, and its accuracy on these questions, held out, and with one call."""
        (model,) = self.baseline.members
        one = self.judge.asked.outcome(Plan(self.baseline, 1)).scores.mean()
        return {
            "model": self.tally.models[model],
            "samples": int(self.tally.votes[model].max()),
            "accuracy": float(self.fitted.single.own.mean()),
            "held_out": float(self.fitted.single.scores.mean()),
            "one_call": {"accuracy": float(one)},
        }

    @cached_property
    def replayed(self) -> float:
        """The accuracy of what is deployed now on these very questions, which chose it."""
        return float(self.judge.asked.outcome(self.now.point.plan).scores.mean())

    @cached_property
    def effective_votes(self) -> dict[str, Any]:
        """How many independent voters the fleet is worth."""
        return effective_votes(self.tally).to_dict()

    def rows(self) -> list[dict[str, Any]]:
        """The most telling operating points, the cheapest first."""
        return rows_of(sorted(self.telling, key=lambda point: point.price), self.min_gain)

    @property
    def policy(self) -> Policy:
        """What to deploy now, as serving reads it."""
        point, prices = self.now.point, self.judge.prices
        asked = [
            (name, number, None if prices is None else float(prices[self.tally.index(name)]))
            for name, number in zip(point.models, point.samples, strict=True)
        ]
        members = [
            Member(name, weight, number, price)
            for (name, number, price), weight in zip(asked, point.plan.choice.weights, strict=False)
        ]
        data = {
            "dataset": self.tally.dataset,
            "questions": len(self.tally.questions),
            "of": len(self.votes.questions),
            "fingerprint": fingerprint_of(self.votes),
        }
        return Policy(
            tuple(members),
            self.verdict,
            self.evidence,
            data,
            silence=point.plan.choice.silence,
            fallback=tuple(Fallback(*each) for each in asked[point.size :]),
        )

    @cached_property
    def evidence(self) -> dict[str, Any]:
        """What the verdict rests on, ready for JSON."""
        tested = self.fitted[RULE]
        return {
            "sentence": self.sentence,
            "reason": self.reason,
            "proven": self.proven,
            "now": self.now.to_dict(),
            "single": self.single,
            "front": [point.to_dict(self.min_gain) for point in self.telling],
            "effective_votes": self.effective_votes,
            "rule": RULE,
            "choice": self._weighted(self.choice),
            "baseline": {"model": self.single["model"], "accuracy": self.single["accuracy"]},
            "in_sample": self.in_sample.to_dict(),
            "held_out": self.held_out.to_dict(),
            "expected_gain": self.belief.mean,
            "probability_gain": self.belief.above(0),
            "probability_min_gain": self.belief.above(self.min_gain),
            "optimism": self.in_sample.mean - self.held_out.mean,
            "stability": tested.stability,
            "chosen_in_folds": [
                {"members": [self.tally.models[member] for member in members], "share": share}
                for members, share in tested.ensembles
            ],
            "rules": {name: self._rule(name) for name in self.fitted.rules},
            "min_gain": self.min_gain,
            "more": None if self.more is None else self.more.to_dict(),
            "checks": [check.to_dict() for check in self.checks],
            "notes": self.notes,
        }

    def _weighted(self, choice: Choice) -> dict[str, Any]:
        return {
            "members": self.names(choice),
            "weights": [str(weight) for weight in choice.weights],
            "silence": choice.silence,
            "fallback": [self.tally.models[model] for model in choice.fallback],
        }

    def _rule(self, name: str) -> dict[str, Any]:
        fitted, gain, in_sample = self.fitted[name], self.fitted.gain(name), self.fitted.in_sample(name)
        return {
            **self._weighted(fitted.choice),
            "in_sample": in_sample.mean,
            "held_out": gain.mean,
            "low": gain.low,
            "high": gain.high,
            "optimism": in_sample.mean - gain.mean,
            "stability": fitted.stability,
        }

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: the verdict, the policy as its file holds it, and the evidence."""
        return {
            "verdict": self.verdict,
            "dataset": self.tally.dataset,
            "policy": self.policy.to_dict(),
            **self.evidence,
            **({} if self.notation is None else {"notation": self.notation.to_dict()}),
        }

    def brief(self) -> dict[str, Any]:
        """What is decided, in a few numbers."""
        return {
            "verdict": self.verdict,
            "single": {"model": self.single["model"], "accuracy": self.single["accuracy"]},
            "gain": {"mean": self.held_out.mean, "low": self.held_out.low, "high": self.held_out.high},
        }


@dataclass(frozen=True)
class Readings:
    """What is decided of votes as they are spelt and as they are meant, where the two differ."""

    read: Notation = field(repr=False)
    spelt: dict[str, Any]
    meant: dict[str, Any] | None
    """None where too little changes to matter."""
    decided: Literal["spelt", "meant"] = "spelt"
    """By which reading: as the votes are meant, but for more models only where they pool as they are spelt, too."""

    @property
    def agree(self) -> bool:
        """Whether both readings name the same verdict and the same best model."""
        both = [(one["verdict"], one["single"]["model"]) for one in (self.spelt, self.meant or self.spelt)]
        return both[0] == both[1]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        first = self.read.disputes[0]
        return {
            "read_as": self.decided,
            "agree": self.agree,
            "shares": self.read.shares,
            "questions": self.read.questions,
            "example": {"question": first.question, "answer": first.answer, "gold": first.gold},
            "oracle_normalised": self.decided == "meant" and any(one.oracle for one in self.read.disputes),
            "spelt": self.spelt,
            "meant": self.meant,
        }


def recommend(
    votes: VotesLike,
    *,
    dataset: str | None = None,
    models: Sequence[str] | None = None,
    prices: Mapping[str, float] | None = None,
    budget: float | None = None,
    max_models: int | None = None,
    min_gain: float = MIN_GAIN,
    only_proven: bool = False,
    checks: Sequence[Check] | None = None,
    by: Unit | None = None,
    folds: int = FOLDS,
    repeats: int = REPEATS,
    seed: int = 0,
    workers: Workers = None,
    progress: Progress = iter,
) -> Recommendation:
    """Decide what to deploy from a fleet; every choice on the way is made and judged on different questions.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes. Of a table it is also looked at whether notation makes wrong answers of right ones; if that could
        change the verdict, it is decided of votes as they are meant (see `swaplaw.votes.notation`).
    dataset : str, optional
        Which dataset, where a table holds several.
    models : sequence of str, optional
        Consider these models only.
    prices : mapping of str to float, optional
        Price of a sample of each model; without prices calls are counted.
    budget : float, optional
        The most that a question may cost on average.
    max_models : int, optional
        Models that may be asked at most; by default the whole fleet.
    min_gain : float
        Smallest gain that is worth a proof, as a fraction of one.
    only_proven : bool
        Whether to stay with the single model unless an ensemble is proven to gain.
    checks : sequence of Check, optional
        What `find_checks` found in the votes; by default they are checked here. A table tells more than its tally.
    by : {"question", "cluster"}, optional
        What is held out and resampled together; by default clusters where there are any.
    folds, repeats, seed : int
        Folds of the questions, how often they are dealt, and the seed.
    workers, progress
        Who does the work, and what shows it.

    Returns
    -------
    Recommendation
        The verdict, what to deploy now, the front, and the evidence.

    Raises
    ------
    InputError
        If options contradict each other or the votes, or there is nothing to hold out.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = recommend(sl.demo_votes().tally(), models=["gpt-4", "gpt-35-turbo"], repeats=1)
    >>> found.policy.members[0].model
    'gpt-4'
    """
    _check_options(max_models, min_gain, budget)
    decided = partial(
        _decided,
        models=models,
        prices=prices,
        budget=budget,
        max_models=max_models,
        min_gain=min_gain,
        only_proven=only_proven,
        dealt={"by": by, "folds": folds, "repeats": repeats, "seed": seed},
        crew={"crew": Crew(workers), "progress": progress},
    )
    if isinstance(votes, Tally):
        return decided(inputs.tally(votes, dataset), checks)
    table = inputs.vote_table(votes)
    tally = inputs.tally(table, dataset)
    found = decided(tally, find_checks(table, tally.dataset) if checks is None and models is None else checks)
    broken = any(check.name not in BY_NOTATION for check in found.errors)
    read = None if broken else notation(table, tally.dataset)
    if read is None:
        return found
    if not _could_change(found, read):
        return replace(found, notation=Readings(read, found.brief(), None))
    meant = decided(read.votes.tally(), find_checks(read.votes) if checks is None and models is None else checks)
    readings = Readings(read, found.brief(), meant.brief())
    if (meant.proven and not found.proven) or (meant.now.deploys_more and not found.now.deploys_more):
        return replace(found, notation=replace(readings, decided="spelt"))  # The vote that runs is the one as spelt.
    return replace(meant, votes=tally, notation=replace(readings, decided="meant"))


def _could_change(found: Recommendation, read: Notation) -> bool:
    """Whether as many questions are affected as would change who is best, or a gain that is worth anything."""
    accuracies = [score.total / score.denominator / len(score.numerators) for score in found.tally.scores]
    best, *others = sorted(accuracies, reverse=True)
    return read.questions / len(found.votes.questions) >= min([WORTH, *(best - other for other in others[:1])])


def _decided(
    tally: Tally,
    checks: Sequence[Check] | None,
    *,
    models: Sequence[str] | None,
    prices: Mapping[str, float] | None,
    budget: float | None,
    max_models: int | None,
    min_gain: float,
    only_proven: bool,
    dealt: dict[str, Any],
    crew: dict[str, Any],
) -> Recommendation:
    """Decide of votes in one reading."""
    considered = answered_by_all(tally, models)
    looked = find_checks(considered) if checks is None else _about(checks, considered)
    distinct = _without_copies(considered, looked)
    known = pricing(tally, distinct.models, prices)
    judge = judge_of(distinct, [panel_rule(max_models)], prices=known, **dealt, **crew)
    verdict, reason = _verdict(judge, looked, len(distinct.models) < len(considered.models), max_models, min_gain)
    points = marked(points_of(judge, RULE), budget)
    if not points:
        raise InputError(f"a budget of {budget:g} per question buys no sample of any model")
    stay = reason != "gain" and (only_proven or reason in ("alone", "no_change", "checks"))
    now = _now(judge, points, stay or max_models == 1, fewer_calls=prices is not None or budget is not None)
    return Recommendation(verdict, reason, tally, distinct, min_gain, judge, now, points, looked, budget)


def _check_options(max_models: int | None, min_gain: float, budget: float | None) -> None:
    if max_models is not None and max_models < 1:
        raise InputError(f"an ensemble of {max_models} models cannot be deployed: max_models is 1 or more")
    if not 0 <= min_gain < 1:  # This refuses NaN, too.
        raise InputError(f"a smallest gain of {min_gain} is not a fraction of one: give 0.01 for 1 percentage point")
    if budget is not None and not (isfinite(budget) and budget > 0):
        raise InputError(f"a budget of {budget} buys nothing: give a cost per question above 0")


def _about(checks: Sequence[Check], tally: Tally) -> tuple[Check, ...]:
    """The checks that concern a tally; who is a copy is decided on its own questions."""
    others = tuple(
        check
        for check in checks
        if check.dataset in ("", tally.dataset)
        and (check.model is None or check.model in tally.models)
        and check.name != "duplicate_model"
    )
    return others + copy_checks(tally)


def _without_copies(tally: Tally, checks: Sequence[Check]) -> Tally:
    """Leave out models that vote exactly as another does: they cannot change a vote."""
    copies = {check.model for check in checks if check.name == "duplicate_model"}
    kept = [model for model in tally.models if model not in copies]
    return tally if len(kept) == len(tally.models) or not kept else tally.select(models=kept)


def _verdict(
    judge: Judge, checks: Sequence[Check], copies: bool, max_models: int | None, min_gain: float
) -> tuple[Verdict, Reason]:
    """The one test, where there is anything to test."""
    fitted = judge.fitted
    if any(check.severity == "error" for check in checks):
        return "cannot_tell", "checks"
    if len(fitted.tally.models) == 1 or max_models == 1:
        return "deploy_single", "no_change" if copies and len(fitted.tally.models) == 1 else "alone"
    if fitted.single.own.min() == 1:
        return "deploy_single" if len(fitted.tally.questions) >= FEW_QUESTIONS else "cannot_tell", "always_right"
    gain = fitted.gain(RULE)
    if proves(gain, fitted.over_best(RULE), min_gain):
        return "deploy_pair" if len(fitted[RULE].choice.everyone) == 2 else "deploy_panel", "gain"
    # A test of its own, so that no allowance is needed: is the gain below what would be worth it?
    return ("deploy_single", "too_little") if fitted.surely_below(RULE, min_gain) else ("cannot_tell", "unsure")


def _now(judge: Judge, points: Sequence[Point], stay: bool, *, fewer_calls: bool) -> Now:
    """The single model or the ensemble, with all samples or, within a budget, as many as pay."""
    ensemble, whole = judge.fitted[RULE].choice, judge.point(None)
    options = [
        Now(point, _expected(point, whole), whole.accuracy)
        for point in points
        if point.ask_next_if is None
        and (len(point.models) == 1 or (point.plan.choice == ensemble and not stay))
        and (fewer_calls or point.plan.samples is None)
    ]
    alone = Now(points[0], _expected(points[0], whole), whole.accuracy)
    return max(options or [alone], key=lambda now: now.gain.mean - _price(now.point, whole))


def _expected(point: Point, whole: Point) -> Belief:
    """What to expect of a policy's gain over the best single model, which no single model is expected to have."""
    if len(point.models) > 1:
        return belief(point.gain)
    return (
        Belief(0.0, 0.0) if point.plan == whole.plan else Belief(min(0.0, point.gain.mean), point.gain.half_width / 2)
    )


def _price(point: Point, whole: Point) -> float:
    """What the calls of a policy have to be worth."""
    if point.cost is not None and whole.cost:
        return WORTH * (point.cost / whole.cost - 1)
    return WORTH * (len(point.models) > 1)
