"""`swaplaw recommend`: what it prints and writes, what it says of bad options and of few votes, and its page."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import swaplaw as sl
from swaplaw.cli import main
from swaplaw.cli.decide import recommend as command
from swaplaw.cli.votes import checks as checks_command
from swaplaw.decide.policy import read_policy
from swaplaw.decide.recommend import recommend

from support.data import real_votes
from support.pages import DOCS

ONE = [("q1", "a", "A", "A"), ("q1", "b", "B", "A")]
TWICE = [(*row[:2], answer, row[3]) for row in [*ONE, ("q2", "a", "A", "A"), ("q2", "b", "A", "A")] for answer in "AAB"]
TWICE += [("q3", "a", "A", "A")]
TWO = [*ONE, ("q2", "a", "A", "A"), ("q2", "b", "A", "A")]


def votes_file(tmp_path: Path, rows: list[tuple[str, str, str, str]], **columns: list[str]) -> str:
    file = tmp_path / "votes.csv"
    frame = pl.DataFrame(rows, schema=["question", "model", "answer", "gold"], orient="row")
    frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()}).write_csv(file)
    return str(file)


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as stopped:
        main(["recommend", *arguments])
    code = stopped.value.code
    assert isinstance(code, int)
    return code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--models", "gpt-4,gpt-5"], "no model 'gpt-5'"),
        (["--models", "gpt-4,gpt-4"], "named twice"),
        (["--models", ","], "no model is named"),
        (["--max-models", "0"], "max_models is 1 or more"),
        (["--min-gain", "5"], "not a fraction of one"),
        (["--min-gain", "nan"], "not a fraction of one"),
        (["--budget", "0"], "buys nothing"),
        (["--budget", "0.5"], "buys no sample of any model"),
        (["--price", "gpt-5=1"], "price for 'gpt-5'"),
        (["--price", "gpt-4=-1"], "'gpt-4' is -1.0"),
        (["--price", "gpt-4=1"], "no price for"),
        (["--price", "gpt-4=cheap"], "MODEL=PRICE"),
        (["--prices", "nowhere.json"], "cannot read prices"),
        (["--folds", "1"], "2 or more"),
        (["--repeats", "0"], "1 or more"),
        (["-o", "nowhere/policy.json"], "there is no directory"),
    ],
)
def test_bad_options_get_one_clear_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, error = run(["demo", *arguments], capsys)
    assert code == 2
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_bad_votes_get_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, error = run([votes_file(tmp_path, ONE)], capsys)
    assert (code, "single question" in error, error.splitlines()[-1].startswith("swaplaw: ")) == (2, True, True)
    apart = [("q1", "a", "A", "A"), ("q2", "b", "A", "A")]
    code, error = run([votes_file(tmp_path, apart)], capsys)
    assert (code, "no question" in error, error.splitlines()[-1].startswith("swaplaw: ")) == (2, True, True)


def test_two_questions_are_enough_to_say_that_they_are_not(tmp_path: Path) -> None:
    found = recommend(sl.read_votes(votes_file(tmp_path, TWO)).tally())
    assert found.verdict == "cannot_tell"
    assert any(check.name == "few_questions" for check in found.checks)


def test_a_single_model_is_deployed_alone(tmp_path: Path) -> None:
    rows = [row for row in TWO if row[1] == "a"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.errors.StatisticalWarning)
        found = recommend(sl.read_votes(votes_file(tmp_path, rows)).tally())
    assert found.policy.members[0].model == "a"
    assert found.reason == "alone"


def test_what_is_printed_fits_a_narrow_terminal_and_says_no_more_than_is_known(tmp_path: Path) -> None:
    shown = CliRunner().invoke(command, ["demo", "--repeats", "1"]).output
    table = shown[shown.index("Ask") : shown.index("Gains are over")].splitlines()
    assert max(map(len, table)) <= 130
    tiny = CliRunner().invoke(command, [votes_file(tmp_path, TWICE), "--repeats", "1"]).output
    assert "both models answered" in tiny
    nonsense = [(f"q{k}", model, f"{'ABCD'[k % 4]})", "ABCD"[k % 4]) for k in range(40) for model in "ab"]
    assert "what calls buy" not in CliRunner().invoke(command, [votes_file(tmp_path, nonsense)]).output


def test_a_pipeline_can_insist_on_a_deployment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["recommend", "demo", "--fail-unless", "deploy", "--json"])
    assert stopped.value.code == 3
    assert json.loads(capsys.readouterr().out)["verdict"] == "cannot_tell"


def test_the_command_writes_the_policy_that_it_prints(tmp_path: Path) -> None:
    demo = recommend(sl.demo_votes().tally())
    file = tmp_path / "policy.json"
    shown = CliRunner().invoke(command, ["demo", "-o", str(file)])
    assert shown.exit_code == 0, shown.output
    assert "Nothing is proven yet" in shown.output
    assert "gpt-4, 1 call" in shown.output
    written = read_policy(file)
    # The file also holds the votes that live ones are compared with; the decision is the same.
    assert replace(written, data={key: written.data[key] for key in demo.policy.data}) == demo.policy
    document = json.loads(CliRunner().invoke(command, ["demo", "--json"]).stdout)
    assert document == json.loads(json.dumps(demo.to_dict()))
    assert document["verdict"] == "cannot_tell"
    assert set(document["held_out"]) >= {"lift", "interval"}
    assert document["policy"]["members"][0] == {"model": "gpt-4", "weight": "1", "samples": 30, "price": None}
    assert document["policy"]["fallback"] == [{**each, "price": None} for each in document["now"]["fallback"]]


def test_an_ensemble_that_is_only_expected_to_gain_passes_the_weaker_demand() -> None:
    assert CliRunner().invoke(command, ["demo", "--fail-unless", "now", "--repeats", "1"]).exit_code == 0
    strict = ["demo", "--fail-unless", "now", "--only-proven", "--repeats", "1"]
    assert CliRunner().invoke(command, strict).exit_code == 3


PAGE = (DOCS / "recommend.md").read_text()
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("line", COMMANDS)
def test_documented_commands_run(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, name, *arguments = shlex.split(line)
    done = CliRunner().invoke({"recommend": command, "checks": checks_command}[name], arguments)
    assert done.exit_code == 0, done.output


def test_documented_output_and_python_are_real() -> None:
    (shown,) = re.findall(r"```console\n\$ swaplaw recommend demo\n(.*?)```", PAGE, flags=re.DOTALL)
    assert shown.strip() in CliRunner().invoke(command, ["demo"]).output
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(code, "docs/recommend.md", "exec"), {})


@pytest.mark.parametrize("name", ["aime", "best-of-infinity", "mmlu-pro", "reasoning-gym", "renze-temperature"])
def test_no_check_of_real_votes_blocks_a_verdict(name: str) -> None:
    done = CliRunner().invoke(checks_command, [str(real_votes(f"{name}.parquet")), "--json"])
    assert done.exit_code == 0, done.output
    assert "error" not in {check["severity"] for check in json.loads(done.stdout)["checks"]}


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_no_policy_is_written_where_votes_are_nonsense(tmp_path: Path, form: tuple[str, ...]) -> None:
    file = votes_file(tmp_path, [(f"q{n}", m, "N/A", "A" if n % 2 else "B") for n in range(40) for m in "ab"])
    policy = tmp_path / "policy.json"
    done = CliRunner().invoke(command, [file, "-o", str(policy), "--repeats", "1", *form])
    assert done.exit_code == 0
    assert not policy.exists()
    assert "no policy was written" in done.stderr
    assert "deploy nothing" in done.stdout
    assert "Wrote" not in done.output
