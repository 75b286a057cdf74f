"""What the front pages document runs, and prints what they show. Each topic's page is run by that topic's tests."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from support.commands import Run
from support.pages import ROOT, blocks, whole_and_less, words

PAGES = [ROOT / "README.md", ROOT / "docs" / "votes.md", ROOT / "docs" / "architecture.md"]


def commands() -> list[str]:
    lines = [line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines()]
    return [line.split("#")[0].strip() for line in lines if line.startswith("swaplaw ")]


@pytest.mark.parametrize(("line", "whole"), whole_and_less(commands(), ("combine",)))
def test_documented_command_runs(
    swaplaw: Run, line: str, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert swaplaw(*words(line, whole=whole)).code == 0


def test_documented_output_is_the_real_output(swaplaw: Run) -> None:
    for page in PAGES:
        for block in blocks(page, "console"):
            prompt, _, expected = block.partition("\n")
            assert expected.strip() in swaplaw(*shlex.split(prompt.removeprefix("$ "))[1:]).out


def test_documented_python_runs() -> None:
    for page in PAGES:
        for block in blocks(page, "python"):
            exec(compile(block, str(page), "exec"), {})


def test_the_two_commands_of_the_readme_are_the_ones_ci_runs() -> None:
    assert "python scripts/test.py" in (ROOT / "README.md").read_text()
    assert "python3 scripts/test.py" in (ROOT / ".ci" / "run").read_text()
