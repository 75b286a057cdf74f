"""What the page on serving documents runs, and says what it says."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import swaplaw as sl
from swaplaw.cli.render import percent
from swaplaw.decide.policy import Member, Policy
from swaplaw.serve.drift import calibrated_on

from support.commands import Finished

Run = Callable[..., Finished]
DOCS = Path(__file__).resolve().parents[2] / "docs"
PAIR = ("claude-3-opus-20240229", "gpt-4")


def commands() -> list[str]:
    page = (DOCS / "serve.md").read_text()
    lines = [line for block in re.findall(r"```\w*\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
    return [line for line in lines if line.startswith("swaplaw ") and not line.startswith("swaplaw serve")]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the policy and the live votes that the page speaks of."""
    members = (Member(PAIR[0], Fraction(1), 24), Member(PAIR[1], Fraction(2, 3), 24))
    calibrated_on(Policy(members, "deploy_pair", {}, {}), sl.demo_votes()).write(tmp_path / "policy.json")
    live = sl.demo_votes().frame.filter(pl.col("model").is_in(PAIR)).collect()
    live.write_parquet(tmp_path / "votes.parquet")
    live.with_columns(pl.lit(None, pl.String).alias("gold")).write_parquet(tmp_path / "live.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("line", commands())
def test_a_documented_command_runs(swaplaw: Run, here: Path, line: str) -> None:
    assert swaplaw(*shlex.split(line, comments=True)[1:]).code == 0


def test_the_table_of_rounds_is_what_replay_prints(swaplaw: Run, here: Path) -> None:
    done = swaplaw("replay", "demo", "policy.json", "--rounds", "1", "--rounds", "2", "--rounds", "3", "--json")
    page = (DOCS / "serve.md").read_text()
    for row in json.loads(done.out)["settings"]:
        if row["exact"]:
            shown = f"{percent(row['samples']['saved'])}% | {row['mean_rounds']:.2f}"
            assert f"{shown} | {row['p90_rounds']} | {row['max_rounds']} |" in page
