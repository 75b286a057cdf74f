"""What is asked, in which order options are shown: schedules of orders, stratified samples, and manifests of them.

Orders. The paper randomises answer positions "with a balanced schedule shared across models; for 4-option questions the
24 samples cover all 24 orderings exactly once". Here an order is a pure function of seed, question, epoch and number of
options, so neither models nor runs nor the number of samples can change it, and every first N epochs are balanced. The
K! orders fall into (K - 1)! Latin squares of K orders each: the zigzag 0, 1, K-1, 2, K-2, … shifted K times round the
circle, with the options laid round it in one of (K - 1)! ways. Epochs go through square after square, so every option
stands at every position floor or ceil of N/K times; no order comes twice before all K! have come; and for even K, every
option directly follows every other exactly once within a square (Williams 1949).

Samples. "A fixed 3,000-question stratified sample […], drawn once before any inference with proportional allocation
over discipline-difficulty strata plus a stress phase oversampling hard strata." Both phases allocate by largest
remainder, in whole numbers: the first over all questions, the second over the hard ones that the first left. Within a
stratum, questions come in an order that seed and id alone determine, so the order of the file changes nothing, and a
larger share of the same stratum only adds to a smaller one. A manifest fixes a sample: it holds ids, strata, weights
and digests, and no question's text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from math import factorial, gcd
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw._files import write_bytes
from swaplaw.errors import InputError, listing, quote

if TYPE_CHECKING:
    from swaplaw.collect.questions import Question, Questions


def keyed(*key: int | str) -> int:
    """Return a whole number of 256 bits that the key determines."""
    return int.from_bytes(blake2b(json.dumps(key).encode(), digest_size=32).digest())


FEWEST_OPTIONS, MOST_OPTIONS = 2, 26
"""Options are named by the letters A to Z."""


def order(seed: int, question: str, epoch: int, options: int) -> tuple[int, ...]:
    """Return the order that an epoch (from 1 on) shows: position i holds canonical option `order[i]`.

    >>> sorted(order(1, "q1", epoch, 3) for epoch in range(1, 7))
    [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    """
    if not FEWEST_OPTIONS <= options <= MOST_OPTIONS:
        raise InputError(f"a question with {quote(options)} options cannot be shown: show 2 to 26")
    if epoch < 1:
        raise InputError(f"epoch {quote(epoch)}: epochs count from 1")
    key = (int(seed), str(question), int(options))
    block, row = divmod(epoch - 1, options)
    round_, number = divmod(block, factorial(options - 1))
    circle = _circle(options, _square(key, round_, number))
    # Shifts come in a different order in every square, or the first option of one would tell the rest.
    shift = sorted(range(options), key=lambda shift: keyed(*key, "shift", block, shift))[row]
    return tuple(circle[(place + shift) % options] for place in _zigzag(options))


def _square(key: tuple[int, str, int], round_: int, number: int) -> int:
    """Which of the squares comes at this place of a round: steps prime to their number reach every one once."""
    squares = factorial(key[2] - 1)
    start = keyed(*key, "start", round_)
    step = attempt = 0
    while gcd(step, squares) != 1:
        step, attempt = keyed(*key, "step", round_, attempt) % squares, attempt + 1
    return (start + number * step) % squares


def _circle(options: int, rank: int) -> list[int]:
    """Lay the options round a circle in the way that has this rank (in factorial digits), option 0 first."""
    rest, circle = list(range(1, options)), [0]
    for left in range(options - 1, 0, -1):
        rank, digit = divmod(rank, left)
        circle.append(rest.pop(digit))
    return circle


def _zigzag(options: int) -> list[int]:
    """0, 1, K-1, 2, K-2, …: all steps between neighbours differ when K is even."""
    return [(place + 1) // 2 if place % 2 else -(place // 2) % options for place in range(options)]


BY = ("discipline", "difficulty")
HARD = ("hard",)
STRESS_SHARE = Fraction(1, 5)
"""Of a sample, unless told otherwise: the paper does not print the size of its stress phase."""

Values = tuple[str, ...]


@dataclass(frozen=True)
class Stratum:
    """Questions that are alike in what is sampled by, and how many of them are drawn."""

    values: Values
    population: int
    proportional: int
    stress: int

    @property
    def drawn(self) -> int:
        """Questions drawn in both phases."""
        return self.proportional + self.stress

    @property
    def weight(self) -> Fraction | None:
        """How many questions of the dataset each drawn one stands for; None where none is drawn."""
        return Fraction(self.population, self.drawn) if self.drawn else None


@dataclass(frozen=True)
class Sample:
    """Which questions are drawn, from which strata, in which phase."""

    strata: tuple[Stratum, ...]
    proportional: tuple[tuple[str, ...], ...]
    """The ids drawn in the first phase, stratum by stratum."""
    stress: tuple[tuple[str, ...], ...]
    """The ids added in the second."""


def draw(
    questions: Questions, size: int, stress: int | None, seed: int, by: Sequence[str], hard: Sequence[str]
) -> Sample:
    """Draw `size` questions, `stress` of them in the second phase (None: a fifth, or as many as there are)."""
    groups = _groups(questions, by)
    population = {values: len(members) for values, members in groups.items()}
    _check_size(size, len(questions), questions.source)
    levels = {level.casefold() for level in hard}
    tough = {values for values in groups if values[-1].casefold() in levels}
    first, second = _phases(size, stress, population, tough, by[-1])
    ordered = {
        values: sorted(members, key=lambda question: (keyed(seed, "sample", question.id), question.id))
        for values, members in groups.items()
    }
    return Sample(
        tuple(Stratum(values, population[values], first[values], second.get(values, 0)) for values in groups),
        tuple(tuple(question.id for question in ordered[values][: first[values]]) for values in groups),
        tuple(
            tuple(question.id for question in ordered[values][first[values] : first[values] + second.get(values, 0)])
            for values in groups
        ),
    )


def allocate(total: int, sizes: Mapping[Values, int]) -> dict[Values, int]:
    """Share `total` out in proportion to sizes by largest remainder; equal ones: the larger, then by name.

    >>> allocate(10, {("a",): 55, ("b",): 33, ("c",): 12})
    {('a',): 6, ('b',): 3, ('c',): 1}
    """
    everything = sum(sizes.values())
    quotas = {name: divmod(total * size, everything) for name, size in sizes.items()}
    left = total - sum(whole for whole, _ in quotas.values())
    first = sorted(sizes, key=lambda name: (-quotas[name][1], -sizes[name], name))[:left]
    return {name: quotas[name][0] + (name in first) for name in sizes}


def _groups(questions: Questions, by: Sequence[str]) -> dict[Values, list[Question]]:
    """Questions by stratum, strata in order of their values."""
    if not by:
        raise InputError("a stratified sample needs a column to be drawn by; name one (`by`)")
    known = list(dict.fromkeys(name for question in questions for name in question.strata))
    for name in by:
        if name not in known:
            raise InputError(
                f"{quote(questions.source, 200)}: there is no {quote(name)} to draw a sample by; "
                f"there are {listing(known, 20) or 'no strata'}: choose from these (`by`)"
            )
    groups: dict[Values, list[Question]] = {}
    for question in questions:
        groups.setdefault(tuple(question.strata.get(name, "") for name in by), []).append(question)
    return dict(sorted(groups.items()))


def _check_size(size: int, most: int, source: str) -> None:
    if not 1 <= size <= most:
        raise InputError(
            f"{quote(source, 200)}: a sample of {size} cannot be drawn from {most} questions; ask for 1 to {most}"
        )


def _phases(
    size: int, stress: int | None, population: Mapping[Values, int], tough: set[Values], column: str
) -> tuple[dict[Values, int], dict[Values, int]]:
    """How many questions of each stratum the two phases draw."""
    wanted = int(size * STRESS_SHARE) if stress is None else stress
    if not 0 <= wanted <= size:
        raise InputError(f"a stress phase of {wanted} questions does not fit in a sample of {size}")
    if wanted and not tough:
        if stress is None:
            wanted = 0
        else:
            levels = sorted({values[-1] for values in population})
            raise InputError(f"no stratum is hard: {column} is {listing(levels, 12)}; name the hard ones (`hard`)")
    while True:
        first = allocate(size - wanted, population)
        left = {values: population[values] - first[values] for values in population if values in tough}
        spare = sum(left.values())
        if wanted <= spare:
            return first, allocate(wanted, left) if wanted else {}
        if stress is not None:
            raise InputError(
                f"the stress phase asks for {wanted} hard questions, but the proportional phase leaves only {spare}; "
                "ask for fewer (`stress`), or for a smaller sample"
            )
        # Drawing fewer in the second phase draws more in the first, which leaves fewer hard ones.
        wanted -= 1


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
