"""The plain twin: the paper's definitions in `Fraction`s and dictionaries, one question at a time, nothing clever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import polars as pl

Ballots = Mapping[str, Mapping[str, "Counter[str | None]"]]
"""model -> question -> votes per answer (None: abstention)."""


@dataclass(frozen=True)
class Corpus:
    ballots: Ballots
    gold: Mapping[str, str]

    def frame(self) -> pl.DataFrame:
        rows = [
            {"question": question, "model": model, "answer": answer, "gold": self.gold[question]}
            for model, questions in self.ballots.items()
            for question, votes in questions.items()
            for answer in votes.elements()
        ]
        return pl.DataFrame(
            rows, schema=dict.fromkeys(("question", "model", "answer", "gold"), pl.String), orient="row"
        )


def score(weighted: Mapping[str, Fraction], ballots: Ballots, question: str, gold: str) -> Fraction:
    """Eqs. (vote) and (score)."""
    total: dict[str | None, Fraction] = {}
    for model, weight in weighted.items():
        votes = ballots[model][question]
        for answer, number in votes.items():
            total[answer] = total.get(answer, Fraction(0)) + weight * Fraction(number, votes.total())
    best = max(total.values())
    winners = [answer for answer, share in total.items() if share == best]
    return Fraction(1, len(winners)) if gold in winners else Fraction(0)


def common(corpus: Corpus, *models: str) -> list[str]:
    return sorted(q for q in corpus.gold if all(q in corpus.ballots[m] for m in models))


@dataclass(frozen=True)
class Twin:
    n: int
    p: Fraction
    q: Fraction
    cells: tuple[Fraction, ...]
    """r, d, z, c"""
    gains: tuple[Fraction, ...]
    """alpha r, gamma d, beta z, kappa c"""
    lift: Fraction


def law(corpus: Corpus, a: str, b: str, x: Fraction) -> Twin:
    """Eqs. (lift), (exact) and (fuzzyrates), question by question."""
    questions = common(corpus, a, b)
    n = len(questions)
    cells = [Fraction(0)] * 4
    gains = [Fraction(0)] * 4
    p = q = lift = Fraction(0)
    for question in questions:
        gold = corpus.gold[question]
        ok_a = score({a: Fraction(1)}, corpus.ballots, question, gold)
        ok_b = score({b: Fraction(1)}, corpus.ballots, question, gold)
        pooled = score({a: Fraction(1), b: x}, corpus.ballots, question, gold)
        weights = [(1 - ok_a) * ok_b, ok_a * (1 - ok_b), (1 - ok_a) * (1 - ok_b), ok_a * ok_b]
        for cell, sign in enumerate((1, -1, 1, -1)):
            cells[cell] += weights[cell] / n
            gains[cell] += sign * (pooled - ok_a) * weights[cell] / n
        p, q, lift = p + ok_a / n, q + ok_b / n, lift + (pooled - ok_a) / n
    return Twin(n, p, q, tuple(cells), tuple(gains), lift)


def every_breakpoint(corpus: Corpus, a: str, b: str) -> list[Fraction]:
    """Every weight at which two categories of some question can tie."""
    found = {Fraction(0)}
    for question in common(corpus, a, b):
        votes_a, votes_b = corpus.ballots[a][question], corpus.ballots[b][question]
        answers = list(set(votes_a) | set(votes_b))
        for j in answers:
            for k in answers:
                rise = Fraction(votes_b[j] - votes_b[k], votes_b.total())
                fall = Fraction(votes_a[k] - votes_a[j], votes_a.total())
                if rise and fall / rise > 0:
                    found.add(fall / rise)
    return sorted(found)
