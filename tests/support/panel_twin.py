"""The plain twin of panels: every cell of the weight arrangement visited, in `Fraction`s, nothing clever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, product

import swaplaw as sl

from support.twin import Corpus, common, score

Plane = tuple[Fraction, ...]
"""Constant term and coefficients: c_0 + c_1 x_1 + ... = 0."""


@dataclass(frozen=True)
class Visit:
    """One cell of the arrangement, seen at one of its points."""

    weights: tuple[Fraction, ...]
    accuracy: Fraction
    safe: bool
    """No plane of the members with positive weight passes through the point: small changes change nothing."""


def visits(corpus: Corpus, members: Sequence[str]) -> list[Visit]:
    """Visit every cell, face, edge and corner of the arrangement of the members' weights, the first carrying 1."""
    questions = common(corpus, *members)
    planes = sorted({plane for question in questions for plane in _planes(corpus, members, question)})
    found = []
    for point in _points(planes, len(members) - 1):
        weights = (Fraction(1), *point)
        total = sum(
            score(
                {m: w for m, w in zip(members, weights, strict=True) if w},
                corpus.ballots,
                question,
                corpus.gold[question],
            )
            for question in questions
        )
        support = [place for place, weight in enumerate(weights) if weight]
        safe = all(
            sum(plane[i] * weights[i] for i in support) != 0 or not any(plane[i] for i in support) for plane in planes
        )
        found.append(Visit(weights, Fraction(total) / len(questions), safe))
    return found


def _planes(corpus: Corpus, members: Sequence[str], question: str) -> Iterator[Plane]:
    """Gold against every rival."""
    votes = [corpus.ballots[member][question] for member in members]
    gold = corpus.gold[question]
    for rival in {answer for own in votes for answer in own} - {gold}:
        yield tuple(Fraction(own[gold] - own[rival], own.total()) for own in votes)


def _points(planes: Sequence[Plane], dimensions: int) -> Iterator[tuple[Fraction, ...]]:
    """A point of every face of the arrangement on x >= 0: slice it at, between and beyond all its corners."""
    if dimensions == 0:
        yield ()
        return
    walls = [tuple(Fraction(int(j == i + 1)) for j in range(dimensions + 1)) for i in range(dimensions)]
    everything = sorted({plane for plane in [*planes, *walls] if any(plane[1:])})
    corners = (_corner(some) for some in combinations(everything, dimensions))
    heights = sorted({corner[0] for corner in corners if corner is not None and corner[0] >= 0})
    for x in [*heights, *((low + high) / 2 for low, high in pairwise(heights)), heights[-1] + 1]:
        slices = sorted({(plane[0] + x * plane[1], *plane[2:]) for plane in planes})
        for rest in _points(slices, dimensions - 1):
            yield (x, *rest)


def _corner(planes: Sequence[Plane]) -> tuple[Fraction, ...] | None:
    """Where as many planes as dimensions meet, by elimination; None if they don't meet in one point."""
    rows = [[*plane[1:], -plane[0]] for plane in planes]
    for column in range(len(rows)):
        pivot = next((row for row in range(column, len(rows)) if rows[row][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(len(rows)):
            if row != column:
                factor = rows[row][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return tuple(row[-1] for row in rows)


@dataclass(frozen=True)
class PanelTwin:
    cells: dict[tuple[str, ...], tuple[Fraction, Fraction]]
    """Who is right alone -> mass and contribution to lift."""
    p: Fraction
    union: Fraction
    union_rescue: Fraction
    lift: Fraction


def panel_law(corpus: Corpus, members: Sequence[str], weights: Sequence[Fraction]) -> PanelTwin:
    """Lift over the 2^k cells, question by question."""
    questions = common(corpus, *members)
    n = len(questions)
    cells = {who: (Fraction(0), Fraction(0)) for who in product((False, True), repeat=len(members))}
    p = union = rescue = lift = Fraction(0)
    for question in questions:
        gold = corpus.gold[question]
        alone = [score({m: Fraction(1)}, corpus.ballots, question, gold) for m in members]
        pooled = score(dict(zip(members, weights, strict=True)), corpus.ballots, question, gold)
        for who, (mass, contribution) in cells.items():
            share = _times([ok if right else 1 - ok for ok, right in zip(alone, who, strict=True)])
            cells[who] = mass + share / n, contribution + share * (pooled - alone[0]) / n
        any_right = 1 - _times([1 - ok for ok in alone[1:]])
        p, union, rescue = p + alone[0] / n, union + any_right / n, rescue + (1 - alone[0]) * any_right / n
        lift += (pooled - alone[0]) / n
    named = {tuple(m for m, right in zip(members, who, strict=True) if right): cell for who, cell in cells.items()}
    return PanelTwin(named, p, union, rescue, lift)


def _times(factors: Sequence[Fraction]) -> Fraction:
    total = Fraction(1)
    for factor in factors:
        total *= factor
    return total


def tally_of(case: Corpus) -> sl.Tally:
    return sl.votes_from(case.frame()).tally()
