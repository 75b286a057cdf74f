"""Logs made here by running Inspect itself, imported, and compared with what was known to be in them, vote by vote."""

from __future__ import annotations

import gc
import json
import shutil
import warnings
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import swaplaw as sl
from swaplaw.importers.inspect import logs as inspect_logs

inspect_ai = pytest.importorskip("inspect_ai", reason="Inspect is not installed: pip install 'swaplaw[inspect]'")

from inspect_ai import Task, eval_retry  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.log import read_eval_log, write_eval_log, write_log_dir_manifest  # noqa: E402
from inspect_ai.model import get_model  # noqa: E402
from inspect_ai.scorer import (  # noqa: E402
    Score,
    Target,
    accuracy,
    answer,
    choice,
    match,
    model_graded_qa,
    pattern,
    scorer,
)
from inspect_ai.solver import Generate, TaskState, chain, generate, multiple_choice, solver  # noqa: E402

from support import inspect_runs  # noqa: E402
from support.inspect_runs import (  # noqa: E402
    OPTIONS,
    colours,
    epoch_in_prompt,
    letter_for,
    run,
    scripted,
    wanted,
)

# Inspect leaves streams for the collector to close, which says so whenever it comes by.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

EPOCHS = 3
QUESTIONS = 8


def rows(imported: sl.importers.Imported) -> pl.DataFrame:
    return imported.votes.frame.collect()


def colour_task(seed: int | None, **solver_options: Any) -> Task:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solve = chain(epoch_in_prompt(), multiple_choice(**solver_options))
    return Task(name="colours", dataset=colours(seed, QUESTIONS), solver=solve, scorer=choice())


@pytest.fixture(scope="module")
def shuffled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four models, each shown the options in another order: as given, shuffled twice, and by the solver."""
    folder = tmp_path_factory.mktemp("shuffled")
    run(colour_task(None), scripted("plain", letter_for("plain")), folder, epochs=EPOCHS)
    run(colour_task(1), scripted("one", letter_for("one")), folder, epochs=EPOCHS)
    run(colour_task(2), scripted("two", letter_for("two")), folder, epochs=EPOCHS, log_format="json")
    run(colour_task(None, shuffle=Random(5)), scripted("solver", letter_for("solver")), folder, epochs=EPOCHS)
    return folder


def test_shuffled_letters_come_back_as_the_option(shuffled: Path) -> None:
    frame = rows(sl.import_votes(shuffled))
    assert frame.height == 4 * QUESTIONS * EPOCHS
    reference = "plain"  # Letters refer to one order for all; compare options, and letters with the model shown them.
    assert reference in {name.partition("/")[2] for name in frame["model"].unique()}
    letters: dict[tuple[str, str], set[str]] = {}
    for row in frame.iter_rows(named=True):
        name, number = row["model"].partition("/")[2], int(row["question"][1:])
        option = wanted(name, row["question"], row["sample"] + 1)
        assert (row["option"], row["options"]) == (option, len(OPTIONS))
        assert row["correct"] == (option == OPTIONS[number % 4]) == (row["answer"] == row["gold"])
        assert (row["dataset"], row["reason"], row["tokens"]) == ("colours", None, 10)
        letters.setdefault((row["question"], option), set()).add(row["answer"])
    assert all(len(found) == 1 for found in letters.values())
    assert frame.group_by("question").agg(pl.col("gold").n_unique())["gold"].to_list() == [1] * QUESTIONS


def test_an_unshuffled_log_keeps_its_letters(shuffled: Path) -> None:
    [log] = [file for file in shuffled.iterdir() if read_eval_log(str(file)).eval.model == "mockllm/plain"]
    frame = rows(sl.import_votes(log, sl.importers.Options(cluster="room")))
    for row in frame.iter_rows(named=True):
        assert row["answer"] == "ABCD"[OPTIONS.index(wanted("plain", row["question"], row["sample"] + 1))]
        assert row["gold"] == "ABCD"[int(row["question"][1:]) % 4]
        assert row["cluster"] == f"room {int(row['question'][1:]) % 2}"
    with pytest.raises(sl.InputError, match="no metadata 'floor' to be its cluster; there are 'room'"):
        sl.import_votes(log, sl.importers.Options(cluster="floor"))


def test_commands_take_logs_directly(shuffled: Path) -> None:
    imported, direct = sl.import_votes(shuffled), sl.read_votes(shuffled)
    assert direct.counts.sort(pl.all()).equals(imported.votes.counts.sort(pl.all()))


def test_provenance_is_kept(shuffled: Path, tmp_path: Path) -> None:
    imported = sl.import_votes(shuffled)
    imported.write(tmp_path / "votes.parquet")
    kept = json.loads(pl.read_parquet_metadata(tmp_path / "votes.parquet")["swaplaw"])
    assert kept == imported.provenance
    assert {file["model"] for file in kept["files"]} == {
        f"mockllm/{name}" for name in ("plain", "one", "two", "solver")
    }
    assert all(len(file["sha256"]) == 64 for file in kept["files"])
    again = tmp_path / "again.parquet"
    sl.import_votes(shuffled).write(again)
    assert again.read_bytes() == (tmp_path / "votes.parquet").read_bytes()


@solver
def troubles() -> Any:
    """A solver that fails where the question says so."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if "fail" in state.input_text:
            raise RuntimeError("sandbox is gone \x1b[31m")
        while True:
            state = await generate(state)
            if "chat" not in state.input_text:
                return state
            state.messages.append(state.messages[0])

    return solve


REPLIES = {
    "answered": ("ANSWER: 42", None, "42"),
    "wrong": ("ANSWER: 41", None, "41"),
    "cut": (("let me think about", "max_tokens"), "truncated", None),
    "overflow": (("let me", "model_length"), "truncated", None),
    "filtered": (("I can't", "content_filter"), "refused", None),
    "silent": ("", "unanswered", None),
    "rambling": ("no idea at all", "no_parse", None),
    "fail": ("", "error", None),
    "chat": ("hm", "limit_message", None),
}


def test_abstentions_have_reasons(tmp_path: Path) -> None:
    samples = MemoryDataset([Sample(id=name, input=f"<{name}>", target="42") for name in REPLIES])

    def say(prompt: str) -> Any:
        return next(reply for name, (reply, _, _) in REPLIES.items() if f"<{name}>" in prompt or name == "chat")

    task = Task(name="life", dataset=samples, solver=troubles(), scorer=pattern(r"ANSWER: (\d+)"), message_limit=6)
    log = run(task, scripted("m", say), tmp_path, epochs=2, fail_on_error=False)
    assert log.status == "success"
    frame = rows(sl.import_votes(tmp_path))
    assert frame.height == 2 * len(REPLIES)
    for row in frame.iter_rows(named=True):
        _, reason, vote = REPLIES[row["question"]]
        assert (row["answer"], row["reason"]) == (vote, reason), row
        assert row["correct"] == (vote == "42")
        assert row["gold"] == "42"


@scorer(metrics=[accuracy()])
def length() -> Any:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=float(len(state.output.completion) < 30), answer=str(len(state.output.completion)))

    return score


@scorer(metrics=[accuracy()])
def by_state() -> Any:
    """A scorer that keeps no answer, as those of agents often do."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value="C" if target.text in state.output.completion else "I")

    return score


def arithmetic(scorers: Any, folder: Path, model: Any = None, **settings: Any) -> Any:
    samples = MemoryDataset([Sample(id=i, input=f"{i}+{i}=", target=[str(2 * i), f"{2 * i}.0"]) for i in range(1, 5)])
    says = {"1+1=": "ANSWER: 2", "2+2=": "ANSWER: 4.0", "3+3=": "ANSWER: 7", "4+4=": f"ANSWER: {'8' * 2000}"}
    task = Task(name="sums", dataset=samples, solver=generate(), scorer=scorers)
    return run(task, model or scripted("m", lambda prompt: says[prompt]), folder, **settings)


@pytest.mark.parametrize(
    ("score", "answers"),
    [
        pytest.param(answer("line"), ["2", "4.0", "7", "8" * 2000], id="answer"),
        pytest.param(match(), ["ANSWER: 2", "ANSWER: 4.0", "ANSWER: 7", "ANSWER: " + "8" * 2000], id="match"),
        pytest.param(by_state(), ["ANSWER: 2", "ANSWER: 4.0", "ANSWER: 7", "ANSWER: " + "8" * 2000], id="no answer"),
    ],
)
def test_free_text_is_graded_by_the_scorer(score: Any, answers: list[str], tmp_path: Path) -> None:
    log = arithmetic(score, tmp_path)
    frame = rows(sl.import_votes(tmp_path)).sort("question")
    grades = {str(s.id): next(iter(s.scores.values())).value == "C" for s in log.samples}
    assert dict(zip(frame["question"], frame["correct"], strict=True)) == grades
    assert frame["answer"].to_list() == answers
    assert frame["gold"].to_list() == ["2", "4", "6", "8"]


def test_model_graded_answers_and_several_scorers(tmp_path: Path) -> None:
    grader = scripted("grader", lambda prompt: "GRADE: C" if "ANSWER: 2" in prompt else "no verdict")
    arithmetic([model_graded_qa(model=grader), length()], tmp_path)
    with pytest.raises(sl.InputError, match=r"several scorers .*'model_graded_qa', 'length'.*scorer=NAME"):
        sl.import_votes(tmp_path)
    with pytest.raises(sl.InputError, match="there is no scorer 'lenth'; there are 'model_graded_qa', 'length'"):
        sl.import_votes(tmp_path, sl.importers.Options(scorer="lenth"))
    graded = sl.import_votes(tmp_path, sl.importers.Options(scorer="model_graded_qa"))
    frame = rows(graded).sort("question")
    assert frame["correct"].to_list() == [True, False, False, False]
    assert frame["reason"].to_list() == [None, "ungraded", "ungraded", "ungraded"]
    assert any("3 answers have no grade" in note for note in graded.notes)
    other = rows(sl.import_votes(tmp_path, sl.importers.Options(scorer="length"))).sort("question")
    assert other["correct"].to_list() == [True, True, True, False]


def test_canonical_answers(tmp_path: Path) -> None:
    arithmetic(answer("line"), tmp_path)
    frame = rows(sl.import_votes(tmp_path, sl.importers.Options(canonical=("numeric",)))).sort("question")
    assert frame["answer"].to_list()[:3] == ["2", "4", "7"]


def test_retried_logs_count_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(inspect_runs.FAILING, "3")
    first = run(inspect_runs.retried(), get_model("mockllm/model"), tmp_path, epochs=2, max_samples=1)
    assert first.status == "error"
    partial = sl.import_votes(tmp_path)
    assert any("this evaluation failed" in note and "of 8 samples imported" in note for note in partial.notes)
    monkeypatch.delenv(inspect_runs.FAILING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        [second] = eval_retry(read_eval_log(first.location), log_dir=str(tmp_path), display="none", log_level="error")
        gc.collect()
    assert (second.status, second.eval.task_id) == ("success", first.eval.task_id)
    imported = sl.import_votes(tmp_path)
    frame = rows(imported).sort("question", "sample")
    assert frame.select("question", "sample").rows() == [(str(i), e) for i in range(1, 5) for e in range(2)]
    assert frame["correct"].all()
    assert any("was retried: 2 logs of one run" in note for note in imported.notes)
    shutil.copy(second.location, tmp_path / "copy.eval")
    assert rows(sl.import_votes(tmp_path)).height == 8


def test_a_second_run_adds_samples(tmp_path: Path) -> None:
    arithmetic(answer("line"), tmp_path, epochs=2)
    arithmetic(answer("line"), tmp_path)
    imported = sl.import_votes(tmp_path)
    frame = rows(imported)
    assert frame.height == 4 * 3
    assert sorted(frame["sample"].unique()) == [0, 1, 2]
    assert any("count as further samples" in note for note in imported.notes)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(arithmetic(answer("line"), tmp_path_factory.mktemp("whole")).location)


def test_a_log_cut_off_in_the_middle(whole: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.eval"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(sl.InputError, match=r"cut\.eval.*not a whole Inspect log.*eval-retry"):
        sl.import_votes(cut)
    shutil.copy(whole, tmp_path / "whole.eval")
    imported = sl.import_votes(tmp_path)
    assert rows(imported).height == 4
    assert any("left out" in note and "cut.eval" in note for note in imported.notes)


def rewritten(whole: Path, target: Path, change: Any) -> Path:
    """Copy a log, with each of its parts changed (or left out, where `change` gives None)."""
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return target


def test_a_log_of_a_newer_version(whole: Path, tmp_path: Path) -> None:
    def newer(name: str, content: bytes) -> bytes:
        if name not in ("header.json", "_journal/start.json"):
            return content
        return json.dumps(json.loads(content) | {"version": 99}).encode()

    with pytest.raises(sl.InputError, match=r"newer Inspect|not a whole Inspect log"):
        sl.import_votes(rewritten(whole, tmp_path / "newer.eval", newer))
    log = json.loads(read_eval_log(str(whole)).model_dump_json(fallback=str))
    file = tmp_path / "newer.json"
    file.write_text(json.dumps(log | {"version": 99}))
    with pytest.raises(sl.InputError, match="written by a newer Inspect"):
        sl.import_votes(file)


def test_a_log_of_a_running_evaluation(whole: Path, tmp_path: Path) -> None:
    """A running evaluation has no header and no list of summaries yet: only its journal and finished samples."""
    running = rewritten(
        whole,
        tmp_path / "running.eval",
        lambda name, content: None if name in ("header.json", "summaries.json", "reductions.json") else content,
    )
    imported = sl.import_votes(running)
    assert rows(imported).height == 4
    assert any("still running or was killed: 4 of 4 samples" in note for note in imported.notes)


def test_zero_samples_and_no_scores(whole: Path, tmp_path: Path) -> None:
    log = read_eval_log(str(whole))
    empty = log.model_copy(update={"samples": [], "status": "cancelled"})
    write_eval_log(empty, str(tmp_path / "empty.eval"))
    with pytest.raises(sl.InputError, match="there are no samples in it"):
        sl.import_votes(tmp_path / "empty.eval")
    for sample in log.samples or []:
        sample.scores = None
    write_eval_log(log, str(tmp_path / "unscored.eval"))
    with pytest.raises(sl.InputError, match="no scores; run `inspect score`"):
        sl.import_votes(tmp_path / "unscored.eval")


def test_logs_that_would_unpack_to_too_much_are_refused(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = tmp_path / "bomb.eval"
    shutil.copy(whole, bomb)
    with zipfile.ZipFile(bomb, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/big.json", b" " * 5_000_000)
    assert bomb.stat().st_size < 200_000
    monkeypatch.setattr(inspect_logs, "MAX_MEMBER", 4_000_000)
    with pytest.raises(sl.InputError, match=r"'samples/big.json' would unpack to 5,000,000 bytes"):
        sl.import_votes(bomb)


def test_listings_beside_logs_are_left_alone(whole: Path, tmp_path: Path) -> None:
    shutil.copy(whole, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_log_dir_manifest(str(tmp_path))
    assert (tmp_path / "logs.json").exists()
    (tmp_path / "eval-set.json").write_text('{"eval_set_id": "x"}')
    imported = sl.import_votes(tmp_path)
    assert (rows(imported).height, imported.notes) == (4, ())


def test_not_a_log_at_all(tmp_path: Path) -> None:
    (tmp_path / "x.eval").write_bytes(b"hello")
    (tmp_path / "y.json").write_text('{"hello": 1}')
    with pytest.raises(sl.InputError, match="not a whole Inspect log"):
        sl.import_votes(tmp_path / "x.eval")
    with pytest.raises(sl.InputError, match="not a table in JSON"):
        sl.import_votes(tmp_path / "y.json")
