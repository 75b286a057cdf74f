"""When a call ends, for whatever reason, nothing of it runs on; when a sample ends, nothing of it is left."""

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import anyio
import pytest
from inspect_ai.util import OutputLimitExceededError

from swaplaw_forensic.sandbox.apptainer import ApptainerSandbox
from swaplaw_forensic.sandbox.bwrap import BwrapSandbox
from swaplaw_forensic.sandbox.environment import ForensicSandbox
from swaplaw_forensic.sandbox.protections import ALL, Protection

from testbed.places import ROOT
from testbed.sandboxes import (
    NO_APPTAINER,
    killed_soon,
    needs_bwrap,
    needs_root,
    processes_named,
    run,
    small,
    without,
)

pytestmark = needs_bwrap

SLEEP = "/usr/bin/python3 -c 'import time; time.sleep(60)' "
DAEMON = f"(setsid {SLEEP}%s </dev/null >/dev/null 2>&1 &) ; sleep 0.3; echo started"
STUBBORN = "trap '' TERM INT HUP; (setsid " + SLEEP + "%s </dev/null >/dev/null 2>&1 &) ; sleep 60"
Ending = Callable[..., bool]


@pytest.fixture
def marker() -> Iterator[str]:
    name = f"swaplaw-test-{uuid.uuid4().hex}"
    yield name
    killed_soon(name, 0)


Provider = type[ForensicSandbox]


def daemon_is_gone(marker: str, protections: Collection[Protection] = ALL, provider: Provider = BwrapSandbox) -> bool:
    sandbox = provider.opened(small(kind=provider.config_type), protections)
    try:
        assert run(sandbox, "sh", "-c", DAEMON % marker).stdout == "started\n"
        # No waiting: it must be gone by the time the call has returned.
        return not processes_named(marker)
    finally:
        sandbox.close()


def timed_out_is_gone(
    marker: str, protections: Collection[Protection] = ALL, provider: Provider = BwrapSandbox
) -> bool:
    sandbox = provider.opened(small(kind=provider.config_type), protections)
    try:
        with pytest.raises(TimeoutError, match="longer than 1 seconds"):
            run(sandbox, "sh", "-c", STUBBORN % marker, timeout=1)
        return not processes_named(marker)
    finally:
        sandbox.close()


@pytest.mark.parametrize("ends", [daemon_is_gone, timed_out_is_gone])
@pytest.mark.parametrize("dropped", [(), (Protection.DIES_WITH_CALLER,)], ids=["all", "killed by us alone"])
def test_daemons_do_not_survive(ends: Ending, dropped: tuple[Protection, ...], marker: str) -> None:
    assert ends(marker, without(*dropped))


@pytest.mark.parametrize(
    ("ends", "dropped"),
    [
        # A call that ends by itself ends its namespace; only a call that is cut off needs to be killed.
        (daemon_is_gone, (Protection.PROCESSES_HIDDEN,)),
        (timed_out_is_gone, (Protection.PROCESSES_HIDDEN,)),
        (timed_out_is_gone, (Protection.DIES_WITH_CALLER, Protection.SURVIVORS_KILLED)),
    ],
)
def test_daemons_survive_without_protection(ends: Ending, dropped: tuple[Protection, ...], marker: str) -> None:
    assert not ends(marker, without(*dropped))


@pytest.mark.skipif(NO_APPTAINER is not None, reason=str(NO_APPTAINER))
@pytest.mark.parametrize("ends", [daemon_is_gone, timed_out_is_gone])
def test_daemons_do_not_survive_in_apptainer(ends: Ending, marker: str) -> None:
    assert ends(marker, ALL, ApptainerSandbox)


@pytest.mark.parametrize("dropped", [(), (Protection.SAMPLE_PROCESSES,)], ids=["all", "without"])
def test_nothing_outlives_the_sample(dropped: tuple[Protection, ...], marker: str) -> None:
    """Even a daemon that got out of its call's namespace ends with the sample."""
    sandbox = BwrapSandbox.opened(small(), without(Protection.PROCESSES_HIDDEN, *dropped))
    run(sandbox, "sh", "-c", DAEMON % marker)
    assert processes_named(marker)
    sandbox.close()
    assert bool(processes_named(marker)) == bool(dropped)


def test_kernel_alone_kills_soon(marker: str) -> None:
    timed_out_is_gone(marker, without(Protection.SURVIVORS_KILLED))
    assert killed_soon(marker)


IN_APPTAINER = pytest.param(
    *("ApptainerSandbox", (), True),
    marks=[pytest.mark.slow, pytest.mark.skipif(NO_APPTAINER is not None, reason=str(NO_APPTAINER))],
)


@pytest.mark.parametrize(
    ("provider", "dropped", "ends"),
    [
        ("BwrapSandbox", (), True),
        pytest.param("BwrapSandbox", (Protection.DIES_WITH_CALLER,), True, marks=pytest.mark.slow),
        ("BwrapSandbox", (Protection.DIES_WITH_CALLER, Protection.SAMPLE_PROCESSES), False),
        IN_APPTAINER,
    ],
)
def test_caller_killed(provider: str, dropped: tuple[Protection, ...], ends: bool, marker: str) -> None:
    """kill -9 on the evaluation itself: call and private files are gone; without the protection the call runs on."""
    script = (
        "import asyncio, sys; sys.path.insert(0, sys.argv[1])\n"
        "from testbed.sandboxes import *\n"
        f"config = small(kind={provider}.config_type)\n"
        f"sandbox = {provider}.opened(config, without(*map(Protection, {[str(drop) for drop in dropped]!r})))\n"
        "print(sandbox._stage.holder, flush=True)\n"
        f"run(sandbox, 'sh', '-c', {SLEEP + marker!r})\n"
    )
    caller = subprocess.Popen(
        [sys.executable, "-c", script, str(ROOT / "forensic" / "tests")], stdout=subprocess.PIPE, text=True
    )
    assert caller.stdout is not None
    holder = int(caller.stdout.readline())
    deadline = time.monotonic() + 10
    while not processes_named(marker + "\0")[1:] and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    caller.kill()
    caller.wait()
    caller.stdout.close()
    assert killed_soon(marker, 4) == ends
    deadline = time.monotonic() + 5
    while Path(f"/proc/{holder}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{holder}").exists()


def test_cancelled_sample_is_ended(marker: str) -> None:
    async def cancel() -> None:
        sandbox = BwrapSandbox.opened(small())
        with anyio.move_on_after(1):
            await sandbox.exec(["sh", "-c", STUBBORN % marker])
        await BwrapSandbox.sample_cleanup("task", None, {"default": sandbox}, interrupted=True)

    asyncio.run(cancel())
    assert not processes_named(marker)


def test_endless_output_is_stopped() -> None:
    sandbox = BwrapSandbox.opened(small())
    with pytest.raises(OutputLimitExceededError, match="1 MiB") as caught:
        run(sandbox, "yes")
    sandbox.close()
    assert caught.value.truncated_output is not None
    assert len(caught.value.truncated_output) == 1024**2


def test_output_flows_without_its_limit() -> None:
    sandbox = BwrapSandbox.opened(small(), without(Protection.OUTPUT))
    result = run(sandbox, "sh", "-c", "yes | head -c 3000000")
    sandbox.close()
    assert len(result.stdout) == 3_000_000


def test_wall_time_holds_whatever_the_call_asks_for() -> None:
    for protections, escapes in ((ALL, False), (without(Protection.WALL_TIME), True)):
        sandbox = BwrapSandbox.opened(small(wall_seconds=1), protections)
        if escapes:
            assert run(sandbox, "sleep", "2", timeout=60).success
        else:
            with pytest.raises(TimeoutError):
                run(sandbox, "sleep", "2", timeout=60)
        sandbox.close()


def test_real_fork_bomb(marker: str) -> None:
    sandbox = BwrapSandbox.opened(small())
    with pytest.raises(TimeoutError):
        run(sandbox, "bash", "-c", f"b() {{ b | b & }}; b; sleep 60 # {marker}", timeout=2)
    assert not processes_named(marker)
    assert run(sandbox, "echo", "well").stdout == "well\n"
    sandbox.close()


def test_memory_hog_is_told_why() -> None:
    sandbox = BwrapSandbox.opened(small(address_space=2**40))
    result = run(sandbox, "/usr/bin/python3", "-c", "import time; x = bytearray(b'x') * (200 << 20); time.sleep(9)")
    sandbox.close()
    assert result.returncode == 137
    assert "passed 128 MiB" in result.stderr


@needs_root
def test_signals_reach_no_host_process() -> None:
    """The victim has the very uid of the sample: only the PID namespace stands between."""
    hiding = (Protection.PROCESSES_HIDDEN, Protection.SAMPLE_PROCESSES)
    for dropped, escapes in (((), False), (hiding[:1], False), (hiding[1:], False), (hiding, True)):
        sandbox = BwrapSandbox.opened(small(), without(*dropped))
        uid = str(sandbox._stage.uid)
        victim = subprocess.Popen(["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "sleep", "60"])
        time.sleep(0.3)
        run(sandbox, "sh", "-c", f"kill -9 -- -1 {victim.pid} || kill -9 {victim.pid}")
        time.sleep(0.1)
        assert (victim.poll() == -signal.SIGKILL) == escapes
        victim.kill()
        victim.wait()
        sandbox.close()


def test_work_persists_between_calls_and_vanishes_with_the_sample() -> None:
    sandbox = BwrapSandbox.opened(small())
    run(sandbox, "sh", "-c", "echo kept | tee note /tmp/note /dev/shm/note")
    assert run(sandbox, "sh", "-c", "cat note /tmp/note /dev/shm/note").stdout == "kept\n" * 3
    holder = Path(f"/proc/{sandbox._stage.holder}")
    assert holder.exists()
    sandbox.close()
    assert not holder.exists()
    fresh = BwrapSandbox.opened(small())
    assert run(fresh, "ls", "-A", "/home/agent", "/tmp", "/dev/shm").stdout.split() == [
        "/dev/shm:",
        "/home/agent:",
        "/tmp:",
    ]
    fresh.close()


SPYING = frozenset(
    {
        Protection.PROCESSES_HIDDEN,
        Protection.SAMPLE_PROCESSES,
        Protection.USER,
        Protection.OWN_UID,
        Protection.CAPABILITIES,
    }
)


@needs_root
@pytest.mark.parametrize("kept", [SPYING, *({guard} for guard in sorted(SPYING)), set()], ids=lambda kept: len(kept))
def test_other_samples_work(kept: set[Protection]) -> None:
    """One sample at work, another that looks for its files through every process it can see."""
    theirs = BwrapSandbox.opened(small())
    spy = BwrapSandbox.opened(small(), ALL - (SPYING - kept))
    run(theirs, "sh", "-c", "echo SECRET | tee /home/agent/secret /tmp/secret")
    look = (
        "import glob\n"
        "for pattern in '/home/agent/*', '/tmp/*', '/proc/[0-9]*/root/home/agent/*', '/proc/[0-9]*/cwd/secret':\n"
        "    for path in glob.glob(pattern):\n"
        "        try: print(open(path).read())\n"
        "        except OSError: pass\n"
    )

    async def together() -> str:
        found = ""
        async with anyio.create_task_group() as group:
            group.start_soon(theirs.exec, ["sleep", "10"])
            await anyio.sleep(0.3)
            found = (await spy.exec(["/usr/bin/python3", "-c", look])).stdout
            group.cancel_scope.cancel()
        return found

    found = asyncio.run(together())
    theirs.close()
    spy.close()
    assert ("SECRET" in found) == (not kept)


def test_uids_differ() -> None:
    first, second = BwrapSandbox.opened(small()), BwrapSandbox.opened(small())
    assert os.geteuid() != 0 or first._stage.uid != second._stage.uid
    first.close()
    second.close()
