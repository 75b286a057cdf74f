"""read_file and write_file see what the agent sees, and never the host through it."""

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspect_ai.util import OutputLimitExceededError

from swaplaw_forensic.sandbox.bwrap import BwrapSandbox
from swaplaw_forensic.sandbox.config import SandboxConfig
from swaplaw_forensic.sandbox.protections import ALL, STAGE, Protection

from testbed.sandboxes import needs_bwrap, run, small, without

pytestmark = needs_bwrap


@pytest.fixture
def host_directory() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(dir="/var/tmp"))
    path.chmod(0o777)
    (path / "gold").write_text("GOLD")
    (path / "gold").chmod(0o666)
    yield path
    shutil.rmtree(path)


def read(sandbox: BwrapSandbox, path: str) -> str:
    try:
        return asyncio.run(sandbox.read_file(path))
    except OSError as error:
        return type(error).__name__


def write(sandbox: BwrapSandbox, path: str) -> None:
    try:
        asyncio.run(sandbox.write_file(path, "AGENT"))
    except OSError:
        return


def ways(sandbox: BwrapSandbox, target: Path) -> list[str]:
    """Every trick to name a host file: links made by the agent, `..`, /proc."""
    run(sandbox, "ln", "-s", str(target), "link")
    run(sandbox, "ln", "-s", str(target.parent), "directory")
    run(sandbox, "ln", "-s", "../../../../../../.." + str(target), "relative")
    run(sandbox, "ln", "-s", "/proc/self/root", "root")
    dots = "../../../../../../.."
    named = ["link", f"directory/{target.name}", "relative", f"root{target}", f"{dots}{target}", str(target)]
    return [*named, f"/proc/1/root{target}", f"/evidence/..{target}", f"/tmp/../..{target}"]


@pytest.mark.parametrize("protections", [ALL, without(Protection.SYSTEM)], ids=["all", "without"])
def test_reading_the_host(protections: frozenset[Protection], host_directory: Path) -> None:
    sandbox = BwrapSandbox.opened(small(), protections)
    found = [read(sandbox, way) for way in ways(sandbox, host_directory / "gold")]
    sandbox.close()
    if protections is ALL:
        assert set(found) == {"FileNotFoundError"}
    else:
        assert found.count("GOLD") >= 6


@pytest.mark.parametrize("dropped", [(), (Protection.SYSTEM, Protection.READ_ONLY_SYSTEM)], ids=["all", "without"])
def test_writing_the_host(dropped: tuple[Protection, ...], host_directory: Path) -> None:
    sandbox = BwrapSandbox.opened(small(), without(*dropped))
    for way in ways(sandbox, host_directory / "gold"):
        write(sandbox, way)
    sandbox.close()
    assert (host_directory / "gold").read_text() == ("AGENT" if dropped else "GOLD")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can look into the sample's mounts from outside")
def test_a_host_side_open_would_follow_the_agents_link(host_directory: Path) -> None:
    """Why file access goes through the sandbox: the obvious way leads straight to the host's file."""
    sandbox = BwrapSandbox.opened(small())
    run(sandbox, "ln", "-s", str(host_directory / "gold"), "link")
    naive = Path(f"/proc/{sandbox._stage.holder}/root{STAGE}/work/link").read_text()
    ours = read(sandbox, "link")
    sandbox.close()
    assert naive == "GOLD"
    assert ours == "FileNotFoundError"


def test_special_files_neither_block_nor_flood() -> None:
    sandbox = BwrapSandbox.opened(small(wall_seconds=2))
    run(sandbox, "mkfifo", "pipe")
    with pytest.raises(TimeoutError):
        asyncio.run(sandbox.read_file("pipe"))
    with pytest.raises(OutputLimitExceededError):
        asyncio.run(sandbox.read_file("/dev/zero"))
    sandbox.close()


def test_full_and_too_large() -> None:
    sandbox = BwrapSandbox.opened(small())
    with pytest.raises(OSError, match="too large"):
        asyncio.run(sandbox.write_file("large", b"x" * (11 << 20)))
    run(sandbox, "rm", "large")
    asyncio.run(sandbox.write_file("half", b"x" * (9 << 20)))
    with pytest.raises(OSError, match="No space left"):
        asyncio.run(sandbox.write_file("other half", b"x" * (9 << 20)))
    sandbox.close()


@pytest.mark.parametrize("name", ["-n", "a\nb", " ", "ä/ü", "$(id)", "'; id; '", "deep/er/../file"])
def test_odd_names(name: str) -> None:
    sandbox = BwrapSandbox.opened(small())
    asyncio.run(sandbox.write_file(name, "content\r\n"))
    assert asyncio.run(sandbox.read_file(name)) == "content\r\n"
    sandbox.close()


def test_a_person_can_enter_and_is_held_as_an_agent_is(host_directory: Path) -> None:
    (host_directory / "note.txt").write_text("hello")
    config = SandboxConfig(evidence=str(host_directory), limits=small().limits)
    sandbox = BwrapSandbox.opened(config)
    try:
        run(sandbox, "sh", "-c", "echo mine > file")
        command = asyncio.run(sandbox.connection()).command
        said = "cat /evidence/note.txt file; id -u; ls /root; unshare -U true || echo refused; exit\n"
        done = subprocess.run(["sh", "-c", command], input=said, capture_output=True, text=True, timeout=60)
    finally:
        sandbox.close()
    assert "hello" in done.stdout
    assert "mine" in done.stdout
    assert "1000" in done.stdout
    assert "refused" in done.stdout
    (kept,) = re.findall(r"<(\S+)", command)
    assert not Path(kept).exists()
    with pytest.raises(ConnectionError, match="its sample has ended"):
        asyncio.run(sandbox.connection())
