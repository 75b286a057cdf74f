"""The Inspect scorer: the votes that `swaplaw forensic grade` would make, as scores that Inspect shows.

`inspect score LOG --scorer swaplaw_forensic/graded` scores a log of an earlier version. Questions that need a judge
have one where `judge` names a model; without, those to rubrics are left out and unsure answers abstain, as in `grade`.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime

from inspect_ai.log import transcript
from inspect_ai.model import get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from swaplaw.errors import InputError
from swaplaw_forensic.agent.traces import BY, EFFORT, FINISHED, Trace, made

VOTES = "votes"
"""Where the metadata of a score keeps its votes, a row for each question."""


@metric
def figures() -> Metric:
    """Accuracy of all votes, and by challenge, level and tier; abstention; progress; what a trace cost.

    Progress is the share, of the questions that build on another, whose whole chain is correct. Inspect has averaged
    the values of several epochs before; what names a vote is the same in all of them.
    """

    def compute(scores: list[SampleScore]) -> Value:
        found: dict[str, list[float]] = {}
        for score in scores:
            values = score.score.value if isinstance(score.score.value, Mapping) else {}
            names: dict[str, tuple[str, ...]] = {name: (name,) for name in EFFORT}
            for vote in (score.score.metadata or {}).get(VOTES, []):
                question = vote["question"]
                names[question] = ("accuracy", *(f"{name} {vote[field]}" for name, field in BY.items()))
                names |= {f"{kind}: {question}": (kind,) for kind in ("abstained", "progress")}
            for value, figure in ((values.get(value), figure) for value, all_ in names.items() for figure in all_):
                if isinstance(value, int | float):
                    found.setdefault(figure, []).append(float(value))
        return {name: sum(values) / len(values) for name, values in sorted(found.items())}

    return compute


@scorer(metrics=[figures()])
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
    stamps: list[datetime] = [event.timestamp for event in events]
    return made(
        str(state.model),
        state.metadata,
        state.store,
        [event.output.usage for event in events if event.event == "model" and event.output.usage is not None],
        ended="finish" if state.store.get(FINISHED) else "stopped",
        sample=state.epoch - 1,
        messages=len(state.messages),
        seconds=(max(stamps) - min(stamps)).total_seconds() if stamps else 0.0,
    )
