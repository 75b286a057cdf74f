"""What a check says, and when what it found is serious."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from swaplaw._core.results import Result
from swaplaw.errors import several

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
SERIOUS = 0.05
"""A fault in this share of a model's votes or more is an error, not a warning."""
SURE = 20
"""Questions on which a model does the same thing before it is called a habit."""


@dataclass(frozen=True)
class Check(Result):
    """Something that looks wrong in votes."""

    name: str
    severity: Severity
    model: str | None
    """The model that it is about, if it is about one."""
    questions: int
    """How many questions are affected."""
    message: str
    """What is wrong, with an example."""
    fix: str
    """What would put it right."""
    dataset: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def votes_differ(votes: int, share: float) -> str:
    """Say how many votes differ, and which share of all they are.

    >>> votes_differ(1, 0.001), votes_differ(20, 0.1)
    ('1 vote (under 1%) differs', '20 votes (10%) differ')
    """
    shown = "under 1%" if share < 0.01 else f"{share:.0%}"
    return f"{several(votes, 'vote')} ({shown}) {'differs' if votes == 1 else 'differ'}"
