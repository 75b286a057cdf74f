"""Votes from what people already have: Inspect and lm-evaluation-harness logs, HELM runs, and tables of any layout.

`import_votes(paths)` is the one entry: it finds out what each file is, reads it, and says how and what is missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import InputError, quote
from swaplaw.importers.record import Findings, Options, Reading
from swaplaw.sources import FORMATS, Source, open_file

if TYPE_CHECKING:
    from swaplaw.votes import Votes

__all__ = ["Imported", "Options", "Reading", "detect", "import_votes", "open_votes"]

PROVENANCE = "swaplaw"
"""The key of a Parquet file's metadata under which its provenance stands, as JSON."""
_SNIFFED = 1 << 16


@dataclass(frozen=True)
class Imported:
    """Votes, how they were read, what is missing, and where they came from."""

    votes: Votes
    format: str
    readings: tuple[Reading, ...]
    notes: tuple[str, ...]
    provenance: dict[str, Any]

    def write(self, path: str | Path) -> None:
        """Write the votes; Parquet carries the provenance in its metadata."""
        self.votes.write(path, metadata={PROVENANCE: json.dumps(self.provenance, sort_keys=True)})

    def to_dict(self) -> dict[str, Any]:
        """Make it plain data."""
        return {
            "format": self.format,
            "votes": int(self.votes.counts["votes"].sum()),
            "datasets": self.votes.datasets,
            "models": sorted(self.votes.counts["model"].unique()),
            "columns": [reading.to_dict() for reading in self.readings],
            "notes": list(self.notes),
            "provenance": self.provenance,
        }


def import_votes(paths: str | Path | Iterable[str | Path], options: Options | None = None) -> Imported:
    """Read votes from logs and tables, whatever they are; everything is held to the contract."""
    from swaplaw.votes import Votes

    chosen = options or Options()
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    findings = Findings()
    groups = by_format(find(given))
    sources = [source for form, files in groups.items() for source in read(form, files, chosen, findings)]
    form = ", ".join(groups)
    return Imported(
        Votes(tuple(sources)),
        form,
        tuple(dict.fromkeys(findings.readings)),
        tuple(dict.fromkeys(findings.notes)),
        _provenance(form, chosen, findings),
    )


def open_votes(paths: Iterable[str | Path]) -> tuple[list[Source], list[str]]:
    """Open vote tables as they are, and logs as votes; also what is to be said about the logs."""
    findings = Findings()
    sources: list[Source] = []
    logs: dict[str, list[Path]] = {}
    for file in find(paths):
        form = _log_format(file)
        if form is None:
            sources.append(open_file(file))
        else:
            logs.setdefault(form, []).append(file)
    for form, files in logs.items():
        sources += read(form, files, Options(), findings)
    return sources, findings.notes


def _provenance(form: str, options: Options, findings: Findings) -> dict[str, Any]:
    """Where votes came from. No time of day: the same logs give the same bytes."""
    from importlib.metadata import version

    return {
        "version": version("swaplaw"),
        "format": form,
        "options": options.to_dict(),
        "files": findings.files,
        "notes": list(dict.fromkeys(findings.notes)),
    }


def read(form: str, files: list[Path], options: Options, findings: Findings) -> list[Source]:
    """Read files of one format."""
    if form == "inspect":
        from swaplaw.importers import inspect_logs

        return [inspect_logs.read(files, options, findings)]
    if form == "lm-eval":
        from swaplaw.importers import lm_eval

        return [lm_eval.read(files, options, findings)]
    if form == "helm":
        from swaplaw.importers import helm

        return [helm.read(files, options, findings)]
    from swaplaw.importers import tables

    return [tables.read(file, options, findings) for file in files]


def find(paths: Iterable[str | Path]) -> list[Path]:
    """List the files that hold votes, each once: of a directory, all that are recognised, however deep."""
    found: dict[Path, Path] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{quote(str(path), 200)}: there is no such file or directory")
        files = [path] if not path.is_dir() else sorted(file for file in path.rglob("*") if _is_input(file))
        if not files:
            raise InputError(
                f"{quote(str(path), 200)}: no vote files and no logs in this directory; "
                f"expected .eval, .json (Inspect, HELM) or {', '.join(FORMATS)}"
            )
        for file in files:
            found.setdefault(file.resolve(), file)
    if not found:
        raise InputError("no votes given: name a file, a directory, or several")
    return list(found.values())


def _is_input(file: Path) -> bool:
    """Whether a file in a directory is a log or a table; manifests, results and the like are left alone."""
    if not file.is_file() or any(part.startswith(".") for part in file.parts[-2:]):
        return False
    if file.suffix.lower() == ".json":
        return _json_format(file) is not None
    return file.suffix.lower() == ".eval" or file.suffix.lower() in FORMATS


def by_format(files: Iterable[Path]) -> dict[str, list[Path]]:
    """Sort files by what they are."""
    groups: dict[str, list[Path]] = {}
    for file in files:
        groups.setdefault(detect(file), []).append(file)
    return groups


def detect(file: Path) -> str:
    """Tell what a file is: `inspect`, `lm-eval`, `helm`, `votes` (the native layout) or `table`."""
    return _log_format(file) or _table_format(file)


def _log_format(file: Path) -> str | None:
    suffix = file.suffix.lower()
    if suffix == ".eval":
        return "inspect"
    if suffix == ".json":
        form = _json_format(file)
        if form is None:
            raise InputError(
                f"{quote(str(file), 200)}: neither an Inspect log nor a HELM run's display_predictions.json; "
                "write tables as JSONL, CSV or Parquet"
            )
        return form
    return "lm-eval" if suffix in (".jsonl", ".ndjson") and _is_lm_eval(file) else None


def _json_format(file: Path) -> str | None:
    if file.name == "display_predictions.json":
        return "helm"
    with file.open("rb") as handle:
        head = handle.read(_SNIFFED)
    # The order in which Inspect writes a log. Its directory listings hold the same words, but begin with a file's name.
    return "inspect" if re.match(rb'\s*{\s*"version"', head) and b'"eval"' in head else None


def _is_lm_eval(file: Path) -> bool:
    with file.open("rb") as handle:
        head = handle.read(_SNIFFED)
    if file.name.startswith("samples_") and b'"resps"' in head:
        return True
    return b'"doc_id"' in head and b'"resps"' in head and b'"arguments"' in head


def _table_format(file: Path) -> str:
    from swaplaw.contract import REQUIRED

    try:
        names = open_file(file).scan().collect_schema().names()
    except InputError:
        raise
    except Exception:  # Unreadable: the reader will say what is wrong with it.
        return "votes"
    return "votes" if set(REQUIRED) <= set(names) else "table"
