"""The seccomp filter: system calls that forensics never needs and that kernels were broken through.

Everything not named is allowed, except calls newer than this table, which look to a program like an older
kernel (ENOSYS). No library is needed: the filter is a straight line of "is it this number? then return
that error" (linux/filter.h, linux/seccomp.h), the same bytes for both sandboxes.
"""

import errno
import platform
import struct
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from swaplaw_forensic.sandbox.config import SandboxError

# Numbers of each call on x86_64 and on aarch64; None: that machine never had it.
Numbers = tuple[int | None, int | None]

DENIED: dict[str, dict[str, list[int]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Condition:
    """Deny a call by one argument: when `argument & mask` is `value` (or, inverted, is not)."""

    name: str
    numbers: Numbers
    argument: int
    value: int
    mask: int = 0xFFFFFFFF
    inverted: bool = False
    error: int = errno.EPERM


# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET: each alone is refused.
CLONE_NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
AF_UNIX, TIOCSTI, TIOCLINUX = 1, 0x5412, 0x541C

CONDITIONS = (
    # Only Unix sockets: no Internet, packet, netlink, vsock, Bluetooth or kernel-crypto socket can exist.
    Condition("socket", (41, 198), 0, AF_UNIX, inverted=True, error=errno.EAFNOSUPPORT),
    Condition("socketpair", (53, 199), 0, AF_UNIX, inverted=True, error=errno.EAFNOSUPPORT),
    *(Condition("clone", (56, 220), 0, flag, mask=flag) for flag in CLONE_NAMESPACES),
    # Keystrokes forged into somebody else's terminal.
    Condition("ioctl", (16, 29), 1, TIOCSTI),
    Condition("ioctl", (16, 29), 1, TIOCLINUX),
)

# clone3 hides its flags behind a pointer that a filter cannot follow; libc falls back to clone.
UNKNOWN_TO_US: dict[str, Numbers] = {"clone3": (435, 435)}
LAST_KNOWN_CALL = 466  # removexattrat, Linux 6.13

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column above, AUDIT_ARCH

LOAD, JUMP_EQUAL, JUMP_GREATER, AND, RETURN = 0x20, 0x15, 0x25, 0x54, 0x06
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER_OFFSET, MACHINE_OFFSET = 0, 4


def bpf(machine: str | None = None) -> bytes:
    """The filter as an array of `struct sock_filter`: what `bwrap --seccomp` and the kernel read."""
    name = machine or platform.machine()
    if name not in MACHINES:
        raise SandboxError(
            f"the seccomp filter knows {' and '.join(MACHINES)}, not {name}: this machine cannot run the sandbox"
        )
    column, audit = MACHINES[name]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in _instructions(column, audit))


def _instructions(column: int, audit: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (code, jump if true, jump if false, operand); every test guards just the lines under it."""
    yield LOAD, 0, 0, MACHINE_OFFSET
    yield JUMP_EQUAL, 1, 0, audit
    yield RETURN, 0, 0, KILL  # a 32-bit call on a 64-bit machine has other numbers
    yield LOAD, 0, 0, NUMBER_OFFSET
    yield JUMP_GREATER, 0, 1, LAST_KNOWN_CALL  # x32 calls carry a high bit: they end here too
    yield RETURN, 0, 0, ERRNO | errno.ENOSYS
    for error, calls in ((errno.EPERM, denied_calls()), (errno.ENOSYS, UNKNOWN_TO_US)):
        for numbers in calls.values():
            number = numbers[column]
            if number is not None:
                yield JUMP_EQUAL, 0, 1, number
                yield RETURN, 0, 0, ERRNO | error
    for condition in CONDITIONS:
        number = condition.numbers[column]
        assert number is not None
        yield JUMP_EQUAL, 0, 5, number
        yield LOAD, 0, 0, 16 + 8 * condition.argument  # the low half: these arguments are 32 bits wide
        yield AND, 0, 0, condition.mask
        yield JUMP_EQUAL, int(condition.inverted), int(not condition.inverted), condition.value
        yield RETURN, 0, 0, ERRNO | condition.error
        yield LOAD, 0, 0, NUMBER_OFFSET
    yield RETURN, 0, 0, ALLOW


def denied_calls() -> dict[str, Numbers]:
    """Every call that is refused whatever its arguments."""
    return {
        name: (None if x86 < 0 else x86, None if arm < 0 else arm)
        for calls in DENIED.values()
        for name, (x86, arm) in calls.items()
    }
