"""The paper's released corpus, *deciban*: huggingface.co/datasets/IcyApril/deciban.

Its files hold per-vote records, vote counts, grades, gold answers and the reasons of abstentions. Columns are found by
a declared map or by sensible guesses; files of one dataset are read together, gold answers from a table of their own
where the votes carry none. What cannot be read becomes one clear problem, and everything else is still there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from swaplaw.errors import InputError, MissingExtraError, SwaplawError, listing, quote
from swaplaw.paper.published import published
from swaplaw.votes.files import FORMATS, Source, open_file, unreadable

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.table import Votes

REPOSITORY = "IcyApril/deciban"

GUESSES: Mapping[str, tuple[str, ...]] = {
    "question": ("question_id", "qid", "question", "item_id", "item", "uuid", "question_uuid", "problem_id", "id"),
    "model": ("model", "model_name", "model_id", "llm"),
    "answer": (
        *("answer", "vote", "answer_category", "category", "canonical_answer", "parsed_answer", "extracted_answer"),
        *("normalised_answer", "normalized_answer", "prediction", "choice", "option", "submitted_answer"),
    ),
    "gold": ("gold", "gold_answer", "correct_answer", "answer_key", "gold_label", "target", "reference_answer"),
    "correct": ("correct", "is_correct", "graded_correct", "grade", "score"),
    "reason": ("reason", "abstention_reason", "abstain_reason", "null_reason", "error_reason", "error", "status"),
    "sample": ("sample", "sample_index", "sample_idx", "sample_id", "repeat", "trial", "attempt", "run", "epoch"),
    "cluster": ("cluster", "challenge", "challenge_id", "discipline", "subject", "domain"),
    "dataset": ("dataset", "benchmark", "dataset_name", "corpus"),
    "votes": ("votes", "count", "vote_count", "n_votes", "n"),
}
"""For each column of the vote table, the names it may go by, likeliest first; `votes` counts equal votes."""

# Where a dataset's name or path says which of the paper's it is; the first that fits counts.
_DATASETS = (("supergpqa", "supergpqa"), ("gpqa", "gpqa-diamond"), ("forensic", "forensic"), ("cyber", "forensic"))
_MODELS = (
    *(("diffusiongemma", "DiffusionGemma-26B"), ("medgemma", "MedGemma-27B"), ("gemma431b", "Gemma-4-31B")),
    *(("gemma426b", "Gemma-4-26B-A4B"), ("qwen3627b", "Qwen3.6-27B"), ("qwen330b", "Qwen3-30B-Think.")),
    *(("glm47flash", "GLM-4.7-Flash"), ("nemotron", "Nemotron-3-Nano"), ("gptoss20b", "GPT-OSS-20B")),
    ("magistral", "Magistral-Small"),
)
_REASONS = (
    *(("trunc", "truncated"), ("length", "truncated"), ("parse", "no_parse"), ("unans", "unanswered")),
    *(("refus", "refused"), ("timeout", "error"), ("error", "error")),
)
_NULLS = ("null", "abstain", "abstained", "abstention")
_GRADES = {"true": True, "1": True, "1.0": True, "correct": True, "false": False, "0": False, "0.0": False}
_GRADES |= {"incorrect": False, "wrong": False}
_UNGRADED_GOLD = "(gold)"


@dataclass(frozen=True)
class Corpus:
    """Votes by dataset, and what could not be read."""

    votes: Mapping[str, Votes]
    problems: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """Datasets of the paper that are not here."""
        return [name for name in published().datasets if name not in self.votes]


@dataclass
class _Found:
    """What the files of one dataset give."""

    ballots: list[pl.DataFrame] = field(default_factory=list)
    golds: list[pl.DataFrame] = field(default_factory=list)


def read_deciban(folder: str | Path, columns: Mapping[str, str] | None = None) -> Corpus:
    """Read a downloaded corpus; `columns` maps columns of the vote table to the files' where guessing will not do.

    >>> read_deciban("deciban", {"question": "item", "answer": "final"})  # doctest: +SKIP
    """
    declared = _checked(columns or {})
    where = Path(folder)
    if where.exists() and not where.is_dir():
        raise InputError(f"{quote(str(folder), 200)} is a file: give the folder that the corpus was downloaded into")
    if not where.exists():
        raise InputError(
            f"{quote(str(folder), 200)}: there is no such folder; download the corpus into it first: "
            f"huggingface.co/datasets/{REPOSITORY}"
        )
    found: dict[str, _Found] = {}
    problems = []
    files = sorted(file for file in where.rglob("*") if file.suffix.lower() in FORMATS and file.is_file())
    if not files:
        raise InputError(f"{quote(str(folder), 200)}: no vote files in this folder; expected {', '.join(FORMATS)}")
    for file in files:
        try:
            _read(open_file(file), where, declared, found)
        except InputError as error:
            problems.append(str(error))
    votes = {}
    for name in sorted(found, key=_order):
        try:
            if found[name].ballots:
                votes[name] = _assemble(name, found[name])
        except InputError as error:
            problems.append(f"dataset {quote(name)}: {error}")
    if not votes:
        reason = problems[0] if problems else "its tables hold gold answers only"
        raise InputError(f"no votes could be read from {quote(str(folder), 200)}: {reason}")
    return Corpus(votes, tuple(problems))


def download_deciban(folder: str | Path) -> Path:
    """Download the released corpus (needs the extra `hub`)."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingExtraError("hub", "downloading the corpus") from None
    try:
        snapshot_download(REPOSITORY, repo_type="dataset", local_dir=str(folder))
    except Exception as error:
        detail = str(error).strip().split("\n")[0]
        raise SwaplawError(
            f"could not download {REPOSITORY} from huggingface.co ({detail}); check the network, or download the "
            "files by hand and pass their folder"
        ) from None
    return Path(folder)


def _checked(columns: Mapping[str, str]) -> Mapping[str, str]:
    for name in columns:
        if name not in GUESSES:
            raise InputError(f"the column map names {quote(name)}; a vote table has {listing(list(GUESSES), 12)}")
    return columns


def _order(name: str) -> tuple[int, str]:
    known = list(published().datasets)
    return (known.index(name) if name in known else len(known), name)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _known(text: str, table: tuple[tuple[str, str], ...]) -> str | None:
    plain = _plain(text)
    return next((name for needle, name in table if needle in plain), None)


def _read(source: Source, folder: Path, declared: Mapping[str, str], found: dict[str, _Found]) -> None:
    """Read one file: votes, or a table of gold answers."""
    import polars as pl

    try:
        frame = source.scan().collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise unreadable(source, error) from None
    mapping = _map_columns(source, frame.columns, declared)
    frame = frame.select(pl.col(theirs).alias(ours) for ours, theirs in mapping.items())
    frame = frame.with_columns(_dataset(source, folder, frame))
    for (name,), part in frame.group_by(["dataset"], maintain_order=True):
        here = found.setdefault(str(name), _Found())
        if "model" in mapping:
            here.ballots.append(_ballots(source, part))
        else:
            here.golds.append(part.select(pl.col("question", "gold").cast(pl.String)).unique())


def _map_columns(source: Source, names: list[str], declared: Mapping[str, str]) -> dict[str, str]:
    """Find the columns: declared ones first, then guesses; a file that is neither votes nor gold answers is refused."""
    for ours, theirs in declared.items():
        if theirs not in names and ours in ("question", "model", "answer"):
            raise InputError(
                _unmapped(source, f"there is no column {quote(theirs)}, which the map declares for '{ours}'", names)
            )
    plain = {_plain(name): name for name in reversed(names)}
    mapping = {ours: theirs for ours, theirs in declared.items() if theirs in names}
    for ours, guesses in GUESSES.items():
        taken = set(mapping.values())
        likely = (plain[_plain(guess)] for guess in guesses if _plain(guess) in plain)
        match = next((theirs for theirs in likely if theirs not in taken), None)
        if ours not in mapping and match is not None:
            mapping[ours] = match
    is_key = {"question", "gold"} <= set(mapping) and not {"model", "answer"} & set(mapping)
    if is_key:
        return {ours: mapping[ours] for ours in ("question", "gold", "dataset") if ours in mapping}
    for needed in ("question", "model", "answer"):
        if needed not in mapping:
            told = " (grades alone cannot tell wrong answers apart, and a plurality vote must)"
            why = told if needed == "answer" and "correct" in mapping else ""
            raise InputError(_unmapped(source, f"no column for '{needed}'{why}", names))
    return mapping


def _unmapped(source: Source, what: str, names: list[str]) -> str:
    return (
        f"{quote(source.name, 200)}: {what}; columns found: {listing(names, 20)}. Write a map such as "
        '{"question": "…", "model": "…", "answer": "…", "gold": "…", "correct": "…", "reason": "…"}, with the file\'s '
        "column names, to a JSON file, and pass it with --columns FILE"
    )


def _dataset(source: Source, folder: Path, frame: pl.DataFrame) -> pl.Expr:
    """Name the dataset by its column, else by the file's path inside the corpus."""
    import polars as pl

    path = Path(source.name).relative_to(folder)
    fallback = _known(str(path), _DATASETS) or _known(folder.name, _DATASETS) or path.parts[0].split(".")[0]
    if "dataset" not in frame.columns:
        return pl.lit(fallback).alias("dataset")
    names = frame["dataset"].cast(pl.String).unique().drop_nulls()
    renamed = {name: _known(name, _DATASETS) or name for name in names}
    return pl.col("dataset").cast(pl.String).replace(renamed).fill_null(fallback)


def _ballots(source: Source, frame: pl.DataFrame) -> pl.DataFrame:
    """Bring the votes of a file to the vote table's words."""
    import polars as pl

    answer = pl.col("answer").cast(pl.String).str.strip_chars()
    frame = frame.with_columns(
        pl.col("question").cast(pl.String),
        _renamed(frame, "model", _MODELS),
        pl.when(~answer.str.to_lowercase().is_in(_NULLS)).then(answer).alias("answer"),
    )
    if "reason" in frame.columns:
        reasons = _renamed(frame, "reason", _REASONS)
        frame = frame.with_columns(reasons).with_columns(
            pl.when(pl.col("answer").is_null()).then("reason").alias("reason")
        )
    for text in ("gold", "cluster"):
        if text in frame.columns:
            frame = frame.with_columns(pl.col(text).cast(pl.String))
    if "correct" in frame.columns:
        frame = _graded(source, frame)
    if "votes" in frame.columns:
        counts = pl.col("votes").cast(pl.UInt32, strict=False).fill_null(0)
        frame = frame.with_columns(pl.int_ranges(0, counts).alias("votes")).explode("votes").drop_nulls("votes")
        frame = frame.drop("votes", *(["sample"] if "sample" in frame.columns else []))
    return frame


def _renamed(frame: pl.DataFrame, column: str, table: tuple[tuple[str, str], ...]) -> pl.Expr:
    import polars as pl

    values = frame[column].cast(pl.String).unique().drop_nulls()
    return pl.col(column).cast(pl.String).replace({value: _known(value, table) or value for value in values})


def _graded(source: Source, frame: pl.DataFrame) -> pl.DataFrame:
    """Read grades as true or false; a null vote is never correct."""
    import polars as pl

    word = pl.col("correct").cast(pl.String).str.strip_chars().str.to_lowercase()
    frame = frame.with_columns(word.replace_strict(_GRADES, default=None, return_dtype=pl.Boolean).alias("correct"))
    ungraded = frame.filter(pl.col("answer").is_not_null() & pl.col("correct").is_null())
    if len(ungraded) == len(frame.filter(pl.col("answer").is_not_null())):
        # A column of that name that holds no grades is not the grade.
        return frame.drop("correct")
    if len(ungraded):
        raise InputError(
            f"{quote(source.name, 200)}: {len(ungraded):,} of {len(frame):,} votes have an answer but no grade that "
            f"reads as true or false ({listing(list(_GRADES), 10)}); mend the column or map another one"
        )
    return frame.with_columns(pl.col("correct") & pl.col("answer").is_not_null())


def _assemble(name: str, found: _Found) -> Votes:
    """Join the files of one dataset, with gold from wherever it stands."""
    import polars as pl

    from swaplaw.votes.table import votes_from

    frame = pl.concat(found.ballots, how="diagonal_relaxed").with_columns(pl.lit(name).alias("dataset"))
    if found.golds:
        key = pl.concat(found.golds).unique().rename({"gold": "key"})
        frame = frame.join(key, on="question", how="left")
        frame = frame.with_columns(
            (pl.coalesce("gold", "key") if "gold" in frame.columns else pl.col("key")).alias("gold")
        )
        frame = frame.drop("key")
    if "correct" in frame.columns and ("gold" not in frame.columns or frame["gold"].null_count()):
        frame = _gold_from_grades(frame)
    if "gold" not in frame.columns:
        raise InputError(
            "there are neither gold answers nor grades: map the column that holds them ('gold' or 'correct') and pass "
            "the map with --columns FILE"
        )
    return votes_from(frame)


def _gold_from_grades(frame: pl.DataFrame) -> pl.DataFrame:
    """Take for gold, where none is given, the answer that is graded correct most often."""
    import polars as pl

    best = (
        frame.filter("correct")
        .group_by("question", "answer")
        .len()
        .sort("question", "len", "answer", descending=[False, True, False])
        .unique("question", keep="first", maintain_order=True)
        .select("question", pl.col("answer").alias("graded"))
    )
    known = [pl.col("gold")] if "gold" in frame.columns else []
    joined = frame.join(best, on="question", how="left")
    return joined.with_columns(pl.coalesce(*known, "graded", pl.lit(_UNGRADED_GOLD)).alias("gold")).drop("graded")
