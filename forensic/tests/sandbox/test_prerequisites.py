"""What is missing or wrong is said in one clear message: programs, namespaces, evidence, configuration."""

import asyncio
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from inspect_ai._util.error import PrerequisiteError

from swaplaw.errors import InputError, SwaplawError
from swaplaw_forensic.sandbox.apptainer import IMAGE_VARIABLE, ApptainerSandbox
from swaplaw_forensic.sandbox.bwrap import BwrapSandbox
from swaplaw_forensic.sandbox.config import ApptainerConfig, Limits, SandboxConfig
from swaplaw_forensic.sandbox.evidence import verify

from testbed.sandboxes import needs_bwrap, needs_root, run


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "image.dd").write_bytes(b"evidence")
    (tmp_path / "disk" / "image.dd").chmod(0o666)
    (tmp_path / "gold.json").write_text("GOLD")
    tmp_path.chmod(0o755)
    return tmp_path


DIGEST = hashlib.sha256(b"evidence").hexdigest()


@pytest.mark.parametrize(
    ("program", "provider", "words"),
    [
        ("bwrap", BwrapSandbox, "needs `bwrap`, which is not installed: install the package bubblewrap"),
        ("apptainer", ApptainerSandbox, "needs `apptainer`, which is not installed"),
        ("nsenter", BwrapSandbox, "install the package util-linux"),
    ],
)
@needs_bwrap
def test_missing_program(
    program: str, provider: type[BwrapSandbox], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, path: None if name == program else real(name, path=path))
    with pytest.raises(SwaplawError, match=words) as caught:
        asyncio.run(provider.task_init("task", None))
    # Inspect then shows the message and no traceback.
    assert isinstance(caught.value, PrerequisiteError)
    assert caught.value.message == str(caught.value)


def test_missing_image(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "apptainer"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv(IMAGE_VARIABLE, raising=False)
    with pytest.raises(InputError, match=r"set `image` or .*; build one with `apptainer build"):
        ApptainerSandbox.opened()
    with pytest.raises(InputError, match=r"no Apptainer image at '.*/none.sif': build it with"):
        ApptainerSandbox.opened(ApptainerConfig(image=str(tmp_path / "none.sif")))
    with tempfile.NamedTemporaryFile(dir="/tmp") as image, pytest.raises(InputError, match="lies under /tmp"):
        ApptainerSandbox.opened(ApptainerConfig(image=image.name))


@needs_bwrap
@needs_root
def test_user_namespaces_off() -> None:
    """A user namespace in which no other may be made is what a locked-down machine looks like."""
    script = (
        "from swaplaw_forensic.sandbox.bwrap import BwrapSandbox\n"
        "from swaplaw.errors import SwaplawError\n"
        "try: BwrapSandbox.opened()\n"
        "except SwaplawError as error: print(error)"
    )
    locked = 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$0" -c "$1"'
    result = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", locked, sys.executable, script],
        capture_output=True,
        text=True,
    )
    assert "unprivileged user namespaces are off on this machine" in result.stdout, result.stderr
    assert "sysctl user.max_user_namespaces" in result.stdout
    assert len(result.stdout.splitlines()) == 1


def test_altered_evidence(evidence: Path) -> None:
    config = SandboxConfig(evidence=str(evidence), sha256={"disk/image.dd": DIGEST})
    verify(config)
    (evidence / "disk" / "image.dd").write_bytes(b"evidencE")
    with pytest.raises(InputError, match=f"'disk/image.dd' is altered: its SHA-256 is .*, the manifest says '{DIGEST}"):
        verify(config)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["disk/none.dd"], "'disk/none.dd' is missing from"),
        (["../gold.json"], "a relative path inside the evidence directory"),
        (["/etc/passwd"], "a relative path inside the evidence directory"),
        (["link.dd"], "reached through a symbolic link"),
        (["linked/image.dd"], "reached through a symbolic link"),
        (["disk"], "is not a regular file"),
        (["pipe"], "is not a regular file"),
    ],
)
def test_evidence_that_cannot_be_trusted(evidence: Path, names: list[str], words: str) -> None:
    (evidence / "link.dd").symlink_to(evidence / "disk" / "image.dd")
    (evidence / "linked").symlink_to(evidence / "disk")
    os.mkfifo(evidence / "pipe")
    with pytest.raises(InputError, match=words):
        verify(SandboxConfig(evidence=str(evidence), sha256=dict.fromkeys(names, DIGEST)))


def test_no_evidence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no evidence directory at") as caught:
        asyncio.run(BwrapSandbox.task_init("task", SandboxConfig(evidence=str(tmp_path / "none"))))
    assert isinstance(caught.value, PrerequisiteError)
    assert caught.value.message == str(caught.value)
    with pytest.raises(InputError, match="without evidence"):
        verify(SandboxConfig(sha256={"a": DIGEST}))


@needs_bwrap
def test_evidence_is_verified_before_each_sample(evidence: Path) -> None:
    config = SandboxConfig(evidence=str(evidence), sha256={"disk/image.dd": DIGEST})
    environments = asyncio.run(BwrapSandbox.sample_init("task", config, {}))
    asyncio.run(BwrapSandbox.sample_cleanup("task", config, environments, False))
    (evidence / "disk" / "image.dd").write_bytes(b"altered")
    with pytest.raises(InputError, match="altered"):
        asyncio.run(BwrapSandbox.sample_init("task", config, {}))


@needs_bwrap
def test_only_what_the_manifest_names_is_seen(evidence: Path) -> None:
    odd = "disk/-odd 'name'\n$x"
    (evidence / odd).write_bytes(b"evidence")
    config = SandboxConfig(evidence=str(evidence), sha256={"disk/image.dd": DIGEST, odd: DIGEST})
    sandbox = BwrapSandbox.opened(config)
    seen = run(sandbox, "find", "/evidence", "-type", "f", "-print0").stdout.split("\0")
    writing = run(sandbox, "sh", "-c", "echo x >>/evidence/disk/image.dd")
    sandbox.close()
    assert sorted(filter(None, seen)) == sorted([f"/evidence/{odd}", "/evidence/disk/image.dd"])
    assert "Read-only file system" in writing.stderr


@needs_bwrap
@needs_root
def test_evidence_the_sample_may_not_read(evidence: Path) -> None:
    (evidence / "disk" / "image.dd").chmod(0o600)
    with pytest.raises(InputError, match=r"'/evidence/disk/image.dd' cannot be read by the sandbox's user: chmod"):
        BwrapSandbox.opened(SandboxConfig(evidence=str(evidence)))


def test_configuration(evidence: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SandboxConfig.of(None) == SandboxConfig()
    assert SandboxConfig.of(str(evidence)).evidence == str(evidence)
    file = tmp_path / "sandbox.json"
    file.write_text('{"evidence": "here", "sha256": {"a": "b"}, "limits": {"memory": 104857600}}')
    monkeypatch.chdir(tmp_path)
    config = SandboxConfig.of("sandbox.json")
    assert config == SandboxConfig(evidence="here", sha256={"a": "b"}, limits=Limits(memory=104857600))
    assert config.evidence == str(tmp_path / "here")
    assert hash(config) == hash(BwrapSandbox.config_deserialize(config.model_dump(mode="json")))
    assert BwrapSandbox.config_deserialize(config.model_dump(mode="json")) == config
    for content in ("[1]", "{", '{"evidnce": "x"}', '{"limits": {"memory": -1}}'):
        file.write_text(content)
        with pytest.raises(InputError, match="is not a sandbox configuration"):
            SandboxConfig.of(str(file))
    with pytest.raises(InputError, match="no sandbox configuration at"):
        SandboxConfig.of("none.json")
    with pytest.raises(InputError, match="ApptainerConfig is needed"):
        ApptainerConfig.of(SandboxConfig())
