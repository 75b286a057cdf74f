"""The public face: few names at the top, every public function documented, nothing hides a module."""

from __future__ import annotations

import html
import importlib
import inspect
import json
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

PACKAGES = ("answers", "decide", "evidence", "importers", "law", "panels", "paper", "predict", "report", "votes")


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


def sections(text: str) -> dict[str, list[str]]:
    """The numpydoc sections of a docstring: what stands unindented in each."""
    found: dict[str, list[str]] = {}
    lines = text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line and below == "-" * len(line):
            found[line] = []
        elif found and line and not line.startswith((" ", "---")):
            found[list(found)[-1]].append(line)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_are_documented(name: str) -> None:
    """Every parameter by its own name and in order, what is returned, and an example."""
    function = FUNCTIONS[name]
    found, signature = sections(inspect.getdoc(function) or ""), inspect.signature(function)
    named = [part.strip(" *") for line in found.get("Parameters", []) for part in line.split(":")[0].split(",")]
    assert named == list(signature.parameters)
    if signature.return_annotation not in ("None", None):
        assert "Returns" in found or "Yields" in found
    assert "Examples" in found


def test_no_exported_name_hides_a_module() -> None:
    for found in pkgutil.walk_packages(sl.__path__, "swaplaw."):
        if found.ispkg:
            package = importlib.import_module(found.name)
            for inside in pkgutil.iter_modules(package.__path__):
                held = getattr(package, inside.name, None)
                assert held is None or inspect.ismodule(held), f"{found.name}.{inside.name}"


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


def results() -> Iterator[Any]:
    votes, hostile = sl.demo_votes(), frame_with("<script>alert(1)</script>")
    tally, two = votes.tally(), ("gpt-4", "mistral-large")
    law = sl.calibrate(votes, replicates=100)
    recommended = sl.recommend(tally, models=two, repeats=1)
    yield from (sl.pair(votes, *two), sl.pair(votes, *two).at("2/3"), sl.curve(votes, *two))
    yield from (sl.panel(votes, two), sl.panel(votes, two).at([1, "1/2"]), sl.panels.certify(sl.panel(votes, two)))
    yield from (sl.panels.best_panels(votes, 2), sl.panels.fleet_optimum(votes, work=0))
    yield from (sl.compare(votes, two), sl.compare(hostile), sl.summary(votes)[0], sl.evidence.effective_votes(votes))
    yield sl.intervals(votes, quantities=["lift", "swap"])
    yield from (law, sl.screen(votes, law), sl.predictors(votes, law, replicates=100))
    yield sl.combine(votes, models=two, repeats=1)
    yield from (recommended, recommended.policy, sl.front(votes, models=two, repeats=1))
    yield from (sl.summary(votes), sl.pairs(votes), sl.pairs(votes, weight="2/3"))
    yield sl.decide.held_out_panel(sl.panel(votes, two), repeats=1)
    yield sl.paper.simulate(sl.paper.World(0.45), trials=100)


def test_results_turn_into_data_tables_and_pages() -> None:
    for result in results():
        json.dumps(result.to_dict(), allow_nan=False)
        assert result.to_frame().height >= 1
        assert "<table>" in result._repr_html_()
        assert "<script>" not in result._repr_html_()
        assert 20 < len(repr(result)) < 700, f"{type(result).__name__} says too little or too much about itself"
        assert "array(" not in repr(result)
        assert result._repr_html_().startswith(f"<p>{html.escape(repr(result))}</p>")


def test_what_has_a_picture_draws_it() -> None:
    votes = sl.demo_votes()
    two = ("gpt-4", "mistral-large")
    drawn = [sl.curve(votes, *two), sl.pairs(votes), sl.pairs(votes, weight="2/3"), sl.compare(votes)]
    drawn += [judge(votes, models=two, repeats=1) for judge in (sl.front, sl.recommend, sl.combine)]
    for each in drawn:
        assert each.plot().to_dict()
    with pytest.raises(sl.InputError, match="no picture of a Pair"):
        sl.pair(votes, "gpt-4", "mistral-large").plot()


def frame_with(name: str) -> pl.DataFrame:
    rows = [(str(q), m, "A" if (q + len(m)) % 3 else "B", "A") for q in range(6) for m in (name, "b")]
    return pl.DataFrame(rows, schema=["question", "model", "answer", "gold"], orient="row")
