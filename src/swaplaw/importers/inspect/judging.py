"""A model as the judge of whether two answers mean the same, through Inspect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swaplaw.errors import MissingExtraError

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from swaplaw.votes.grouping import Judge

PROMPT = (
    "Do these two answers to the same question mean the same? Reply with one word, SAME or DIFFERENT.\n\n"
    "Question: {question}\nFirst answer: {first}\nSecond answer: {second}\n"
)
LONGEST = 2000


def judged_by(model: str | Model, questions: Mapping[str, str] | None = None) -> Judge:
    """Make a judge of any Inspect model; pairs that were judged before are remembered.

    Parameters
    ----------
    model : str or Model
        The model, as Inspect names it.
    questions : mapping, optional
        The text of each question by its id; without it, the judge sees the id.

    Returns
    -------
    callable
        What `group_answers` asks. A reply that is neither SAME nor DIFFERENT is taken as different.
    """
    try:
        from anyio import run
        from inspect_ai.model import GenerateConfig, get_model
    except ImportError:
        raise MissingExtraError("inspect", "grouping answers by a model") from None
    asked = get_model(model) if isinstance(model, str) else model
    remembered: dict[tuple[str, frozenset[str]], bool] = {}

    def same(question: str, first: str, second: str) -> bool:
        key = (question, frozenset((first, second)))
        if key not in remembered:
            text = (questions or {}).get(question, question)
            prompt = PROMPT.format(question=text[:LONGEST], first=first[:LONGEST], second=second[:LONGEST])

            async def ask() -> str:
                reply = await asked.generate(prompt, config=GenerateConfig(temperature=0.0, seed=0, max_tokens=16))
                return str(reply.completion)

            remembered[key] = run(ask).strip(" .*\n").upper().startswith("SAME")
        return remembered[key]

    return same
