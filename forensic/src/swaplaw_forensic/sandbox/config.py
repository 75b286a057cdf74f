"""What a user sets: the evidence, its hashes, the limits, and for Apptainer the image."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from inspect_ai._util.error import PrerequisiteError
from pydantic import BaseModel, ConfigDict, Field, field_validator

from swaplaw.errors import InputError, SwaplawError, quote

KIB, MIB, GIB = 1024, 1024**2, 1024**3

HOME = "/home/agent"
EVIDENCE = "/evidence"


def size(number: int) -> str:
    """A number of bytes in the unit that Inspect would name it by."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if number % unit == 0:
            return f"{number // unit} {name}"
    return f"{number} bytes"


class SandboxError(PrerequisiteError, SwaplawError):
    """The machine cannot give the sandbox asked for. Inspect shows the message alone, without a traceback."""


class SandboxInputError(InputError, PrerequisiteError):
    """A configuration or evidence that the user can fix; shown the same way."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Limits(BaseModel):
    """The bounds of a sample. Sizes are bytes; calls of one sample run one at a time, so each bound is the sample's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    wall_seconds: int = Field(default=300, gt=0, description="longest call; a call may ask for less, never for more")
    cpu_seconds: int = Field(default=300, gt=0, description="CPU time of one process")
    total_cpu_seconds: int = Field(default=36_000, gt=0, description="CPU time of all processes of a sample together")
    address_space: int = Field(default=8 * GIB, ge=64 * MIB, description="virtual memory of one process")
    memory: int = Field(default=4 * GIB, ge=32 * MIB, description="memory of all processes together")
    disk: int = Field(default=GIB, ge=MIB, description="/home/agent, /tmp and /dev/shm together; held in memory")
    files: int = Field(default=100_000, ge=64, description="how many files those three may hold")
    file_size: int = Field(default=GIB, gt=0, description="largest single file")
    processes: int = Field(default=128, ge=8, description="processes and threads at once")
    open_files: int = Field(default=256, ge=32, description="file descriptors of one process")
    output: int = Field(
        default=10 * MIB, gt=0, description="stdout and stderr of one call, each; Inspect's own limit holds too"
    )


class SandboxConfig(BaseModel):
    """Configuration of the `bwrap` sandbox; frozen, because Inspect keys sandboxes by it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    evidence: str | None = Field(default=None, description="host directory seen read-only as /evidence")
    sha256: Mapping[str, str] = Field(
        default_factory=dict,
        description="file -> SHA-256; when given, these files and no others are seen, "
        "and each sample starts only when every hash agrees",
    )
    limits: Limits = Limits()

    @field_validator("evidence")
    @classmethod
    def _absolute(cls, value: str | None) -> str | None:
        """Fix the meaning of a relative path now, whatever the working directory is later."""
        return None if value is None else str(Path(value).expanduser().absolute())

    def __hash__(self) -> int:
        """Inspect keeps configurations in sets; the mapping alone could not be hashed."""
        return hash((self.evidence, frozenset(self.sha256.items()), self.limits))

    @classmethod
    def of(cls, config: object) -> Self:
        """Read what Inspect hands over: nothing, a model, an evidence directory, or a JSON file of these fields."""
        if config is None:
            return cls()
        if isinstance(config, cls):
            return config
        if not isinstance(config, str):
            raise SandboxInputError(
                f"a {cls.__name__} is needed to configure this sandbox, not a {type(config).__name__}"
            )
        path = Path(config).expanduser()
        if path.is_dir():
            return cls(evidence=str(path))
        try:
            return cls.model_validate(json.loads(path.read_bytes()))
        except OSError as error:
            raise SandboxInputError(
                f"no sandbox configuration at {quote(config)} ({error.strerror}): "
                "give an evidence directory, or a JSON file with the fields of docs/sandbox.md"
            ) from None
        except ValueError as error:
            raise SandboxInputError(f"{quote(config)} is not a sandbox configuration: {error}") from None


class ApptainerConfig(SandboxConfig):
    """Configuration of the `apptainer` sandbox."""

    image: str | None = Field(default=None, description="SIF file or unpacked image; default: $SWAPLAW_APPTAINER_IMAGE")
