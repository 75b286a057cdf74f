"""Whatever a file may be, a table in memory may be: the same votes, or the same words about what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swaplaw as sl

Columns = dict[str, list[Any]]
LETTERS: Columns = {
    "qid": ["1", "2", "3"],
    "key": ["A", "B", "C"],
    "m": ["A", "C", "C"],
    "n": ["B", "B", "A"],
}
LONG: dict[str, list[Any]] = {
    "id": [1, 1, 2, 2],
    "llm": ["m", "n"] * 2,
    "prediction": [4.0, 5.0, None, 6.0],
    "answer": [4, 4, 6, 6],
}
JUDGED: Columns = {
    "item": ["1", "1", "2", "2"],
    "judge": ["j", "k"] * 2,
    "verdict": ["good", "bad", "good", "good"],
    "human": ["good", "good", "bad", "bad"],
}
LAYOUTS: dict[str, tuple[dict[str, list[Any]], dict[str, Any]]] = {
    "wide": (LETTERS, {}),
    "wide, gold declared": (
        {("colour" if name == "key" else name): cells for name, cells in LETTERS.items()},
        {"columns": {"gold": "colour"}},
    ),
    "floats and gaps": (LONG, {}),
    "judgments": (JUDGED, {}),
    "replies judged": (JUDGED | {"model": ["a", "a", "b", "b"]}, {}),
    "nobody knows": ({name: cells for name, cells in JUDGED.items() if name != "human"}, {}),
    "grades": ({"id": [1, 1], "model": ["a", "b"], "is_correct": [True, False]}, {}),
    "no grade": ({"id": [1, 1], "model": ["a", "b"], "score": [None, None]}, {}),
    "no model": ({"id": [1, 2], "answer": ["A", "B"], "target": ["A", "A"]}, {}),
    "one model": ({"id": [1, 2], "answer": ["A", "B"], "target": ["A", "A"]}, {"model": "m"}),
    "no such column": (LETTERS, {"columns": {"gold": "nowhere"}}),
    "records": ({"id": [1], "model": ["m"], "steps": [[{"a": 1}]], "gold": ["A"]}, {"columns": {"answer": "steps"}}),
    "spelling": ({"id": ["1", "2"], "model": ["m", "m"], "answer": ["a", "b"], "gold": ["A", "B"]}, {}),
}
FRAMES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "arrow": lambda frame: frame.to_arrow(),
    "columns": lambda frame: frame.to_dict(as_series=False),
}


def told(votes: Any, how: dict[str, Any]) -> Any:
    """The votes, or what is said against them after the source's name."""
    try:
        read = sl.read_votes(votes, **how)
    except sl.InputError as error:
        return str(error).partition(": ")[2]
    frame = read.frame.collect()
    names = [name for name in ("question", "model", "answer", "gold", "correct") if name in frame.columns]
    return sorted(frame.select(names).rows(), key=str)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_frame_is_read_as_its_file(name: str, tmp_path: Path) -> None:
    columns, how = LAYOUTS[name]
    frame = pl.DataFrame(columns, strict=False)
    frame.write_parquet(tmp_path / "votes.parquet")
    expected = told(tmp_path / "votes.parquet", how)
    for kind, made in FRAMES.items():
        assert told(made(frame), how) == expected, kind


def test_what_judges_say_of_a_models_reply_is_a_question(tmp_path: Path) -> None:
    columns, _ = LAYOUTS["replies judged"]
    votes = sl.read_votes(pl.DataFrame(columns))
    frame = votes.frame.collect()
    assert set(frame["model"]) == {"j", "k"}
    assert set(frame.select("question", "gold").rows()) == {("1/a", "good"), ("2/b", "bad")}
    assert any("judges are read as voters" in note for note in votes.notes)


def test_models_are_named_by_files_on_request(tmp_path: Path) -> None:
    for name in ("gpt", "llama"):
        (tmp_path / f"{name}.csv").write_text("id,answer,target\n1,A,A\n2,B,A\n")
    assert sl.read_votes(tmp_path, model="{file}").tally().models == ("gpt", "llama")
    with pytest.raises(sl.InputError, match="model=NAME"):
        sl.read_votes(tmp_path)


def test_sheets_are_read_by_name(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "about"
    sheet = book.create_sheet("votes")
    for row in (["question", "model", "answer", "gold"], ["1", "m", "A", "A"]):
        sheet.append(row)
    book.save(tmp_path / "book.xlsx")
    assert sl.read_votes(tmp_path / "book.xlsx", sheet="votes").tally().models == ("m",)
    with pytest.raises(sl.InputError, match="sheet=NAME"):
        sl.read_votes(tmp_path / "book.xlsx")
    with pytest.raises(sl.InputError, match="no sheet 'x'; there are 'about', 'votes'"):
        sl.read_votes(tmp_path / "book.xlsx", sheet="x")


def test_an_empty_score_is_named(tmp_path: Path) -> None:
    with pytest.raises(sl.InputError, match=r"no column was found for 'answer', 'gold'.*'score' is empty"):
        sl.read_votes(pl.DataFrame(LAYOUTS["no grade"][0]))


UNKNOWN: dict[str, dict[str, Any]] = {
    "usage": {"id": 1, "target": "5", "usage": {"prompt": 5, "completion": 7}, "meta": {"n": 5, "seed": 7}},
    "flags": {"id": 1, "flags": {"cached": True, "stream": False}},
    "times": {"id": 1, "begun": "2026-01-01", "ended": "2026-01-01", "took": 3, "waited": 3},
    "numbers": {"id": 1, "prompt_chars": 12, "reply_chars": 12},
    "steps": {"id": 1, "gold": "A", "steps": [{"tool": "x"}], "calls": [{"tool": "y"}]},
    "replies": {"id": 1, "target": "Paris", "thought": "I think it is Paris", "comment": "well done"},
}


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("rows", [1, 12])
def test_records_of_unknown_tools_are_refused(name: str, rows: int, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps(UNKNOWN[name] | {"id": number}) + "\n" for number in range(rows)))
    with pytest.raises(sl.InputError, match="no column was found for") as refused:
        sl.import_votes(file)
    assert "\n" not in str(refused.value)


SCALARS = (
    st.none() | st.booleans() | st.integers(0, 9) | st.floats(allow_nan=False) | st.sampled_from(["A", "b", "x y"])
)
NESTED = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["answer", "a", "id"]), inner, max_size=2)
    ),
    max_leaves=4,
)
NAMED = st.sampled_from(["id", "question", "model", "answer", "gold", "score", "outputs", "m", "n", "judge", "verdict"])


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.dictionaries(NAMED, NESTED, max_size=6), min_size=1, max_size=3),
    columns=st.sampled_from([{}, {"answer": "m"}]),
)
def test_whatever_is_nested_there_is_no_traceback(rows: list[dict[str, Any]], columns: dict[str, str]) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "log.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert "\n" not in str(told(file, {"columns": columns}))
