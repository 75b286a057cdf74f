"""What the page on collecting says of samples and questions runs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from swaplaw.cli.collect import sample

from support.pages import ROOT, blocks
from support.question_tables import SUPERGPQA, written

PAGE = ROOT / "docs" / "collect.md"
LINES = [line.split("#")[0] for block in blocks(PAGE, "sh") for line in block.splitlines()]
COMMANDS = [line for line in LINES if line.startswith("swaplaw collect sample ")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    levels, numbers = ("easy", "middle", "hard"), range(6000)
    rows = [SUPERGPQA | {"uuid": str(n), "difficulty": levels[n % 3], "discipline": f"d{n % 13}"} for n in numbers]
    written(tmp_path, *rows, name="SuperGPQA-all.jsonl")
    exam = [{"ask": f"{n}?", "one": "x", "two": "y", "three": "", "answer": "B", "level": "hard"} for n in range(4)]
    written(tmp_path, *exam, name="exam.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("line", COMMANDS)
def test_documented_command_runs(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, group, name, *arguments = shlex.split(line)
    assert (program, group, name) == ("swaplaw", "collect", sample.name)
    sample.main(arguments, standalone_mode=False)
    shown = capsys.readouterr().out
    if "--json" in arguments:
        assert json.loads(shown)["schema"] == "swaplaw.sample"
    if "-o" in arguments:
        assert (folder / arguments[arguments.index("-o") + 1]).exists()


@pytest.mark.usefixtures("folder")
def test_documented_python_runs() -> None:
    [block] = [block for block in blocks(PAGE, "python") if "read_manifest" in block]
    exec(compile(block, str(PAGE), "exec"), {})
