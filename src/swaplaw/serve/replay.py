"""Recorded votes played back: what a policy decides, and what early stopping saves, at each setting.

The votes of each question are drawn in their recorded order (or shuffled by a seed) by the very rule that serves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from random import Random
from typing import Any

from swaplaw.decide.policy import Policy, Silence
from swaplaw.errors import Fix, InputError, listing, quote
from swaplaw.serve.stop import Course, StopRule, terms_of
from swaplaw.serve.vote import Answer, Vote, heard
from swaplaw.votes.table import Votes

Progress = Callable[[Iterable[str]], Iterable[str]]


@dataclass(frozen=True)
class Recorded:
    """What each model said of each question, in order, and the right answers."""

    answers: Mapping[tuple[str, str], Sequence[Vote]]
    right: Mapping[str, frozenset[str]]

    def by_question(self, models: Sequence[str]) -> dict[str, list[Sequence[Vote]]]:
        """The votes of each of these models on every question that all of them answered."""
        questions = sorted(q for q in self.right if all((model, q) in self.answers for model in models))
        return {question: [self.answers[model, question] for model in models] for question in questions}

    def shuffled(self, seed: int) -> Recorded:
        """The same votes, each model's in another order."""
        rng = Random(seed)
        return Recorded({key: rng.sample(votes, len(votes)) for key, votes in sorted(self.answers.items())}, self.right)


def recorded(votes: Votes, models: Sequence[str], dataset: str | None = None, silence: Silence = "counts") -> Recorded:
    """Take what these models said, in the order of their samples; what was graded as correct is right."""
    import polars as pl

    names = votes.datasets
    if dataset is None and len(names) > 1:
        raise InputError(
            f"these votes hold {len(names)} datasets ({listing(names)})", Fix("dataset", "NAME", "pick one")
        )
    if dataset is not None and dataset not in names:
        raise InputError(f"there is no dataset {quote(dataset)}; there are {listing(names)}")
    columns = votes.frame.collect_schema().names()
    answer: pl.Expr = pl.when(pl.col("answer").str.strip_chars() != "").then("answer")
    chosen = votes.frame.filter(pl.col("model").is_in(list(models)), pl.col("dataset") == (dataset or names[0]))
    more = [name for name in ("sample", "reason", "correct") if name in columns]
    frame = chosen.select("question", "model", "gold", answer.alias("answer"), *more).collect()
    if missing := [model for model in models if model not in frame["model"].unique()]:
        known = listing(sorted(votes.counts["model"].unique()))
        raise InputError(f"the policy's {quote(missing[0])} has no votes here; there are {known}")
    if "sample" in more:
        frame = frame.sort("sample", maintain_order=True)
    # As in every analysis of these votes: what was graded as correct is right, and gold where nothing was graded.
    grades = frame["correct"] if "correct" in more else pl.Series([None] * len(frame), dtype=pl.Boolean)
    right: dict[str, set[str]] = {question: set() for question in frame["question"].unique()}
    for question, gold, said, correct in zip(frame["question"], frame["gold"], frame["answer"], grades, strict=True):
        if correct is None and gold is not None:
            right[question].add(gold)
        elif correct and said is not None:
            right[question].add(said)
    reasons = frame["reason"] if "reason" in more else [None] * len(frame)
    answers: dict[tuple[str, str], list[Vote]] = {}
    for model, question, said, reason in zip(frame["model"], frame["question"], frame["answer"], reasons, strict=True):
        answers.setdefault((model, question), []).append(heard(said, reason, silence))
    return Recorded(answers, {question: frozenset(found) for question, found in right.items()})


@dataclass(frozen=True)
class Decided:
    """One question's decision at one setting."""

    question: str
    winner: Answer
    ties: tuple[Answer, ...]
    """Every category in the tie set, the winner first."""
    spent: tuple[int, ...]
    """Samples drawn of each member."""
    planned: tuple[int, ...]
    rounds: int
    score: Fraction
    """The share of right answers in the tie set, Eq. (score)."""
    stopped: str

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "question": self.question,
            "winner": self.winner,
            "ties": list(self.ties[1:]),
            "spent": list(self.spent),
            "planned": list(self.planned),
            "rounds": self.rounds,
            "score": float(self.score),
            "stopped": self.stopped,
        }


@dataclass(frozen=True)
class Replayed:
    """All decisions at one setting."""

    name: str
    rule: StopRule
    prices: tuple[float | None, ...]
    decisions: tuple[Decided, ...] = field(repr=False)
    changed: int
    """Decisions that differ from those of the full vote, tie sets included."""

    @property
    def spent(self) -> int:
        """Samples drawn."""
        return sum(sum(one.spent) for one in self.decisions)

    @property
    def planned(self) -> int:
        """Samples that the full vote draws."""
        return sum(sum(one.planned) for one in self.decisions)

    @property
    def saved(self) -> Fraction:
        """Share of the samples that need not be drawn."""
        return 1 - Fraction(self.spent, self.planned)

    @property
    def accuracy(self) -> Fraction:
        """Mean score."""
        return sum((one.score for one in self.decisions), Fraction(0)) / len(self.decisions)

    @property
    def rounds(self) -> Fraction:
        """Mean number of rounds: how many times a question waits for its slowest sample."""
        return Fraction(sum(one.rounds for one in self.decisions), len(self.decisions))

    def rounds_at(self, quantile: float) -> int:
        """A quantile of the rounds that questions took: the smallest number that so large a share stayed within."""
        ordered = sorted(one.rounds for one in self.decisions)
        return ordered[max(0, ceil(quantile * len(ordered)) - 1)]

    @property
    def asked(self) -> Fraction:
        """Share of the questions on which others than the primary were asked."""
        return Fraction(sum(any(one.spent[1:]) for one in self.decisions), len(self.decisions))

    @property
    def cost(self) -> float | None:
        """Cost of the samples drawn, where every price is known."""
        known = [price for price in self.prices if price is not None]
        if len(known) < len(self.prices):
            return None
        return sum(price * n for one in self.decisions for price, n in zip(known, one.spent, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, without the single decisions."""
        return {
            "setting": self.name,
            "exact": self.rule.exact,
            "rounds": self.rule.rounds,
            "questions": len(self.decisions),
            "changed": self.changed,
            "accuracy": float(self.accuracy),
            "null_wins": sum(one.winner is None for one in self.decisions),
            "tied": sum(len(one.ties) > 1 for one in self.decisions),
            "samples": {"planned": self.planned, "spent": self.spent, "saved": float(self.saved)},
            "mean_rounds": float(self.rounds),
            "p90_rounds": self.rounds_at(0.9),
            "max_rounds": self.rounds_at(1),
            "asked": float(self.asked),
            "cost": self.cost,
        }


FULL = StopRule(exact=False)


def replay(
    votes: Votes | Recorded,
    policy: Policy,
    rules: Mapping[str, StopRule],
    *,
    dataset: str | None = None,
    seed: int | None = None,
    progress: Progress = iter,
) -> list[Replayed]:
    """Play recorded votes back at each setting; questions that not every member answered are left out."""
    models = policy.models
    played = votes if isinstance(votes, Recorded) else recorded(votes, models, dataset, policy.silence)
    if seed is not None:
        played = played.shuffled(seed)
    questions = sorted(played.by_question(models))
    if not questions:
        raise InputError(f"there is no question that all of {listing(models)} answered")
    full: dict[str, Decided] = {}
    found: dict[str, list[Decided]] = {name: [] for name in rules}
    prices = tuple(one.price for one in policy.asked)
    for question in progress(questions):
        full[question] = decided(played, policy, question, FULL)
        for name, rule in rules.items():
            found[name].append(full[question] if rule == FULL else decided(played, policy, question, rule))
    return [
        Replayed(name, rule, prices, tuple(own), sum(set(one.ties) != set(full[one.question].ties) for one in own))
        for (name, rule), own in zip(rules.items(), found.values(), strict=True)
    ]


def decided(played: Recorded, policy: Policy, question: str, rule: StopRule) -> Decided:
    """What the policy decides on one question, and what it drew for that."""
    said = [played.answers[one.model, question][: one.samples] for one in policy.asked]
    course = Course(terms_of(policy), rule, [len(own) for own in said])
    spent = [0] * len(said)
    while (plan := course.next()) is not None:
        for place, number in enumerate(plan):
            for vote in said[place][spent[place] : spent[place] + number]:
                course.cast(place, vote)
            spent[place] += number
    winner, leaders = course.winner, course.leaders
    right = played.right[question]
    return Decided(
        question=question,
        winner=winner,
        ties=(winner, *(answer for answer in leaders if answer != winner)),
        spent=tuple(spent),
        planned=tuple(len(own) for own in said),
        rounds=course.rounds,
        score=Fraction(sum(answer in right for answer in leaders), max(1, len(leaders))),
        stopped=course.stopped,
    )
