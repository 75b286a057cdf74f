"""Writing tallies: votes counted where they are, part by part, and merged into one folder.

Each source is counted by the engine that holds it, in one pass, and written by that engine's own executors: Polars
streams files, DuckDB copies a query, Spark and Dask write partitions (and do a killed executor's share again). These
parts are then merged, some models at a time. Numbers follow the order of names, and rows are sorted, so the bytes
depend on the votes alone: not on who counted them, in how many parts, or in which order tallies were merged. A run that
was stopped finds the parts that are whole, and goes on from there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw._core.parallel import Progress
from swaplaw.errors import InputError, listing, quote
from swaplaw.votes import engines
from swaplaw.votes.files import Source
from swaplaw.votes.inputs import VotesLike, vote_table
from swaplaw.votes.options import OPTIONS
from swaplaw.votes.table import Votes, require_counts, source_from
from swaplaw.votes.tally import Tally
from swaplaw.votes.tally_folder import MANIFEST, SCHEMA, VERSION, TallyFolder, digest_of
from swaplaw.votes.tally_numbers import BALLOT, JoinedNumbers, open_ballots
from swaplaw.votes.tally_parts import Part, part_of

if TYPE_CHECKING:
    import polars as pl

PARTS, DONE = ".parts", ".parts-done"
"""Where parts are kept until they are merged; one rename tells those that are still needed from those that are not."""
DRAFT = f".{MANIFEST}.part"
LARGEST = 2**22
"""Rows of counts that are merged at once, and sample numbers that are put together at once."""
WRITING: dict[str, Any] = {"compression": "zstd", "statistics": True, "row_group_size": 2**20}
"""How Parquet is written, always: the same counts are the same bytes."""


def write_tally(votes: VotesLike | Iterable[Source], path: str | Path, *, progress: Progress = iter) -> TallyFolder:
    """Count votes where they are, and write the counts as a tally that can be merged with others.

    Parameters
    ----------
    votes : Votes, dataframe, path, paths or sources
        What to count. Sources may be files, dataframes of any engine, and tallies on disk, which are merged.
    path : str or Path
        The folder to write. A run that was stopped continues if it is given the same sources.
    progress : callable
        Wraps the sources as they are counted.

    Returns
    -------
    TallyFolder
        The tally; its path can be given wherever votes can.

    Raises
    ------
    InputError
        If the folder holds something else, votes break the contract, or tallies count the same votes twice.

    Examples
    --------
    >>> import tempfile
    >>> import swaplaw as sl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = sl.votes.write_tally(sl.demo_votes(), f"{folder}/tally")
    ...     again = sl.tally(f"{folder}/tally")
    >>> again
    Tally('renze-temperature': 9 models, 100 questions, 21,600 votes)
    """
    sources = _sources(votes)
    target = Path(path)
    _make_room(target)
    parts = target / PARTS
    parts.mkdir(parents=True, exist_ok=True)
    counted = [part_of(source, parts, number) for number, source in enumerate(progress(sources))]
    manifest = _Merge(counted, target).write()
    parts.replace(target / DONE)
    shutil.rmtree(target / DONE)
    return TallyFolder(target, manifest)


def _sources(votes: Any) -> tuple[Source, ...]:
    """The sources of votes in any form; a dataframe's engine counts it once, so it is not looked at before."""
    if isinstance(votes, Votes | Tally | str | Path | dict):
        return vote_table(votes).sources
    if hasattr(type(votes), "columns") or not isinstance(votes, Iterable):
        return (source_from(votes),)
    given = tuple(votes)
    return given if given and all(isinstance(each, Source) for each in given) else vote_table(list(given)).sources


def _make_room(target: Path) -> None:
    """Clear what a run that was stopped had merged; refuse a folder that holds anything else."""
    shutil.rmtree(target / DONE, ignore_errors=True)
    if not target.exists():
        return
    # Parts that are not merged yet show that everything here was begun by such a run.
    own = target.is_dir() and (target / PARTS).is_dir() and not (target / PARTS).is_symlink()
    held = sorted(each.name for each in target.iterdir()) if target.is_dir() else [target.name]
    merged = [name for name in held if own and (name.isdecimal() or name in (MANIFEST, DRAFT))]
    if set(held) - set(merged) - ({PARTS} if own else set()):
        raise InputError(f"{quote(str(target), 200)}: there is something already; name a folder that is not there yet")
    for name in merged:
        shutil.rmtree(target / name) if (target / name).is_dir() else (target / name).unlink()


class _Merge:
    """Merges parts into one tally, dataset by dataset and some models at a time."""

    def __init__(self, parts: Sequence[Part], target: Path) -> None:
        import polars as pl

        self.parts, self.target = parts, target
        frames = [part.counts() for part in parts]
        graded = any("correct" in frame.collect_schema().names() for frame in frames)
        self.rows = pl.concat([_graded(frame) if graded else frame for frame in frames], how="diagonal_relaxed")
        self.columns = self.rows.collect_schema().names()
        self.sums = [name for name in ("votes", engines.MARK) if name in self.columns]
        self.kept = [name for name in ("reason", "correct") if name in self.columns]

    def write(self) -> dict[str, Any]:
        """Write everything; the manifest last, so that what is not whole is not a tally."""
        names = self._collect(self.rows.select("dataset").unique())["dataset"].sort()
        if not len(names):
            self._complain()
        datasets = [self._dataset(number, name) for number, name in enumerate(names)]
        manifest = {"schema": SCHEMA, "version": VERSION, "columns": [*self.kept, *self.sums], "datasets": datasets}
        draft = self.target / f".{MANIFEST}.part"
        draft.write_text(json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
        draft.replace(self.target / MANIFEST)
        return manifest

    def _dataset(self, number: int, name: str) -> dict[str, Any]:
        import polars as pl

        rows = self.rows.filter(pl.col("dataset") == name)
        folder = self.target / str(number)
        questions = self._questions(rows)
        answers = self._collect(rows.select("answer").unique().drop_nulls()).sort("answer")
        digests = [_written(questions, folder / "questions.parquet"), _written(answers, folder / "answers.parquet")]
        per_model = self._collect(rows.group_by("model").agg(pl.len().alias("rows"), pl.col("votes").sum()))
        models = per_model.sort("model")
        kept: list[str] = []
        for first, end in _runs(models["rows"].to_list(), LARGEST):
            chosen = models["model"][first:end].to_list()
            counts = self._counts(rows, chosen)
            for place, own in enumerate(counts, first):
                coded = self._coded(own, place, questions, answers)
                digests.append(_written(coded, folder / "models" / f"{place}.parquet"))
            for place, runs in enumerate(self._numbers(name, chosen, pl.concat(counts)), first):
                file = folder / "numbers" / f"{place}.parquet"
                kept.append("" if runs.is_empty() else _written(_coded_runs(runs, place, questions), file))
        return {
            "dataset": name,
            "models": models["model"].to_list(),
            "questions": len(questions),
            "votes": int(models["votes"].sum()),
            "digests": digests,
            "numbers": kept,
        }

    def _counts(self, rows: pl.LazyFrame, models: Sequence[str]) -> list[pl.DataFrame]:
        """The counts of each model in all parts."""
        import polars as pl

        counted = rows.select("model", "question", "answer", *self.kept, *self.sums, "part")
        by_name = _by_model(self._collect(counted.filter(pl.col("model").is_in(models))))
        counts = [by_name[model] for model in models]
        for own in counts:
            self._check(own)
        return counts

    def _numbers(self, dataset: str, models: Sequence[str], counts: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The sample numbers to keep of each model, put together for some models at a time."""
        import polars as pl

        none = pl.DataFrame()
        if engines.MARK not in self.sums:
            yield from (none for _ in models)
            return
        ballots = open_ballots(counts).sort(BALLOT)
        sizes = dict(ballots.group_by("model").agg(pl.col("votes").sum()).iter_rows())
        for first, end in _runs([sizes.get(model, 0) for model in models], LARGEST):
            some = ballots.filter(pl.col("model").is_in(models[first:end])).with_row_index("ballot")
            joined = JoinedNumbers(dataset, some, self.parts, partial(self._complain, unless_fine=True))
            runs = {} if some.is_empty() else _by_model(joined.runs(counts))
            yield from (runs.get(model, none) for model in models[first:end])

    def _questions(self, rows: pl.LazyFrame) -> pl.DataFrame:
        """Gold and cluster of every question, each of which must be one, and the largest number of options stated."""
        import polars as pl

        named = [column for column in ("gold", "cluster") if column in self.columns]
        ends = [end for column in named for end in (pl.col(column).min(), pl.col(column).max().alias(f"{column}_max"))]
        lacking = [pl.col("model").null_count().alias("nameless")]
        lacking += [pl.col("cluster").null_count().alias("apart")] if "cluster" in named else []
        told = [OPTIONS] if OPTIONS in self.columns else []
        found = self._collect(rows.group_by("question").agg(*ends, *lacking, pl.col(told).max())).sort("question")
        wrong = found["nameless"].sum() > 0 or found["question"].null_count() > 0
        for column in named:
            wrong |= bool((found[column] != found[f"{column}_max"]).any())
        if "cluster" in named and not found["cluster"].is_null().all():
            wrong |= int(found["apart"].sum()) > 0
        if wrong:
            self._complain()
        return found.select("question", *named, *(name for name in told if found[name].count()))

    def _coded(self, counts: pl.DataFrame, model: int, questions: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
        """One model's counts in numbers, sorted."""
        import polars as pl

        if "correct" in self.kept:
            answered, labelled = pl.col("answer").is_not_null(), questions.filter(pl.col("gold").is_not_null())
            ungraded = answered & pl.col("correct").is_null() & pl.col("question").is_in(labelled["question"].implode())
            if not counts.filter((~answered & pl.col("correct")) | ungraded).is_empty():
                self._complain()
        keys = ["question", "answer", *self.kept]
        merged = counts.group_by(keys).agg(pl.col(self.sums).sum())
        answer = pl.col("answer").replace_strict(
            answers["answer"], pl.int_range(len(answers), eager=True), default=None
        )
        coded = merged.with_columns(_place(questions), answer.cast(pl.UInt32)).sort(keys, nulls_last=True)
        return coded.select(pl.lit(model, dtype=pl.UInt32).alias("model"), *keys, *self.sums)

    def _check(self, counts: pl.DataFrame) -> None:
        """Refuse counts of a model that nobody can have counted, and those that two tallies have alike."""
        import polars as pl

        for part in self.parts:
            if part.source.counted:
                require_counts(counts.filter(pl.col("part") == part.number)["votes"], part.source)
        self._refuse_copies(counts)

    def _refuse_copies(self, counts: pl.DataFrame) -> None:
        """Two tallies with the very same counts of a model count the same votes twice."""
        import polars as pl

        if counts["part"].n_unique() < 2:
            return
        row = pl.struct("question", "answer", *self.kept, *self.sums).hash().sum()
        found = counts.group_by("part").agg(pl.col("model").first(), row.alias("rows"), pl.len()).sort("part")
        seen: dict[tuple[int, int], str] = {}
        for part, model, *same in found.iter_rows():
            source = self.parts[part].source
            before = seen.setdefault((same[0], same[1]), source.name) if source.counted else source.name
            if before != source.name:
                raise InputError(
                    f"{quote(source.name, 200)}: counts the same votes of model {quote(model)} as "
                    f"{quote(before, 200)}; merge tallies of different votes, each once"
                )

    def _complain(self, unless_fine: bool = False) -> None:
        """Say what breaks the contract, and where: the sources themselves are searched."""
        votes = [part.source for part in self.parts if not part.source.counted]
        foreign = [source for source in votes if not engines.is_polars(source.scan())]
        for source in foreign:
            Votes((source,))
        if rest := tuple(source for source in votes if source not in foreign):
            Votes(rest)
        if not unless_fine:
            names = listing([part.source.name for part in self.parts])
            raise InputError(
                f"{names}: a question has more than one gold answer or cluster, a vote has no question or model, or "
                "there are no votes at all; give each question of a dataset one gold and one cluster"
            )

    def _collect(self, query: pl.LazyFrame) -> pl.DataFrame:
        return query.collect(engine="streaming")


def _graded(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Where other parts have grades, let the answers of a part without speak for themselves."""
    import polars as pl

    if "correct" in frame.collect_schema().names():
        return frame
    return frame.with_columns((pl.col("answer") == pl.col("gold")).alias("correct"))


def _written(table: pl.DataFrame, file: Path) -> str:
    """Write a table, and tell its digest."""
    file.parent.mkdir(parents=True, exist_ok=True)
    table.write_parquet(file, **WRITING)
    return digest_of(file)


def _by_model(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {str(key[0]): part for key, part in rows.partition_by("model", as_dict=True).items()}


def _coded_runs(runs: pl.DataFrame, model: int, questions: pl.DataFrame) -> pl.DataFrame:
    """One model's runs of sample numbers, with questions and the model in numbers, too."""
    import polars as pl

    return runs.select(pl.lit(model, dtype=pl.UInt32).alias("model"), _place(questions), "first", "last")


def _place(questions: pl.DataFrame) -> pl.Expr:
    """A question's name as its number."""
    import polars as pl

    question = pl.col("question").replace_strict(questions["question"], pl.int_range(len(questions), eager=True))
    return question.cast(pl.UInt32)


def _runs(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Cut a list of sizes into runs that add up to about `most`, each of one item at least."""
    found, first, total = [], 0, 0
    for place, size in enumerate(sizes):
        if place > first and total + size > most:
            found.append((first, place))
            first, total = place, 0
        total += size
    return [*found, (first, len(sizes))] if sizes else []
