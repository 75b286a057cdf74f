"""The example workflow: its gates open for sound votes and a proven gain, and close with exit code 3 otherwise."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl
import pytest
import yaml  # type: ignore[import-untyped]

import swaplaw as sl

from support.commands import Run
from support.pages import ROOT

WORKFLOWS = [*(ROOT / ".github" / "workflows").glob("*.yml"), ROOT / "examples" / "github-workflow.yml"]


def steps(file: Path) -> list[str]:
    jobs = yaml.safe_load(file.read_text())["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def code(swaplaw: Run, name: str) -> int:
    """The exit code of a command of the workflow."""
    [line] = [line for line in steps(WORKFLOWS[-1]) if line.startswith(f"swaplaw {name} ")]
    return swaplaw(*shlex.split(line.split(">>")[0].replace("$MODEL", "gpt"))[1:]).code


def test_the_gates_of_the_example(swaplaw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three models on MMLU-Pro, where a panel is proven to gain; then with golds in a spelling that no model uses."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes").mkdir()
    wide = pl.read_csv(ROOT / "examples" / "wide.csv")
    wide = wide.rename({max(wide.columns[3:], key=lambda name: (wide[name] == wide["gold"]).sum()): "gpt"})
    wide.write_csv(tmp_path / "votes" / "votes.csv")
    assert [code(swaplaw, name) for name in ("checks", "compare", "recommend", "report")] == [0, 0, 0, 0]
    assert sl.decide.read_policy(tmp_path / "policy.json").verdict == "deploy_panel"
    spelt = pl.col("gold").replace({letter: f"option {letter}" for letter in "ABCD"})
    wide.with_columns(spelt).write_csv(tmp_path / "votes" / "votes.csv")
    assert [code(swaplaw, name) for name in ("checks", "recommend")] == [3, 3]


def test_workflows_call_the_scripts_of_this_repository() -> None:
    told = [line for file in WORKFLOWS[:-1] for line in steps(file)]
    assert len(WORKFLOWS) == 3
    assert {line.split()[1] for line in told} == {".ci/run", "scripts/test.py"}
    ran = (ROOT / ".ci" / "run").read_text()
    assert "scripts/test.py" in ran
    assert "scripts/build.py" in ran
