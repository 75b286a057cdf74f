"""Processes that are killed or stopped: no orphan is left, a restart binds, and others go on."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from serve.test_command import server, write

from support.upstreams import ask


def family(pid: int) -> list[int]:
    """A process and all that came of it; the trackers of resources, which end by themselves, are none of it."""
    listed = subprocess.run(["ps", "-wweo", "pid,ppid,stat,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=3) for line in listed.splitlines()[1:]]
    alive = [(int(row[0]), int(row[1])) for row in rows if "Z" not in row[2] and "resource_tracker" not in row[3]]
    found = [pid]
    for parent in found:
        found += [child for child, of in alive if of == parent]
    return found


def gone(pids: list[int]) -> bool:
    return not any(Path(f"/proc/{pid}").exists() and "\nState:\tZ" not in status(pid) for pid in pids)


def status(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return "\nState:\tZ"


def within(seconds: float, found: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not found():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def answers(port: int, timeout: float = 30.0) -> bool:
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    try:
        return httpx.post(url, json=ask(), timeout=timeout, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


@contextmanager
def workers(base_url: str, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int, list[int]]]:
    """Two processes that serve, and all processes of the server."""
    with server(write(tmp_path / "pool.json", base_url), "--workers", "2") as (process, port):
        # Two workers, and what reads for them; a process must have begun before it can know whom to end with.
        assert within(120, lambda: len(family(process.pid)) >= 3 + 2 * min(2, os.cpu_count() or 1) and answers(port))
        time.sleep(3)
        yield process, port, family(process.pid)


@pytest.mark.parametrize("stopped", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_killed_supervisor_leaves_no_orphan_and_its_address_free(
    base_url: str, tmp_path: Path, stopped: bool
) -> None:
    with workers(base_url, tmp_path) as (process, port, everybody):
        if stopped:  # Who is stopped cannot look whether the parent is still there.
            for pid in everybody[1:]:
                os.kill(pid, signal.SIGSTOP)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
        assert within(5, lambda: gone(everybody)), [
            Path(f"/proc/{pid}/cmdline").read_text() for pid in everybody if not gone([pid])
        ]
    with server(str(tmp_path / "pool.json"), port=port) as (again, _):
        assert within(20, lambda: answers(port))
        assert again.poll() is None


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_dies_or_hangs_is_replaced(base_url: str, tmp_path: Path, how: signal.Signals) -> None:
    with workers(base_url, tmp_path) as (process, port, everybody):
        served = [pid for pid in everybody[1:] if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]
        os.kill(served[0], how)
        with ThreadPoolExecutor(8) as pool:
            assert any(pool.map(lambda _: answers(port, 20.0), range(8)))
        assert within(60, lambda: gone(served[:1]) and len(family(process.pid)) >= len(everybody))
        assert within(20, lambda: answers(port))


@pytest.mark.slow
def test_a_stopped_supervisor_stops_nobody_else(base_url: str, tmp_path: Path) -> None:
    with workers(base_url, tmp_path) as (process, port, _):
        process.send_signal(signal.SIGSTOP)
        assert all(answers(port) for _ in range(10))
        process.send_signal(signal.SIGCONT)
        process.terminate()
        assert process.wait(timeout=30) == 0
