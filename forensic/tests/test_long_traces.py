"""Limits that a user sets, full contexts, calls written as text, broken characters: none of them ends a run badly."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessage, Model, ModelAPI, ModelOutput, ModelUsage, get_model, modelapi

from swaplaw.errors import InputError
from swaplaw_forensic.agent.replies import calls_in
from swaplaw_forensic.agent.traces import Trace, read_traces
from swaplaw_forensic.task import forensic, parse_size

from support.commands import Run
from testbed.examiners import FINISH, Move, needs_tools, output, playing, small_challenge, submit

pytestmark = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")


ASKED: list[int] = []


@modelapi(name="flaky")
class Flaky(ModelAPI):
    """A provider that fails the first time that it is asked, and says nothing of use from then on."""

    async def generate(self, *_: Any, **__: Any) -> ModelOutput:
        ASKED.append(1)
        if len(ASKED) == 1:
            raise RuntimeError("the server is warming up")
        return output("I would rather not say.")


@pytest.fixture
def small(tmp_path: Path) -> str:
    return small_challenge(tmp_path)


def run(model: Model, small: str, tmp_path: Path, **options: Any) -> tuple[Trace, Any]:
    task = forensic([small], evidence=str(tmp_path / "evidence"), **options)
    (log,) = evaluate(task, model=model, log_dir=str(tmp_path / "logs"), display="none")
    assert log.status == "success", log.error
    (trace,) = read_traces([Path(log.location)]).traces
    return trace, log


def test_limits_reach_the_sandbox(small: str, tmp_path: Path) -> None:
    task = forensic(
        [small], evidence=str(tmp_path / "evidence"), command_timeout=1800, cpu_seconds=9000, memory="8GiB",
        disk="2GiB", file_size="512MiB",
    )  # fmt: skip
    limits = task.dataset[0].sandbox.config.limits  # type: ignore[union-attr]
    assert limits.wall_seconds == 1800
    assert limits.total_cpu_seconds == 9000
    assert (limits.memory, limits.disk, limits.file_size) == (8 * 2**30, 2 * 2**30, 2**29)


@needs_tools()
def test_limits_are_set_from_the_command_line_and_task_arguments(small: str, tmp_path: Path, swaplaw: Run) -> None:
    """A trace whose model failed is tried again in a sandbox of its own; what was set holds there too."""
    words = [
        small,
        "--model",
        "flaky/model",
        "--runs",
        "1",
        "--message-limit",
        "3",
        "--evidence",
        tmp_path / "evidence",
    ]
    words += ["--command-timeout", "1800", "--cpu-seconds", "9000", "--memory", "8GiB", "--disk", "2GiB"]
    done = swaplaw("forensic", "run", *words, "--file-size", "512MiB", "--logs", tmp_path / "logs", "--json")
    assert done.code == 0, done.err
    given = {"command_timeout": 1800, "cpu_seconds": 9000, "memory": "8GiB", "disk": "2GiB", "file_size": "512MiB"}
    arguments = {"challenges": small, "evidence": str(tmp_path / "evidence"), "message_limit": 3, **given}
    (by_inspect,) = evaluate(
        "swaplaw_forensic/forensic",
        task_args=arguments,
        model="flaky/model",
        log_dir=str(tmp_path / "more"),
        display="none",
    )
    for location in (json.loads(done.out)["logs"][0]["log"], by_inspect.location):
        (sample,) = read_eval_log(location).samples or []
        limits = sample.sandbox.config.limits  # type: ignore[union-attr]
        assert (limits.wall_seconds, limits.total_cpu_seconds) == (1800, 9000)
        assert (limits.memory, limits.disk, limits.file_size) == (8 * 2**30, 2 * 2**30, 2**29)


@pytest.mark.parametrize(("text", "size"), [("1GiB", 2**30), (4096, 4096), ("512 MiB", 2**29), ("2g", 2**31)])
def test_sizes(text: int | str, size: int) -> None:
    assert parse_size(text) == size


def test_a_size_that_is_none_is_named() -> None:
    with pytest.raises(InputError, match="'much' must be a number of bytes"):
        parse_size("much")


@needs_tools()
def test_total_cpu_time_ends_a_call_and_the_next(small: str, tmp_path: Path) -> None:
    burn: Move = [("bash", {"command": "for n in 1 2; do (while :; do :; done) & done; wait"})]
    look: Move = [("bash", {"command": "sleep 1; while :; do :; done"})]
    trace, log = run(playing([[submit("word", "hello world")], burn, look, FINISH]), small, tmp_path, cpu_seconds=2)
    assert trace.ended == "finish"
    assert trace.answers == {"word": "hello world"}
    said = " ".join(message.text for message in log.samples[0].messages if message.role == "tool")
    assert "CPU seconds are used" in said


@needs_tools()
@pytest.mark.parametrize("how", ["reply", "error"])
def test_a_full_context_is_a_limit_that_keeps_what_was_submitted(how: str, small: str, tmp_path: Path) -> None:
    calls = 0

    def play(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        nonlocal calls
        calls += 1
        if calls == 1:
            return output([submit("word", "hello world")])
        if how == "error":
            raise RuntimeError("This model's maximum context length is 4096 tokens")
        full = ModelOutput.from_content("mockllm", "", stop_reason="model_length")
        full.usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
        return full

    trace, _ = run(get_model("mockllm/full", custom_outputs=play, memoize=False), small, tmp_path, truncation=False)
    assert (trace.ended, trace.answers) == ("context", {"word": "hello world"})


@needs_tools()
def test_calls_written_as_text_are_read_when_asked_for(small: str, tmp_path: Path) -> None:
    said = '```json\n{"name": "submit_answer", "arguments": {"question": "word", "answer": "hello world"}}\n```'
    moves: list[Move] = [said, '<tool_call>{"name": "finish", "arguments": {}}</tool_call>']
    trace, _ = run(playing(moves), small, tmp_path, text_calls=True)
    assert (trace.ended, trace.answers) == ("finish", {"word": "hello world"})


def test_text_without_calls_calls_nothing() -> None:
    for text in (
        "I am done.",
        "```json\n{}\n```",
        '```json\n{"name": "rm", "arguments": {}}\n```',
        "```json\n[1]\n```",
        "{" * 999,
    ):
        assert calls_in(text, {"finish"}) == []


@needs_tools()
def test_half_a_character_does_not_end_the_run(small: str, tmp_path: Path) -> None:
    moves: list[Move] = [
        "thinking \ud83d",
        [("bash", {"command": "echo '\udc00'"}), submit("word", "hello \ud800world")],
        FINISH,
    ]
    trace, _ = run(playing(moves), small, tmp_path)
    assert (trace.ended, trace.answers) == ("finish", {"word": "hello ?world"})


@needs_tools()
def test_standard_streams_can_be_opened_and_orphans_are_reaped(small: str, tmp_path: Path) -> None:
    look = "echo out > /dev/stdout; echo err > /dev/stderr; (sleep 0.1 &) ; sleep 3; ps -e -o stat= | grep -c Z"
    _, log = run(playing([[("bash", {"command": look})], FINISH]), small, tmp_path)
    said = " ".join(message.text for message in log.samples[0].messages if message.role == "tool")
    assert "Permission denied" not in said
    assert "out" in said
    assert "err" in said
    assert "\n0" in said


def test_doctor_names_tools_and_the_six_questions(swaplaw: Run, tmp_path: Path) -> None:
    (tmp_path / "image" / "usr" / "bin").mkdir(parents=True)
    done = swaplaw("forensic", "doctor", "--image", tmp_path / "image", "--json")
    assert done.code == 1
    assert "apt-get install ewf-tools sleuthkit" in done.err
    rows = {row["challenge"]: row for row in json.loads(done.out)["challenges"]}
    ungradeable = {name: why for row in rows.values() for name, why in row["ungradeable"].items()}
    assert sorted(ungradeable) == ["dlc-15", "dlc-44", "dlc-46", "dlc-58", "dlc-60", "ios-18"]
    assert all(ungradeable.values())
    assert "esedbexport" in rows["cfreds-data-leakage"]["missing"]
    assert rows["synthetic-host"]["evidence"] == "built from a seed"
