"""The best weights of a panel or a whole fleet, with a certificate: a proof that no other weights vote better.

Positive weights of all members are searched by branch and bound; a member of weight 0 leaves a smaller panel, which
is searched on its own, down to pairs, whose whole curve is known. As for pairs, a best score that only exact ties
on a plane of weights give is fragile: the least change of weight loses it. It is reported, and the best *plateau*,
an open cone of weights with one score, stands beside it for use.

Two engines prove it. Branch and bound is exact, and fast for a few members or few planes. What it does not finish
within a stated amount of work goes to a mixed-integer solver (see `milp`), whose bound holds up to floating-point
tolerance; the weights that it finds are scored exactly all the same. A certificate says which of the two proved it, or
how much better any weights could be at most. Work is counted in planes looked at, never in seconds, so that a
certificate does not depend on how busy a machine was. Fleets larger than `LARGEST_PANEL` have no cells and no exact
search: the program alone bounds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import floor
from typing import Any, Literal

import numpy as np

from swaplaw._arrays import Floats
from swaplaw._result import Result
from swaplaw.errors import InputError, quote
from swaplaw.law.curve import Optimum, curve_of
from swaplaw.law.pair import Pair
from swaplaw.law.weights import simplest_between, vote
from swaplaw.panels.arrangement import Arrangement, Ray, arrangement, primitive
from swaplaw.panels.branch_and_bound import Best, Work, branch_and_bound
from swaplaw.panels.line_search import line_search
from swaplaw.panels.milp import TOLERANCE, affordable_nodes, program, solve
from swaplaw.panels.panel import LARGEST_PANEL, Panel, PanelOptimum, oriented
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally

LONGEST_TOTAL = 2**20

Proof = Literal["exact", "solver", "none"]

WORK = 1e7
"""Planes that branch and bound looks at before a solver is asked: a few seconds."""
NODES, SOLVER_WORK = 3_000, 1e9
"""Nodes that the solver looks at, at most, and how many times the square of the planes: minutes at the worst."""
SCALES = (*range(1, 61), 100, 1_000, 10_000, 100_000, 1_000_000)
"""Whole numbers that the largest weight is tried at, until a solver's weights score what they should."""

Curves = dict[tuple[int, int], tuple[Optimum, Optimum]]
"""Best lift and best plateau of pairs that are already known."""


@dataclass(frozen=True)
class Certificate(Result):
    """The best weights found for a panel, and what is proven about all others."""

    panel: Panel
    best: PanelOptimum
    plateau: PanelOptimum | None
    """The best open cone of weights that are all positive (a solver's may leave members out at 0); None if the time was
    up before one was found."""
    bound: Fraction
    """No weights have a higher accuracy than this."""
    solver: bool
    """Whether the bound is a solver's: then it holds up to floating-point tolerance."""
    parts: Parts = field(repr=False, compare=False)
    """What was searched, for making the weights simpler."""

    def __repr__(self) -> str:
        members = " + ".join(map(repr, self.panel.members))
        weights = ", ".join(map(str, self.best.weights))
        return f"Certificate({members} at {weights}, accuracy={float(self.best.accuracy):.4f}, proof={self.proof!r})"

    def tidied(self, work: float | None = None) -> Certificate:
        """The same certificate at the simplest of the best weights."""
        return self.parts.tidied(Work(WORK if work is None else work)).certificate()

    @property
    def gap(self) -> Fraction:
        """Proven distance to the optimum; 0 when certified."""
        return self.bound - self.best.accuracy

    @property
    def certified(self) -> bool:
        """Whether the best weights are proven best."""
        return not self.gap

    @property
    def proof(self) -> Proof:
        """What proves the weights best: whole numbers, a solver, or nothing yet."""
        return "none" if self.gap else "solver" if self.solver else "exact"

    @property
    def lift(self) -> Fraction:
        """Accuracy over the primary's, at the best weights."""
        return self.best.accuracy - self.panel.accuracies[0]

    @property
    def ceiling(self) -> Fraction:
        """The union rescue mass: the most that selecting among the members could add to the primary."""
        return self.panel.union.rescue

    @property
    def recommended(self) -> PanelOptimum:
        """The weights to deploy: the best ones or, where these are fragile, the best plateau."""
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
            "proof": self.proof,
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


def certify(panel: Panel, *, work: float | None = None) -> Certificate:
    """Find a panel's best weights and prove them best, or stop after some work with a proven gap.

    Parameters
    ----------
    panel : Panel
        The models.
    work : float, optional
        Planes that may be looked at; by default ten million, and then a solver is asked.

    Returns
    -------
    Certificate
        The best weights, the best plateau, a bound on all others, and what kind of proof that is.

    Raises
    ------
    InputError
        If the work is negative.

    Examples
    --------
    >>> import swaplaw as sl
    >>> three = sl.panel(sl.demo_votes(), ["gpt-4", "mistral-large", "claude-3-opus-20240229"])
    >>> found = certify(three)
    >>> found.best.accuracy, found.certified
    (Fraction(83, 100), True)
    """
    check_work(work)
    parts = Parts(panel, {}, Work(WORK if work is None else work))
    parts.search()
    if parts.open and (nodes := parts.nodes(work)):
        return BySolver(parts).certificate(nodes)
    return parts.certificate().tidied(work)


def check_work(work: float | None) -> None:
    """Refuse work that is no number of planes."""
    if work is not None and not work >= 0:
        raise InputError(f"work {quote(work)} is not a number of planes to look at: give 0 or more")


def challenge(
    panel: Panel, *, floor: Fraction | None = None, curves: Curves | None = None, work: Work | None = None
) -> Certificate | None:
    """Certify a panel as far as it takes to prove that it does not exceed a floor; None if so.

    Weights are some of the best ones; `Certificate.tidied` gives the simplest. `curves` remembers pairs of one tally
    from panel to panel.
    """
    parts = Parts(panel, {} if curves is None else curves, work)
    return parts.certificate() if parts.search(floor) else None


@dataclass(frozen=True)
class _Found:
    """Whole-number weights of some places of the panel, and the accuracy of their vote."""

    places: tuple[int, ...]
    point: Ray
    accuracy: Fraction
    fragile: bool
    those: Arrangement | None = None
    """Where positive weights of these places were searched; None where the weights are tidy already."""

    def tidied(self, work: Work) -> _Found:
        """The simplest weights of the best cone; of several best cones, that with the lightest secondaries."""
        if self.those is None:
            return self
        point = self.point if self.fragile else lightest(self.those, self.point, work)
        return replace(self, point=self.those.simplest(point), those=None)

    @property
    def rank(self) -> tuple[Fraction, bool, int]:
        """More accurate is better, then safe, then simple."""
        return self.accuracy, not self.fragile, -sum(self.point)

    def spread(self, size: int) -> Ray:
        """The whole-number weights of all members, those of other places being 0."""
        weights = [0] * size
        for place, weight in zip(self.places, self.point, strict=True):
            weights[place] = weight
        return tuple(weights)

    def weights(self, size: int) -> PanelOptimum:
        """The weights of all members, the primary carrying 1."""
        weights = tuple(Fraction(weight, self.point[0]) for weight in self.spread(size))
        return PanelOptimum(weights, self.accuracy, self.fragile)


def lightest(those: Arrangement, point: Ray, work: Work) -> Ray:
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
        target = (score + Fraction(int(lighter.credit[-1]), those.unit)) * those.unit
        best = Best(lighter, int(target) - 1, Fraction(lighter.ceiling), work=work)
        branch_and_bound(best, int(target))
        if best.plateau_at is None:
            break
        point = best.plateau_at
    return point


class Parts:
    """The search of a panel and of the smaller panels that weights of 0 leave of it."""

    def __init__(self, panel: Panel, curves: Curves, work: Work | None = None) -> None:
        self.panel, self.curves, self.work = panel, curves, work
        self.size = len(panel.indices)
        self.tally = panel.tally if panel.n == panel.of else panel.tally.select(questions=panel.common)
        self.bound = panel.accuracies[0]
        self.found = [_Found((0,), (1,), self.bound, False)]
        self.plateau: _Found | None = None

    @property
    def best(self) -> Fraction:
        """The highest accuracy so far."""
        return max(one.accuracy for one in self.found)

    @property
    def open(self) -> bool:
        """Whether something better than the best so far is not ruled out."""
        return self.bound > self.best

    def search(self, floor: Fraction | None = None) -> bool:
        """Search all parts, then the whole; False where the panel is proven not to exceed the floor."""
        for place in range(1, self.size):
            self.search_pair(place)
        if self.size == 2:
            return True
        for members in range(2, self.size - 1):
            for others in combinations(range(1, self.size), members):
                self.search_part((0, *others), floor)
        return self.search_whole(floor)

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

    def search_part(self, places: tuple[int, ...], floor: Fraction | None) -> None:
        """Search positive weights of a part of the panel, as far as they could be as good as the best so far."""
        if self.work is not None and self.work.left < 0:
            self.bound = max(self.bound, self.nameable)
            return
        those = self.planes(places)
        enough = Fraction(-(-self.best * self.panel.n * those.unit // 1) - 1, those.unit)
        self._search(those, places, enough if floor is None else max(enough, floor * self.panel.n))

    def search_whole(self, floor: Fraction | None) -> bool:
        """Search positive weights of all members; False where the panel is proven not to exceed the floor."""
        places = tuple(range(self.size))
        if floor is not None and self.best <= floor:
            self.plateau = self._search(self.whole, places, floor * self.panel.n)
            if max(self.best, self.bound) <= floor:
                return False
        if self.plateau is None:
            self.plateau = self._search(self.whole, places, None)
        return True

    @property
    def nameable(self) -> Fraction:
        """No weights score more: somebody has to vote for gold."""
        return Fraction(int(self.tally.named.sum()), self.panel.n)

    @cached_property
    def whole(self) -> Arrangement:
        """The planes of all members."""
        return self.planes(tuple(range(self.size)))

    def nodes(self, work: float | None) -> int:
        """How many nodes a solver may look at: 0 where these would prove little."""
        planes = max(1, len(self.whole.normals))
        return min(NODES, int(SOLVER_WORK / planes**2)) if work is None else affordable_nodes(planes, work)

    def planes(self, places: tuple[int, ...]) -> Arrangement:
        """The planes of some places of the panel."""
        everything = np.ones(self.panel.n, dtype=bool)
        return arrangement(self.tally, [self.panel.indices[place] for place in places], everything)

    def _search(self, those: Arrangement, places: tuple[int, ...], floor: Fraction | None) -> _Found | None:
        """Search positive weights above a floor, in questions; returns the best open cone."""
        lowest = Fraction(-1) if floor is None else floor * those.unit
        best = Best(those, int(lowest // 1), lowest, work=self.work)
        left = branch_and_bound(best)
        if left > best.plateau:
            best.climb()
        found = best.face_at is not None
        n, unit = self.panel.n, those.unit
        self.bound = max(self.bound, Fraction(max(left, best.plateau, best.face if found else 0, lowest)) / unit / n)
        if best.face_at is not None and best.face > best.plateau:
            self.found.append(_Found(places, best.face_at, best.face / unit / n, True, those))
        if best.plateau_at is None:
            return None
        plateau = _Found(places, best.plateau_at, Fraction(best.plateau, unit * n), False, those)
        self.found.append(plateau)
        return plateau

    def certificate(self) -> Certificate:
        """Choose the best weights: safe before fragile ones, then the lightest secondaries."""
        top = self.best
        best = [one for one in self.found if one.accuracy == top]
        safe = [one for one in best if not one.fragile]
        chosen = min((one.weights(self.size) for one in safe or best), key=lambda one: (one.total, one.weights))
        plateau = None if self.plateau is None else self.plateau.weights(self.size)
        return Certificate(self.panel, chosen, plateau, max(self.bound, top), False, self)

    def tidied(self, work: Work) -> Parts:
        """The same search with its best weights tidied."""
        top, done = self.best, copy(self)
        shown = [one for one in self.found if one.accuracy == top or one is self.plateau]
        tidy = {id(one): one.tidied(work) for one in shown}
        done.found = [tidy.get(id(one), one) for one in self.found]
        done.plateau = None if self.plateau is None else tidy.get(id(self.plateau), self.plateau)
        return done


class BySolver:
    """The search of a panel by a mixed-integer solver, where branch and bound has not come to an end."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.n = parts, parts.panel.n
        self.those = parts.whole
        self.program = program(self.those, parts.tally, parts.panel.indices)
        self.best = replace(max(parts.found, key=lambda one: one.rank), those=None)
        self.safe = replace(max((one for one in parts.found if not one.fragile), key=lambda one: one.rank), those=None)
        self.bound = parts.bound
        for point in (self.best.spread(parts.size), line_search(self.those).point):
            self._take(np.array([float(weight) for weight in point]))

    def certificate(self, nodes: int) -> Certificate:
        """Look for better weights, first on open cones, then on ties, too, until nothing is left above the best."""
        for ties in (False, True):
            floor = float((self.best if ties else self.safe).accuracy * self.n * self.those.unit)
            found = solve(self.program, floor, ties=ties, nodes=nodes)
            if found.weights is not None:
                self._take(found.weights)
            if ties:
                self.bound = max(self.best.accuracy, min(self.bound, self._rounded(found.bound)))
        panel, size = self.parts.panel, self.parts.size
        return Certificate(panel, self.best.weights(size), self.safe.weights(size), self.bound, True, self.parts)

    def _rounded(self, bound: float) -> Fraction:
        """A bound in units as an accuracy: scores between which none lies are one."""
        steps = floor(bound / self.program.least + TOLERANCE)
        return Fraction(steps) * Fraction(self.program.least).limit_denominator(10**6) / (self.those.unit * self.n)

    def _take(self, weights: Floats) -> None:
        """Score whole numbers near some weights exactly, and keep the best; of equally good ones the simplest."""
        for scale in SCALES:
            # The primary carries weight, however little: what gold wins by more than that stays won.
            whole = np.maximum(np.rint(weights / weights.max() * scale), np.arange(len(weights)) == 0).astype(np.int64)
            found = self._scored(primitive(whole.tolist()))
            self.best = max(self.best, found, key=lambda one: one.rank)
            if not found.fragile:
                self.safe = max(self.safe, found, key=lambda one: one.rank)

    def _scored(self, point: Ray) -> _Found:
        places = tuple(place for place, weight in enumerate(point) if weight)
        whole = tuple(point[place] for place in places)
        pooled = vote(self.parts.tally, [self.parts.panel.indices[place] for place in places], [*map(Fraction, whole)])
        accuracy = Fraction(pooled.total, pooled.denominator * self.n)
        if len(places) == 1 or accuracy < self.safe.accuracy:
            return _Found(places, whole, accuracy, False)
        holds, more = self.parts.planes(places).holds(np.array([whole]).T)
        return _Found(places, whole, accuracy, bool(more[holds].any()))


LARGEST_PROGRAM = 200_000
"""Rivals times models beyond which no program is written: no solver would come to an end."""


@dataclass(frozen=True)
class FleetOptimum(Result):
    """The most accurate weights found over all models, and what is proven about all others."""

    weights: Mapping[str, Fraction]
    """By model, the most accurate one first; models without weight are left out."""
    accuracy: Fraction
    bound: Fraction
    """No weights have a higher accuracy than this."""
    proof: Proof
    fragile: bool = False
    """Whether exact ties give the accuracy, and the slightest change of weights loses it."""

    def rows(self) -> list[dict[str, Any]]:
        """One row per model that has weight."""
        return [{"model": model, "weight": str(weight)} for model, weight in self.weights.items()]

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, weights as text, ready for JSON."""
        return {
            "weights": {model: str(weight) for model, weight in self.weights.items()},
            "accuracy": float(self.accuracy),
            "bound": float(self.bound),
            "proof": self.proof,
            "tolerance": TOLERANCE if self.proof == "solver" else None,
            "fragile": self.fragile,
        }


def fleet_optimum(
    votes: VotesLike,
    *,
    work: float | None = None,
    starts: Sequence[Mapping[int, Fraction]] = (),
) -> FleetOptimum:
    """Find the best weights of all models of a tally in which every model answered every question.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset (see `tally`).
    work : float, optional
        Planes that may be looked at (see `certify`).
    starts : sequence of mappings
        Weights that are already known, by place; if the search finds nothing better, the best of them is returned.

    Returns
    -------
    FleetOptimum
        The weights, their accuracy, a bound on all others, and what kind of proof that is.

    Examples
    --------
    >>> import swaplaw as sl
    >>> two = sl.demo_votes().tally().select(models=["gpt-4", "mistral-large"])
    >>> fleet_optimum(two).to_dict()["weights"]
    {'gpt-4': '1', 'mistral-large': '1/9'}
    """
    tally = inputs.tally(votes)
    if len(tally.models) == 1:
        own = tally.scores[0]
        accuracy = Fraction(own.total, own.denominator * len(tally.questions))
        return FleetOptimum({tally.models[0]: Fraction(1)}, accuracy, accuracy, "exact")
    found = _certificate(tally, work)
    best = FleetOptimum(
        {member: weight for member, weight in zip(found.panel.members, found.best.weights, strict=True) if weight},
        found.best.accuracy,
        found.bound,
        found.proof,
        found.best.fragile,
    )
    known = [_known(tally, start, found) for start in starts]
    return max([best, *known], key=lambda one: one.accuracy)


def _certificate(tally: Tally, work: float | None) -> Certificate:
    panel = oriented(tally, range(len(tally.models)))
    if len(tally.models) <= LARGEST_PANEL:
        return certify(panel, work=work)
    parts = Parts(panel, {})
    for place in range(1, parts.size):
        parts.search_pair(place)
    # Nothing more is proven yet of more than two members.
    parts.bound = parts.nameable
    solvable = tally.rivals.rows.widths.sum() * parts.size <= LARGEST_PROGRAM
    nodes = parts.nodes(work) if solvable else 0
    return BySolver(parts).certificate(nodes) if nodes else parts.certificate()


def _known(tally: Tally, start: Mapping[int, Fraction], found: Certificate) -> FleetOptimum:
    pooled = vote(tally, list(start), list(start.values()))
    accuracy = Fraction(pooled.total, pooled.denominator * len(tally.questions))
    weights = {tally.models[place]: weight for place, weight in start.items()}
    return FleetOptimum(weights, accuracy, found.bound, "none" if accuracy < found.bound else found.proof)


def marginals(certificate: Certificate) -> dict[str, Fraction]:
    """Compute how much accuracy is lost when each member leaves and the rest vote at their best weights.

    Parameters
    ----------
    certificate : Certificate
        What `certify` gave.

    Returns
    -------
    dict of str to Fraction
        The loss without each member, on the same questions.

    Examples
    --------
    >>> import swaplaw as sl
    >>> two = sl.panels.certify(sl.panel(sl.demo_votes(), ["gpt-4", "mistral-large"]))
    >>> marginals(two)
    {'gpt-4': Fraction(2, 25), 'mistral-large': Fraction(0, 1)}
    """
    panel = certificate.panel
    same = panel.tally if panel.n == panel.of else panel.tally.select(questions=panel.common)
    losses = {}
    for leaving in panel.indices:
        rest = [index for index in panel.indices if index != leaving]
        if len(rest) == 1:
            without = Panel(same, (rest[0],)).accuracies[0]
        else:
            without = certify(oriented(same, rest)).best.accuracy
        losses[panel.tally.models[leaving]] = certificate.best.accuracy - without
    return losses
