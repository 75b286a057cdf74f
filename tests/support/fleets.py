"""Synthetic pairs whose true lift is known exactly: questions of few kinds, drawn from a known population."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import swaplaw as sl
from swaplaw.votes.tally import Tally

from support.twin import Corpus, law

# What both models vote on each kind of question (gold is A), and how common the kind is.
KINDS: tuple[tuple[str, str, float], ...] = (
    ("AAAA", "AAAA", 0.40),
    ("AAAA", "BBCC", 0.10),
    ("AABC", "BBBB", 0.08),
    ("BBCC", "AAAA", 0.10),
    ("BBBB", "AAAC", 0.08),
    ("ABCD", "AABC", 0.04),
    ("BBAC", "CCAA", 0.05),
    ("BBBB", "BBBB", 0.15),
)
SHARES = np.array([share for *_, share in KINDS])


@dataclass(frozen=True)
class Population:
    """Questions drawn one by one, or in clusters whose kinds resemble each other."""

    clusters: int | None = None
    likeness: float = 4.0
    """How much the kinds of a cluster may differ from the population's: less is more alike within a cluster."""

    def truth(self, weight: str) -> float:
        """Lift over the whole population: its kinds weighted by how common they are."""
        lifts = [float(law(_corpus([kind]), "aa", "bb", Fraction(weight)).lift) for kind in range(len(KINDS))]
        return float(SHARES @ lifts)

    def draw(self, questions: int, rng: np.random.Generator) -> Tally:
        """Votes on that many questions."""
        if self.clusters is None:
            return sl.votes_from(_corpus(list(rng.choice(len(KINDS), questions, p=SHARES))).frame()).tally()
        sizes = rng.multinomial(questions - self.clusters, np.full(self.clusters, 1 / self.clusters)) + 1
        kinds, names = [], []
        for cluster, size in enumerate(sizes):
            own = rng.dirichlet(SHARES * self.likeness)
            kinds += list(rng.choice(len(KINDS), size, p=own / own.sum()))
            names += [f"c{cluster}"] * int(size)
        frame = _corpus(kinds).frame()
        number = frame["question"].str.slice(1).cast(int)
        return sl.votes_from(frame.with_columns(cluster=number.replace_strict(dict(enumerate(names))))).tally()


def _corpus(kinds: list[int]) -> Corpus:
    ballots: dict[str, dict[str, Counter[str | None]]] = {"aa": {}, "bb": {}}
    for place, kind in enumerate(kinds):
        of_a, of_b, _ = KINDS[kind]
        ballots["aa"][f"q{place}"], ballots["bb"][f"q{place}"] = Counter(of_a), Counter(of_b)
    return Corpus(ballots, {f"q{place}": "A" for place in range(len(kinds))})
