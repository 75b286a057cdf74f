"""Every command and every line of Python on the pages about calls and comparisons runs; their figures are ours."""

from __future__ import annotations

import re
import shlex

import pytest

import swaplaw as sl

from support.commands import Run
from support.data import real_votes
from support.pages import DOCS, blocks

PAGES = [DOCS / "front.md", DOCS / "compare.md", DOCS / "replication.md"]
COMMANDS = [line for page in PAGES for line in "".join(blocks(page, "sh")).splitlines() if line.startswith("swaplaw ")]


@pytest.mark.parametrize("line", COMMANDS)
def test_documented_command_runs(swaplaw: Run, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(real_votes())
    done = swaplaw(*shlex.split(line)[1:])
    assert done.code == 0, done.err


def test_documented_python_runs() -> None:
    for page in PAGES:
        for block in blocks(page, "python"):
            exec(compile(block, str(page), "exec"), {})


def test_shared_models_have_the_accuracies_on_the_page() -> None:
    tally = sl.read_votes(real_votes("best-of-infinity.parquet")).tally("gpqa-diamond")
    rows = re.findall(r"^\| (\S+) \| (\S+) \| (\S+) \|$", (DOCS / "compare.md").read_text(), flags=re.MULTILINE)
    shared = {name: (paper, ours) for name, paper, ours in rows if name in tally.models}
    assert {paper for paper, _ in shared.values()} == {"71.4", "65.0"}
    for name, (_, ours) in shared.items():
        model = tally.index(name)
        assert ours == f"{100 * (tally.gold[model] / tally.votes[model]).mean():.1f}"
