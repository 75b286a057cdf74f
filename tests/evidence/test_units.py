"""What is resampled is decided once: everything that has an interval takes a table's units alike."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import swaplaw as sl
from swaplaw.errors import StatisticalWarning
from swaplaw.evidence import resampling_units
from swaplaw.evidence.units import Units, unit_totals

from support.commands import Finished
from support.reports import sometimes, votes_of

MODELS = {"a": sometimes(3), "b": sometimes(4), "c": sometimes(5, 2)}


def clustered(name: Callable[[int], str | None]) -> sl.Votes:
    return votes_of(MODELS, questions=60, cluster=lambda question, model, sample: name(question))


def test_units_are_clusters_where_there_are_several() -> None:
    tally = clustered(lambda question: f"c{question % 3}").tally()
    found = resampling_units(tally)
    assert (found.kind, found.count) == ("cluster", 3)
    assert found.member.tolist() == [question % 3 for question in range(60)]
    singly = resampling_units(tally, "question")
    assert (singly.kind, singly.count) == ("question", 60)
    plain = votes_of(MODELS).tally()
    assert (resampling_units(plain).kind, resampling_units(plain).count) == ("question", 24)


def test_a_single_cluster_is_no_unit() -> None:
    tally = clustered(lambda _: "only").tally()
    with pytest.warns(StatisticalWarning, match=r"a single cluster \('only'\): questions are resampled instead"):
        assert (resampling_units(tally).kind, resampling_units(tally).count) == ("question", 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resampling_units(tally, "question")
    with pytest.raises(sl.InputError, match="single cluster"):
        resampling_units(tally, "cluster")


def test_what_is_no_unit_is_refused() -> None:
    plain = votes_of(MODELS).tally()
    with pytest.raises(sl.InputError, match="no column 'cluster'"):
        resampling_units(plain, "cluster")
    with pytest.raises(sl.InputError, match="by 'exam' is not a unit"):
        resampling_units(plain, "exam")  # type: ignore[arg-type]
    holed = replace(plain, clusters=("x", None, *["y"] * 22))  # type: ignore[arg-type]
    with pytest.raises(sl.InputError, match="question 'q001' has no cluster"):
        resampling_units(holed)
    assert resampling_units(holed, "question").count == 24


def test_units_of_some_questions_are_numbered_anew() -> None:
    found = Units(np.array([2, 0, 2, 1]), "cluster").among(np.array([True, False, True, True]))
    assert (found.member.tolist(), found.count, found.kind) == ([1, 1, 0], 2, "cluster")


@pytest.mark.parametrize("units", [2, 5, 40])
@pytest.mark.parametrize("sort", [True, False])
def test_totals_are_plain_sums(units: int, sort: bool) -> None:
    rng = np.random.default_rng(units)
    member = np.concatenate([np.arange(units), rng.integers(0, units, 40 - units)])
    member = np.sort(member) if sort else rng.permutation(member)
    rows = rng.integers(-2, 3, (6, 40)) / 2
    assert unit_totals(rows, member).tolist() == [[row[member == unit].sum() for unit in range(units)] for row in rows]


COMMANDS = (
    ("summary",),
    ("pairs",),
    ("curve", "--primary", "a", "--secondary", "b"),
    ("panel", "--size", "3", "--top", "1"),
    ("calibrate", "--replicates", "50", "-o", "{folder}/law.json"),
    ("predictors", "--replicates", "50"),
    ("front", "--primary", "a", "--secondary", "b", "--samples", "2"),
    ("recommend", "--repeats", "1"),
    ("report", "--replicates", "50", "--panel-work", "0", "-o", "{folder}/report.html"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_takes_a_constant_cluster_as_none(
    command: tuple[str, ...], tmp_path: Path, swaplaw: Callable[..., Finished]
) -> None:
    """Today's report and pairs took it; recommend and calibrate refused. Now all do, and say so."""
    found = []
    for name, cluster in (("constant", "only"), ("none", None)):
        file = tmp_path / f"{name}.parquet"
        clustered(lambda _, name=cluster: name).frame.collect().write_parquet(file)  # type: ignore[misc]
        options = [part.format(folder=tmp_path) for part in command[1:]]
        found.append(swaplaw(command[0], file, *options, "--json"))
    constant, none = found
    assert (constant.code, none.code) == (0, 0), constant.err + none.err
    documents = [_without_source(json.loads(each.out)) for each in found]
    assert documents[0] == documents[1]
    if command[0] not in ("curve", "panel"):  # Their JSON has no interval over questions alone.
        assert "single cluster" in constant.err + constant.out
    assert "single cluster" not in none.err


def _without_source(document: object) -> object:
    """A document without what names its votes: their file and their fingerprint."""
    if isinstance(document, dict):
        skipped = ("fingerprint", "provenance", "command", "file", "policy", "quality", "notes", "report", "bytes")
        return {key: _without_source(value) for key, value in document.items() if key not in skipped}
    if isinstance(document, list):
        return [_without_source(each) for each in document]
    return document
