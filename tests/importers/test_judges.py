"""Panels of graders: every verdict that a log records is a vote, by the grader that cast it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, includes, mean, model_graded_qa, multi_scorer, scorer
from inspect_ai.solver import generate

import swaplaw as sl

ITEMS = 10


def scripted(name: str, say: Any) -> Model:
    def reply(messages: list[Any], *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", say(messages[-1].text))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)


def judge(name: str, step: int) -> Model:
    """Says C or I by the item's number; now and then it gives no grade."""

    def say(text: str) -> str:
        number = int(text.split("item ")[1].split()[0])
        return "I cannot tell" if (number + step) % 5 == 0 else f"GRADE: {'CI'[number * step % 3 == 0]}"

    return scripted(name, say)


@scorer(metrics={"*": [mean()]})
def parts(step: int) -> Scorer:
    async def score(state: Any, target: Any) -> Score:
        number = int(state.input_text.split()[1])
        return Score(value={"tone": "AB"[number * step % 2], "facts": (number + step) % 3})

    return score


def run(folder: Path, scoring: Any, **how: Any) -> EvalLog:
    samples = [
        Sample(input=f"item {n} ?", target="yes", id=f"s{n}", metadata={"human": n % 2 == 0}) for n in range(ITEMS)
    ]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=scoring, name="judged")
    model = scripted("model", lambda text: "yes" if int(text.split()[1]) % 3 else "no")
    [log] = eval(task, model=model, log_dir=str(folder), display="none", **how)
    assert log.status == "success"
    return read_eval_log(log.location)


def judges() -> list[str | Model]:
    return [judge("ja", 1), judge("jb", 2), judge("jb", 3)]


def cast(log: EvalLog, name: str, part: str | None = None) -> dict[tuple[str, int, int], Any]:
    """What the log says of each sample, epoch and grader."""
    found = {}
    for sample in log.samples or []:
        for place, vote in enumerate((sample.scores or {})[name].metadata["panel"]["votes"]):  # type: ignore[index]
            told = vote if part is None or vote is None else vote[part]
            found[str(sample.id), sample.epoch, place] = None if told is None else str(told)
    return found


@pytest.mark.parametrize("by_role", [False, True])
def test_votes_are_those_that_the_log_records(by_role: bool, tmp_path: Path) -> None:
    how: dict[str, Any] = {"model_roles": {"grader": judges()}} if by_role else {}
    log = run(tmp_path, model_graded_qa() if by_role else model_graded_qa(model=judges()), epochs=2, **how)
    votes = sl.read_votes(tmp_path)
    names = ["mockllm/ja", "mockllm/jb #1", "mockllm/jb #2"]
    frame = votes.frame.collect()
    found = {}
    for row in frame.iter_rows(named=True):
        question, epoch = row["question"].split("/")
        found[question, int(epoch), names.index(row["model"])] = row["answer"]
    assert found == cast(log, "model_graded_qa")
    assert None in found.values()
    assert set(frame["reason"].drop_nulls()) == {"ungraded"}
    assert dict(frame.select("question", "gold").unique().rows())["s1/1"] == "I"  # People said `false`.
    assert any("panel='models'" in note for note in votes.notes)
    assert votes.tally().models == tuple(names)


def test_the_models_own_answers_on_request(tmp_path: Path) -> None:
    run(tmp_path, model_graded_qa(model=judges()))
    assert sl.read_votes(tmp_path, panel="models").tally().models == ("mockllm/model",)
    with pytest.raises(sl.InputError, match="panel is 'jury'"):
        sl.read_votes(tmp_path, panel="jury")


def test_another_scorer_is_the_known_outcome(tmp_path: Path) -> None:
    log = run(tmp_path, [model_graded_qa(model=judges()), includes()])
    golds = dict(
        sl.read_votes(tmp_path, columns={"gold": "includes"}).frame.collect().select("question", "gold").rows()
    )
    assert golds == {str(sample.id): sample.scores["includes"].value for sample in log.samples or []}  # type: ignore[index]
    with pytest.raises(sl.InputError, match="no metadata and no scorer 'nobody' to be gold; there are 'human', 'incl"):
        sl.read_votes(tmp_path, columns={"gold": "nobody"})


def test_each_part_of_a_score_is_a_dataset(tmp_path: Path) -> None:
    log = run(tmp_path, multi_scorer([parts(1), parts(2), parts(3)], "majority"))
    votes = sl.import_votes(tmp_path).votes
    assert votes.datasets == ["judged:multi_scorer:facts", "judged:multi_scorer:tone"]
    for part in ("facts", "tone"):
        rows = votes.frame.collect().filter(dataset=f"judged:multi_scorer:{part}").iter_rows(named=True)
        found = {(row["question"], 1, int(row["model"][-2]) - 1): row["answer"] for row in rows}
        assert found == cast(log, "multi_scorer", part)
    chosen = sl.import_votes(tmp_path, scorer="multi_scorer:tone").votes
    assert chosen.datasets == ["judged"]


def test_long_panels_are_not_in_summaries(tmp_path: Path) -> None:
    """Summaries leave out what is long, such as what failed graders said: then the sample itself is read."""
    wordy: list[str | Model] = [scripted(f"j{n}", lambda _: "well " * 400) for n in range(2)]
    log = run(tmp_path, model_graded_qa(model=[*wordy, judge("j2", 1)]))
    frame = sl.read_votes(tmp_path).frame.collect()
    assert frame.height == 3 * ITEMS
    assert frame["answer"].count() == sum(vote is not None for vote in cast(log, "model_graded_qa").values())
