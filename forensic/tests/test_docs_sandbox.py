"""What docs/sandbox.md says is so."""

import re
from pathlib import Path

import pytest
from inspect_ai import Task

from swaplaw_forensic.sandbox.apptainer import DEFINITION
from swaplaw_forensic.sandbox.config import GIB, MIB, Limits, SandboxConfig

from testbed.places import DOCS

PAGE = DOCS / "sandbox.md"


def test_the_example_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    names: dict[str, object] = {}
    exec(code, names)
    task = names["task"]
    assert isinstance(task, Task)
    assert task.sandbox is not None
    assert isinstance(task.sandbox.config, SandboxConfig)
    assert task.sandbox.config.limits.wall_seconds == 120


def test_the_table_of_limits() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| ([\d]+(?: [GM]iB)?) \|", PAGE.read_text(), re.M))
    units = {"GiB": GIB, "MiB": MIB}
    numbers = {name: int(value.split()[0]) * units.get(value.split()[-1], 1) for name, value in told.items()}
    assert numbers == Limits().model_dump()


def test_the_build_command_names_the_definition(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"python -c '(.*?)'", PAGE.read_text())
    exec(code)
    assert Path(capsys.readouterr().out.strip()) == DEFINITION
    assert DEFINITION.exists()
