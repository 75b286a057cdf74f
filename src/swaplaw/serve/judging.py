"""A policy of judges back in Inspect AI: a panel of graders is combined as it was judged best, not by a majority.

    inspect score log.eval --action append --scorer swaplaw/judged -S policy=policy.json -S judges=gpt-4o,claude,gemini

`judged` reads the verdicts that a log records and asks nobody; `weighted` is the same vote as a reducer, for graders
that are asked. Judges are named in the order of the panel, as votes of the log name them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from inspect_ai.scorer import (
    Metric,
    Score,
    Scorer,
    ScoreReducer,
    Target,
    Value,
    accuracy,
    score_reducer,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from swaplaw._inspect_run import errors_for_inspect
from swaplaw.decide.policy import Policy, read_policy
from swaplaw.errors import InputError, listing, quote
from swaplaw.serve.replay import FULL, Recorded, decided
from swaplaw.serve.vote import heard

METRICS: list[Metric | dict[str, list[Metric]]] = [accuracy(), stderr()]


class Bench:
    """A policy, and which of its judges sits where."""

    def __init__(self, policy: str, judges: str | Sequence[str]) -> None:
        with errors_for_inspect():
            self.policy: Policy = read_policy(policy)
            self.judges = [name.strip() for name in judges.split(",")] if isinstance(judges, str) else list(judges)
            if missing := [name for name in self.policy.models if name not in self.judges]:
                raise InputError(
                    f"the policy asks {listing(missing)}, and the panel's judges are {listing(self.judges)}: name them "
                    "in the order of the panel"
                )

    def verdict(self, votes: Sequence[Any]) -> Any:
        """What the policy makes of the panel's votes; None where nobody it asks said anything."""
        if len(votes) != len(self.judges):
            raise InputError(f"a panel of {len(votes)} has votes, and {len(self.judges)} judges are named")
        first = next((cast for cast in votes if isinstance(cast, dict | list)), None)
        if isinstance(first, dict):
            return {key: self.verdict([cast and cast.get(key) for cast in votes]) for key in first}
        if isinstance(first, list):
            return [self.verdict([cast and cast[place] for cast in votes]) for place in range(len(first))]
        spelt = [None if _missing(cast) else str(cast) for cast in votes]
        said = {
            (judge, ""): (heard(text, None if text else "ungraded", self.policy.silence),)
            for judge, text in zip(self.judges, spelt, strict=True)
        }
        winner = decided(Recorded(said, {"": frozenset()}), self.policy, "", FULL).winner
        return None if winner is None else votes[spelt.index(winner)]

    def score(self, votes: Sequence[Any], panel: dict[str, Any]) -> Score:
        """The verdict as a score that records who cast what, as Inspect's own reducer does."""
        with errors_for_inspect():
            found: Value | None = self.verdict(votes)
        if found is None:
            return Score(value=math.nan, reason="scoring_failed", metadata={"panel": panel})
        return Score(value=found, metadata={"panel": panel})


def _missing(cast: Any) -> bool:
    return cast is None or (isinstance(cast, float) and math.isnan(cast))


@score_reducer
def weighted(policy: str, judges: Sequence[str]) -> ScoreReducer:
    """Combine the grades of a panel by a policy: `model_graded_qa(model=[...], reducer=weighted(policy, judges))`.

    Args:
        policy: the policy's file.
        judges: the judges in the order of the panel.
    """
    bench = Bench(policy, judges)

    def reduce(scores: list[Score]) -> Score:
        votes = [None if _missing(score.value) else score.value for score in scores]
        failures = [
            {"index": place, "reason": scores[place].reason} for place, vote in enumerate(votes) if vote is None
        ]
        return bench.score(votes, {"votes": votes, "size": len(votes), "failures": failures})

    return reduce


@scorer(metrics=METRICS)
def judged(policy: str, judges: str | Sequence[str], panel: str | None = None) -> Scorer:
    """Score again what a panel of graders scored, by a policy; no grader is asked.

    Args:
        policy: the policy's file.
        judges: the judges in the order of the panel, with commas between.
        panel: the scorer whose panel it is, where several have one.
    """
    bench = Bench(policy, judges)

    async def score(state: TaskState, target: Target) -> Score:
        found = {
            name: (one.metadata or {})["panel"]
            for name, one in (state.scores or {}).items()
            if panel in (None, name) and "panel" in (one.metadata or {})
        }
        if len(found) != 1:
            with errors_for_inspect():
                raise InputError(
                    f"sample {quote(state.sample_id)}: one panel of graders is needed, and there is "
                    f"{listing(list(found)) if found else 'none'}; score with `--action append`, and name a scorer "
                    "with `panel`"
                )
        [(_, recorded)] = found.items()
        return bench.score(recorded["votes"], recorded)

    return score
