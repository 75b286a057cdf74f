"""Tallies on disk: counted votes as integers, one Parquet file per model, accepted wherever votes are.

    tally/
      tally.json            what is in it: datasets, models, columns, and a digest of every model's counts
      0/questions.parquet   the questions of dataset 0 by name, with gold and cluster: a question's row is its number
      0/answers.parquet     every answer that was given, by name: an answer's row is its number
      0/models/0.parquet    one model's counts: question, answer (null: abstention), votes, sum of marks of samples

Each source is counted by the engine that holds it, in one pass, and written by that engine's own executors: Polars
streams files, DuckDB copies a query, Spark and Dask write partitions (and do a killed executor's share again). These
parts are then merged, some models at a time. Numbers follow the order of names, and rows are sorted, so the bytes
depend on the votes alone: not on who counted them, in how many parts, or in which order tallies were merged. A run that
was stopped finds the parts that are whole, and goes on from there.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw._core.parallel import Progress
from swaplaw.errors import InputError, listing, quote, suggestion
from swaplaw.votes import engines
from swaplaw.votes.codes import Codes
from swaplaw.votes.contract import blanks_to_null, rows_of, typed
from swaplaw.votes.files import Source
from swaplaw.votes.table import Votes

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.tally import Tally

SCHEMA, VERSION = "swaplaw.tally", 2
MANIFEST, PARTS = "tally.json", ".parts"
LARGEST = 2**22
"""Rows of counts that are merged at once."""
WRITING: dict[str, Any] = {"compression": "zstd", "statistics": True, "row_group_size": 2**20}
"""How Parquet is written, always: the same counts are the same bytes."""


@dataclass(frozen=True)
class TallyFolder:
    """A tally on disk."""

    path: Path
    manifest: dict[str, Any] = field(repr=False)

    @property
    def votes(self) -> int:
        """How many votes it counts."""
        return sum(each["votes"] for each in self.manifest["datasets"])

    @property
    def datasets(self) -> list[str]:
        """The names of its datasets."""
        return [each["dataset"] for each in self.manifest["datasets"]]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"path": str(self.path), "votes": self.votes, **self.manifest}

    def models(self, number: int) -> list[Path]:
        """The files of one dataset's models, in the order of names."""
        folder = self.path / str(number) / "models"
        return [folder / f"{model}.parquet" for model in range(len(self.manifest["datasets"][number]["models"]))]

    def scan(self) -> pl.LazyFrame:
        """All counts by name: one row per dataset, question, model and answer."""
        import polars as pl

        every = [self._named(number, self.models(number)) for number in range(len(self.datasets))]
        return pl.concat(every, how="diagonal_relaxed")

    def tally(self, models: Sequence[str], dataset: str | None = None) -> Tally:
        """Count only some models: only their files are read, however many others there are.

        Parameters
        ----------
        models : sequence of str
            Which models.
        dataset : str, optional
            Which dataset, where there are several.

        Returns
        -------
        Tally
            Of these models, on the questions that any of them answered.

        Raises
        ------
        InputError
            If there is no such model or dataset.
        """
        number = self.number(dataset)
        names = self.manifest["datasets"][number]["models"]
        if unknown := [model for model in models if model not in names]:
            raise InputError(f"there is no model {quote(unknown[0])} in this tally; {suggestion(unknown[0], names)}")
        files = [self.models(number)[names.index(model)] for model in sorted(set(models))]
        source = Source(str(self.path), lambda: self._named(number, files), counted=True)
        return Votes((source,)).tally()

    def number(self, dataset: str | None = None) -> int:
        """Find a dataset by name; None stands for the only one."""
        if dataset is None and len(self.datasets) > 1:
            listed = listing(self.datasets)
            raise InputError(f"this tally holds {len(self.datasets)} datasets ({listed}); name the one to analyse")
        if dataset is not None and dataset not in self.datasets:
            raise InputError(f"there is no dataset {quote(dataset)} in this tally; there are {listing(self.datasets)}")
        return 0 if dataset is None else self.datasets.index(dataset)

    def _named(self, number: int, files: Sequence[Path]) -> pl.LazyFrame:
        import polars as pl

        known = self.manifest["datasets"][number]
        folder = self.path / str(number)
        numbers = pl.scan_parquet(list(files))
        models = pl.LazyFrame({"model": known["models"]}, schema={"model": pl.String}).with_row_index("m")
        questions = pl.scan_parquet(folder / "questions.parquet").with_row_index("q")
        answers = pl.scan_parquet(folder / "answers.parquet").with_row_index("a")
        named = numbers.rename({"model": "m", "question": "q", "answer": "a"})
        named = named.join(models, on="m", how="left").join(questions, on="q", how="left")
        named = named.join(answers, on="a", how="left").drop("m", "q", "a")
        return named.with_columns(pl.lit(known["dataset"]).alias("dataset"))


def is_tally(path: str | Path) -> bool:
    """Whether a path is a folder that `write_tally` wrote."""
    return (Path(path) / MANIFEST).is_file()


def read_tally(path: str | Path) -> TallyFolder:
    """Open a tally on disk.

    Parameters
    ----------
    path : str or Path
        The folder.

    Returns
    -------
    TallyFolder
        What is in it; counts are read when they are needed.

    Raises
    ------
    InputError
        If it is not a tally, is unfinished, or was written by another version.
    """
    folder = Path(path)
    name = quote(str(path), 200)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: not a tally ({error}); write one with write_tally") from None
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA or manifest.get("version") != VERSION:
        raise InputError(
            f"{name}: not a tally that this swaplaw reads (version {VERSION}); write it again from its votes"
        )
    found = TallyFolder(folder, manifest)
    missing = [file for number in range(len(found.datasets)) for file in found.models(number) if not file.is_file()]
    if missing:
        raise InputError(f"{name}: {quote(str(missing[0]), 200)} is missing; write the tally again")
    return found


def open_tally(path: str | Path) -> Source:
    """Open a tally on disk as a source of votes that are counted already."""
    found = read_tally(path)
    return Source(str(path), found.scan, counted=True)


def write_tally(votes: Votes | Iterable[Source], path: str | Path, *, progress: Progress = iter) -> TallyFolder:
    """Count votes where they are, and write the counts as a tally that can be merged with others.

    Parameters
    ----------
    votes : Votes or sources
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
    sources = tuple(votes.sources if isinstance(votes, Votes) else votes)
    target = Path(path)
    if target.exists() and (not target.is_dir() or {each.name for each in target.iterdir()} - {PARTS}):
        raise InputError(f"{quote(str(path), 200)}: there is something already; name a folder that is not there yet")
    _refuse_twice(sources)
    parts = target / PARTS
    parts.mkdir(parents=True, exist_ok=True)
    counted = [_part(source, parts, number) for number, source in enumerate(progress(sources))]
    manifest = _Merge(sources, counted, target).write()
    shutil.rmtree(parts)
    return TallyFolder(target, manifest)


def _refuse_twice(sources: Sequence[Source]) -> None:
    """Two tallies with the very same counts of a model count the same votes twice."""
    seen: dict[tuple[str, str], str] = {}
    for source in sources:
        if not source.counted:
            continue
        for known in read_tally(source.name).manifest["datasets"]:
            for model, digest in zip(known["models"], known["digests"], strict=True):
                before = seen.setdefault((known["dataset"], digest), source.name)
                if before != source.name:
                    raise InputError(
                        f"{quote(source.name, 200)}: counts the same votes of model {quote(model)} as "
                        f"{quote(before, 200)}; merge tallies of different votes, each once"
                    )


def _part(source: Source, parts: Path, number: int) -> Path:
    """Count one source into a file or folder of its own, unless that is there already."""
    part = parts / f"{number:06}-{_identity(source)}.parquet"
    if not part.exists():
        draft = part.with_suffix(".draft")
        if draft.is_dir():
            shutil.rmtree(draft)
        _count_into(source, draft)
        draft.replace(part)
    return part


def _identity(source: Source) -> str:
    """A name for what a source holds, so that a run which goes on does not take it for another."""
    file = Path(source.name)
    known = [source.name]
    if file.exists():
        stat = (file / MANIFEST if source.counted else file).stat()
        known += [str(file.resolve()), str(stat.st_size), str(stat.st_mtime_ns)]
    return hashlib.sha256("\0".join(known).encode()).hexdigest()[:16]


def _count_into(source: Source, file: Path) -> None:
    """Let the engine that holds the votes count them, and write the counts."""
    frame = source.scan()
    if source.counted:
        frame.sink_parquet(file)
    elif engines.is_polars(frame) or not engines.is_lazy(frame):
        # What was scanned once is not scanned again: votes may be made or fetched by scanning.
        engines.count_polars(rows_of(replace(source, scan=lambda: frame))).sink_parquet(file)
    else:
        native = engines.counting(frame, source.name).to_native()
        write = next((how for name, how in _WRITERS.items() if type(native).__module__.startswith(name)), None)
        if write is None:
            engines.count_foreign(frame, source.name).write_parquet(file)
            return
        try:
            write(native, str(file))
        except Exception as error:  # Every engine has exceptions of its own.
            raise engines.unreadable_frame(source.name, error) from None


_WRITERS: dict[str, Callable[[Any, str], object]] = {
    "duckdb": lambda relation, file: relation.write_parquet(file),
    "_duckdb": lambda relation, file: relation.write_parquet(file),
    "pyspark": lambda frame, file: frame.write.mode("overwrite").parquet(file),
    "dask": lambda frame, file: frame.to_parquet(file, write_index=False),
}
"""How engines write: with their own executors."""


class _Merge:
    """Merges parts into one tally, dataset by dataset and some models at a time."""

    def __init__(self, sources: Sequence[Source], parts: Sequence[Path], target: Path) -> None:
        import polars as pl

        self.sources, self.target = sources, target
        frames = [self._scan(*each, number) for number, each in enumerate(zip(sources, parts, strict=True))]
        graded = any("correct" in frame.collect_schema().names() for frame in frames)
        self.rows = pl.concat([_graded(frame) if graded else frame for frame in frames], how="diagonal_relaxed")
        self.columns = self.rows.collect_schema().names()
        self.sums = [name for name in ("votes", engines.MARK) if name in self.columns]
        self.kept = [name for name in ("reason", "correct") if name in self.columns]

    @staticmethod
    def _scan(source: Source, part: Path, number: int) -> pl.LazyFrame:
        """The counts of a part, in the contract's types; `part` says which it is."""
        import polars as pl

        files = sorted(part.glob("**/*.parquet")) if part.is_dir() else [part]
        known = engines.whole_marks(pl.scan_parquet(files))
        frame = typed(source, known).with_columns(pl.col("votes").cast(pl.Int64))
        return blanks_to_null(frame).with_columns(pl.lit(number).alias("part"))

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
        (folder / "models").mkdir(parents=True, exist_ok=True)
        questions = self._questions(rows)
        answers = self._collect(rows.select("answer").unique().drop_nulls()).sort("answer")
        questions.write_parquet(folder / "questions.parquet", **WRITING)
        answers.write_parquet(folder / "answers.parquet", **WRITING)
        per_model = self._collect(rows.group_by("model").agg(pl.len().alias("rows"), pl.col("votes").sum()))
        models = per_model.sort("model")
        digests, counted = list[str](), rows.select("model", "question", "answer", *self.kept, *self.sums, "part")
        for some in _runs(models["rows"].to_list(), LARGEST):
            chosen = models["model"][some[0] : some[1]].to_list()
            counts = self._collect(counted.filter(pl.col("model").is_in(chosen)))
            by_name = {str(key[0]): part for key, part in counts.partition_by("model", as_dict=True).items()}
            for place, model in enumerate(chosen, some[0]):
                file = folder / "models" / f"{place}.parquet"
                coded = self._coded(by_name[model], place, questions, answers)
                coded.write_parquet(file, **WRITING)
                digests.append(hashlib.sha256(file.read_bytes()).hexdigest())
        return {
            "dataset": name,
            "models": models["model"].to_list(),
            "questions": len(questions),
            "votes": int(models["votes"].sum()),
            "digests": digests,
        }

    def _questions(self, rows: pl.LazyFrame) -> pl.DataFrame:
        """Gold and cluster of every question, each of which must be one."""
        import polars as pl

        named = [column for column in ("gold", "cluster") if column in self.columns]
        ends = [end for column in named for end in (pl.col(column).min(), pl.col(column).max().alias(f"{column}_max"))]
        lacking = [pl.col("model").null_count().alias("nameless")]
        lacking += [pl.col("cluster").null_count().alias("apart")] if "cluster" in named else []
        found = self._collect(rows.group_by("question").agg(*ends, *lacking)).sort("question")
        wrong = found["nameless"].sum() > 0 or found["question"].null_count() > 0
        for column in named:
            wrong |= bool((found[column] != found[f"{column}_max"]).any())
        if "cluster" in named and not found["cluster"].is_null().all():
            wrong |= int(found["apart"].sum()) > 0
        if wrong:
            self._complain()
        return found.select("question", *named)

    def _coded(self, counts: pl.DataFrame, model: int, questions: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
        """One model's counts in numbers, sorted."""
        import polars as pl

        self._check_numbers(counts)
        if "correct" in self.kept:
            answered = pl.col("answer").is_not_null()
            if not counts.filter((~answered & pl.col("correct")) | (answered & pl.col("correct").is_null())).is_empty():
                self._complain()
        keys = ["question", "answer", *self.kept]
        merged = counts.group_by(keys).agg(pl.col(self.sums).sum())
        question = pl.col("question").replace_strict(questions["question"], pl.int_range(len(questions), eager=True))
        answer = pl.col("answer").replace_strict(
            answers["answer"], pl.int_range(len(answers), eager=True), default=None
        )
        coded = merged.with_columns(question.cast(pl.UInt32), answer.cast(pl.UInt32)).sort(keys, nulls_last=True)
        return coded.select(pl.lit(model, dtype=pl.UInt32).alias("model"), *keys, *self.sums)

    def _check_numbers(self, counts: pl.DataFrame) -> None:
        """Ballots whose sample numbers do not run on: votes are searched for duplicates, tallies must not overlap."""
        import polars as pl

        if engines.MARK not in self.sums:
            return
        suspects = engines.unproven(Codes(counts), counts[engines.MARK].fill_null(0))
        if suspects.is_empty():
            return
        overlaps = counts.join(suspects, on=suspects.columns, how="semi").group_by(suspects.columns)
        parts = overlaps.agg(pl.col("part").n_unique(), pl.col("part").max().alias("last"))
        several = parts.filter(pl.col("part") > 1).sort(suspects.columns)
        if any(not source.counted for source in self.sources):
            self._complain(unless_fine=True)
        elif not several.is_empty():
            first = several.row(0, named=True)
            name = self.sources[first["last"]].name
            raise InputError(
                f"{quote(name, 200)}: model {quote(first['model'])} and question {quote(first['question'])} are "
                "counted in another tally, too, and their sample numbers do not run on from each other: the same votes "
                "may be counted twice; merge tallies of different samples, questions or models"
            )

    def _complain(self, unless_fine: bool = False) -> None:
        """Say what breaks the contract, and where: the sources themselves are searched."""
        votes = [source for source in self.sources if not source.counted]
        foreign = [source for source in votes if not engines.is_polars(source.scan())]
        for source in foreign:
            Votes((source,))
        if rest := tuple(source for source in votes if source not in foreign):
            Votes(rest)
        if not unless_fine:
            names = listing([source.name for source in self.sources])
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


def _runs(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Cut a list of sizes into runs that add up to about `most`, each of one item at least."""
    found, first, total = [], 0, 0
    for place, size in enumerate(sizes):
        if place > first and total + size > most:
            found.append((first, place))
            first, total = place, 0
        total += size
    return [*found, (first, len(sizes))] if sizes else []
