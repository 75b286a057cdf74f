"""The documentation site: it builds without a warning, and what its tutorial and recipes say is true."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import Run
from support.pages import DOCS, ROOT, blocks, words

PAGES = [DOCS / "index.md", DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]


NEEDS_A_SHELL = re.compile(r"^(?!swaplaw ).|[|>&;]", flags=re.MULTILINE)
"""A line that is no command of ours, or a pipe, a redirection or a second command in a line."""


def in_a_shell(script: str) -> list[str]:
    """The command that runs a script in which `swaplaw` is the one of these tests."""
    return ["bash", "-eu", "-c", f'swaplaw() {{ {shlex.quote(sys.executable)} -m swaplaw "$@"; }}\n{script}']


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples in it, as a reader of the pages has one."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("whole", [pytest.param(False, id="less"), pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_the_page_runs_and_prints_what_it_shows(
    page: Path, whole: bool, clone: Path, swaplaw: Run
) -> None:
    for kind, block in re.findall(r"^```(sh|console)\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE):
        if kind == "console":
            prompt, _, expected = block.partition("\n")
            done = swaplaw(*words(prompt.removeprefix("$ ")))
            assert (done.code, expected.strip() in done.out) == (0, True), done.out + done.err
        elif NEEDS_A_SHELL.search(block):
            ran = subprocess.run(in_a_shell(block), cwd=clone, capture_output=True, text=True)
            assert ran.returncode == 0, ran.stderr
        else:
            for line in block.splitlines():
                done = swaplaw(*words(line, whole=whole))
                assert done.code == 0, done.err


@pytest.mark.parametrize(("new", "old", "code"), [("gpt-4", "llama-2-7b-chat", 0), ("llama-2-7b-chat", "gpt-4", 3)])
def test_the_gate_of_the_recipe_can_fail(clone: Path, new: str, old: str, code: int) -> None:
    """A new model that is significantly worse than the old one stops the pipeline; a better one does not."""
    [block] = [each for each in blocks(DOCS / "how-to" / "compare.md", "sh") if "--fail-if-worse" in each]
    told = block.replace("gpt-4,mistral-large", f"{new},{old}").replace("worse gpt-4", f"worse {new}")
    assert subprocess.run(in_a_shell(told), cwd=clone, capture_output=True).returncode == code


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {file.relative_to(tmp_path / "site").as_posix() for file in (tmp_path / "site").rglob("*.html")}
    assert {"index.html", "reference/commands.html", "reference/python.html", "explanation/law.html"} <= pages
    assert "<math" in (tmp_path / "site" / "explanation" / "law.html").read_text()
    assert_nothing_is_fetched(tmp_path / "site")


def assert_nothing_is_fetched(site: Path) -> None:
    """No script, style, font or picture comes from elsewhere: the site reads the same offline."""
    for file in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|img|link)[^>]*(?:src|href)=\"(https?:[^\"]*)\"[^>]*>", file.read_text())
        assert not [address for address in loaded if "canonical" not in address], file


def test_every_page_is_in_the_navigation() -> None:
    listed = (ROOT / "mkdocs.yml").read_text()
    missing = [file for file in DOCS.rglob("*.md") if file.relative_to(DOCS).as_posix() not in listed]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_of_the_page_runs(page: Path, clone: Path) -> None:
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), {})
