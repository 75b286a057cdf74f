"""Run lm-evaluation-harness with a scripted model: `python harness_scripted.py TRUTH ARGUMENTS...`.

TRUTH is a JSON file of the model's responses by question; the arguments are those of the harness's own command line.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from lm_eval.__main__ import cli_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

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
    RESPONSES.update(json.loads(Path(sys.argv.pop(1)).read_text()))
    cli_evaluate()
