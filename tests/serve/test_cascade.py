"""Cascades: the exact front against a plain count, against `replay`, and against what is served."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swaplaw as sl
from serve.test_recorded import ask_all
from swaplaw.decide.cascade import cascade_policy, cascades
from swaplaw.decide.policy import read_policy
from swaplaw.errors import InputError
from swaplaw.serve.app import create_app
from swaplaw.serve.demo import Script, running, scripted_app
from swaplaw.serve.replay import recorded, replay
from swaplaw.serve.settings import served_from
from swaplaw.serve.stop import StopRule
from swaplaw.votes.table import Votes

from support.commands import Finished
from support.data import real_votes

Run = Callable[..., Finished]
A, B = "claude-3-opus-20240229", "gpt-4"
GPQA = ("gpqa-diamond", "gpt-oss-20b", "MetaStone-S1-32B")

Question = tuple[str, list[str | None], list[str | None]]


def twin(questions: list[Question], weight: Fraction, threshold: Fraction | None) -> tuple[Fraction, int]:
    """Summed score and number of questions asked on, counted plainly."""
    total, asked = Fraction(0), 0
    for gold, first, second in questions:
        counts = sorted(Counter(first).values(), reverse=True)
        lead = Fraction(counts[0] - (counts[1] if len(counts) > 1 else 0), len(first))
        asks = threshold is not None and lead <= threshold
        asked += asks
        scores: dict[str | None, Fraction] = {}
        for votes, share in [(first, Fraction(1)), *([(second, weight)] if asks else [])]:
            for answer in votes:
                scores[answer] = scores.get(answer, Fraction(0)) + share / len(votes)
        tied = [answer for answer, score in scores.items() if score == max(scores.values())]
        total += Fraction(gold in tied, len(tied))
    return total, asked


def as_votes(questions: list[Question]) -> Votes:
    rows = [
        {"question": f"{place:03}", "model": model, "answer": answer, "gold": gold}
        for place, (gold, *both) in enumerate(questions)
        for model, votes in zip(("A", "B"), both, strict=True)
        for answer in votes
    ]
    return sl.votes_from(pl.DataFrame(rows, schema_overrides={"answer": pl.String}))


answers = st.sampled_from(["x", "y", "z", None])
worlds = st.lists(
    st.tuples(
        st.sampled_from(["x", "y"]),
        st.lists(answers, min_size=1, max_size=5),
        st.lists(answers, min_size=1, max_size=5),
    ),
    min_size=1,
    max_size=7,
)


@settings(deadline=None, max_examples=60)
@given(worlds)
def test_every_cascade_scores_as_a_plain_count_does(questions: list[Question]) -> None:
    found = cascades(as_votes(questions).tally(), "A", "B")
    sheet = found.sheet
    weights = [sheet.weight(s, s) for s in range(len(sheet.firsts)) if sheet.open[s]]
    thresholds: list[Fraction | None] = [None, *found.levels]
    everything = {(x, t): twin(questions, x, t) for x in weights for t in thresholds}
    n = len(questions)
    for (x, t), (score, asked) in everything.items():
        one = found.at(x, t)
        assert (one.accuracy, one.asked) == (score / n, Fraction(asked, n))
    front = [(one.asked, one.accuracy) for one in found.front]
    best = {asked: max(s for s, a in everything.values() if a == asked) for _, asked in everything.values()}
    expected, top = [], Fraction(-1)
    for asked, score in sorted(best.items()):
        if score > top:
            top = score
            expected.append((Fraction(asked, n), score / n))
    assert front == expected


@settings(deadline=None, max_examples=40)
@given(worlds, st.fractions("1/5", 3, max_denominator=7))
def test_asking_up_to_the_weight_loses_nothing(questions: list[Question], weight: Fraction) -> None:
    found = cascades(as_votes(questions).tally(), "A", "B")
    always = found.at(weight, Fraction(1))
    assert always.asked == 1
    assert found.at(weight, min(weight, Fraction(1))).accuracy == always.accuracy
    assert always.accuracy == found.pair.at(weight).accuracy


def test_the_front_is_what_replay_and_the_server_decide(tmp_path: Path) -> None:
    votes = sl.demo_votes()
    frame = votes.frame.collect()
    place = pl.col("sample").rank("ordinal").over("model", "question")
    first = sl.votes_from(frame.filter(place <= 24, pl.col("model").is_in([A, B])))
    found = cascades(first.tally(), A, B)
    script = recorded(first, [A, B])
    assert len(found.front) > 2
    for one in found.front[1:]:
        policy = cascade_policy(found, one, found.held_out(repeats=1))
        rules = {"all": StopRule(exact=False), "exact": StopRule(), "rounds": StopRule(rounds=1)}
        for row in replay(script, policy, rules):
            assert row.changed == 0
            assert (row.accuracy, row.asked) == (one.accuracy, one.asked)
    with running(scripted_app(Script(script.answers))) as upstream:
        serving = {"upstreams": {m.model: {"base_url": upstream, "batch": 24} for m in policy.members}, "seed": 0}
        answer = {"read": "choice", "choices": "ABCDE"}
        served = served_from(replace(policy, serving={**serving, "answer": answer}), "pool")
        with running(create_app([served])) as url:
            replies = asyncio.run(ask_all(url, sorted(script.right)))
    decided = {question: reply["swaplaw"] for question, reply in replies.items()}
    (played,) = replay(script, policy, {"as served": StopRule(rounds=2)})
    assert {q: vote["winner"] for q, vote in decided.items()} == {d.question: d.winner for d in played.decisions}
    asked = sum(vote["members"][1]["votes"] > 0 for vote in decided.values())
    assert Fraction(asked, len(decided)) == one.asked
    assert {vote["stopped"] for vote in decided.values()} >= {"cascade"}


def test_the_front_of_gpqa_diamond_is_what_replay_decides() -> None:
    dataset, primary, secondary = GPQA
    votes = sl.read_votes([str(real_votes("best-of-infinity.parquet"))])
    found = cascades(votes.tally(dataset), primary, secondary)
    one = found.front[-1]
    policy = cascade_policy(found, one, found.held_out(repeats=1))
    for row in replay(votes, policy, {"all": StopRule(exact=False), "exact": StopRule()}, dataset=dataset):
        assert row.changed == 0
        assert (row.accuracy, row.asked) == (one.accuracy, one.asked)


@settings(deadline=None, max_examples=30)
@given(worlds)
def test_the_lossless_cascade_decides_as_the_pair_and_asks_no_more(questions: list[Question]) -> None:
    found = cascades(as_votes(questions).tally(), "A", "B")
    folds = min(3, len(questions))
    if folds < 2:
        return
    pair, lossless = (found.held_out(how=how, folds=folds, repeats=1) for how in ("pair", "lossless"))
    assert lossless.accuracy == pair.accuracy
    assert lossless.over(pair).mean == 0
    assert lossless.asked <= pair.asked == 1


def test_the_command(swaplaw: Run, tmp_path: Path) -> None:
    dataset, primary, secondary = GPQA
    file = tmp_path / "cascade.json"
    votes = real_votes("best-of-infinity.parquet")
    options = ["--dataset", dataset, "--primary", primary, "--secondary", secondary]
    done = swaplaw("cascade", votes, *options, "--json", "-o", file)
    assert done.code == 0
    document = json.loads(done.out)
    assert document["cost_unit"] == "tokens"
    front = document["front"]
    assert front[0]["threshold"] is None
    assert front[0]["asked"] == front[0]["lift"] == 0
    for before, after in pairwise(front):
        assert before["asked"] < after["asked"]
        assert before["accuracy"] < after["accuracy"]
        assert before["cost"] < after["cost"]
    chosen, pair = document["chosen"], document["pair"]["held_out"]
    assert chosen["accuracy"] == front[-1]["accuracy"]
    held = chosen["held_out"]
    assert held["low"] <= held["mean"] <= held["high"]
    lossless, over = document["lossless"]["held_out"], document["over_pair"]
    assert lossless["accuracy"] == pair["accuracy"]
    assert lossless["cost"] < 0.7 * pair["cost"]
    assert over["low"] < over["mean"] < over["high"]
    assert over["mean"] == pytest.approx(held["accuracy"] - pair["accuracy"])
    # As accurate as the pair on questions that had no part in the choice, for less than half of its tokens.
    assert held["accuracy"] >= pair["accuracy"]
    assert held["cost"] < 0.5 * pair["cost"]
    policy = read_policy(file)
    assert str(policy.voting.threshold) == chosen["threshold"]
    shown = swaplaw("cascade", votes, *options)
    assert "Each row is more accurate than every cascade that asks less." in shown.out
    assert "% less than the pair" in shown.out
    few = json.loads(swaplaw("cascade", votes, *options, "--json", "--most-asked", "0.1").out)["chosen"]
    assert few["asked"] <= 0.1


def test_prices_are_costs(swaplaw: Run) -> None:
    prices = ["--price", f"{A}=0.03", "--price", f"{B}=0.01"]
    document = json.loads(swaplaw("cascade", "demo", "--primary", A, "--secondary", B, *prices, "--json").out)
    never, *_, most = document["front"]
    assert never["cost"] == pytest.approx(30 * 0.03)
    assert most["cost"] == pytest.approx(30 * (0.03 + most["asked"] * 0.01))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--primary", A, "--secondary", A], "two different models"),
        (["--primary", A, "--secondary", "x"], "there is no model 'x'"),
        (["--primary", A, "--secondary", B, "--most-asked", "2"], "--most-asked is 2.0"),
        (["--primary", A, "--secondary", B, "--price", f"{A}=1"], "no price for 'gpt-4'"),
    ],
)
def test_bad_input_is_one_clear_line(swaplaw: Run, arguments: list[str], message: str) -> None:
    done = swaplaw("cascade", "demo", *arguments)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert message in done.err


def test_a_missing_cost_is_named() -> None:
    with pytest.raises(InputError, match="no cost of 'B' on question '000'"):
        cascades(as_votes([("x", ["x"], ["y"])]).tally(), "A", "B", {"A": {"000": 1.0}})
