"""A sample's private files and processes: a sized tmpfs and a PID namespace that live as long as the sample.

A small holder process keeps both; every call enters them (`enter`) before the sandbox proper is built.
There /tmp is the stage: `work`, `tmp` and `shm` belong to the sample, `etc` and `evidence` are read-only.
The host sees none of it. The holder ends as soon as its standard input closes, so also when this process
is killed; with it end, by the kernel's hand, every file and every process of the sample.
"""

import os
import secrets
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from swaplaw.errors import quote
from swaplaw_forensic.sandbox.config import SandboxConfig, SandboxError
from swaplaw_forensic.sandbox.limits import family
from swaplaw_forensic.sandbox.protections import ALL, Protection

# Above every range that systemd lists for users, containers and services; below 2**31.
UID_BASE, UID_SPAN = 0x70000000, 2**28 - 1

SCRIPT = Path(__file__).with_suffix(".sh").read_text(encoding="utf-8")


@dataclass
class Stage:
    """The holder of one sample's namespaces, and the way in."""

    config: SandboxConfig
    protections: Collection[Protection] = ALL
    uid: int | None = None  # the sample's own, when we are root
    holder: int = 0
    _entry: list[str] = field(default_factory=list, repr=False)
    _unshare: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    def open(self) -> None:
        """Make the namespace and fill it."""
        privileged, own_processes = may_give_uids(), Protection.SAMPLE_PROCESSES in self.protections
        if privileged and Protection.OWN_UID in self.protections:
            self.uid = UID_BASE + secrets.randbelow(UID_SPAN)
        limits = self.config.limits
        user = [] if privileged else ["--user", "--map-root-user"]
        processes = ["--pid", "--fork", "--kill-child", "--mount-proc"] if own_processes else []
        self._unshare = subprocess.Popen(
            [
                program("unshare"),
                *(*user, *processes, "--mount", "--propagation", "private", "--"),
                *("/bin/sh", "-c", SCRIPT, "stage"),
                f"size={limits.disk},nr_inodes={limits.files}," if Protection.DISK in self.protections else "",
                str(self.uid or 0),
                "ro" if Protection.EVIDENCE_READ_ONLY in self.protections else "rw",
                self.config.evidence or "",
                *self.config.sha256,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": SYSTEM_PATH, "LC_ALL": "C"},
            start_new_session=True,
        )
        assert self._unshare.stdout is not None
        if self._unshare.stdout.readline() != b"ready\n":
            message = self.close()
            raise SandboxError(f"cannot make the sandbox's private mounts: {explain(message)}")
        # `unshare` waits outside; the holder proper is its child, the first process of the namespace.
        self.holder = list(family(self._unshare.pid))[1 if own_processes else 0]
        user = [] if privileged else ["--user", "--preserve-credentials"]
        processes = ["--pid"] if own_processes else []
        self._entry = [program("nsenter"), "--target", str(self.holder), *user, *processes, "--mount", "--"]
        if self.uid is not None:
            identity = ["--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups"]
            self._entry += [program("setpriv"), *identity, "--"]

    def close(self) -> str:
        """End the holder, and with it all the sample's processes and files. Return what it complained of."""
        if self._unshare is None:
            return ""
        _, complaint = self._unshare.communicate()
        self._unshare = None
        return complaint.decode(errors="replace").strip()

    def enter(self) -> list[str]:
        """The start of a command line that runs the rest of it on the stage, as the sample's uid."""
        if self._unshare is None:
            raise SandboxError("the sandbox is closed: its sample has ended")
        return self._entry


SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def program(name: str, package: str = "util-linux") -> str:
    """The absolute path of a program that the sandbox runs on the host, or a message that says what to install."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}")
    if found is None:
        raise SandboxError(f"the sandbox needs `{name}`, which is not installed: install the package {package}")
    return str(Path(found).absolute())


def may_give_uids() -> bool:
    """Whether we are a root that may mount and take any uid: not so in most containers, nor for plain users."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    mount_right = int(status["CapEff"], 16) >> 21 & 1  # CAP_SYS_ADMIN
    ranges = [[int(word) for word in line.split()] for line in Path("/proc/self/uid_map").read_text().splitlines()]
    known = any(first <= UID_BASE and first + count >= UID_BASE + UID_SPAN for first, _, count in ranges)
    return os.geteuid() == 0 and bool(mount_right) and known


def explain(complaint: str) -> str:
    """Add the usual cause and its cure to what a program said when namespaces could not be made."""
    said = quote(complaint.splitlines()[-1] if complaint else "no message", limit=300)
    words = ("unshare failed", "new namespace", "user namespace", "uid map", "Creating new namespace")
    if any(word in complaint for word in words):
        return (
            f"unprivileged user namespaces are off on this machine ({said}); an administrator turns them on with "
            "`sysctl user.max_user_namespaces=15000` (on Debian also kernel.unprivileged_userns_clone=1, "
            "on Ubuntu 24.04 kernel.apparmor_restrict_unprivileged_userns=0)"
        )
    return said
