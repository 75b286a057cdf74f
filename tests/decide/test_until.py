"""Steering a collection: who is killed inside a wave goes on as if nothing had happened."""

from __future__ import annotations

from typing import Any

import polars as pl

import swaplaw as sl
from swaplaw.decide.until import Steering

PLAN = Steering("a", ("b",), {f"q{n}": None for n in range(24)}, wave=8, samples=3)


def votes(primary: int, secondary: int, cut: int = 0) -> sl.Votes:
    """The first questions asked of each; the last of the secondary lacks this many of its samples."""
    rows: list[dict[str, Any]] = []
    for model, reached in (("a", primary), ("b", secondary)):
        for place, question in enumerate(PLAN.order[:reached]):
            for sample in range(3 - (cut if model == "b" and place == reached - 1 else 0)):
                answer = "G" if model == "b" else "GXY"[sample]
                rows.append({"question": question, "model": model, "sample": sample, "answer": answer, "gold": "G"})
    return sl.votes_from(pl.DataFrame(rows))


def test_a_wave_that_was_cut_off_changes_no_decision() -> None:
    whole = PLAN.decide(votes(8, 8)).to_dict()
    assert whole["secondaries"][0]["questions"] == 8
    for killed in (votes(13, 8), votes(16, 11), votes(16, 16, cut=1)):
        assert PLAN.decide(killed).to_dict() == whole
    assert PLAN.decide(votes(16, 16)).to_dict() != whole


def test_a_wave_that_was_cut_off_is_asked_again_as_a_whole() -> None:
    assert PLAN.next(votes(8, 8)) == PLAN.next(votes(13, 8)) == {"a": PLAN.order[:16]}
    assert (
        PLAN.next(votes(16, 8)) == PLAN.next(votes(16, 11)) == PLAN.next(votes(16, 16, cut=2)) == {"b": PLAN.order[:16]}
    )
