"""Odd tables: each is read as a person would read it, or refused with the fix; none is silently wrong."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import swaplaw as sl
from swaplaw.answers import Reader
from swaplaw.importers.record import Options
from swaplaw.votes.checks import find_checks

from support.commands import Finished
from support.data import real_votes

LONG = "question,model,answer,gold\nq1,a,A,A\nq1,b,B,A\nq2,a,C,B\nq2,b,B,B\n"
ROWS = [dict(zip(LONG.split("\n")[0].split(","), line.split(","), strict=True)) for line in LONG.splitlines()[1:]]
VOTES = {("q1", "a", "A", "A"), ("q1", "b", "B", "A"), ("q2", "a", "C", "B"), ("q2", "b", "B", "B")}
WIDE = {("1", "m", "A", "A"), ("1", "n o", "B", "A"), ("2", "m", "B", "B"), ("2", "n o", "B", "B")}


def read(file: Path, **options: Any) -> set[tuple[Any, ...]]:
    frame = sl.read_votes(file, options=Options(**options)).frame.collect()
    return set(frame.select("question", "model", "answer", "gold").rows())


RIGHT: dict[str, tuple[str, str, set[tuple[Any, ...]]]] = {
    "semicolons": ("v.csv", LONG.replace(",", ";"), VOTES),
    "pipes": ("v.csv", LONG.replace(",", "|"), VOTES),
    "tabs in a .csv": ("v.csv", LONG.replace(",", "\t"), VOTES),
    "a byte-order mark": ("v.csv", "\ufeff" + LONG, VOTES),
    "carriage returns and line feeds": ("v.csv", LONG.replace("\n", "\r\n"), VOTES),
    "a suffix in capitals": ("v.CSV", LONG, VOTES),
    "names in capitals, with blanks": (
        "v.csv",
        LONG.replace("question,model,answer,gold", " QUESTION , Model Name , Model Answer , Correct Answer "),
        VOTES,
    ),
    "row numbers beside the question": (
        "v.csv",
        "id," + LONG.replace("\nq", "\n7,q"),
        VOTES,
    ),
    "pandas by columns": (
        "v.json",
        json.dumps({name: {str(n): row[name] for n, row in enumerate(ROWS)} for name in ROWS[0]}),
        VOTES,
    ),
    "pandas by rows": ("v.json", json.dumps({str(n): row for n, row in enumerate(ROWS)}), VOTES),
    "pandas split": (
        "v.json",
        json.dumps({"columns": list(ROWS[0]), "index": [0, 1, 2, 3], "data": [list(row.values()) for row in ROWS]}),
        VOTES,
    ),
    "wide": ("v.csv", "Question ID,Correct Answer,m,n o\n1,A,A,B\n2,B,B,B\n", WIDE),
    "wide with an index": ("v.csv", ",question,gold,m,n o\n0,1,A,A,B\n1,2,B,B,B\n", WIDE),
    "wide with other columns": (
        "v.csv",
        "question,question_text,gold,difficulty,hint,m,n o\n1,What?,A,3,none,A,B\n2,Why?,B,5,none,B,B\n",
        WIDE,
    ),
    "wide with a comment": ("v.csv", "question,gold,m,n o,comment\n1,A,A,B,odd\n2,B,B,B,odd\n", WIDE),
    "wide without golds": (
        "v.csv",
        "question,m,n o\n1,A,C\n2,C,C\n",
        {("1", "m", "A", None), ("1", "n o", "C", None), ("2", "m", "C", None), ("2", "n o", "C", None)},
    ),
    "whole numbers that JSON made floats": (
        "v.jsonl",
        '{"question":1,"model":"a","answer":4,"gold":4.0}\n{"question":1,"model":"b","answer":5,"gold":4.0}\n',
        {("1", "a", "4", "4"), ("1", "b", "5", "4")},
    ),
    "lines within quotes": (
        "v.csv",
        'question,model,answer,gold\n"q\n1",a,A,A\n"q\n1",b,"B\nB",A\n',
        {("q\n1", "a", "A", "A"), ("q\n1", "b", "B\nB", "A")},
    ),
    "names in many words": (
        "v.csv",
        LONG.replace("question,model,answer,gold", "Question ID, Model Name ,Predicted Answer,Correct Option"),
        VOTES,
    ),
    "JSON Lines by another name": ("v.json", "".join(json.dumps(row) + "\n" for row in ROWS), VOTES),
    "wide, with what each column holds in its name": (
        "v.csv",
        "question,gold,m_answer,n o_answer,m_correct,n o_correct\n1,A,A,B,1,0\n2,B,B,B,1,1\n",
        WIDE,
    ),
    "samples in lists": (
        "v.jsonl",
        '{"question":"q","model":"a","answers":["A","B"],"gold":"A"}\n'
        '{"question":"q","model":"b","answers":["B","B","C"],"gold":"A"}\n',
        {("q", "a", "A", "A"), ("q", "a", "B", "A"), ("q", "b", "B", "A"), ("q", "b", "C", "A")},
    ),
    "wide lists of samples": (
        "v.json",
        '[{"question":"q","gold":"A","level":3,"answers":{"a":["A","B"],"b":["B","C"]}}]',
        {("q", "a", "A", "A"), ("q", "a", "B", "A"), ("q", "b", "B", "A"), ("q", "b", "C", "A")},
    ),
    "ids that only look like numbers": (
        "v.csv",
        "question,model,answer,gold\n01,a,A,A\n1,a,B,B\n",
        {("01", "a", "A", "A"), ("1", "a", "B", "B")},
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_read_right(name: str, tmp_path: Path) -> None:
    called, content, votes = RIGHT[name]
    (tmp_path / called).write_text(content, newline="")
    assert read(tmp_path / called) == votes


REFUSED = {
    "answers in brackets": ("question,model,answer,gold\nq,a,B),B\nq,b,A,B\n", "with reader='choice'"),
    "answers with blanks": ("question,model,answer,gold\nq,a, b ,B\nq,b,B,B\n", "canonical='text'"),
    "small letters": ("question,model,answer,gold\nq,a,b,B\nq,b,a,B\n", "canonical='text'"),
    "1.0 and 1": ("question,model,answer,gold\nq,a,1.0,1\nq,b,1,1\n", "with canonical='numeric'"),
    "True and true": ("question,model,answer,gold\nq,a,True,true\nq,b,False,true\n", "canonical='text'"),
    "golds by number": ("question,model,answer,gold\nq,a,A,0\nr,b,B,1\n", "write the letter of each right option"),
    "golds by text": (
        "question,model,answer,gold\nq,a,A,Paris\nq,b,B,Paris\n",
        "write the letter of each right option",
    ),
    "whole replies": (
        "question,model,response,gold\nq,a,The answer is A.,A\nq,b,It is B.,A\n",
        "with reader='choice'",
    ),
    "wide replies": ("question,gold,m,n\n1,A,The answer is A.,It is B.\n", "read them with reader='choice'"),
    "two columns of one name": ("question,model,answer,answer,gold\nq,a,A,B,A\n", "two columns are called 'answer'"),
    "a grade that is none": ("question,model,correct\nq,a,maybe\nq,b,no\n", "neither right nor wrong"),
    "carriage returns alone": (LONG.replace("\n", "\r"), "save it with line feeds"),
    "several golds": ('question,model,answer,gold\nq,a,A,"[""A"",""B""]"\n', "keep one of each list"),
    "golds that differ": ("question,model,answer,gold\nq,a,A,A\nq,b,B,B\n", "give each question of a dataset one gold"),
    "row numbers for questions": ("id,model,answer,gold\n1,a,A,A\n2,b,B,A\n", "seems to number the rows"),
    "a sample twice": ("question,model,sample,answer,gold\nq,a,0,A,A\nq,a,0,B,A\n", "or remove the duplicate"),
    "percent signs": ("question,model,answer,gold\nq,a,20,20%\nq,b,30,20%\n", "with canonical='math'"),
    "options from 0 and from 1": (
        "question,model,answer,gold\n" + "".join(f"q{n},{m},{n % 3},{n % 3 + 1}\n" for n in range(6) for m in "ab"),
        "number both in the same way",
    ),
    "scores on another scale": ("question,model,score\nq,a,5\nq,b,2\n", "go up to 5, so 1 is not the full mark"),
    "scores that are never enough": ("question,model,score\nq,a,0.7\nq,b,0.2\n", "with threshold=NUMBER"),
    "yes and no without golds": ("question,m,n\n1,yes,no\n2,no,no\n", "which may be answers or grades"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_fix(name: str, tmp_path: Path) -> None:
    content, fix = REFUSED[name]
    (tmp_path / "v.csv").write_text(content, newline="")
    with pytest.raises(sl.InputError) as refusal:
        sl.read_votes(tmp_path / "v.csv")
    assert fix in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_other_encodings_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(LONG.encode("utf-16"))
    with pytest.raises(sl.InputError, match="UTF-16; save it as UTF-8"):
        sl.read_votes(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_bytes(LONG.replace("C,B", "Köln,B").encode("latin-1"))
    with pytest.raises(sl.InputError, match="save it as UTF-8"):
        sl.read_votes(tmp_path / "b.csv")


@pytest.mark.parametrize(
    ("answers", "options"),
    [
        (["B)", "(a)"], {"reader": Reader("choice")}),
        ([" b ", "a"], {"reader": Reader("choice")}),
        (["b", "a"], {"canonical": ("text",)}),
    ],
)
def test_the_fix_of_letters_works(answers: list[str], options: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    file.write_text("question,model,answer,gold\n" + "".join(f"q,m{n},{text},b\n" for n, text in enumerate(answers)))
    found = {(model, answer == gold) for _, model, answer, gold in read(file, **options)}
    assert found == {("m0", True), ("m1", False)}


def test_rows_that_are_there_twice_are_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(LONG + "q1,a,A,A\n")
    [note] = sl.read_votes(tmp_path / "v.csv").notes
    assert "1 of 4 pairs of a model and a question have more than 1 vote, such as 2 of 'a' on 'q1'" in note


def test_lists_that_may_be_one_answer_are_refused(tmp_path: Path) -> None:
    """Some questions may have two right options: a list is a model's samples only where every one holds several."""
    (tmp_path / "v.json").write_text(
        '[{"question":1,"model":"a","answer":["A","B"],"gold":"A"},{"question":2,"model":"a","answer":["A"],"gold":"A"}]'
    )
    with pytest.raises(sl.InputError, match="give each answer a row of its own"):
        sl.read_votes(tmp_path / "v.json")


@pytest.mark.parametrize(("right", "wrong"), [("Y", "N"), ("t", "f"), ("✓", "✗"), ("passed", "failed")])
def test_words_for_right_and_wrong(right: str, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(f"question,model,correct\nq,a,{right}\nq,b,{wrong}\n")
    assert sl.tally(sl.read_votes(tmp_path / "v.csv")).gold.tolist() == [[1], [0]]


def test_standard_input_may_be_packed() -> None:
    command = [sys.executable, "-m", "swaplaw", "summary", "-", "--json"]
    done = subprocess.run(command, input=gzip.compress(LONG.encode()), capture_output=True, check=False)
    assert json.loads(done.stdout), done.stderr
    cut = subprocess.run(command, input=gzip.compress(LONG.encode())[:-12], capture_output=True, check=False)
    assert (cut.returncode, b"standard input" in cut.stderr) == (2, True)


def test_scores_between_right_and_wrong_are_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("question,model,score\nq,a,0.7\nq,b,1.0\n")
    assert any("such as 0.7; those of at least 1 count" in note for note in sl.read_votes(tmp_path / "v.csv").notes)
    assert sl.tally(sl.read_votes(tmp_path / "v.csv", options=Options(threshold=0.5))).gold.tolist() == [[1], [1]]


def test_the_command_line_names_the_flag(swaplaw: Callable[..., Finished], tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    file.write_text(REFUSED["answers in brackets"][0])
    refused = swaplaw("summary", str(file))
    assert refused.code == 2
    assert "read them with --read choice" in refused.err
    assert swaplaw("summary", str(file), "--read", "choice").code == 0


def test_a_stray_spelling_among_thousands_is_noted_and_a_habit_is_refused(tmp_path: Path) -> None:
    rows = [(f"q{number}", "m", "B", "B") for number in range(300)]
    for strays, refused in ((1, False), (30, True)):
        file = tmp_path / f"{strays}.csv"
        told = [(q, m, "(B)" if place < strays else a, g) for place, (q, m, a, g) in enumerate(rows)]
        file.write_text("question,model,answer,gold\n" + "".join(",".join(row) + "\n" for row in told))
        if refused:
            with pytest.raises(sl.InputError, match="differ"):
                sl.read_votes(file)
        else:
            assert "1 answer differs from gold only in spelling" in " ".join(sl.read_votes(file).notes)


def test_the_real_votes_are_read_as_they_are() -> None:
    for name in ("best-of-infinity", "mmlu-pro", "reasoning-gym", "renze-temperature", "aime"):
        assert sl.read_votes(real_votes(f"{name}.parquet")).datasets


@pytest.mark.parametrize("gold", ["gold", "the key"])
def test_a_wide_table_takes_the_columns_that_are_named(tmp_path: Path, gold: str) -> None:
    file = tmp_path / "wide.csv"
    file.write_text(f"item,{gold},m,n\nq1,A,A,B\nq2,B,B,B\n")
    votes = sl.read_votes(file, options=Options(columns={"question": "item", "gold": gold}))
    assert {row.model: float(row.single) for row in sl.summary(votes.tally())} == {"m": 1.0, "n": 0.5}


@pytest.mark.parametrize(("answer", "gold"), [("{}", "{}. Paris"), ("{}", "Option {}"), ("N/A", "{}"), ("{}", "N/A")])
def test_what_a_check_can_fix_is_read_for_the_check_to_tell(answer: str, gold: str, tmp_path: Path) -> None:
    rows = [f"q{n},{m},{answer.format('ABC'[n % 3])},{gold.format('ABC'[n % 3])}\n" for n in range(30) for m in "ab"]
    (tmp_path / "v.csv").write_text("question,model,answer,gold\n" + "".join(rows))
    votes = sl.read_votes(tmp_path / "v.csv")
    assert find_checks(votes)[0].name in {"spelling", "no_answer_as_text", "no_gold"}
