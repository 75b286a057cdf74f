"""The secret that is mixed into every synthetic case: the public code and a seed are not enough to build one."""

import contextlib
import hashlib
import os
import secrets
import tempfile
from pathlib import Path

from swaplaw.errors import SwaplawError

VARIABLE = "SWAPLAW_FORENSIC_KEY"


def key_file() -> Path:
    """Return where this user's key is kept."""
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(folder) / "swaplaw" / "forensic.key"


def secret_key() -> bytes:
    """Return the key: of $SWAPLAW_FORENSIC_KEY, or of this user, made by chance when first needed."""
    given = os.environ.get(VARIABLE)
    if given:
        return given.encode()
    file = key_file()
    try:
        if not file.exists():
            _make(file)
        return file.read_bytes().strip()
    except OSError as error:
        raise SwaplawError(
            f"the secret key of synthetic cases cannot be kept in {file}: {error.strerror}; set ${VARIABLE} instead"
        ) from None


def _make(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=file.parent) as aside:  # nobody else may read it
        aside.write(secrets.token_hex(32))
        aside.flush()
        with contextlib.suppress(FileExistsError):
            os.link(aside.name, file)  # the first of two that start at once wins


def fingerprint(key: bytes) -> str:
    """Return what a log may say of a key: enough to know it again, nothing to build with."""
    return hashlib.sha256(b"swaplaw forensic fingerprint " + key).hexdigest()[:16]


def opaque(key: bytes, *words: object) -> str:
    """Return a name that tells nothing to anyone without the key."""
    text = "\0".join(str(word) for word in words).encode()
    return hashlib.sha256(b"swaplaw forensic name " + key + b"\0" + text).hexdigest()[:16]
