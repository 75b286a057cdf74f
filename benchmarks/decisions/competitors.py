"""Ways to decide that recommend is compared with: each names an ensemble from the votes of half of the questions."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.decisions.simulation import decided
from swaplaw.decide.choice import Choice
from swaplaw.decide.family import led
from swaplaw.decide.rules import RULES
from swaplaw.decide.rules._rationals import accuracies
from swaplaw.votes.tally import Tally

Decide = Callable[[Tally], Choice]


def ranked(tally: Tally) -> list[int]:
    """Models by falling accuracy."""
    own = accuracies(tally)
    return sorted(range(len(own)), key=lambda model: (-own[model], model))


def verdict(tally: Tally) -> Choice:
    """What recommend deploys: the best single model unless it says otherwise."""
    found = decided(tally)
    return Choice(tuple(tally.index(name) for name in found.names(found.chosen)), found.chosen.weights)


DECIDERS: dict[str, Decide] = {
    "recommend": verdict,
    "equal weights": RULES["equal"].fit,
    "accuracy weights": RULES["accuracy"].fit,
    "log-odds weights": RULES["log_odds"].fit,
    "greedy (Caruana)": RULES["greedy"].fit,
    "top 3": lambda tally: led(ranked(tally)[:3]),
    "best pair regardless": RULES["best_pair"].fit,
}
