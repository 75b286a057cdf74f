"""Plain English: words that native technical readers stumble over are found wherever people can see them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from support.pages import DOCS, ROOT

INSTEAD: dict[str, str] = tomllib.loads((DOCS / "words.toml").read_text())["instead"]
PAGES = [
    *ROOT.glob("*.md"),
    *(page for part in ("docs", "forensic", "examples") for page in (ROOT / part).rglob("*.md")),
]
SCRIPTS = [*(ROOT / "src" / "swaplaw" / "report" / "assets").glob("*.js")]
CODE = ("src", "forensic/src", "benchmarks", "scripts")
SOURCES = [file for part in CODE for file in (ROOT / part).rglob("*.py")]


@cache
def prose() -> list[tuple[Path, int, str]]:
    """Lines that people read, with their places."""
    return [(file, number, line) for file in [*PAGES, *SOURCES, *SCRIPTS] for number, line in lines(file)]


def lines(file: Path) -> Iterator[tuple[int, str]]:
    """Of a page what is not code, of a module its docstrings and messages, of a script all."""
    text = file.read_text()
    if file.suffix == ".md":
        yield from enumerate(re.sub(r"`[^`\n]*`", "", text).splitlines(), 1)
        return
    if file.suffix == ".js":
        yield from enumerate(text.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield from enumerate(node.value.splitlines(), node.lineno)


@pytest.mark.parametrize("pattern", INSTEAD)
def test_nothing_stumbles(pattern: str) -> None:
    looked_for = re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)", re.IGNORECASE)
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file, number, line in prose()
        if looked_for.search(line)
    ]
    assert not found, f"write {INSTEAD[pattern]!r}:\n" + "\n".join(found)


def test_nothing_is_misspelt() -> None:
    texts = ["src", "docs", "forensic/docs", "benchmarks", "scripts", *ROOT.glob("*.md")]
    checked = [sys.executable, "-m", "codespell_lib", *texts]
    done = subprocess.run([str(part) for part in checked], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
