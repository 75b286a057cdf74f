"""What Inspect sees: running commands, reading and writing files, the life of a sample.

Both providers share this; each says only how its command line is built (`_call`). Files go through the
sandbox like everything else: a file opened on the host's side would follow the links an agent has made.
"""

import errno
import math
import os
import posixpath
import re
import shlex
import threading
from abc import abstractmethod
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Literal, Self, overload

import anyio
import anyio.to_thread
from inspect_ai import util
from inspect_ai.log import transcript
from typing_extensions import override

from swaplaw.errors import quote
from swaplaw_forensic.sandbox.config import EVIDENCE, HOME, MIB, SandboxConfig, SandboxError, SandboxInputError, size
from swaplaw_forensic.sandbox.evidence import verify
from swaplaw_forensic.sandbox.limits import Cgroup
from swaplaw_forensic.sandbox.protections import ALL, Protection
from swaplaw_forensic.sandbox.stage import Stage, explain
from swaplaw_forensic.sandbox.supervise import Call, Outcome

WRITE = 'mkdir -p -- "${1%/*}/" && exec cat >"$1"'
# Where a person's shell opens the filter.
FILTER = 7
# What the sandbox's first process, a shell, says of a command that it may not run.
REFUSED = re.compile(r"sandbox: .*: Permission denied\n\Z")
# Errors that the C library names, and those by which Inspect expects some of them.
ERRORS = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EROFS, errno.EISDIR, errno.ENOSPC, errno.ENAMETOOLONG)
EXPECTED = {errno.ENOTDIR: errno.ENOENT, errno.EROFS: errno.EACCES}


class ForensicSandbox(util.SandboxEnvironment):
    """A sandbox of one sample. `protections` is for the tests: a user always has them all."""

    config_type: type[SandboxConfig] = SandboxConfig

    def __init__(self, config: SandboxConfig, protections: Collection[Protection] = ALL) -> None:
        super().__init__()
        self.config = config
        self.protections = protections
        self._stage = Stage(config, protections)
        self._cgroup: Cgroup | None = None
        self._one_at_a_time = threading.Lock()
        self._cpu_used = 0.0
        self._filter: int | None = None
        self._running: threading.Event | None = None

    # The life of a sample.

    @classmethod
    @override
    async def task_init(cls, task_name: str, config: util.SandboxEnvironmentConfigType | None) -> None:
        """Fail before any model is asked: missing programs, user namespaces off, evidence missing or altered."""
        environment = await anyio.to_thread.run_sync(cls.opened, config)
        await anyio.to_thread.run_sync(environment.close)

    @classmethod
    @override
    async def sample_init(
        cls, task_name: str, config: util.SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, util.SandboxEnvironment]:
        """Verify the evidence, then open a sandbox, and note in the log what is in force."""
        environment = await anyio.to_thread.run_sync(cls.opened, config)
        transcript().info({**environment.in_force()}, source="swaplaw sandbox")
        return {"default": environment}

    @classmethod
    @override
    async def sample_cleanup(
        cls,
        task_name: str,
        config: util.SandboxEnvironmentConfigType | None,
        environments: dict[str, util.SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """End what runs and forget every file of the sample."""
        with anyio.CancelScope(shield=True):
            for environment in environments.values():
                await anyio.to_thread.run_sync(environment.as_type(cls).close)

    @classmethod
    @override
    def config_deserialize(cls, config: dict[str, Any]) -> SandboxConfig:
        """Read the configuration back from a log."""
        return cls.config_type.model_validate(config)

    @classmethod
    @override
    def default_concurrency(cls) -> int | None:
        """As many samples at a time as there are processors, twice over: each call is a local process."""
        return 2 * (os.cpu_count() or 1)

    @classmethod
    def opened(cls, config: object = None, protections: Collection[Protection] = ALL) -> Self:
        """Open a sandbox that is known to work: evidence verified, first command run."""
        environment = cls(cls.config_type.of(config), protections)
        verify(environment.config)
        try:
            environment._open()
        except BaseException:
            environment.close()
            raise
        return environment

    def _open(self) -> None:
        if content := self._prepared():
            self._filter = os.memfd_create("swaplaw")
            os.write(self._filter, content)
        self._stage.open()
        if Protection.MEMORY in self.protections:
            self._cgroup = Cgroup.make(self.config.limits)
        unreadable = ["find", EVIDENCE, "!", "-readable", "-print", "-quit"]
        outcome = self._run(unreadable if self.config.evidence else ["true"])
        if outcome.stdout:
            name = quote(outcome.stdout.decode(errors="replace").strip())
            raise SandboxInputError(
                f"evidence {name} cannot be read by the sandbox's user: chmod -R a+rX {self.config.evidence}"
            )
        if outcome.returncode != 0:
            raise SandboxError(f"the sandbox does not start: {explain(outcome.stderr.decode(errors='replace'))}")

    def close(self) -> None:
        """End what runs, then remove the sample's files."""
        running = self._running
        if running is not None:
            running.set()
        with self._one_at_a_time:
            self._stage.close()
            if self._filter is not None:
                os.close(self._filter)
                self._filter = None
            if self._cgroup is not None:
                self._cgroup.close()

    def in_force(self) -> dict[str, str]:
        """What bounds this sample on this machine, in words for the log."""
        limits = self.config.limits
        memory = "cgroup v2, with the files" if self._cgroup else "watched: killed within a fraction of a second"
        own = "a uid of its own" if self._stage.uid else "the caller's uid, in a user namespace"
        return {
            "network": "none",
            "user": own,
            "evidence": "verified by SHA-256" if self.config.sha256 else "no manifest: not verified",
            "memory": f"{size(limits.memory)} ({memory})",
            "disk": f"{size(limits.disk)} (tmpfs)",
            "processes": str(limits.processes),
            "seconds per call": str(limits.wall_seconds),
            "CPU seconds": str(limits.total_cpu_seconds),
        }

    # What each provider adds.

    @abstractmethod
    def _prepared(self) -> bytes:
        """Raise when a program that the provider needs is missing; return the filter that it reads from a file."""

    @abstractmethod
    def _command(self, command: Sequence[str], cwd: str, env: dict[str, str], filter_fd: int | None) -> list[str]:
        """The command line, from inside the stage, that runs `command` in the sandbox."""

    # Commands.

    @override
    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> util.ExecResult[str]:
        """Run a command; a timeout is never retried, because a command may have done half its work."""
        if user not in (None, "agent", "1000"):
            raise util.SandboxUserUnsupportedError(f"the sandbox has one user, agent (1000), not {quote(user)}")
        limit = min(self.config.limits.output, util.SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE)
        seconds = min(timeout or math.inf, self.config.limits.wall_seconds)
        given = input.encode("utf-8", "replace") if isinstance(input, str) else input
        async with util.concurrency("subprocesses", os.cpu_count() or 1) if concurrency else nullcontext():
            outcome = await self._run_async(cmd, seconds, given=given, cwd=cwd, env=env, output=limit)
        stdout, stderr = (text.decode(errors="replace") for text in (outcome.stdout, outcome.stderr))
        if outcome.stopped == "output":
            raise util.OutputLimitExceededError(size(limit), (stdout + stderr)[:limit])
        if outcome.stopped == "memory":
            stderr += f"\nsandbox: killed, because all processes together passed {size(self.config.limits.memory)}\n"
        if outcome.stopped == "cpu":
            stderr += f"\nsandbox: killed, because all {self.config.limits.total_cpu_seconds} CPU seconds are used\n"
        if outcome.returncode == 126 and REFUSED.match(stderr):
            raise PermissionError(errno.EACCES, "Permission denied", cmd[0])
        return util.ExecResult(outcome.returncode == 0, outcome.returncode, stdout, stderr)

    @override
    async def connection(self, *, user: str | None = None) -> util.SandboxConnection:
        """Return a command that lets a person into this sample's sandbox, bounded and guarded as an agent is."""
        if user not in (None, "agent", "1000"):
            raise util.SandboxUserUnsupportedError(f"the sandbox has one user, agent (1000), not {quote(user)}")
        given, opened = (FILTER, f" {FILTER}</proc/{os.getpid()}/fd/{self._filter}") if self._filter else (None, "")
        try:
            words = self._entering(["/bin/bash", "-i"], HOME, {"TERM": "xterm"}, given)
        except SandboxError as error:
            # What Inspect takes for "not now": it asks again for the sandbox of an attempt that has failed.
            raise ConnectionError(str(error)) from None
        return util.SandboxConnection(type=type(self).__name__, command=f"env -i {shlex.join(words)}{opened}")

    @override
    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file from inside the sandbox, making the directories above it."""
        given = contents.encode("utf-8", "replace") if isinstance(contents, str) else contents
        command = ["/bin/sh", "-c", WRITE, "write_file", posixpath.join(HOME, file)]
        outcome = await self._run_async(command, self.config.limits.wall_seconds, given=given)
        _raise_for(outcome, file)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    @override
    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Read a file from inside the sandbox, up to Inspect's limit."""
        limit = util.SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        command = ["/bin/cat", "--", posixpath.join(HOME, file)]
        outcome = await self._run_async(command, self.config.limits.wall_seconds, output=limit)
        if outcome.stopped == "output":
            raise util.OutputLimitExceededError(util.SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        _raise_for(outcome, file)
        return outcome.stdout.decode() if text else outcome.stdout

    async def _run_async(self, command: Sequence[str], seconds: float, **how: Any) -> Outcome:
        """Run in a thread; when the sample is cancelled the thread still ends what it started."""
        cancelled = threading.Event()
        run = partial(self._run, command, seconds=seconds, cancelled=cancelled, **how)
        # No limit of threads but the number of samples: a long call must not hold up Inspect's own threads.
        threads = anyio.CapacityLimiter(math.inf)
        try:
            outcome = await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=threads)
        finally:
            cancelled.set()
        if outcome.stopped == "time":
            error = TimeoutError(f"the command took longer than {seconds:g} seconds")
            # Where Inspect looks for what was said until then.
            error.truncated_output = (outcome.stdout + outcome.stderr).decode(errors="replace")  # type: ignore[attr-defined]
            raise error
        return outcome

    def _run(
        self,
        command: Sequence[str],
        given: bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        output: int = MIB,
        seconds: float = 60,
        cancelled: threading.Event | None = None,
    ) -> Outcome:
        limits = self.config.limits
        with self._one_at_a_time:
            cancelled = self._running = cancelled or threading.Event()
            if self._filter is not None:
                os.lseek(self._filter, 0, os.SEEK_SET)
            call = Call(
                self._entering(command, posixpath.join(HOME, cwd) if cwd else HOME, env or {}, self._filter),
                cancelled,
                given,
                () if self._filter is None else (self._filter,),
                seconds=self._bound(Protection.WALL_TIME, seconds),
                output=self._bound(Protection.OUTPUT, output),
                memory=math.inf if self._cgroup else self._bound(Protection.MEMORY, limits.memory),
                cpu=self._bound(Protection.CPU_TIME, max(0.0, limits.total_cpu_seconds - self._cpu_used)),
                protections=self.protections,
            )
            try:
                outcome = call.run()
                self._cpu_used += outcome.cpu
                return outcome
            finally:
                self._running = None

    def _bound(self, protection: Protection, value: float) -> float:
        return value if protection in self.protections else math.inf

    def _entering(self, command: Sequence[str], cwd: str, env: dict[str, str], filter_fd: int | None) -> list[str]:
        cgroup = self._cgroup.enter() if self._cgroup else []
        return [*cgroup, *self._stage.enter(), *self._command(command, cwd, env, filter_fd)]


def _raise_for(outcome: Outcome, file: str) -> None:
    """Raise what Inspect expects when a file could not be read or written."""
    if outcome.returncode == 0:
        return
    said = outcome.stderr.decode(errors="replace").strip()
    for number in ERRORS:
        if said.endswith(os.strerror(number)):
            raise OSError(EXPECTED.get(number, number), os.strerror(number), file)
    if outcome.returncode == 128 + 25:  # SIGXFSZ
        raise OSError(errno.EFBIG, "file too large for the sandbox", file)
    raise OSError(errno.EIO, said or f"the sandbox ended with status {outcome.returncode}", file)
