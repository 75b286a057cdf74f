"""The best weights of a panel as another mixed-integer program, written from the definition and from votes alone.

Nothing of swaplaw is used: ballots are counted here, margins are exact fractions before they become floats, and each
question has one switch, "gold beats every rival". So the program knows open cones only, no ties, no conflicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_matrix

LEAD = 1e-5
"""The least lead, in shares, that counts as one."""

Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Optimum:
    """Questions that gold wins outright at the best weights, and those weights."""

    wins: int
    weights: list[float]
    finished: bool


def best_wins(rows: pl.DataFrame, members: Sequence[str], time_limit: float = 600.0) -> Optimum:
    """The most questions that some weights of these models win without a tie, as far as HiGHS can tell."""
    questions = [margins for margins in _margins(rows, members) if margins is not None]
    sure = sum(all(part >= 0 for row in margins for part in row) for margins in questions)
    contested = [
        [row for row in margins if min(row) < 0]
        for margins in questions
        if any(part < 0 for row in margins for part in row)
    ]
    return _solved(contested, len(members), sure, time_limit)


def _margins(rows: pl.DataFrame, members: Sequence[str]) -> list[list[Row] | None]:
    """Gold's share less each rival's, by member, for every question; None where no weights let gold win."""
    ballots: dict[str, dict[str, Counter[str | None]]] = {}
    gold: dict[str, str] = {}
    for question, model, answer, right in rows.select("question", "model", "answer", "gold").iter_rows():
        ballots.setdefault(question, {}).setdefault(model, Counter())[answer] += 1
        gold[question] = right
    found: list[list[Row] | None] = []
    for question, own in sorted(ballots.items()):
        if not all(member in own for member in members):
            continue
        votes = [own[member] for member in members]
        rivals = {answer for each in votes for answer in each} - {gold[question]}
        margins = [tuple(Fraction(v[gold[question]] - v[rival], v.total()) for v in votes) for rival in rivals]
        # A rival that no member votes less for than for gold ties or wins everywhere.
        found.append(None if any(max(row) <= 0 for row in margins) else margins)
    return found


def _solved(contested: Sequence[Sequence[Row]], members: int, sure: int, time_limit: float) -> Optimum:
    """Maximise the switches: margin . w >= LEAD - (LEAD - least margin) (1 - switch), w on the simplex."""
    at: list[int] = []
    column: list[int] = []
    value: list[float] = []
    low: list[float] = []
    line = 0
    for switch, margins in enumerate(contested):
        for row in margins:
            reach = LEAD - float(min(row))
            at += [line] * (members + 1)
            column += [*range(members), members + switch]
            value += [*map(float, row), -reach]
            low.append(LEAD - reach)
            line += 1
    many = members + len(contested)
    matrix = coo_matrix((np.array(value), (np.array(at), np.array(column))), shape=(line, many)).tocsr()
    simplex = np.concatenate([np.ones(members), np.zeros(len(contested))])
    switches = 1 - simplex
    found = milp(
        -switches,
        constraints=[LinearConstraint(matrix, low, np.inf), LinearConstraint(simplex[None], 1, 1)],
        integrality=switches,
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0, "time_limit": time_limit},
    )
    assert found.x is not None
    assert found.fun is not None
    return Optimum(sure + round(-float(found.fun)), [float(x) for x in found.x[:members]], found.status == 0)
