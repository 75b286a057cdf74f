"""What the page about the paper documents runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import Run
from support.pages import DOCS, blocks, words

PAGE = DOCS / "paper.md"


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("block", blocks(PAGE, "sh"))
def test_documented_commands_run(
    swaplaw: Run, block: str, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for line in block.splitlines():
        assert swaplaw(*words(line, whole=whole)).code == 0


@pytest.mark.parametrize("block", blocks(PAGE, "python"))
def test_documented_python_runs(block: str) -> None:
    exec(compile(block, str(PAGE), "exec"), {})
