"""What stands between an agent and the host, each part by name.

Every part of the sandbox asks for its protection by name. Users always get all of them (`ALL`): there is
no setting to lower the guard. The tests drop them one by one, to show that each attack then succeeds.
"""

import os
import re
import tomllib
from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from swaplaw_forensic.sandbox.config import EVIDENCE, HOME


class Protection(StrEnum):
    """The name of one protection."""

    NETWORK = "own network namespace: nothing but a loopback that is down"
    PROCESSES_HIDDEN = "own PID namespace of each call: no other process can be seen or signalled"
    SAMPLE_PROCESSES = "own PID namespace of the sample around them: all of it ends with the sample"
    IPC = "own IPC namespace"
    HOSTNAME = "own UTS namespace"
    USER = "own user namespace"
    OWN_UID = "a uid of its own for each sample, when the caller is root"
    CAPABILITIES = "no capability"
    SECCOMP = "system calls filtered"
    SYSTEM = "nothing of the host but a minimal system"
    READ_ONLY_SYSTEM = "that system and the root directory cannot be written"
    KERNEL_FILES = "files under /proc that tell about the machine are covered"
    PACKAGE_HIDDEN = "swaplaw itself, with its gold answers, is covered"
    EVIDENCE_READ_ONLY = "evidence cannot be written"
    ENVIRONMENT = "no variable of the host's environment"
    SESSION = "a terminal session of its own"
    DIES_WITH_CALLER = "the kernel ends the call when its caller ends"
    SURVIVORS_KILLED = "what is left of a call is killed before the call returns"
    WALL_TIME = "time of a call limited"
    CPU_TIME = "CPU time limited"
    ADDRESS_SPACE = "address space of a process limited"
    MEMORY = "memory of all processes limited"
    DISK = "written files limited in total"
    FILE_SIZE = "size of a file limited"
    PROCESSES = "number of processes limited"
    OUTPUT = "output of a call limited"


ALL = frozenset(Protection)

# Where a sample's private files lie in its own mount namespace (see `stage`).
STAGE = Path("/tmp")
# The sample's own directories, and where it sees them.
PRIVATE = (("work", HOME), ("tmp", "/tmp"), ("shm", "/dev/shm"))

# What of the host's system an agent sees.
SHOWN = ("/usr", "/lib", "/lib64", "/bin", "/sbin")
# A folder of an installed copy, and one inside it: in earlier versions the testbed was a part of swaplaw.
_COPIES = {"swaplaw_forensic": "sandbox", "swaplaw": "forensic"}
_PACKED = re.compile(r"swaplaw[-_].*\.(?:whl|tar\.gz|zip)|.*\.verdicts\.jsonl|gold\.toml")

_SYSTEM = tomllib.loads(Path(__file__).with_name("system.toml").read_text(encoding="utf-8"))
ETC, KERNEL_FILES, KERNEL_DIRECTORIES = (
    tuple(_SYSTEM[name].split()) for name in ("etc", "kernel_files", "kernel_directories")
)
ENVIRONMENT: dict[str, str] = _SYSTEM["environment"]


def bwrap_arguments(
    protections: Collection[Protection],
    *,
    evidence: bool,
    cwd: str,
    env: dict[str, str],
    seccomp_fd: int | None,
    hidden: Iterable[Path] = (),
) -> list[str]:
    """The options of one `bwrap` call, from the named protections."""
    has = protections.__contains__
    bind = "--ro-bind" if has(Protection.EVIDENCE_READ_ONLY) else "--bind"
    arguments = [
        *(["--unshare-user", "--uid", "1000", "--gid", "1000"] if has(Protection.USER) else []),
        *(["--unshare-pid", "--as-pid-1"] if has(Protection.PROCESSES_HIDDEN) else []),
        *(["--unshare-ipc"] if has(Protection.IPC) else []),
        *(["--unshare-uts", "--hostname", "sandbox"] if has(Protection.HOSTNAME) else []),
        *(["--unshare-net"] if has(Protection.NETWORK) else []),
        *(["--unshare-cgroup-try"] if has(Protection.PROCESSES_HIDDEN) else []),
        *(["--cap-drop", "ALL"] if has(Protection.CAPABILITIES) else ["--cap-add", "ALL"]),
        *(["--new-session"] if has(Protection.SESSION) else []),
        *(["--die-with-parent"] if has(Protection.DIES_WITH_CALLER) else []),
        *(["--clearenv"] if has(Protection.ENVIRONMENT) else []),
        *_system(protections, hidden),
        *(part for source, target in PRIVATE for part in ("--bind", str(STAGE / source), target)),
        *([bind, str(STAGE / "evidence"), EVIDENCE] if evidence else []),
        *(["--remount-ro", "/dev", "--remount-ro", "/"] if has(Protection.READ_ONLY_SYSTEM) else []),
        *["--chdir", cwd],
    ]
    for name, value in {**ENVIRONMENT, **env}.items():
        arguments += ["--setenv", name, value]
    if has(Protection.SECCOMP) and seccomp_fd is not None:
        arguments += ["--seccomp", str(seccomp_fd)]
    return arguments


def _system(protections: Collection[Protection], hidden: Iterable[Path]) -> list[str]:
    """/usr and what belongs to it, a few files of /etc, a fresh /proc and /dev; no /sys, /run, /var or homes."""
    bind = "--ro-bind" if Protection.READ_ONLY_SYSTEM in protections else "--bind"
    arguments: list[str] = []
    if Protection.SYSTEM in protections:
        arguments += [bind, "/usr", "/usr"]
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            path = Path("/") / name
            if path.is_symlink():
                arguments += ["--symlink", str(path.readlink()), str(path)]
            elif path.is_dir():
                arguments += [bind, str(path), str(path)]
        for name in ETC:
            arguments += [f"{bind}-try", f"/etc/{name}", f"/etc/{name}"]
        for name in ("passwd", "group", "hosts", "nsswitch.conf"):
            arguments += [bind, str(STAGE / "etc" / name), f"/etc/{name}"]
    else:
        for path in sorted(Path("/").iterdir()):
            if path.is_dir() and path.name not in ("dev", "evidence", "home", "proc", "tmp"):
                arguments += [bind, str(path), str(path)]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    if Protection.KERNEL_FILES in protections:
        for name in KERNEL_FILES:
            if os.path.lexists(f"/proc/{name}"):
                arguments += ["--ro-bind", "/dev/null", f"/proc/{name}"]
        for name in KERNEL_DIRECTORIES:
            if Path("/proc", name).is_dir():
                arguments += ["--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}"]
    if Protection.PACKAGE_HIDDEN in protections:
        for path in hidden:
            empty = ["--tmpfs", str(path), "--remount-ro", str(path)]
            arguments += ["--ro-bind", "/dev/null", str(path)] if path.is_file() else empty
    return arguments


PACKAGE = Path(__file__).parents[1]
"""Where this package lies: the gold answers are with it."""


def hidden_paths() -> tuple[Path, ...]:
    """Every place in the system that the sandbox shows where gold may lie.

    This package, other copies of it, challenge folders of users, and packed copies: all are covered.
    """
    package = PACKAGE.resolve()
    shown = [Path(root).resolve() for root in SHOWN]
    found = {package} if any(package.is_relative_to(root) for root in shown) else set()
    found |= _gold_in_system()
    return tuple(sorted(path for path in found if not any(other in path.parents for other in found)))


@lru_cache(maxsize=1)
def _gold_in_system() -> frozenset[Path]:
    """Look through the system once; a few hundred thousand names take about a second."""
    roots = dict.fromkeys(Path(root).resolve() for root in SHOWN)
    return frozenset(path for root in roots for path in gold_below(root))


def gold_below(root: Path) -> set[Path]:
    """Return the folders with challenges, the copies of this package and the kept verdicts below a folder."""
    found: set[Path] = set()
    for folder, folders, files in os.walk(root):
        place = Path(folder)
        if "challenge.toml" in files or _COPIES.get(place.name, "") in folders:
            found.add(place)
            folders.clear()
        found |= {place / name for name in files if _PACKED.fullmatch(name)}
    return found
