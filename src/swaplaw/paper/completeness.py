"""What the paper's corpus must hold: where to get it, and what a copy of it lacks."""

from __future__ import annotations

from pathlib import Path

from swaplaw.errors import MissingExtraError, SwaplawError, quote
from swaplaw.importers import corpus
from swaplaw.importers.corpus_tables import MODELS

REPOSITORY = "IcyApril/deciban"


def gaps(found: corpus.Corpus) -> list[str]:
    """Say what the paper's corpus has, and this one has not."""
    import polars as pl

    said = [f"the corpus has no votes for dataset {quote(name)}" for name in corpus.CARD if name not in found.datasets]
    said += found.lacking
    for name, votes in found.datasets.items():
        if name not in corpus.CARD:
            said.append(f"dataset {quote(name)} is none of the paper's")
            continue
        said += [
            f"dataset {quote(name)} has no votes of {quote(one)}" for one, *_ in MODELS if one not in votes["model"]
        ]
        cell = ["question", "model"]
        cells = votes.group_by(cell).len()
        if (questions := cells["question"].n_unique()) != corpus.CARD[name]:
            said.append(f"dataset {quote(name)} has {questions:,} questions, and the paper {corpus.CARD[name]:,}")
        odd = cells.filter(pl.col("len") != corpus.SAMPLES).sort(cell)
        missing = cells["model"].n_unique() * questions - len(cells)
        if len(odd) or missing:
            row = odd.row(0, named=True) if len(odd) else None
            such = f", such as {row['len']} of {quote(row['model'])} on {quote(row['question'])}" if row else ""
            pairs = f"{len(odd) + missing:,} pairs of model and question"
            said.append(f"dataset {quote(name)}: {pairs} have not {corpus.SAMPLES} votes{such}")
        numbers = votes.group_by("sample").len()
        strange = numbers.filter(numbers["len"] != len(cells)).sort("len")["sample"]
        if 0 < len(strange) < len(numbers):
            said.append(
                f"dataset {quote(name)}: sample {strange[0]} is not among the votes of every model and question"
            )
        silent = votes.filter(pl.col("answer").is_null())
        untold = silent if "reason" not in votes.columns else silent.filter(pl.col("reason").is_null())
        if len(untold):
            row = untold.row(0, named=True)
            such = f"such as {quote(row['model'])} on {quote(row['question'])}"
            said.append(f"dataset {quote(name)}: {len(untold):,} of {len(silent):,} abstentions have no reason, {such}")
    if "forensic" in found.datasets and "correct" not in found.datasets["forensic"].columns:
        said.append("dataset 'forensic' has no grades")
    return said


def download_corpus(folder: str | Path) -> Path:
    """Download the paper's corpus into a folder (needs the extra `hub`)."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingExtraError("hub", "downloading the corpus") from None
    try:
        snapshot_download(REPOSITORY, repo_type="dataset", local_dir=str(folder))
    except Exception as error:  # Of the hub, of its HTTP library, or of the disk.
        detail = str(error).strip().split("\n")[0]
        raise SwaplawError(
            f"could not download {REPOSITORY} from huggingface.co ({detail}); check the network, or download the "
            "files by hand and pass their folder"
        ) from None
    return Path(folder)
