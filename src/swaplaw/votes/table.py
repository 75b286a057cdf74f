"""The vote table: the one currency of swaplaw.

A long table, one row a vote, with the columns `question`, `model`, `answer` (null = abstention) and `gold`,
and optionally `dataset`, `sample`, `cluster`, `reason`, `correct`, `options`, `cost` and `tokens`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw._files import writing
from swaplaw.errors import Fix, InputError, listing, quote
from swaplaw.votes import engines
from swaplaw.votes.contract import Violations, blanks_to_null, conform, is_blank, require_columns, rows_of, typed
from swaplaw.votes.counts import OPTIONS, Codes, graded_both_ways
from swaplaw.votes.files import Source, reading
from swaplaw.votes.provenance import COUNTS, PROVENANCE, agreed

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.tally import Tally


def votes_of(frame: Any) -> Votes:
    """Take votes from a dataframe in the layout of the vote table; the engine that holds them counts them."""
    return Votes((source_from(frame),))


def source_from(frame: Any) -> Source:
    """Name a dataframe as the source of votes; nothing is counted yet."""
    name = f"the given {type(frame).__module__.split('.')[0]} {type(frame).__name__}"
    engines.narwhal(frame, name)
    return Source(name, lambda: frame)


@dataclass(frozen=True, repr=False)
class Votes:
    """A vote table that satisfies the contract. Rows stay where they are stored; only counts are held."""

    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()
    """What a user should know about how the votes were read: retried logs, missing samples."""
    merge_right: bool = False
    """Whether tallies take all right answers of a question for one category, the paper's reading of free text."""

    def __repr__(self) -> str:
        return f"Votes({int(self.counts['votes'].sum()):,} votes of {', '.join(map(repr, self.datasets))})"

    def __post_init__(self) -> None:
        # Counting checks the contract: no Votes exist that break it.
        notes = (*self.notes, *graded_both_ways(self.counts))
        object.__setattr__(self, "notes", tuple(dict.fromkeys(notes)))

    def noting(self, notes: Iterable[str]) -> Votes:
        """The same votes with more notes; they are not counted again."""
        noted = copy(self)
        object.__setattr__(noted, "notes", (*self.notes, *notes))
        return noted

    def merging_right(self) -> Votes:
        """The same votes, all right answers of a question one category; they are not counted again."""
        merged = copy(self)
        object.__setattr__(merged, "merge_right", True)
        return merged

    @property
    def frame(self) -> pl.LazyFrame:
        """Every vote with all columns, as a lazy frame; votes held by another engine are converted."""
        import polars as pl

        return pl.concat(_graded_alike([conform(source) for source in self.sources]), how="diagonal_relaxed")

    @property
    def counts(self) -> pl.DataFrame:
        """How many votes each answer got: one row per dataset, question, model and answer."""
        return self.codes.counts

    @cached_property
    def codes(self) -> Codes:
        """The same counts, whose texts it numbers."""
        elsewhere = [source for source in self.sources if not engines.is_polars(source.scan())]
        codes, samples = self._count_elsewhere(*elsewhere) if elsewhere else self._count_rows()
        if codes.counts.select(is_blank().any()).item():
            # Two counts become one where one answer was blank and the other null.
            codes = Codes(add_up(blanks_to_null(codes.counts.lazy())).collect())
        Violations(self.sources, codes, samples).check()
        spread = _labels_spread(codes.counts)
        return codes if spread is codes.counts else Codes(spread)

    def _count_rows(self) -> tuple[Codes, pl.DataFrame | None]:
        """Count files and Polars frames, all as one, streamed; counts that are among them are added."""
        import polars as pl

        frames = _graded_alike([rows_of(source) for source in self.sources])
        rows = [frame for source, frame in zip(self.sources, frames, strict=True) if not source.counted]
        kept = [
            self._counts_kept(source, frame)
            for source, frame in zip(self.sources, frames, strict=True)
            if source.counted
        ]
        if not rows:
            return Codes(_joined(kept)), None
        votes = pl.concat(rows, how="diagonal_relaxed")
        counts = self._collect(engines.count_polars(votes))
        codes, suspects = Codes(counts.drop(engines.MARK, strict=False)), None
        if engines.MARK in counts.columns:
            suspects = engines.unproven(codes, counts[engines.MARK])
        proven = suspects is None or suspects.is_empty()
        samples = None if proven else self._collect(engines.numbers_polars(votes, suspects))  # type: ignore[arg-type]
        return Codes(_joined([codes.counts, *kept])) if kept else codes, samples

    def _counts_kept(self, source: Source, frame: pl.LazyFrame) -> pl.DataFrame:
        """The counts that a file holds."""
        import polars as pl

        with reading(source):
            keys = [key for key in (*engines.KEYS, OPTIONS) if key in frame.collect_schema().names()]
            counts = self._collect(frame.select(*keys, pl.col("votes").cast(pl.Int64)))
        votes = counts["votes"]
        if counts.is_empty() or votes.null_count() or votes.min() < 1 or float(votes.mean()) * len(votes) > 2**53:  # type: ignore[arg-type, operator]
            name = quote(source.name, 200)
            raise InputError(f"{name}: these are no counts (they must be 1 or more); count the votes again")
        return counts

    def _count_elsewhere(self, source: Source) -> tuple[Codes, pl.DataFrame | None]:
        """Count a frame in the engine that holds it; types are seen to on the counts."""
        frame = source.scan()
        names = engines.columns(frame, source.name)
        require_columns(source, names)
        marked = engines.count_foreign(frame, source.name)
        codes = Codes(typed(source, marked.drop(engines.MARK, strict=False).lazy()).collect())
        proven = engines.MARK in marked.columns and engines.unproven(codes, marked[engines.MARK]).is_empty()
        numbered = "sample" in names and not proven
        return codes, engines.numbers_foreign(frame, source.name) if numbered else None

    def _collect(self, query: pl.LazyFrame) -> pl.DataFrame:
        import polars as pl

        try:
            with reading(self.sources[0]):
                return query.collect(engine="streaming")
        except InputError:
            # Only now is it worth reading the files one by one to find the broken one.
            for source in self.sources[1:]:
                with reading(source):
                    conform(source).select(pl.len()).collect()
            raise

    @property
    def datasets(self) -> list[str]:
        """The names of the datasets, sorted."""
        return sorted(self.counts["dataset"].unique())

    @cached_property
    def origin(self) -> Mapping[str, Any]:
        """How these votes were made (reader, temperature, truncated), where that is the same for all of them.

        A column `temperature` with a single value counts, too.
        """
        known = agreed(source.origin() for source in self.sources)
        temperatures = self._temperatures()
        if temperatures:
            known.pop("temperature", None)
        return known | ({"temperature": temperatures[0]} if len(temperatures) == 1 else {})

    def _temperatures(self) -> list[float]:
        import polars as pl

        frame = self.frame
        if "temperature" not in frame.collect_schema().names():
            return []
        return self._collect(frame.select(pl.col("temperature").cast(pl.Float64, strict=False).unique()))[
            "temperature"
        ].to_list()

    def tally(self, dataset: str | None = None) -> Tally:
        """Count one dataset's votes per model, question and category, on the questions that have a label."""
        from swaplaw.votes.counts import tally_counts

        chosen, counts = self.counts_of(dataset)
        labelled = counts.filter(counts["gold"].is_not_null())
        if labelled.is_empty():
            number = counts["question"].n_unique()
            which = "the only question" if number == 1 else f"none of the {number:,} questions"
            raise InputError(
                f"{which} of dataset {quote(chosen)} has {'no' if number == 1 else 'a'} label "
                "(column 'gold'): accuracy and lift need some; `labels` says which questions to label first"
            )
        if labelled.height == self.counts.height:
            return tally_counts(chosen, self.counts, codes=self.codes, merge_right=self.merge_right)
        unlabelled = counts["question"].n_unique() - labelled["question"].n_unique()
        return tally_counts(chosen, labelled, unlabelled, merge_right=self.merge_right)

    def counts_of(self, dataset: str | None = None) -> tuple[str, pl.DataFrame]:
        """Find one dataset's name and its counts, questions without a label included."""
        names = self.datasets
        if dataset is None and len(names) > 1:
            raise InputError(
                f"these votes hold {len(names)} datasets ({listing(names)})",
                Fix("dataset", "NAME", "name the one to analyse"),
            )
        chosen = names[0] if dataset is None else dataset
        if chosen not in names:
            raise InputError(f"there is no dataset {quote(chosen)} in these votes; there are {listing(names)}")
        return chosen, self.counts.filter(self.counts["dataset"] == chosen)

    def write_counts(self, path: str | Path, metadata: Mapping[str, Any] | None = None) -> None:
        """Write how many votes each answer got, instead of the votes: a small Parquet file that every command reads.

        Parameters
        ----------
        path : str or Path
            The file to write, `.parquet`. The same votes give the same bytes, whichever engine counted them.
        metadata : mapping, optional
            Their provenance; by default what is known of how they were made.

        Examples
        --------
        >>> import tempfile
        >>> import swaplaw as sl
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sl.demo_votes().write_counts(f"{folder}/counts.parquet")
        ...     sl.tally(f"{folder}/counts.parquet")
        Tally('renze-temperature': 9 models, 100 questions, 21,600 votes)
        """
        if Path(path).suffix != ".parquet":
            raise InputError(f"{quote(str(path), 200)}: counts are kept as Parquet; name the file .parquet")
        known = dict(self.origin if metadata is None else metadata) | {COUNTS: True}
        ordered = self.counts.select(sorted(self.counts.columns)).sort(
            [key for key in engines.KEYS if key in self.counts.columns], nulls_last=True
        )
        with writing(path) as draft:
            ordered.write_parquet(draft, metadata={PROVENANCE: json.dumps(known, sort_keys=True)})

    def write(self, path: str | Path, metadata: Mapping[str, str] | None = None) -> None:
        """Write the votes in the format that the file's suffix names; Parquet, the native form, keeps `metadata`."""
        file = Path(path)
        writers = {".parquet": "sink_parquet", ".csv": "sink_csv", ".jsonl": "sink_ndjson"}
        if file.suffix not in writers:
            raise InputError(f"{quote(str(path), 200)}: cannot write {quote(file.suffix)}; use {', '.join(writers)}")
        extra = {"metadata": dict(metadata)} if metadata and file.suffix == ".parquet" else {}
        # A file that is being read, or was there before, is replaced only by a whole one.
        with writing(file) as draft:
            getattr(self.frame, writers[file.suffix])(draft, **extra)


def _joined(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Counts of several sources as one; no two may have votes of the same model on the same question."""
    import polars as pl

    if len(parts) > 1:
        ballots = pl.concat([part.select(engines.BALLOT).unique() for part in parts])
        twice = ballots.filter(ballots.is_duplicated()).sort(engines.BALLOT)
        if not twice.is_empty():
            _, question, model = twice.row(0)
            raise InputError(
                f"two sources hold votes of model {quote(model)} on question {quote(question)}, one of them as counts, "
                "which cannot tell whether these are the same votes: count the votes themselves together "
                "(`swaplaw import A B --counts -o counts.parquet`)"
            )
    return pl.concat(parts, how="diagonal_relaxed")


def _labels_spread(counts: pl.DataFrame) -> pl.DataFrame:
    """A label that some votes of a question carry is the label of all of them."""
    import polars as pl

    if not counts["gold"].null_count():
        return counts
    spread = counts.lazy().with_columns(pl.col("gold").max().over("dataset", "question"))
    return add_up(spread, maintain_order=True).select(counts.columns).collect()


def add_up(counts: pl.LazyFrame, *, maintain_order: bool = False) -> pl.LazyFrame:
    """Make one count of those that agree in all that votes are counted by."""
    import polars as pl

    names = counts.collect_schema().names()
    keys = [name for name in names if name not in ("votes", OPTIONS)]
    largest = [pl.col(OPTIONS).max()] if OPTIONS in names else []
    return counts.group_by(keys, maintain_order=maintain_order).agg(pl.col("votes").sum(), *largest)


def _graded_alike(frames: list[pl.LazyFrame]) -> list[pl.LazyFrame]:
    """Where some tables have grades, let the answers of the others speak for themselves."""
    import polars as pl

    graded = ["correct" in frame.collect_schema().names() for frame in frames]
    if not any(graded):
        return frames
    literal = (pl.col("answer") == pl.col("gold")).alias("correct")
    return [frame if grade else frame.with_columns(literal) for frame, grade in zip(frames, graded, strict=True)]
