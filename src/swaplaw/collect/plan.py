"""What to collect: the questions, the models, how often and how they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SAMPLES = 24
TEMPERATURE = 1.0
MAX_TOKENS = 4096


@dataclass(frozen=True)
class Plan:
    """One collection; the same plan run again goes on where it stopped."""

    dataset: str
    models: tuple[str, ...]
    samples: int = SAMPLES
    """Votes a model and question."""
    seed: int = 0
    brief: bool = False
    grammar: bool = False
    temperature: float = TEMPERATURE
    max_tokens: int = MAX_TOKENS
    """The token cap of a completion, reasoning included."""
    connections: Mapping[str, int] = field(default_factory=dict)
    """Requests at one time for a model; the key "" stands for all others."""
    base_url: str | None = None
    time_limit: int | None = None
    """Seconds a sample."""

    def task_args(self) -> dict[str, Any]:
        """What the Inspect task takes, defaults left out: a log is known by what was asked for."""
        plain = Plan(self.dataset, self.models)
        chosen = {name: getattr(self, name) for name in ("seed", "brief", "grammar")}
        return {"dataset": self.dataset} | {
            name: value for name, value in chosen.items() if value != getattr(plain, name)
        }
