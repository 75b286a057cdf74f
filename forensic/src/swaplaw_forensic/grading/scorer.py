"""The Inspect scorer: the votes that `swaplaw forensic grade` would make, as scores that Inspect shows.

`inspect score LOG --scorer swaplaw_forensic/graded` scores a log of an earlier version. Questions that need a judge
have one where `judge` names a model; without, those to rubrics are left out and unsure answers abstain, as in `grade`.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from inspect_ai.log import transcript
from inspect_ai.model import get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from swaplaw.errors import InputError
from swaplaw_forensic.agent.traces import ANSWERS, FINISHED, Trace

VOTES = "votes"
"""Where the metadata of a score keeps its votes, a row for each question."""
EFFORT = ("tokens", "cost", "messages", "seconds")


def over_votes(value: str, names: Callable[[dict[str, Any]], tuple[str, ...]]) -> Metric:
    """Make a metric: the mean of one kind of value over all votes, under each of the names that a vote has.

    Inspect has averaged the values of several epochs before; what names a vote is the same in all of them.
    """

    def compute(scores: list[SampleScore]) -> Value:
        found: dict[str, list[float]] = {}
        for score in scores:
            values = score.score.value if isinstance(score.score.value, Mapping) else {}
            for vote in (score.score.metadata or {}).get(VOTES, []):
                said = values.get(f"{value}{vote['question']}")
                for name in names(vote) if isinstance(said, int | float) else ():
                    found.setdefault(name, []).append(float(said))  # type: ignore[arg-type]
        return {name: sum(values) / len(values) for name, values in sorted(found.items())}

    return compute


@metric
def accuracy() -> Metric:
    """Share of correct votes, of all, and by challenge, level and tier."""
    return over_votes("", lambda vote: ("accuracy", *(f"{name} {vote[field]}" for name, field in BY.items())))


BY = {"level": "level", "tier": "tier", "challenge": "cluster"}


@metric
def abstained() -> Metric:
    """Share of votes that name nothing."""
    return over_votes("abstained: ", lambda vote: ("abstained",))


@metric
def progress() -> Metric:
    """How far traces came: of the questions that build on another, the share whose whole chain is correct."""
    return over_votes("progress: ", lambda vote: ("progress",))


@metric
def effort() -> Metric:
    """Tokens, cost, messages and seconds of a trace."""

    def compute(scores: list[SampleScore]) -> Value:
        rows = [score.score.value for score in scores if isinstance(score.score.value, Mapping)]
        known = {name: [float(row[name]) for row in rows if row.get(name) is not None] for name in EFFORT}  # type: ignore[arg-type]
        return {name: sum(values) / len(values) for name, values in known.items() if values}

    return compute


@scorer(metrics=[accuracy(), abstained(), progress(), effort()])
def graded(judge: str | None = None) -> Scorer:
    """Grade every question of a trace.

    Args:
        judge: Any Inspect model, for rubrics and for answers that hold the right one unproven.
    """

    async def score(state: TaskState, target: Target) -> Score:
        from swaplaw_forensic.grading.judge import verdicts
        from swaplaw_forensic.grading.tables import chains
        from swaplaw_forensic.grading.votes import Key, grade_traces, to_judge

        trace = trace_of(state)
        try:
            key = Key([trace])
        except InputError as error:  # a challenge of one's own may have no gold, or another key built the case
            return Score.unscored(reason="no gold", explanation=str(error))
        outcomes = None if judge is None else await verdicts(to_judge([trace], key), get_model(judge))
        votes = grade_traces([trace], key, outcomes).votes
        value: dict[str, float] = {}
        for vote, chain in zip(votes, chains(votes), strict=True):
            value[vote.question] = float(vote.correct)
            value[f"abstained: {vote.question}"] = float(vote.answer is None)
            if chain is not None:
                value[f"progress: {vote.question}"] = float(chain)
        value |= {name: float(spent) for name in EFFORT if (spent := getattr(trace, name)) is not None}
        return Score(
            value=value,
            answer="\n".join(f"{vote.question}: {vote.submitted}" for vote in votes if vote.submitted is not None),
            explanation="\n".join(f"{vote.question}: {vote.why}" for vote in votes),
            metadata={VOTES: [asdict(vote) for vote in votes]},
        )

    return score


def trace_of(state: TaskState) -> Trace:
    """Return the trace that a sample was, while it is scored: in its run, or from its log."""
    events = transcript().events
    usages = [event.output.usage for event in events if event.event == "model" and event.output.usage is not None]
    stamps: list[datetime] = [event.timestamp for event in events]
    answers: dict[str, str] = state.store.get(ANSWERS, {})
    costs = [usage.total_cost for usage in usages if usage.total_cost is not None]
    return Trace(
        model=str(state.model),
        challenge=str(state.metadata["challenge"]),
        folder=state.metadata.get("folder"),
        questions=tuple(state.metadata["questions"]),
        answers=answers,
        ended="finish" if state.store.get(FINISHED) else "stopped",
        tokens=sum(usage.total_tokens for usage in usages),
        sample=state.epoch - 1,
        key=state.metadata.get("key"),
        messages=len(state.messages),
        seconds=(max(stamps) - min(stamps)).total_seconds() if stamps else 0.0,
        cost=sum(costs) if costs else None,
    )
