"""Ways to combine a fleet, one file each: a rule looks at training votes and names members and weights.

A module of this package that defines `RULE` is found by itself; a rule of your own is added with `register`. Every rule
is judged on the same held-out questions, whatever is inside it.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from swaplaw._core.parallel import ALONE, Crew
from swaplaw._core.registry import Registry
from swaplaw.decide.choice import Choice, Rule, each
from swaplaw.votes.tally import Tally

__all__ = ["RULES", "CombiningRule", "register"]


@dataclass(frozen=True)
class CombiningRule:
    """One way to combine a fleet."""

    name: str
    summary: str
    """What it does, in one line."""
    fit: Callable[[Tally], Choice]
    """Choose members and weights from training votes; places and weights refer to that tally's models."""
    needs_labels: bool = True
    """Whether `fit` looks at gold."""
    at_once: Callable[[Tally, Crew], Rule] | None = None
    """The same choices on many training parts at once, where that is faster than `fit` on each."""

    def on(self, tally: Tally, crew: Crew = ALONE) -> Rule:
        """Choose from any parts of a tally: what `holdout.held_out` judges."""
        return each(tally, self.fit, crew) if self.at_once is None else self.at_once(tally, crew)


def _built_in() -> None:
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        rule = getattr(import_module(module.name), "RULE", None)
        if isinstance(rule, CombiningRule):
            RULES.register(rule.name, rule)


RULES: Registry[CombiningRule] = Registry("rule", _built_in)


def register(rule: CombiningRule) -> None:
    """Add a rule: from then on it is compared wherever the others are.

    Parameters
    ----------
    rule : CombiningRule
        Its name, what it does, and how it chooses from training votes.

    Raises
    ------
    InputError
        If there is already a rule of that name.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from swaplaw.decide import Choice
    >>> register(CombiningRule("first", "the first model alone", lambda tally: Choice((0,), (Fraction(1),))))
    >>> RULES["first"].summary
    'the first model alone'
    >>> RULES.unregister("first")
    """
    RULES.register(rule.name, rule)
