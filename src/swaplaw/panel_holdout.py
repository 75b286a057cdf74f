"""Panels held out: what their weights, or the panel itself, gain on questions that did not choose them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swaplaw.certify import Certificate, certify
from swaplaw.choice import BestSingle, Choice, Recorded, Rule, each
from swaplaw.crew import ALONE, Backend, Crew
from swaplaw.effect import Effect, effect
from swaplaw.holdout import deal, on_tests
from swaplaw.panel import Panel, oriented
from swaplaw.panels import panels
from swaplaw.tally import Tally

FOLDS, REPEATS = 5, 2


@dataclass(frozen=True)
class HeldOutPanel:
    """A panel whose weights were chosen on other questions than they are judged on."""

    accuracy: float
    effect: Effect
    """Lift over the member that was most accurate on the questions that chose the weights."""
    folds: int
    repeats: int

    @property
    def lift(self) -> float:
        """Mean lift."""
        return self.effect.mean

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON."""
        return {
            "accuracy": self.accuracy,
            "lift": self.lift,
            "interval": [self.effect.lo, self.effect.hi],
            "folds": self.folds,
            "repeats": self.repeats,
        }


def held_out_panel(
    panel: Panel,
    *,
    folds: int = FOLDS,
    repeats: int = REPEATS,
    seed: int = 0,
    time_limit: float | None = None,
    workers: int | None = None,
    backend: Backend = "processes",
) -> HeldOutPanel | None:
    """Judge a panel by repeated K-fold: weights certified on K - 1 folds (in `time_limit` each), scored on the other.

    Folds keep clusters whole where there are any; workers share them. A single question or cluster can't be held
    out: None.
    """
    tally = panel.tally if panel.n == panel.of else panel.tally.select(questions=panel.common)
    names = np.array(tally.clusters if tally.clusters is not None else tally.questions, dtype=object)
    member = np.unique(names, return_inverse=True)[1]
    if not member.any():
        return None
    scorer = Recorded(tally)
    dealt = deal(member, folds=folds, repeats=repeats, seed=seed)
    crew = Crew(workers, backend)
    rules = (
        weights_rule(tally, panel.indices, time_limit=time_limit, crew=crew),
        BestSingle(scorer, tuple(sorted(panel.indices))),
    )
    scores, alone = (on_tests([scorer.score(made) for made in rule(dealt.trains)], dealt) for rule in rules)
    return HeldOutPanel(float(scores.mean()), effect(scores - alone, member), dealt.folds, dealt.repeats)


def weights_rule(tally: Tally, members: Sequence[int], *, time_limit: float | None = None, crew: Crew = ALONE) -> Rule:
    """Given members, choose their weights: the certified best ones, or the best plateau where these are fragile."""
    return each(tally, lambda train: _choice(certify(oriented(train, members), time_limit=time_limit)), crew)


def panel_rule(tally: Tally, largest: int, *, time_limit: float | None = None, crew: Crew = ALONE) -> Rule:
    """Choose the best panel of 2 to `largest` members, and its weights; equally good: the smaller panel.

    A panel whose best weights leave only one member is that model alone.
    """

    def choose(train: Tally) -> Choice:
        found = [panels(train, size, top=1, time_limit=time_limit).panels[0] for size in range(2, largest + 1)]
        return _choice(max(found, key=lambda one: one.recommended.accuracy))

    return each(tally, choose, crew)


def _choice(found: Certificate) -> Choice:
    """What would be deployed: members of weight 0 are not."""
    weights = zip(found.panel.indices, found.recommended.weights, strict=True)
    members, kept = zip(*((index, weight) for index, weight in weights if weight), strict=True)
    return Choice(members, kept)
