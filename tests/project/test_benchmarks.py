"""The suite that measures speed: what it writes, what it guards, and that every part of it runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from benchmarks import growth, guard, kernels, publish
from benchmarks.growth import Point
from benchmarks.harness import Row
from benchmarks.publish import TOPICS

import swaplaw as sl

from support.pages import ROOT

ROWS = [
    Row("steady work", 1.0, 30.0, "a loop", 20, memory=(5.0, 50.0), note="synthetic votes", guarded=True),
    Row("peak memory", 1000.0, 4096.0, "the limit", 1, "MB"),
    Row("slow work", 1.0, 0.5, "a bare product", 1),
]


def points(power: float = 1.0) -> list[Point]:
    """Growth that follows a power exactly."""
    return [
        Point(axis, size, step, 0.01 * size**power, 1.0)
        for axis in growth.DOUBLINGS
        for size in (1000, 2000, 4000)
        for step in growth.STEPS
    ]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=os.environ | environment, capture_output=True, text=True
    )


def test_table_holds_ratios_and_says_what_was_missed() -> None:
    first, memory, missed = publish.table(ROWS)[2:]
    assert "| 30 | 20 | 5 / 50 | synthetic votes |" in first
    assert "| 4.1 | 1 | 1,000 / 4,096 |" in memory
    assert "0.5 (missed)" in missed


def test_only_what_is_between_the_marks_is_written() -> None:
    page = "before\n<!-- table -->\nold\n<!-- /table -->\nafter\n"
    assert publish.between(page, "table", [r"new \1"]) == "before\n<!-- table -->\nnew \\1\n<!-- /table -->\nafter\n"
    with pytest.raises(SystemExit, match="no marks"):
        publish.between(page, "plan", [])


def test_publishing_writes_pages_figure_and_ratios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "speed.md").write_text((ROOT / "docs" / "speed.md").read_text())
    monkeypatch.setattr(publish, "PUBLISHED", tmp_path / "published.json")
    publish.write(tmp_path, publish.facts(), {"kernels": ROWS}, points())
    speed = (tmp_path / "speed.md").read_text()
    head = subprocess.run(["git", "rev-parse", "--short=10", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    assert f"commit `{head.strip()}" in speed
    assert "steady work" in speed
    assert (tmp_path / "images" / "growth.svg").read_text().startswith("<svg")
    told = json.loads((tmp_path / "published.json").read_text())
    assert told["guarded"] == ["steady work / a loop"]
    assert told["ratios"]["steady work / a loop"] == 30.0
    # Topics that are not measured again keep their rows, and the page says from which commit.
    other = Row("other work", 1.0, 2.0, "a peer", 1)
    publish.write(tmp_path, publish.facts() | {"commit": "another"}, {"commands": [other]}, [])
    assert "steady work" in (tmp_path / "speed.md").read_text()
    assert f"Rows of kernels: commit `{head.strip()}" in (tmp_path / "speed.md").read_text()
    assert len(json.loads((tmp_path / "published.json").read_text())["ratios"]) == len(ROWS) + 1


@pytest.mark.parametrize(("ratio", "code"), [(16.0, 0), (14.0, 1)])
def test_guard_fails_below_half(
    ratio: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    published = tmp_path / "published.json"
    published.write_text(json.dumps({"ratios": {ROWS[0].key: 30.0}, "guarded": [ROWS[0].key]}))
    monkeypatch.setattr(guard, "measured", lambda: iter([Row("steady work", 1.0, ratio, "a loop", 20)]))
    assert guard.main(published) == code
    assert ("FALL" in capsys.readouterr().out) == bool(code)


def test_guard_measures_again_before_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = tmp_path / "published.json"
    published.write_text(json.dumps({"ratios": {ROWS[0].key: 30.0}, "guarded": [ROWS[0].key]}))
    ratios = iter([3.0, 29.0])

    def measured() -> Iterator[Row]:
        yield Row("steady work", 1.0, next(ratios), "a loop", 20)

    monkeypatch.setattr(guard, "measured", measured)
    assert guard.main(published) == 0


def test_guard_fails_for_a_row_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = tmp_path / "published.json"
    published.write_text(json.dumps({"ratios": {ROWS[0].key: 30.0}, "guarded": [ROWS[0].key]}))
    monkeypatch.setattr(guard, "measured", lambda: iter([]))
    assert guard.main(published) == 1


def test_published_ratios_are_those_of_the_page() -> None:
    told = json.loads(publish.PUBLISHED.read_text())
    page = (ROOT / "docs" / "speed.md").read_text()
    assert told["guarded"]
    assert set(told["guarded"]) <= set(told["ratios"])
    assert f"commit `{told['commit']}`" in page
    for key, ratio in told["ratios"].items():
        name, _, against = key.rpartition(" / ")
        assert f"| {name} | {against} | {publish.number(ratio)}" in page


def test_what_people_wait_for_grows_with_questions_alone() -> None:
    found = [*points(), *(Point("questions", size, "recommend", size**1.05, 1.0) for size in (1000, 2000, 4000))]
    assert growth.exponents(found)["recommend"] == {"questions": 1.05}
    assert "| recommend |  | 1.05 |  |  |" in publish.growth_table(found)


def test_exponents_are_the_slopes() -> None:
    found = growth.exponents(points(1.5))
    assert {slope for slopes in found.values() for slope in slopes.values()} == {1.5}


def test_synthetic_fleets_are_what_they_say() -> None:
    tally = kernels.synthetic(4, 300, samples=7, options=5, seed=1)
    assert tally.samples == (7,) * 4
    for model in range(4):
        assert (tally.gold[model].sum() + tally.dense(model).sum()) == 7 * 300
    again = kernels.synthetic(4, 300, samples=7, options=5, seed=1)
    assert (again.gold == tally.gold).all()
    assert (again.positions == tally.positions).all()
    assert {scores.total > 0 for scores in tally.scores} == {True}


def test_screen_in_blocks_is_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.kernels import LAW

    module = sys.modules["swaplaw.evidence.quantities"]
    tally = kernels.synthetic(9, 500)
    whole = sl.screen(tally, LAW)
    pair = sl.pair(tally, tally.models[int(whole.primary[3])], tally.models[int(whole.secondary[3])])
    assert whole.rescue[3] == pytest.approx(float(pair.masses.rescue), abs=1e-15)
    for block, narrowest in ((9, 1), (100, 1), (5000, 10**9)):
        monkeypatch.setattr(module, "BLOCK", block)
        monkeypatch.setattr(module, "NARROWEST", narrowest)
        assert np.array_equal(sl.screen(tally, LAW).predicted, whole.predicted)


def test_votes_made_up_on_the_fly_become_counts() -> None:
    finished = run("-m", "benchmarks.billion", SWAPLAW_BENCH_VOTES="5000000")
    assert finished.returncode == 0, finished.stderr
    facts = json.loads(finished.stdout)
    assert facts["votes"] == 5_000_000
    assert 0 < facts["disk"] < 20


def documented() -> list[str]:
    page = (ROOT / "docs" / "speed.md").read_text()
    lines = [line for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
    return [line.split("#")[0].strip() for line in lines]


def test_unknown_topics_are_refused() -> None:
    finished = run("-m", "benchmarks", "nonsense")
    assert finished.returncode == 2
    assert all(topic in finished.stderr for topic in TOPICS)


@pytest.mark.slow
@pytest.mark.parametrize("line", documented())
def test_documented_command_runs(line: str, tmp_path: Path) -> None:
    program, *arguments = shlex.split(line)
    assert program == "python"
    own_output = {"--guard", "growth", "benchmarks.commands"} & set(arguments)
    finished = run(*arguments, *([] if own_output else ["-o", str(tmp_path / "results.json")]))
    assert "Traceback" not in finished.stderr
    if "benchmarks.commands" in arguments:
        assert all(json.loads(each)["code"] == 0 for each in finished.stdout.splitlines())
    else:
        assert "x (" in finished.stdout or "| models |" in finished.stdout


@pytest.mark.slow
def test_growth_is_measured_and_drawn(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from benchmarks import growth, publish; "
        "publish.draw(Path(sys.argv[1]), list(growth.measure()))"
    )
    finished = run("-c", code, str(tmp_path), SWAPLAW_GROWTH_SHRINK="50")
    assert finished.returncode == 0, finished.stderr
    assert (tmp_path / "images" / "growth.svg").exists()
