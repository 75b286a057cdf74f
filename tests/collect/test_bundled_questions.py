"""The bundled questions: what can be computed or run is, and its result is the gold option."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import sqlite3
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from swaplaw.collect.questions import Question
from swaplaw.collect.sources import read_questions

QUESTIONS = {question.id: question for question in read_questions("demo")}
COMPUTED = {
    "arithmetic-1": 17 + 26,
    "arithmetic-2": 240 * 15 // 100,
    "arithmetic-3": f"{80 * 100 // (100 - 20)} euros",
    "arithmetic-4": 100 % 7,
    "arithmetic-5": 23 * 47,
    "arithmetic-6": sum(all(n % d for d in range(2, n)) for n in range(20, 41)),
    "arithmetic-7": sum(range(51)),
    "physics-2": f"{20 * 15} m",
    "physics-4": f"{10 * 2**2 // 2} m",
    "physics-5": f"{6 * 6 // (6 + 6)} ohms",
    "chemistry-4": 2 + 1 + 4,
    "chemistry-5": f"+{-(1 + 4 * -2)}",
    "biology-4": f"{(100 - 2 * 30) // 2}%",
}


def correct(question: Question) -> str:
    assert question.gold is not None
    return question.options[question.gold]


def code(question: Question) -> str:
    return question.text.partition("\n\n")[2]


def test_there_are_48_with_golds_spread_evenly() -> None:
    assert len(QUESTIONS) == 48
    assert Counter(question.letter for question in QUESTIONS.values()) == dict.fromkeys("ABCD", 12)
    assert {len(question.options) for question in QUESTIONS.values()} == {4}
    assert {question.strata["difficulty"] for question in QUESTIONS.values()} == {"easy", "medium", "hard"}
    assert len({question.text for question in QUESTIONS.values()}) == 48


@pytest.mark.parametrize("name", COMPUTED)
def test_arithmetic(name: str) -> None:
    assert correct(QUESTIONS[name]) == str(COMPUTED[name])


@pytest.mark.parametrize("name", [name for name in QUESTIONS if name.startswith("python-")])
def test_python(name: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code(QUESTIONS[name]), {})
    assert correct(QUESTIONS[name]) == printed.getvalue().strip()


def test_sql() -> None:
    database = sqlite3.connect(":memory:")
    database.executescript(
        "CREATE TABLE t2 (c); INSERT INTO t2 VALUES (1), (2), (3), (NULL), (NULL);"
        "CREATE TABLE t4 (c); INSERT INTO t4 VALUES (1), (NULL), (3);"
        "CREATE TABLE a (x); INSERT INTO a VALUES (1), (2), (3); CREATE TABLE b (y); INSERT INTO b SELECT x FROM a;"
        "INSERT INTO b VALUES (4);"
    )

    def query(name: str, suffix: str = "") -> list[tuple[object, ...]]:
        found = re.search(r"SELECT .* (?=return)", QUESTIONS[name].text)
        assert found is not None
        return database.execute(found[0].replace("FROM t ", f"FROM t{suffix} ")).fetchall()

    assert str(query("sql-2", "2")[0][0]) == correct(QUESTIONS["sql-2"])
    assert str(len(query("sql-3"))) == correct(QUESTIONS["sql-3"])
    assert str(len(query("sql-4", "4"))) == correct(QUESTIONS["sql-4"])
    database.close()


def test_shell(tmp_path: Path) -> None:
    def run(command: str) -> str:
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path, check=True)
        return done.stdout.strip()

    assert Path(run(correct(QUESTIONS["shell-1"]))).resolve() == tmp_path.resolve()
    assert run(code(QUESTIONS["shell-2"])) == correct(QUESTIONS["shell-2"])
    run("touch file; chmod 644 file")
    assert (tmp_path / "file").stat().st_mode >> 3 & 7 == 4  # the group: read, and nothing else
    assert correct(QUESTIONS["shell-3"]) == "read it only"
    assert ", then ".join(run(code(QUESTIONS["shell-4"])).split()) == correct(QUESTIONS["shell-4"])


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "core.hooksPath=none")
        command = ["git", *identity, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout

    def answer(name: str) -> list[str]:
        return correct(QUESTIONS[name]).split()[1:]

    git("init")
    for text in ("one", "two"):
        (tmp_path / "file").write_text(text)
        git("add", "file")
        assert text in git(*answer("git-2"))  # staged, and shown
        assert git("diff") == ""
        git(*answer("git-1"), "-m", text)
    git(*answer("git-3"), "--no-edit", "HEAD")
    assert (tmp_path / "file").read_text() == "one"
    assert len(git("log", "--oneline").splitlines()) == 3
    git("reset", "--soft", "HEAD~1")
    assert git("status", "--porcelain").startswith("M ")  # in the first column: staged
    assert correct(QUESTIONS["git-4"]).startswith("staged")
