"""The providers as Inspect finds and uses them, the argv of both, and the sandbox of a plain user."""

import asyncio
import base64
import hashlib
import json
import os
import resource
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.event import InfoEvent
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import bash, python
from inspect_ai.util import SandboxEnvironmentSpec, SandboxUserUnsupportedError
from inspect_ai.util._sandbox.registry import registry_find_sandboxenv

from swaplaw_forensic.sandbox import limits, protections
from swaplaw_forensic.sandbox.apptainer import DEFINITION, LOAD_FILTER, ApptainerSandbox
from swaplaw_forensic.sandbox.bwrap import BwrapSandbox
from swaplaw_forensic.sandbox.config import ApptainerConfig, SandboxConfig
from swaplaw_forensic.sandbox.limits import FIRST_PROCESS, Cgroup, limited, memory_in_use
from swaplaw_forensic.sandbox.protections import Protection, bwrap_arguments, hidden_paths
from swaplaw_forensic.sandbox.seccomp import bpf

from testbed.places import ROOT
from testbed.sandboxes import NO_BWRAP, SMALL, needs_bwrap, needs_root, run, small, without


def test_inspect_finds_them_by_name() -> None:
    (found,) = (point for point in entry_points(group="inspect_ai") if point.name == "swaplaw")
    assert found.value == "swaplaw._inspect"
    script = (
        "from inspect_ai.util._sandbox.registry import registry_find_sandboxenv as find\n"
        "print(find('bwrap').__name__, find('apptainer').__name__)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout == "BwrapSandbox ApptainerSandbox\n", result.stderr
    assert registry_find_sandboxenv("bwrap") is BwrapSandbox


def test_swaplaw_alone_imports_no_inspect() -> None:
    script = "import sys, swaplaw, swaplaw_forensic, swaplaw_forensic.sandbox; print('inspect_ai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "False\n"


@needs_bwrap
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Inspect's own use of tenacity
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # and of anyio's streams
def test_an_evaluation(tmp_path: Path) -> None:
    """A scripted model uses Inspect's own bash and python tools through the real sandbox."""
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    (evidence / "note.txt").write_text("the rhino is in the library")
    (evidence / "gold.txt").write_text("GOLD")
    digest = hashlib.sha256(b"the rhino is in the library").hexdigest()

    def call(tool: str, **arguments: str) -> ModelOutput:
        output = ModelOutput.for_tool_call("mockllm/model", tool, arguments)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    done = ModelOutput.from_content("mockllm/model", "in the library")
    done.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = get_model(
        "mockllm/model",
        custom_outputs=[
            call(
                "bash",
                command="cat /evidence/note.txt; ls /evidence; echo kept >note; id -un; curl -s example.com",
            ),
            call("python", code="print(open('note').read().strip(), sum(range(5)))"),
            done,
        ],
    )
    task = Task(
        dataset=[Sample("Where?", target="library")],
        solver=[use_tools(bash(timeout=20), python(timeout=20)), generate()],
        scorer=includes(),
        sandbox=SandboxEnvironmentSpec(
            "bwrap", SandboxConfig(evidence=str(evidence), sha256={"note.txt": digest}, limits=SMALL)
        ),
    )
    (log,) = eval(task, model=model, log_dir=str(tmp_path / "logs"), display="none")
    assert log.status == "success", log.error
    log = read_eval_log(log.location)  # the configuration comes back from the file, too
    assert log.samples is not None
    said = [message.text for message in log.samples[0].messages if message.role == "tool"]
    assert "the rhino is in the library" in said[0]
    assert "GOLD" not in said[0]
    assert "gold.txt" not in said[0]
    assert "agent" in said[0]
    assert said[1].strip() == "kept 10"
    notes = [event for event in log.samples[0].events if isinstance(event, InfoEvent)]
    told = next(event.data for event in notes if event.source == "swaplaw sandbox")
    assert isinstance(told, dict)
    assert told["network"] == "none"
    assert told["evidence"] == "verified by SHA-256"
    assert "128 MiB" in str(told["memory"])


@needs_bwrap
def test_inside() -> None:
    sandbox = BwrapSandbox.opened(small())
    status = run(sandbox, "cat", "/proc/self/status").stdout
    for line in (
        "NoNewPrivs:\t1",
        "Seccomp:\t2",
        *(f"Cap{kind}:\t{0:016x}" for kind in ("Prm", "Eff", "Bnd", "Amb")),
    ):
        assert line in status
    assert run(sandbox, "sh", "-c", "ls /proc/self/fd | wc -l").stdout.strip() == "4"  # 0, 1, 2 and ls's own
    interfaces = run(sandbox, "tail", "-n", "+3", "/proc/net/dev").stdout
    assert [line.split(":")[0].strip() for line in interfaces.splitlines()] == ["lo"]
    environment = dict(line.split("=", 1) for line in run(sandbox, "env").stdout.splitlines())
    assert set(environment) == {"HOME", "LANG", "LOGNAME", "PATH", "PWD", "TMPDIR", "USER"}
    with pytest.raises(SandboxUserUnsupportedError):
        run(sandbox, "id", user="root")
    missing = run(sandbox, "no-such-program")
    assert (missing.success, missing.returncode) == (False, 127)
    nowhere = run(sandbox, "true", cwd="/no/such/directory")
    assert not nowhere.success
    sandbox.close()
    with pytest.raises(Exception, match="the sandbox is closed"):
        run(sandbox, "true")


def plain_environment() -> dict[str, str]:
    paths = [*sys.path, str(ROOT / "forensic" / "tests"), str(ROOT / "src"), str(ROOT / "forensic" / "src")]
    # Not our Python's own library: the interpreter that runs may be another one.
    packages = [path for path in paths if "site-packages" in path or "src" in path or "tests" in path]
    return {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(packages), "HOME": "/nonexistent"}


AS_PLAIN_USER = """
import json, os, asyncio
from testbed.attacks import ATTACKS, PRELUDE
from testbed.sandboxes import *
print("READY")
wanted = ("connect", "new user namespace", "fork bomb", "memory hogs together", "disk filler", "kernel settings")
found = {"uid": os.getuid()}
for attack in ATTACKS:
    if attack.name in wanted:
        for name, protections in (("", ALL), (" without", without(*attack.guards))):
            sandbox = BwrapSandbox.opened(small(), protections)
            result = run(sandbox, "/usr/bin/python3", "-c", PRELUDE + attack.program, env={"HOST": '{"tcp": 9}'})
            assert "ATTACKING" in result.stdout, result.stderr
            found[attack.name + name] = "ESCAPED" in result.stdout
            sandbox.close()
sandbox = BwrapSandbox.opened(small())
found["work"] = run(sandbox, "sh", "-c", "id -un; echo hello >file; cat file").stdout
found["force"] = sandbox.in_force()["user"]
print(json.dumps(found))
"""


@needs_bwrap
@needs_root
def test_plain_user() -> None:
    """Without root: the same bounds, by user namespaces alone."""
    for interpreter in (sys.executable, "/usr/bin/python3"):
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", interpreter, "-c", AS_PLAIN_USER]
        result = subprocess.run(command, env=plain_environment(), capture_output=True, text=True, cwd="/")
        if "READY" in result.stdout:
            break
    else:
        pytest.skip("no Python here that the user nobody may run with these packages")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["uid"] == 65534
    assert found["work"] == "agent\nhello\n"
    assert found["force"] == "the caller's uid, in a user namespace"
    for name in ("connect", "new user namespace", "fork bomb", "memory hogs together", "disk filler"):
        assert not found[name], name
    for name in ("new user namespace", "fork bomb", "memory hogs together", "disk filler"):
        assert found[f"{name} without"], name
    assert not found["kernel settings"]


# Command lines.


def test_bwrap_arguments() -> None:
    def arguments(*dropped: Protection) -> str:
        options = bwrap_arguments(without(*dropped), evidence=True, cwd="/x", env={"A": "b c"}, seccomp_fd=7, hidden=[])
        return " ".join(options)

    everything = arguments()
    for words, protection in {
        "--unshare-net": Protection.NETWORK,
        "--unshare-pid": Protection.PROCESSES_HIDDEN,
        "--unshare-ipc": Protection.IPC,
        "--unshare-uts": Protection.HOSTNAME,
        "--unshare-user --uid 1000 --gid 1000": Protection.USER,
        "--cap-drop ALL": Protection.CAPABILITIES,
        "--new-session": Protection.SESSION,
        "--die-with-parent": Protection.DIES_WITH_CALLER,
        "--clearenv": Protection.ENVIRONMENT,
        "--seccomp 7": Protection.SECCOMP,
        "--ro-bind /usr /usr": Protection.READ_ONLY_SYSTEM,
        "--remount-ro /dev --remount-ro / ": Protection.READ_ONLY_SYSTEM,
        "--ro-bind /tmp/evidence /evidence": Protection.EVIDENCE_READ_ONLY,
    }.items():
        assert words in everything
        assert words not in arguments(protection)
    for words in ("--unshare-cgroup-try", "--chdir /x", "--setenv A b c"):
        assert words in everything
    for place in ("/sys", "/run", "/var", "/root", "/home/root", "/etc/shadow", "/etc/resolv.conf"):
        assert f" {place} " not in everything + " "


def test_swaplaw_is_covered_where_the_system_would_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hidden_paths() == () or hidden_paths()[0].is_relative_to("/usr")
    monkeypatch.setattr(protections, "PACKAGE", Path("/usr/lib/python3/dist-packages/swaplaw"))
    assert hidden_paths() == (Path("/usr/lib/python3/dist-packages/swaplaw"),)


@pytest.fixture
def apptainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program by that name: enough to see the command line that would be run."""
    fake = tmp_path / "apptainer"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return tmp_path


IMAGE = "/usr/share"  # any directory that exists can stand for an unpacked image


def apptainer_command(directory: Path, *dropped: Protection) -> list[str]:
    config = ApptainerConfig(evidence=str(directory), image=IMAGE, limits=SMALL)
    sandbox = ApptainerSandbox(config, without(*dropped))
    return sandbox._command(["ls", "-l"], "/home/agent/sub", {"A": "b,c $d"}, None)


def test_apptainer_command(apptainer: Path) -> None:
    everything = apptainer_command(apptainer)
    line = " ".join(everything)
    for words, protection in {
        "--contain ": Protection.SYSTEM,
        "--no-mount bind-paths,hostfs,cwd,sys": Protection.SYSTEM,
        "--cleanenv": Protection.ENVIRONMENT,
        "/usr/bin/env -i ": Protection.ENVIRONMENT,
        "--net --network none": Protection.NETWORK,
        "--pid": Protection.PROCESSES_HIDDEN,
        "--ipc": Protection.IPC,
        "--uts --hostname sandbox": Protection.HOSTNAME,
        "--no-privs": Protection.CAPABILITIES,
        "--bind /tmp/evidence:/evidence:ro": Protection.EVIDENCE_READ_ONLY,
        f" {base64.b64encode(bpf()).decode()} /usr/bin/env": Protection.SECCOMP,
        f"--nproc={SMALL.processes} ": Protection.PROCESSES,
        f"--as={SMALL.address_space} ": Protection.ADDRESS_SPACE,
        f"--cpu={SMALL.cpu_seconds} ": Protection.CPU_TIME,
        f"--fsize={SMALL.file_size} ": Protection.FILE_SIZE,
    }.items():
        assert words in line, words
        assert words not in " ".join(apptainer_command(apptainer, protection)), words
    for words in (
        "--userns",
        "--no-init",
        "--no-eval",
        "--home /tmp/work:/home/agent",
        "--cwd /home/agent/sub",
    ):
        assert words in line
    assert "A=b,c $d" in everything
    assert everything.index(IMAGE) < everything.index(LOAD_FILTER)
    assert everything[-4:] == [*FIRST_PROCESS[-2:], "ls", "-l"]


def test_definition_has_what_the_sandbox_and_the_analyst_need() -> None:
    text = DEFINITION.read_text()
    for package in ("python3", "util-linux", "procps", "sleuthkit", "tshark", "foremost", "file", "xxd"):
        assert f" {package} " in text.replace("\n", " ").replace("\\", " ")
    assert "mkdir -p /home/agent /evidence" in text


@pytest.mark.skipif(NO_BWRAP is not None, reason=str(NO_BWRAP))
def test_the_filter_loader_of_apptainer_runs() -> None:
    """The program that loads the filter in the image, run here: after it, no Internet socket can be made."""
    program = base64.b64encode(bpf()).decode()
    attempt = "import socket; socket.socket()"
    command = ["/usr/bin/python3", "-I", "-S", "-c", LOAD_FILTER, program, "/usr/bin/python3", "-c", attempt]
    result = subprocess.run(command, capture_output=True, text=True)
    assert "Address family not supported" in result.stderr
    command[5] = ""
    assert subprocess.run(command, capture_output=True).returncode == 0


# Bounds.


def test_cgroup_bounds_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On plain files: what is written where; real cgroups are there on few machines that run tests."""
    monkeypatch.setattr(limits, "_delegated", lambda: iter([tmp_path]))
    cgroup = Cgroup.make(SMALL)
    assert cgroup is not None
    assert (cgroup.path / "memory.max").read_text() == str(SMALL.memory + SMALL.disk)
    assert (cgroup.path / "pids.max").read_text() == str(SMALL.processes + 16)
    joined = subprocess.run([*cgroup.enter(), "echo", "ran"], capture_output=True, text=True)
    assert joined.stdout == "ran\n"
    assert (cgroup.path / "cgroup.procs").read_text() == "0\n"


def test_cgroup_that_may_not_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_delegated", lambda: iter([tmp_path / "missing"]))
    assert Cgroup.make(SMALL) is None
    monkeypatch.setattr(limits, "_delegated", lambda: iter([]))
    assert Cgroup.make(SMALL) is None


def test_memory_is_counted_over_the_family() -> None:
    code = "import os, time; x = bytearray(b'x') * (20 << 20); os.fork(); os.fork(); print(flush=True); time.sleep(30)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    for _ in range(4):
        process.stdout.readline()
    held = memory_in_use(process.pid)
    os.killpg(process.pid, 9)
    process.wait()
    process.stdout.close()
    # Four processes share the 20 MiB: counted once, not four times.
    assert 20 << 20 < held < 60 << 20


def test_limits_never_exceed_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda number: (10, 10))
    assert "--nproc=10" in limited(["true"], SMALL, [Protection.PROCESSES])


@needs_bwrap
def test_calls_of_one_sample_wait_for_each_other() -> None:
    """So that each limit is a limit on the sample."""
    sandbox = BwrapSandbox.opened(small())

    async def both() -> None:
        script = "test ! -e busy || echo together; touch busy; sleep 0.5; rm busy"
        results = await asyncio.gather(*(sandbox.exec(["sh", "-c", script]) for _ in range(3)))
        assert [result.stdout for result in results] == ["", "", ""]

    asyncio.run(both())
    sandbox.close()
