"""Every command and every line of Python on the page about labels runs."""

from __future__ import annotations

import shlex

import pytest

from support.commands import Run
from support.pages import DOCS, blocks

PAGE = DOCS / "labels.md"
COMMANDS = [line for line in "".join(blocks(PAGE, "sh")).splitlines() if line.startswith("swaplaw ")]


@pytest.mark.parametrize("line", COMMANDS)
def test_documented_command_runs(swaplaw: Run, line: str) -> None:
    assert swaplaw(*shlex.split(line)[1:]).code == 0


def test_documented_python_runs() -> None:
    for block in blocks(PAGE, "python"):
        exec(compile(block, str(PAGE), "exec"), {})
