"""Programs that challenges need, where they come from, and which of them an agent would find."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swaplaw.errors import several
from swaplaw_forensic.challenges.manifest import Challenge

# Program -> Debian package, where the two differ.
PACKAGES = {
    "base64": "coreutils", "blkls": "sleuthkit", "esedbexport": "libesedb-utils", "evtxexport": "libevtx-utils",
    "ewfexport": "ewf-tools", "ewfinfo": "ewf-tools", "exiftool": "libimage-exiftool-perl", "fls": "sleuthkit",
    "fsstat": "sleuthkit", "icat": "sleuthkit", "iconv": "libc-bin", "istat": "sleuthkit", "mmls": "sleuthkit",
    "pffexport": "pff-tools", "plistutil": "libplist-utils", "regfexport": "libregf-utils", "strings": "binutils",
    "tsk_recover": "sleuthkit", "vshadowinfo": "libvshadow-utils",
}  # fmt: skip
# What the sandbox shows of this machine; programs elsewhere are not there for an agent.
SYSTEM = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


@dataclass(frozen=True)
class Diagnosis:
    """What a challenge lacks on this machine."""

    challenge: str
    missing: tuple[str, ...]
    packages: tuple[str, ...]
    evidence: str
    """`here`, `built from a seed`, `to fetch` or `not known`."""
    ungradeable: dict[str, str]
    """Question -> why no answer to it can be graded."""

    steps: tuple[str, ...] = ()
    """What to do before a first trace, and what of it is done."""

    @property
    def ready(self) -> bool:
        """Say whether a trace could start and use every tool."""
        return not self.missing and self.evidence in ("here", "built from a seed")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "challenge": self.challenge,
            "ready": self.ready,
            "missing": list(self.missing),
            "packages": list(self.packages),
            "evidence": self.evidence,
            "ungradeable": self.ungradeable,
            "steps": list(self.steps),
        }


def missing(challenge: Challenge, image: Path | None = None) -> tuple[str, ...]:
    """Return the programs that an agent would not find: on this machine, or in an unpacked Apptainer image."""
    path = SYSTEM if image is None else ":".join(f"{image}{folder}" for folder in SYSTEM.split(":"))
    return tuple(name for name in challenge.tools if shutil.which(name, path=path) is None)


def diagnose(challenge: Challenge, root: Path, image: Path | None = None) -> Diagnosis:
    """Look for tools and evidence of one challenge."""
    from swaplaw_forensic.challenges.evidence import locate
    from swaplaw_forensic.challenges.gold import load_gold

    lacking = missing(challenge, image)
    place = locate(challenge, root)
    here = bool(challenge.evidence) and all((place / item.file).is_file() for item in challenge.evidence)
    elsewhere = "built from a seed" if challenge.seed is not None else "to fetch" if challenge.evidence else "not known"
    golds = load_gold(challenge).values()
    return Diagnosis(
        challenge.id,
        lacking,
        tuple(dict.fromkeys(PACKAGES.get(name, name) for name in lacking)),
        "here" if here else elsewhere,
        {gold.question: gold.ungradeable for gold in golds if gold.ungradeable},
        tuple(_steps(challenge, lacking, here, image is None)),
    )


def _steps(challenge: Challenge, lacking: tuple[str, ...], here: bool, system: bool) -> Iterator[str]:
    """Go through what a first trace needs."""
    packages = dict.fromkeys(PACKAGES.get(name, name) for name in lacking)
    where = "apt-get install" if system else "add to the image:"
    yield f"[ ] {where} {' '.join(packages)}" if lacking else "[x] its tools are installed"
    known = [item for item in challenge.evidence if item.hashes]
    if challenge.seed is not None:
        yield f"[{'x' if here else ' '}] swaplaw forensic build {challenge.id}@SEED (a run builds it by itself)"
    elif here:
        yield f"[x] its {several(len(challenge.evidence), 'file')} of evidence are here: check them with `verify`"
    else:
        yield f"[ ] {challenge.obtain}"
        yield from (f"    {item.file}: {item.url or 'see the pages'}" for item in challenge.archives)
        yield from (f"    page: {page}" for page in challenge.pages)
        yield f"[ ] swaplaw forensic build {challenge.id} --from FOLDER, then verify"
    if challenge.seed is None:
        yield f"    hashes are known of {len(known)} of {several(len(challenge.evidence), 'file')}"
    yield from (f"    could not be had: {what}" for what in challenge.unknown)
