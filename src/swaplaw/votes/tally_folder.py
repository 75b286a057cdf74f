"""Tallies on disk: counted votes as integers, one Parquet file per model, accepted wherever votes are.

    tally/
      tally.json            what is in it: datasets, models, columns, and a digest of every file
      0/questions.parquet   the questions of dataset 0 by name, with gold, cluster and options: its row is its number
      0/answers.parquet     every answer that was given, by name: an answer's row is its number
      0/models/0.parquet    one model's counts: question, answer (null: abstention), votes, sum of marks of samples
      0/numbers/0.parquet   its sample numbers, in runs from first to last, on questions where they do not run on

`tally_writing` makes them. A file that is not what was written (cut off, damaged, exchanged) is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import Fix, InputError, listing, quote, suggestion
from swaplaw.votes.contract import REQUIRED
from swaplaw.votes.files import Source
from swaplaw.votes.table import Votes

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.tally import Tally

SCHEMA, VERSION = "swaplaw.tally", 3
MANIFEST = "tally.json"
MAX_MANIFEST = 2**30
"""Bytes of the largest manifest: room for ten million models."""


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

    def files(self, number: int) -> list[Path]:
        """All files of a dataset: its questions, answers, models in the order of names, and what numbers they keep."""
        folder, known = self.path / str(number), self.manifest["datasets"][number]
        tables = [folder / "questions.parquet", folder / "answers.parquet"]
        tables += [folder / "models" / f"{model}.parquet" for model in range(len(known["models"]))]
        kept = [model for model, digest in enumerate(known["numbers"]) if digest]
        return tables + [folder / "numbers" / f"{model}.parquet" for model in kept]

    def whole(self, number: int, models: Sequence[int]) -> tuple[Path, Path, list[Path]]:
        """The files of a dataset's questions, answers and some models, which are as they were written."""
        files, digests = self.files(number), self.manifest["datasets"][number]["digests"]
        for place in (0, 1, *(2 + model for model in models)):
            _require_unchanged(files[place], digests[place])
        return files[0], files[1], [files[2 + model] for model in models]

    def scan(self) -> pl.LazyFrame:
        """All counts by name: one row per dataset, question, model and answer."""
        import polars as pl

        every = [
            self._named(number, range(len(each["models"]))) for number, each in enumerate(self.manifest["datasets"])
        ]
        return pl.concat(every, how="diagonal_relaxed")

    def numbers(self, dataset: str, models: Sequence[str]) -> pl.LazyFrame:
        """The sample numbers that are kept of some models, by name, in runs from first to last.

        They are kept of ballots whose numbers do not run on from 0 or 1; of all others their number tells them.
        """
        import polars as pl

        number, files, chosen = self.number(dataset), [], set(models)
        known = self.manifest["datasets"][number]
        for place, (model, digest) in enumerate(zip(known["models"], known["numbers"], strict=True)):
            if digest and model in chosen:
                files.append(self.path / str(number) / "numbers" / f"{place}.parquet")
                _require_unchanged(files[-1], digest)
        if not files:
            return pl.LazyFrame(schema={"model": pl.String, "question": pl.String, "first": pl.Int64, "last": pl.Int64})
        named = self._by_name(pl.scan_parquet(files), number, self.whole(number, [])[0])
        self._require(named, "model", "question", "first", "last")
        return named

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
        places = [names.index(model) for model in sorted(set(models))]
        source = Source(str(self.path), lambda: self._named(number, places), counted=True)
        return Votes((source,)).tally()

    def number(self, dataset: str | None = None) -> int:
        """Find a dataset by name; None stands for the only one."""
        if dataset is None and len(self.datasets) > 1:
            listed = listing(self.datasets)
            raise InputError(
                f"this tally holds {len(self.datasets)} datasets ({listed})",
                Fix("dataset", "NAME", "name the one to analyse"),
            )
        if dataset is not None and dataset not in self.datasets:
            raise InputError(f"there is no dataset {quote(dataset)} in this tally; there are {listing(self.datasets)}")
        return 0 if dataset is None else self.datasets.index(dataset)

    def _named(self, number: int, places: Sequence[int]) -> pl.LazyFrame:
        import polars as pl

        known = self.manifest["datasets"][number]
        questions, answers, files = self.whole(number, places)
        named = self._by_name(pl.scan_parquet(files), number, questions).rename({"answer": "a"})
        named = named.join(pl.scan_parquet(answers).with_row_index("a"), on="a", how="left").drop("a")
        self._require(named, *REQUIRED, "votes")
        return named.with_columns(pl.lit(known["dataset"]).alias("dataset"))

    def _by_name(self, rows: pl.LazyFrame, number: int, questions: Path) -> pl.LazyFrame:
        """Rows of a dataset's models and questions with the names of both in place of their numbers."""
        import polars as pl

        names = pl.LazyFrame({"model": self.manifest["datasets"][number]["models"]}, schema={"model": pl.String})
        named = rows.rename({"model": "m", "question": "q"}).join(names.with_row_index("m"), on="m", how="left")
        return named.join(pl.scan_parquet(questions).with_row_index("q"), on="q", how="left").drop("m", "q")

    def _require(self, rows: pl.LazyFrame, *names: str) -> None:
        """Refuse files that lack a column."""
        import polars as pl

        try:
            rows.select(names).collect_schema()
        except pl.exceptions.PolarsError as error:
            raise InputError(f"{quote(str(self.path), 200)}: not a tally ({_line(error)}); write it again") from None


def _require_unchanged(file: Path, digest: str) -> None:
    """Refuse a file that is not what was written."""
    if digest_of(file) != digest:
        raise InputError(f"{quote(str(file), 200)}: not what was written; write the tally again")


def digest_of(file: Path) -> str:
    """A digest of a file's bytes, empty where there is no such file."""
    if not file.is_file():
        return ""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]


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
        if (folder / MANIFEST).stat().st_size > MAX_MANIFEST:
            raise ValueError(f"{MANIFEST} is larger than {MAX_MANIFEST:,} bytes")
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: not a tally ({error}); write one with write_tally") from None
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA or manifest.get("version") != VERSION:
        raise InputError(
            f"{name}: not a tally that this swaplaw reads (version {VERSION}); write it again from its votes"
        )
    datasets = manifest.get("datasets")
    if not isinstance(datasets, list) or not datasets or not all(map(_is_dataset, datasets)):
        raise InputError(f"{name}: not a tally ({MANIFEST} is damaged); write it again")
    found = TallyFolder(folder, manifest)
    for file in (file for number in range(len(found.datasets)) for file in found.files(number)):
        if not file.is_file():
            raise InputError(f"{name}: {quote(str(file), 200)} is missing; write the tally again")
    return found


def _is_dataset(known: Any) -> bool:
    """Whether an entry of the manifest is complete and consistent."""
    if not isinstance(known, dict) or not isinstance(known.get("dataset"), str):
        return False
    lists: list[Any] = [known.get(name) for name in ("models", "digests", "numbers")]
    if not all(isinstance(each, list) and all(isinstance(text, str) for text in each) for each in lists):
        return False
    models, digests, kept = lists
    sizes = all(type(known.get(name)) is int and known[name] > 0 for name in ("questions", "votes"))
    return sizes and 0 < len(set(models)) == len(models) == len(digests) - 2 == len(kept)


def open_tally(path: str | Path) -> Source:
    """Open a tally on disk as a source of votes that are counted already."""
    found = read_tally(path)
    return Source(str(path), found.scan, counted=True, numbers=found.numbers)
