"""Any Inspect task is collected as multiple-choice questions are: scripted models, free text, an agent with a tool."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import swaplaw as sl

from support.answering import KEY, PROVIDER, Answering
from support.collecting import UNCLOSED, rows
from support.commands import Run

pytestmark = UNCLOSED

TASKS = '''
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import exact, includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool

SAMPLES = [Sample(input=f"What is {n} plus {n}?", target=str(2 * n), id=f"q{n}") for n in range(1, 9)]

@task
def sums(first: int = 1) -> Task:
    return Task(dataset=SAMPLES[first - 1:], solver=generate(), scorer=includes())

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
    monkeypatch.setenv("SCRIPTED_API_KEY", KEY)
    return file


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answering]:
    with Answering({f"What is {n} plus {n}?": str(2 * n) for n in range(1, 9)}) as answering:
        monkeypatch.setenv("SCRIPTED_BASE_URL", answering.url)
        yield answering


def words(task: str, folder: Path, *more: str) -> list[str]:
    models = [part for model in ("seeded", "knows") for part in ("--model", f"{PROVIDER}/{model}")]
    return ["collect", task, *models, "-o", str(folder / "votes.parquet"), *more]


def asked(server: Answering) -> int:
    return sum("What is" in str(request["messages"]) for request in server.asked)


@pytest.mark.parametrize("name", ["sums", "agent"])
def test_votes_are_those_of_the_logs(name: str, tasks: Path, server: Answering, swaplaw: Run) -> None:
    folder = tasks.parent
    done = swaplaw(*words(f"{tasks}@{name}", folder, "--votes", "3", "--json"))
    assert done.code == 0, done.err
    votes = rows(folder / "votes.parquet")
    assert Counter(vote["model"].rpartition("/")[2] for vote in votes) == {"seeded": 24, "knows": 24}
    direct = sl.import_votes(folder / "votes.logs", dataset=name).votes.frame.collect()
    columns = ["model", "question", "sample", "answer", "gold", "correct"]
    assert [tuple(vote[column] for column in columns) for vote in votes] == sorted(direct.select(columns).rows())
    before = asked(server)
    again = swaplaw(*words(f"{tasks}@{name}", folder, "--votes", "4"))
    assert again.code == 0, again.err
    assert asked(server) - before == 16  # One vote more of each; nothing is asked again.


def test_a_pilot_tells_what_the_rest_is_likely_to_take(tasks: Path, server: Answering, swaplaw: Run) -> None:
    folder, prices = tasks.parent, tasks.parent / "prices.json"
    prices.write_text(json.dumps({f"{PROVIDER}/{name}": {"input": 1.0, "output": 2.0} for name in ("seeded", "knows")}))
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
    assert json.loads(done.out)["decision"]["primary"].endswith("seeded")


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
    assert "one Inspect task is needed, and there is 'sums', 'two', 'agent'" in refused.err
    assert swaplaw(*words("no/such_task", tasks.parent)).code in (1, 2)
