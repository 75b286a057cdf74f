"""How much of a model's plurality accuracy the oracle normalisation makes (the paper's third limitation).

The paper maps every correct answer to one gold category, which no deployment can do: there, correct answers in
different forms split their votes. Both readings of the same votes stand side by side here.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from swaplaw_forensic.grading.votes import Vote


@dataclass(frozen=True)
class Dependence:
    """One model's plurality accuracy, with the gold's help and without."""

    model: str
    questions: int
    oracle: Fraction
    gold_free: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Return fractions of one, ready for JSON."""
        return {
            "model": self.model,
            "questions": self.questions,
            "oracle": float(self.oracle),
            "gold_free": float(self.gold_free),
        }


def dependence(votes: Sequence[Vote]) -> list[Dependence]:
    """Compare both readings for each model, in order of name."""
    table: dict[str, dict[str, list[Vote]]] = defaultdict(lambda: defaultdict(list))
    for vote in votes:
        table[vote.model][vote.question].append(vote)
    rows = []
    for model in sorted(table):
        questions = table[model].values()
        oracle = sum((_plurality([(v.answer, v.correct) for v in q]) for q in questions), Fraction(0))
        free = sum((_plurality([(v.gold_free, v.correct) for v in q]) for q in questions), Fraction(0))
        rows.append(Dependence(model, len(questions), oracle / len(questions), free / len(questions)))
    return rows


def _plurality(rows: Sequence[tuple[str | None, bool]]) -> Fraction:
    """Return the expected correctness of the leading category, ties drawn evenly, Eq. (score).

    Without gold, answers of one category may differ in grade: a category is as right as the share of it that is.
    """
    counts = Counter(category for category, _ in rows)
    right = Counter(category for category, correct in rows if correct)
    leaders = [category for category, count in counts.items() if count == max(counts.values())]
    return sum((Fraction(right[leader], counts[leader]) for leader in leaders), Fraction(0)) / len(leaders)
