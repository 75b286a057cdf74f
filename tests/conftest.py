"""Shared fixtures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from swaplaw.cli import main

from support.data import real_votes


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


@pytest.fixture
def shared_votes() -> Path:
    """The folder of the real vote tables."""
    return real_votes()


@pytest.fixture(autouse=True)
def _own_forensic_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Synthetic cases are built with a key of the tests, never the user's."""
    monkeypatch.setenv("SWAPLAW_FORENSIC_KEY", "the key of the tests")
