"""What is wrong is said in one line before anything is spent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.answering import KEY, PROVIDER, Answering
from support.collecting import QUESTIONS, UNCLOSED, Collect
from support.commands import Finished

pytestmark = UNCLOSED


def refused(done: Finished, *said: str) -> None:
    assert done.code == 2, done
    lines = done.err.strip().splitlines()
    assert len(lines) == 1, lines
    assert all(word in lines[0] for word in said), lines[0]
    assert not done.out


def test_an_unknown_model_is_named(collect: Collect, answering: Answering) -> None:
    before = len(answering.questions_asked())
    refused(collect("knows", "gpt-99"), f"{PROVIDER}/gpt-99", "not known to its server", "does not exist")
    assert len(answering.questions_asked()) == before


def test_a_wrong_key_is_said(collect: Collect, monkeypatch: pytest.MonkeyPatch, answering: Answering) -> None:
    monkeypatch.setenv("SCRIPTED_API_KEY", "wrong")
    before = len(answering.questions_asked())
    refused(collect("knows"), "refused the API key", f"{PROVIDER}/knows")
    assert len(answering.questions_asked()) == before


def test_a_missing_key_names_its_variable(collect: Collect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCRIPTED_API_KEY")
    refused(collect("knows"), "SCRIPTED_API_KEY")


def test_a_dry_run_needs_no_key(collect: Collect, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what it would take, and what is missing before the run."""
    monkeypatch.delenv("SCRIPTED_API_KEY")
    done = collect("knows", options="--dry-run --json --limit 2 --samples 3")
    assert done.code == 0, done.err
    [row] = json.loads(done.out)["models"]
    assert row["samples"] == 6
    assert "SCRIPTED_API_KEY" in row["lacks"]
    assert "note: " in done.err
    assert "cannot be asked yet" in done.err


def test_a_server_that_is_not_there_is_said(collect: Collect) -> None:
    refused(collect("knows", options="--base-url http://127.0.0.1:9/v1"), "cannot be reached", f"{PROVIDER}/knows")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--models", "nobody/x"], ["nobody", "provider"]),
        (["--models", "plain"], ["'plain'", "provider"]),
        ([], ["no model to ask", "--local smollm2"]),
        (["--local", "llama-7b"], ["'llama-7b'", "'smollm2'", "ollama/NAME"]),
        (["--local", "smollm2", "--local", "smollm2"], ["named twice", "--votes"]),
        (["--models", "mockllm/x", "--connections", "many"], ["'many'", "MODEL=NUMBER"]),
        (["--models", "mockllm/x", "-o", "votes.txt"], ["votes.txt", ".parquet"]),
        (["--models", "mockllm/x", "-o", "no/such/votes.parquet"], ["no directory"]),
        (["--models", "mockllm/x", "--report", "no/such/page.html"], ["no directory"]),
        (["--models", "mockllm/x", "--token-prices", "prices.json"], ["prices.json"]),
        (["--models", "mockllm/x", "--column", "question"], ["PART=NAME"]),
    ],
)
def test_bad_options_are_one_line(
    swaplaw: Callable[..., Finished],
    options: list[str],
    said: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(swaplaw("collect", "mcq", "--dataset", "demo", *options), *said)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": None, "prompt_": "?"}, "question"),
        ({"id": "q2"}, "q2"),
        ({"answer": "E"}, "E"),
        ({"options": ["2"]}, "options"),
        ({"options": ["2", "2", "3", "4"]}, "'2'"),
    ],
)
def test_bad_questions_are_one_line_before_anything_is_asked(
    collect: Collect, answering: Answering, folder: Path, change: dict[str, object], said: str
) -> None:
    changed = [{name: value for name, value in (QUESTIONS[0] | change).items() if value is not None}, *QUESTIONS[1:]]
    (folder / "bad.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))
    before = len(answering.asked)
    refused(collect("knows", options=f"--dataset {folder / 'bad.jsonl'}"), "bad.jsonl", said)
    assert len(answering.asked) == before


def test_the_key_that_opens_the_server_is_in_no_file(collect: Collect, folder: Path) -> None:
    from inspect_ai.log import read_eval_log

    assert collect("knows", output="secret.parquet", options="--samples 1").code == 0
    (log,) = (folder / "secret.logs").glob("*.eval")
    text = read_eval_log(str(log)).model_dump_json()
    assert "plus" in text  # Logs do hold what was asked.
    assert KEY not in text
    assert KEY.encode() not in (folder / "secret.parquet").read_bytes()
