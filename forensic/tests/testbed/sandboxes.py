"""Shared by the sandbox tests: small limits, running a program inside, finding what was left behind."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.util import ExecResult

from swaplaw_forensic.sandbox.apptainer import IMAGE_VARIABLE, ApptainerSandbox
from swaplaw_forensic.sandbox.bwrap import BwrapSandbox
from swaplaw_forensic.sandbox.config import MIB, Limits, SandboxConfig, SandboxError
from swaplaw_forensic.sandbox.environment import ForensicSandbox
from swaplaw_forensic.sandbox.protections import ALL, Protection

# Small, so that a protection that fails cannot harm the machine that runs the tests.
SMALL = Limits(
    wall_seconds=20,
    cpu_seconds=3,
    address_space=256 * MIB,
    memory=128 * MIB,
    disk=16 * MIB,
    files=500,
    file_size=10 * MIB,
    processes=40,
    output=MIB,
)


def why_no_bwrap() -> str | None:
    """Why the real sandbox cannot run here, or None."""
    if not sys.platform.startswith("linux"):
        return "the sandboxes are for Linux"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed: apt-get install bubblewrap"
    try:
        BwrapSandbox.opened().close()
    except SandboxError as error:
        return str(error)
    return None


def why_no_apptainer() -> str | None:
    """Why Apptainer cannot run here, or None."""
    if shutil.which("apptainer") is None or IMAGE_VARIABLE not in os.environ:
        return f"no apptainer, or no image in ${IMAGE_VARIABLE}: `python scripts/apptainer.py` arranges both"
    try:
        ApptainerSandbox.opened().close()
    except SandboxError as error:
        return str(error)
    return None


NO_BWRAP, NO_APPTAINER = why_no_bwrap(), why_no_apptainer()
needs_bwrap = pytest.mark.skipif(NO_BWRAP is not None, reason=str(NO_BWRAP))
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a sample a uid of its own")


def without(*dropped: Protection) -> Collection[Protection]:
    return ALL - set(dropped)


def run(sandbox: ForensicSandbox, *command: str, **options: Any) -> ExecResult[str]:
    """Run a command to its end."""
    return asyncio.run(sandbox.exec(list(command), **options))


def small(evidence: Path | None = None, kind: type[SandboxConfig] = SandboxConfig, **changes: Any) -> SandboxConfig:
    return kind(evidence=None if evidence is None else str(evidence), limits=SMALL.model_copy(update=changes))


def processes_named(marker: str) -> list[int]:
    """Host pids whose command line holds the marker, our own left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if marker.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def killed_soon(marker: str, seconds: float = 3) -> bool:
    """Whether every process with the marker goes away by itself; what does not is killed here."""
    deadline = time.monotonic() + seconds
    while processes_named(marker):
        if time.monotonic() > deadline:
            for pid in processes_named(marker):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return False
        time.sleep(0.05)
    return True
