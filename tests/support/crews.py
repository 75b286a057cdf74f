"""One small fleet, and everything that can be shared out on it, as bytes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np

import swaplaw as sl
from swaplaw.votes.tally import Tally

from support.pages import DOCS, blocks

PAGE = DOCS / "scale.md"


@cache
def fleet() -> Tally:
    """Four real models on forty questions."""
    tally = sl.demo_votes().tally()
    kept = np.arange(len(tally.questions)) < 40
    return tally.select(models=tally.models[:4], questions=kept)


def curve_bytes(curves: Any) -> bytes:
    """All that curves say, exactly."""
    return repr(
        [(one, [(piece.low, piece.high, piece.lift, piece.swap) for piece in one.pieces]) for one in curves],
    ).encode()


def everything(**crew: Any) -> dict[str, bytes]:
    """Pairs, curves, panels, folds, choice and rules, shared out as told."""
    tally = fleet()
    searched = sl.panels.best_panels(tally, 3, top=3, **crew)
    judged = sl.decide.held_out_panel(searched.panels[0].panel, folds=3, repeats=1, **crew)
    dealt: dict[str, Any] = {"folds": 3, "repeats": 2}
    found = {
        "pairs": repr(
            [(pair.primary, pair.masses, outcome) for pair, outcome in sl.law.outcomes(tally, "2/3", **crew)]
        ),
        "panels": json.dumps([searched.to_dict(), [one.to_dict() for one in searched.panels]]),
        "folds": repr(judged),
        "choice": json.dumps(sl.recommend(tally, **dealt, **crew).to_dict()),
        "rules": json.dumps(sl.combine(tally, **dealt, **crew).to_dict()),
    }
    return {
        **{name: text.encode() for name, text in found.items()},
        "curves": curve_bytes(sl.law.curves(tally, **crew)),
    }


def documented(option: str) -> list[str]:
    """The commands with an option on the page about workers."""
    lines = "".join(blocks(PAGE, "sh")).splitlines()
    return [line.split("#")[0].strip() for line in lines if option in line]


@cache
def alone() -> dict[str, bytes]:
    """Everything, by this process."""
    return everything()
