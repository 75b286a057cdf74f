"""The verdict: gains in, one decision out, with what it rests on and its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from swaplaw._core.hooks import above
from swaplaw._core.results import Result
from swaplaw.decide.belief import Belief, belief
from swaplaw.decide.choice import Choice
from swaplaw.decide.controls import Controls
from swaplaw.decide.cost import Budgeted, cost_of
from swaplaw.decide.holdout import HeldOut
from swaplaw.decide.policy import Member, Policy
from swaplaw.decide.selection import Selection, poor_below
from swaplaw.decide.sequential import FleetAnytime
from swaplaw.evidence.interval import LEVEL, POWER, Effect
from swaplaw.votes.checks import Check
from swaplaw.votes.fingerprint import fingerprint_of
from swaplaw.votes.tally import Tally

Verdict = Literal["deploy_pair", "deploy_panel", "deploy_single", "cannot_tell"]
DEPLOYS_ENSEMBLE: tuple[Verdict, ...] = ("deploy_pair", "deploy_panel")
Reason = Literal[
    "gain",
    "one_rule",
    "too_little",
    "too_little_at_equal_cost",
    "noise",
    "maybe_noise",
    "no_change",
    "alone",
    "always_right",
    "not_askable",
    "checks",
    "unsure",
    "unsure_at_equal_cost",
]
"""Why a verdict is what it is: the sentence about it quotes the numbers of just this reason."""
AS_GOOD = 0.005
"""Among proven ensembles the smallest is taken whose held-out gain is this close to the largest, as a fraction."""
SUPPORT = 0.5
"""Share of the rules, clearly poor ones left out, that must gain by more than a standard error for a gain to count."""
SURE = 0.02
"""A gain with a smaller p-value needs no support, if its rule gives no weight to models that know nothing."""
VERY_SURE = 0.002
"""A gain with a smaller p-value needs no support, whatever its rule; what noise could do, the placebo tells."""
RANGE = 0.5
"""How sure the range of questions needed is meant to be."""


@dataclass(frozen=True)
class Candidate:
    """One rule for choosing an ensemble, judged on held-out questions."""

    rule: str
    judged: HeldOut = field(repr=False)
    effect: Effect
    """Its held-out gain; the interval and the p-value allow for all candidates."""

    @property
    def members(self) -> int:
        """How many models it would deploy."""
        return len(self.judged.choice.members)

    def helps(self, min_gain: float) -> bool:
        """Whether its gain is surely above 0, and large enough to be worth it."""
        return self.members > 1 and self.effect.p <= 1 - LEVEL and self.effect.mean >= min_gain

    @property
    def poor(self) -> bool:
        """Whether it is clearly worse than the single model, and says nothing about the others."""
        return self.effect.mean < -poor_below(self.effect.units) * self.effect.standard_error

    @property
    def informed(self) -> bool:
        """Whether its rule gives no weight to models that know nothing."""
        return self.rule == "log_odds" or self.rule.startswith("smooth")

    @property
    def gains(self) -> bool:
        """Whether its gain is more than a standard error: no proof, but support for another rule's."""
        return self.effect.mean > self.effect.standard_error

    def gains_too_little(self, min_gain: float, reach: float) -> bool:
        """Whether its gain is surely below what would be worth it, by a one-sided test of its own."""
        return self.effect.mean + reach * self.effect.standard_error < min_gain


@dataclass(frozen=True)
class More:
    """How many questions would tell: n' = n ((critical + z(power)) se / |gain - boundary|)^2.

    The gain is not known, so there is a range: that of the gains between which the true one lies with chance RANGE.
    """

    check: str
    """The gain that is too uncertain."""
    boundary: float
    """What it must differ from: 0 for an ensemble, the smallest gain worth having for the single model."""
    effect: Effect = field(repr=False)
    """The gain, with the critical value of the one-sided test."""
    questions: int | None
    """Questions needed in all if the gain is what was measured; None where no practical number would do."""
    low: int | None
    """The same for the gain in the range that is easiest to tell."""
    high: int | None
    """The same for the gain that is hardest to tell; None where the range reaches the boundary."""

    @property
    def more(self) -> int | None:
        """Questions needed beyond those at hand."""
        return self._beyond(self.questions)

    @property
    def range(self) -> tuple[int | None, int | None]:
        """From how many to how many questions beyond those at hand."""
        return self._beyond(self.low), self._beyond(self.high)

    def _beyond(self, questions: int | None) -> int | None:
        return None if questions is None else max(0, questions - self.effect.n)

    def to_dict(self) -> dict[str, Any]:
        """The arithmetic, ready for JSON."""
        return {
            "check": self.check,
            "effect": self.effect.mean,
            "boundary": self.boundary,
            "standard_error": self.effect.standard_error,
            "critical": self.effect.critical,
            "power": POWER,
            "have": self.effect.n,
            "need": self.questions,
            "more": self.more,
            "range": list(self.range),
        }


def supported(best: Candidate, candidates: Sequence[Candidate]) -> bool:
    """Whether a gain does not hang on one rule by luck: half of those that are not clearly poor gain, too.

    Or it is so sure that luck is unlikely; less will do if its rule is one by which guesses count for nothing.
    """
    asked = [each for each in candidates if not each.poor]
    enough = SURE if best.informed else VERY_SURE
    return sum(each.gains for each in asked) >= SUPPORT * len(asked) or best.effect.p <= enough


def pick(candidates: Sequence[Candidate], min_gain: float) -> Candidate | None:
    """The candidate to decide about: of those that help the smallest as good as any, else the one with most gain."""
    proven = [each for each in candidates if each.helps(min_gain)]
    if proven:
        best = max(each.effect.mean for each in proven)
        return min(
            (each for each in proven if each.effect.mean >= best - AS_GOOD),
            key=lambda each: (each.members, -each.effect.mean, each.rule),
        )
    ensembles = [each for each in candidates if each.members > 1] or list(candidates)
    return min(ensembles, key=lambda each: (-each.effect.mean, each.members, each.rule), default=None)


def more_questions(check: str, effect: Effect, threshold: float, reach: float, min_gain: float) -> More:
    """Which verdict a gain points to, and how many questions that verdict would need.

    `threshold` and `reach` are the standard errors of the tests of "it helps" and of "it gains too little".
    """
    boundary, critical = (0.0, threshold) if effect.mean >= min_gain else (min_gain, reach)
    alike = replace(effect, critical=critical, ends=None)
    believed = belief(effect)
    near, far = sorted(
        (believed.quantile((1 - RANGE) / 2), believed.quantile((1 + RANGE) / 2)), key=lambda gain: abs(gain - boundary)
    )
    crosses = (near - boundary) * (effect.mean - boundary) <= 0
    low = replace(alike, mean=far).questions_needed(boundary)
    high = None if crosses else replace(alike, mean=near).questions_needed(boundary)
    return More(check, boundary, alike, alike.questions_needed(boundary), low, high)


@dataclass(frozen=True)
class Recommendation(Result):
    """A verdict and its evidence. Choices hold places in `tally`."""

    verdict: Verdict
    reason: Reason
    votes: Tally = field(repr=False)
    """The whole dataset."""
    tally: Tally = field(repr=False)
    """The models considered, on the questions that all of them answered."""
    min_gain: float
    baseline: Choice
    """The best single model."""
    candidates: tuple[Candidate, ...] = field(repr=False)
    best: Candidate | None
    """The candidate that the verdict is about; None where there is none."""
    rules: dict[str, HeldOut] = field(repr=False)
    """Every rule that was judged, the candidates among them."""
    selection: Selection = field(repr=False)
    controls: Controls = field(repr=False)
    """What else the best candidate's gain is compared with."""
    checks: tuple[Check, ...] = field(repr=False)
    """What looks wrong in the votes."""
    more: More | None
    scorer: Budgeted = field(repr=False)
    still_open: Candidate | None = None
    """The candidate that keeps an unsure verdict open: the best one, or another that may still gain enough."""
    max_models: int | None = None
    at_equal_cost: bool = False
    anytime: FleetAnytime | None = None
    """Evidence that is valid at every look, where it was asked for."""

    @property
    def kind(self) -> str:
        """What the best ensemble is called."""
        return "panel" if self.best is not None and self.best.members > 2 else "pair"

    @property
    def choice(self) -> Choice:
        """The best ensemble, deployed or not; the best single model where there is none."""
        return self.baseline if self.best is None else self.best.judged.choice

    @property
    def chosen(self) -> Choice:
        """What to deploy: until votes can tell, the best single model."""
        return self.choice if self.verdict in DEPLOYS_ENSEMBLE else self.baseline

    @property
    def held_out(self) -> Effect | None:
        """Gain over the best single model on questions that had no part in the choice."""
        return None if self.best is None else self.best.effect

    @property
    def in_sample(self) -> Effect | None:
        """Gain over the best single model on the very questions of the choice, as the best of all candidates."""
        return None if self.best is None else self.selection.effect(self.best.judged.own_gains)

    @property
    def equal_compute(self) -> Effect | None:
        """Held-out gain of the best candidate when it may cost no more than the single model; None: cannot be asked."""
        return self.controls.equal_compute

    @property
    def placebo(self) -> Effect | None:
        """Its held-out gain over itself with secondaries that know nothing."""
        return self.controls.over_placebo

    @property
    def options(self) -> int | None:
        """Among how many options the placebo moved votes."""
        return self.controls.options

    @cached_property
    def belief(self) -> Belief | None:
        """What to expect of the best ensemble; None where there is none, or nothing to gain."""
        return None if self.held_out is None or self.reason == "always_right" else belief(self.held_out)

    @cached_property
    def sentence(self) -> str:
        """The verdict in words, with the numbers that decided it."""
        worded: str = above("swaplaw.report.words:sentence")(self)
        return worded

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
        """The models of a choice, the primary first."""
        return [self.tally.models[member] for member in choice.members]

    def samples(self, choice: Choice) -> list[int]:
        """Samples of each member per question: what was recorded or what the budget allows, on average."""
        return [max(1, round(float(size.mean()))) for size in self.scorer.affordable_sizes(choice.members)]

    def cost(self, choice: Choice) -> float:
        """Mean cost of a question."""
        return cost_of(self.scorer.affordable_sizes(choice.members), self.scorer.prices[list(choice.members)])

    @property
    def accuracy(self) -> float:
        """Accuracy of the best single model."""
        return float(self.scorer.score(self.baseline).mean())

    @property
    def deployed(self) -> tuple[Member, ...]:
        """Who would be asked, at what weight, how often."""
        members = zip(self.names(self.chosen), self.chosen.weights, self.samples(self.chosen), strict=True)
        prices = [float(price) if self.scorer.priced else None for price in self.scorer.prices]
        named = dict(zip(self.tally.models, prices, strict=True))
        return tuple(Member(model, weight, samples, named[model]) for model, weight, samples in members)

    @property
    def policy(self) -> Policy:
        """What to deploy, as serving reads it."""
        return Policy(
            self.deployed,
            self.verdict,
            self.evidence,
            {
                "dataset": self.tally.dataset,
                "questions": len(self.tally.questions),
                "of": len(self.votes.questions),
                "fingerprint": fingerprint_of(self.votes),
            },
        )

    @property
    def evidence(self) -> dict[str, Any]:
        """What the verdict rests on, ready for JSON."""
        best, believed = self.best, self.belief
        return {
            "sentence": self.sentence,
            "reason": self.reason,
            "rule": None if best is None else best.rule,
            "choice": self._weighted(self.choice),
            "baseline": {"model": self.names(self.baseline)[0], "accuracy": self.accuracy},
            "in_sample": _or_none(self.in_sample),
            "held_out": _or_none(self.held_out),
            "expected_gain": None if believed is None else believed.mean,
            "probability_gain": None if believed is None else believed.above(0),
            "probability_min_gain": None if believed is None else believed.above(self.min_gain),
            "regret": None
            if believed is None
            else {"ensemble": believed.regret_of_ensemble, "single": believed.regret_of_single},
            "optimism": None if best is None else best.judged.optimism,
            "candidates": self._compared(),
            "stability": None if best is None else best.judged.stability,
            "chosen_in_folds": [] if best is None else self._in_folds(best.judged),
            "equal_compute": _or_none(self.equal_compute),
            "at_equal_cost": self.at_equal_cost,
            "placebo": None if self.placebo is None else self.placebo.to_dict() | {"options": self.options},
            "rules": {name: self._rule(judged) for name, judged in self.rules.items()},
            "min_gain": self.min_gain,
            "more": None if self.more is None else self.more.to_dict(),
            "checks": [check.to_dict() for check in self.checks],
            "notes": self.notes,
            **({} if self.anytime is None else {"anytime": self.anytime.to_dict()}),
        }

    def _weighted(self, choice: Choice) -> dict[str, Any]:
        return {"members": self.names(choice), "weights": [str(weight) for weight in choice.weights]}

    def _compared(self) -> dict[str, int]:
        chosen = self.selection
        return {
            "rules": chosen.rules,
            "pairs": chosen.pairs,
            "pairs_at_weights": chosen.candidates - chosen.panel_candidates,
            "panels": chosen.panels,
            "panels_at_weights": chosen.panel_candidates,
        }

    def _in_folds(self, judged: HeldOut) -> list[dict[str, Any]]:
        return [
            {"members": [self.tally.models[member] for member in members], "share": share}
            for members, share in judged.ensembles
        ]

    def _rule(self, judged: HeldOut) -> dict[str, Any]:
        return {
            **self._weighted(judged.choice),
            "in_sample": judged.in_sample,
            "held_out": judged.held_out,
            "optimism": judged.optimism,
            "stability": judged.stability,
        }

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: the verdict, the policy as its file holds it, and the evidence."""
        return {
            "verdict": self.verdict,
            "dataset": self.tally.dataset,
            "policy": self.policy.to_dict(),
            **self.evidence,
        }


def _or_none(found: Effect | None) -> dict[str, Any] | None:
    return None if found is None else found.to_dict()
