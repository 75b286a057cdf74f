"""Where the real votes are that are too large to bundle: `shared/data/votes` beside the repository."""

from __future__ import annotations

from pathlib import Path

import pytest


def real_votes(name: str) -> Path:
    """The file of that name, or a visible skip."""
    for folder in Path(__file__).resolve().parents:
        if (file := folder / "shared" / "data" / "votes" / name).exists():
            return file
    pytest.skip(f"{name} is not under shared/data/votes beside the repository")
