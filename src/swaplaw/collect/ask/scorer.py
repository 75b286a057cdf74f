"""What a generation voted for: a canonical option, or an abstention and why."""

from __future__ import annotations

from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from swaplaw.answers.choice import read_choice
from swaplaw.answers.letters import letter
from swaplaw.collect.ask.solver import ORDER
from swaplaw.importers.record import STOPS


@metric
def abstained() -> Metric:
    """The share of samples that are null votes."""

    def share(scores: list[SampleScore]) -> float:
        return sum(score.score.reason is not None for score in scores) / len(scores) if scores else 0.0

    return share


@scorer(metrics=[accuracy(), stderr(), abstained()])
def vote() -> Scorer:
    """Score a sample's vote. An abstention has a reason and no answer, and is never correct."""

    async def score(state: TaskState, target: Target) -> Score:
        options = len(state.choices)
        reason = abstention(state)
        texts = [choice.value for choice in state.choices]
        label = None if reason else read_choice(state.output.completion, options, texts)
        if label is None:
            return Score(value=NOANSWER, reason=reason or "no_parse")
        position = [letter(place) for place in range(options)].index(label)
        answer = state.metadata[ORDER][position]
        return Score(
            value=CORRECT if answer == target.text else INCORRECT,
            answer=answer,
            metadata={"position": position + 1, "options": options},
        )

    return score


def abstention(state: TaskState) -> str | None:
    """Say why there is no answer to look for; None where there may be one."""
    if not state.output.choices:
        return "limit"  # The sample was stopped before its generation came back.
    return STOPS.get(state.output.stop_reason)
