"""Evidence on this machine: where it lies, whether it is what the manifest says, and how it gets there."""

import hashlib
import os
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from swaplaw.errors import InputError, SwaplawError, listing, quote
from swaplaw_forensic.challenges.manifest import Challenge, Evidence
from swaplaw_forensic.synthetic.case import build_case

ROOT_VARIABLE = "SWAPLAW_EVIDENCE"


@dataclass(frozen=True)
class Checked:
    """One evidence file, and whether it may be used."""

    file: str
    status: str
    """`ok`, `missing`, `altered` or `unverifiable`."""
    detail: str


def default_root() -> Path:
    """Return the evidence folder: $SWAPLAW_EVIDENCE, or `evidence` here."""
    return Path(os.environ.get(ROOT_VARIABLE) or "evidence")


def expected(challenge: Challenge) -> tuple[Evidence, ...]:
    """Return the evidence with its hashes; a synthetic challenge's are computed from the seed."""
    if challenge.kind != "synthetic":
        return challenge.evidence
    origin = "computed from key and seed"
    return tuple(
        Evidence(file, len(content), hashlib.sha256(content).hexdigest(), origin=origin)
        for file, content in build_case(challenge.id, challenge.seed or 0, challenge.level).files.items()
    )


def locate(challenge: Challenge, root: Path) -> Path:
    """Return the folder with the challenge's files: `root/place`, or `root` itself when they lie there."""
    own = root / challenge.place
    if own.is_dir() or not all((root / item.file).is_file() for item in challenge.evidence):
        return own
    return root


def whereabouts(challenge: Challenge, root: Path) -> str:
    """Say where the evidence is: `here`, `built from a seed`, `to fetch` or `not known`."""
    folder = locate(challenge, root)
    if challenge.evidence and all((folder / item.file).is_file() for item in challenge.evidence):
        return "here"
    return "built from a seed" if challenge.seed is not None else "to fetch" if challenge.evidence else "not known"


def verify(challenge: Challenge, root: Path) -> list[Checked]:
    """Check every file's presence, size and hashes."""
    folder = locate(challenge, root)
    return [_check(item, folder / item.file) for item in expected(challenge)]


def _check(item: Evidence, path: Path) -> Checked:
    if not path.is_file():
        return Checked(item.file, "missing", f"not found at {path}")
    if item.bytes is not None and path.stat().st_size != item.bytes:
        return Checked(item.file, "altered", f"{path.stat().st_size} bytes, the manifest says {item.bytes}")
    if not item.hashes:
        return Checked(item.file, "unverifiable", "no hash of this file is known")
    for name, wanted in item.hashes.items():
        if (found := _digest(path, name)) != wanted:
            return Checked(item.file, "altered", f"{name} is {found}, the manifest says {wanted}")
    return Checked(item.file, "ok", f"{' and '.join(item.hashes)} agree ({item.origin or 'manifest'})")


def require(challenge: Challenge, root: Path) -> tuple[Path, dict[str, str]]:
    """Return the folder and the SHA-256 of each file, or say in one line what is wrong."""
    if not challenge.evidence:
        raise InputError(
            f"challenge {quote(challenge.ref)} cannot run: none of its evidence files is known. {challenge.obtain}"
        )
    if challenge.kind == "synthetic" and not locate(challenge, root).is_dir():
        build(challenge, root, None)
    bad = [row for row in verify(challenge, root) if row.status != "ok"]
    if bad:
        rows = "; ".join(f"{quote(row.file)} is {row.status} ({row.detail})" for row in bad[:3])
        raise InputError(f"evidence of challenge {quote(challenge.ref)}: {rows}. To get it: {challenge.obtain}")
    hashes = {item.file: item.sha256 for item in expected(challenge) if item.sha256}
    unhashed = [item.file for item in challenge.evidence if item.file not in hashes]
    if unhashed:
        raise InputError(
            f"challenge {quote(challenge.ref)}: the sandbox verifies by SHA-256, but the manifest gives none for "
            f"{listing(unhashed)}: add it to {challenge.folder / 'challenge.toml'}"
        )
    return locate(challenge, root), hashes


def build(challenge: Challenge, root: Path, source: Path | None) -> Path:
    """Put a challenge's evidence into `root/challenge`: generated from the seed, or taken from `source`.

    Nothing appears there unless all of it is right: files are gathered aside, verified, then moved in one step.
    """
    target = root / challenge.place
    if target.is_dir():
        bad = [row for row in verify(challenge, root) if row.status != "ok"]
        if bad:
            raise InputError(
                f"{target} already exists, but {quote(bad[0].file)} is {bad[0].status} ({bad[0].detail}): "
                "move that folder away, then build again"
            )
        return target
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, prefix=".building-") as name:
        aside = Path(name) / "files"
        aside.mkdir()
        if challenge.kind == "synthetic":
            for file, content in build_case(challenge.id, challenge.seed or 0, challenge.level).files.items():
                (aside / file).write_bytes(content)
        else:
            _gather(challenge, source, aside)
        for item in expected(challenge):
            checked = _check(item, aside / item.file)
            if checked.status != "ok":
                raise InputError(f"evidence {quote(item.file)} is {checked.status}: {checked.detail}")
        aside.rename(target)
    return target


def _gather(challenge: Challenge, source: Path | None, target: Path) -> None:
    """Take the files of a real challenge from a folder, loose or inside the published archive."""
    if not challenge.evidence:
        raise InputError(f"challenge {quote(challenge.ref)}: none of its evidence files is known. {challenge.obtain}")
    if source is None:
        raise InputError(
            f"challenge {quote(challenge.ref)} is real: its evidence is fetched, not built. {challenge.obtain} "
            "Then name the folder they are in"
        )
    if not source.is_dir():
        raise InputError(f"{quote(str(source))}: there is no such folder")
    for archive in challenge.archives:
        path = source / archive.file
        if path.is_file():
            if archive.sha256 is not None and (found := _digest(path, "sha256")) != archive.sha256:
                raise InputError(
                    f"{path} is altered: its SHA-256 is {found}, the manifest says {archive.sha256}; fetch it again"
                )
            _unpack(challenge, path, target)
            return
    for item in challenge.evidence:
        path = source / item.file
        if not path.is_file():
            wanted = [archive.file for archive in challenge.archives] + [item.file]
            raise InputError(f"{quote(str(source))}: holds neither {' nor '.join(map(quote, wanted))}")
        _link(path, target / item.file)


def _digest(path: Path, name: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, name).hexdigest()


def _unpack(challenge: Challenge, path: Path, target: Path) -> None:
    """Take the named members only, and no more bytes than the manifest says: an archive is untrusted."""
    try:
        with zipfile.ZipFile(path) as archive:
            for item in challenge.evidence:
                size = archive.getinfo(item.file).file_size
                if item.bytes is not None and size != item.bytes:
                    raise InputError(f"{path}: {quote(item.file)} has {size} bytes, not {item.bytes}")
                with archive.open(item.file) as packed, (target / item.file).open("wb") as plain:
                    shutil.copyfileobj(packed, plain, 1 << 20)
    except KeyError as error:
        raise InputError(f"{path}: does not hold {error}") from None
    except (zipfile.BadZipFile, RuntimeError) as error:
        raise SwaplawError(f"{path}: cannot be unpacked: {error}") from None


def _link(path: Path, target: Path) -> None:
    """Share the bytes where the file system can (images are large), copy them where it cannot."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path.resolve(), target)
    except OSError:
        shutil.copyfile(path, target)
