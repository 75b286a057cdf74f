"""The manifest of a sample: which questions were drawn, how, and from what, so that others ask the same ones.

It holds ids, strata and weights, and no question's text. Digests tell whether a dataset is the one it was drawn from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from swaplaw._files import write_bytes
from swaplaw.collect.design.strata import BY, HARD, Stratum, draw
from swaplaw.collect.questions.question import Questions
from swaplaw.errors import InputError, quote

SCHEMA = "swaplaw.sample"
VERSION = 1
PHASES = ("proportional", "stress")
REMEDY = "give a file that `swaplaw collect sample DATASET -o sample.json` wrote"


@dataclass(frozen=True)
class Drawn:
    """One question of a sample."""

    id: str
    stratum: tuple[str, ...]
    phase: str
    weight: Fraction
    """How many questions of the dataset it stands for."""


@dataclass(frozen=True)
class Manifest:
    """A sample that is fixed: its design, its strata and its questions (in order of their ids)."""

    dataset: str
    source: str
    population: int
    fingerprint: str
    """Of the whole dataset."""
    sample_fingerprint: str
    """Of the questions drawn: what must not have changed."""
    seed: int
    by: tuple[str, ...]
    hard: tuple[str, ...]
    strata: tuple[Stratum, ...] = field(repr=False)
    questions: tuple[Drawn, ...] = field(repr=False)

    @property
    def notes(self) -> list[str]:
        """What one should know before using the weights."""
        empty = [stratum for stratum in self.strata if not stratum.drawn]
        if not empty:
            return []
        lost = sum(stratum.population for stratum in empty)
        return [
            f"{len(empty)} of {len(self.strata)} strata ({lost} of {self.population} questions) are too small to be "
            "drawn from: weights say nothing about them"
        ]

    def take(self, questions: Questions) -> Questions:
        """Take the sample's questions from the dataset, and refuse one that has changed."""
        taken = questions.select([drawn.id for drawn in self.questions])
        if taken.fingerprint != self.sample_fingerprint:
            raise InputError(
                f"{quote(questions.source, 200)}: the questions differ from those that the sample was drawn from "
                f"({len(self.questions)} of {quote(self.dataset)}), although their ids are there; "
                "use the same version of the dataset, or draw a new sample"
            )
        return taken

    def to_dict(self) -> dict[str, Any]:
        """All that the file holds."""
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "dataset": self.dataset,
            "source": self.source,
            "population": self.population,
            "fingerprint": self.fingerprint,
            "sample_fingerprint": self.sample_fingerprint,
            "seed": self.seed,
            "size": len(self.questions),
            "stress": sum(stratum.stress for stratum in self.strata),
            "by": list(self.by),
            "hard": list(self.hard),
            "strata": [
                {
                    "stratum": dict(zip(self.by, stratum.values, strict=True)),
                    "population": stratum.population,
                    "proportional": stratum.proportional,
                    "stress": stratum.stress,
                    "weight": None if stratum.weight is None else str(stratum.weight),
                }
                for stratum in self.strata
            ],
            "questions": [
                {
                    "id": drawn.id,
                    "stratum": dict(zip(self.by, drawn.stratum, strict=True)),
                    "phase": drawn.phase,
                    "weight": str(drawn.weight),
                }
                for drawn in self.questions
            ],
        }

    def write(self, path: str | Path) -> None:
        """Write the file; one that holds another sample is not replaced: a sample is fixed once."""
        file, name = Path(path), quote(str(path), 200)
        content = (json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n").encode()
        try:
            if file.exists() and file.read_bytes() != content:
                raise InputError(f"{name}: there is another file of that name; remove it first, or write elsewhere")
        except OSError as error:
            raise InputError(f"{name}: cannot write the sample ({error.strerror})") from None
        write_bytes(file, content)


def sample(
    questions: Questions,
    size: int,
    *,
    stress: int | None = None,
    seed: int = 0,
    by: Sequence[str] = BY,
    hard: Sequence[str] = HARD,
) -> Manifest:
    """Draw a stratified sample of `size` questions and fix it as a manifest.

    `stress` of them come from strata that are hard: whose value of the last of `by` is one of `hard`. Without
    `stress` it is a fifth, or as many hard questions as the first phase leaves.
    """
    drawn = draw(questions, size, stress, seed, by, hard)
    chosen = [
        Drawn(one, stratum.values, phase, stratum.weight)
        for phase, phases in zip(PHASES, (drawn.proportional, drawn.stress), strict=True)
        for stratum, ids in zip(drawn.strata, phases, strict=True)
        for one in ids
        if stratum.weight is not None
    ]
    chosen.sort(key=lambda one: one.id)
    return Manifest(
        dataset=questions.dataset,
        source=questions.source if ":" in questions.source else Path(questions.source).name,
        population=len(questions),
        fingerprint=questions.fingerprint,
        sample_fingerprint=questions.select([one.id for one in chosen]).fingerprint,
        seed=seed,
        by=tuple(by),
        hard=tuple(hard),
        strata=drawn.strata,
        questions=tuple(chosen),
    )


def read_manifest(path: str | Path) -> Manifest:
    """Read a manifest and hold it to its schema."""
    name = quote(str(path), 200)
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{name}: cannot read the sample ({error.strerror}); {REMEDY}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{name}: this is not JSON; {REMEDY}") from None
    if not isinstance(document, Mapping) or document.get("schema") != SCHEMA:
        raise InputError(f"{name}: this is not a sample; {REMEDY}")
    if document.get("version") != VERSION:
        raise InputError(f"{name}: version {quote(document.get('version'))} is not known, only {VERSION}; {REMEDY}")
    try:
        manifest = _parsed(document)
    except (KeyError, TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
        raise InputError(f"{name}: the sample is damaged ({quote(str(error), 100)}); {REMEDY}") from None
    if document["size"] != len(manifest.questions) or len({one.id for one in manifest.questions}) != document["size"]:
        raise InputError(f"{name}: the sample is damaged (not {quote(document['size'])} different questions); {REMEDY}")
    return manifest


def _parsed(document: Mapping[str, Any]) -> Manifest:
    by = tuple(map(str, document["by"]))
    return Manifest(
        dataset=str(document["dataset"]),
        source=str(document["source"]),
        population=int(document["population"]),
        fingerprint=str(document["fingerprint"]),
        sample_fingerprint=str(document["sample_fingerprint"]),
        seed=int(document["seed"]),
        by=by,
        hard=tuple(map(str, document["hard"])),
        strata=tuple(
            Stratum(
                tuple(str(row["stratum"][name]) for name in by),
                int(row["population"]),
                int(row["proportional"]),
                int(row["stress"]),
            )
            for row in document["strata"]
        ),
        questions=tuple(
            Drawn(
                str(row["id"]),
                tuple(str(row["stratum"][name]) for name in by),
                PHASES[PHASES.index(row["phase"])],
                Fraction(row["weight"]),
            )
            for row in document["questions"]
        ),
    )
