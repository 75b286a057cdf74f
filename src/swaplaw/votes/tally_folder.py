"""Tallies on disk: counted votes as integers, one Parquet file per model, accepted wherever votes are.

    tally/
      tally.json            what is in it: datasets, models, columns, and a digest of every file
      0/questions.parquet   the questions of dataset 0 by name, with gold, cluster and options: its row is its number
      0/answers.parquet     every answer that was given, by name: an answer's row is its number
      0/models/0.parquet    one model's counts: question, answer (null: abstention), votes, sum of marks of samples

`tally_writing` makes them. A file that is not what was written (cut off, damaged, exchanged) is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError, listing, quote, suggestion
from swaplaw.votes.contract import REQUIRED
from swaplaw.votes.files import Source
from swaplaw.votes.table import Votes

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.tally import Tally

SCHEMA, VERSION = "swaplaw.tally", 2
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
        """All files of a dataset: its questions, its answers, and its models in the order of names."""
        folder, models = self.path / str(number), len(self.manifest["datasets"][number]["models"])
        tables = [folder / "questions.parquet", folder / "answers.parquet"]
        return tables + [folder / "models" / f"{model}.parquet" for model in range(models)]

    def whole(self, number: int, models: Sequence[int]) -> tuple[Path, Path, list[Path]]:
        """The files of a dataset's questions, answers and some models, which are as they were written."""
        files, digests = self.files(number), self.manifest["datasets"][number]["digests"]
        for place in (0, 1, *(2 + model for model in models)):
            if digest_of(files[place]) != digests[place]:
                raise InputError(f"{quote(str(files[place]), 200)}: not what was written; write the tally again")
        return files[0], files[1], [files[2 + model] for model in models]

    def scan(self) -> pl.LazyFrame:
        """All counts by name: one row per dataset, question, model and answer."""
        import polars as pl

        every = [
            self._named(number, range(len(each["models"]))) for number, each in enumerate(self.manifest["datasets"])
        ]
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
        places = [names.index(model) for model in sorted(set(models))]
        source = Source(str(self.path), lambda: self._named(number, places), counted=True)
        return Votes((source,)).tally()

    def number(self, dataset: str | None = None) -> int:
        """Find a dataset by name; None stands for the only one."""
        if dataset is None and len(self.datasets) > 1:
            listed = listing(self.datasets)
            raise InputError(f"this tally holds {len(self.datasets)} datasets ({listed}); name the one to analyse")
        if dataset is not None and dataset not in self.datasets:
            raise InputError(f"there is no dataset {quote(dataset)} in this tally; there are {listing(self.datasets)}")
        return 0 if dataset is None else self.datasets.index(dataset)

    def _named(self, number: int, places: Sequence[int]) -> pl.LazyFrame:
        import polars as pl

        known = self.manifest["datasets"][number]
        questions, answers, files = self.whole(number, places)
        models = pl.LazyFrame({"model": known["models"]}, schema={"model": pl.String}).with_row_index("m")
        try:
            named = pl.scan_parquet(files).rename({"model": "m", "question": "q", "answer": "a"})
            named = named.join(models, on="m", how="left")
            named = named.join(pl.scan_parquet(questions).with_row_index("q"), on="q", how="left")
            named = named.join(pl.scan_parquet(answers).with_row_index("a"), on="a", how="left").drop("m", "q", "a")
            named.select(*REQUIRED, "votes").collect_schema()
        except pl.exceptions.PolarsError as error:
            raise InputError(f"{quote(str(self.path), 200)}: not a tally ({_line(error)}); write it again") from None
        return named.with_columns(pl.lit(known["dataset"]).alias("dataset"))


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
    models: Any
    digests: Any
    models, digests = (known.get(name) for name in ("models", "digests"))
    if not all(isinstance(each, list) and all(isinstance(text, str) for text in each) for each in (models, digests)):
        return False
    numbers = all(type(known.get(name)) is int and known[name] > 0 for name in ("questions", "votes"))
    return numbers and 0 < len(set(models)) == len(models) == len(digests) - 2


def open_tally(path: str | Path) -> Source:
    """Open a tally on disk as a source of votes that are counted already."""
    found = read_tally(path)
    return Source(str(path), found.scan, counted=True)
