"""Files of other tools, in the layout that each tool writes, read vote by vote."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

import swaplaw as sl
from swaplaw.answers.readers import Reader
from swaplaw.importers.reading import import_votes
from swaplaw.importers.record import Options

from support.data import DATA


def votes(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    frame = import_votes(path, Options(**options)).votes.frame.collect()
    return (
        frame.select("question", "model", "sample", "answer", "gold", "correct", "reason")
        .sort("model", "question", "sample")
        .rows()
    )


def promptfoo(file: Path) -> None:
    rows = [
        {
            "promptIdx": 0, "testIdx": test, "vars": {"id": f"q{test}", "question": "?", "expected": gold},
            "provider": {"id": f"openai:{model}", "label": model}, "success": said == gold, "score": 1,
            "testCase": {"vars": {}, "assert": [{"type": "equals", "value": "{{expected}}"}]},
            "response": {"output": said, "tokenUsage": {"total": 12}}, "cost": 0.5,
        }
        for test, gold in enumerate(["A", "B"])
        for model, said in (("m1", "A"), ("m2", "The answer is B."))
    ]  # fmt: skip
    rows[0] |= {"response": None, "error": "rate limit", "success": False}
    file.write_text(json.dumps({"evalId": "eval-1", "results": {"version": 3, "results": rows}, "config": {}}))


def test_promptfoo(tmp_path: Path) -> None:
    promptfoo(tmp_path / "results.json")
    assert votes(tmp_path / "results.json", reader=Reader("choice")) == [
        ("q0", "m1", 0, None, "A", False, "error"),
        ("q1", "m1", 0, "A", "B", False, None),
        ("q0", "m2", 0, "B", "A", False, None),
        ("q1", "m2", 0, "B", "B", True, None),
    ]
    assert votes(tmp_path)[0][3] is None  # A directory's results are found as well.


def test_deepeval(tmp_path: Path) -> None:
    cases = [
        {"name": f"case {n}", "input": f"{n}?", "actualOutput": said, "expectedOutput": gold, "success": said == gold,
         "metricsData": [{"name": "Exact", "success": said == gold, "score": 1.0}]}
        for n, (said, gold) in enumerate([("Paris", "Paris"), ("Rome", "Paris")])
    ]  # fmt: skip
    for name in ("one", "two"):
        run = {"testRunData": {"testCases": cases, "hyperparameters": {"model": name}}, "testRunLink": None}
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    found = votes(tmp_path, scorer="Exact")
    assert sorted(row[1:] for row in found) == sorted(
        (model, 0, said, "Paris", said == "Paris", None) for model in ("one", "two") for said in ("Paris", "Rome")
    )


def test_openai_evals(tmp_path: Path) -> None:
    lines = [
        {"spec": {"completion_fns": ["gpt-x"], "eval_name": "capitals.dev.v0", "run_id": "r"}},
        {"run_id": "r", "event_id": 0, "sample_id": "capitals.0", "type": "sampling", "data": {"sampled": ["Paris."]}},
        {"run_id": "r", "event_id": 1, "sample_id": "capitals.0", "type": "match",
         "data": {"correct": True, "expected": "Paris", "picked": "Paris", "sampled": "Paris.", "options": ["Paris"]}},
        {"run_id": "r", "event_id": 2, "sample_id": "capitals.1", "type": "match",
         "data": {"correct": False, "expected": ["Rome"], "picked": None, "sampled": "Milan", "options": ["Rome"]}},
        {"final_report": {"accuracy": 0.5}},
    ]  # fmt: skip
    file = tmp_path / "run.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert votes(file) == [
        ("capitals.0", "gpt-x", 0, "Paris", "Paris", True, None),
        ("capitals.1", "gpt-x", 0, "Milan", "Rome", False, None),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "inputs.question,outputs.answer,reference.answer,feedback.correctness,example_id,error\n"
        "1+1?,2,2,1,e1,\n2+2?,5,4,0,e2,\n3+3?,,6,,e3,timeout\n",
        "example_id,inputs,outputs,reference_outputs,correctness,error\n"
        'e1,"{""q"": 1}","{""answer"": ""2""}","{""answer"": ""2""}",1.0,\n'
        'e2,"{""q"": 2}","{""answer"": ""5""}","{""answer"": ""4""}",0.0,\n'
        'e3,"{""q"": 3}",,"{""answer"": ""6""}",,timeout\n',
    ],
)
def test_langsmith(content: str, tmp_path: Path) -> None:
    file = tmp_path / "gpt-x.csv"
    file.write_text(content)
    assert votes(file) == [
        ("e1", "gpt-x", 0, "2", "2", True, None),
        ("e2", "gpt-x", 0, "5", "4", False, None),
        ("e3", "gpt-x", 0, None, "6", False, "error"),
    ]


def test_votes_on_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("question,model,answer,gold\nq1,a,A,A\nq1,b,B,A\n")
    monkeypatch.setattr("swaplaw.importers.hub.download", lambda source: (source, [file]))
    assert sl.read_votes("hf:someone/votes").tally().models == ("a", "b")


# Files that the tools themselves wrote (tests/data/tools)

TOOLS = DATA / "tools"


def test_a_run_of_promptfoo() -> None:
    """Replies are read where the gold is a letter, `icontains` or not; two providers of one prompt are two models."""
    imported = import_votes(TOOLS / "promptfoo-0.121.20.json")
    assert imported.provenance["reader"] == Reader("choice").to_dict()
    assert votes(TOOLS / "promptfoo-0.121.20.json") == [
        ("q1", "model-a", 0, "A", "A", True, None),
        ("q1", "model-a", 1, "A", "A", True, None),
        ("q2", "model-a", 0, "B", "B", True, None),
        ("q2", "model-a", 1, "B", "B", True, None),
        ("q1", "model-b", 0, "B", "A", False, None),
        ("q1", "model-b", 1, "B", "A", False, None),
        ("q2", "model-b", 0, None, "B", False, "error"),
        ("q2", "model-b", 1, None, "B", False, "error"),
    ]


def test_runs_of_deepeval() -> None:
    found = import_votes([TOOLS / "deepeval-4.3.1-m1.json", TOOLS / "deepeval-4.3.1-m2.json"]).votes.frame.collect()
    rows = sorted(found.select("model", "answer", "gold", "correct").rows())
    assert rows == [
        ("m1", "Oslo", "Oslo", True),
        ("m1", "Paris", "Paris", True),
        ("m1", "Rome", "Rome", True),
        ("m2", "Bergen", "Oslo", False),
        ("m2", "Milan", "Rome", False),
        ("m2", "Paris", "Paris", True),
    ]
    assert found["question"].n_unique() == 3


def test_runs_of_openai_evals() -> None:
    """Any of several golds is right; the answer is what the eval picked out of the reply."""
    rows = [row[1:6] for name in ("one", "two") for row in votes(TOOLS / f"openai-evals-3.0.1-{name}.jsonl")]
    assert rows == [
        ("scripted/one", 0, "Paris", "Paris", True),
        ("scripted/one", 0, "Rome", "Rome", True),
        ("scripted/one", 0, "Christiania", "Oslo", True),
        ("scripted/two", 0, "Lyon", "Paris", False),
        ("scripted/two", 0, "Rome", "Rome", True),
        ("scripted/two", 0, "Bergen", "Oslo", False),
    ]


@pytest.fixture(name="helm")
def helm_(tmp_path: Path) -> Path:
    with tarfile.open(TOOLS / "helm-0.5.16.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.mark.parametrize(
    ("dataset", "statistic"),
    [("simple_mcqa", None), ("simple_classification", None), ("simple_classification", "quasi_exact_match")],
)
def test_runs_of_helm_are_graded_as_helm_graded_them(helm: Path, dataset: str, statistic: str | None) -> None:
    """Every vote, by HELM's own statistics; two trials are two samples."""
    graded = {}
    for run in helm.glob(f"{dataset}:*"):
        model = json.loads((run / "run_spec.json").read_text())["adapter_spec"]["model"]
        for entry in json.loads((run / "per_instance_stats.json").read_text()):
            values = {stat["name"]["name"]: stat.get("mean") for stat in entry["stats"]}
            if "exact_match" in values:
                place = (entry["instance_id"], model, entry["train_trial_index"])
                graded[place] = values[statistic or "exact_match"] == 1
    found = import_votes(sorted(helm.glob(f"{dataset}:*")), Options(scorer=statistic)).votes.frame.collect()
    got = {(row["question"], row["model"], row["sample"]): row["correct"] for row in found.iter_rows(named=True)}
    assert got == graded
    assert len(got) == 32


def test_what_scripted_models_said_in_helm(helm: Path) -> None:
    """A letter is the option that HELM maps it to; what it maps to none is an abstention, with its reason."""
    said = [row[3:] for row in votes(helm / "simple_mcqa:model=scripted_two") if row[2] == 0]
    none: list[tuple[Any, ...]] = [(None, "Even", False, "no_parse")] * 2 + [(None, "Odd", False, "no_parse")] * 2
    none += [(None, "Even", False, "unanswered"), ("Even", "Even", True, None), ("Even", "Even", True, None)]
    assert sorted(said, key=repr) == sorted([*none, ("Odd", "Odd", True, None)], key=repr)


def test_a_run_of_helm_that_is_not_summarised_yet(helm: Path) -> None:
    for file in helm.glob("*/display_predictions.json"):
        file.unlink()
    with pytest.raises(sl.InputError, match="helm-summarize"):
        import_votes(helm)


def test_lines_of_a_reply_are_kept_until_it_is_read(tmp_path: Path) -> None:
    """The last line decides, however long the reply: it is shortened only after it was read."""
    reply = "Let me see.\n" + "Option B looks tempting. " * 300 + "\n\nANSWER: A"
    rows = [{"promptIdx": 0, "vars": {"id": "q", "expected": "A"}, "provider": "m", "success": True,
             "response": {"output": reply}}]  # fmt: skip
    (tmp_path / "results.json").write_text(json.dumps({"evalId": "e", "results": {"results": rows}, "config": {}}))
    assert votes(tmp_path / "results.json") == [("q", "m", 0, "A", "A", True, None)]
