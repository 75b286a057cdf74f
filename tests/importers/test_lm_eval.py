"""Samples made here by running lm-evaluation-harness itself, imported, and compared with what is in them."""

from __future__ import annotations

import importlib.util
import json
import math
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import swaplaw as sl
from swaplaw.answers import Reader
from swaplaw.importers.harness_choices import apportion

from support.data import DATA
from support.harness import run_harness

FIXTURE = DATA / "lm-eval"
OPTIONS = ["red", "green", "blue"]
MC = """
task: colours
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/mc.jsonl}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{q}}}}"
doc_to_choice: "{{{{options}}}}"
doc_to_target: answer
metric_list: [{{metric: acc}}]
"""
GENERATION = """
task: sums
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/gen.jsonl}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{q}}}}"
doc_to_target: "{{{{a}}}}"
generation_kwargs: {{until: ["\\n"], do_sample: true, temperature: 0.7}}
repeats: 3
filter_list:
  - {{name: first, filter: [{{function: take_first}}]}}
  - {{name: all, filter: [{{function: take_first_k, k: 3}}]}}
  - {{name: none-found, filter: [{{function: regex, regex_pattern: "(\\\\d+)"}}, {{function: take_first}}]}}
metric_list: [{{metric: exact_match}}]
"""


def harness(folder: Path, output: Path) -> None:
    """Run the harness with its dummy model on two small tasks."""
    with (folder / "mc.jsonl").open("w") as file:
        for n in range(6):
            question = {"q": f"Colour of {n}?", "options": OPTIONS, "answer": n % 3, "room": f"room {n % 2}"}
            file.write(json.dumps(question) + "\n")
    with (folder / "gen.jsonl").open("w") as file:
        for n in range(4):
            file.write(json.dumps({"q": f"{n}+{n}=", "a": "lol" if n == 1 else str(2 * n)}) + "\n")
    tasks = folder / "tasks"
    tasks.mkdir(exist_ok=True)
    (tasks / "mc.yaml").write_text(MC.format(folder=folder))
    (tasks / "gen.yaml").write_text(GENERATION.format(folder=folder))
    run_harness(folder, output, "--model", "dummy", "--tasks", "colours,sums")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fresh logs where the harness is installed; otherwise those that it wrote once."""
    if importlib.util.find_spec("lm_eval") is None:
        return FIXTURE
    folder = tmp_path_factory.mktemp("harness")
    harness(folder, folder / "out")
    return folder / "out"


def samples(folder: Path, task: str) -> list[dict[str, Any]]:
    [file] = folder.rglob(f"samples_{task}_*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def imported(folder: Path, **options: Any) -> pl.DataFrame:
    return sl.import_votes(folder, sl.importers.Options(**options)).votes.frame.collect()


@pytest.mark.parametrize("made", ["now", "before"])
def test_the_likeliest_option_gets_the_vote(logs: Path, made: str) -> None:
    folder = logs if made == "now" else FIXTURE
    frame = imported(folder, filter="all", cluster=None).filter(pl.col("dataset") == "colours").sort("question")
    known = samples(folder, "colours")
    assert frame.height == len(known) == 6
    for row, sample in zip(frame.iter_rows(named=True), known, strict=True):
        likelihoods = [float(value) for value, _ in sample["filtered_resps"]]
        best = likelihoods.index(max(likelihoods))
        assert (row["question"], row["model"], row["sample"]) == (str(sample["doc_id"]), "dummy", 0)
        assert (row["answer"], row["option"]) == ("ABC"[best], OPTIONS[best])
        assert row["gold"] == "ABC"[sample["doc"]["answer"]]
        assert row["options"] == len(OPTIONS)
        assert row["correct"] == (sample["acc"] == 1.0)


def test_softmax_as_shares(logs: Path) -> None:
    frame = imported(logs, filter="all", shares=10).filter(pl.col("dataset") == "colours")
    for sample in samples(logs, "colours"):
        votes = Counter(frame.filter(pl.col("question") == str(sample["doc_id"]))["answer"])
        masses = [math.exp(float(value)) for value, _ in sample["filtered_resps"]]
        assert sum(votes.values()) == 10
        for letter, mass in zip("ABC", masses, strict=True):
            assert abs(votes[letter] - 10 * mass / sum(masses)) < 1


def test_shares_are_apportioned_exactly() -> None:
    assert Counter(apportion([0.0, 0.0, 0.0], 10)) == {0: 4, 1: 3, 2: 3}
    assert Counter(apportion([0.0, -1e9], 7)) == {0: 7}


def test_repeats_are_votes(logs: Path) -> None:
    for chosen in ("all", "raw"):
        frame = imported(logs, filter=chosen).filter(pl.col("dataset") == "sums")
        assert frame.height == 4 * 3
        assert frame["answer"].unique().to_list() == ["lol"]
        assert frame.filter("correct")["question"].unique().to_list() == ["1"]
        assert sorted(frame["sample"].unique()) == [0, 1, 2]


def test_a_filter_that_keeps_one_says_so(logs: Path) -> None:
    result = sl.import_votes(logs, sl.importers.Options(filter="first"))
    frame = result.votes.frame.collect().filter(pl.col("dataset") == "sums")
    assert frame.height == 4
    assert any("kept one response of several for 4 documents" in note for note in result.notes)
    for row in frame.iter_rows(named=True):
        [grade] = [
            s["exact_match"]
            for s in samples(logs, "sums")
            if s["filter"] == "first" and s["doc_id"] == int(row["question"])
        ]
        assert row["correct"] == (grade == 1.0)


def test_nothing_found_is_an_abstention(logs: Path) -> None:
    frame = imported(logs, filter="none-found").filter(pl.col("dataset") == "sums")
    assert frame["answer"].null_count() == 12  # Every response goes through the filter's pattern, not the kept one.
    assert frame["reason"].unique().to_list() == ["no_parse"]


def test_several_filters_need_a_choice(logs: Path) -> None:
    with pytest.raises(sl.InputError, match=r"several filters \('first', 'all', 'none-found'\)"):
        sl.import_votes(logs)
    with pytest.raises(sl.InputError, match="there is no filter 'frist'; there are 'first'"):
        sl.import_votes(logs, sl.importers.Options(filter="frist"))


def test_runs_are_repeated_samples_and_copies_are_not(logs: Path, tmp_path: Path) -> None:
    [file] = logs.rglob("samples_colours_*.jsonl")
    shutil.copytree(file.parent, tmp_path / "one")
    for other in (tmp_path / "one").glob("samples_sums_*"):
        other.unlink()
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    once = sl.import_votes(tmp_path)
    assert once.votes.frame.collect().height == 6
    assert any("is a copy of" in note for note in once.notes)
    [second] = (tmp_path / "copy").glob("samples_*")
    lines = [json.loads(line) | {"run": 2} for line in second.read_text().splitlines()]
    second.write_text("".join(json.dumps(line) + "\n" for line in lines))
    apart = sl.import_votes(tmp_path)
    frame = apart.votes.frame.collect()
    assert frame.height == 12
    # Nothing but their class names these models: two directories are two models.
    assert sorted(frame["model"].unique()) == ["dummy/copy", "dummy/one"]
    assert any("each directory is taken for a model of its own" in note for note in apart.notes)
    second.rename(tmp_path / "one" / "samples_colours_2027-01-01T00-00-00.jsonl")
    again = sl.import_votes(tmp_path / "one").votes.frame.collect()
    assert sorted(again["sample"].unique()) == [0, 1]


SELF_CONSISTENCY = {
    "filter_list": [
        {
            "name": "score-first",
            "filter": [
                {"function": "regex", "regex_pattern": r"answer is (\-?[0-9\.\,]*[0-9]+)"},
                {"function": "take_first"},
            ],
        },
        {
            "name": "maj@3",
            "filter": [
                {"function": "take_first_k", "k": 3},
                {"function": "regex", "regex_pattern": r"answer is (\-?[0-9\.\,]*[0-9]+)"},
                {"function": "majority_vote"},
                {"function": "take_first"},
            ],
        },
    ],
    "metric_list": [
        {"metric": "exact_match", "regexes_to_ignore": [",", "\\$", "(?s).*#### ", "\\.$"], "ignore_case": True}
    ],
}


@pytest.mark.parametrize("chosen", ["maj@3", "raw", "score-first"])
def test_the_tasks_own_pattern_reads_every_response(tmp_path: Path, chosen: str) -> None:
    """Self-consistency: the harness keeps the majority's answer, and every response is a vote."""
    responses = ["So 6 * 3 is 18. The answer is 18.", "The answer is 1,018.", "I give up."]
    time = "2026-11-15T21-20-52.940507"
    results = {
        "model_name": "m",
        "config": {"model": "hf", "model_args": "pretrained=m"},
        "configs": {"gsm": SELF_CONSISTENCY},
    }
    (tmp_path / f"results_{time}.json").write_text(json.dumps(results))
    line = {
        "doc_id": 0,
        "doc": {},
        "target": "reasons\n#### 18",
        "arguments": {"gen_args_0": {"arg_0": "q", "arg_1": {}}},
    }
    lines = [
        line
        | {
            "resps": [responses],
            "filtered_resps": ["18"],
            "filter": name,
            "metrics": ["exact_match"],
            "exact_match": 1.0,
        }
        for name in ("score-first", "maj@3")
    ]
    file = tmp_path / f"samples_gsm_{time}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    frame = imported(file, filter=chosen).sort("sample")
    assert frame["answer"].to_list() == ["18", "1018", None]
    assert frame["gold"].to_list() == ["18"] * 3
    assert frame["correct"].to_list() == [True, False, False]
    assert frame["reason"].to_list() == [None, None, "no_parse"]
    read = imported(file, filter="raw", reader=Reader("regex", pattern=r"answer is ([0-9,]+)", canonical=["number"]))
    assert read.sort("sample")["answer"].to_list() == ["18", "1018", None]


def test_a_file_cut_off_in_the_middle(logs: Path, tmp_path: Path) -> None:
    [file] = logs.rglob("samples_colours_*.jsonl")
    cut = tmp_path / file.name
    content = file.read_bytes()
    cut.write_bytes(content[: len(content) - 100])
    with pytest.raises(sl.InputError, match="line 6 is not JSON; the file seems cut off"):
        sl.import_votes(cut)
    cut.write_text('{"doc_id": 0, "arguments": {}, "resps": 3}\n')
    with pytest.raises(sl.InputError, match="line 1 is not a sample of lm-evaluation-harness that this version reads"):
        sl.import_votes(cut)


def test_clusters_from_the_document(logs: Path) -> None:
    [file] = logs.rglob("samples_colours_*.jsonl")
    frame = imported(file, cluster="room").sort("question")
    assert frame["cluster"].to_list() == [f"room {n % 2}" for n in range(6)]
    with pytest.raises(sl.InputError, match="has no field 'floor' to be its cluster; there are 'q', 'options'"):
        imported(file, cluster="floor")
