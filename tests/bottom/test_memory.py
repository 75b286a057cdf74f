"""Work that would not fit into memory is refused in one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

import swaplaw as sl
from swaplaw import _parallel as memory


def test_what_does_not_fit_is_refused_with_its_size() -> None:
    free = memory.available_bytes()
    assert free is None or free > 10**7
    with pytest.raises(sl.InputError, match=r"a table would take about 1000000000.0 GB, and .* are free: ask for less"):
        memory.require_memory(1e18, "a table", "ask for less")


def test_pairs_whose_summands_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 100)
    with pytest.raises(sl.InputError, match="the sums of 36 pairs in 40 parts would take about"):
        sl.intervals(sl.demo_votes(), by="question")


def test_running_out_of_memory_is_one_line() -> None:
    code = (
        "import swaplaw.cli as cli\n"
        "def out(*a, **k): raise MemoryError('Unable to allocate 8 GiB')\n"
        "cli.swaplaw.main = out\n"
        "cli.main(['pairs', 'demo'])"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert finished.returncode == 1
    assert finished.stderr.startswith("swaplaw: there is not enough memory for this (Unable to allocate 8 GiB)")
    assert "Traceback" not in finished.stderr


def test_what_is_taken_of_a_limit_is_not_free() -> None:
    code = (
        "import resource, numpy as np\n"
        "from swaplaw._parallel import available_bytes\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "before = available_bytes()\n"
        "held = np.ones(1 << 30, dtype=np.uint8)\n"
        "print(before - available_bytes())"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(finished.stdout) >= 1 << 30
