"""The swap law beyond pairs: a primary and k - 1 secondaries, over the 2^k cells of who is right alone.

Each question belongs to the cells in part where members tie (the products of their scores), so lift is an exact
sum of one contribution a cell. For two members the cells are the pair's: rescue, damage, both wrong, both right.
The union of the secondaries, right where any of them is, takes the secondary's place in the ceiling and in the
accuracy-adjusted correlation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from itertools import product
from math import prod
from typing import Any

import numpy as np

from swaplaw._arrays import Bools, Ints
from swaplaw._result import Result
from swaplaw.errors import InputError, listing, quote
from swaplaw.law.pair import Masses
from swaplaw.law.weights import as_weight, vote
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Scores, Silence, Tally

LARGEST_PANEL = 8
"""Members beyond which 2^k cells and k - 1 weights are no longer worked out."""

Weight = str | int | float | Fraction


@dataclass(frozen=True)
class Cell:
    """The questions on which exactly some members are right alone."""

    right: tuple[str, ...]
    """Who is right alone; everybody else is wrong."""
    kind: str
    """What the vote can do here, as for pairs: rescued, damaged, repaired or corrupted."""
    mass: Fraction
    contribution: Fraction
    """What the cell adds to lift (less than 0 where the primary was right)."""

    @property
    def rate(self) -> Fraction | None:
        """Conversion: the share of the cell's mass that the vote gains (primary wrong) or loses (primary right)."""
        gains = self.kind in ("rescued", "repaired")
        return (self.contribution if gains else -self.contribution) / self.mass if self.mass else None


@dataclass(frozen=True)
class PanelOutcome(Result):
    """The vote of a panel at some weights: lift, cell by cell."""

    members: tuple[str, ...]
    weights: tuple[Fraction, ...]
    """In the order of the members; the primary carries 1."""
    union: Masses = field(repr=False)
    cells: tuple[Cell, ...] = field(repr=False)

    def __repr__(self) -> str:
        voted = f"{' + '.join(map(repr, self.members))} at {', '.join(map(str, self.weights))}"
        return f"PanelOutcome({voted}, accuracy={float(self.accuracy):.4f}, lift={float(self.lift):+.4f})"

    @property
    def lift(self) -> Fraction:
        """Accuracy over the primary's: the exact sum of all cells."""
        return sum((cell.contribution for cell in self.cells), Fraction(0))

    @property
    def accuracy(self) -> Fraction:
        """Accuracy of the weighted vote."""
        return self.union.p + self.lift

    @property
    def rescued(self) -> Fraction:
        """Gains where the primary alone is wrong and some secondary right."""
        return self._of("rescued")

    @property
    def damaged(self) -> Fraction:
        """Losses where the primary alone is right and some secondary wrong."""
        return -self._of("damaged")

    @property
    def repaired(self) -> Fraction:
        """Gains where every member alone is wrong."""
        return self._of("repaired")

    @property
    def corrupted(self) -> Fraction:
        """Losses where every member alone is right."""
        return -self._of("corrupted")

    @property
    def swap(self) -> Fraction:
        """The swap mass: rescues less damage."""
        return self.rescued - self.damaged

    @property
    def residual(self) -> Fraction:
        """Repair less corruption."""
        return self.repaired - self.corrupted

    def _of(self, kind: str) -> Fraction:
        return sum((cell.contribution for cell in self.cells if cell.kind == kind), Fraction(0))

    def rows(self) -> list[dict[str, Any]]:
        """List the cells: who is right there, how many questions there are, and what the vote makes of them."""
        return [cell | {"right": ", ".join(cell["right"])} for cell in self.to_dict()["cells"]]

    def to_dict(self) -> dict[str, Any]:
        """Fractions of one, ready for JSON."""
        return {
            "members": list(self.members),
            "weights": [str(weight) for weight in self.weights],
            "accuracy": float(self.accuracy),
            "lift": float(self.lift),
            "swap": float(self.swap),
            "residual": float(self.residual),
            "cells": [
                {
                    "right": list(cell.right),
                    "kind": cell.kind,
                    "mass": float(cell.mass),
                    "rate": None if cell.rate is None else float(cell.rate),
                    "contribution": float(cell.contribution),
                }
                for cell in self.cells
            ],
        }


@dataclass(frozen=True, repr=False)
class Panel(Result):
    """Some models on the questions that all of them answered, the primary first."""

    tally: Tally = field(repr=False)
    indices: tuple[int, ...] = field(repr=False)

    def __repr__(self) -> str:
        return f"Panel({' + '.join(map(repr, self.members))}, {self.n:,} questions)"

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data: its members, their accuracies, and what the best selection among them would add."""
        return {
            "members": list(self.members),
            "n": self.n,
            "of": self.of,
            "accuracies": [float(accuracy) for accuracy in self.accuracies],
            "union_rescue": float(self.union.rescue),
        }

    def rows(self) -> list[dict[str, Any]]:
        """List the members, the primary first."""
        named = zip(self.members, self.accuracies, strict=True)
        return [{"member": name, "accuracy": float(accuracy)} for name, accuracy in named]

    @property
    def members(self) -> tuple[str, ...]:
        """Names, the primary's first."""
        return tuple(self.tally.models[index] for index in self.indices)

    @property
    def primary(self) -> str:
        """Name of the model that carries weight 1."""
        return self.members[0]

    @cached_property
    def common(self) -> Bools:
        """The questions that all members answered."""
        everyone: Bools = np.logical_and.reduce(self.tally.answered[list(self.indices)], axis=0)
        return everyone

    @cached_property
    def n(self) -> int:
        """How many questions all members answered."""
        return int(self.common.sum())

    @property
    def of(self) -> int:
        """How many questions the dataset has."""
        return len(self.tally.questions)

    @cached_property
    def alone(self) -> tuple[Scores, ...]:
        """Each member's own scores on the common questions."""
        return tuple(self.tally.scores[index].among(self.common) for index in self.indices)

    @cached_property
    def accuracies(self) -> tuple[Fraction, ...]:
        """Accuracy of each member alone."""
        return tuple(Fraction(int(own.numerators.sum()), own.denominator * self.n) for own in self.alone)

    @cached_property
    def union(self) -> Masses:
        """The primary against the union of the secondaries, which is right where any of them is.

        `union.rescue` is the union rescue mass, the selection ceiling, and equals
        q_u (1 - p) (1 - phi_adj) with q_u = `union.q` and phi_adj = `union.phi_adj`, exactly.
        """
        weights, scale = self._cell_weights
        masses = {right: Fraction(int(weight.sum()), scale * self.n) for right, weight in weights.items()}
        union = sum((mass for right, mass in masses.items() if any(right[1:])), Fraction(0))
        both = sum((mass for right, mass in masses.items() if right[0] and any(right[1:])), Fraction(0))
        return Masses(self.accuracies[0], union, both)

    def masses(self, secondary: str) -> Masses:
        """The primary against one secondary, on the panel's questions; Eq. (gapidentity) holds for each.

        Parameters
        ----------
        secondary : str
            The name of the secondary.

        Returns
        -------
        Masses
            The masses of the two.

        Raises
        ------
        InputError
            If the panel has no such secondary.
        """
        if secondary not in self.members[1:]:
            raise InputError(f"there is no secondary {quote(secondary)}; there are {listing(self.members[1:])}")
        place = self.members.index(secondary)
        weights, scale = self._cell_weights
        both = sum(int(weight.sum()) for right, weight in weights.items() if right[0] and right[place])
        return Masses(self.accuracies[0], self.accuracies[place], Fraction(both, scale * self.n))

    @cached_property
    def _cell_weights(self) -> tuple[dict[tuple[bool, ...], Ints], int]:
        """How far each question belongs to each cell, as whole numbers, and their common denominator."""
        scale = prod(own.denominator for own in self.alone)
        # Weights meet scores and sums over questions later on: leave room for both.
        dtype = np.int64 if scale * self.n < 2**40 else object
        right = [own.numerators.astype(dtype) for own in self.alone]
        wrong = [own.denominator - own.numerators.astype(dtype) for own in self.alone]
        weights = {}
        for who in product((False, True), repeat=len(self.alone)):
            shares = [(right if is_right else wrong)[member] for member, is_right in enumerate(who)]
            weights[who] = reduce(np.multiply, shares)
        return weights, scale

    def at(self, weights: Sequence[Weight] | Mapping[str, Weight]) -> PanelOutcome:
        """Score the vote at some weights and split its lift exactly over the cells.

        Weights are in the order of `members`, or by name; the primary's is 1 if it is not given by name.

        Parameters
        ----------
        weights : sequence or mapping
            One weight per member, in the members' order or by name.

        Returns
        -------
        PanelOutcome
            The pooled vote, cell by cell.
        """
        exact = self._weights(weights)
        pooled = vote(self.tally, self.indices, exact).among(self.common)
        own = self.alone[0]
        cells, scale = self._cell_weights
        top = pooled.denominator * own.denominator * scale
        dtype = np.int64 if top * self.n < 2**62 else object
        gain = pooled.numerators.astype(dtype) * own.denominator - own.numerators.astype(dtype) * pooled.denominator
        return PanelOutcome(
            self.members,
            exact,
            self.union,
            tuple(
                Cell(
                    tuple(name for name, is_right in zip(self.members, who, strict=True) if is_right),
                    _kind(who),
                    Fraction(int(weight.sum()), scale * self.n),
                    Fraction(int((gain * weight.astype(dtype)).sum()), top * self.n),
                )
                for who, weight in cells.items()
            ),
        )

    def _weights(self, weights: Sequence[Weight] | Mapping[str, Weight]) -> tuple[Fraction, ...]:
        if isinstance(weights, Mapping):
            strangers = [name for name in weights if name not in self.members]
            missing = [name for name in self.members[1:] if name not in weights]
            if strangers or missing:
                raise InputError(f"weights name {listing(list(weights))}; the panel has {listing(self.members)}")
            weights = [weights.get(self.primary, 1), *(weights[name] for name in self.members[1:])]
        if len(weights) != len(self.indices):
            raise InputError(f"{len(weights)} weights for {len(self.indices)} members: give one each, the primary's 1")
        exact = [as_weight(weight) for weight in weights]
        if not exact[0]:
            raise InputError(f"the primary {quote(self.primary)} has weight 0: give it 1")
        return tuple(weight / exact[0] for weight in exact)


def _kind(right: tuple[bool, ...]) -> str:
    if right[0]:
        return "corrupted" if all(right) else "damaged"
    return "rescued" if any(right) else "repaired"


@dataclass(frozen=True)
class PanelOptimum:
    """Weights of a panel, in the order of its members, and the accuracy of their vote."""

    weights: tuple[Fraction, ...]
    accuracy: Fraction
    fragile: bool = False
    """Whether exact ties give the accuracy, and the slightest change of weights loses it (0 is safe to deploy)."""

    @property
    def total(self) -> Fraction:
        """Total weight of the secondaries."""
        return sum(self.weights[1:], Fraction(0))


def panel(votes: VotesLike, members: Sequence[str], silence: Silence = "counts") -> Panel:
    """Make a panel of some models. The most accurate is the primary; equal accuracies are in name order.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    members : sequence of str
        The models; each once.
    silence : {"counts", "ignored"}
        What null votes do: a category that can win, or nothing (see `Tally.silence`).

    Returns
    -------
    Panel
        The models on the questions that all of them answered; `.at(weights)` gives the exact lift at some weights.

    Raises
    ------
    InputError
        If a model is unknown or named twice, or the models share no question.

    Examples
    --------
    >>> import swaplaw as sl
    >>> three = sl.panel(sl.demo_votes(), ["gpt-4", "mistral-large", "claude-3-opus-20240229"])
    >>> three.primary
    'gpt-4'
    >>> three.at([1, "1/2", "1/2"]).accuracy
    Fraction(41, 50)
    """
    tally = inputs.tally(votes, silence=silence)
    indices = [tally.index(member) for member in members]
    doubles = sorted({name for name in members if members.count(name) > 1})
    if doubles:
        raise InputError(f"{listing(doubles)} is in the panel more than once: name each member once")
    if not 2 <= len(indices) <= LARGEST_PANEL:
        raise InputError(f"a panel of {len(indices)}: name 2 to {LARGEST_PANEL} members")
    return oriented(tally, indices)


def oriented(tally: Tally, indices: Sequence[int]) -> Panel:
    """Order members by accuracy on their common questions, the primary first, equal accuracies by name."""
    unordered = Panel(tally, tuple(indices))
    if not unordered.n:
        raise InputError(
            f"{listing(unordered.members)} have no question in common (of {unordered.of}); "
            "a panel needs questions that all its members answered"
        )
    ranked = sorted(zip(unordered.accuracies, indices, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return Panel(tally, tuple(index for _, index in ranked))
