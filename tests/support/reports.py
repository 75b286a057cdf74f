"""Votes that reports are tested on, and reports that are made quickly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from swaplaw import Votes, votes_from
from swaplaw.report import Options, document, page, write_page

QUICK = Options(folds=3, repeats=1, replicates=100, panel_work=2.0, command="swaplaw report votes.csv")
"""Everything a report has, at the least that still says something."""

HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "\"'><img src=x onerror=window.hacked=2>",
    "🦜👩‍🚀 emoji",
    "‏نموذج من اليمين‎",
    "W" * 300,
    "line\u2028ends\u2029 {{DATA}} $& <!-- ",
)
"""Names that try to break out of where they are put."""


def votes_of(
    models: dict[str, Callable[[int, int], str | None]], questions: int = 24, samples: int = 5, **columns: Any
) -> Votes:
    """Votes of models given as functions from question and sample to an answer; gold is "G" everywhere.

    More columns are functions of the question, the model and the sample.
    """
    rows = [
        {
            "dataset": "made up",
            "question": f"q{question:03}",
            "model": model,
            "sample": sample,
            "answer": answer(question, sample),
            "gold": "G",
            **{name: value(question, model, sample) for name, value in columns.items()},
        }
        for model, answer in models.items()
        for question in range(questions)
        for sample in range(samples)
    ]
    return votes_from(pl.DataFrame(rows, infer_schema_length=None))


def sometimes(period: int, shift: int = 0) -> Callable[[int, int], str | None]:
    """Right but for a few samples, and wrong by plurality on every `period`-th question."""
    return lambda question, sample: "G" if (question + shift) % period and sample % 4 else "HI"[(question + sample) % 2]


def hostile_votes() -> Votes:
    """Names, answers, clusters and reasons that are markup, emoji, right to left or long."""
    models = {name: sometimes(3 + place, place) for place, name in enumerate(HOSTILE)}
    plain = votes_of(models)
    names, answer = HOSTILE * 4, pl.col("answer")
    return votes_from(
        plain.frame.collect().with_columns(
            question=pl.col("question").map_elements(lambda q: f"{q} {names[int(q[1:])]}", return_dtype=pl.String),
            cluster=pl.col("question").map_elements(lambda q: HOSTILE[int(q[1:]) % 6], return_dtype=pl.String),
            answer=pl.when(pl.col("answer") == "H")
            .then(pl.lit(HOSTILE[0]))
            .when(pl.col("answer") != "I")
            .then("answer"),
            reason=pl.when(answer == "I").then(pl.lit(HOSTILE[1])),
        )
    )


def report_of(votes: Votes, file: Path, options: Options = QUICK) -> dict[str, Any]:
    """Write a report and return what is in it."""
    found = document(votes, None, options)
    write_page(page(found), file)
    return found
