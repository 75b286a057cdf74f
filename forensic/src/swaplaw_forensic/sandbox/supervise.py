"""One call, supervised to its end: time, output and memory bounded, and nothing left running.

A plain loop over file descriptors in a thread of its own, because everything must be in one hand: when the
call ends, is too slow, says too much or takes too much memory, the sandbox's processes are killed and
waited for before the caller hears of it.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from swaplaw_forensic.sandbox.config import KIB
from swaplaw_forensic.sandbox.limits import cpu_in_use, family, memory_in_use
from swaplaw_forensic.sandbox.protections import ALL, Protection

TICK = 0.05  # seconds between two looks at the memory; a look costs well under a millisecond
CHUNK = 64 * KIB
DRAIN_SECONDS = 2.0
KILL_SECONDS = 10.0


class Stopped(StrEnum):
    """Why a call was ended before its time."""

    TIME = "time"
    OUTPUT = "output"
    MEMORY = "memory"
    CPU = "cpu"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Bounds:
    """What one call may use."""

    seconds: float
    output: int
    memory: int | None
    cpu: float | None = None
    """Seconds that are left to the sample."""


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
    """One command line and its supervision; `run` blocks, `cancel` may come from another thread."""

    command: Sequence[str]
    bounds: Bounds
    input: bytes | None = None
    protections: Collection[Protection] = ALL
    pass_fds: Sequence[int] = ()
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _cpu: float = 0.0

    def cancel(self) -> None:
        """End the call soon; `run` returns once nothing of it is left."""
        self._cancelled.set()

    def run(self, started: Callable[[], None] = lambda: None) -> Outcome:
        """Run the command to its end. `started` is called once the process has its file descriptors."""
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
        started()
        for pipe in (process.stdout, process.stderr):
            # The agent is another user, who may open /dev/stdout and /dev/stderr as well.
            os.fchmod(pipe.fileno(), 0o666)  # type: ignore[union-attr]
        with process, _Streams(process, self.input) as streams:
            try:
                stopped = self._watch(process, streams)
            finally:
                if process.poll() is None and Protection.SURVIVORS_KILLED in self.protections:
                    _kill_descendants(process)
                process.kill()
                process.wait()
            streams.drain(self._output_limit())
        if stopped is None and streams.over(self._output_limit()):
            stopped = Stopped.OUTPUT
        return Outcome(
            _shell_status(process.returncode), streams.text("stdout"), streams.text("stderr"), stopped, self._cpu
        )

    def _watch(self, process: "subprocess.Popen[bytes]", streams: "_Streams") -> Stopped | None:
        """Move data until the process ends, or say why it must be ended."""
        deadline = time.monotonic() + self.bounds.seconds
        look = time.monotonic()
        while process.poll() is None:
            streams.move(TICK)
            now = time.monotonic()
            if self._cancelled.is_set():
                return Stopped.CANCELLED
            if streams.over(self._output_limit()):
                return Stopped.OUTPUT
            if now > deadline and Protection.WALL_TIME in self.protections:
                return Stopped.TIME
            if now > look:
                self._cpu = max(self._cpu, cpu_in_use(process.pid))
                if (
                    self.bounds.cpu is not None
                    and self._cpu > self.bounds.cpu
                    and Protection.CPU_TIME in self.protections
                ):
                    return Stopped.CPU
                watched = self.bounds.memory is not None and Protection.MEMORY in self.protections
                if watched and memory_in_use(process.pid) > (self.bounds.memory or 0):
                    return Stopped.MEMORY
                look = now + TICK
        return None

    def _output_limit(self) -> int | None:
        return self.bounds.output if Protection.OUTPUT in self.protections else None


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
        assert process.stdout is not None
        assert process.stderr is not None
        self._selector = selectors.DefaultSelector()
        self._said: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        self._sizes = {"stdout": 0, "stderr": 0}
        self._left = memoryview(given or b"")
        self._exit = os.pidfd_open(process.pid)
        self._selector.register(self._exit, selectors.EVENT_READ, "exit")
        for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, name)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE, "stdin")

    def __enter__(self) -> "_Streams":
        return self

    def __exit__(self, *_: object) -> None:
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
        self._said[name].append(data)
        self._sizes[name] += len(data)
        return not data

    def drain(self, limit: int | None) -> None:
        """Take what is still in the pipes of a process that has ended, for a short while at most."""
        self._selector.unregister(self._exit)
        deadline = time.monotonic() + DRAIN_SECONDS
        while not self.over(limit) and time.monotonic() < deadline:
            if not self.move(TICK):
                return

    def over(self, limit: int | None) -> bool:
        """Whether either output has passed the limit."""
        return limit is not None and max(self._sizes.values()) > limit

    def text(self, name: str) -> bytes:
        """What was said on `stdout` or `stderr`."""
        return b"".join(self._said[name])


def _shell_status(returncode: int) -> int:
    """Name death by a signal as shells do: 128 + signal."""
    return 128 - returncode if returncode < 0 else returncode
