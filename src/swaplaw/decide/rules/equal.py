"""Everybody's shares count alike: the plain vote of the whole fleet."""

from __future__ import annotations

from fractions import Fraction

from swaplaw.decide.choice import Choice
from swaplaw.decide.rules import CombiningRule
from swaplaw.votes.tally import Tally


def equal(tally: Tally) -> Choice:
    """Give every model weight 1."""
    models = range(len(tally.models))
    return Choice(tuple(models), tuple(Fraction(1) for _ in models))


RULE = CombiningRule("equal", "every model at weight 1", equal, needs_labels=False)
