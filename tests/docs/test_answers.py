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
    row = next(line for line in PAGE.splitlines() if line.startswith("| most accurate")).split("|")
    for line, cell in zip(block.splitlines(), row[2:4], strict=True):
        done = swaplaw(*shlex.split(line)[1:], "--json")
        assert done.code == 0, done.err
        best = max(json.loads(done.out)["models"], key=lambda model: model["plurality"])
        assert f"{best['model']} ({100 * best['plurality']:.1f}%)" in cell


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
