"""The page's commands: those for one machine are run, those for a cluster are parsed."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from examiners import needs_tools
from swaplaw.cli import swaplaw

PAGE = Path(__file__).resolve().parents[2] / "docs" / "forensic.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@needs_tools("fls", "foremost", "tshark", "unzip", "file", "xxd")
def test_the_commands_for_one_machine_run(tmp_path: Path) -> None:
    script = "set -eu\n" + "\n".join(blocks("shell"))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if name != "SWAPLAW_EVIDENCE"} | {"PATH": path}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "41 votes" in done.stdout
    assert (tmp_path / "votes.parquet").is_file()


@pytest.mark.parametrize("script", blocks("bash"))
def test_the_commands_for_a_cluster_are_sound(script: str) -> None:
    subprocess.run(["bash", "-n", "-c", script], check=True)
    lines = script.replace("\\\n", " ").splitlines()
    for words in [shlex.split(line)[1:] for line in lines if line.startswith("swaplaw ")]:
        command: click.Command = swaplaw
        context = click.Context(swaplaw)
        while isinstance(command, click.Group):
            found = command.get_command(context, words.pop(0))
            assert found is not None
            command = found
        command.make_context("test", words)
