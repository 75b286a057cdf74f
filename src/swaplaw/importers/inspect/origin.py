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
    from inspect_ai.model import GenerateConfig


TELLING = {"temperature", "top_p", "top_k", "max_tokens", "reasoning_effort", "reasoning_tokens", "effort"}
"""Settings that make another model of one; how often and how fast it is asked does not."""


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


def differing(first: EvalLog, second: EvalLog) -> list[str]:
    """What two runs of one model and task were set to differently, as `setting: first, then second`."""
    one, two = _settings(first), _settings(second)
    names = [name for name in {**one, **two} if one.get(name) != two.get(name)]
    return [f"{name}: {one.get(name)}, then {two.get(name)}" for name in names]


def _settings(header: EvalLog) -> dict[str, Any]:
    """Arguments of task, model and solver, and how replies are generated; a seed only makes further samples."""
    spec = header.eval
    generated = {**_given(spec.model_generate_config), **_given(header.plan.config)}
    arguments = {**spec.task_args, **spec.model_args, **(spec.solver_args or {})}
    return {**arguments, **generated, "solver": spec.solver}


def _given(config: GenerateConfig) -> dict[str, Any]:
    return config.model_dump(exclude_none=True, include=TELLING)


def _temperature(header: EvalLog) -> float | None:
    """The temperature of an evaluation: what its run was given, else what the model was made with."""
    for config in (header.plan.config, header.eval.model_generate_config):
        if config.temperature is not None:
            return float(config.temperature)
    return None
