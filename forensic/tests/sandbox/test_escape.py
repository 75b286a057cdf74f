"""Attacks from inside the real sandbox: all stopped, and each succeeding when its protection is taken away."""

import ctypes
import json
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from swaplaw_forensic.sandbox import bwrap
from swaplaw_forensic.sandbox.apptainer import ApptainerSandbox
from swaplaw_forensic.sandbox.bwrap import BwrapSandbox
from swaplaw_forensic.sandbox.environment import ForensicSandbox
from swaplaw_forensic.sandbox.protections import ALL, Protection

from testbed.attacks import ATTACKS, PRELUDE, Attack
from testbed.sandboxes import NO_APPTAINER, needs_bwrap, needs_root, run, small, without

pytestmark = [needs_bwrap, needs_root]

# A directory of the system that is shown; covered as swaplaw's own would be if it were installed there.
PACKAGE = Path("/usr/share/perl5")


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    """A host directory that anybody may read. Not under /tmp, which the sandbox covers in any case."""
    path = Path(tempfile.mkdtemp(dir="/var/tmp"))
    path.chmod(0o777)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def host(shared: Path) -> Iterator[dict[str, Any]]:
    """Real things on the host to reach for: listeners, a gold file, a process, shared memory."""
    marker = f"swaplaw-test-{uuid.uuid4().hex}"
    (shared / "gold.json").write_text("GOLD")
    libc = ctypes.CDLL(None)
    key = uuid.uuid4().int % 2**30
    segment = libc.shmget(key, 4096, 0o1666)
    victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", marker])
    listeners = [
        _greet(socket.create_server(("127.0.0.1", 0))),
        _greet(_unix("\0" + marker)),
        _greet(_unix(str(shared / "socket"))),
    ]
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", 0))
    threading.Thread(target=_echo, args=(datagrams,), daemon=True).start()
    (shared / "socket").chmod(0o777)
    yield {
        "tcp": listeners[0].getsockname()[1],
        "udp": datagrams.getsockname()[1],
        "abstract": marker,
        "socket": str(shared / "socket"),
        "gold": str(shared / "gold.json"),
        "home": str(Path.home()),
        "name": socket.gethostname(),
        "package": str(PACKAGE),
        "pid": victim.pid,
        "marker": marker,
        "shm": key,
        "clone": {"x86_64": 56, "aarch64": 220}[platform.machine()],
    }
    victim.kill()
    victim.wait()
    libc.shmctl(segment, 0, None)
    for listener in [*listeners, datagrams]:
        listener.close()


def _unix(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    return listener


def _greet(listener: socket.socket) -> socket.socket:
    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.sendall(b"host")

    threading.Thread(target=serve, daemon=True).start()
    return listener


def _echo(datagrams: socket.socket) -> None:
    while True:
        try:
            data, sender = datagrams.recvfrom(512)
        except OSError:
            return
        datagrams.sendto(data, sender)


@pytest.fixture
def evidence(shared: Path) -> Path:
    """Evidence that the host would let anybody write: only the sandbox protects it."""
    path = shared / "evidence"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    path.chmod(0o777)
    (path / "image.dd").write_bytes(b"evidence")
    (path / "image.dd").chmod(0o666)
    return path


def escapes(
    attack: Attack,
    host: dict[str, Any],
    evidence: Path,
    protections: Collection[Protection] = ALL,
    provider: type[ForensicSandbox] = BwrapSandbox,
) -> bool:
    """Run the attack in a fresh sandbox; whether it got through."""
    sandbox = provider.opened(small(evidence, provider.config_type), protections)
    try:
        result = run(sandbox, "/usr/bin/python3", "-c", PRELUDE + attack.program, env={"HOST": json.dumps(host)})
    finally:
        sandbox.close()
    assert result.stdout.startswith("ATTACKING"), result.stderr
    return "ESCAPED" in result.stdout


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAPLAW_TEST_SECRET", "host")
    monkeypatch.setattr(bwrap, "hidden_paths", lambda: (PACKAGE,))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_stopped(attack: Attack, host: dict[str, Any], evidence: Path) -> None:
    assert not escapes(attack, host, evidence)
    assert (evidence / "image.dd").read_bytes() == b"evidence"


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_succeeds_without_its_guards(attack: Attack, host: dict[str, Any], evidence: Path) -> None:
    assert escapes(attack, host, evidence, without(*attack.guards))


@pytest.mark.parametrize(
    ("attack", "guard"),
    [(attack, guard) for attack in ATTACKS if len(attack.guards) > 1 for guard in attack.guards],
    ids=lambda part: part.name,
)
def test_each_of_several_guards_is_enough(
    attack: Attack, guard: Protection, host: dict[str, Any], evidence: Path
) -> None:
    others = set(attack.guards) - {guard}
    assert not escapes(attack, host, evidence, without(*others))


def test_every_protection_is_attacked() -> None:
    """No protection without an attack that only it (or its fellows) can stop."""
    shown_in_test_sandbox_leftovers = {
        Protection.DIES_WITH_CALLER,
        Protection.SURVIVORS_KILLED,
        Protection.WALL_TIME,
        Protection.OUTPUT,
    }
    assert {guard for attack in ATTACKS for guard in attack.guards} | shown_in_test_sandbox_leftovers == ALL


# Apptainer shows its image's files instead of the host's, and keeps some things of its own.
NOT_IN_APPTAINER = {
    "gold inside the system": "the image holds no swaplaw",
    "host home and system files": "the image has such files of its own",
    "kernel files": "Apptainer cannot cover files under /proc",
    "real root": "Apptainer alone decides on the user namespace",
    "terminal session": "the caller already starts every call in a session of its own",
    "write outside the work directory": "/dev is a tmpfs that Apptainer itself bounds at 64 MB",
}


@pytest.mark.skipif(NO_APPTAINER is not None, reason=str(NO_APPTAINER))
@pytest.mark.parametrize(
    "attack",
    [attack for attack in ATTACKS if attack.name not in NOT_IN_APPTAINER],
    ids=lambda attack: attack.name,
)
def test_stopped_in_apptainer(attack: Attack, host: dict[str, Any], evidence: Path) -> None:
    assert not escapes(attack, host, evidence, provider=ApptainerSandbox)
    assert (evidence / "image.dd").read_bytes() == b"evidence"


# Even uncontained, Apptainer's root is the image: these find nothing with any one option taken away.
ALWAYS_SAFE_IN_APPTAINER = ("gold", "socket in a host directory")


@pytest.mark.slow
@pytest.mark.skipif(NO_APPTAINER is not None, reason=str(NO_APPTAINER))
@pytest.mark.parametrize(
    "attack",
    [attack for attack in ATTACKS if attack.name not in (*NOT_IN_APPTAINER, *ALWAYS_SAFE_IN_APPTAINER)],
    ids=lambda attack: attack.name,
)
def test_succeeds_in_apptainer_without_its_guards(attack: Attack, host: dict[str, Any], evidence: Path) -> None:
    assert escapes(attack, host, evidence, without(*attack.guards), ApptainerSandbox)
