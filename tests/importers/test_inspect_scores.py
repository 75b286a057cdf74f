"""What becomes of scores that are no plain right or wrong, and of runs that were set up differently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import swaplaw as sl

pytest.importorskip("inspect_ai", reason="Inspect is not installed: pip install 'swaplaw[inspect]'")

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.scorer import Score, Target, mean, scorer
from inspect_ai.solver import TaskState

from support.inspect_runs import run, scripted


@scorer(metrics=[mean()])
def marks(right: float, wrong: float) -> Any:
    async def score(state: TaskState, target: Target) -> Score:
        said = state.output.completion
        return Score(value=right if said == target.text else wrong, answer=said)

    return score


@task
def sums(right: float = 1.0, wrong: float = 0.0, hint: str = "none") -> Task:
    samples = MemoryDataset([Sample(id=i, input=f"{i}", target=str(i)) for i in range(4)])
    return Task(dataset=samples, scorer=marks(right, wrong))


def says(prompt: str) -> str:
    return prompt if int(prompt) % 2 else "no idea"


def test_a_scale_that_goes_beyond_one_needs_a_threshold(tmp_path: Path) -> None:
    run(sums(10, 3), scripted("m", says), tmp_path)
    with pytest.raises(sl.InputError, match=r"task 'sums': scores go up to 10, so 1 is not the full mark"):
        sl.import_votes(tmp_path)
    frame = sl.import_votes(tmp_path, sl.importers.Options(threshold=8)).votes.frame.collect().sort("question")
    assert frame["correct"].to_list() == [False, True, False, True]


def test_partial_credit_gets_a_note(tmp_path: Path) -> None:
    run(sums(1, 0.5), scripted("m", says), tmp_path)
    found = sl.import_votes(tmp_path)
    assert any("scores such as 0.5; those of at least 1 count as right" in note for note in found.notes)
    chosen = sl.import_votes(tmp_path, sl.importers.Options(threshold=0.5))
    assert not any("such as" in note for note in chosen.notes)


def test_scores_that_never_suffice_are_refused(tmp_path: Path) -> None:
    run(sums(0.9, 0.2), scripted("m", says), tmp_path)
    with pytest.raises(sl.InputError, match=r"none of the scores is at least 1 \(the highest is 0\.9\)"):
        sl.import_votes(tmp_path)


def test_tokens_that_nobody_counted_are_unknown(tmp_path: Path) -> None:
    run(sums(), scripted("m", says), tmp_path)
    assert set(sl.import_votes(tmp_path).votes.frame.collect()["tokens"]) == {10}
    [file] = tmp_path.glob("*.eval")
    log = read_eval_log(str(file))
    for sample in log.samples or []:
        for usage in sample.model_usage.values():
            usage.total_tokens = 0
    write_eval_log(log, str(file))
    assert set(sl.import_votes(tmp_path).votes.frame.collect()["tokens"]) == {None}


def test_runs_with_other_settings_say_so(tmp_path: Path) -> None:
    model = scripted("m", says)
    for folder, other in (("same", sums()), ("other", sums(hint="long"))):
        run(sums(), model, tmp_path / folder, reasoning_effort="low")
        effort = "low" if folder == "same" else "high"
        run(other, model, tmp_path / folder, reasoning_effort=effort, seed=7)
    [same] = sl.import_votes(tmp_path / "same").notes
    assert "with other settings" not in same
    [note] = sl.import_votes(tmp_path / "other").notes
    for words in ("with other settings", "hint: ", "reasoning_effort: ", "under a model's name of its own"):
        assert words in note
    assert "seed" not in note


@scorer(metrics=[mean()])
def lenient() -> Any:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=1, answer=state.output.completion)

    return score


def test_the_scorers_own_accuracy_is_shown_beside_that_of_the_vote(tmp_path: Path, swaplaw: Any) -> None:
    """A scorer that takes any letter for right is not believed, but what it says is kept."""
    samples = MemoryDataset([Sample(id=i, input=f"{i}", target="A") for i in range(4)])
    run(
        Task(dataset=samples, scorer=lenient(), name="letters"),
        scripted("m", lambda text: "AB"[int(text) % 2]),
        tmp_path,
    )
    done = swaplaw("summary", tmp_path, "--json")
    assert done.code == 0, done.err
    [model] = json.loads(done.out)["models"]
    assert (model["single"], model["graded"]) == (0.5, 1.0)
    assert "Graded %" in swaplaw("summary", tmp_path).out
