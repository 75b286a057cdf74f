"""What to collect: the questions, the models, how often and how they are asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swaplaw.errors import InputError, quote

SAMPLES = 24
TEMPERATURE = 1.0
MAX_TOKENS = 4096
LOCAL = "local/"
"""What names of models on this machine begin with."""


@dataclass(frozen=True)
class Plan:
    """One collection; the same plan run again goes on where it stopped."""

    dataset: str
    models: tuple[str, ...]
    samples: int = SAMPLES
    """Votes per model and question."""
    seed: int = 0
    brief: bool = False
    grammar: bool = False
    temperature: float = TEMPERATURE
    max_tokens: int = MAX_TOKENS
    """The token cap of a completion, reasoning included."""
    connections: Mapping[str, int] = field(default_factory=dict)
    """Requests at once for a model; the key "" stands for all others."""
    base_url: str | None = None
    time_limit: int | None = None
    """Seconds per sample."""
    manifest: str | None = None
    """A sample's manifest: ask only its questions."""
    limit: int | None = None
    """Ask only this many questions, the first ones."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Which column of the dataset's file holds which part of a question, where it cannot be guessed."""
    name: str | None = None
    """What to call the dataset."""
    skip_invalid: bool = False
    unlabelled: bool = False
    """Whether questions may lack an answer."""
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of a million tokens of `input` and of `output`, for each model that has a price."""

    def task_args(self) -> dict[str, Any]:
        """What the Inspect task takes, defaults left out: a log is known by what was asked for."""
        plain = Plan(self.dataset, self.models)
        names = ("seed", "brief", "grammar", "manifest", "limit", "columns", "name", "skip_invalid", "unlabelled")
        asked = {name: getattr(self, name) for name in names}
        return {"dataset": self.dataset} | {
            name: value for name, value in asked.items() if value != getattr(plain, name)
        }


def read_prices(file: Path) -> dict[str, dict[str, float]]:
    """Read prices: for each model, what a million tokens of input and of output cost."""
    name = quote(str(file), 200)
    wanted = 'give an object such as {"openai/gpt-4o-mini": {"input": 0.15, "output": 0.6}}'
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {model: {part: float(price[part]) for part in ("input", "output")} for model, price in found.items()}
    except OSError as error:
        raise InputError(f"{name}: cannot read prices ({error.strerror})") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(f"{name}: no prices of a million tokens in it; {wanted}") from None
