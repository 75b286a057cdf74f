"""The commands: one JSON document or a table, one clear line on error, and runs that resume."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from swaplaw_forensic.challenges.manifest import load
from swaplaw_forensic.task import forensic

from support.commands import Finished, Run
from testbed.examiners import FINISH, needs_tools, output, playing, small_challenge, submit, verdict
from testbed.scripted import scripted_model

pytestmark = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")


@modelapi(name="examiner")
class Examiner(ModelAPI):
    """A provider that any command can name: `examiner/NAME` solves what is asked."""

    traces = 0

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        # The command draws a seed and keeps it beside the logs.
        model = scripted_model([load(ref) for ref in json.loads(Path("logs/seeds.json").read_text()).values()])
        if len(input) == 2:
            Examiner.traces += 1
        answer = await model.api.generate(input, tools, tool_choice, config)
        assert isinstance(answer, tuple)
        output = answer[0]
        assert isinstance(output, ModelOutput)
        return output


@pytest.fixture(autouse=True)
def _in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SWAPLAW_EVIDENCE", raising=False)


def document(finished: Finished) -> Any:
    assert finished.code == 0, finished.err
    return json.loads(finished.out)


def test_list(swaplaw: Run) -> None:
    rows = {row["id"]: row for row in document(swaplaw("forensic", "list", "--json"))["challenges"]}
    assert sum(row["questions"] for row in rows.values() if row["kind"] == "real") == 98
    assert sum(row["gradeable"] for row in rows.values() if row["kind"] == "real") == 92
    assert sum(row["errata"] for row in rows.values()) == 7
    assert rows["mvs2025-ios"]["unknown"]
    assert not rows["rhino-hunt"]["here"]
    table = swaplaw("forensic", "list")
    assert table.code == 0
    assert "to fetch" in table.out
    assert "not known" in table.out


def test_build_and_verify(swaplaw: Run, tmp_path: Path) -> None:
    build = ("forensic", "build", "synthetic-disk@5", "synthetic-capture@5", "--json")
    built = document(swaplaw(*build))
    assert [row["challenge"] for row in built["challenges"]] == ["synthetic-disk@5", "synthetic-capture@5"]
    (image,) = [Path(built["challenges"][0]["folder"]) / file["file"] for file in built["challenges"][0]["files"]]
    assert image.is_file()
    assert document(swaplaw(*build)) == built
    assert document(swaplaw("forensic", "verify", "synthetic-disk@5", "--json"))["challenges"][0]["ok"]
    image.write_bytes(b"")
    altered = swaplaw("forensic", "verify", "synthetic-disk@5", "--json")
    assert altered.code == 1
    assert json.loads(altered.out)["challenges"][0]["files"][0]["status"] == "altered"
    assert altered.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["list", "--what"], 2, "No such option"),
        (["verify", "no-such"], 2, "no challenge 'no-such'"),
        (["verify", "synthetic-disk@x"], 2, "whole number"),
        (["verify", "synthetic-disk"], 2, "verify synthetic-disk@SEED"),
        (["verify", "rhino-hunt"], 1, "cannot be used. To get it: Download DFRWS2005-RODEO.zip"),
        (["verify", "mvs2025-ios"], 1, "Neither the name, the size nor a hash"),
        (["build", "rhino-hunt"], 2, "is real: its evidence is fetched"),
        (["build", "rhino-hunt", "--from", "nowhere"], 2, "no such folder"),
        (["run", "rhino-hunt", "--model", "examiner/x"], 2, "'RHINOUSB.dd' is missing"),
        (["run", "mvs2025-ios", "--model", "examiner/x"], 2, "none of its evidence files is known"),
        (["run", "synthetic-disk@1", "synthetic-disk@1", "--model", "examiner/x"], 2, "named twice"),
        (["run", "synthetic-disk", "--model", "examiner/x", "--runs", "0"], 2, "--runs"),
        (["run", "synthetic-disk", "--model", "no-such-provider/x"], 2, "no-such-provider"),
        (["run", "synthetic-disk"], 2, "--model"),
        (["grade", "nowhere", "-o", "v.parquet"], 2, "no log at 'nowhere'"),
        (["grade", ".", "-o", "v.parquet"], 2, "no finished forensic log"),
        (["grade", ".", "-o", "v.parquet", "--without-rubric", "--judge", "examiner/x"], 2, "nothing to judge"),
    ],
)  # fmt: skip
def test_errors_are_one_line(swaplaw: Run, arguments: list[str], code: int, message: str) -> None:
    done = swaplaw("forensic", *arguments)
    assert done.code == code, done.err
    assert message in done.err
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err


def test_a_broken_log_is_named(swaplaw: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.eval").write_bytes(b"PK not really")
    done = swaplaw("forensic", "grade", "broken.eval", "-o", "v.parquet")
    assert done.code == 2
    assert "broken.eval: not an Inspect log" in done.err


@needs_tools("fls", "foremost", "tshark", "unzip", "file", "xxd")
def test_run_resumes_and_adds_runs_then_grades(swaplaw: Run, tmp_path: Path) -> None:
    command = ("forensic", "run", "synthetic-capture", "--model", "examiner/a", "--json", "--runs")
    Examiner.traces = 0
    first = document(swaplaw(*command, "1"))
    assert first["success"]
    assert [log["traces"] for log in first["logs"]] == [1]
    assert swaplaw(*command, "1").code == 0
    assert Examiner.traces == 1  # nothing was left to do
    assert swaplaw(*command, "2").code == 0
    assert Examiner.traces == 2  # one run was new
    (model,) = document(swaplaw("forensic", "grade", "logs", "-o", "votes.parquet", "--json"))["models"]
    assert (model["model"], model["votes"], model["single"]) == ("examiner/a", 2 * model["questions"], 1.0)
    assert document(swaplaw("summary", "votes.parquet", "--json"))["models"][0]["plurality"] == 1.0


@modelapi(name="referee")
class Referee(ModelAPI):
    """A judge that any command can name."""

    calls = 0

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        Referee.calls += 1
        prompt = input[-1].text
        token = prompt.rsplit('"token": "', 1)[1][:16]
        answer = next(row for row in prompt.splitlines() if row.startswith("Candidate's answer"))
        return output(verdict(token, "correct" if "greets" in answer else "incorrect"))


@needs_tools()
def test_rubric_answers_are_judged_once_and_graded_for_ever(swaplaw: Run, tmp_path: Path) -> None:
    small = small_challenge(tmp_path)
    for name, answer in (("kind", "It greets the world."), ("rude", "It says nothing.")):
        model = playing([[submit("why", answer)], FINISH], name)
        task = forensic([small], evidence=str(tmp_path / "evidence"), runs=2)
        (log,) = evaluate(task, model=model, log_dir=str(tmp_path / "logs"), display="none")
        assert log.status == "success"
    grade = ("forensic", "grade", "logs", "-o", "votes.parquet", "--json")
    refused = swaplaw(*grade)
    # Inspect may have greeted on standard output when the first evaluation of this process began.
    assert refused.code == 2
    assert "{" not in refused.out
    assert "name a judge" in refused.err
    assert not (tmp_path / "votes.parquet").exists()
    Referee.calls = 0
    report = document(swaplaw(*grade, "--judge", "referee/x", "--judge-twice"))
    assert Referee.calls == 4  # two answers, twice each
    assert report["judge"] == {
        "judge": "referee/x", "judged": 4, "reused": 0, "undecided": 0, "twice": 2, "agreed": 2, "kappa": 1.0,
    }  # fmt: skip
    first = (tmp_path / "votes.parquet").read_bytes()
    again = document(swaplaw(*grade))
    assert Referee.calls == 4
    assert (again["judge"]["judged"], again["judge"]["reused"]) == (0, 2)
    assert (tmp_path / "votes.parquet").read_bytes() == first
    assert "greets" in (tmp_path / "votes.parquet.verdicts.jsonl").read_text()
    fewer = document(swaplaw(*grade, "--without-rubric"))
    assert fewer["without_rubric"] == ["why"]


@needs_tools()
def test_a_challenge_without_gold_runs_but_is_not_graded(swaplaw: Run, tmp_path: Path) -> None:
    small = small_challenge(tmp_path)
    (Path(small) / "gold.toml").unlink()
    task = forensic([small], evidence=str(tmp_path / "evidence"))
    (log,) = evaluate(task, model=playing([FINISH]), log_dir=str(tmp_path / "logs"), display="none")
    assert log.status == "success"
    done = swaplaw("forensic", "grade", "logs", "-o", "votes.parquet")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("swaplaw: challenge 'small' has no gold file")
    assert done.err.count("\n") == 1


@needs_tools()
def test_unfinished_logs_are_left_out_unless_asked_for(swaplaw: Run, tmp_path: Path) -> None:
    small = small_challenge(tmp_path)

    def breaks(messages: list[ChatMessage], *_: object) -> ModelOutput:
        if len(messages) > 3:
            raise RuntimeError("the server went away")
        return output([submit("word", "hello world")])

    model = get_model("mockllm/breaks", custom_outputs=breaks, memoize=False)
    task = forensic([small], evidence=str(tmp_path / "evidence"))
    (log,) = evaluate(task, model=model, log_dir=str(tmp_path / "logs"), display="none")
    assert log.status == "error"
    grade = ("forensic", "grade", "logs", "-o", "votes.parquet", "--without-rubric", "--json")
    refused = swaplaw(*grade)
    assert refused.code == 2
    assert "unfinished (error): keep what they have with --partial" in refused.err
    (row,) = document(swaplaw(*grade, "--partial"))["models"]
    assert row["single"] == 0.25
    assert row["reasons"] == {"error": 0.75}
