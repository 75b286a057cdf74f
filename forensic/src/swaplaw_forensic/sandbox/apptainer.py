"""The `apptainer` sandbox: the same contract from a SIF image, for clusters that have Apptainer."""

import base64
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from inspect_ai.util import sandboxenv
from typing_extensions import override

from swaplaw.errors import quote
from swaplaw_forensic.sandbox.config import EVIDENCE, HOME, ApptainerConfig, SandboxInputError
from swaplaw_forensic.sandbox.environment import ForensicSandbox
from swaplaw_forensic.sandbox.limits import limited
from swaplaw_forensic.sandbox.protections import ENVIRONMENT, STAGE, Protection, gold_below
from swaplaw_forensic.sandbox.seccomp import bpf
from swaplaw_forensic.sandbox.stage import program

DEFINITION = Path(__file__).with_name("forensic.def")
IMAGE_VARIABLE = "SWAPLAW_APPTAINER_IMAGE"

# Apptainer's own seccomp profiles can only answer EPERM, and then no program could start a thread (see
# clone3 in `seccomp`): so the image's python3 loads our filter, and becomes the first process.
LOAD_FILTER = """
import base64, ctypes, os, sys
program = base64.b64decode(sys.argv[1])
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]
prctl = ctypes.CDLL(None, use_errno=True).prctl
if program and (prctl(38, 1, 0, 0, 0) or prctl(22, 2, ctypes.byref(Filter(len(program) // 8, program)), 0, 0)):
    sys.exit("sandbox: the seccomp filter was refused: " + os.strerror(ctypes.get_errno()))
os.execv(sys.argv[2], sys.argv[2:])
"""


@sandboxenv(name="apptainer")
class ApptainerSandbox(ForensicSandbox):
    """A sample in `apptainer exec`, contained in every way that Apptainer knows, in its user-namespace mode."""

    config_type = ApptainerConfig
    config: ApptainerConfig

    @override
    def _prepared(self) -> bytes:
        program("apptainer", "apptainer (https://apptainer.org)")
        image = self._image()
        gold = _gold_in(image) if image.is_dir() else ()
        if gold:
            raise SandboxInputError(
                f"the Apptainer image {quote(str(image), 200)} holds gold answers ({quote(gold[0])}): "
                "build it without swaplaw and without challenges"
            )
        return b""  # the filter is in the command line

    @override
    def _command(self, command: Sequence[str], cwd: str, env: dict[str, str], filter_fd: int | None) -> list[str]:
        has = self.protections.__contains__
        evidence_mode = "ro" if has(Protection.EVIDENCE_READ_ONLY) else "rw"
        binds = [f"{STAGE}/tmp:/tmp", f"{STAGE}/tmp:/var/tmp", f"{STAGE}/shm:/dev/shm"]
        binds += [f"{STAGE}/etc/resolv.conf:/etc/resolv.conf"]
        if self.config.evidence is not None:
            binds.append(f"{STAGE}/evidence:{EVIDENCE}:{evidence_mode}")
        filter_bytes = bpf() if has(Protection.SECCOMP) else b""
        variables = [f"{name}={value}" for name, value in {**ENVIRONMENT, **env}.items()]
        clean = ["-i"] if has(Protection.ENVIRONMENT) else []
        return [
            *(program("apptainer"), "--quiet", "exec", "--userns", "--no-init", "--no-eval"),
            # --contain, --cleanenv, --pid and --ipc are what --containall stands for.
            *(["--contain"] if has(Protection.SYSTEM) else []),
            *(["--cleanenv"] if has(Protection.ENVIRONMENT) else []),
            *(["--net", "--network", "none"] if has(Protection.NETWORK) else []),
            *(["--pid"] if has(Protection.PROCESSES_HIDDEN) else []),
            *(["--ipc"] if has(Protection.IPC) else []),
            *(["--uts", "--hostname", "sandbox"] if has(Protection.HOSTNAME) else []),
            *(["--no-privs"] if has(Protection.CAPABILITIES) else ["--keep-privs"]),
            *(["--no-mount", "bind-paths,hostfs,cwd,sys"] if has(Protection.SYSTEM) else []),
            *("--home", f"{STAGE}/work:{HOME}", "--cwd", cwd),
            *(part for bind in binds for part in ("--bind", bind)),
            str(self._image()),
            *("/usr/bin/python3", "-I", "-S", "-c", LOAD_FILTER, base64.b64encode(filter_bytes).decode()),
            *("/usr/bin/env", *clean, *variables),  # --env would split a value at its commas
            *limited(command, self.config.limits, self.protections),
        ]

    def _image(self) -> Path:
        """The image to run, which must exist: building one is the user's step."""
        named = self.config.image or os.environ.get(IMAGE_VARIABLE)
        if not named:
            raise SandboxInputError(
                f"no Apptainer image: set `image` or ${IMAGE_VARIABLE}; "
                f"build one with `apptainer build forensic.sif {DEFINITION}`"
            )
        path = Path(named).expanduser().absolute()
        if not path.exists():
            raise SandboxInputError(
                f"no Apptainer image at {quote(str(path), 200)}: "
                f"build it with `apptainer build {path.name} {DEFINITION}`"
            )
        if path.resolve().is_relative_to(STAGE):
            raise SandboxInputError(
                f"the Apptainer image {quote(str(path), 200)} lies under {STAGE}, which is private to each sample: "
                "move it elsewhere"
            )
        return path


@lru_cache(maxsize=8)
def _gold_in(image: Path) -> tuple[str, ...]:
    """Look through an unpacked image; a SIF file must be trusted to be built from `forensic.def`."""
    return tuple(str(path) for name in ("usr", "opt", "home", "root", "srv") for path in gold_below(image / name))
