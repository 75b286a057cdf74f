"""Evidence is what its manifest says, byte for byte, or the run does not start."""

import hashlib
import os
import stat
from pathlib import Path, PurePosixPath

from swaplaw.errors import quote
from swaplaw_forensic.sandbox.config import SandboxConfig, SandboxInputError
from swaplaw_forensic.sandbox.protections import gold_below


def verify(config: SandboxConfig) -> None:
    """Raise unless the evidence directory is there and every file of the manifest has its SHA-256."""
    if config.evidence is None:
        if config.sha256:
            raise SandboxInputError("sha256 is given without evidence: name the directory that holds the files")
        return
    root = Path(config.evidence)
    if not root.is_dir():
        raise SandboxInputError(
            f"no evidence directory at {quote(str(root), 200)}: fetch the evidence there, or correct `evidence`"
        )
    if not config.sha256 and gold_below(root):
        raise SandboxInputError(
            f"the evidence directory {quote(str(root), 200)} holds gold answers or a challenge's files, and all of it "
            "would be shown: name the evidence files with `sha256`, or move the rest away"
        )
    for name, expected in config.sha256.items():
        found = sha256(root, name)
        if found != expected.lower():
            raise SandboxInputError(
                f"evidence {quote(name)} is altered: its SHA-256 is {found}, the manifest says {quote(expected, 80)}; "
                f"fetch it again into {quote(str(root), 200)}"
            )


def sha256(root: Path, name: str) -> str:
    """Hash one evidence file, opened without following links, so that the file hashed is the file mounted."""
    parts = PurePosixPath(name).parts
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\0" in name:
        raise SandboxInputError(f"evidence name {quote(name)}: a relative path inside the evidence directory is needed")
    for depth in range(1, len(parts) + 1):
        if root.joinpath(*parts[:depth]).is_symlink():
            raise SandboxInputError(
                f"evidence {quote(name)} is reached through a symbolic link: put the file itself there"
            )
    try:
        # Non-blocking, because the opening of a pipe would wait for a writer.
        descriptor = os.open(root.joinpath(*parts), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise SandboxInputError(
            f"evidence {quote(name)} is missing from {quote(str(root), 200)}: fetch it there, or correct `evidence`"
        ) from None
    except OSError as error:
        raise SandboxInputError(f"evidence {quote(name)} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SandboxInputError(f"evidence {quote(name)} is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
