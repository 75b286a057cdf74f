"""Every command and every line of Python on the page about panels runs."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from support.commands import Run
from support.pages import DOCS, blocks

PAGE = DOCS / "panels.md"
COMMANDS = [line.split("#")[0] for line in "".join(blocks(PAGE, "sh")).splitlines() if line.startswith("swaplaw ")]


@pytest.mark.parametrize("line", COMMANDS)
def test_documented_command_runs(swaplaw: Run, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = swaplaw(*shlex.split(line)[1:])
    assert done.code == 0
    assert "panels" in done.out or "panel" in done.out


def test_documented_python_runs() -> None:
    (block,) = blocks(PAGE, "python")
    exec(compile(block, str(PAGE), "exec"), {})
