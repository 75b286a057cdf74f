"""Run lm-evaluation-harness with a scripted model: `python harness_scripted.py TRUTH ARGUMENTS...`.

TRUTH is a JSON file of the model's responses by question, or `-` for none; the arguments are those of the harness's own
command line. Only the tasks of `--include_path` are there: reading the harness's 14,000 others takes most of a run.
"""

import json
import sys
from collections import Counter
from functools import partialmethod
from pathlib import Path
from typing import Any

import lm_eval.models  # noqa: F401 (registers the dummy model)
from lm_eval.__main__ import cli_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from lm_eval.tasks import TaskManager

RESPONSES: dict[str, list[str]] = {}


@register_model("scripted")
class Scripted(LM):  # type: ignore[misc]
    """Answers a question with its responses, one after the other."""

    def __init__(self, **_: Any) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    @classmethod
    def create_from_arg_string(cls, arg_string: str, additional_config: Any = None) -> "Scripted":
        return cls()

    @classmethod
    def create_from_arg_obj(cls, arg_dict: dict[str, Any], additional_config: Any = None) -> "Scripted":
        return cls()

    def _answer(self, prompt: str) -> str:
        question = next(question for question in RESPONSES if question in prompt.rsplit("Q:", 1)[-1])
        self.asked[question] += 1
        return RESPONSES[question][self.asked[question] - 1]

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return [self._answer(request.arguments[0]) for request in requests]

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError


if __name__ == "__main__":
    if (truth := sys.argv.pop(1)) != "-":
        RESPONSES.update(json.loads(Path(truth).read_text()))
    TaskManager.__init__ = partialmethod(TaskManager.__init__, include_defaults=False)
    cli_evaluate()
