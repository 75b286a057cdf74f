"""The commands calibrate, screen and predictors, as a newcomer runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import swaplaw as sl

from support.commands import Finished, Run
from support.data import real_votes
from support.pages import DOCS

FAST = ["--replicates", "200"]


def document(finished: Finished) -> Any:
    """The one JSON document on standard output; NaN is no JSON."""
    assert finished.code == 0, finished.err
    return json.loads(finished.out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


@pytest.fixture(scope="module")
def law_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("law") / "law.json"
    sl.calibrate(sl.demo_votes().tally(), replicates=50).write(file)
    return str(file)


def test_calibrate_prints_writes_and_gives_json(tmp_path: Path, swaplaw: Run) -> None:
    file = tmp_path / "law.json"
    found = swaplaw("calibrate", "demo", "-o", str(file), *FAST)
    assert found.code == 0
    assert "0.335" in found.out
    assert "0.138" in found.out
    assert "35 of 36 pairs" in found.out
    law = document(swaplaw("calibrate", "demo", "--json", *FAST))
    assert law == json.loads(file.read_text())
    assert {"weight", "alpha", "gamma", "lambda", "intervals", "residual", "fit"} <= set(law)
    assert {"r2", "rho", "rmse"} <= set(law["fit"])


def test_screen_ranks_every_pair(law_file: str, swaplaw: Run) -> None:
    found = document(swaplaw("screen", "demo", "--law", law_file, "--json"))
    rows = found["pairs"]
    assert len(rows) == 36
    assert found["rule"] == "swap"
    assert found["reliability"]["rho"] == pytest.approx(0.23, abs=0.01)  # 0.45 on the questions that were screened
    assert found["reliability"]["low"] < 0.23 < found["reliability"]["high"]
    assert "worthless here" in found["reliability"]["note"]
    assert set(rows[0]) == {"primary", "secondary", "p", "q", "phi_adj", "predicted", "rank"}
    table = swaplaw("screen", "demo", "--law", law_file, "--top", "3")
    assert "8 of 36 pairs are predicted to gain. The first 3 are shown" in table.out


def test_screen_takes_published_marginals(law_file: str, tmp_path: Path, swaplaw: Run) -> None:
    accuracy, phi_adj = tmp_path / "accuracy.csv", tmp_path / "phi_adj.csv"
    accuracy.write_text("model,accuracy\nGemma,0.69\nQwen,0.679\nLast,0\n")
    phi_adj.write_text("primary,secondary,phi_adj\nQwen,Gemma,0.6\nQwen,Last,\n")
    files = ["--accuracy", accuracy, "--phi-adj", phi_adj, "--law", law_file]
    rows = document(swaplaw("screen", *files, "--json"))["pairs"]
    assert [(row["primary"], row["secondary"], row["rank"]) for row in rows] == [
        ("Gemma", "Qwen", 1),
        ("Qwen", "Last", 2),
    ]
    law = sl.predict.read_law(law_file)
    rescue = 0.679 * (1 - 0.69) * (1 - 0.6)
    assert rows[0]["predicted"] == pytest.approx((law.alpha - law.gamma) * rescue - law.gamma * 0.011)
    assert rows[1]["phi_adj"] is None


def test_predictors_gives_the_table(law_file: str, swaplaw: Run) -> None:
    table = document(swaplaw("predictors", "demo", "--law", law_file, "--json", *FAST))
    assert table["weight"] == "2/3"
    assert table["predictors"][1]["name"] == "predicted"
    assert table["predictors"][1]["rho"] == pytest.approx(0.45, abs=5e-3)
    assert table["law"]["calibrated_on"] == "renze-temperature"
    assert "in-sample" in swaplaw("predictors", "demo", "--weight", "1/2", *FAST).out


def test_transfer_is_one_command(swaplaw: Run, shared_votes: Path) -> None:
    file = str(shared_votes / "reasoning-gym.parquet")
    command = ["predictors", file, "--without", "llama-4-scout", "--calibrate-on", "demo", "--replicates", "20"]
    found = swaplaw(*command)
    assert found.code == 0
    assert "renze-temperature: the law at weight 2/3, from 36 pairs" in found.out
    assert "reasoning-gym: predicting lift at weight 2/3 over 36 pairs" in found.out
    assert "Rates from renze-temperature" in found.out
    assert document(swaplaw(*command, "--json"))["predictors"][1]["rho"] == pytest.approx(0.85, abs=0.01)


def write(path: Path, questions: int, clusters: int | None) -> str:
    frame = pl.DataFrame(
        {
            "question": [f"q{n}" for n in range(questions)] * 2,
            "model": ["one"] * questions + ["two"] * questions,
            "answer": ["A", "B"] * questions,
            "gold": "A",
        }
    )
    if clusters:
        numbers = pl.int_range(pl.len()) % questions % clusters
        frame = frame.with_columns(cluster=pl.format("c{}", numbers))
    frame.write_csv(path)
    return str(path)


def test_bad_input_gets_one_clear_line_each(law_file: str, tmp_path: Path, swaplaw: Run) -> None:
    other = tmp_path / "policy.json"
    other.write_text(json.dumps({"schema": "swaplaw.policy", "version": 1}))
    table = tmp_path / "table.csv"
    table.write_text("model,score\na,1\n")
    percent = tmp_path / "percent.csv"
    percent.write_text("model,accuracy\na,69\nb,60\n")
    word = tmp_path / "word.csv"
    word.write_text("model,accuracy\na,high\n")
    phi = tmp_path / "phi.csv"
    phi.write_text("primary,secondary,phi_adj\na,b,0.5\n")
    twice = tmp_path / "twice.csv"
    twice.write_text("primary,secondary,phi_adj\na,b,0.5\nb,a,0.5\n")
    one = write(tmp_path / "one.csv", 1, None)
    single = write(tmp_path / "single.csv", 40, 1)
    marginals = ["screen", "--law", law_file, "--phi-adj"]
    for words, *arguments in (
        (
            "schema is 'swaplaw.policy', expected 'swaplaw.law'",
            "screen",
            "demo",
            "--law",
            str(other),
        ),
        (
            "calibrated at weight 2/3 and says nothing about weight 1",
            "screen",
            "demo",
            "--law",
            law_file,
            "--weight",
            "1",
        ),
        ("says nothing about weight 1/2", "predictors", "demo", "--law", law_file, "--weight", "1/2"),
        ("has a single question ('q0')", "calibrate", one),
        ("has a single question ('q0')", "predictors", one, "--law", law_file),
        ("has a single cluster ('c0')", "calibrate", single, "--by", "cluster"),
        ("cannot read the law", "screen", "demo", "--law", str(tmp_path / "none.json")),
        ("weight '-1' is negative", "calibrate", "demo", "--weight=-1"),
        ("there is no model 'gpt-5'", "calibrate", "demo", "--without", "gpt-5"),
        ("give either VOTES, or both --accuracy and --phi-adj", "screen", "--law", law_file),
        ("give either VOTES, or both", *marginals, str(phi)),
        ("column 'accuracy' is missing (found 'model', 'score')", *marginals, str(phi), "--accuracy", str(table)),
        ("accuracy of 'a' is 69.0, expected a fraction of one", *marginals, str(phi), "--accuracy", str(percent)),
        ("accuracy is 'high', expected a number", *marginals, str(phi), "--accuracy", str(word)),
        ("is listed twice", *marginals, str(twice), "--accuracy", str(percent)),
        ("either --law or --calibrate-on", "predictors", "demo", "--law", law_file, "--calibrate-on", "demo"),
        ("level 95.0 is not between 0 and 1", "calibrate", "demo", "--level", "95"),
        ("0 parts cannot be left out", "calibrate", "demo", "--replicates", "0"),
        ("there is no directory", "calibrate", "demo", "-o", str(tmp_path / "no" / "law.json"), *FAST),
    ):
        found = swaplaw(*arguments)
        assert found.code == 2, arguments
        assert found.out == "", arguments
        errors = [line for line in found.err.splitlines() if not line.startswith("warning: ")]
        assert len(errors) == 1, found.err
        assert errors[0].startswith("swaplaw: "), arguments
        assert words in found.err, found.err


def test_doubts_go_to_standard_error(tmp_path: Path, swaplaw: Run) -> None:
    found = swaplaw("predictors", write(tmp_path / "few.csv", 20, None), "--json", *FAST)
    assert "note: only 20 questions are resampled" in found.err
    assert document(found)["pairs"] == 1
    # One pair has no correlation with anything: null, not NaN.
    assert document(found)["predictors"][0]["rho"] is None


def test_every_command_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swaplaw: Run, shared_votes: Path
) -> None:
    """The documentation's commands, in order, in an empty folder that has the files it names."""
    page = (DOCS / "evidence.md").read_text()
    monkeypatch.chdir(tmp_path)
    accuracy, phi_adj = (block.split("```")[0] for block in page.split("```csv\n")[1:])
    Path("accuracy.csv").write_text(accuracy)
    Path("phi_adj.csv").write_text(phi_adj)
    commands = [line for line in page.splitlines() if line.startswith("swaplaw ")]
    assert len(commands) >= 5
    for line in commands:
        if "reasoning-gym.parquet" in line:
            line = line.replace("reasoning-gym.parquet", str(shared_votes / "reasoning-gym.parquet"))
        found = swaplaw(*line.split()[1:], *([] if " screen " in line else FAST))
        assert found.code == 0, (line, found.err)


def test_the_python_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "evidence.md").read_text()
    monkeypatch.chdir(tmp_path)
    for block in page.split("```python\n")[1:]:
        exec(block.split("```")[0], {})


def test_screen_by_the_margin_law_needs_no_rates(swaplaw: Run) -> None:
    found = document(swaplaw("screen", "demo", "--rule", "margin", "--json"))
    assert (found["weight"], found["rule"], len(found["pairs"])) == ("2/3", "margin", 36)
    first = found["pairs"][0]
    exact = sl.predict.margin_lift(sl.pair(sl.demo_votes(), first["primary"], first["secondary"]))
    assert first["predicted"] == float(exact)
    assert "18 of 36 pairs are predicted to gain, 11 do" in found["reliability"]["note"]
    refused = swaplaw("screen", "demo", "--rule", "swap")
    assert refused.code == 2
    assert "needs the rates of a law" in refused.err


def test_a_worthless_screen_is_called_so(law_file: str, tmp_path: Path, swaplaw: Run) -> None:
    """At temperature 0 the models repeat themselves, and S-hat does not rank the pairs at all."""
    votes = pl.read_parquet(real_votes("renze-temperature.parquet")).filter(pl.col("temperature") < 0.05)
    votes.drop("temperature").write_parquet(tmp_path / "cold.parquet")
    done = swaplaw("screen", str(tmp_path / "cold.parquet"), "--law", law_file)
    assert done.code == 0
    assert "do not choose pairs by this screen" in done.err
    assert "do not choose pairs by this screen" in done.out
