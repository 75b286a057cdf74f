"""Tables of grades: by challenge, level and tier, what traces cost, and what the gold's help is worth."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from swaplaw_forensic.agent.traces import Trace
from swaplaw_forensic.grading.votes import Vote

Row = TypeVar("Row")
Key = TypeVar("Key", bound=Hashable)


def chains(votes: Sequence[Vote]) -> list[bool | None]:
    """Say of one trace's votes whether they and all that they build on are correct; None: they build on nothing."""
    named = {vote.question: vote for vote in votes}

    def whole(vote: Vote) -> bool:
        base = named.get(vote.builds_on or "")
        return vote.correct and (base is None or whole(base))

    return [None if vote.builds_on is None else whole(vote) for vote in votes]


def shares(votes: Sequence[Vote], field: str) -> list[dict[str, Any]]:
    """Return what share of each model's votes is correct and abstains, by a field, and how far chains were followed."""
    traces = _grouped(votes, lambda vote: (vote.model, vote.cluster, vote.sample))
    followed = {
        (vote.model, vote.question, vote.sample): chain
        for trace in traces.values()
        for vote, chain in zip(trace, chains(trace), strict=True)
    }
    rows = []
    for (model, value), group in sorted(_grouped(votes, lambda vote: (vote.model, getattr(vote, field))).items()):
        built = [one for vote in group if (one := followed[vote.model, vote.question, vote.sample]) is not None]
        rows.append(
            {
                "model": model,
                "challenge" if field == "cluster" else field: value,
                "votes": len(group),
                "single": sum(vote.correct for vote in group) / len(group),
                "abstained": sum(vote.answer is None for vote in group) / len(group),
                "progress": sum(built) / len(built) if built else None,
            }
        )
    return rows


def effort(traces: Sequence[Trace]) -> list[dict[str, Any]]:
    """Return what a trace of each model costs on average."""
    rows = []
    for model, group in sorted(_grouped(traces, lambda trace: trace.model).items()):
        costs = [trace.cost for trace in group if trace.cost is not None]
        means = {name: sum(getattr(t, name) for t in group) / len(group) for name in ("tokens", "messages", "seconds")}
        rows.append({"model": model, "traces": len(group), **means, "cost": sum(costs) / len(costs) if costs else None})
    return rows


def dependence(votes: Sequence[Vote]) -> list[dict[str, Any]]:
    """Return each model's plurality accuracy with the gold's help and without (the paper's third limitation).

    The paper maps every correct answer to one gold category, which no deployment can do: there, correct answers in
    different forms split their votes. Both readings of the same votes stand side by side here.
    """
    rows = []
    for model, group in sorted(_grouped(votes, lambda vote: vote.model).items()):
        questions = _grouped(group, lambda vote: vote.question).values()
        oracle = sum((_plurality([(v.answer, v.correct) for v in q]) for q in questions), Fraction(0))
        free = sum((_plurality([(v.gold_free, v.correct) for v in q]) for q in questions), Fraction(0))
        means = {"oracle": float(oracle / len(questions)), "gold_free": float(free / len(questions))}
        rows.append({"model": model, "questions": len(questions), **means})
    return rows


def _grouped(rows: Sequence[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def _plurality(rows: Sequence[tuple[str | None, bool]]) -> Fraction:
    """Return the expected correctness of the leading category, ties drawn evenly, Eq. (score).

    Without gold, answers of one category may differ in grade: a category is as right as the share of it that is.
    """
    counts = Counter(category for category, _ in rows)
    right = Counter(category for category, correct in rows if correct)
    leaders = [category for category, count in counts.items() if count == max(counts.values())]
    return sum((Fraction(right[leader], counts[leader]) for leader in leaders), Fraction(0)) / len(leaders)
