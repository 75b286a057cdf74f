"""One source of votes from the files of a role: shards add up, copies and summaries are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from swaplaw.errors import InputError, listing, quote
from swaplaw.paper.corpus.columns import CANONICAL
from swaplaw.paper.corpus.tables import Table
from swaplaw.paper.corpus.words import plain

if TYPE_CHECKING:
    import polars as pl

CELL = ["question", "model"]
WHAT = {"records": "votes one by one", "counts": "vote counts"}
FACTS = ("gold", "correct", "reason", "finish", "cluster")
"""What records without canonical answers may still tell about votes."""


class Source:
    """Puts the tables of one role together, and notes what came from where."""

    def __init__(self, parts: Sequence[tuple[Table, pl.DataFrame]], samples: int | None) -> None:
        # The fullest first: a summary is known by the votes that it sums up.
        self.parts = sorted(parts, key=lambda part: -fullest(part[1]))
        self.samples = samples
        self.said: list[str] = []

    def frame(self) -> pl.DataFrame | None:
        """All votes, or None where there are no tables."""
        canonical = [part for part in self.parts if is_canonical(part[0])]
        plainer = [part for part in self.parts if not is_canonical(part[0])]
        if not (canonical and plainer):
            return self._together(self.parts)
        found, others = self._together(canonical), self._together(plainer)
        assert found is not None
        assert others is not None
        if cells(found).join(cells(others), on=CELL).is_empty():
            return self._together(self.parts)
        return self._with_facts(found, others)

    def _together(self, parts: Sequence[tuple[Table, pl.DataFrame]]) -> pl.DataFrame | None:
        import polars as pl

        found: pl.DataFrame | None = None
        used: list[Table] = []
        for table, part in parts:
            once = self._once(table, part)
            fresh = once if found is None else self._fresh(found, once, table, [each.name for each in used])
            if fresh is None:
                continue
            found = fresh if found is None else pl.concat([found, fresh], how="diagonal_relaxed")
            used.append(table)
        if used:
            detail = used[0].layout.describe()
            names = listing([table.name for table in used], 4)
            self.said.append(f"{WHAT[used[0].layout.role]} from {names}" + (f" ({detail})" if detail else ""))
        return found

    def _once(self, table: Table, part: pl.DataFrame) -> pl.DataFrame:
        """Rows without their repetitions; a number that all votes of a model and question share is not a sample's."""
        import polars as pl

        if "sample" not in part.columns or "votes" in part.columns:
            return part
        key = [*CELL, "sample"]
        if not part.select(key).is_duplicated().any():
            return part
        if (part.group_by(CELL).agg(pl.col("sample").n_unique())["sample"] == 1).all():
            self.said.append(f"the sample numbers of {table.name} do not tell samples apart: not used")
            return part.drop("sample")
        once = part.unique(maintain_order=True)
        if once.select(key).is_duplicated().any():
            row = once.filter(once.select(key).is_duplicated()).row(0, named=True)
            raise InputError(
                f"{quote(table.name, 200)}: sample {row['sample']} of {quote(row['model'])} on "
                f"{quote(row['question'])} is there more than once, with different contents"
            )
        self.said.append(f"{len(part) - len(once):,} repeated rows of {table.name} left out")
        return once

    def _fresh(self, found: pl.DataFrame, part: pl.DataFrame, table: Table, used: list[str]) -> pl.DataFrame | None:
        """What a further file adds: all of it, or nothing where it is a copy or a summary."""
        import polars as pl

        both = cells(found).join(cells(part), on=CELL, suffix="_new")
        if both.is_empty():
            return part
        if "sample" in found.columns and "sample" in part.columns:
            vote = [*CELL, "sample"]
            known = part.join(found, on=vote, how="semi")
            same = known.join(found, on=[*vote, "answer"], how="semi", nulls_equal=True)
            # Parts of a dataset may each count their samples from nought: then answers differ.
            if len(known) and len(same) == len(known):
                rest = part.join(found, on=vote, how="anti")
                if rest.is_empty():
                    self.said.append(f"{table.name} is a copy of {listing(used)}: left out")
                    return None
                self.said.append(f"{len(known):,} votes of {table.name} are in {listing(used)} as well: left out")
                return rest
        if categories(found.join(both.select(CELL), on=CELL)).equals(categories(part.join(both.select(CELL), on=CELL))):
            rest = part.join(both.select(CELL), on=CELL, how="anti")
            # Two halves of the samples may agree by chance in a few cells, but not in all of a copy.
            if self.samples is None or both["votes"].max() == self.samples or "sample" not in part.columns:
                self.said.append(f"{table.name} is a copy of {listing(used)}: left out")
                return None if rest.is_empty() else rest
        if self.samples is not None and fullest(part) == 1 < self.samples == both["votes"].min():
            self.said.append(f"{table.name} has one row per model and question, not votes: left out")
            return None
        over = both.filter(pl.col("votes") + pl.col("votes_new") > (self.samples or 0)).sort(CELL)
        if self.samples is None or over.is_empty():
            return part
        worst = over.row(0, named=True)
        raise InputError(
            f"{listing([*used, table.name], 4)} hold different votes of the same models and questions: together "
            f"{worst['votes'] + worst['votes_new']} of {quote(worst['model'])} on {quote(worst['question'])}, where "
            f"there should be {self.samples}; leave one source in the folder"
        )

    def _with_facts(self, found: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
        """Canonical answers from one table, and what another one tells about the same votes."""
        key = [*CELL, "sample"]
        facts = [name for name in FACTS if name in others.columns and name not in found.columns]
        if not set(key) <= set(found.columns) & set(others.columns):
            if facts:
                raise InputError(
                    "canonical answers are in a separate table, and it and the votes do not both have a sample "
                    "number to join them on"
                )
            return found
        joined = found.join(others.select(*key, *facts), on=key, how="left")
        unmatched = found.join(others, on=key, how="anti").height
        if unmatched:
            low, high = span(found["sample"]), span(others["sample"])
            raise InputError(
                f"{unmatched:,} canonical answers have no vote that they belong to (samples run from {low}, of the "
                f"votes from {high})"
            )
        self.said.append("canonical answers taken, other answers of the same votes not used")
        return joined


def is_canonical(table: Table) -> bool:
    """Whether the answers of a table say that they are canonical."""
    return plain(table.layout.columns.get("answer", "")) in CANONICAL


def cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Votes per model and question."""
    import polars as pl

    number = pl.col("votes").sum() if "votes" in frame.columns else pl.len().cast(pl.Int64)
    return frame.group_by(CELL).agg(number.alias("votes"))


def fullest(frame: pl.DataFrame) -> int:
    """The most votes of a model on a question."""
    found = cells(frame)
    return 0 if found.is_empty() else int(found["votes"].max())  # type: ignore[arg-type]


def span(values: pl.Series) -> str:
    """The least and largest of some numbers, for people."""
    return f"{values.min()!r} to {values.max()!r}"


def categories(frame: pl.DataFrame) -> pl.DataFrame:
    """Votes per model, question and answer."""
    import polars as pl

    number = pl.col("votes").sum() if "votes" in frame.columns else pl.len().cast(pl.Int64)
    return frame.group_by([*CELL, "answer"]).agg(number.alias("votes")).sort([*CELL, "answer"])
