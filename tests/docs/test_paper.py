"""What the page about the paper documents runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import Run
from support.pages import DOCS, blocks, words

PAGE = DOCS / "paper.md"


DRAWING = ("swaplaw reproduce", "swaplaw simulate")
"""Commands that draw many figures. With less to do the tests of each run them, as this page has them."""


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, marks=[pytest.mark.slow] if block.startswith(DRAWING) else [])
        for block in blocks(PAGE, "sh")
    ],
)
def test_documented_commands_run(swaplaw: Run, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in block.splitlines():
        assert swaplaw(*words(line)).code == 0


@pytest.mark.parametrize("block", blocks(PAGE, "python"))
def test_documented_python_runs(block: str) -> None:
    exec(compile(block, str(PAGE), "exec"), {})
