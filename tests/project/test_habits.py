"""What the pages for contributors say of the repository is so."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from support.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text()


def test_the_citation_is_of_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation


@pytest.mark.parametrize("check", ["ruff check", "ruff format", "lint-imports", "mypy"])
def test_the_checks_before_a_commit_are_those_of_ci(check: str) -> None:
    for file in (".ci/run", ".pre-commit-config.yaml"):
        assert f".venv/bin/{check}" in (ROOT / file).read_text(), file


@pytest.mark.parametrize("failing", [None, "scripts/test.py", "ruff", "lint-imports", "mypy", "python"])
def test_ci_fails_where_any_of_its_steps_does_and_tells_what_each_said(failing: str | None, tmp_path: Path) -> None:
    """CI's own script, with steps that do nothing: the checks run beside the tests, and the speed guard after both."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    steps = {"ruff", "lint-imports", "mypy", "python"}
    for name in steps:
        step = tmp_path / ".venv" / "bin" / name
        step.parent.mkdir(parents=True, exist_ok=True)
        step.write_text(f"#!/bin/sh\necho {name} ran\nexit {int(name == failing)}\n")
        step.chmod(0o755)
    (tmp_path / "scripts").mkdir()
    code = f"import sys; sys.exit({failing == 'scripts/test.py'} and '--install' not in sys.argv)"
    (tmp_path / "scripts" / "test.py").write_text(code)
    done = subprocess.run([tmp_path / ".ci" / "run"], capture_output=True, text=True)
    assert done.returncode == (failing is not None)
    ran = {name for name in steps if f"{name} ran" in done.stdout}
    assert ran == steps - ({"python"} if failing not in (None, "python") else set())


def test_the_files_that_the_guide_names_are_there() -> None:
    named = set(re.findall(r"`((?:[\w.]+/)+[\w.]+\.(?:py|pyi|md))`", GUIDE))
    assert len(named) > 8
    missing = [
        name for name in named if not any((folder / name).is_file() for folder in (ROOT, ROOT / "src" / "swaplaw"))
    ]
    assert missing == []


def test_each_python_that_is_named_is_tested_the_same_way() -> None:
    named = [line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert named == ["3.11", "3.12", "3.13"]
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert all(version in GUIDE for version in named)


def test_files_keep_to_their_budget() -> None:
    for file in [*(ROOT / "src").rglob("*.py"), *(ROOT / "forensic").rglob("*.py")]:
        assert len(file.read_text().splitlines()) < 900, file


BESIDE = {"bottom", "data", "docs", "project", "support"}
"""Folders of tests that belong to no package."""


def test_tests_mirror_the_package() -> None:
    """Every module of tests is in the folder of a package, and found by its dotted name."""
    tests = ROOT / "tests"
    for file in tests.rglob("test_*.py"):
        folder = file.parent.relative_to(tests)
        assert folder.parts, f"{file.name} belongs into a package's folder"
        assert folder.parts[0] in BESIDE or (ROOT / "src" / "swaplaw" / folder).is_dir(), folder
        assert all((tests / part / "__init__.py").is_file() for part in (folder, *folder.parents) if part.parts), folder


def test_no_test_reads_a_clock_to_judge_by_it() -> None:
    """Times belong in the benchmarks: a busy machine fails a test that asserts one."""
    for file in [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "forensic" / "tests").rglob("test_*.py")]:
        # What is linear is shown by a ratio within one run, with room for a busy machine, and only when asked.
        if file.name not in ("test_habits.py", "test_linear_time.py"):
            assert not re.search(r"perf_counter|process_time|assert .*monotonic\(\)", file.read_text()), file
