"""Multiple-choice tasks of every shape, run by lm-evaluation-harness itself: each vote is graded as the harness did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import swaplaw as sl
from swaplaw.errors import InputError
from swaplaw.importers.harness_choices import Golds, choice_of

from support.harness import run_harness

TEXTS = ["red", "a very long dark green", "blue-ish", "x"]
TASKS = {
    "contexts": "{doc_to_text: right, doc_to_target: ending, doc_to_choice: beginnings, metric_list: [{metric: acc}]}",
    "numbers": "{doc_to_target: place, doc_to_choice: numbers, metric_list: [{metric: acc}]}",
    "lengths": "{doc_to_target: place, doc_to_choice: texts, metric_list: [{metric: acc}, {metric: acc_norm}]}",
    "mutual": "{doc_to_target: place, doc_to_choice: texts, metric_list: [{metric: acc}, {metric: acc_mutual_info}]}",
    "any_of": "{doc_to_target: places, doc_to_choice: texts, metric_list: [{metric: acc}]}",
}
VOTED_BY = [("contexts", None), ("numbers", None), ("lengths", None), ("lengths", "acc_norm"), ("mutual", None)]
VOTED_BY += [("mutual", "acc_mutual_info"), ("any_of", None)]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty documents in every shape, answered by the harness's dummy model."""
    pytest.importorskip("lm_eval")
    folder = tmp_path_factory.mktemp("choices")
    rows = [
        {
            "question": f"Question {n}",
            "place": n % 4,
            "places": [n % 4, (n + 1) % 4],
            "texts": TEXTS,
            "numbers": ["1", "2", "3", "4"],
            "right": n % 2,
            "beginnings": ["The cup sat", "The table sat"],
            "ending": "on the floor.",
        }
        for n in range(20)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "tasks").mkdir()
    for name, task in TASKS.items():
        shared = f"task: {name}, dataset_path: json, dataset_kwargs: {{data_files: {{test: {folder}/rows.jsonl}}}}"
        shared += ", test_split: test, output_type: multiple_choice"
        asked = "" if "doc_to_text" in task else ", doc_to_text: question"
        (folder / "tasks" / f"{name}.yaml").write_text(f"{{{shared}{asked}, {task[1:]}")
    run_harness(folder, folder / "out", "--model", "dummy", "--tasks", ",".join(TASKS))
    return folder / "out"


def lines(logs: Path, task: str) -> tuple[Path, list[dict[str, Any]]]:
    [file] = logs.rglob(f"samples_{task}_*.jsonl")
    return file, [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize(("task", "metric"), VOTED_BY)
def test_votes_are_graded_as_the_harness_did(logs: Path, task: str, metric: str | None) -> None:
    file, samples = lines(logs, task)
    votes = sl.import_votes(file, sl.importers.Options(scorer=metric)).votes.frame.collect()
    found = dict(zip(votes["question"], votes["correct"], strict=True))
    assert found == {str(sample["doc_id"]): sample[metric or "acc"] == 1.0 for sample in samples}
    if task != "any_of":
        golds = dict(zip(votes["question"], votes["gold"], strict=True))
        places = {str(s["doc_id"]): s["doc"]["right" if task == "contexts" else "place"] for s in samples}
        assert golds == {question: "ABCD"[place] for question, place in places.items()}


def test_a_metric_that_the_task_does_not_have_is_refused(logs: Path) -> None:
    file, _ = lines(logs, "numbers")
    with pytest.raises(InputError, match=r"samples_numbers.*no metric 'acc_norm' to vote by; there are 'acc'$"):
        sl.import_votes(file, sl.importers.Options(scorer="acc_norm"))


def sample(target: str, **grades: float) -> dict[str, Any]:
    arguments = {f"gen_args_{n}": {"arg_0": "Question", "arg_1": f" {text}"} for n, text in enumerate(TEXTS)}
    responses = [["-1.0", "False"], ["-2.0", "False"], ["-3.0", "False"], ["-4.0", "False"]]
    common = {"doc_id": 7, "arguments": arguments, "filtered_resps": responses}
    return common | {"target": target, "metrics": list(grades)} | grades


def test_partial_credit_is_no_grade_of_a_vote() -> None:
    with pytest.raises(InputError, match=r"document 7 has 'acc' 0\.37, neither right nor wrong"):
        choice_of(sample("0", acc=0.37), None)


@pytest.mark.parametrize(("target", "grade"), [("0", 0.0), ("elsewhere", 1.0)])
def test_a_target_that_contradicts_the_grade_is_refused(target: str, grade: float) -> None:
    golds, choice = Golds(), choice_of(sample(target, acc=grade), None)
    assert choice is not None
    golds.see(choice, 7)
    with pytest.raises(InputError, match=rf"cannot be told from the target '{target}' of document 7"):
        golds.of(choice)


def test_several_right_options_stay_answers_of_their_own(logs: Path) -> None:
    """Pooled as one they would agree where a vote among options does not."""
    file, samples = lines(logs, "any_of")
    votes = sl.import_votes(file).votes
    frame = votes.frame.collect()
    golds = dict(zip(frame["question"], frame["gold"], strict=True))
    assert golds == {
        str(one["doc_id"]): ", ".join("ABCD"[place] for place in sorted(json.loads(str(one["target"]))))
        for one in samples
    }
    assert not any("," in answer for answer in frame["answer"])
    assert [check.name for check in sl.votes.find_checks(votes) if check.name == "several_golds"] == []
