"""The filter: what a kernel would decide with it, its numbers, and the kernel itself deciding."""

import errno
import json
import re
import struct
from pathlib import Path

import pytest

from swaplaw_forensic.sandbox.bwrap import BwrapSandbox
from swaplaw_forensic.sandbox.config import SandboxError
from swaplaw_forensic.sandbox.protections import ALL, Protection
from swaplaw_forensic.sandbox.seccomp import (
    ALLOW,
    CONDITIONS,
    ERRNO,
    KILL,
    MACHINES,
    UNKNOWN_TO_US,
    bpf,
    denied_calls,
)

from testbed.sandboxes import needs_bwrap, run, small, without


def decide(machine: str, number: int, arguments: tuple[int, ...] = (), audit: int | None = None) -> int:
    """A plain interpreter of classic BPF: what the kernel does with the filter for one call."""
    data = struct.pack("<IIQ6Q", number, audit or MACHINES[machine][1], 0, *(arguments + (0,) * 6)[:6])
    code = list(struct.iter_unpack("<HBBI", bpf(machine)))
    accumulator, line = 0, 0
    while True:
        operation, true, false, operand = code[line]
        line += 1
        match operation:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, operand)
            case 0x54:
                accumulator &= operand
            case 0x15:
                line += true if accumulator == operand else false
            case 0x25:
                line += true if accumulator > operand else false
            case 0x06:
                return int(operand)
            case _:
                raise AssertionError(f"operation {operation:#x} is none of ours")


@pytest.mark.parametrize("machine", MACHINES)
def test_denied(machine: str) -> None:
    column = MACHINES[machine][0]
    for name, numbers in denied_calls().items():
        number = numbers[column]
        if number is not None:
            assert decide(machine, number) == ERRNO | errno.EPERM, name
    assert decide(machine, 435) == ERRNO | errno.ENOSYS  # clone3
    assert decide(machine, 467) == ERRNO | errno.ENOSYS  # newer than the table
    assert decide(machine, 0x40000000) == ERRNO | errno.ENOSYS  # x32


@pytest.mark.parametrize("machine", MACHINES)
def test_everything_else_is_allowed(machine: str) -> None:
    column = MACHINES[machine][0]
    special = {numbers[column] for numbers in (*denied_calls().values(), *UNKNOWN_TO_US.values())}
    special |= {condition.numbers[column] for condition in CONDITIONS}
    for number in range(467):
        if number not in special:
            assert decide(machine, number) == ALLOW, number


@pytest.mark.parametrize("machine", MACHINES)
def test_other_machine_is_killed(machine: str) -> None:
    assert decide(machine, 0, audit=0x40000003) == KILL  # i386: int 0x80


@pytest.mark.parametrize(
    ("name", "arguments", "decision"),
    [
        ("socket", (1, 1), ALLOW),
        *[("socket", (family, 3), ERRNO | errno.EAFNOSUPPORT) for family in (0, 2, 10, 16, 17, 31, 38, 40)],
        ("socket", (1 << 32 | 2, 1), ERRNO | errno.EAFNOSUPPORT),  # the kernel looks at the low half only
        ("socketpair", (1, 1), ALLOW),
        ("socketpair", (2, 1), ERRNO | errno.EAFNOSUPPORT),
        ("clone", (0x3D0F00,), ALLOW),  # what starts a thread
        ("clone", (0x1200011,), ALLOW),  # what forks
        ("clone", (0x10000011,), ERRNO | errno.EPERM),
        ("clone", (0x60020011,), ERRNO | errno.EPERM),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), ERRNO | errno.EPERM),
        ("ioctl", (0, 0xFF_0000_541C), ERRNO | errno.EPERM),
    ],
)
@pytest.mark.parametrize("machine", MACHINES)
def test_by_argument(machine: str, name: str, arguments: tuple[int, ...], decision: int) -> None:
    numbers = {condition.name: condition.numbers for condition in CONDITIONS}[name]
    number = numbers[MACHINES[machine][0]]
    assert number is not None
    assert decide(machine, number, arguments) == decision


HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_the_kernels(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip(f"no kernel header {HEADERS[machine]}: apt-get install linux-libc-dev")
    told = dict(re.findall(r"#define __NR_(\w+)\s+(\d+)", HEADERS[machine].read_text()))
    ours = {
        **denied_calls(),
        **UNKNOWN_TO_US,
        **{condition.name: condition.numbers for condition in CONDITIONS},
    }
    for name, numbers in ours.items():
        number = numbers[MACHINES[machine][0]]
        assert (number is None) == (name not in told), name
        if number is not None:
            assert int(told[name]) == number, name


def test_unknown_machine() -> None:
    with pytest.raises(SandboxError, match="knows x86_64 and aarch64, not riscv64"):
        bpf("riscv64")


# Each denied call, made with arguments that can do nothing (reboot, for one, wants its magic numbers).
CALL_THEM = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
found = {}
for name, number in json.loads(sys.argv[1]).items():
    ctypes.set_errno(0)
    libc.syscall(number, -1, -1, -1, -1, -1)
    found[name] = ctypes.get_errno()
print(json.dumps(found))
"""


@needs_bwrap
def test_the_kernel_denies_them() -> None:
    import platform

    column = MACHINES[platform.machine()][0]
    # Not vhangup, umount2 and the like: without the filter, calls without arguments would do their work.
    harmless = set(denied_calls()) - {"vhangup", "unshare", "kexec_load", "reboot"}
    calls = {name: numbers[column] for name, numbers in denied_calls().items() if numbers[column] is not None}

    def errors(protections: frozenset[Protection], names: set[str]) -> dict[str, int]:
        sandbox = BwrapSandbox.opened(small(), protections)
        wanted = json.dumps({name: number for name, number in calls.items() if name in names})
        result = run(sandbox, "/usr/bin/python3", "-c", CALL_THEM, wanted)
        sandbox.close()
        assert result.success, result.stderr
        found: dict[str, int] = json.loads(result.stdout)
        return found

    filtered = errors(ALL, set(calls))
    assert set(filtered.values()) == {errno.EPERM}
    assert len(filtered) == len(calls)
    unfiltered = errors(frozenset(without(Protection.SECCOMP)), harmless)
    reached = [name for name, error in unfiltered.items() if error != errno.EPERM]
    # Without the filter these reach the kernel, which finds fault with the arguments and not with the caller.
    assert {
        "keyctl",
        "userfaultfd",
        "io_uring_setup",
        "ptrace",
        "memfd_create",
        "shmget",
        "process_vm_readv",
    } <= set(reached)


@needs_bwrap
def test_threads_and_ordinary_tools_still_work() -> None:
    sandbox = BwrapSandbox.opened(small())
    threads = "import threading; t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()"
    assert run(sandbox, "/usr/bin/python3", "-c", threads).stdout == "thread\n"
    pipeline = "seq 3 | sort -r | tr '\\n' ' '; mktemp -d >/dev/null && ps ax | grep -c ps"
    assert run(sandbox, "bash", "-c", pipeline).stdout.startswith("3 2 1 ")
    sandbox.close()
