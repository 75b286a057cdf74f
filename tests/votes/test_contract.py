"""The contract of the vote table, in every form that votes come in."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.votes import engines
from swaplaw.votes.counts import Codes
from swaplaw.votes.tally import Tally

HEADER = "question,model,answer,gold\n"
GOOD = HEADER + "q1,a,A,A\nq1,b,B,A\n"


def fingerprint(tally: Tally) -> tuple[object, object, object]:
    """All that a tally says, independent of how rivals are laid out."""
    entries = [
        sorted(
            (tally.questions[tally.rivals.question[p]], str(tally.rivals.labels[p]), int(c))
            for p, c in zip(tally.positions[start:end], tally.counts[start:end], strict=True)
        )
        for start, end in zip(tally.starts, tally.starts[1:], strict=False)
    ]
    facts = (tally.dataset, tally.models, tally.questions, tally.votes.tolist(), tally.gold.tolist(), tally.clusters)
    return facts, entries, tally.reasons


def table() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "question": ["q1", "q1", "q1", "q2", "q2", "q2", "q3"],
            "model": ["a", "a", "b", "a", "b", "b", "b"],
            "sample": [0, 1, 0, 0, 0, 1, 0],
            "answer": ["A", None, "B", "C", "C", None, "A"],
            "gold": ["A", "A", "A", "C", "C", "C", "A"],
            "cluster": ["x", "x", "x", "y", "y", "y", "x"],
            "reason": [None, "truncated", None, None, None, None, None],
            "temperature": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
        }
    )


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_files_keep_every_vote(tmp_path: Path, suffix: str) -> None:
    votes = sl.votes_from(table())
    votes.write(tmp_path / f"votes.{suffix}")
    assert fingerprint(sl.read_votes(tmp_path / f"votes.{suffix}").tally()) == fingerprint(votes.tally())


def test_several_files_and_directories_are_one_table(tmp_path: Path) -> None:
    halves = table()[:3], table()[3:].drop("temperature")
    halves[0].write_parquet(tmp_path / "one.parquet")
    (tmp_path / "deep").mkdir()
    halves[1].write_csv(tmp_path / "deep" / "two.csv")
    (tmp_path / "notes.txt").write_text("not votes")
    whole = fingerprint(sl.votes_from(table()).tally())
    assert fingerprint(sl.read_votes(tmp_path).tally()) == whole
    assert fingerprint(sl.read_votes(tmp_path / "one.parquet", tmp_path / "deep").tally()) == whole
    assert fingerprint(sl.read_votes([tmp_path, tmp_path / "one.parquet"]).tally()) == whole, "each file once"


def test_counts_are_what_they_say() -> None:
    tally = sl.votes_from(table()).tally()
    assert tally.models == ("a", "b")
    assert tally.questions == ("q1", "q2", "q3")
    assert tally.votes.tolist() == [[2, 1, 0], [1, 2, 1]]
    assert tally.gold.tolist() == [[1, 1, 0], [0, 1, 1]]
    assert tally.clusters == ("x", "y", "x")
    assert tally.reasons == ({"truncated": 1}, {"unstated": 1})
    pair = sl.pair(tally, "a", "b")
    assert (pair.n, pair.of) == (2, 3)


def test_other_columns_pass_through_untouched() -> None:
    assert sl.votes_from(table()).frame.collect()["temperature"].to_list() == table()["temperature"].to_list()


def test_graded_free_text_keeps_right_answers_apart_unless_told_otherwise() -> None:
    frame = pl.DataFrame(
        {
            "question": ["q"] * 5,
            "model": ["a", "a", "a", "b", "b"],
            "answer": ["Paris", "paris.", "Lyon", None, "Paris, France"],
            "gold": ["The city of Paris"] * 5,
            "correct": [True, True, False, None, True],
        }
    )
    votes = sl.votes_from(frame)
    scores = [(scores.total, scores.denominator) for scores in votes.tally().scores]
    assert scores == [(2, 3), (1, 2)]
    assert votes.merging_right().tally().gold.tolist() == [[2], [1]]
    # An answer that reads like gold but is graded wrong is wrong.
    graded = frame.with_columns(correct=pl.Series([True, True, False, None, False]), gold=pl.lit("Paris, France"))
    assert [scores.total for scores in sl.votes_from(graded).tally().scores] == [2, 0]


def test_an_empty_answer_is_an_abstention() -> None:
    frame = pl.DataFrame({"question": ["q"] * 3, "model": ["a"] * 3, "answer": ["", "  ", None], "gold": ["A"] * 3})
    assert sl.votes_from(frame).tally().reasons == ({"unstated": 3},)


def test_ids_are_text_even_where_they_look_like_numbers(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(HEADER + "01,a,1,1\n1,a,2,1\n")
    assert sl.read_votes(tmp_path / "v.csv").tally().questions == ("01", "1")
    numbers = pl.DataFrame({"question": [1, 2], "model": ["a", "a"], "answer": [3, 4], "gold": [3, 3]})
    assert sl.votes_from(numbers).tally().gold.tolist() == [[1, 0]]


def test_datasets_are_analysed_one_at_a_time() -> None:
    frame = table().with_columns(dataset=pl.Series(["d1"] * 3 + ["d2"] * 4))
    votes = sl.votes_from(frame)
    assert votes.datasets == ["d1", "d2"]
    assert votes.tally("d1").questions == ("q1",)
    with pytest.raises(sl.InputError, match="2 datasets"):
        votes.tally()


def test_a_graded_and_an_ungraded_file_go_together(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("dataset," + HEADER + "x,q1,a,A,A\nx,q1,b,B,A\n")
    (tmp_path / "b.csv").write_text(
        "dataset,correct," + HEADER + "y,true,q1,a,42,forty-two\ny,false,q1,b,43,forty-two\n"
    )
    votes = sl.read_votes(tmp_path)
    assert votes.tally("x").gold.tolist() == [[1], [0]]
    assert votes.tally("y").gold.tolist() == [[1], [0]]


def test_free_text_with_many_answers_stays_small() -> None:
    """One question with thousands of answers must not widen all the others."""
    rng = np.random.default_rng(0)
    wild = pl.DataFrame({"question": "wild", "model": "a", "answer": [f"x{i}" for i in range(5000)], "gold": "g"})
    tame = pl.DataFrame(
        {
            "question": [f"q{i}" for i in range(5000)] * 2,
            "model": ["a"] * 5000 + ["b"] * 5000,
            "answer": rng.choice(["g", "x", "y"], 10000),
            "gold": "g",
        }
    )
    tally = sl.votes_from(pl.concat([wild, wild.with_columns(model=pl.lit("b")), tame])).tally()
    assert tally.margins(0).size < 4 * (5000 + 5000)
    assert sl.pair(tally, "a", "b").at("1/2").lift == sl.curve(tally, "a", "b").at("1/2").lift


ROW = '{"question":"q","model":"a","answer":"A","gold":"A"}\n'
BROKEN = {
    "empty file": ("v.csv", "", ["v.csv", "empty"]),
    "header only": ("v.csv", HEADER, ["v.csv", "no votes"]),
    "missing column": (
        "v.csv",
        "question,answer,gold\nq,A,A\n",
        ["v.csv", "'model'", "missing", "'question', 'answer'"],
    ),
    "two golds": (
        "v.csv",
        GOOD + "q1,a,A,B\n",
        ["v.csv", "'gold'", "row 3", "line 4", "'q1'", "'B'", "row 1", "one gold"],
    ),
    "null model": ("v.csv", GOOD + "q2,,A,A\n", ["v.csv", "'model'", "null", "row 3"]),
    "null question": ("v.csv", GOOD + ",a,A,A\n", ["'question'", "null", "row 3"]),
    "duplicate sample": (
        "v.csv",
        "sample," + HEADER + "0,q1,a,A,A\n1,q1,a,A,A\n0,q1,b,A,A\n1,q1,a,B,A\n",
        ["'sample'", "row 4", "line 5", "row 2", "'q1'", "'a'"],
    ),
    "sample not a number": (
        "v.csv",
        "sample," + HEADER + "0,q1,a,A,A\nx,q1,a,B,A\n",
        ["'sample'", "row 2", "whole number"],
    ),
    "two clusters": ("v.csv", "cluster," + HEADER + "x,q1,a,A,A\ny,q1,b,A,A\n", ["'cluster'", "row 2", "'q1'"]),
    "null cluster": ("v.csv", "cluster," + HEADER + "x,q1,a,A,A\n,q2,b,A,A\n", ["'cluster'", "row 2", "null"]),
    "contradicting grade": ("v.csv", "correct," + HEADER + "true,q1,a,B,A\n", ["'correct'", "contradicts", "row 1"]),
    "correct abstention": ("v.csv", "correct," + HEADER + "true,q1,a,,Paris\n", ["'correct'", "abstention", "row 1"]),
    "missing grade": ("v.csv", "correct," + HEADER + "maybe,q1,a,x,Paris\n", ["'correct'", "row 1", "grade it"]),
    "unreadable Parquet": ("v.parquet", "PAR1 this is no Parquet file", ["v.parquet", "not a readable Parquet file"]),
    "ragged CSV": ("v.csv", HEADER + "q,a,A,A,A,A\n", ["v.csv", "not a readable CSV file"]),
    "broken JSONL": (
        "v.jsonl",
        '{"question":"q","model":"a","answer":"A","gold":"A"}\n{"question":"q","mod\n',
        ["v.jsonl", "line 2", "not a JSON object"],
    ),
    "JSONL of another kind": (
        "v.jsonl",
        '{"question":"q","model":"a","answer":"A","gold":"A"}\n[1,2]\n',
        ["v.jsonl", "line 2"],
    ),
    "NaN in JSONL": (
        "v.jsonl",
        ROW + ROW.replace('"A"', "NaN", 1),
        ["v.jsonl", "line 2", "NaN", "not JSON; write null"],
    ),
    "infinity in JSONL": ("v.jsonl", ROW.replace('"A"', "-Infinity", 1), ["line 1", "-Infinity", "in quotes"]),
    "NaN in JSONL called JSON": ("v.json", ROW + ROW.replace('"A"', "NaN"), ["v.json", "line 2", "write null"]),
    "JSONL that is cut off": ("v.jsonl", ROW + ROW[:-9], ["v.jsonl", "line 2 is cut off", "copy the file again"]),
    "JSON called JSONL": ("v.jsonl", f"[{ROW},{ROW}]", ["v.jsonl", "begins with a list", "name it .json"]),
    "old line ends": ("v.jsonl", f"{ROW}\r{ROW}".replace("\n", ""), ["v.jsonl", "carriage return"]),
    "wrong type": ("v.jsonl", '{"question":"q","model":["a"],"answer":"B","gold":"A"}\n', ["'model'", "lists", "text"]),
    "unknown file type": ("v.docx", "x", ["v.docx", "unknown file type", ".parquet"]),
}


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz"])
@pytest.mark.parametrize(
    "text", [f"\ufeff{ROW}{ROW}", f"{ROW}\n  \n{ROW}", f"\r\n{ROW}{ROW}".replace("\n", "\r\n"), (ROW + ROW)[:-1]]
)
def test_jsonl_is_read_with_a_mark_blank_lines_or_other_line_ends(tmp_path: Path, text: str, suffix: str) -> None:
    content = text.encode()
    (tmp_path / f"v.{suffix}").write_bytes(gzip.compress(content) if suffix == "jsonl.gz" else content)
    votes = sl.read_votes(tmp_path / f"v.{suffix}")
    assert votes.counts["votes"].to_list() == [2]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_jsonl_in_utf_16_is_refused(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "v.jsonl").write_bytes((ROW + ROW).encode(encoding))
    with pytest.raises(sl.InputError, match="is UTF-16; save it as UTF-8"):
        sl.read_votes(tmp_path / "v.jsonl")


@pytest.mark.parametrize("name", BROKEN)
def test_every_violation_says_where_and_what_to_do(tmp_path: Path, name: str) -> None:
    file, text, expected = BROKEN[name]
    (tmp_path / file).write_text(text)
    with pytest.raises(sl.InputError) as error:
        sl.read_votes(tmp_path / file)
    for part in expected:
        assert part in str(error.value), error.value
    assert "\n" not in str(error.value)


def test_the_offending_file_of_several_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(GOOD)
    (tmp_path / "b.csv").write_text(HEADER + "q1,c,A,C\n")
    with pytest.raises(sl.InputError, match=r"b\.csv.*row 1 .*'C'.*a\.csv.*row 1"):
        sl.read_votes(tmp_path)


def test_no_such_place(tmp_path: Path) -> None:
    with pytest.raises(sl.InputError, match="no such file"):
        sl.read_votes(tmp_path / "nowhere.csv")
    with pytest.raises(sl.InputError, match="no vote files"):
        sl.read_votes(tmp_path)
    with pytest.raises(sl.InputError, match="not a dataframe"):
        sl.votes_from(42)
    with pytest.raises(sl.InputError, match="cannot write"):
        sl.votes_from(table()).write(tmp_path / "votes.xlsx")


def test_control_characters_never_reach_the_message(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(HEADER + "q\x1b[31m1,a,A,A\nq\x1b[31m1,b,A,B\n")
    with pytest.raises(sl.InputError) as error:
        sl.read_votes(tmp_path / "v.csv")
    assert "\x1b" not in str(error.value)


def test_the_real_tables_keep_the_contract(shared_votes: Path) -> None:
    sizes = {"renze-temperature": (9, 100), "reasoning-gym": (10, 4302), "mmlu-pro": (29, 11993)}
    for name, size in sizes.items():
        tally = sl.read_votes(shared_votes / f"{name}.parquet").tally()
        assert (len(tally.models), len(tally.questions)) == size
    # This one repeats its question ids across exams, so its ids are no ids.
    with pytest.raises(sl.InputError, match="gold"):
        sl.read_votes(shared_votes / "renze-exams.parquet")


@given(st.lists(st.lists(st.integers(-2, 8), min_size=1, max_size=8), min_size=1, max_size=5))
@example([[1, 1, 2, 2, 3, 6], [0, 3, 4, 4, 5, 5], [0, 0, 3, 4, 4, 5, 5, 7]])  # As many, equal sums, equal squares.
@example([[-1], [2**31], [-(2**31) + 1], [2**31 - 1, 1], [2**62, 1]])
@example([[0, 1, 2], [1, 2, 3], [2, 1, 0], [0], [1], [0, 0], [1, 1], [0, 2], [2, 3]])
def test_the_fingerprint_spares_exactly_the_ballots_numbered_in_a_row(ballots: list[list[int]]) -> None:
    rows = [
        ("d", str(question), "m", "AB"[sample % 2], "A", sample)
        for question, samples in enumerate(ballots)
        for sample in samples
    ]
    names = ["dataset", "question", "model", "answer", "gold", "sample"]
    counts = engines.count_polars(pl.LazyFrame(rows, schema=names, orient="row")).collect()
    found = engines.unproven(Codes(counts), counts[engines.MARK])
    suspects = {
        str(question)
        for question, samples in enumerate(ballots)
        if sorted(samples) not in (list(range(len(samples))), list(range(1, len(samples) + 1)))
    }
    assert sorted(found["question"]) == sorted(suspects)
