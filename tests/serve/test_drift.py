"""Drift: no false alarms beyond the stated share, and a swapped member noticed, on recorded real votes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from statistics import median

import httpx
import polars as pl
import pytest

import swaplaw as sl
from serve.test_app import vote
from swaplaw.decide.policy import Member, Policy, read_policy
from swaplaw.serve.drift import ALARM, Bet, calibrated, calibration_of, monitor_of
from swaplaw.serve.replay import recorded

from support.commands import Finished
from support.drifting import CLAUDE as PAIR
from support.drifting import EXAMS, Case, streams
from support.drifting import SAMPLES as N
from support.upstreams import Start, World, serve

Run = Callable[..., Finished]


def policy() -> Policy:
    return Policy((Member(PAIR[0], Fraction(1), N), Member(PAIR[1], Fraction(2, 3), N)), "test", {}, {})


def alarms(live: tuple[str, str], number: int, length: int = 400) -> list[int | None]:
    return streams(Case(EXAMS, PAIR, live), number, length=length)


@pytest.mark.slow
def test_streams_without_drift_alarm_in_at_most_5_percent() -> None:
    # Of 600 streams at 5%, more than 48 would be three standard errors too many.
    assert sum(at is not None for at in alarms(PAIR, 600)) <= 48


def test_few_streams_without_drift_alarm() -> None:
    assert sum(at is not None for at in alarms(PAIR, 15, length=150)) <= 4


@pytest.mark.parametrize(
    ("live", "within"),
    [
        (("gpt-35-turbo", "gpt-4"), 100),
        (("claude-3-opus-20240229", "llama-2-70b-chat"), 250),
    ],
)
def test_a_swapped_member_is_noticed(live: tuple[str, str], within: int) -> None:
    noticed = [at or 10**6 for at in alarms(live, 9)]
    assert median(noticed) <= within


def test_a_bet_on_uniform_places_stays_fair() -> None:
    """The mean of many bets without drift is 1, whatever the values: here with many ties."""
    ends = []
    for seed in range(400):
        rng = Random(seed)
        bet = Bet([rng.choice([0.0, 0.0, 0.5, 1.0]) for _ in range(30)], Random(seed + 10_000))
        for _ in range(40):
            bet.observe(rng.choice([0.0, 0.0, 0.5, 1.0]))
        ends.append(bet.evidence)
        assert bet.p == min(1.0, 1 / bet.most)
    assert 0.5 < sum(ends) / len(ends) < 1.7
    assert sum(end >= ALARM for end in ends) <= 20


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    votes = recorded(sl.demo_votes(), PAIR)
    file = tmp_path / "policy.json"
    calibrated(policy(), votes.by_question(PAIR)).write(file)
    return file


def live_file(path: Path, models: Sequence[str], questions: int = 100) -> Path:
    """Votes as a server would have recorded them: no gold, in the order of time."""
    votes = recorded(sl.demo_votes(), models).by_question(models)
    rows = [
        {"question": q, "model": member, "sample": k, "answer": answer, "gold": None, "time": f"2026-01-01T{place:06}"}
        for place, (q, cast) in enumerate(Random(1).sample(sorted(votes.items()), questions))
        for member, own in zip(PAIR, cast, strict=True)
        for k, answer in enumerate(own[N : 2 * N])
    ]
    pl.DataFrame(rows, schema_overrides={"answer": pl.String, "gold": pl.String}).write_parquet(path)
    return path


def test_the_policy_carries_what_to_expect_without_what_was_said(policy_file: Path) -> None:
    carried = calibration_of(read_policy(policy_file))
    assert carried is not None
    assert len(carried) == 100
    assert {answer for question in carried for own in question for answer in own} <= {None, *"123456"}


def test_the_command(swaplaw: Run, policy_file: Path, tmp_path: Path) -> None:
    same = swaplaw("drift", policy_file, live_file(tmp_path / "same.parquet", PAIR), "--json")
    assert same.code == 0
    document = json.loads(same.out)
    assert document["alarm"] is False
    assert [member["model"] for member in document["members"]] == list(PAIR)
    for member in document["members"]:
        for name in ("disagreement", "abstention", "margin"):
            assert set(member[name]) >= {"expected", "observed", "p"}
            assert 0 < member[name]["p"] <= 1
    other = live_file(tmp_path / "other.parquet", ("llama-2-7b-chat", "gpt-4"))
    swapped = swaplaw("drift", policy_file, other, "--json", "--fail-on-alarm")
    assert (swapped.code, json.loads(swapped.out)["alarm"]) == (3, True)
    shown = swaplaw("drift", policy_file, other)
    assert "ALARM at question" in shown.out


def test_the_policy_may_come_last(swaplaw: Run, policy_file: Path, tmp_path: Path) -> None:
    """As it does for `replay`."""
    files = [live_file(tmp_path / name, PAIR) for name in ("one.parquet", "two.parquet")]
    first, last = swaplaw("drift", policy_file, files[0]), swaplaw("drift", files[0], policy_file)
    assert (first.code, first.out) == (0, last.out)
    assert swaplaw("drift", *files, policy_file).out == swaplaw("drift", policy_file, *files).out


def test_expected_votes_can_be_given(swaplaw: Run, tmp_path: Path) -> None:
    file = tmp_path / "bare.json"
    policy().write(file)
    live = live_file(tmp_path / "live.parquet", PAIR)
    done = swaplaw("drift", file, live)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "--calibration" in done.err
    assert swaplaw("drift", file, live, "--calibration", "demo").code == 0


@pytest.mark.parametrize(
    ("columns", "message"), [({"question": ["1"]}, "column 'model' is missing"), (None, "there is no such file")]
)
def test_bad_live_votes_are_one_clear_line(
    swaplaw: Run, policy_file: Path, tmp_path: Path, columns: dict[str, list[str]] | None, message: str
) -> None:
    live = tmp_path / "live.parquet"
    if columns is not None:
        pl.DataFrame(columns).write_parquet(live)
    done = swaplaw("drift", policy_file, live)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert message in done.err


def test_a_directory_of_live_votes_says_what_to_do(swaplaw: Run, policy_file: Path, tmp_path: Path) -> None:
    done = swaplaw("drift", policy_file, tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "a directory; name the files of live votes in it" in done.err


def test_the_server_watches_too(base_url: str, world: World, start: Start) -> None:
    """A member that agreed with the other now says something else: the metrics ring the alarm."""
    expected = {str(q): [["A"] * 3, ["A"] * 3] for q in range(60)}
    served = serve(base_url, ("says-A", "1", 3), ("texts-second", "1", 3), stop={"exact": False})
    carrying = calibrated(served.policy, expected)
    assert monitor_of(carrying) is not None
    from dataclasses import replace

    client = start(replace(served, policy=carrying))
    root = str(client.base_url).replace("/v1/", "")
    world.texts["second"] = "The answer is (B)."
    for _ in range(25):
        vote(client)
    metrics = httpx.get(f"{root}/metrics").text
    assert 'swaplaw_drift_alarm{policy="pool"} 1.0' in metrics
    assert 'swaplaw_drift_evidence{member="texts-second",policy="pool"}' in metrics
