"""How the votes of Inspect logs came about: who read the answers, the temperature, what truncation counts as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from swaplaw.answers.readers import Reader
from swaplaw.importers.documents import CHOICE
from swaplaw.importers.inspect.answers import SampleRow

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog


def is_ours(header: EvalLog) -> bool:
    """Whether a log is of our own task, whose scorer is the one reader and says where the chosen option was shown."""
    return bool(header.eval.task_registry_name == "swaplaw/mcq")


@dataclass
class Readers:
    """Who read the answers: the one reader, if it read all of them; with as many labels as there are options."""

    ours: bool
    """Whether all logs are of our own task."""
    spoken: bool = False
    scored: bool = False
    options: int = 0

    def see(self, ballot: SampleRow) -> None:
        """Look at one vote."""
        if ballot.row["answer"] is None:
            return
        self.spoken |= ballot.spoken or self.ours
        self.scored |= not (ballot.spoken or self.ours)
        self.options = max(self.options, ballot.options)

    @property
    def reader(self) -> Reader | None:
        """The reader of all answers; None where a scorer of its own kind read some."""
        if not self.spoken or self.scored:
            return None
        return Reader.of_options(self.options) if self.options else CHOICE


def recorded(headers: Sequence[EvalLog]) -> dict[str, Any]:
    """What the headers tell of how completions came about, where all of them agree."""
    temperatures = {_temperature(header) for header in headers}
    known: dict[str, Any] = {"truncated": "abstain"} if all(map(is_ours, headers)) else {}
    temperature = temperatures.pop() if len(temperatures) == 1 else None
    return known if temperature is None else known | {"temperature": temperature}


def _temperature(header: EvalLog) -> float | None:
    """The temperature of an evaluation: what its run was given, else what the model was made with."""
    for config in (header.plan.config, header.eval.model_generate_config):
        if config.temperature is not None:
            return float(config.temperature)
    return None
