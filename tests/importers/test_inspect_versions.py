"""Logs of several versions of Inspect, vote by vote."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import swaplaw as sl
from swaplaw.importers.inspect import logs
from swaplaw.importers.reading import import_votes

from support.data import DATA
from support.inspect_colours import GOLDS, VOTES

VERSIONS = ["0.3.240", "0.3.260", "0.3.285"]


def check(file: Path) -> None:
    frame = import_votes(file).votes.frame.sort("question", "sample").collect()
    assert frame["sample"].to_list() == [0, 1] * 4
    assert frame["answer"].to_list() == [vote for vote in VOTES for _ in range(2)]
    assert frame["gold"].to_list() == [gold for gold in GOLDS for _ in range(2)]
    assert frame["reason"].to_list() == [None if vote else "no_parse" for vote in VOTES for _ in range(2)]
    assert frame["correct"].to_list() == [
        vote == gold for vote, gold in zip(VOTES, GOLDS, strict=True) for _ in range(2)
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_logs_that_a_version_wrote(version: str) -> None:
    imported = import_votes(DATA / "inspect" / f"{version}.eval")
    assert imported.provenance["files"][0]["inspect"] == version
    check(DATA / "inspect" / f"{version}.eval")


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_logs_that_a_version_writes_now(version: str, tmp_path: Path) -> None:
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "-q", "--python", sys.executable, str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([*uv, "pip", "install", "-q", "--python", str(python), f"inspect-ai=={version}"], check=True)
    script = Path(__file__).parent.parent / "support" / "inspect_colours.py"
    subprocess.run([str(python), str(script), str(tmp_path / "logs")], check=True)
    [file] = (tmp_path / "logs").glob("*.eval")
    check(file)
    # And that version reads every log here: its own packages come first, the others are borrowed.
    source = Path(sl.__file__).parent.parent
    read = (
        f"import sys; sys.path.insert(0, {str(source)!r}); sys.path.append({sysconfig.get_path('purelib')!r})\n"
        "from swaplaw.importers.reading import import_votes\n"
        "for file in sys.argv[1:]:\n"
        "    print(import_votes(file).votes.frame.sort('question', 'sample').collect()['answer'].to_list())\n"
    )
    kept = [str(DATA / "inspect" / f"{each}.eval") for each in VERSIONS]
    done = subprocess.run([str(python), "-c", read, *kept], check=True, capture_output=True, text=True)
    assert done.stdout.split("\n")[:-1] == [str([vote for vote in VOTES for _ in range(2)])] * len(kept)


def test_an_inspect_that_is_too_old_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: "0.3.199")
    with pytest.raises(
        sl.InputError, match=r"Inspect 0\.3\.199 is installed, but reading logs needs 0\.3\.240 or newer"
    ):
        logs._check_version()
