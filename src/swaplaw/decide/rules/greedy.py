"""Greedy selection with replacement: a bag of models that grows by whatever helps its vote most [1]_.

References
----------
.. [1] R. Caruana, A. Niculescu-Mizil, G. Crew and A. Ksikes (2004). Ensemble selection from libraries of models. ICML.
"""

from __future__ import annotations

from swaplaw.decide.choice import Choice
from swaplaw.decide.rules import CombiningRule
from swaplaw.decide.rules._bags import counted, whole_margins
from swaplaw.decide.rules._rationals import accuracies
from swaplaw.votes.tally import Tally

ROUNDS = 20
"""How large the bag grows; the best of its sizes is chosen, of equals the smallest."""


def greedy(tally: Tally) -> Choice:
    """Add the model that makes the bag's vote most accurate, again and again; equals: the more accurate model."""
    margins = whole_margins(tally)
    own = accuracies(tally)
    order = sorted(range(len(own)), key=lambda model: (-own[model], model))
    bag = [order[0]]
    pooled = margins.rows[order[0]]
    best, chosen = margins.score(pooled), 1
    while len(bag) < ROUNDS:
        added = max(order, key=lambda model: margins.score(pooled + margins.rows[model]))
        bag.append(added)
        pooled = pooled + margins.rows[added]
        if (score := margins.score(pooled)) > best:
            best, chosen = score, len(bag)
    return counted(bag[:chosen])


RULE = CombiningRule("greedy", "greedy selection with replacement (Caruana)", greedy)
