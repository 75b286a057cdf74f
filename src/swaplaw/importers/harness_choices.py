"""What a multiple-choice sample of lm-evaluation-harness votes for, and which of its options is right.

Samples keep the target as text: an index, an option, or (where the options are contexts) neither. One reading must
hold for a whole file and agree with the harness's own grades: a gold that is misread would count as a wrong answer.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from swaplaw.answers.characters import storable
from swaplaw.answers.letters import letter
from swaplaw.errors import InputError, listing, quote
from swaplaw.importers.record import bounded

PLAIN, BY_LENGTH, BY_BYTES, MUTUAL = "acc", "acc_norm", "acc_bytes", "acc_mutual_info"


@dataclass(frozen=True)
class Choice:
    """One document: its options, how each of them scored, and what the harness says of the best."""

    options: tuple[str, ...]
    scores: tuple[float, ...]
    target: str
    right: bool | None
    """Whether the harness graded the best option as right; None where it kept no grade."""

    @property
    def best(self) -> int | None:
        """The option of the highest score; None where the model gave no number."""
        return None if any(map(math.isnan, self.scores)) else self.scores.index(max(self.scores))

    def votes(self, golds: list[int], shares: int | None) -> list[dict[str, Any]]:
        """One vote for the best option, or the softmax as shares; each of several right options stays an answer."""
        gold, shown = ", ".join(map(letter, sorted(golds))), {"options": len(self.options)}
        if self.best is None:
            return [shown | {"sample": 0, "answer": None, "gold": gold, "reason": "error", "correct": False}]
        places = [self.best] if shares is None else apportion(list(self.scores), shares)
        return [
            shown
            | {
                "sample": number,
                "answer": letter(place),
                "gold": gold,
                "reason": None,
                "correct": place in golds,
                "option": bounded(storable(self.options[place]))[:200],
            }
            for number, place in enumerate(places)
        ]


def choice_of(line: dict[str, Any], metric: str | None) -> Choice | None:
    """Read one line; None where it is not multiple choice."""
    likelihoods = _likelihoods(line["filtered_resps"])
    if likelihoods is None or not len(likelihoods) == len(line["arguments"]) > 1:
        return None
    pairs = [(str(argument["arg_0"]), str(argument["arg_1"])) for argument in line["arguments"].values()]
    unconditional: list[float] = []
    if MUTUAL in line.get("metrics", ()):  # The second half is what the options score without the question.
        half = len(pairs) // 2
        pairs, likelihoods, unconditional = pairs[:half], likelihoods[:half], likelihoods[half:]
    texts = [text for _, text in pairs]
    if len(set(texts)) == 1:  # The options are contexts of one continuation, as in WinoGrande.
        texts = [context for context, _ in pairs]
    graded = _grades(line)
    if metric is not None and metric not in graded:
        raise InputError(f"there is no metric {quote(metric)} to vote by; there are {listing(list(graded))}")
    chosen = metric or PLAIN
    scores = _scores(chosen, likelihoods, [text.removeprefix(" ") for text in texts], unconditional)
    options = tuple(text.strip() for text in texts)
    return Choice(options, scores, str(line["target"]).strip(), _right(line, chosen, graded))


def _grades(line: dict[str, Any]) -> dict[str, float]:
    """The grades of the metrics that choose an option, as far as the harness kept them."""
    known = (PLAIN, BY_LENGTH, BY_BYTES, MUTUAL)
    return {name: float(line[name]) for name in known if isinstance(line.get(name), int | float)}


def _right(line: dict[str, Any], metric: str, graded: dict[str, float]) -> bool | None:
    grade = graded.get(metric)
    if grade not in (None, 0.0, 1.0):
        raise InputError(
            f"document {line['doc_id']} has {quote(metric)} {grade:g}, neither right nor wrong: the task gives credit "
            "to several options at once, and a vote names one"
        )
    return None if grade is None else grade == 1.0


def _scores(metric: str, likelihoods: list[float], texts: list[str], unconditional: list[float]) -> tuple[float, ...]:
    if metric == BY_LENGTH:
        return tuple(value / len(text) for value, text in zip(likelihoods, texts, strict=True))
    if metric == BY_BYTES:
        return tuple(value / len(text.encode()) for value, text in zip(likelihoods, texts, strict=True))
    if metric == MUTUAL:
        return tuple(value - alone for value, alone in zip(likelihoods, unconditional, strict=True))
    return tuple(likelihoods)


def _likelihoods(responses: Any) -> list[float] | None:
    """Log-likelihoods of the options, written as numbers or as text; None where responses are something else."""
    try:
        pairs = [(float(likelihood), str(greedy)) for likelihood, greedy in responses]
    except (TypeError, ValueError):
        return None
    return [value for value, _ in pairs] if all(greedy in ("True", "False") for _, greedy in pairs) else None


def _by_index(choice: Choice) -> list[int] | None:
    """An index, or a list of them: any of these options is right."""
    if not re.fullmatch(r"\d+|\[\d+(, \d+)*\]", choice.target):
        return None
    found = json.loads(choice.target)
    places = found if isinstance(found, list) else [found]
    return places if all(place < len(choice.options) for place in places) else None


def _by_text(choice: Choice) -> list[int] | None:
    return [choice.options.index(choice.target)] if choice.target in choice.options else None


def _by_letter(choice: Choice) -> list[int] | None:
    place = ord(choice.target) - ord("A") if re.fullmatch("[A-Z]", choice.target) else len(choice.options)
    return [place] if place < len(choice.options) else None


def _by_grade(choice: Choice) -> list[int] | None:
    """Where the target is the continuation that all options share, the grade tells which of two is right."""
    if choice.right is None or choice.best is None or len(choice.options) != 2:
        return None
    return [choice.best if choice.right else 1 - choice.best]


@dataclass
class Golds:
    """Which ways to read the targets of a file are still possible, the harness's own first."""

    readings: list[Callable[[Choice], list[int] | None]] = field(
        default_factory=lambda: [_by_index, _by_text, _by_letter, _by_grade]
    )
    refused: str = ""
    """What told against the last reading."""

    def see(self, choice: Choice, document: Any) -> None:
        """Drop the readings that do not fit this document, or contradict its grade."""
        left = [reading for reading in self.readings if _fits(choice, reading(choice))]
        if self.readings and not left:
            self.refused = f"target {quote(choice.target, 60)} of document {document}"
        self.readings = left

    def of(self, choice: Choice) -> list[int]:
        """The right options of a document; all of them make its gold."""
        found = self.readings[0](choice) if self.readings else None
        if found is None:
            raise InputError(
                f"which option is right cannot be told from the {self.refused}: no way to read it as an option agrees "
                "with the harness's own grades"
            )
        return found


def _fits(choice: Choice, golds: list[int] | None) -> bool:
    if golds is None:
        return False
    return choice.right is None or choice.best is None or (choice.best in golds) == choice.right


def apportion(likelihoods: list[float], shares: int) -> list[int]:
    """Split `shares` votes by the softmax: whole parts first, then the largest remainders, earlier options first."""
    top = max(likelihoods)
    masses = [math.exp(value - top) for value in likelihoods]
    quotas = [shares * mass / sum(masses) for mass in masses]
    seats = [math.floor(quota) for quota in quotas]
    by_remainder = sorted(range(len(quotas)), key=lambda place: (seats[place] - quotas[place], place))
    for place in by_remainder[: shares - sum(seats)]:
        seats[place] += 1
    return [place for place, number in enumerate(seats) for _ in range(number)]
