"""Every command and every line of Python on the pages about combining runs, and the audit says what is shown."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from swaplaw.decide.rules import RULES

from support.commands import Run
from support.data import real_votes
from support.pages import DOCS, blocks

PAGE, AUDIT = DOCS / "combine.md", DOCS / "audit.md"


def commands(page: Path) -> list[str]:
    return [line for line in "".join(blocks(page, "sh")).splitlines() if line.startswith("swaplaw ")]


@pytest.mark.parametrize("line", commands(PAGE))
def test_documented_command_runs(swaplaw: Run, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = swaplaw(*shlex.split(line)[1:])
    assert done.code == 0
    assert "smooth" in done.out


def test_documented_python_runs() -> None:
    for block in blocks(PAGE, "python"):
        exec(compile(block, str(PAGE), "exec"), {})
    RULES.unregister("first")


def test_every_rule_is_documented() -> None:
    text = PAGE.read_text()
    assert all(f"| `{name}` | {RULES[name].summary[:10]}" in text or f"| `{name}` |" in text for name in RULES)


@pytest.mark.slow
def test_the_audit_gets_what_the_page_says(swaplaw: Run) -> None:
    (line,) = commands(AUDIT)
    arguments = shlex.split(line.replace("votes.parquet", str(real_votes("best-of-infinity.parquet"))))[1:]
    shown = swaplaw(*arguments).out
    for sentence in blocks(AUDIT, "text"):
        assert sentence.strip() in shown
