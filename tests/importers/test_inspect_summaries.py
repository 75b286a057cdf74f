"""Summaries come one at a time, and are those that Inspect itself reads."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.importers import documents
from swaplaw.importers.documents import elements
from swaplaw.importers.inspect.logs import WHOLE, summaries

pytest.importorskip("inspect_ai", reason="Inspect is not installed: pip install 'swaplaw[inspect]'")

from inspect_ai import Task
from inspect_ai.log import EvalSampleSummary, read_eval_log_sample_summaries
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice

from support.inspect_runs import colours, run, scripted

pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    objects=st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), max_size=6),
    chunk=st.integers(1, 20),
    indent=st.none() | st.integers(0, 2),
    plain=st.booleans(),
)
def test_elements_are_those_of_the_array_however_it_is_cut(
    objects: list[dict[str, Any]], chunk: int, indent: int | None, plain: bool
) -> None:
    handle = io.BytesIO(json.dumps(objects, indent=indent, ensure_ascii=plain).encode("utf-8", "replace"))
    expected = json.loads(handle.getvalue())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "_CHUNK", chunk)
        assert list(elements(handle, "x")) == expected


@pytest.mark.parametrize("text", ["", "{}", "3", '[{"a": 1}', '[{"a": 1}, {"b"', '[{"a": 1} x]'])
def test_what_is_no_whole_array_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected a list|Expecting|delimiter|char"):
        list(elements(io.BytesIO(text.encode()), "summaries.json"))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    task = Task(dataset=colours(None, 6), solver=multiple_choice(), scorer=choice())
    model = scripted("steady", lambda prompt: "ANSWER: B")
    return Path(str(run(task, model, tmp_path_factory.mktemp("logs"), epochs=2).location))


def rewritten(log: Path, target: Path, change: Any) -> Path:
    """The same log with other summaries."""
    with zipfile.ZipFile(log) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name == WHOLE:
                change(new, json.loads(old.read(name)))
            else:
                new.writestr(name, old.read(name))
    return target


def inspects_own(log: Path) -> list[EvalSampleSummary]:
    """What Inspect reads, without the texts that are left out here."""
    found = read_eval_log_sample_summaries(str(log))
    for summary in found:
        summary.input = ""
        for score in (summary.scores or {}).values():
            score.explanation = None
    return found


def test_they_are_those_that_inspect_reads(log: Path) -> None:
    assert list(summaries(log)) == inspects_own(log)


def test_of_a_sample_run_again_the_last_counts(log: Path, tmp_path: Path) -> None:
    def twice(archive: zipfile.ZipFile, items: list[dict[str, Any]]) -> None:
        archive.writestr(WHOLE, json.dumps([{**items[2], "target": "old"}, *items]))

    again = rewritten(log, tmp_path / "again.eval", twice)
    found = list(summaries(again))
    assert found == list(summaries(log))
    assert sorted(found, key=repr) == sorted(inspects_own(again), key=repr)


def test_a_log_without_its_end_is_read_from_the_journal(log: Path, tmp_path: Path) -> None:
    cut = rewritten(log, tmp_path / "cut.eval", lambda archive, items: None)
    assert list(summaries(cut)) == inspects_own(cut)


# Not `ru_maxrss`: that begins with what the parent had.
IMPORT = """
import sys
import swaplaw as sl
found = sl.import_votes(sys.argv[1]).votes
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(found.counts["votes"].sum(), peak // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_a_large_log_is_not_held_in_memory(log: Path, tmp_path: Path) -> None:
    """15,000 summaries more would take about 135 MB more if all were there at once."""
    peaks: list[int] = []
    for size in (5_000, 20_000):

        def many(archive: zipfile.ZipFile, items: list[dict[str, Any]], size: int = size) -> None:
            padded = [{**items[0], "id": f"q{number}", "epoch": 1, "input": "why " * 200} for number in range(size)]
            archive.writestr(WHOLE, json.dumps(padded))

        large = rewritten(log, tmp_path / f"{size}.eval", many)
        done = subprocess.run([sys.executable, "-c", IMPORT, str(large)], capture_output=True, text=True, check=True)
        votes, peak = map(int, done.stdout.split())
        assert votes == size
        peaks.append(peak)
    assert peaks[1] < peaks[0] + 60
