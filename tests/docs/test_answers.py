"""Every piece of Python on the answers page runs, and its figures are what the votes say."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable

import polars as pl
import pytest

from swaplaw.answers.forms import canonicaliser

from support.commands import Finished
from support.data import real_votes
from support.pages import DOCS

PAGE = (DOCS / "answers.md").read_text()


def test_documented_python_runs() -> None:
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "docs/answers.md", "exec"), {})


def test_the_documented_commands_give_the_figures(
    swaplaw: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(DOCS.parent)
    [block] = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
    told = []
    for line in block.splitlines():
        done = swaplaw(*shlex.split(line)[1:], "--json")
        assert done.code == 0, done.err
        told.append(json.loads(done.out))
    for place, (models, pairs) in ((2, (told[0], told[2])), (3, (told[1], told[3]))):

        def cell(start: str, place: int = place) -> str:
            return next(line for line in PAGE.splitlines() if line.startswith(f"| {start}")).split("|")[place]

        best = max(models["models"], key=lambda model: model["plurality"])
        for kind, name in (("single", "accuracy of single votes"), ("plurality", "accuracy of the plurality")):
            shares = [100 * model[kind] for model in models["models"]]
            assert f"{min(shares):.1f}-{max(shares):.1f}%" in cell(name)
        assert f"{best['model']} ({100 * best['plurality']:.1f}%)" in cell("most accurate")
        lifts = [pair["lift"] for pair in pairs["pairs"]]
        assert f"{100 * sum(lifts) / len(lifts):+.2f} points" in cell("lift of a pair")
        assert f"{sum(lift > 0 for lift in lifts)} of {len(lifts)}" in cell("pairs that gain")
        assert f"{100 * max(lifts):+.1f} (" in cell("largest lift")


def test_the_figures_of_math500_are_those_of_the_votes() -> None:
    votes = pl.read_parquet(real_votes("best-of-infinity.parquet")).filter(pl.col("dataset") == "math500")
    spell = canonicaliser(["math"])
    counts = votes.group_by("question", "model", "answer", "gold").len()
    texts = pl.concat([counts["answer"], counts["gold"]]).drop_nulls().unique()
    spelt = dict(zip(texts, map(spell, texts), strict=True))
    for form, column in (("spelling", {text: text for text in texts}), ("mathematics", spelt)):
        written = counts.with_columns(pl.col("answer", "gold").replace_strict(column, default=None))
        right = written.group_by("model").agg(
            (pl.col("len") * (pl.col("answer") == pl.col("gold")).fill_null(value=False)).sum() / pl.col("len").sum()
        )
        shares = sorted(float(share) for share in right["len"])
        low, high = 100 * shares[0], 100 * shares[-1]
        row = next(line for line in PAGE.splitlines() if line.startswith("| accuracy of single votes"))
        place = 2 if form == "spelling" else 3
        assert f"{low:.1f}-{high:.1f}%" in row.split("|")[place]
        distinct = written.drop_nulls("answer").select("question", "answer").unique().height
        row = next(line for line in PAGE.splitlines() if line.startswith("| distinct answers"))
        assert f"{distinct:,}" in row.split("|")[place]
