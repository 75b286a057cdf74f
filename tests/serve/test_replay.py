"""Recorded votes played back, as a command and as a function."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.decide.policy import Member, Policy
from swaplaw.serve.replay import Recorded, replay
from swaplaw.serve.stop import StopRule

from support.commands import Run


def pair(samples: int = 24, **serving: Any) -> Policy:
    members = (
        Member("claude-3-opus-20240229", Fraction(1), samples, 0.03),
        Member("gpt-4", Fraction(2, 3), samples, 0.01),
    )
    return Policy(members, "deploy_pair", {}, {}, serving)


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    file = tmp_path / "policy.json"
    pair(stop={"rounds": 2}).write(file)
    return file


def test_the_command(swaplaw: Run, policy_file: Path) -> None:
    done = swaplaw("replay", "demo", policy_file, "--json")
    assert done.code == 0
    document = json.loads(done.out)
    assert document["of"] == 100
    rows = {row["setting"]: row for row in document["settings"]}
    assert list(rows) == ["all samples", "exact", "as the policy says"]
    assert rows["all samples"]["samples"] == {"planned": 4800, "spent": 4800, "saved": 0}
    assert rows["exact"]["changed"] == rows["as the policy says"]["changed"] == 0
    assert rows["exact"]["samples"]["saved"] >= 0.3
    assert rows["exact"]["accuracy"] == rows["all samples"]["accuracy"]
    assert rows["exact"]["cost"] < rows["all samples"]["cost"] == pytest.approx(24 * 100 * 0.04)
    assert rows["as the policy says"]["mean_rounds"] <= 3
    assert len(rows["exact"]["decisions"]) == 100


def test_the_table(swaplaw: Run, policy_file: Path) -> None:
    done = swaplaw("replay", "demo", policy_file, "--rounds", "1", "--decisions")
    assert done.code == 0
    assert "100 of 100 questions, samples in recorded order" in done.out
    assert "exact, 1 round " in done.out


def test_the_policy_may_come_first(swaplaw: Run, policy_file: Path) -> None:
    """As it does for `drift`."""
    first, last = swaplaw("replay", policy_file, "demo"), swaplaw("replay", "demo", policy_file)
    assert (first.code, first.out) == (0, last.out)


def test_a_shuffle_repeats_with_its_seed(swaplaw: Run, policy_file: Path) -> None:
    runs = [swaplaw("replay", "demo", policy_file, "--json", "--seed", seed).out for seed in ("1", "1", "2")]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo"], "the policy file"),
        (["demo", "missing.json"], "cannot read the policy"),
        (["demo", "policy.json", "--dataset", "x"], "there is no dataset 'x'"),
        (["demo", "other.json"], "has no votes here"),
        (["demo", "odd.json"], "serving.stop is"),
    ],
)
def test_bad_input_is_one_clear_line(
    swaplaw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    pair().write("policy.json")
    pair(stop={"exact": "yes"}).write("odd.json")
    Policy((Member("nobody", Fraction(1), 1),), "x", {}, {}).write("other.json")
    done = swaplaw("replay", *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


@given(st.data())
def test_no_exact_setting_changes_a_decision(data: st.DataObject) -> None:
    answers = st.sampled_from(["A", "B", None])
    members = tuple(
        Member(name, data.draw(st.fractions("1/4", 2, max_denominator=5)), data.draw(st.integers(1, 6)))
        for name in "XYZ"
    )
    # Fewer votes than the policy draws, and more, are both found in real tables.
    votes = {(name, q): data.draw(st.lists(answers, min_size=1, max_size=8)) for name in "XYZ" for q in ("1", "2")}
    rules = {"all": StopRule(exact=False), "exact": StopRule(), "rounds": StopRule(rounds=data.draw(st.integers(1, 3)))}
    full, exact, rounds = replay(
        Recorded(votes, {"1": frozenset("A"), "2": frozenset("B")}), Policy(members, "x", {}, {}), rules
    )
    assert exact.changed == rounds.changed == 0
    assert [one.winner for one in full.decisions] == [one.winner for one in exact.decisions]
    assert exact.spent <= rounds.spent <= full.spent
    assert exact.accuracy == rounds.accuracy == full.accuracy
