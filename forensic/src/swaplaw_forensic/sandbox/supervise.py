"""One call, supervised to its end: time, output and memory bounded, and nothing left running.

A plain loop over file descriptors in a thread of its own, because everything must be in one hand: when the
call ends, is too slow, says too much or takes too much memory, the sandbox's processes are killed and
waited for before the caller hears of it.
"""

import contextlib
import math
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from swaplaw_forensic.sandbox.config import KIB
from swaplaw_forensic.sandbox.limits import cpu_in_use, family, memory_in_use
from swaplaw_forensic.sandbox.protections import Protection

TICK = 0.05  # seconds between two looks at the memory; a look costs well under a millisecond
CHUNK = 64 * KIB
Stopped = Literal["time", "output", "memory", "cpu", "cancelled"]
"""Why a call was ended before its time."""
DRAIN_SECONDS = 2.0
KILL_SECONDS = 10.0


@dataclass(frozen=True)
class Outcome:
    """How a call ended and what it said; `stopped` is None when it ended by itself."""

    returncode: int
    stdout: bytes
    stderr: bytes
    stopped: Stopped | None
    cpu: float = 0.0
    """Seconds of CPU that were seen in use."""


@dataclass
class Call:
    """One command line and what it may use; `run` blocks, until nothing of it is left."""

    command: Sequence[str]
    cancelled: threading.Event
    """Ends the call soon, set by another thread."""
    input: bytes | None
    pass_fds: Sequence[int]
    seconds: float
    output: float
    memory: float
    cpu: float
    """Seconds that are left to the sample."""
    protections: Collection[Protection]
    _cpu: float = 0.0

    def run(self) -> Outcome:
        """Run the command to its end."""
        process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL if self.input is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env={} if Protection.ENVIRONMENT in self.protections else None,
            pass_fds=self.pass_fds,
            start_new_session=True,
        )
        with process, contextlib.closing(_Streams(process, self.input)) as streams:
            try:
                stopped = self._watch(process, streams)
            finally:
                if process.poll() is None and Protection.SURVIVORS_KILLED in self.protections:
                    _kill_descendants(process)
                process.kill()
                process.wait()
            streams.drain(self.output)
        if stopped is None and streams.over(self.output):
            stopped = "output"
        # Death by a signal is named as shells do.
        status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        return Outcome(status, *streams.said(), stopped, self._cpu)

    def _watch(self, process: "subprocess.Popen[bytes]", streams: "_Streams") -> Stopped | None:
        """Move data until the process ends, or say why it must be ended."""
        deadline = time.monotonic() + self.seconds
        look = time.monotonic()
        while process.poll() is None:
            streams.move(TICK)
            now = time.monotonic()
            if self.cancelled.is_set():
                return "cancelled"
            if streams.over(self.output):
                return "output"
            if now > deadline:
                return "time"
            if now > look:
                self._cpu = max(self._cpu, cpu_in_use(process.pid))
                if self._cpu > self.cpu:
                    return "cpu"
                if self.memory < math.inf and memory_in_use(process.pid) > self.memory:
                    return "memory"
                look = now + TICK
        return None


def _kill_descendants(process: "subprocess.Popen[bytes]") -> None:
    """Kill what a process has started, and wait until it is gone.

    Among them is the first process of the call's PID namespace: with it the kernel ends all the others, also
    those that are hiding. The process itself stays until then, so that its family can be found.
    """
    deadline = time.monotonic() + KILL_SECONDS
    while (members := list(family(process.pid))[1:]) and time.monotonic() < deadline:
        for pid in members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


class _Streams:
    """The three pipes of a process, none of which may block the loop."""

    def __init__(self, process: "subprocess.Popen[bytes]", given: bytes | None) -> None:
        self._selector = selectors.DefaultSelector()
        self._said = {"stdout": bytearray(), "stderr": bytearray()}
        self._left = memoryview(given or b"")
        self._exit = os.pidfd_open(process.pid)
        self._selector.register(self._exit, selectors.EVENT_READ, "exit")
        pipes: tuple[tuple[str, Any], ...] = (("stdout", process.stdout), ("stderr", process.stderr))
        for name, pipe in pipes:
            # The agent is another user, who may open /dev/stdout and /dev/stderr as well.
            os.fchmod(pipe.fileno(), 0o666)
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, name)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE, "stdin")

    def close(self) -> None:
        """Forget the pipes."""
        self._selector.close()
        os.close(self._exit)

    def move(self, seconds: float) -> bool:
        """Wait that long at most for something to happen, and pass data on; False when all pipes are closed."""
        if not self._selector.get_map():
            return False
        for key, _ in self._selector.select(seconds):
            pipe = key.fileobj
            if key.data == "exit" or isinstance(pipe, int):
                continue
            done = self._write(pipe.fileno()) if key.data == "stdin" else self._read(pipe.fileno(), key.data)
            if done:
                self._selector.unregister(pipe)
                pipe.close()  # type: ignore[attr-defined]
        return True

    def _write(self, descriptor: int) -> bool:
        try:
            self._left = self._left[os.write(descriptor, self._left[:CHUNK]) :]
        except BlockingIOError:
            return False
        except OSError:  # the command does not want the rest
            return True
        return not self._left

    def _read(self, descriptor: int, name: str) -> bool:
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return False
        self._said[name] += data
        return not data

    def drain(self, limit: float) -> None:
        """Take what is still in the pipes of a process that has ended, for a short while at most."""
        self._selector.unregister(self._exit)
        deadline = time.monotonic() + DRAIN_SECONDS
        while not self.over(limit) and time.monotonic() < deadline:
            if not self.move(TICK):
                return

    def over(self, limit: float) -> bool:
        """Whether either output has passed the limit."""
        return max(map(len, self._said.values())) > limit

    def said(self) -> tuple[bytes, bytes]:
        """What was said on stdout and stderr."""
        return bytes(self._said["stdout"]), bytes(self._said["stderr"])
