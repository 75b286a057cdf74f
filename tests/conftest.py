"""Shared fixtures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from swaplaw.cli import main


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str


@pytest.fixture
def swaplaw(capsys: pytest.CaptureFixture[str]) -> Callable[..., Finished]:
    """Run the command line in this process."""

    def run(*arguments: str | Path) -> Finished:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return Finished(stopped.value.code, printed.out, printed.err)

    return run


def real_votes(name: str = "") -> Path:
    """A real vote table (or the folder of them) that is too large to bundle and lives beside the repository."""
    for above in Path(__file__).resolve().parents:
        if (found := above / "shared" / "data" / "votes" / name).exists():
            return found
    pytest.skip("the real vote tables are not beside the repository")


@pytest.fixture
def shared_votes() -> Path:
    """The folder of the real vote tables."""
    return real_votes()
