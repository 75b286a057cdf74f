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

from swaplaw.decide.policy import Policy
from swaplaw.errors import InputError, listing, quote
from swaplaw.serve.stop import Sampling, Stop, StopRule
from swaplaw.serve.vote import Answer, Ballot, terms_of
from swaplaw.votes.table import Votes

Progress = Callable[[Iterable[str]], Iterable[str]]


@dataclass(frozen=True)
class Recorded:
    """Recorded answers of each model to each question, in order, and the golds."""

    answers: Mapping[tuple[str, str], Sequence[Answer]]
    gold: Mapping[str, str]

    def by_question(self, models: Sequence[str]) -> dict[str, list[Sequence[Answer]]]:
        """The votes of each of these models on every question that all of them answered."""
        questions = sorted(q for q in self.gold if all((model, q) in self.answers for model in models))
        return {question: [self.answers[model, question] for model in models] for question in questions}

    def shuffled(self, seed: int) -> Recorded:
        """The same votes, each model's in another order."""
        rng = Random(seed)
        return Recorded({key: rng.sample(votes, len(votes)) for key, votes in sorted(self.answers.items())}, self.gold)


def recorded(votes: Votes, models: Sequence[str], dataset: str | None = None, *, graded: bool = True) -> Recorded:
    """Take these models' votes in the order of their samples; `graded` answers that are correct count as gold."""
    import polars as pl

    names = votes.datasets
    if dataset is None and len(names) > 1:
        raise InputError(f"these votes hold {len(names)} datasets ({listing(names)}); name one (`dataset`)")
    if dataset is not None and dataset not in names:
        raise InputError(f"there is no dataset {quote(dataset)}; there are {listing(names)}")
    columns = votes.frame.collect_schema().names()
    answer: pl.Expr = pl.when(pl.col("answer").str.strip_chars() != "").then("answer")
    if graded and "correct" in columns:
        # As in every analysis of these votes; deployment, which has no grades, may split what is one category here.
        answer = pl.when(pl.col("correct")).then("gold").otherwise(answer)
    chosen = votes.frame.filter(pl.col("model").is_in(list(models)), pl.col("dataset") == (dataset or names[0]))
    order = [name for name in ("sample",) if name in columns]
    frame = chosen.select("question", "model", "gold", answer.alias("answer"), *order).collect()
    if missing := [model for model in models if model not in frame["model"].unique()]:
        known = listing(sorted(votes.counts["model"].unique()))
        raise InputError(f"the policy's member {quote(missing[0])} has no votes here; there are {known}")
    if order:
        frame = frame.sort("sample", maintain_order=True)
    groups = frame.group_by("model", "question", maintain_order=True).agg("answer")
    answers = {(model, question): cast for model, question, cast in groups.iter_rows()}
    return Recorded(answers, dict(frame.select("question", "gold").unique().iter_rows()))


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
    """1 / |T| when gold is in the tie set T, else 0, Eq. (score)."""
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
            "error": self.rule.error,
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
    models = [member.model for member in policy.members]
    played = votes if isinstance(votes, Recorded) else recorded(votes, models, dataset)
    if seed is not None:
        played = played.shuffled(seed)
    questions = sorted(q for q in played.gold if all((model, q) in played.answers for model in models))
    if not questions:
        raise InputError(f"there is no question that all members ({listing(models)}) answered")
    full: dict[str, Decided] = {}
    decided: dict[str, list[Decided]] = {name: [] for name in rules}
    prices = tuple(member.price for member in policy.members)
    for question in progress(questions):
        full[question] = _decide(played, policy, question, FULL)
        for name, rule in rules.items():
            decided[name].append(full[question] if rule == FULL else _decide(played, policy, question, rule))
    return [
        Replayed(name, rule, prices, tuple(found), sum(set(one.ties) != set(full[one.question].ties) for one in found))
        for (name, rule), found in zip(rules.items(), decided.values(), strict=True)
    ]


def _decide(played: Recorded, policy: Policy, question: str, rule: StopRule) -> Decided:
    cast = [played.answers[member.model, question][: member.samples] for member in policy.members]
    prices = [member.price or 0.0 for member in policy.members]
    ballot = Ballot([member.weight for member in policy.members], [len(votes) for votes in cast])
    terms = terms_of(policy.members, policy.voting, policy.serving)
    sampling = Sampling(rule, terms, prices)
    while not isinstance(step := sampling.next(ballot), Stop):
        for member, number in enumerate(step):
            start = ballot.cast_by(member)
            for answer in cast[member][start : start + number]:
                ballot.cast(member, answer)
    winner = terms.winner(ballot)
    leaders = terms.active(ballot).standing().leaders
    if winner not in leaders:
        leaders = (winner,)  # Short of the plurality that is asked for.
    gold = played.gold[question]
    return Decided(
        question=question,
        winner=winner,
        ties=(winner, *(answer for answer in leaders if answer != winner)),
        spent=tuple(votes.total() for votes in ballot.counts),
        planned=tuple(ballot.samples),
        rounds=sampling.rounds,
        score=Fraction(1, len(leaders)) if gold in leaders else Fraction(0),
        stopped=step.how,
    )
