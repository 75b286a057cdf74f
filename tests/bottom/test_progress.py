"""What long work shows on a terminal, tried on a real one."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
import tempfile

import click
import pytest

from swaplaw.cli import COMMANDS, swaplaw
from swaplaw.cli.options import Command

from support.pages import ROOT


def on_terminal(*arguments: str) -> tuple[str, str]:
    """Run Python with standard error on a terminal: standard output, and what the terminal got."""
    leader, terminal = pty.openpty()
    with tempfile.TemporaryFile("w+") as out:
        running = subprocess.Popen([sys.executable, *arguments], stdout=out, stderr=terminal)
        os.close(terminal)
        seen = b""
        with contextlib.suppress(OSError):  # Linux says so that the other end is closed.
            while part := os.read(leader, 65536):
                seen += part
        os.close(leader)
        assert running.wait() == 0, seen.decode()
        out.seek(0)
        return out.read(), seen.decode()


@pytest.mark.parametrize(
    ("arguments", "labels"),
    [
        (["summary", str(ROOT / "tests" / "data" / "votes" / "aime.parquet")], ["summary", "Reading votes"]),
        (["pairs", "demo", "--json"], ["pairs"]),
    ],
)
def test_a_command_says_what_it_does_on_a_terminal_and_nowhere_else(arguments: list[str], labels: list[str]) -> None:
    out, seen = on_terminal("-m", "swaplaw", *arguments)
    for label in labels:
        assert label in seen
    plain = subprocess.run([sys.executable, "-m", "swaplaw", *arguments], capture_output=True, text=True)
    assert plain.stdout == out
    assert "\x1b" not in plain.stderr


def test_inner_work_is_drawn_and_what_is_printed_has_its_own_line() -> None:
    code = (
        "import sys\n"
        "from swaplaw._parallel import aside, busy, with_bar\n"
        "with busy('outer'):\n"
        "    assert list(with_bar('ab', 'inner', 2)) == ['a', 'b']\n"
        "    with aside():\n"
        "        print('a line', file=sys.stderr)\n"
    )
    _, seen = on_terminal("-c", code)
    before, after = seen.split("a line\r\n")
    assert before.index("outer") < before.index("inner") < before.rindex("outer")
    # Its line is cleared first; then the outer work is shown again, and cleared at the end.
    assert before.endswith("\x1b[2K")
    assert "outer" in after
    assert after.endswith("\x1b[2K")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_that_it_is_at_work_or_has_a_display_of_its_own(name: str) -> None:
    command = swaplaw.get_command(click.Context(swaplaw), name)
    below = command.commands.values() if isinstance(command, click.Group) else [command]
    assert all(isinstance(each, Command) for each in below)
