"""An ext4 image made by mkfs.ext4 and debugfs: the same bytes for the same files and times, whoever makes it."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from swaplaw.errors import SwaplawError

# Without a journal and checksums: what is deleted stays legible, as on many sticks and appliances.
FEATURES = "^has_journal,^metadata_csum,^resize_inode,^64bit"
SYSTEM = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class Stored:
    """A file of the image; a deleted one keeps its content until something is written over it."""

    path: str
    content: bytes
    modified: datetime
    created: datetime
    owner: int = 1000
    deleted: datetime | None = None


def image(files: Sequence[Stored], made: datetime, uuid: str, label: str, megabytes: int) -> bytes:
    """Return an image of these files, written in this order."""
    programs = {name: shutil.which(name, path=SYSTEM) for name in ("mkfs.ext4", "debugfs")}
    missing = [name for name, place in programs.items() if place is None]
    if missing:
        raise SwaplawError(f"a disk image is made by {' and '.join(missing)}: install the package e2fsprogs")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        target = folder / "image"
        with target.open("wb") as out:
            out.truncate(megabytes << 20)
        making = [str(programs["mkfs.ext4"]), "-q", "-F", "-b", "4096", "-I", "256", "-N", "8192", "-O", FEATURES]
        making += ["-U", uuid, "-L", label, "-E", f"hash_seed={uuid},lazy_itable_init=0,root_owner=0:0", str(target)]
        _run(making, made)
        _write(str(programs["debugfs"]), target, folder, files, made)
        return target.read_bytes()


def _write(debugfs: str, target: Path, folder: Path, files: Sequence[Stored], made: datetime) -> None:
    lines: list[str] = []
    folders: set[PurePosixPath] = set()
    for number, file in enumerate(files):
        for place in reversed(PurePosixPath("/", file.path).parents[:-1]):
            if place not in folders:
                folders.add(place)
                lines.append(f'mkdir "{place}"')
        source = folder / f"{number}"
        source.write_bytes(file.content)
        lines.append(f'write {source} "/{file.path}"')
        times = {"mtime": file.modified, "atime": file.modified, "ctime": file.created, "crtime": file.created}
        lines += [f'sif "/{file.path}" {field} @{int(when.timestamp())}' for field, when in times.items()]
        lines += [f'sif "/{file.path}" {field} {file.owner}' for field in ("uid", "gid")]
    script = folder / "commands"
    script.write_text("\n".join(lines) + "\n")
    _run([debugfs, "-w", "-f", str(script), str(target)], made)
    for file in sorted((one for one in files if one.deleted), key=lambda one: one.deleted or made):
        _run([debugfs, "-w", "-R", f'rm "/{file.path}"', str(target)], file.deleted or made)


def _run(command: Sequence[str], now: datetime) -> None:
    clock = {"E2FSPROGS_FAKE_TIME": str(int(now.timestamp())), "SOURCE_DATE_EPOCH": str(int(now.timestamp()))}
    done = subprocess.run(command, env={**os.environ, **clock}, capture_output=True, text=True)
    if done.returncode != 0:
        raise SwaplawError(f"{Path(command[0]).name} failed: {done.stderr.strip()[-300:]}")
