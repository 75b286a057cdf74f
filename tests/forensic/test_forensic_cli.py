"""The commands: one JSON document or a table, one clear line on error, and runs that resume."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from examiners import needs_tools
from swaplaw.cli import main
from swaplaw.forensic.manifest import load
from swaplaw.forensic.scripted import scripted_model

pytestmark = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")


@modelapi(name="examiner")
class Examiner(ModelAPI):
    """A provider that any command can name: `examiner/NAME` solves what is asked."""

    traces = 0

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        model = scripted_model([load("synthetic-disk"), load("synthetic-capture")])
        if len(input) == 2:
            Examiner.traces += 1
        answer = await model.api.generate(input, tools, tool_choice, config)
        assert isinstance(answer, tuple)
        output = answer[0]
        assert isinstance(output, ModelOutput)
        return output


class Done:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def swaplaw(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SWAPLAW_EVIDENCE", raising=False)

    def call(*arguments: str | Path) -> Done:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        code = stopped.value.code
        assert isinstance(code, int)
        return Done(code, captured.out, captured.err)

    return call


def test_list(swaplaw: Any) -> None:
    rows = {row["id"]: row for row in swaplaw("forensic", "list", "--json").json["challenges"]}
    assert sum(row["questions"] for row in rows.values() if row["kind"] == "real") == 98
    assert sum(row["gradeable"] for row in rows.values() if row["kind"] == "real") == 92
    assert sum(row["errata"] for row in rows.values()) == 7
    assert rows["mvs2025-ios"]["unknown"]
    assert not rows["rhino-hunt"]["here"]
    table = swaplaw("forensic", "list")
    assert table.code == 0
    assert "to fetch" in table.out
    assert "not known" in table.out


def test_build_and_verify(swaplaw: Any, tmp_path: Path) -> None:
    built = swaplaw("forensic", "build", "synthetic-disk@5", "synthetic-capture@5", "--json")
    assert built.code == 0
    assert [row["challenge"] for row in built.json["challenges"]] == ["synthetic-disk@5", "synthetic-capture@5"]
    assert (tmp_path / "evidence" / "synthetic-disk@5" / "harbor_usb.dd").is_file()
    again = swaplaw("forensic", "build", "synthetic-disk@5", "synthetic-capture@5", "--json")
    assert again.json == built.json
    checked = swaplaw("forensic", "verify", "synthetic-disk@5", "--json")
    assert checked.code == 0
    assert checked.json["challenges"][0]["ok"]
    (tmp_path / "evidence" / "synthetic-disk@5" / "harbor_usb.dd").write_bytes(b"")
    altered = swaplaw("forensic", "verify", "synthetic-disk@5", "--json")
    assert altered.code == 1
    assert altered.json["challenges"][0]["files"][0]["status"] == "altered"
    assert altered.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["list", "--what"], 2, "No such option"),
        (["verify", "no-such"], 2, "no challenge 'no-such'"),
        (["verify", "synthetic-disk@x"], 2, "whole number"),
        (["verify", "rhino-hunt"], 1, "cannot be used. To get it: Download DFRWS2005-RODEO.zip"),
        (["verify", "mvs2025-ios"], 1, "Neither the name, the size nor a hash"),
        (["build", "rhino-hunt"], 2, "is real: its evidence is fetched"),
        (["build", "rhino-hunt", "--from", "nowhere"], 2, "no such folder"),
        (["solve", "rhino-hunt"], 2, "'RHINOUSB.dd' is missing"),
        (["solve", "mta-lumma"], 2, "has no solution script"),
        (["run", "rhino-hunt", "--model", "examiner/x"], 2, "'RHINOUSB.dd' is missing"),
        (["run", "mvs2025-ios", "--model", "examiner/x"], 2, "no evidence file of it is known"),
        (["run", "synthetic-disk", "synthetic-disk@1", "--model", "examiner/x"], 2, "named twice"),
        (["run", "synthetic-disk", "--model", "examiner/x", "--runs", "0"], 2, "--runs"),
        (["run", "synthetic-disk", "--model", "no-such-provider/x"], 2, "no-such-provider"),
        (["run", "synthetic-disk"], 2, "--model"),
        (["grade", "nowhere", "-o", "v.parquet"], 2, "no log at 'nowhere'"),
        (["grade", ".", "-o", "v.parquet"], 2, "no finished forensic log"),
        (["grade", ".", "-o", "v.parquet", "--without-rubric", "--judge", "examiner/x"], 2, "nothing to judge"),
    ],
)  # fmt: skip
def test_errors_are_one_line(swaplaw: Any, arguments: list[str], code: int, message: str) -> None:
    done = swaplaw("forensic", *arguments)
    assert done.code == code, done.err
    assert message in done.err
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err


def test_a_broken_log_is_named(swaplaw: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.eval").write_bytes(b"PK not really")
    done = swaplaw("forensic", "grade", "broken.eval", "-o", "v.parquet")
    assert done.code == 2
    assert "broken.eval: not an Inspect log" in done.err


@needs_tools("fls", "foremost", "tshark", "unzip", "file", "xxd")
def test_run_resumes_and_adds_runs_then_grades(swaplaw: Any, tmp_path: Path) -> None:
    command = ("forensic", "run", "synthetic-capture", "--model", "examiner/a", "--json", "--runs")
    Examiner.traces = 0
    first = swaplaw(*command, "1")
    assert first.code == 0, first.err
    assert first.json["success"]
    assert [log["traces"] for log in first.json["logs"]] == [1]
    assert swaplaw(*command, "1").code == 0
    assert Examiner.traces == 1  # nothing was left to do
    assert swaplaw(*command, "2").code == 0
    assert Examiner.traces == 2  # one run was new
    graded = swaplaw("forensic", "grade", "logs", "-o", "votes.parquet", "--json")
    assert graded.code == 0, graded.err
    (model,) = graded.json["models"]
    assert (model["model"], model["votes"], model["single"]) == ("examiner/a", 28, 1.0)
    pairs = swaplaw("summary", "votes.parquet", "--json")
    assert pairs.json["models"][0]["plurality"] == 1.0


@needs_tools("fls", "foremost", "tshark", "unzip", "file", "xxd")
def test_solve_prints_each_question(swaplaw: Any) -> None:
    done = swaplaw("forensic", "solve", "synthetic-disk@4", "--json")
    assert done.code == 0, done.err
    assert len(done.json["questions"]) == 13
    assert all(row["correct"] for row in done.json["questions"])
