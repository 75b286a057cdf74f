"""Programs that challenges need, where they come from, and which of them an agent would find."""

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swaplaw.errors import several
from swaplaw_forensic.challenges.manifest import Challenge

_PACKAGES = tomllib.loads(Path(__file__).with_name("packages.toml").read_text(encoding="utf-8"))
PACKAGES = {program: package for package, programs in _PACKAGES.items() for program in programs.split()}
# What the sandbox shows of this machine; programs elsewhere are not there for an agent.
SYSTEM = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


def diagnose(challenge: Challenge, root: Path, image: Path | None = None) -> dict[str, Any]:
    """Say what of tools and evidence one challenge lacks: on this machine, or in an unpacked Apptainer image."""
    from swaplaw_forensic.challenges.evidence import whereabouts
    from swaplaw_forensic.challenges.gold import load_gold

    path = SYSTEM if image is None else ":".join(f"{image}{folder}" for folder in SYSTEM.split(":"))
    missing = [name for name in challenge.tools if shutil.which(name, path=path) is None]
    packages = list(dict.fromkeys(PACKAGES.get(name, name) for name in missing))
    evidence = whereabouts(challenge, root)
    return {
        "challenge": challenge.id,
        "ready": not missing and evidence in ("here", "built from a seed"),
        "missing": missing,
        "packages": packages,
        "evidence": evidence,
        "ungradeable": {gold.question: gold.ungradeable for gold in load_gold(challenge).values() if gold.ungradeable},
        "steps": list(_steps(challenge, packages, evidence == "here", image is None)),
    }


def _steps(challenge: Challenge, packages: list[str], here: bool, system: bool) -> Iterator[str]:
    """Go through what a first trace needs."""
    where = "apt-get install" if system else "add to the image:"
    yield f"[ ] {where} {' '.join(packages)}" if packages else "[x] its tools are installed"
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
