"""`swaplaw forensic`: agents investigate challenges in a sandbox, are graded offline, and become votes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from swaplaw.cli._shared.help import Group
from swaplaw.cli._shared.output import emit, show
from swaplaw.errors import InputError, SwaplawError
from swaplaw_forensic.cli._grade import grade
from swaplaw_forensic.cli._options import CHALLENGES, EVIDENCE, IMAGE, TABLES, columns
from swaplaw_forensic.cli._run import run, solve


@click.group("forensic", cls=Group)
def command() -> None:
    """A forensic testbed: agents investigate in a sandbox without network, and their answers become votes.

    CHALLENGE is an id (see `list`), id@seed for a synthetic one, or a folder with a challenge.toml.
    """


@command.command(name="list")
@EVIDENCE
@TABLES
def list_(evidence: Path | None, as_json: bool) -> None:
    """List the challenges, and whether their evidence is here."""
    from swaplaw_forensic.challenges.evidence import default_root, locate
    from swaplaw_forensic.challenges.gold import load_gold
    from swaplaw_forensic.challenges.manifest import load, shipped

    root = evidence or default_root()
    rows: list[dict[str, Any]] = []
    for name in shipped():
        challenge = load(name)
        golds = load_gold(challenge).values()
        rows.append(
            {
                "id": challenge.id,
                "title": challenge.title,
                "kind": challenge.kind,
                "questions": len(challenge.questions),
                "gradeable": sum(not gold.ungradeable for gold in golds),
                "rubric": sum(gold.tier == "rubric" and not gold.ungradeable for gold in golds),
                "errata": sum(bool(gold.erratum) for gold in golds),
                "files": len(challenge.evidence),
                "here": bool(challenge.evidence)
                and all((locate(challenge, root) / item.file).is_file() for item in challenge.evidence),
                "licence": challenge.licence,
                "pages": list(challenge.pages),
                "obtain": challenge.obtain,
                "unknown": list(challenge.unknown),
            }
        )
    if as_json:
        emit({"evidence": str(root), "challenges": rows})
        return
    numbers = ("questions", "gradeable", "rubric", "errata")
    cells = [[row["id"], row["title"], *(str(row[name]) for name in numbers), _where(row)] for row in rows]
    show(f"challenges; evidence in {root}", columns("challenge", "title", *numbers, "evidence", numbers=numbers), cells)


def _where(row: dict[str, Any]) -> str:
    if row["here"]:
        return "here"
    return "built from a seed" if row["kind"] == "synthetic" else "to fetch" if row["files"] else "not known"


@command.command()
@CHALLENGES
@EVIDENCE
@TABLES
def verify(challenges: tuple[str, ...], evidence: Path | None, as_json: bool) -> None:
    """Verify the size and hashes of evidence. Exit 1 unless every file is right."""
    from swaplaw_forensic.challenges.evidence import default_root, locate
    from swaplaw_forensic.challenges.evidence import verify as check
    from swaplaw_forensic.challenges.manifest import load

    root = evidence or default_root()
    results: list[dict[str, Any]] = []
    failed = []
    for name in challenges:
        challenge = load(name)
        if challenge.seed is not None and "@" not in name:
            raise InputError(f"{challenge.id} is a different case for each seed: verify {challenge.id}@SEED")
        files = check(challenge, root)
        good = bool(files) and all(row.status == "ok" for row in files)
        if not good:
            failed.append(challenge)
        results.append(
            {
                "challenge": challenge.ref,
                "folder": str(locate(challenge, root)),
                "ok": good,
                "files": [row.to_dict() for row in files],
            }
        )
    if as_json:
        emit({"challenges": results})
    else:
        rows = [[result["challenge"], *file.values()] for result in results for file in result["files"]]
        show("evidence", columns("challenge", "file", "status", "detail"), rows)
    if failed:
        raise SwaplawError(
            f"the evidence of {', '.join(c.ref for c in failed)} cannot be used. To get it: {failed[0].obtain}"
        )


@command.command()
@CHALLENGES
@EVIDENCE
@click.option(
    "--from",
    "source",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder with a real challenge's files or its published archive.",
)
@TABLES
def build(challenges: tuple[str, ...], evidence: Path | None, source: Path | None, as_json: bool) -> None:
    """Put evidence in place. Generate a synthetic challenge, or take a real one's files from --from."""
    from swaplaw_forensic.challenges.evidence import build as build_one
    from swaplaw_forensic.challenges.evidence import default_root, expected
    from swaplaw_forensic.challenges.manifest import load

    root = evidence or default_root()
    built: list[dict[str, Any]] = []
    for name in challenges:
        challenge = load(name)
        folder = build_one(challenge, root, source)
        files = [{"file": e.file, "bytes": e.bytes, "sha256": e.sha256} for e in expected(challenge)]
        built.append({"challenge": challenge.ref, "folder": str(folder), "files": files})
    if as_json:
        emit({"challenges": built})
        return
    cells = [
        [one["challenge"], f"{one['folder']}/{file['file']}", str(file["bytes"]), file["sha256"]]
        for one in built
        for file in one["files"]
    ]
    show("evidence", columns("challenge", "file", "bytes", "sha256", numbers=("bytes",)), cells)


@command.command()
@click.argument("challenges", nargs=-1, metavar="[CHALLENGE]...")
@EVIDENCE
@IMAGE
@TABLES
def doctor(challenges: tuple[str, ...], evidence: Path | None, image: str | None, as_json: bool) -> None:
    """Name the tools and evidence that each challenge lacks here. Exit 1 if tools are missing.

    With --image, look into an unpacked Apptainer image instead of this machine. Without CHALLENGE, look at all.
    """
    from swaplaw_forensic.challenges.evidence import default_root
    from swaplaw_forensic.challenges.manifest import load, shipped
    from swaplaw_forensic.challenges.tools import diagnose

    root, inside = evidence or default_root(), Path(image) if image else None
    if inside is not None and not inside.is_dir():
        raise InputError(
            f"{image} is not an unpacked image (`apptainer build --sandbox`): only such a folder can be looked into"
        )
    found = [diagnose(load(name), root, inside) for name in challenges or shipped()]
    if as_json:
        emit({"challenges": [one.to_dict() for one in found]})
    else:
        cells = [
            [one.challenge, " ".join(one.missing) or "-", one.evidence, " ".join(one.ungradeable) or "-"]
            for one in found
        ]
        show("challenges on this machine", columns("challenge", "missing tools", "evidence", "cannot be graded"), cells)
    packages = list(dict.fromkeys(package for one in found for package in one.packages))
    if packages:
        raise SwaplawError(f"tools are missing; on Debian: apt-get install {' '.join(packages)}")


for _subcommand in (solve, run, grade):
    command.add_command(_subcommand)
