"""Whatever fails while a command writes, its output is the old file or the new one, and what went wrong is one line."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support.commands import Finished, Run
from support.pages import ROOT

WIDE, UNLABELLED = (str(ROOT / "examples" / name) for name in ("wide.csv", "unlabelled.csv"))
LABELS = ["labels", UNLABELLED, "--weight", "2/3"]
COMMANDS: dict[str, list[str]] = {
    "policy.json": ["recommend", "demo", "--models", "gpt-4,mistral-large", "-o", "out/policy.json"],
    "law.json": ["calibrate", "demo", "-o", "out/law.json"],
    "votes.parquet": ["import", WIDE, "-o", "out/votes.parquet"],
    "votes.csv": ["import", WIDE, "-o", "out/votes.csv"],
    "labelled.parquet": [*LABELS, "--labels", "labels.csv", "-o", "out/labelled.parquet"],
    "page.html": ["report", WIDE, "-o", "out/page.html"],
    "figures": ["simulate", "--trials", "50", "-o", "out"],
    "reproduction": ["reproduce", WIDE, "-o", "out"],
}
"""Every command that writes over what is there, by what it writes."""
QUICK = [name for name in COMMANDS if name not in ("page.html", "figures", "reproduction")]
WALK = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS if name not in QUICK)]


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swaplaw: Run) -> Path:
    """The folder that commands write into."""
    monkeypatch.chdir(tmp_path)
    assert swaplaw(*LABELS, "--sheet", "labels.csv").code == 0
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def files(out: Path) -> dict[str, bytes]:
    return {str(file.relative_to(out)): file.read_bytes() for file in sorted(out.rglob("*")) if file.is_file()}


def prepared(out: Path, arguments: Sequence[str], swaplaw: Run) -> dict[str, bytes]:
    """What a command writes where nothing fails; something old then stands in its place."""
    assert swaplaw(*arguments).code == 0
    whole = files(out)
    for file in whole:
        (out / file).write_bytes(b"old")
    return whole


@pytest.mark.parametrize("name", WALK)
def test_what_fails_leaves_the_old_or_the_new(
    name: str, out: Path, swaplaw: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = COMMANDS[name]
    whole = prepared(out, arguments, swaplaw)

    def judge(done: Finished) -> None:
        assert done.code == 2
        assert "cannot be written" in done.err.splitlines()[-1]
        assert "Traceback" not in done.err
        found = files(out)
        assert found.keys() == whole.keys(), "a draft was left"
        assert b"old" in found.values()
        # Pages say when they were made, so the new ones need not be the same to the last byte.
        assert all(content == b"old" or len(content) > 0.9 * len(whole[file]) for file, content in found.items())

    for owner, step, code in ((os, "fsync", errno.EIO), (os, "fsync", errno.ENOSPC), (Path, "replace", errno.ENOSPC)):

        def fail(*_: Any, code: int = code) -> Any:
            raise OSError(code, os.strerror(code))

        with monkeypatch.context() as broken:
            broken.setattr(owner, step, fail)
            judge(swaplaw(*arguments))
    # As on a full disk: no file grows beyond some bytes, whoever writes it, engines included.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        done = swaplaw(*arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    judge(done)
    assert swaplaw(*arguments).code == 0
    assert b"old" not in files(out).values()


KILLED = """
import os, signal, sys
from pathlib import Path
from swaplaw.cli import main
left = int(sys.argv[1])
def counted(work):
    def wrapped(*arguments):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return work(*arguments)
    return wrapped
os.fsync, Path.replace, Path.chmod = counted(os.fsync), counted(Path.replace), counted(Path.chmod)
main(sys.argv[2:])
"""


@pytest.mark.parametrize(
    "name", ["law.json", *(pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS if name != "law.json")]
)
def test_a_kill_leaves_the_old_or_the_new(name: str, out: Path, swaplaw: Run) -> None:
    arguments = COMMANDS[name]
    whole = prepared(out, arguments, swaplaw)
    for step in range(
        1, 4
    ):  # Before it is on disk, before its permissions are set, before it takes the old one's place.
        done = subprocess.run([sys.executable, "-c", KILLED, str(step), *arguments], capture_output=True)
        found = {file: content for file, content in files(out).items() if not file.endswith(".part")}
        assert done.returncode == -signal.SIGKILL
        assert found.keys() == whole.keys()
        assert set(found.values()) == {b"old"}
    assert swaplaw(*arguments).code == 0
    assert b"old" not in files(out).values()
    assert not list(out.rglob("*.part"))
