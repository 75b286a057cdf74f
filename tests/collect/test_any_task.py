"""Any Inspect task is collected as multiple-choice questions are: scripted models, free text, an agent with a tool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import swaplaw as sl

from support.answering import KEY, PROVIDER, Answering
from support.collecting import UNCLOSED, killed_half_way, rows
from support.commands import Run

pytestmark = UNCLOSED

TASKS = '''
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import exact, includes, match
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool

SAMPLES = [Sample(input=f"What is {n} plus {n}?", target=str(2 * n), id=f"q{n}") for n in range(1, 9)]

@task
def sums(first: int = 1) -> Task:
    return Task(dataset=SAMPLES[first - 1:], solver=generate(), scorer=includes())

@task
def maths() -> Task:
    return Task(dataset=SAMPLES, solver=generate(), scorer=match(numeric=True))

@task
def two() -> Task:
    return Task(dataset=SAMPLES, solver=generate(), scorer=[includes(), exact()])

@tool
def adder():
    async def execute(x: int) -> int:
        """Add.

        Args:
            x: what is doubled.
        """
        return 2 * x
    return execute

@task
def agent() -> Task:
    return Task(dataset=SAMPLES, solver=[use_tools(adder()), generate()], scorer=includes())
'''


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "tasks.py"
    file.write_text(TASKS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRIPTED_API_KEY", KEY)
    return file


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answering]:
    with Answering({f"What is {n} plus {n}?": str(2 * n) for n in range(1, 9)}) as answering:
        monkeypatch.setenv("SCRIPTED_BASE_URL", answering.url)
        yield answering


def words(task: str, folder: Path, *more: str) -> list[str]:
    models = [part for model in ("adds", "sums") for part in ("--model", f"{PROVIDER}/{model}")]
    return ["collect", task, *models, "-o", str(folder / "votes.parquet"), *more]


def asked(server: Answering) -> int:
    """Samples that were begun: requests that put a question and hold no reply yet."""
    return sum("What is" in str(request["messages"][-1]["content"]) for request in server.asked)


def votes_and_logs(folder: Path, name: str, task: str) -> tuple[list[Any], list[Any]]:
    """The votes that were written, and those that the logs hold."""
    columns = ["model", "question", "sample", "answer", "gold", "correct"]
    written = [tuple(vote[column] for column in columns) for vote in rows(folder / f"{name}.parquet")]
    direct = sl.import_votes(folder / f"{name}.logs", dataset=task).votes.frame.collect()
    return written, sorted(direct.select(columns).rows())


@pytest.mark.parametrize("name", ["maths", "sums", "agent"])
def test_killed_and_resumed_every_vote_is_in_the_logs_and_nothing_is_asked_again(
    name: str, tasks: Path, server: Answering, swaplaw: Run
) -> None:
    folder, total = tasks.parent, 2 * 8 * 5
    models = f"--model {PROVIDER}/adds --model {PROVIDER}/sums --votes 5 --connections 3"
    words = [f"{tasks}@{name}", *models.split()]
    finished = killed_half_way(words, folder, server, total // 2)
    assert total // 2 <= len(finished) < total
    before = asked(server)
    done = swaplaw("collect", *words, "-o", str(folder / "killed.parquet"))
    assert done.code == 0, done.err
    assert asked(server) - before <= total - len(finished)
    written, logged = votes_and_logs(folder, "killed", name)
    assert written == logged
    assert len(written) == total
    assert 0 < sum(vote[-1] for vote in written) < total
    before = asked(server)
    more = swaplaw("collect", *words, "--votes", "6", "-o", str(folder / "killed.parquet"))
    assert more.code == 0, more.err
    assert asked(server) - before == 16  # One vote more of each.


def test_a_pilot_tells_what_the_rest_is_likely_to_take(tasks: Path, server: Answering, swaplaw: Run) -> None:
    folder, prices = tasks.parent, tasks.parent / "prices.json"
    prices.write_text(json.dumps({f"{PROVIDER}/{name}": {"input": 1.0, "output": 2.0} for name in ("adds", "sums")}))
    how = ("--votes", "12", "--token-prices", str(prices), "--json")
    tried = swaplaw(*words(f"{tasks}@sums", folder, *how, "--pilot"))
    assert tried.code == 0, tried.err
    told = json.loads(tried.out)["models"]
    assert [row["finished"] for row in told] == [24, 24]
    # Logs tell whole seconds, and these replies take less.
    assert all(row["likely_cost"] <= row["cost"] and row["likely_seconds"] >= 0 for row in told)
    done = swaplaw(*words(f"{tasks}@sums", folder, *how))
    assert done.code == 0, done.err
    for likely, real in zip(told, json.loads(done.out)["models"], strict=True):
        spent = real["cost"] * (12 - 3) / 12
        assert abs(likely["likely_cost"] - spent) < 0.3 * spent


def test_the_second_model_is_asked_only_as_long_as_it_can_matter(tasks: Path, server: Answering, swaplaw: Run) -> None:
    done = swaplaw(*words(f"{tasks}@sums", tasks.parent, "--votes", "2", "--until", "decided", "--wave", "4", "--json"))
    assert done.code == 0, done.err
    assert json.loads(done.out)["decision"]["primary"].endswith("adds")


def test_a_scorer_is_named_where_a_task_has_several(tasks: Path, server: Answering, swaplaw: Run) -> None:
    done = swaplaw(*words(f"{tasks}@two", tasks.parent, "--votes", "1", "--scorer", "exact"))
    assert done.code == 0, done.err
    assert set(sl.read_votes(tasks.parent / "votes.parquet").datasets) == {"two"}


def test_arguments_and_mistakes(tasks: Path, server: Answering, swaplaw: Run) -> None:
    done = swaplaw(*words(f"{tasks}@sums", tasks.parent, "--votes", "1", "-T", "first=7"))
    assert done.code == 0, done.err
    assert len(rows(tasks.parent / "votes.parquet")) == 4
    refused = swaplaw(*words(str(tasks), tasks.parent))
    assert refused.code == 2
    assert "one Inspect task is needed, and there is 'sums', 'maths', 'two', 'agent'" in refused.err
    assert swaplaw(*words("no/such_task", tasks.parent)).code in (1, 2)
