"""The plain twin: the paper's definitions in `Fraction`s and dictionaries, one question at a time, nothing clever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import polars as pl

Ballots = Mapping[str, Mapping[str, "Counter[str | None]"]]
"""model -> question -> votes per answer (None: abstention; REFUSED: one that says why)."""

REFUSED = "(refused)"


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
        frame = pl.DataFrame(
            rows, schema=dict.fromkeys(("question", "model", "answer", "gold"), pl.String), orient="row"
        )
        refused = pl.col("answer") == REFUSED
        if not frame["answer"].eq(REFUSED).any():
            return frame
        return frame.with_columns(
            pl.when(refused).then(None).otherwise("answer").alias("answer"),
            pl.when(refused).then(pl.lit("refused")).alias("reason"),
        )


def score(
    weighted: Mapping[str, Fraction],
    ballots: Ballots,
    question: str,
    gold: str,
    silent: Collection[str | None] = (),
    fallback: Sequence[str] = (),
) -> Fraction:
    """Eqs. (vote) and (score); what is silent is no category, and who is a fallback decides between equals."""
    total: dict[str | None, Fraction] = {}
    for model, weight in weighted.items():
        votes = ballots[model][question]
        for answer, number in votes.items():
            if weight and answer not in silent:
                total[answer] = total.get(answer, Fraction(0)) + weight * Fraction(number, votes.total())
    winners = best(total)
    for model in fallback:
        votes = ballots[model].get(question, Counter())
        named = {answer: n for answer, n in votes.items() if answer not in silent and answer in (winners or votes)}
        winners = best(named) or winners
    return Fraction(1, len(winners)) if gold in winners else Fraction(0)


def best(total: Mapping[str | None, Fraction] | Mapping[str | None, int]) -> list[str | None]:
    """The answers with the most, none if there is nothing."""
    return [answer for answer, share in total.items() if share == max(total.values())]


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


def law(corpus: Corpus, a: str, b: str, x: Fraction, silent: Collection[str | None] = ()) -> Twin:
    """Eqs. (lift), (exact) and (fuzzyrates), question by question."""
    questions = common(corpus, a, b)
    n = len(questions)
    cells = [Fraction(0)] * 4
    gains = [Fraction(0)] * 4
    p = q = lift = Fraction(0)
    for question in questions:
        gold = corpus.gold[question]
        ok_a = score({a: Fraction(1)}, corpus.ballots, question, gold, silent)
        ok_b = score({b: Fraction(1)}, corpus.ballots, question, gold, silent)
        pooled = score({a: Fraction(1), b: x}, corpus.ballots, question, gold, silent)
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
