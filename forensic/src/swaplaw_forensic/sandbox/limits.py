"""The bounds the kernel keeps for us: resource limits, a cgroup where we may have one, a memory watch otherwise.

Total disk is the size of the stage's tmpfs (see `stage`); wall time and output are kept by `supervise`.
"""

import contextlib
import os
import re
import resource
import secrets
import subprocess
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from swaplaw_forensic.sandbox.config import KIB, Limits
from swaplaw_forensic.sandbox.protections import Protection

# Of `smaps_rollup` and of `status`.
HELD = re.compile(r"^(?:Pss_Anon|Pss_Shmem|SwapPss|RssAnon|RssShmem|VmSwap):\s+(\d+) kB", re.MULTILINE)
PRLIMIT = "/usr/bin/prlimit"
# The first process of a PID namespace adopts orphans and is deaf to most signals: so a shell, not the command.
FIRST_PROCESS = ("/bin/sh", "-c", '"$@"; exit $?', "sandbox")


def limited(command: Sequence[str], limits: Limits, protections: Collection[Protection]) -> list[str]:
    """The command line, inside the sandbox, of its first process: under the resource limits, running `command`.

    Inside, because the kernel counts processes per user namespace there; the first process too, because an
    agent could write into its memory; and never above the hard limits that this process has itself, which
    only an administrator could raise.
    """
    wanted = [
        (Protection.CPU_TIME, "cpu", resource.RLIMIT_CPU, limits.cpu_seconds),
        (Protection.ADDRESS_SPACE, "as", resource.RLIMIT_AS, limits.address_space),
        (Protection.FILE_SIZE, "fsize", resource.RLIMIT_FSIZE, limits.file_size),
        (Protection.PROCESSES, "nproc", resource.RLIMIT_NPROC, limits.processes),
        (Protection.MEMORY, "nofile", resource.RLIMIT_NOFILE, limits.open_files),
        # 1 and not 0: at 0 the kernel would still start the host's crash handler, as root.
        (Protection.DISK, "core", resource.RLIMIT_CORE, 1),
    ]
    options = []
    for protection, option, number, value in wanted:
        if protection in protections:
            hard = resource.getrlimit(number)[1]
            options.append(f"--{option}={value if hard == resource.RLIM_INFINITY else min(value, hard)}")
    return [PRLIMIT, *options, "--", *FIRST_PROCESS, *command]


@dataclass(frozen=True)
class Cgroup:
    """A cgroup (v2) of one sample: memory and processes bounded by the kernel, and killed as one."""

    path: Path

    @classmethod
    def make(cls, limits: Limits) -> "Cgroup | None":
        """Make one where we are allowed to; None where cgroups v2 or the right to them are missing."""
        for parent in _delegated():
            path = parent / f"swaplaw-{secrets.token_hex(6)}"
            with contextlib.suppress(OSError, subprocess.CalledProcessError):
                path.mkdir()
                try:
                    # The stage's files count as memory of the sample here, so the bound is the sum.
                    (path / "memory.max").write_text(str(limits.memory + limits.disk))
                    (path / "pids.max").write_text(str(limits.processes + 16))
                    with contextlib.suppress(FileNotFoundError):
                        (path / "memory.swap.max").write_text("0")
                    # Joining needs more rights than making: try it, with a process that comes straight back.
                    subprocess.run([*cls(path).enter(), "true"], check=True, stderr=subprocess.DEVNULL)
                except (OSError, subprocess.CalledProcessError):
                    path.rmdir()
                    raise
                return cls(path)
        return None

    def enter(self) -> list[str]:
        """The start of a command line that runs the rest inside the cgroup."""
        return ["/bin/sh", "-c", 'echo 0 >"$0/cgroup.procs" && exec "$@"', str(self.path)]

    def close(self) -> None:
        """Kill what is left and remove it."""
        with contextlib.suppress(OSError):
            (self.path / "cgroup.kill").write_text("1")
        for _ in range(50):
            with contextlib.suppress(OSError):
                self.path.rmdir()
            if not self.path.exists():
                return
            time.sleep(0.02)


def _delegated() -> Iterator[Path]:
    """Our own cgroup and its parent, where they hand memory and pids on to their children."""
    mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    points = [Path(fields[4]) for fields in mounts if fields[fields.index("-") + 1] == "cgroup2"]
    own = [line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")]
    if not points or not own:
        return
    here = points[0] / own[0].lstrip("/")
    for directory in (here, here.parent):
        with contextlib.suppress(OSError):
            if {"memory", "pids"} <= set((directory / "cgroup.subtree_control").read_text().split()):
                yield directory


def cpu_in_use(pid: int) -> float:
    """Seconds of CPU that a process, its descendants and those that they waited for have used."""
    ticks = 0
    for process in family(pid):
        with contextlib.suppress(OSError):
            # The name, in brackets, may hold blanks.
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> Iterator[int]:
    """A process and its descendants. Orphans inside a PID namespace stay: its first process adopts them."""
    yield pid
    with contextlib.suppress(OSError):  # it may end while we look
        children = [(thread / "children").read_text().split() for thread in Path(f"/proc/{pid}/task").iterdir()]
        for child in chain.from_iterable(children):
            yield from family(int(child))


def memory_in_use(pid: int) -> int:
    """Bytes that a process and its descendants hold and that are no copy of a file, each shared page counted once."""
    found = 0
    for process in family(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # one that is ending counts as nothing
            try:
                text = Path(f"/proc/{process}/smaps_rollup").read_text()
            except PermissionError:
                # Counts shared pages once for each process: too much rather than too little.
                text = Path(f"/proc/{process}/status").read_text()
            found += sum(int(number) for number in HELD.findall(text)) * KIB
    return found
