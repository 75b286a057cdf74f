"""Records of Every Eval Ever give the votes that direct import gives: its own converters wrote those under tests/data.

They were made from the logs of Inspect, lm-evaluation-harness and HELM that stand beside them.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import swaplaw as sl

from support.data import DATA

TOOLS = DATA / "tools"
COLUMNS = ("question", "sample", "answer", "gold", "correct", "reason")


@pytest.fixture(name="records")
def records_(tmp_path: Path) -> Path:
    with tarfile.open(TOOLS / "every-eval-ever-0.3.0.tar.xz") as archive:
        archive.extractall(tmp_path / "records", filter="data")
    return tmp_path / "records"


def rows(source: Any, **how: Any) -> list[tuple[Any, ...]]:
    frame = sl.import_votes(source, **how).votes.frame.collect()
    return sorted(frame.select(COLUMNS).rows(), key=str)


def test_inspect(records: Path) -> None:
    """Every vote but two, whose scorer kept the reply in small letters: `answer: a` may be an article."""
    direct = rows(DATA / "inspect" / "0.3.285.eval")
    found = rows(records / "0.3.285.jsonl")
    assert [one for one in found if one[0] != "q0"] == [one for one in direct if one[0] != "q0"]


@pytest.mark.parametrize(("task", "filter_"), [("colours", None), ("sums", "first"), ("sums", "none-found")])
def test_lm_evaluation_harness(records: Path, task: str, filter_: str | None) -> None:
    [direct] = (DATA / "lm-eval").glob(f"samples_{task}_*.jsonl")
    [found] = records.glob(f"samples_{task}_*.jsonl")
    assert rows(found, filter=filter_) == rows(direct, filter=filter_)


def test_each_filter_is_a_record_of_its_own(records: Path) -> None:
    with pytest.raises(sl.InputError, match=r"several records \('first', 'all', 'none-found'\).*filter=NAME"):
        rows(next(records.glob("samples_sums_*.jsonl")))


@pytest.mark.parametrize("statistic", [None, "quasi_exact_match"])
@pytest.mark.parametrize("task", ["simple_mcqa", "simple_classification"])
def test_helm(records: Path, tmp_path: Path, task: str, statistic: str | None) -> None:
    with tarfile.open(TOOLS / "helm-0.5.16.tar.xz") as archive:
        archive.extractall(tmp_path / "runs", filter="data")
    direct = rows(sorted((tmp_path / "runs").glob(f"{task}:*")), scorer=statistic)
    assert rows(sorted(records.glob(f"{task}_*")), scorer=statistic) == direct


def record(epoch: int, said: str, score: float) -> dict[str, Any]:
    """A reply to an open question as Inspect's converter writes it: the flag says whether any reply was right."""
    return {
        "schema_version": "0.3.0", "evaluation_id": "e", "model_id": "org/m", "evaluation_name": "t", "sample_id": "q",
        "interaction_type": "single_turn", "input": {"raw": "?", "reference": ["Oslo"], "choices": None},
        "output": {"raw": [said]}, "messages": None, "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score > 0}, "error": None,
        "metadata": {"epoch": str(epoch), "stop_reason": "stop"},
    }  # fmt: skip


def test_a_mean_over_epochs_is_nobodys_grade(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text("".join(json.dumps(record(n, said, 0.5)) + "\n" for n, said in enumerate(["Oslo", "Bergen"])))
    assert [row[2:5] for row in rows(file)] == [("Oslo", "Oslo", True), ("Bergen", "Oslo", False)]
    file.write_text("".join(json.dumps(record(n, said, 1.0)) + "\n" for n, said in enumerate(["Oslo", "Oslo city"])))
    assert [row[4] for row in rows(file)] == [True, True]


def test_replies_without_an_answer_have_a_reason(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    cut = record(1, "", 0.0) | {"metadata": {"stop_reason": "max_tokens"}}
    failed = record(2, "", 0.0) | {"error": "timeout"}
    file.write_text("".join(json.dumps(each) + "\n" for each in (cut, failed, record(3, "", 0.0))))
    assert [row[5] for row in rows(file)] == ["truncated", "error", "unanswered"]


def test_the_last_message_of_an_agent_is_its_reply(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    turns = [{"turn_idx": 0, "role": "user", "content": "?"}, {"turn_idx": 1, "role": "assistant", "content": "Oslo"}]
    file.write_text(json.dumps(record(1, "", 1.0) | {"output": None, "messages": turns}) + "\n")
    frame = sl.import_votes(file).votes.frame.collect()
    assert frame.select("answer", "model").rows() == [("Oslo", "org/m")]
    assert frame.schema["sample"] == pl.Int64
