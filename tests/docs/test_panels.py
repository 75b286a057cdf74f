"""Every command and every line of Python on the page about panels and fleets runs, and the audit says what is shown."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from swaplaw.decide.rules import RULES

from support.commands import Run
from support.data import real_votes
from support.pages import DOCS, blocks

PAGE = DOCS / "panels.md"
COMMANDS = [line.split("#")[0] for line in "".join(blocks(PAGE, "sh")).splitlines() if line.startswith("swaplaw ")]
[AUDIT] = blocks(PAGE, "bash")


@pytest.mark.parametrize("line", COMMANDS)
def test_documented_command_runs(swaplaw: Run, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = swaplaw(*shlex.split(line)[1:])
    assert done.code == 0
    assert "panel" in done.out or "smooth" in done.out


def test_documented_python_runs() -> None:
    for block in blocks(PAGE, "python"):
        exec(compile(block, str(PAGE), "exec"), {})
    RULES.unregister("first")


def test_every_rule_is_documented() -> None:
    text = PAGE.read_text()
    assert [name for name in RULES if f"| `{name}` |" not in text] == []


def test_the_audit_gets_what_the_page_says(swaplaw: Run) -> None:
    arguments = shlex.split(AUDIT.replace("votes.parquet", str(real_votes("best-of-infinity.parquet"))))[1:]
    shown = swaplaw(*arguments).out
    for sentence in blocks(PAGE, "text"):
        assert sentence.strip() in shown
