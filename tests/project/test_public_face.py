"""The public face: few names at the top, every public function documented, nothing hides a module."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import polars as pl
import pytest

import swaplaw as sl

PACKAGES = ("answers", "decide", "evidence", "importers", "law", "panels", "paper", "predict", "votes")


def modules() -> list[ModuleType]:
    return [sl, *(importlib.import_module(f"swaplaw.{name}") for name in PACKAGES)]


def public() -> Iterator[tuple[str, Any]]:
    for module in modules():
        for name in module.__all__:
            yield f"{module.__name__}.{name}", getattr(module, name)


FUNCTIONS = {name: value for name, value in public() if isinstance(value, FunctionType)}


def test_the_top_can_be_held_in_the_head() -> None:
    assert len(sl.__all__) <= 30
    assert dir(sl) == sl.__all__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_are_documented(name: str) -> None:
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    wanted = ["Parameters"] if inspect.signature(FUNCTIONS[name]).parameters else []
    if inspect.signature(FUNCTIONS[name]).return_annotation not in ("None", None):
        wanted.append("Yields" if "Yields\n" in text else "Returns")
    assert [section for section in wanted if f"{section}\n{'-' * len(section)}" not in text] == []
    for parameter in inspect.signature(FUNCTIONS[name]).parameters:
        assert parameter in text, f"{name} does not say what {parameter} is"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_exported_name_hides_a_module(package: str) -> None:
    module = importlib.import_module(f"swaplaw.{package}")
    inside = {found.name for found in pkgutil.iter_modules(module.__path__)}
    assert not inside & set(module.__all__)


def test_the_command_line_starts_without_numpy() -> None:
    code = (
        "import sys, swaplaw.cli; print([name for name in ('numpy', 'polars', 'scipy', 'rich') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_contract_holds_without_assertions(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("question,model,answer,gold\n1,a,A,A\n1,b,B,B\n")
    code = f"import swaplaw as sl; sl.read_votes({str(file)!r})"
    done = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=False)
    assert "column 'gold' is 'B'" in done.stderr


def test_results_turn_into_data_tables_and_pages() -> None:
    votes = sl.demo_votes()
    hostile = frame_with("<script>alert(1)</script>")
    results = [
        sl.pair(votes, "gpt-4", "mistral-large"),
        sl.pair(votes, "gpt-4", "mistral-large").at("2/3"),
        sl.curve(votes, "gpt-4", "mistral-large"),
        sl.panel(votes, ["gpt-4", "mistral-large"]),
        sl.panel(votes, ["gpt-4", "mistral-large"]).at([1, "1/2"]),
        sl.compare(votes, ["gpt-4", "mistral-large"]),
        sl.summary(votes)[0],
        sl.compare(hostile),
    ]
    for result in results:
        assert isinstance(result.to_dict(), dict)
        assert result.to_frame().height >= 1
        assert "<table>" in result._repr_html_()
        assert "<script>" not in result._repr_html_()
        assert not repr(result).endswith("()")
    assert sl.curve(votes, "gpt-4", "mistral-large").plot().to_dict()
    with pytest.raises(sl.InputError, match="no picture of a Pair"):
        results[0].plot()


def frame_with(name: str) -> pl.DataFrame:
    rows = [(str(q), m, "A" if (q + len(m)) % 3 else "B", "A") for q in range(6) for m in (name, "b")]
    return pl.DataFrame(rows, schema=["question", "model", "answer", "gold"], orient="row")
