"""Tables of any layout: columns declared or guessed, every guess shown, and errors that list what was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import swaplaw as sl
from swaplaw.cli import swaplaw as cli
from swaplaw.importers.reading import detect, import_votes
from swaplaw.importers.record import Options

from support.data import real_votes


def written(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    file = folder / name
    if name.endswith(".csv"):
        pl.DataFrame(rows).write_csv(file)
    elif name.endswith(".parquet"):
        pl.DataFrame(rows).write_parquet(file)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


SIMPLE = [
    {"id": "q1", "sampler": "m", "extracted_answer": "B", "correct_answer": "B", "score": 1.0, "html": "<b>"},
    {"id": "q1", "sampler": "n", "extracted_answer": "", "correct_answer": "B", "score": 0.0, "html": "<b>"},
    {"id": "q2", "sampler": "m", "extracted_answer": "C", "correct_answer": "A", "score": 0.0, "html": "<b>"},
]


@pytest.mark.parametrize("name", ["simple.csv", "simple.jsonl", "simple.parquet"])
def test_simple_evals_like_results(name: str, tmp_path: Path) -> None:
    file = written(tmp_path, name, SIMPLE)
    assert detect(file) == "table"
    result = import_votes(file)
    frame = result.votes.frame.collect().sort("question", "model")
    votes = frame.select("question", "model", "answer", "gold", "correct").rows()
    assert votes == [("q1", "m", "B", "B", True), ("q1", "n", None, "B", False), ("q2", "m", "C", "A", False)]
    read = {reading.column: (reading.source, reading.guessed) for reading in result.readings}
    assert read["answer"] == ("extracted_answer", True)
    assert read["question"] == ("id", True)


def test_evalscope_reviews_are_nested(tmp_path: Path) -> None:
    rows = [
        {
            "index": n,
            "target": "A",
            "sample_score": {
                "sample_id": n,
                "score": {"value": {"acc": float(n == 0)}, "extracted_prediction": "AB"[n], "prediction": "ANSWER"},
            },
        }
        for n in range(2)
    ]
    result = import_votes(written(tmp_path, "gsm.jsonl", rows), Options(model="qwen", dataset="gsm"))
    frame = result.votes.frame.collect().sort("question")
    votes = frame.select("dataset", "model", "question", "answer", "gold", "correct").rows()
    assert votes == [("gsm", "qwen", "0", "A", "A", True), ("gsm", "qwen", "1", "B", "A", False)]


def test_an_answer_beside_a_prediction_is_the_key(tmp_path: Path) -> None:
    file = written(tmp_path, "t.csv", [{"qid": 1, "model": "m", "prediction": "7", "answer": "8"}])
    frame = import_votes(file).votes.frame.collect()
    assert frame.select("answer", "gold").rows() == [("7", "8")]


def test_declared_columns_win_and_numbers_become_text(tmp_path: Path) -> None:
    rows = [{"key": 1, "who": "m", "said": 4.0, "truth": 4}, {"key": 2, "who": "m", "said": None, "truth": 5}]
    file = written(tmp_path, "t.parquet", rows)
    with pytest.raises(
        sl.InputError, match=r"no column was found for 'question', 'model', 'answer'; found 'key', 'who'"
    ):
        import_votes(file)
    columns = {"question": "key", "model": "who", "answer": "said"}
    frame = import_votes(file, Options(columns=columns)).votes.frame.collect().sort("question")
    assert frame.select("answer", "gold").rows() == [("4", "4"), (None, "5")]
    with pytest.raises(sl.InputError, match="there is no column 'sad'; found"):
        import_votes(file, Options(columns={**columns, "answer": "sad"}))
    with pytest.raises(sl.InputError, match="there is no column 'reply' in a vote table"):
        import_votes(file, Options(columns={"reply": "said"}))


def test_helm_runs(tmp_path: Path) -> None:
    run = tmp_path / "mmlu:subject=anatomy,model=org_m"
    run.mkdir()
    texts = [("id1", "bone", 1.0, 0), ("id1", "skin", 0.0, 1), ("id2", None, 0.0, 0)]
    predictions: list[dict[str, Any]] = [
        {
            "instance_id": i,
            "predicted_text": " B",
            "mapped_output": t,
            "train_trial_index": n,
            "stats": {"exact_match": s},
        }
        for i, t, s, n in texts
    ]
    predictions.append({**predictions[0], "perturbation": {"name": "dialect"}})
    instances = [
        {
            "id": i,
            "references": [{"output": {"text": "bone"}, "tags": ["correct"]}, {"output": {"text": "skin"}, "tags": []}],
        }
        for i in ("id1", "id2")
    ]
    spec = {"name": run.name, "adapter_spec": {"model": "org/m", "method": "multiple_choice_joint"}}
    for name, content in (("display_predictions", predictions), ("instances", instances), ("run_spec", spec)):
        (run / f"{name}.json").write_text(json.dumps(content))
    result = import_votes(tmp_path, Options(cluster="subject"))
    frame = result.votes.frame.collect().sort("question", "sample")
    assert frame.select("question", "model", "sample", "answer", "gold", "reason", "correct", "cluster").rows() == [
        ("anatomy/id1", "org/m", 0, "bone", "bone", None, True, "anatomy"),
        ("anatomy/id1", "org/m", 1, "skin", "bone", None, False, "anatomy"),
        ("anatomy/id2", "org/m", 0, None, "bone", "no_parse", False, "anatomy"),
    ]
    assert result.notes == ("1 predictions on perturbed instances are left out",)
    (run / "instances.json").unlink()
    with pytest.raises(sl.InputError, match="a HELM run needs this file"):
        import_votes(tmp_path)


def test_real_exams_need_ids_of_several_columns() -> None:
    """Question ids repeat across exams, and 24 pairs of questions cannot be told apart by any column."""
    file = real_votes("renze-exams.parquet")
    with pytest.raises(sl.InputError, match=r"for question '1'.*see `question` of the import options"):
        sl.read_votes(file)
    with pytest.raises(sl.InputError, match="column 'gold'"):
        import_votes(file, Options(question=("cluster", "question", "order")))
    result = import_votes(file, Options(question=("cluster", "question", "gold"), drop_ambiguous=True))
    assert any("24 of 1076 question ids stand for several questions: left out" in note for note in result.notes)
    tally = result.votes.tally()
    assert (len(tally.models), len(tally.questions), int(tally.votes.sum())) == (9, 1052, 9468)


def test_order_tells_questions_of_one_id_apart(tmp_path: Path) -> None:
    rows = [{"question": "1", "model": m, "answer": a, "gold": g} for m in "mn" for a, g in (("A", "A"), ("B", "C"))]
    file = written(tmp_path, "t.jsonl", rows)
    tally = import_votes(file, Options(question=("question", "order"))).votes.tally()
    assert tally.questions == ("1/0", "1/1")


def test_explain_writes_nothing(tmp_path: Path) -> None:
    file = written(tmp_path, "simple.csv", SIMPLE)
    result = CliRunner().invoke(cli, ["import", str(file), "--explain", "-o", str(tmp_path / "votes.parquet")])
    assert result.exit_code == 0, result.output
    assert "extracted_answer (guessed)" in result.stdout
    assert "nothing written" in result.stdout
    assert not (tmp_path / "votes.parquet").exists()


def test_the_command_prints_one_json_document(tmp_path: Path) -> None:
    file = written(tmp_path, "simple.csv", SIMPLE)
    target = tmp_path / "votes.parquet"
    result = CliRunner().invoke(
        cli, ["import", str(file), "-o", str(target), "--json", "--column", "gold=correct_answer"]
    )
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert (document["format"], document["votes"], document["models"]) == ("table", 3, ["m", "n"])
    assert document["provenance"]["files"][0]["name"] == "simple.csv"
    assert json.loads(pl.read_parquet_metadata(target)["swaplaw"]) == document["provenance"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["import", "nowhere"], "-o votes.parquet, or add --explain"),
        (["import", "nowhere", "--explain"], "'nowhere': there is no such file or directory"),
        (["import", "nowhere", "-o", "x.parquet", "--column", "gold"], "write it as PART=NAME"),
    ],
)
def test_bad_arguments_get_one_clear_line(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(cli, arguments)
    assert isinstance(result.exception, sl.InputError)
    assert message in str(result.exception)


def test_untrusted_text_stays_text(tmp_path: Path) -> None:
    rows = [{"id": "q\x1b[2J", "model": "m\u202e", "prediction": "x" * 10_000, "target": "\x00y"}]
    result = CliRunner().invoke(cli, ["import", str(written(tmp_path, "t.jsonl", rows)), "--explain"])
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output


def test_a_broken_file_keeps_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "votes.parquet"
    import_votes(written(tmp_path, "good.csv", SIMPLE)).write(target)
    before = target.read_bytes()
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": 1, "model": "m", "prediction": "a", "target": "a"}\n{"id": 2, "mod')
    with pytest.raises(sl.InputError, match="line 2 is cut off"):
        import_votes(bad).write(target)
    assert target.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl", "good.csv", "votes.parquet"]
