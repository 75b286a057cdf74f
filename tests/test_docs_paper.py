"""What the page about the paper documents runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Finished

PAGE = Path(__file__).resolve().parent.parent / "docs" / "paper.md"
Run = Callable[..., Finished]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("block", blocks("sh"))
def test_documented_commands_run(swaplaw: Run, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in block.splitlines():
        assert swaplaw(*shlex.split(line)[1:]).code == 0


@pytest.mark.parametrize("block", blocks("python"))
def test_documented_python_runs(block: str) -> None:
    exec(compile(block, str(PAGE), "exec"), {})
