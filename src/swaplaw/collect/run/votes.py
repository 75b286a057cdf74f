"""Logs to votes: the importer's votes in a fixed order, with how they were collected."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.importers.reading import import_votes
from swaplaw.importers.record import Options
from swaplaw.votes.provenance import PROVENANCE
from swaplaw.votes.table import votes_of

if TYPE_CHECKING:
    import polars as pl

LEFT_OUT = ("option", "run")
"""Text of the questions, which never leaves the logs, and names that differ between runs of the same thing."""
CAUSES = ("truncated", "no_parse", "refused", "error", "limit")


@dataclass(frozen=True)
class ModelVotes:
    """One model's votes, in the form of the paper's Table abstentions, and what they cost."""

    model: str
    votes: int
    parsed: int
    reasons: dict[str, int]
    tokens: int
    cost: float | None

    def to_dict(self) -> dict[str, Any]:
        """Make it plain data; shares are fractions of one."""
        shares = {reason: number / self.votes for reason, number in self.reasons.items()}
        return dict(vars(self)) | {"parsed": self.parsed / self.votes, "reasons": shares}


@dataclass(frozen=True)
class Written:
    """The votes that were written, by model, and what is to be said about them."""

    models: list[ModelVotes]
    notes: tuple[str, ...]


def write_votes(logs: Path, output: Path, options: Options, facts: dict[str, Any]) -> Written:
    """Write the votes of a collection's logs; the same samples give the same rows in the same order."""
    imported = import_votes([logs], options)
    frame = imported.votes.frame.drop(LEFT_OUT, strict=False).sort("model", "question", "sample").collect()
    provenance = imported.provenance | {"collected": facts}
    votes_of(frame).write(output, metadata={PROVENANCE: json.dumps(provenance, sort_keys=True)})
    return Written([_tell(part) for part in frame.partition_by("model", maintain_order=True)], imported.notes)


def _tell(votes: pl.DataFrame) -> ModelVotes:
    counts = votes["reason"].drop_nulls().value_counts().rows()
    reasons = dict.fromkeys(CAUSES, 0) | dict(counts)
    return ModelVotes(
        votes["model"][0],
        len(votes),
        votes["answer"].count(),
        reasons,
        int(votes["tokens"].sum() or 0),
        None if votes["cost"].null_count() == len(votes) else float(votes["cost"].sum()),
    )
