"""The best weights of a panel, with a certificate: a proof that no other weights vote better.

Positive weights of all members are searched by branch and bound; a member of weight 0 leaves a smaller panel, which
is searched on its own, down to pairs, whose whole curve is known. As for pairs, a best score that only exact ties
on a plane of weights give is fragile: the least change of weight loses it. It is reported, and the best *plateau*,
an open cone of weights with one score, stands beside it for use.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from time import monotonic
from typing import Any

import numpy as np

from swaplaw.errors import InputError, quote
from swaplaw.law.curve import Optimum, curve_of
from swaplaw.law.pair import Pair
from swaplaw.law.weights import simplest_between
from swaplaw.panels.arrangement import Arrangement, arrangement
from swaplaw.panels.branch_and_bound import best_weights
from swaplaw.panels.cones import Ray
from swaplaw.panels.line_search import line_search
from swaplaw.panels.panel import Panel, PanelOptimum, oriented

LONGEST_TOTAL = 2**20

Curves = dict[tuple[int, int], tuple[Optimum, Optimum]]
"""Best lift and best plateau of pairs that are already known."""


@dataclass(frozen=True)
class Certificate:
    """The best weights that were found for a panel, and what is proven of all others."""

    panel: Panel
    best: PanelOptimum
    plateau: PanelOptimum | None
    """The best open cone of weights that are all positive; None if the time was up before one was found."""
    bound: Fraction
    """No weights have a higher accuracy than this."""
    parts: Parts = field(repr=False, compare=False)
    """What was searched, to tidy the weights by."""

    def tidied(self, deadline: float | None = None) -> Certificate:
        """The same certificate at the simplest of the best weights."""
        return self.parts.tidied(deadline).certificate()

    @property
    def gap(self) -> Fraction:
        """Proven distance to the optimum; 0 when certified."""
        return self.bound - self.best.accuracy

    @property
    def certified(self) -> bool:
        """Whether the best weights are proven best."""
        return not self.gap

    @property
    def lift(self) -> Fraction:
        """Accuracy over the primary's, at the best weights."""
        return self.best.accuracy - self.panel.accuracies[0]

    @property
    def ceiling(self) -> Fraction:
        """The union rescue mass: most that selecting among the members could add to the primary."""
        return self.panel.union.rescue

    @property
    def recommended(self) -> PanelOptimum:
        """The weights to deploy: the best ones, or the best plateau where these are fragile."""
        return self.plateau if self.best.fragile and self.plateau is not None else self.best

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, weights as strings, ready for JSON."""
        return {
            "dataset": self.panel.tally.dataset,
            "members": list(self.panel.members),
            "weights": [str(weight) for weight in self.best.weights],
            "accuracy": float(self.best.accuracy),
            "lift": float(self.lift),
            "ceiling": float(self.ceiling),
            "certified": self.certified,
            "gap": float(self.gap),
            "fragile": self.best.fragile,
            "plateau": None
            if self.plateau is None
            else {
                "weights": [str(weight) for weight in self.plateau.weights],
                "accuracy": float(self.plateau.accuracy),
                "lift": float(self.plateau.accuracy - self.panel.accuracies[0]),
            },
            "n": self.panel.n,
            "of": self.panel.of,
        }


def certify(panel: Panel, *, time_limit: float | None = None) -> Certificate:
    """Find a panel's best weights and prove them best, or stop at a time limit (in seconds) with a proven gap."""
    if time_limit is not None and not time_limit >= 0:
        raise InputError(f"time limit {quote(time_limit)} is not a number of seconds: give 0 or more")
    deadline = None if time_limit is None else monotonic() + time_limit
    found = challenge(panel, deadline=deadline)
    assert found is not None
    return found.tidied(deadline)


def challenge(
    panel: Panel,
    *,
    floor: Fraction | None = None,
    deadline: float | None = None,
    curves: Curves | None = None,
) -> Certificate | None:
    """Certify a panel as far as it takes to prove that it does not exceed a floor; None if so.

    Weights are some of the best ones; `Certificate.tidied` gives the simplest. `curves` remembers pairs of one tally
    from panel to panel.
    """
    parts = Parts(panel, deadline, {} if curves is None else curves)
    for place in range(1, parts.size):
        parts.search_pair(place)
    if parts.size > 2:
        for members in range(2, parts.size - 1):
            for others in combinations(range(1, parts.size), members):
                parts.search_part((0, *others))
        if not parts.search_whole(floor):
            return None
    return parts.certificate()


@dataclass(frozen=True)
class _Found:
    """Whole-number weights of some places of the panel, and the accuracy of their vote."""

    places: tuple[int, ...]
    point: Ray
    accuracy: Fraction
    fragile: bool
    those: Arrangement | None = None
    """Where positive weights of these places were searched; None where the weights are tidy already."""

    def tidied(self, deadline: float | None) -> _Found:
        """The simplest weights of the best cone; of several best cones, that with the lightest secondaries."""
        if self.those is None:
            return self
        point = self.point if self.fragile else lightest(self.those, self.point, deadline=deadline)
        return replace(self, point=self.those.simplest(point), those=None)

    def weights(self, size: int) -> PanelOptimum:
        """The weights of all members, those of other places being 0."""
        weights = [Fraction(0)] * size
        for place, weight in zip(self.places, self.point, strict=True):
            weights[place] = Fraction(weight, self.point[0])
        return PanelOptimum(tuple(weights), self.accuracy, self.fragile)


def lightest(those: Arrangement, point: Ray, *, deadline: float | None = None) -> Ray:
    """Of all open cones that score what a point scores, find the one that lets the secondaries weigh least.

    Again and again a question is added that only lighter weights win, and that outweighs all others: while the best
    weights win it at no loss, they are lighter. Totals of long fractions are shortened by less than one part in a
    million, to keep the planes of such questions short.
    """
    score = those.score(point)
    while total := those.around(point).least_total:
        if total.denominator > LONGEST_TOTAL:
            total = simplest_between(total - total / LONGEST_TOTAL, total)
        lighter = those.below(total)
        target = score + Fraction(int(lighter.credit[-1]), those.unit)
        floor = target - Fraction(1, those.unit)
        found = best_weights(lighter, floor=floor, faces=False, target=target, deadline=deadline).plateau_at
        if found is None:
            break
        point = found
    return point


class Parts:
    """The search of a panel and of the smaller panels that weights of 0 leave of it."""

    def __init__(self, panel: Panel, deadline: float | None, curves: Curves) -> None:
        self.panel, self.deadline, self.curves = panel, deadline, curves
        self.size = len(panel.indices)
        self.tally = panel.tally if panel.n == panel.of else panel.tally.select(questions=panel.common)
        self.bound = panel.accuracies[0]
        self.found = [_Found((0,), (1,), self.bound, False)]
        self.plateau: _Found | None = None

    @property
    def best(self) -> Fraction:
        """The highest accuracy so far."""
        return max(one.accuracy for one in self.found)

    def search_pair(self, place: int) -> None:
        """Take the best of the whole curve of the primary and one secondary."""
        key = self.panel.indices[0], self.panel.indices[place]
        if key not in self.curves:
            curve = curve_of(Pair(self.tally, *key))
            self.curves[key] = curve.best_lift, curve.best_plateau
        best, plateau = (
            _Found((0, place), (one.weight.denominator, one.weight.numerator), one.outcome.accuracy, one.fragile)
            for one in self.curves[key]
        )
        self.bound = max(self.bound, best.accuracy)
        # A pair by itself is what its curve says: of equally good ranges the first, be it a single point.
        self.found, self.plateau = ([best], plateau) if self.size == 2 else ([*self.found, best, plateau], None)

    def search_part(self, places: tuple[int, ...]) -> None:
        """Search positive weights of a part of the panel, as far as they could be as good as the best so far."""
        those = self._planes(places)
        enough = -(-self.best * self.panel.n * those.unit // 1)
        self._search(those, places, Fraction(enough - 1, those.unit))

    def search_whole(self, floor: Fraction | None) -> bool:
        """Search positive weights of all members; False where the panel is proven not to exceed the floor."""
        places = tuple(range(self.size))
        those = self._planes(places)
        if floor is not None and self.best <= floor:
            self.plateau = self._search(those, places, floor * self.panel.n)
            if max(self.best, self.bound) <= floor:
                return False
        if self.plateau is None:
            self.plateau = self._search(those, places, None)
        return True

    def _planes(self, places: tuple[int, ...]) -> Arrangement:
        everything = np.ones(self.panel.n, dtype=bool)
        return arrangement(self.tally, [self.panel.indices[place] for place in places], everything)

    def _search(self, those: Arrangement, places: tuple[int, ...], floor: Fraction | None) -> _Found | None:
        """Search positive weights; returns the best open cone."""
        # Against the clock, good weights come first and the proof second.
        start = None if self.deadline is None else line_search(those).point
        verdict = best_weights(those, floor=floor, start=start, deadline=self.deadline)
        n = self.panel.n
        self.bound = max(self.bound, verdict.bound / n)
        plateau = None
        if verdict.plateau is not None and verdict.plateau_at is not None:
            plateau = _Found(places, verdict.plateau_at, verdict.plateau / n, False, those)
            self.found.append(plateau)
        if verdict.best is not None and verdict.best_at is not None and verdict.best != verdict.plateau:
            self.found.append(_Found(places, verdict.best_at, verdict.best / n, True, those))
        return plateau

    def certificate(self) -> Certificate:
        """Choose the best weights: safe before fragile ones, then the lightest secondaries."""
        top = self.best
        best = [one for one in self.found if one.accuracy == top]
        safe = [one for one in best if not one.fragile]
        chosen = min((one.weights(self.size) for one in safe or best), key=lambda one: (one.total, one.weights))
        plateau = None if self.plateau is None else self.plateau.weights(self.size)
        return Certificate(self.panel, chosen, plateau, max(self.bound, top), self)

    def tidied(self, deadline: float | None) -> Parts:
        """The same search with its best weights tidied."""
        top, done = self.best, copy(self)
        shown = [one for one in self.found if one.accuracy == top or one is self.plateau]
        tidy = {id(one): one.tidied(deadline) for one in shown}
        done.found = [tidy.get(id(one), one) for one in self.found]
        done.plateau = None if self.plateau is None else tidy.get(id(self.plateau), self.plateau)
        return done


def marginals(certificate: Certificate, *, time_limit: float | None = None) -> dict[str, Fraction]:
    """What accuracy is lost when each member leaves, the rest voting at its best weights on the same questions."""
    panel = certificate.panel
    same = panel.tally if panel.n == panel.of else panel.tally.select(questions=panel.common)
    losses = {}
    for leaving in panel.indices:
        rest = [index for index in panel.indices if index != leaving]
        if len(rest) == 1:
            without = Panel(same, (rest[0],)).accuracies[0]
        else:
            without = certify(oriented(same, rest), time_limit=time_limit).best.accuracy
        losses[panel.tally.models[leaving]] = certificate.best.accuracy - without
    return losses
