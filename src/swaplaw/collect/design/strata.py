"""The paper's stratified sample: proportional over discipline x difficulty, plus a stress phase over hard strata.

"A fixed 3,000-question stratified sample […], drawn once before any inference with proportional allocation over
discipline-difficulty strata plus a stress phase oversampling hard strata." Both phases allocate by largest remainder,
in whole numbers: the first over all questions, the second over the hard ones that the first left. Within a stratum,
questions come in an order that seed and id alone determine, so the order of the file changes nothing, and a larger
share of the same stratum only adds to a smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from swaplaw.collect.design.keyed import keyed
from swaplaw.collect.questions.question import Question, Questions
from swaplaw.errors import InputError, listing, quote

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
