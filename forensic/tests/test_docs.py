"""The page's commands: those for one machine are run, those for a cluster are parsed."""

import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest

from swaplaw.cli import swaplaw as group

from support.commands import Run
from testbed.examiners import needs_tools
from testbed.places import DOCS

PAGE = DOCS / "forensic.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@needs_tools("fls", "foremost", "tshark", "unzip", "file", "xxd")
# Inspect leaves streams of its own open when an evaluation ends.
@pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")
def test_the_commands_for_one_machine_run(swaplaw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SWAPLAW_EVIDENCE", raising=False)
    shown = ""
    for line in "".join(blocks("shell")).splitlines():
        done = swaplaw(*shlex.split(line)[1:])
        assert done.code == 0, done.err
        shown += done.out
    assert "sha256 agree" in shown


@pytest.mark.parametrize("script", blocks("bash"))
def test_the_commands_for_a_cluster_are_sound(script: str) -> None:
    subprocess.run(["bash", "-n", "-c", script], check=True)
    lines = script.replace("\\\n", " ").splitlines()
    for words in [shlex.split(line)[1:] for line in lines if line.startswith("swaplaw ")]:
        command: click.Command = group
        context = click.Context(group)
        while isinstance(command, click.Group):
            found = command.get_command(context, words.pop(0))
            assert found is not None
            command = found
        command.make_context("test", words)
