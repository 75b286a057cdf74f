"""Release votes as the paper released its own: records, counts, gold answers, grades, reasons and models, no questions.

A release is a folder of flat CSV files, the same tables in an SQLite database, and a dataset card with the sizes of
tables. Ids of questions that are texts are replaced by digests, so that no question can be read in it unless that is
asked for. Every command reads a release like any other votes.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw._files import write_text, writing
from swaplaw._result import Result
from swaplaw.errors import InputError, listing, quote, several
from swaplaw.importers.corpus import APPLICATION, MARK

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.table import Votes

DATABASE = "votes.sqlite"
ABOUT = {
    "votes": "every vote: one row per dataset, question, model and sample; an empty answer is an abstention",
    "vote_counts": "how often each model gave each answer",
    "gold": "the gold answer of every question",
    "grades": "whether each vote was graded correct",
    "reasons": "why there is no answer",
    "models": "models, and how many votes each has",
    "questions": "the texts behind the ids of questions",
}


@dataclass(frozen=True)
class Release(Result):
    """What was written."""

    folder: Path
    files: Mapping[str, int]
    """Rows of each table, by file."""

    def rows(self) -> list[dict[str, Any]]:
        """One row per table."""
        return [{"name": name, "rows": rows} for name, rows in self.files.items()]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"folder": str(self.folder), "files": self.rows()}


def release(votes: Votes, folder: str | Path, *, with_text: bool = False, licence: str = "unknown") -> Release:
    """Write votes as a release.

    Parameters
    ----------
    votes : Votes
        What is released.
    folder : str or Path
        Where it goes; it is made, and must be empty.
    with_text : bool
        Whether ids that are the texts of questions may be told, in a table of their own.
    licence : str
        What the card says: an SPDX name such as `CC-BY-4.0`.

    Returns
    -------
    Release
        The folder, and the rows of each file.

    Raises
    ------
    InputError
        If the folder holds something already.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import swaplaw as sl
    >>> with TemporaryDirectory() as folder:
    ...     done = release(sl.demo_votes(), folder, licence="MIT")
    ...     again = sl.read_votes(folder)
    >>> done.files["votes.csv"], bool(again.tally().votes.sum() == sl.demo_votes().tally().votes.sum())
    (21600, True)
    """
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InputError(f"{quote(str(place), 200)} is there already, and not empty: name another folder")
    place.mkdir(parents=True, exist_ok=True)
    tables = _tables(votes, with_text)
    for name, frame in tables.items():
        with writing(place / f"{name}.csv") as draft:
            frame.write_csv(draft)
    with writing(place / DATABASE) as draft:
        _into_database(draft, tables)
    write_text(place / "README.md", _card(votes, tables, licence))
    sizes = {f"{name}.csv": len(frame) for name, frame in tables.items()}
    return Release(place, sizes | {DATABASE: sum(sizes.values())})


def _tables(votes: Votes, with_text: bool) -> dict[str, pl.DataFrame]:
    import polars as pl

    frame = votes.frame.collect()
    texts = {name: _digest(name) for name in frame["question"].unique().drop_nulls() if _is_text(name)}
    if texts:
        frame = frame.with_columns(pl.col("question").replace(texts))
    key = ["dataset", "question", "model"]
    if "sample" not in frame.columns or frame["sample"].null_count():
        frame = frame.with_columns(pl.int_range(pl.len()).over(key).alias("sample"))
    frame = frame.sort([*key, "sample"])
    vote = [*key, "sample"]
    found = {
        "votes": frame.select(*vote, "answer"),
        "vote_counts": frame.group_by([*key, "answer"]).agg(pl.len().alias("votes")).sort([*key, "answer"]),
        "gold": frame.select("dataset", "question", "gold", *(["cluster"] if "cluster" in frame.columns else []))
        .unique()
        .sort("dataset", "question"),
        "models": frame.group_by("model").agg(pl.len().alias("votes")).sort("model"),
    }
    if "correct" in frame.columns:
        found["grades"] = frame.select(*vote, "correct")
    if "reason" in frame.columns:
        found["reasons"] = frame.filter(pl.col("answer").is_null() & pl.col("reason").is_not_null()).select(
            *vote, "reason"
        )
    if with_text and texts:
        found["questions"] = pl.DataFrame({"question": list(texts.values()), "text": list(texts)}).sort("question")
    return found


def _is_text(name: str) -> bool:
    """Whether an id is the text of a question: longer than ids are, or with other signs than they have."""
    return re.fullmatch(r"[\w.:/@#+-]{1,64}", name, re.ASCII) is None


def _digest(name: str) -> str:
    return f"q-{sha256(name.encode()).hexdigest()[:16]}"


def _into_database(file: Path, tables: Mapping[str, pl.DataFrame]) -> None:
    with closing(sqlite3.connect(file)) as open_:
        open_.execute(f"pragma application_id = {APPLICATION}")
        for name, frame in tables.items():
            open_.execute(f"create table {name} ({', '.join(frame.columns)})")
            places = ", ".join("?" * frame.width)
            open_.executemany(f"insert into {name} values ({places})", frame.iter_rows())
        open_.commit()


def _card(votes: Votes, tables: Mapping[str, pl.DataFrame], licence: str) -> str:
    models = tables["models"]["model"].to_list()
    lines = [
        *("---", f"license: {licence.lower()}", f"tags: [{MARK}]", "---", "", "# Votes", ""),
        f"{several(len(tables['votes']), 'vote')} of {several(len(models), 'model')} on "
        f"{several(len(tables['gold']), 'question')} of {listing(votes.datasets, 20)}.",
        *("", "The texts of questions are not part of it." if "questions" not in tables else "", ""),
        *("| table | rows | what |", "|:--|--:|:--|"),
        *(f"| `{name}.csv` | {len(frame):,} | {ABOUT[name]} |" for name, frame in tables.items()),
        *("", f"`{DATABASE}` holds the same tables. Models: {', '.join(f'`{model}`' for model in models)}.", ""),
    ]
    return "\n".join(lines)
