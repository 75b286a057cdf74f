"""`swaplaw collect mcq` against scripted models behind real HTTP: votes, orders, abstentions, tokens and money."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from swaplaw.collect.design import order

from support.answering import PROVIDER, Answering
from support.collecting import UNCLOSED, Collect, rows, told
from support.commands import Finished

pytestmark = UNCLOSED
ASKED = 2
"""Questions of the larger collections: more would show nothing else."""
CAUSES = {"talks": "truncated", "refuses": "refused", "garbage": "no_parse", "breaks": "error"}


@dataclass(frozen=True)
class Fleet:
    votes: Path
    asked: list[dict[str, Any]]


@pytest.fixture(scope="module")
def fleet(collect: Collect, folder: Path, answering: Answering) -> Fleet:
    """Two models with a known fate, all 24 orders each."""
    before = len(answering.questions_asked())
    done = collect("first", "knows", output="fleet.parquet", options=f"--limit {ASKED} --connections 20 --json")
    assert done.code == 0, done.err
    return Fleet(folder / "fleet.parquet", answering.questions_asked()[before:])


@pytest.fixture(scope="module")
def abstaining(collect: Collect) -> Finished:
    """A model for each way not to answer, and one that answers."""
    options = f"--limit {ASKED} --samples 1 --max-tokens 50 --connections 20 --json"
    return collect(*CAUSES, "knows", output="null.parquet", options=options)


def test_who_knows_is_right_in_every_order_and_who_takes_the_first_is_at_chance(
    swaplaw: Callable[..., Finished], fleet: Fleet
) -> None:
    models = told(swaplaw("summary", fleet.votes, "--json"))
    assert models["knows"]["single"] == models["knows"]["plurality"] == 1.0
    # Each option stood first six times: all four tie, and gold gets a quarter.
    assert models["first"]["single"] == models["first"]["plurality"] == 0.25
    assert {row["votes"] for row in models.values()} == {24 * ASKED}
    assert (models["first"]["position"]["flagged"], models["first"]["position"]["position"]) == (True, 1)
    assert not models["knows"]["position"]["flagged"]


def test_every_model_sees_the_same_orders_and_votes_tell_them(fleet: Fleet) -> None:
    shown: dict[str, Counter[str]] = {"first": Counter(), "knows": Counter()}
    for request in fleet.asked:
        shown[request["model"]][request["messages"][-1]["content"]] += 1
    assert shown["first"] == shown["knows"]
    assert set(shown["first"].values()) == {1}  # All 24 orders of each question, each once.
    for vote in rows(fleet.votes):
        seen = order(0, vote["question"], vote["sample"] + 1, 4)
        assert seen[vote["position"] - 1] == "ABCD".index(vote["answer"])
        assert vote["options"] == 4
        if vote["model"].endswith("first"):
            assert vote["position"] == 1


def test_every_sample_has_a_seed_of_its_own(fleet: Fleet) -> None:
    assert len({request["seed"] for request in fleet.asked}) == len(fleet.asked) == 2 * 24 * ASKED
    assert {request["temperature"] for request in fleet.asked} == {1.0}


def test_votes_hold_no_text_of_the_questions(fleet: Fleet) -> None:
    assert set(rows(fleet.votes)[0]) == {
        "dataset", "question", "model", "sample", "answer", "gold", "reason", "correct", "tokens", "cost", "position",
        "options", "graded",
    }  # fmt: skip
    assert b"plus" not in fleet.votes.read_bytes()


def test_each_abstention_is_counted_by_its_cause(abstaining: Finished, folder: Path) -> None:
    assert abstaining.code == 1  # A provider error is work that failed: said, and kept as an abstention all the same.
    assert "run the same command again" in abstaining.err
    assert "this model cannot be asked today" in abstaining.err
    assert "plus" not in abstaining.err
    models = told(abstaining)
    for model, reason in CAUSES.items():
        assert models[model]["parsed"] == 0.0
        assert {name: share for name, share in models[model]["reasons"].items() if share} == {reason: 1.0}
    assert models["knows"]["parsed"] == 1.0
    nulls = Counter((row["model"].rpartition("/")[2], row["reason"]) for row in rows(folder / "null.parquet"))
    assert nulls == Counter(dict.fromkeys([*CAUSES.items(), ("knows", None)], ASKED))


def test_a_time_limit_is_an_abstention_of_its_own(collect: Collect) -> None:
    done = collect("hangs", output="late.parquet", options="--samples 1 --time-limit 2 --json")
    assert done.code == 0, done.err
    assert told(done)["hangs"]["reasons"]["limit"] == 1.0


def test_the_table_is_the_papers(collect: Collect) -> None:
    done = collect("talks", "knows", output="table.parquet", options="--samples 1 --max-tokens 50")
    assert done.code == 0, done.err
    title, header, *lines = [line.split() for line in done.out.splitlines() if line]
    assert title[:2] == ["8", "votes"]
    assert header[:9] == ["Model", "Votes", "Parsed", "%", "Trunc.", "%", "No", "parse", "%"]
    assert [line[:5] for line in lines] == [
        [f"{PROVIDER}/knows", "4", "100.0", "0.0", "0.0"],
        [f"{PROVIDER}/talks", "4", "0.0", "100.0", "0.0"],
    ]


def test_more_samples_later_ask_only_for_what_is_new(collect: Collect, answering: Answering) -> None:
    def ask(samples: int) -> tuple[Finished, int]:
        before = len(answering.questions_asked())
        done = collect("seeded", output="more.parquet", options=f"--samples {samples} --json")
        return done, len(answering.questions_asked()) - before

    assert ask(2)[1] == 8
    topped, asked = ask(5)
    assert asked == 12
    assert told(topped)["seeded"]["votes"] == 20
    again, asked = ask(5)
    assert asked == 0
    assert again.out == topped.out


def test_other_settings_never_mix_with_what_is_there(collect: Collect, answering: Answering) -> None:
    assert collect("knows", output="mixed.parquet", options="--samples 1").code == 0
    before = len(answering.questions_asked())
    done = collect("knows", output="mixed.parquet", options="--samples 1 --seed 7")
    assert done.code == 2
    assert "logs of another collection" in done.err
    assert len(answering.questions_asked()) == before


def test_money_is_counted_where_prices_are_known(collect: Collect, folder: Path, answering: Answering) -> None:
    (folder / "prices.json").write_text(json.dumps({f"{PROVIDER}/knows": {"input": 2.0, "output": 10.0}}))
    options = f"--token-prices {folder / 'prices.json'} --json"
    before = len(answering.asked)
    planned = told(collect("knows", output="money.parquet", options=f"{options} --samples 1 --dry-run"))["knows"]
    assert len(answering.asked) == before
    assert (planned["samples"], planned["finished"], planned["completion_tokens"]) == (4, 0, 4 * 4096)
    assert planned["cost"] == pytest.approx((planned["prompt_tokens"] * 2 + 4 * 4096 * 10) / 1e6)
    spent = told(collect("knows", output="money.parquet", options=f"{options} --samples 1"))["knows"]
    votes = rows(folder / "money.parquet")
    assert spent["tokens"] == sum(row["tokens"] for row in votes)
    assert spent["cost"] == pytest.approx(sum((100 * 2 + (row["tokens"] - 100) * 10) / 1e6 for row in votes))
    left = told(collect("knows", output="money.parquet", options=f"{options} --samples 3 --dry-run"))["knows"]
    assert (left["finished"], left["completion_tokens"]) == (4, 8 * 4096)
