"""Every command and every piece of Python on the import page runs."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.commands import Finished
from support.data import DATA
from support.pages import DOCS

PAGE = (DOCS / "import.md").read_text()
EXAMS = """dataset,question,model,sample,answer,gold,cluster
e,1,m,0,A,A,maths
e,1,n,0,B,A,maths
e,2,m,0,A,B,maths
e,2,n,0,B,B,maths
e,1,m,0,C,C,law
e,1,n,0,C,C,law
"""
RESULTS = """id,model,extracted_answer,correct_answer,score
q1,m,Paris,Paris,1
q1,n,the capital,Paris,1
q2,m,Rome,Oslo,0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(DATA / "lm-eval", tmp_path / "logs")
    (tmp_path / "exams.csv").write_text(EXAMS)
    (tmp_path / "results.csv").write_text(RESULTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_documented_commands_run(folder: Path, swaplaw: Callable[..., Finished]) -> None:
    [block] = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
    for line in block.splitlines():
        done = swaplaw(*shlex.split(line)[1:])
        assert done.code == 0, done.err
    assert (folder / "votes.parquet").exists()


def test_documented_python_runs(folder: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "docs/import.md", "exec"), {})
