"""Download the released corpus."""

from __future__ import annotations

from pathlib import Path

from swaplaw.errors import MissingExtraError, SwaplawError

REPOSITORY = "IcyApril/deciban"


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
