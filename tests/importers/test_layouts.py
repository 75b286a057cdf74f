"""Tables as people have them: each layout is read right, or refused with the fix."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.answers import Reader
from swaplaw.cli import COMMANDS
from swaplaw.cli import swaplaw as cli

from support.commands import Run

ROWS = [
    {"question": "q1", "model": "a", "answer": "A", "gold": "A"},
    {"question": "q1", "model": "b", "answer": "B", "gold": "A"},
    {"question": "q2", "model": "a", "answer": "C", "gold": "B"},
    {"question": "q2", "model": "b", "answer": "B", "gold": "B"},
]
FRAME = pl.DataFrame(ROWS)


def found(votes: Any) -> list[tuple[Any, ...]]:
    frame = votes.frame.collect()
    return sorted(frame.select("question", "model", "answer", "gold").rows())


EXPECTED = sorted(FRAME.rows())


def text(separator: str) -> str:
    return FRAME.write_csv(separator=separator)


def headed(names: str) -> str:
    return text(",").replace("question,model,answer,gold", names)


def excel(file: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(FRAME.columns))
    for row in FRAME.rows():
        sheet.append(row)
    book.save(file)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "votes.csv": lambda file: file.write_text(text(",")),
    "semicolons.csv": lambda file: file.write_text(text(";")),
    "tabs.csv": lambda file: file.write_text(text("\t")),
    "votes.tsv": lambda file: file.write_text(text("\t")),
    "bars.csv": lambda file: file.write_text(text("|")),
    "marked.csv": lambda file: file.write_bytes(b"\xef\xbb\xbf" + text(",").encode()),
    "votes.csv.gz": lambda file: file.write_bytes(gzip.compress(text(",").encode())),
    "votes.tsv.gz": lambda file: file.write_bytes(gzip.compress(text("\t").encode())),
    "votes.jsonl.gz": lambda file: file.write_bytes(gzip.compress(FRAME.write_ndjson().encode())),
    "votes.json": lambda file: file.write_text(json.dumps(ROWS)),
    "records.json": lambda file: file.write_text(json.dumps({"name": "x", "votes": ROWS}, indent=1)),
    "columns.json": lambda file: file.write_text(json.dumps(FRAME.to_dict(as_series=False))),
    "votes.jsonl": lambda file: FRAME.write_ndjson(file),
    "votes.parquet": lambda file: FRAME.write_parquet(file),
    "votes.feather": lambda file: FRAME.write_ipc(file),
    "votes.arrow": lambda file: FRAME.write_ipc_stream(file),
    "votes.xlsx": excel,
    "shouting.csv": lambda file: file.write_text(headed("Question,MODEL,Answer,Gold")),
    "spaced.csv": lambda file: file.write_text(headed("Question ID, Model Name ,Model Answer,Correct Answer")),
    "index.csv": lambda file: file.write_text(FRAME.with_row_index("Unnamed: 0").write_csv()),
    "unnamed.csv": lambda file: file.write_text(FRAME.with_row_index("x").write_csv().replace("x,", ",", 1)),
    "lists.json": lambda file: file.write_text(json.dumps([row | {"gold": [row["gold"]]} for row in ROWS])),
    "lists.csv": lambda file: FRAME.with_columns(gold=pl.format('["{}"]', "gold")).write_csv(file),
    "quotes.csv": lambda file: FRAME.with_columns(target=pl.format("['{}']", "gold")).drop("gold").write_csv(file),
    "wide.csv": lambda file: file.write_text("question,gold,a,b\nq1,A,A,B\nq2,B,C,B\n"),
    "wide-answer.csv": lambda file: file.write_text("id;answer;a;b\nq1;A;A;B\nq2;B;C;B\n"),
    "wide-index.csv": lambda file: file.write_text(",Question,Gold,a,b\n0,q1,A,A,B\n1,q2,B,C,B\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
def test_each_layout_gives_the_same_votes(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    WRITERS[name](file)
    assert found(sl.import_votes(file).votes) == EXPECTED
    assert found(sl.read_votes(file)) == EXPECTED


@pytest.mark.parametrize("name", ["votes.csv", "votes.json", "votes.jsonl", "votes.parquet", "wide.csv"])
def test_standard_input(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / name
    WRITERS[name](file)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    assert found(sl.read_votes("-")) == EXPECTED


REFUSED = {
    "several golds": (
        '[{"question":"q","model":"a","answer":"A","gold":["A","B"]}]',
        "t.json",
        "lists of several answers.*column `correct`",
    ),
    "row numbers": (
        "id,model,answer,gold\n0,a,A,A\n1,b,B,A\n2,a,C,B\n3,b,B,B\n",
        "t.csv",
        "'id' seems to number the rows.*'question': NAME",
    ),
    "small letters": (
        "question,model,answer,gold\nq1,a,a,A\nq1,b,b,A\n",
        "t.csv",
        r"only in spelling.*'a' and 'A' \(model 'a'\).*canonical='text'",
    ),
    "brackets": (
        "question,model,answer,gold\nq1,a,(A),A\nq1,b,B,A\n",
        "t.csv",
        r"only in spelling.*'\(A\)' and 'A'.*canonical='text'",
    ),
    "nothing like gold": (
        "question,model,answer,gold\nq1,a,paris,Paris\nq1,b,rome,Paris\n",
        "t.csv",
        "canonical='text'",
    ),
    "no gold": (
        "question,model,answer,colour\nq1,a,A,red\n",
        "t.csv",
        "gold",
    ),
    "settings": (
        '{"a": 1}',
        "t.json",
        "not a table in JSON; write a list of objects",
    ),
    "cut off": (
        '[{"question":"q"',
        "t.json",
        "not JSON",
    ),
    "not gzip": (
        "question",
        "t.csv.gz",
        "it is not whole",
    ),
    "unknown": (
        "question",
        "t.docx",
        "unknown file type",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_the_fix(name: str, tmp_path: Path) -> None:
    content, file, message = REFUSED[name]
    (tmp_path / file).write_text(content)
    with pytest.raises(sl.InputError, match=message):
        sl.import_votes(tmp_path / file)
    with pytest.raises(sl.InputError):
        sl.read_votes(tmp_path / file)


def test_a_stated_form_reconciles_spellings(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("question,model,answer,gold\nq1,a,(a),A\nq1,b,B.,A\n")
    votes = sl.read_votes(file, options=sl.importers.Options(canonical=("text",)))
    assert found(votes) == [("q1", "a", "a", "a"), ("q1", "b", "b", "a")]
    exact = sl.read_votes(file, options=sl.importers.Options(canonical=("exact",)))
    assert found(exact) == [("q1", "a", "(a)", "A"), ("q1", "b", "B.", "A")]


def test_whole_replies_in_a_table_are_read(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text('question,model,response,target\nq1,a,"The answer is C. A is wrong.",C\nq1,b,I cannot say.,C\n')
    reader = Reader("choice", labels="ABCD")
    imported = sl.import_votes(file, sl.importers.Options(reader=reader))
    assert found(imported.votes) == [("q1", "a", "C", "C"), ("q1", "b", None, "C")]
    assert imported.provenance["reader"] == reader.to_dict()


@pytest.mark.parametrize(
    "content",
    [
        "question,model,correct\nq1,a,1\nq1,b,0\nq2,a,0\nq2,b,1\n",
        "question,a,b\nq1,true,false\nq2,false,true\n",
        "Question;A;B\nq1;1;0\nq2;0;1\n",
    ],
)
def test_right_or_wrong_can_be_counted_but_not_pooled(swaplaw: Run, content: str, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(content)
    votes = sl.read_votes(file)
    assert any("can be counted but not pooled" in note for note in votes.notes)
    tally = votes.tally()
    assert tally.gold.sum() == 2
    assert swaplaw("summary", file, "--json").code == 0
    [pair] = json.loads(swaplaw("pairs", file, "--json").out)["pairs"]
    assert (pair["rescue"], pair["damage"], pair["phi_adj"], pair["lift"]) == (0.5, 0.5, -1.0, None)
    refused = swaplaw("recommend", file)
    assert refused.code == 2
    assert "pooling needs the answers" in refused.err


def test_every_votes_command_takes_the_importers_options() -> None:
    commands = [cli.get_command(click.Context(cli), name) for name in COMMANDS if name != "import"]
    taking = [each for each in commands if each and any(part.name in ("votes", "paths") for part in each.params)]
    assert len(taking) >= 8
    for command in taking:
        known = {flag for part in command.params for flag in part.opts}
        assert known >= {"--scorer", "--filter", "--column", "--pattern", "--read", "--canonical"}, command.name
