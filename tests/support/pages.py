"""The repository's pages, and the code blocks in them."""

import re
import shlex
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a language on a page."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


LESS = {
    "combine": "--repeats 1",
    "report": "--folds 2 --repeats 1 --replicates 50 --panel-work 0",
}
"""Options with which a long command does all that it does, with less of everything. The last of an option counts."""


def words(line: str, *, whole: bool = True) -> list[str]:
    """The arguments of a documented command, in whole or with less to do."""
    _, *arguments = shlex.split(line, comments=True)
    return arguments if whole else [*arguments, *LESS.get(arguments[0], "").split()]


def whole_and_less(lines: Iterable[str], long: tuple[str, ...]) -> list[ParameterSet]:
    """Each command and whether it is run in whole: the long ones only among the slow proofs, and with less always."""
    found = []
    for line in lines:
        slow = words(line)[0] in long
        found += [pytest.param(line, False, id=f"{line} (less)")] if slow else []
        found += [pytest.param(line, True, id=line, marks=[pytest.mark.slow] if slow else [])]
    return found
