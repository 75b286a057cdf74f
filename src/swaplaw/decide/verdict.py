"""The verdict: intervals in, one decision out, in plain words and with its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from swaplaw._core.rounding import points
from swaplaw.decide.choice import Choice
from swaplaw.decide.cost import Budgeted, cost_of
from swaplaw.decide.holdout import HeldOut
from swaplaw.decide.policy import Member, Policy
from swaplaw.decide.selection import Selection
from swaplaw.evidence.intervals import POWER, Effect
from swaplaw.votes.fingerprint import fingerprint_of
from swaplaw.votes.tally import Tally

Verdict = Literal["deploy_pair", "deploy_panel", "deploy_single", "cannot_tell"]
DEPLOYS_ENSEMBLE: tuple[Verdict, ...] = ("deploy_pair", "deploy_panel")
CheckName = Literal["held_out", "equal_compute", "placebo"]


@dataclass(frozen=True)
class Check:
    """One question that an ensemble has to answer, and the gain that answers it."""

    name: CheckName
    effect: Effect


@dataclass(frozen=True)
class More:
    """How many questions would tell: n' = n ((critical + z(power)) se / |mean - boundary|)^2."""

    check: str
    """The interval that is too wide."""
    boundary: float
    """What it must exclude: 0 for an ensemble, the smallest gain worth having for the single model."""
    effect: Effect = field(repr=False)
    questions: int | None
    """Questions needed in all; None where no practical number would do."""

    @property
    def more(self) -> int | None:
        """Questions needed beyond those at hand."""
        return None if self.questions is None else max(0, self.questions - self.effect.n)

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
        }


def decide(checks: Sequence[Check], members: int, min_gain: float) -> Verdict:
    """Turn intervals into a verdict on so many members; the first check is the gain over the best single model."""
    if members > 1 and checks[0].effect.mean >= min_gain and all(check.effect.low > 0 for check in checks):
        return "deploy_pair" if members == 2 else "deploy_panel"
    return "deploy_single" if any(check.effect.high < min_gain for check in checks) else "cannot_tell"


def more_questions(checks: Sequence[Check], min_gain: float) -> More:
    """Which verdict the means point to, and how many questions its widest interval needs."""
    if checks[0].effect.mean >= min_gain and all(check.effect.mean > 0 for check in checks):
        open_ones = [More(c.name, 0.0, c.effect, c.effect.questions_needed(0.0)) for c in checks if c.effect.low <= 0]
        return max(open_ones, key=lambda more: float("inf") if more.questions is None else more.questions)
    worst = min(checks, key=lambda check: check.effect.mean)
    return More(worst.name, min_gain, worst.effect, worst.effect.questions_needed(min_gain))


@dataclass(frozen=True)
class Recommendation:
    """A verdict and what it rests on. Choices hold places in `tally`."""

    verdict: Verdict
    votes: Tally = field(repr=False)
    """The whole dataset."""
    tally: Tally = field(repr=False)
    """The models considered, on the questions that all of them answered."""
    min_gain: float
    by_lift: HeldOut = field(repr=False)
    """The choice by exact lift, which is the one recommended."""
    by_swap: HeldOut = field(repr=False)
    """The paper's rule, for comparison."""
    selection: Selection = field(repr=False)
    checks: tuple[Check, ...]
    more: More | None
    scorer: Budgeted = field(repr=False)
    max_models: int = 2

    @property
    def kind(self) -> str:
        """What the best ensemble is called."""
        return "panel" if len(self.by_lift.choice.members) > 2 else "pair"

    @property
    def chosen(self) -> Choice:
        """What to deploy: until votes can tell, the best single model."""
        return self.by_lift.choice if self.verdict in DEPLOYS_ENSEMBLE else self.by_lift.baseline

    def effect(self, name: CheckName) -> Effect | None:
        """The effect that answers one question, if it could be asked."""
        return next((check.effect for check in self.checks if check.name == name), None)

    @property
    def held_out(self) -> Effect:
        """Gain over the best single model on questions that had no part in the choice."""
        return self.checks[0].effect

    @property
    def in_sample(self) -> Effect:
        """Gain over the best single model on the very questions of the choice, as the best of all candidates."""
        return self.selection.effect(self.by_lift.own_gains)

    def names(self, choice: Choice) -> list[str]:
        """The models of a choice, the primary first."""
        return [self.tally.models[member] for member in choice.members]

    def samples(self, choice: Choice) -> list[int]:
        """Samples of each member per question: what was recorded or what the budget allows, on average."""
        sizes = self.scorer.sizes(choice.members)
        assert sizes is not None  # Else it would be no candidate.
        return [max(1, round(float(size.mean()))) for size in sizes]

    def cost(self, choice: Choice) -> float:
        """Mean cost of a question."""
        sizes = self.scorer.sizes(choice.members)
        assert sizes is not None
        return cost_of(sizes, self.scorer.prices[list(choice.members)])

    @property
    def notes(self) -> list[str]:
        """What a careful reader should know besides."""
        found = []
        if len(self.tally.questions) < len(self.votes.questions):
            found.append(
                f"{len(self.tally.questions):,} of {len(self.votes.questions):,} questions count: those that all "
                f"{len(self.tally.models)} models answered."
            )
        if self.max_models > max(2, len(self.tally.models)):
            found.append(f"At most {self.max_models} models were asked for; there are {len(self.tally.models)}.")
        if self.selection.panels:
            found.append(
                f"{self.selection.panels:,} panels of three or more are compared, too "
                f"({self.selection.panel_candidates:,} different votes): led by their best member, the secondaries "
                "alike or one of them counting double, at any weight in all. `swaplaw panel` proves the best weights "
                "of one panel."
            )
        elif self.selection.pairs and self.tally.votes.max(initial=0) == 1:
            found.append(
                "Every model has one sample a question: of two such votes the heavier always wins, so these votes "
                "cannot show what a pair of repeatedly sampled models, or a panel of three, would gain."
            )
        if len(self.by_lift.choice.members) > 1 and self.effect("equal_compute") is None:
            found.append("Equal compute cannot be asked: the single model has too few samples to split.")
        return found

    @property
    def policy(self) -> Policy:
        """What to deploy, as serving reads it."""
        members = zip(self.names(self.chosen), self.chosen.weights, self.samples(self.chosen), strict=True)
        prices = [float(price) if self.scorer.priced else None for price in self.scorer.prices]
        named = dict(zip(self.tally.models, prices, strict=True))
        return Policy(
            tuple(Member(model, weight, samples, named[model]) for model, weight, samples in members),
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
        named = self.names(self.by_lift.choice)
        return {
            "sentence": sentence(self),
            "choice": {"members": named, "weights": [str(weight) for weight in self.by_lift.choice.weights]},
            "baseline": {
                "model": self.names(self.by_lift.baseline)[0],
                "accuracy": float(self.scorer.score(self.by_lift.baseline).mean()),
            },
            "in_sample": self.in_sample.to_dict(),
            "held_out": self.held_out.to_dict(),
            "optimism": self.by_lift.optimism,
            "candidates": self._candidates(),
            "stability": self.by_lift.stability,
            "chosen_in_folds": [
                {"members": [self.tally.models[member] for member in members], "share": share}
                for members, share in self.by_lift.ensembles
            ],
            "equal_compute": _or_none(self.effect("equal_compute")),
            "placebo": _or_none(self.effect("placebo")),
            "rules": {"lift": self._rule(self.by_lift), "swap": self._rule(self.by_swap)},
            "min_gain": self.min_gain,
            "more": None if self.more is None else self.more.to_dict(),
            "notes": self.notes,
        }

    def _candidates(self) -> dict[str, int]:
        chosen = self.selection
        found = {"pairs": chosen.pairs, "pairs_at_weights": chosen.candidates - chosen.panel_candidates}
        if self.max_models > 2:
            found |= {"panels": chosen.panels, "panels_at_weights": chosen.panel_candidates}
        return found

    def _rule(self, judged: HeldOut) -> dict[str, Any]:
        return {
            "members": self.names(judged.choice),
            "weights": [str(weight) for weight in judged.choice.weights],
            "in_sample": judged.in_sample,
            "held_out": judged.held_out,
            "optimism": judged.optimism,
            "stability": judged.stability,
        }

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: the verdict, the policy exactly as its file holds it, and the evidence."""
        return {
            "verdict": self.verdict,
            "dataset": self.tally.dataset,
            "policy": self.policy.to_dict(),
            **self.evidence,
        }


def _or_none(found: Effect | None) -> dict[str, Any] | None:
    return None if found is None else found.to_dict()


def sentence(found: Recommendation) -> str:
    """The verdict in one sentence."""
    held, single = found.held_out, found.names(found.by_lift.baseline)[0]
    if found.verdict in DEPLOYS_ENSEMBLE:
        primary, *secondaries = found.names(found.chosen)
        weighted = zip(secondaries, found.chosen.weights[1:], strict=True)
        return (
            f"Deploy {primary} with {' and '.join(f'{name} at weight {weight}' for name, weight in weighted)}: on "
            f"questions that had no part in the choice the {found.kind} beats {single}, the best single model, by "
            f"{_points(held)}."
        )
    if found.verdict == "deploy_single":
        return f"Deploy {single} alone: {_why_single(found)}."
    assert found.more is not None
    if held.low > 0 and found.more.check != "held_out":
        doubt = {
            "equal_compute": f"it would at what {single} costs",
            "placebo": f"{_ignorant(found)} would not do as well",
        }[found.more.check]
        return (
            f"The best {found.kind} beats {single}, the best single model, by {_points(held)} on held-out questions, "
            f"but these votes cannot tell whether {doubt}: the gain is then {_points(found.more.effect)}; "
            f"{_how_many(found.more)}."
        )
    return (
        f"These votes cannot tell whether an ensemble beats {single}, the best single model: the held-out gain is "
        f"{_points(held)}; {_how_many(found.more)}."
    )


def _why_single(found: Recommendation) -> str:
    single = found.names(found.by_lift.baseline)[0]
    worth = f"the {_amount(found.min_gain)} that would be worth it"
    if found.held_out.high < found.min_gain or len(found.by_lift.choice.members) == 1:
        return f"on questions that had no part in the choice an ensemble gains {_points(found.held_out)}, not {worth}"
    equal = found.effect("equal_compute")
    if equal is not None and equal.high < found.min_gain:
        return f"at what {single} costs, the best {found.kind} gains {_points(equal)}, not {worth}"
    placebo = found.effect("placebo")
    assert placebo is not None  # The last of the three that can end below.
    whose = "secondary knows" if found.kind == "pair" else "secondaries know"
    return f"the best {found.kind} gains {_points(placebo)} over one whose {whose} nothing, not {worth}"


def _ignorant(found: Recommendation) -> str:
    return "a secondary that knows nothing" if found.kind == "pair" else "secondaries that know nothing"


def _how_many(more: More) -> str:
    if more.more is None:
        return "no practical number of questions would tell"
    clusters = ""
    if more.effect.units < more.effect.n:
        clusters = f" (about {_about(-(-more.more * more.effect.units // more.effect.n))} more clusters)"
    return f"about {_about(more.more)} more questions{clusters} would tell"


def _about(number: int) -> str:
    """Two significant digits: the standard error that this is made of knows no more."""
    return f"{round(number, 2 - len(str(number))):,}"


def _amount(gain: float) -> str:
    return f"{100 * gain:g} point{'' if gain == 0.01 else 's'}"


def _points(found: Effect) -> str:
    """A gain in points, with its interval."""
    mean, low, high = (points(value, found.places) for value in (found.mean, found.low, found.high))
    unit = "point" if mean in ("+1", "-1") else "points"
    return f"{mean} {unit} ({100 * found.level:.0f}% interval {low} to {high})"
