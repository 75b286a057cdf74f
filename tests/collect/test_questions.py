"""Questions of every layout are read alike, and what breaks the contract is said before anything is asked."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from swaplaw.collect.questions import Question, Questions
from swaplaw.collect.sources import read_questions
from swaplaw.errors import InputError

from support.question_tables import GPQA, MMLU_PRO, PLAIN, SUPERGPQA, written


def correct(question: Question) -> str:
    assert question.gold is not None
    return question.options[question.gold]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_supergpqa(tmp_path: Path, suffix: str) -> None:
    [question] = read_questions(written(tmp_path, SUPERGPQA, name=f"s.{suffix}"))
    assert (question.id, question.letter, correct(question)) == ("be3f1a", "B", "hydrogen")
    assert len(question.options) == 5
    assert question.strata["discipline"] == "Science"
    assert question.strata["difficulty"] == "easy"
    assert question.strata["is_calculation"].lower() == "false"


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_mmlu_pro_is_read_without_its_padding(tmp_path: Path, suffix: str) -> None:
    [question] = read_questions(written(tmp_path, MMLU_PRO, name=f"m.{suffix}"))
    assert question.options == ("helium", "hydrogen", "neon")
    assert (question.id, question.letter, question.strata["category"]) == ("70", "B", "chemistry")


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_packed_files_are_read(tmp_path: Path, suffix: str) -> None:
    plain = written(tmp_path, SUPERGPQA, name=f"s.{suffix}")
    packed = tmp_path / f"p.{suffix}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(read_questions(packed)) == list(read_questions(plain))
    packed.write_bytes(gzip.compress(plain.read_bytes())[:-9])
    with pytest.raises(InputError, match=r"p\.\w+\.gz"):
        read_questions(packed)


def test_gpqa_letters_tell_nothing(tmp_path: Path) -> None:
    rows = [GPQA | {"Record ID": f"rec{number}"} for number in range(200)]
    questions = read_questions(written(tmp_path, *rows, name="gpqa_diamond.csv"))
    assert questions.dataset == "gpqa_diamond"
    assert {correct(question) for question in questions} == {"hydrogen"}
    golds = [question.gold for question in questions]
    assert all(30 < golds.count(place) < 75 for place in range(4))
    backwards = read_questions(written(tmp_path, *reversed(rows), name="other.csv"))
    assert backwards.fingerprint == questions.fingerprint
    assert next(iter(questions)).strata == {"High-level domain": "Chemistry", "Subdomain": "Chemistry (general)"}


@pytest.mark.parametrize(
    "row",
    [
        PLAIN | {"answer": "b"},
        PLAIN | {"answer": "(B)"},
        PLAIN | {"answer": "hydrogen"},
        PLAIN | {"answer": ["B"]},
        PLAIN | {"options": '["helium", "hydrogen", "neon"]'},
        PLAIN | {"options": "['helium', 'hydrogen', 'neon']"},
        {"id": "q1", "question": "?", "A": "helium", "B": "hydrogen", "C": "neon", "D": "", "Answer": "B"},
        {"id": "q1", "question": "?", "option_a": "helium", "option_b": "hydrogen", "answer": "hydrogen"},
        {"id": "q1", "Question": "?", "Option 1": "helium", "Option 2": "hydrogen", "Answer": "B"},
        # MMLU, ARC, SciQ, MedQA, MedMCQA, OpenTDB and Inspect's samples
        {"question": "?", "subject": "s", "choices": ["helium", "hydrogen"], "answer_index": 1},
        {
            "id": "q1",
            "question": "?",
            "choices": {"text": ["helium", "hydrogen"], "label": ["1", "2"]},
            "answerKey": "2",
        },
        {
            "question": "?",
            "choices": [{"label": "A", "text": "helium"}, {"label": "B", "text": "hydrogen"}],
            "answer": "B",
        },
        {"question": "?", "correct_answer": "hydrogen", "distractor1": "helium", "distractor2": "neon", "support": "…"},
        {"question": "?", "answer": "hydrogen", "options": {"B": "hydrogen", "A": "helium"}, "answer_idx": "B"},
        {"id": "q1", "question": "?", "opa": "helium", "opb": "hydrogen", "opc": "neon", "opd": "argon", "answer": "B"},
        {"question": "?", "correct_answer": "hydrogen", "incorrect_answers": ["helium", "neon"]},
        {"id": 3, "input": "?", "choices": ["helium", "hydrogen"], "target": "B"},
    ],
)
def test_layouts_are_guessed(tmp_path: Path, row: dict[str, Any]) -> None:
    [question] = read_questions(written(tmp_path, row))
    assert correct(question) == "hydrogen"


@pytest.mark.parametrize(
    ("declared", "gold"), [({"letter": "x"}, None), ({"index": "y"}, 2), ({"number": "y"}, 1), ({"text": "z"}, 0)]
)
def test_declared_columns_win(tmp_path: Path, declared: dict[str, str], gold: int | None) -> None:
    row = {"k": "q1", "ask": "?", "o1": "2", "o2": "3", "o3": "4", "y": 2, "z": "2", "answer": "4"}
    columns = {"id": "k", "question": "ask", "options": "o1, o2, o3"} | declared
    file = written(tmp_path, row)
    if gold is None:
        with pytest.raises(InputError, match="no column 'x'"):
            read_questions(file, columns=columns)
        return
    [question] = read_questions(file, columns=columns, strata=["z"])
    assert question.gold == gold
    assert question.strata["z"] == "2"


def test_questions_without_ids_are_named_by_their_content(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "options": ["x", "y"], "answer": "A"} for n in range(3)]
    one, two = (read_questions(written(tmp_path, *order)) for order in (rows, rows[::-1]))
    assert {question.id for question in one} == {question.id for question in two}
    assert "digest" in one.notes[0]


BAD = [
    ([PLAIN, PLAIN], r"row 2: the id 'q1' is also that of row 1"),
    ([PLAIN | {"answer": "E"}], r"row 1: gold 'E' in column 'answer' is not among the 3 options; .*A to C"),
    ([PLAIN | {"answer": "helium gas"}], "gold 'helium gas' .* not among the 3 options"),
    ([PLAIN | {"answer": ""}], "column 'answer' is empty"),
    ([PLAIN | {"answer": None}], "column 'answer' is empty"),
    ([PLAIN | {"answer": {"a": 1}}], "column 'answer' is {'a': 1}; expected text"),
    ([PLAIN | {"options": ["x"], "answer": "A"}], "1 options; give 2 to 26"),
    ([PLAIN | {"options": []}], "not among the 0 options"),
    ([PLAIN | {"options": [str(n) for n in range(27)], "answer": "B"}], "27 options; give 2 to 26"),
    ([PLAIN | {"options": ["x", "y", ""]}], "option C is empty"),
    ([PLAIN | {"options": ["x", None, "y"]}], "option B is empty"),
    ([PLAIN | {"options": ["x", "y", " x "]}], "options A and C are the same, 'x'"),
    ([PLAIN | {"options": "helium"}], "column 'options' holds 'helium'; expected a list"),
    ([PLAIN | {"options": [["x"], "y"]}], r"an option is \['x'\]; expected text"),
    ([PLAIN | {"question": "  "}], "the question is empty"),
    ([PLAIN | {"id": ""}], "the id is empty"),
    ([PLAIN | {"id": None}], "the id is empty"),
    ([PLAIN | {"id": "q\0\x1b[31m"}], r"the id 'q\\x00\\x1b\[31m' holds characters that cannot be printed"),
    ([SUPERGPQA | {"answer_letter": "C"}], "gold is 'C' in column 'answer_letter' and 'hydrogen' in column 'answer'"),
    ([SUPERGPQA | {"answer": "radon"}], "gold 'radon' in column 'answer' is not among the 5 options"),
    ([MMLU_PRO | {"answer_index": 2}], "different options"),
    (
        [PLAIN | {"options": ["3", "2", "1"], "answer": "1"}, PLAIN | {"id": 2, "answer": 0}],
        "could mean the options 'B', 'C'",
    ),
    ([PLAIN | {"answer": 1}, PLAIN | {"id": "q2", "answer": 3}], "never 0; do they count from 0 or from 1"),
    (
        [PLAIN | {"answer": 0}, PLAIN | {"id": "q2", "answer": 3}],
        r"row 2: gold '3' .* number=answer if these count from 1",
    ),
    ([{"id": "q1", "question": "?", "A": "x", "B": "", "C": "y", "answer": "A"}], "option B is empty"),
    ([{"id": "q1", "question": "?", "answer": "A"}], r"no column was found for 'options'.*options=NAME"),
    ([{"id": "q1", "options": ["x", "y"], "answer": "A"}], "no column was found for 'question'"),
    ([{"id": "q1", "question": "?", "options": ["x", "y"]}], "no column was found for 'answer'"),
    ([{"prompt_text": "?", "reply": "x"}], "found 'prompt_text', 'reply'"),
]


@pytest.mark.parametrize(("rows", "complaint"), BAD)
def test_what_breaks_the_contract_is_said(tmp_path: Path, rows: list[dict[str, Any]], complaint: str) -> None:
    file = written(tmp_path, *rows)
    with pytest.raises(InputError, match=complaint) as caught:
        read_questions(file)
    assert "questions.jsonl" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("empty.csv", "", "the file is empty"),
        ("header.csv", "id,question,options,answer\n", "there are no questions in it"),
        ("blank.jsonl", "\n\n", "there are no questions in it"),
        ("broken.jsonl", '{"id": 1}\n{"id": \n', "line 2 is not JSON"),
        ("list.jsonl", "[1, 2]\n", "line 1 is .* expected a JSON object"),
        ("deep.jsonl", "[" * 100_000 + "\n", "line 1 is not JSON"),
        ("questions.txt", "what?", "unknown file type '.txt'"),
        ("bad.parquet", "PAR1", "not a readable Parquet file"),
    ],
)
def test_unreadable_files_are_said_to_be_so(tmp_path: Path, name: str, content: str, complaint: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=complaint):
        read_questions(tmp_path / name)


def test_what_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_questions(tmp_path / "none.csv")
    (tmp_path / "latin.jsonl").write_bytes('{"id": "é"}'.encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        read_questions(tmp_path / "latin.jsonl")
    file = written(tmp_path, PLAIN)
    for columns, complaint in (({"id": "nope"}, "no column 'nope'"), ({"golden": "answer"}, "no part 'golden'")):
        with pytest.raises(InputError, match=complaint):
            read_questions(file, columns=columns)
    with pytest.raises(InputError, match="no column 'level'"):
        read_questions(file, strata=["level"])


def test_invalid_rows_can_be_left_out(tmp_path: Path) -> None:
    rows = [PLAIN, PLAIN | {"id": "q2", "answer": "Z"}, PLAIN, PLAIN | {"id": "q3"}]
    questions = read_questions(written(tmp_path, *rows), skip_invalid=True)
    assert [question.id for question in questions] == ["q1", "q3"]
    assert "2 of 4 questions are invalid and left out (the first: row 2: gold 'Z'" in questions.notes[0]
    with pytest.raises(InputError, match="2 of 2 questions are invalid"):
        read_questions(written(tmp_path, *[PLAIN | {"answer": "Z"}] * 2), skip_invalid=True)


def test_untrusted_text_stays_text(tmp_path: Path) -> None:
    rows = [PLAIN | {"id": "\x1b[31mred", "answer": "\x1b]0;x\x07"}, PLAIN | {"id": "q\ud800"}]
    with pytest.raises(InputError) as caught:
        read_questions(written(tmp_path, rows[0]))
    assert "\x1b" not in str(caught.value)
    assert next(iter(read_questions(written(tmp_path, rows[1])))).id == "q?"


def test_clusters_are_for_all_or_for_none(tmp_path: Path) -> None:
    rows = [PLAIN | {"cluster": "gases"}, PLAIN | {"id": "q2", "cluster": ""}]
    questions = read_questions(written(tmp_path, *rows))
    assert [question.cluster for question in questions] == [None, None]
    assert "clusters are not used" in questions.notes[-1]


def test_26_options_are_the_most(tmp_path: Path) -> None:
    row = {"id": "q", "question": "?", "options": [f"o{n}" for n in range(26)], "answer": "Z"}
    [question] = read_questions(written(tmp_path, row))
    assert (question.gold, question.letter) == (25, "Z")


def test_selecting_keeps_the_asked_order() -> None:
    questions = read_questions("demo")
    assert [question.id for question in questions.select(["git-2", "sql-1"])] == ["git-2", "sql-1"]
    with pytest.raises(InputError, match="1 of 2 questions are not in it \\('nope'\\)"):
        questions.select(["git-2", "nope"])


def test_fingerprints_follow_content(tmp_path: Path) -> None:
    def fingerprint(rows: Iterable[Mapping[str, Any]]) -> str:
        return read_questions(written(tmp_path, *rows)).fingerprint

    other = PLAIN | {"id": "q2"}
    assert fingerprint([PLAIN, other]) == fingerprint([other, PLAIN])
    assert fingerprint([PLAIN, other]) != fingerprint([PLAIN, other | {"answer": "A"}])
    assert fingerprint([PLAIN]) != fingerprint([PLAIN | {"question": "Which gas is the heaviest?"}])


def test_inspect_datasets() -> None:
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ContentImage

    from swaplaw.collect.questions import from_samples

    samples = [
        Sample(id=1, input="Lightest?", choices=["helium", "hydrogen"], target="B", metadata={"difficulty": "easy"}),
        Sample(input=[ChatMessageUser(content="Heaviest?")], choices=["neon", "radon"], target=["B"]),
    ]
    questions = from_samples(MemoryDataset(samples, name="gases"))
    assert questions.dataset == "gases"
    assert [correct(question) for question in questions] == ["hydrogen", "radon"]
    assert next(iter(questions)).strata == {"difficulty": "easy"}
    picture: list[Any] = [ChatMessageUser(content=[ContentImage(image="data:image/png;base64,AA==")])]
    for bad, complaint in [
        (Sample(input="?", target="B"), "no choices"),
        (Sample(input="?", choices=["x", "y"], target="C"), "target 'C' is not the letter"),
        (Sample(input="?", choices=["x", "y"], target=["A", "B"]), "is not the letter of one"),
        (Sample(input=picture, choices=["x", "y"], target="A"), "more than text"),
    ]:
        with pytest.raises(InputError, match=f"sample 1: .*{complaint}"):
            from_samples([bad])


def test_inspect_tasks() -> None:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample

    @task
    def lightest() -> Task:
        samples = [Sample(id="g", input="Lightest?", choices=["helium", "hydrogen"], target="B")]
        return Task(dataset=MemoryDataset(samples))

    questions = read_questions("inspect:lightest")
    assert isinstance(questions, Questions)
    assert [(question.id, question.letter) for question in questions] == [("g", "B")]
    with pytest.raises(InputError, match="no Inspect task 'nope/none'"):
        read_questions("inspect:nope/none")
