"""The best weights of a panel as a mixed-integer program: a bound from a floating-point solver for six members or more.

Weights w lie on the simplex. For every question that they decide there are two switches: *holds* (no rival beats gold)
and *leads* (gold beats every rival by at least `TOLERANCE`). With n_r the margins of rival r, the largest of them 1,

    n_r . w >= min(n_r) (1 - holds),        n_r . w >= TOLERANCE - (TOLERANCE - min(n_r)) (1 - leads),

which is as tight as one row per rival can be. A question scores its credit where gold leads, and where it only holds at
most what a tie with one rival more leaves of it. So the program covers every weight, ties and weights of 0 included.

Two questions are in *conflict* where some rival of one and some rival of the other have margins that nowhere add up to
more than 0: gold cannot lead on both. These rows do most of the work: without them the solver may take a hundred times
longer.

What the solver says is true up to its floating-point tolerances. What it finds is scored in whole numbers (see
`certificates`), so accuracies are never overstated: only the bound is the solver's word.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from swaplaw._arrays import Bools, Floats, Ints
from swaplaw.panels.arrangement import Arrangement
from swaplaw.votes.tally import Tally, tie_credit

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

TOLERANCE = 1e-5
"""A lead smaller than this share of the votes is not a lead to the solver: cones thinner than that are not seen."""
NODE, FEWEST_NODES = 3, 50
"""What a node costs for every two planes, in planes looked at by branch and bound; how few are not worth it."""
MOST_CONFLICTS = 3_000
"""With more planes than this, conflicts are not looked for: they are compared in pairs."""


@dataclass(frozen=True)
class Solved:
    """What the solver says of a program. Scores are in units of the arrangement."""

    weights: Floats | None
    """Weights of a score above the floor, if any were found."""
    bound: float
    """No weights score more, as far as floating-point arithmetic can tell."""
    finished: bool
    """Whether nothing above the floor is left to be found."""


@dataclass(frozen=True)
class Program:
    """Rows of the program: margins of rivals, and whose question each belongs to."""

    margins: Floats
    """Rivals x members, each row scaled to a largest margin of 1."""
    question: Ints
    credit: Floats
    """What each question scores where gold leads, in units."""
    tied: Floats
    """What it scores at most where gold only ties."""
    sure: float
    """What all other questions score."""
    least: float
    """By how much scores differ at least, in units."""

    @property
    def questions(self) -> int:
        """How many questions the weights decide."""
        return len(self.credit)

    def conflicts(self) -> Ints:
        """Pairs of questions of which gold can't lead on both, one row each."""
        if len(self.margins) > MOST_CONFLICTS:
            return np.empty((0, 2), dtype=np.intp)
        opposed = [(self.margins + row <= 0).all(axis=1) for row in self.margins]
        one, other = np.nonzero(np.array(opposed).reshape(len(opposed), -1))
        pairs = np.column_stack([self.question[one], self.question[other]])
        return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


def affordable_nodes(planes: int, work: float) -> int:
    """How many nodes the solver may look at for some work (in planes looked at); 0 where these would prove little."""
    nodes = int(work / (NODE * max(1, planes) ** 2))
    return nodes if nodes >= FEWEST_NODES else 0


def program(those: Arrangement, tally: Tally, members: Sequence[int]) -> Program:
    """Write a panel's arrangement as a program; `tally` holds just the questions that all of the members answered."""
    extra, question, copies = _only_tied(tally, members)
    credit = those.credit.astype(np.float64)
    tied = tie_credit(those.copies.astype(np.float64) * those.unit, those.ties + 1)
    halves = copies * tie_credit(float(those.unit), 2)
    margins = np.concatenate([_scaled(those.normals.astype(np.float64)), _scaled(extra)])
    largest = int(those.ties.max(initial=1)) + 1
    return Program(
        margins,
        np.concatenate([those.question, len(credit) + question]),
        np.concatenate([credit, halves]),
        np.concatenate([tied, halves]),
        float(those.sure),
        1 / float(np.lcm.reduce(np.arange(2, largest + 1))),
    )


def _scaled(rows: Floats) -> Floats:
    found: Floats = rows / np.abs(rows).max(axis=1, keepdims=True, initial=1e-300)
    return found


def _only_tied(tally: Tally, members: Sequence[int]) -> tuple[Floats, Ints, Floats]:
    """Questions that gold loses at all positive weights, but may tie where some members weigh nothing.

    Returns the margins of their rivals, the question of each, and how many of the tally's questions each stands for.
    """
    rivals, owners = tally.rivals, tally.rivals.rows.owner
    counts = np.stack([tally.margins(member) for member in members], axis=1)
    likes, dislikes = (counts > 0).any(axis=1), (counts < 0).any(axis=1)
    never: Bools = (tally.gold[list(members)].max(axis=0) == 0)[rivals.order]
    never[owners[(counts < 0).all(axis=1)]] = True
    lost = np.zeros(len(never), dtype=bool)
    lost[owners[dislikes & ~likes]] = True
    rows = np.flatnonzero((lost & ~never)[owners] & dislikes)
    votes = np.stack([tally.votes[member][rivals.question[rows]] for member in members], axis=1)
    names, question = np.unique(owners[rows], return_inverse=True)
    copies = np.ones(len(never)) if tally.rights is None else tally.rights.copies[rivals.order].astype(np.float64)
    return counts[rows] / votes, question, copies[names]


def solve(those: Program, floor: float, *, ties: bool, nodes: int) -> Solved:
    """Look for weights that score more than a floor (in units): open cones only, or ties, too."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    members, questions = those.margins.shape[1], those.questions
    value = np.concatenate([np.zeros(members), those.tied if ties else np.zeros(questions), those.credit - those.tied])
    if not ties:
        value[members + questions :] = those.credit
    rows, low, high = _rows(those, ties)
    options: Any = {"mip_rel_gap": 0.0, "node_limit": nodes}
    step = those.least if ties else 1.0
    with quiet_solver():
        found = milp(
            -value,
            constraints=[
                LinearConstraint(rows, low, high),
                LinearConstraint(value[None], floor - those.sure + step / 2, np.inf),
            ],
            integrality=np.concatenate([np.zeros(members), np.ones(2 * questions)]),
            bounds=Bounds(0, 1),
            options=options,
        )
    if found.status == 2:
        return Solved(None, floor, True)
    bound = those.sure + (float(those.credit.sum()) if found.mip_dual_bound is None else -float(found.mip_dual_bound))
    return Solved(None if found.x is None else found.x[:members], bound, found.status == 0)


def _rows(those: Program, ties: bool) -> tuple[csr_matrix, Floats, Floats]:
    """All constraints but the floor: columns are weights, then a switch `holds` and one `leads` per question."""
    from scipy.sparse import csr_matrix, hstack, identity, vstack

    margins, questions, members = csr_matrix(those.margins), those.questions, those.margins.shape[1]
    lowest, number = those.margins.min(axis=1, initial=0), len(those.margins)
    place = (np.arange(number), those.question)
    none = csr_matrix((number, questions))
    leads = csr_matrix((lowest - TOLERANCE, place), shape=(number, questions))
    holds = csr_matrix((lowest, place), shape=(number, questions))
    blocks = [hstack([margins, none, leads])]
    low, high = [lowest], [np.full(number, np.inf)]
    if ties:
        unit = identity(questions, format="csr")
        blocks += [hstack([margins, holds, none]), hstack([csr_matrix((questions, members)), unit, -unit])]
        low += [lowest, np.zeros(questions)]
        high += [np.full(number + questions, np.inf)]
    pairs = those.conflicts()
    for one, other in ((0, 1), (1, 0)) if ties else ((0, 1),):
        first = members + (0 if ties else questions) + pairs[:, one]
        columns = np.concatenate([first, members + questions + pairs[:, other]])
        at = (np.tile(np.arange(len(pairs)), 2), columns)
        blocks.append(csr_matrix((np.ones(2 * len(pairs)), at), shape=(len(pairs), members + 2 * questions)))
        low.append(np.full(len(pairs), -np.inf))
        high.append(np.ones(len(pairs)))
    simplex = np.concatenate([np.ones(members), np.zeros(2 * questions)])
    blocks.append(csr_matrix(simplex[None]))
    return vstack(blocks, format="csr"), np.concatenate([*low, [1.0]]), np.concatenate([*high, [1.0]])


@contextmanager
def quiet_solver() -> Iterator[None]:
    """Keep the solver's own lines off standard output, where a JSON document may be all that is allowed.

    It writes to the file descriptor, past Python, so the descriptor is pointed elsewhere meanwhile.
    """
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # There is no standard output to keep clean.
        yield
        return
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  A descriptor is wanted, not a path.
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            # What C still holds back must not come out later.
            with suppress(OSError, AttributeError, TypeError):
                ctypes.CDLL(None).fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
