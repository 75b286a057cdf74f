"""Datasets on the Hugging Face hub: `hf:OWNER/NAME[@REVISION][:FILES]`, and short names for the paper's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from swaplaw.errors import InputError, MissingExtraError, SwaplawError, listing, quote
from swaplaw.votes.files import FORMATS

KNOWN = {
    "supergpqa": "hf:m-a-p/SuperGPQA:SuperGPQA-all.jsonl",
    "mmlu-pro": "hf:TIGER-Lab/MMLU-Pro:data/test-*.parquet",
    "gpqa-diamond": "hf:Idavidrein/gpqa:gpqa_diamond.csv",
}
LISTED = ("parquet", "csv", "jsonl")
"""Formats of the files that a dataset on the hub is looked for in: JSON and Excel there are mostly something else."""
_SPEC = re.compile(r"hf:(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?(?::(?P<files>[^:]+))?")


def is_hub(source: str) -> bool:
    """Whether a source names a dataset on the hub."""
    return source.lower() in KNOWN or source.startswith("hf:")


@dataclass(frozen=True)
class _Spec:
    repo: str
    revision: str | None
    files: str | None


def download(source: str) -> tuple[str, list[Path]]:
    """Fetch a dataset's files into the hub's cache (needs the extra `hub`); returns its name and the files."""
    known = source.lower() in KNOWN
    spec = _parse(KNOWN[source.lower()] if known else source)
    try:
        from huggingface_hub import HfApi, hf_hub_download
        from huggingface_hub.errors import GatedRepoError
    except ImportError:
        raise MissingExtraError("hub", "reading datasets from the Hugging Face hub") from None
    try:
        names = HfApi().list_repo_files(spec.repo, repo_type="dataset", revision=spec.revision)
        chosen = _chosen(spec, names)
        paths = [Path(hf_hub_download(spec.repo, name, repo_type="dataset", revision=spec.revision)) for name in chosen]
    except GatedRepoError:
        raise SwaplawError(
            f"{quote(spec.repo)} is gated: accept its terms on huggingface.co/datasets/{spec.repo} and log in with "
            "`hf auth login`, or download the file there and pass its path"
        ) from None
    except InputError:
        raise
    except Exception as error:  # Of the hub, of its HTTP library (which one it is changes), or of the disk.
        detail = str(error).strip().split("\n")[0]
        raise SwaplawError(
            f"could not read {quote(spec.repo)} from the Hugging Face hub ({quote(detail, 200)}); check the name and "
            "the network, or download the file by hand and pass its path"
        ) from None
    return (source.lower() if known else spec.repo.partition("/")[2]), paths


def _parse(source: str) -> _Spec:
    match = _SPEC.fullmatch(source)
    if match is None:
        raise InputError(
            f"{quote(source, 200)} names no dataset; expected hf:OWNER/NAME, hf:OWNER/NAME@REVISION or "
            "hf:OWNER/NAME:FILES, such as hf:TIGER-Lab/MMLU-Pro:data/test-*.parquet"
        )
    return _Spec(match["repo"], match["revision"], match["files"])


def _chosen(spec: _Spec, names: list[str]) -> list[str]:
    """The files that are asked for; without a word on that, the only one there is."""
    tables = sorted(name for name in names if FORMATS.get(Path(name).suffix.lower()) in LISTED)
    chosen = [name for name in tables if spec.files is None or fnmatch(name, spec.files)]
    if not chosen or (spec.files is None and len(chosen) > 1):
        raise InputError(
            f"{quote(spec.repo)} holds the tables {listing(tables, 12) or 'none'}; "
            f"say which to read with hf:{spec.repo}:FILES (* matches anything)"
        )
    return chosen
