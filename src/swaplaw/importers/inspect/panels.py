"""Judges as voters: of logs that a panel of graders scored, every grader's verdict on every reply is a vote.

The question is the judged item (one model's reply to one sample in one epoch), the model is the judge, the answer its
verdict. Gold is what people said of the item, in the sample's metadata, or else what another scorer of the same log
found. Inspect's reducer `majority` records who cast what in `Score.metadata["panel"]`, in the order of the graders.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from swaplaw.answers.characters import storable
from swaplaw.answers.forms import number
from swaplaw.errors import InputError, listing, quote
from swaplaw.importers.inspect.answers import REASONS
from swaplaw.importers.record import Options, bounded
from swaplaw.votes.columns import HUMAN, candidates

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary
    from inspect_ai.scorer import Score

GRADES = {"1": "C", "1.0": "C", "true": "C", "yes": "C", "correct": "C", "right": "C", "pass": "C", "good": "C"} | {
    "0": "I", "0.0": "I", "false": "I", "no": "I", "incorrect": "I", "wrong": "I", "fail": "I", "bad": "I",
}  # fmt: skip
"""How people write what Inspect's graders call C and I."""


def judges_of(header: EvalLog) -> dict[str, list[str]]:
    """The graders of each scorer that is a panel, by the names of their models or scorers, each name once."""
    found: dict[str, list[str]] = {}
    for spec in header.eval.scorers or []:
        options = spec.options or {}
        named = options.get("model") or options.get("scorers")
        if not named:
            role = options.get("model_role") or "grader"
            named = (getattr(header.eval, "model_roles", None) or {}).get(
                role["name"] if isinstance(role, dict) else role
            )
        if isinstance(named, list) and len(named) > 1:
            found[spec.name] = _told_apart([_name(one) for one in named])
    return found


def _name(judge: Any) -> str:
    """The name of a grader as a log records it: a model's, a configuration's, or a scorer's with its parameters."""
    if isinstance(judge, str):
        return storable(judge)
    facts = judge if isinstance(judge, Mapping) else vars(judge)
    if "model" in facts:
        return storable(str(facts["model"]))
    given = ", ".join(f"{name}={value}" for name, value in (facts.get("params") or {}).items())
    return storable(f"{facts.get('name', 'judge')}({given})" if given else str(facts.get("name", "judge")))


def _told_apart(names: Sequence[str]) -> list[str]:
    """One model that judges several times is several voters."""
    numbers, total = Counter[str](), Counter(names)
    told = []
    for name in names:
        numbers[name] += 1
        told.append(f"{name} #{numbers[name]}" if total[name] > 1 else name)
    return told


def panel_of(score: Score) -> Mapping[str, Any] | None:
    """The panel that a score records."""
    found = (score.metadata or {}).get("panel")
    return found if isinstance(found, Mapping) and isinstance(found.get("votes"), list) else None


@dataclass(frozen=True)
class Item:
    """One judged reply, and who judged it."""

    summary: EvalSampleSummary
    full: EvalSample | None
    judges: Mapping[str, Sequence[str]]
    options: Options

    @property
    def scores(self) -> Mapping[str, Score]:
        """The scores in full where they were read so: summaries leave out what is long."""
        return (self.full.scores if self.full is not None else self.summary.scores) or {}

    def votes(self) -> Iterator[dict[str, Any]]:
        """Every judge's verdict, by each scorer and each part of its scores; failed graders are null votes."""
        for name, score in self.scores.items():
            panel = panel_of(score)
            if panel is None or self.options.scorer not in (None, name, *(f"{name}:{part}" for part in _parts(panel))):
                continue
            judges = self._names(name, panel)
            reasons = {int(each["index"]): str(each.get("reason") or "") for each in panel.get("failures") or []}
            for part in _parts(panel):
                if part and self.options.scorer not in (None, name, f"{name}:{part}"):
                    continue
                gold = self._gold(part, panel)
                for place, (judge, cast) in enumerate(zip(judges, panel["votes"], strict=True)):
                    answer = _verdict(_part(cast, part))
                    reason = None if answer is not None else REASONS.get(reasons.get(place, ""), "ungraded")
                    vote = {"model": judge, "answer": answer, "gold": gold, "reason": reason}
                    yield {"series": f"{name}:{part}" if part else name, **vote}

    def _names(self, scorer: str, panel: Mapping[str, Any]) -> Sequence[str]:
        # A log that was scored again calls its second scorer of one name `name1`.
        known = self.judges.get(scorer) or self.judges.get(scorer.rstrip("0123456789")) or []
        if len(known) == len(panel["votes"]):
            return known
        raise InputError(
            f"sample {quote(self.summary.id)}: {quote(scorer)} has {len(panel['votes'])} votes, and the log names "
            f"{len(known)} graders ({listing(list(known))}): nobody can say whose they are"
        )

    def _gold(self, part: str, panel: Mapping[str, Any]) -> str | None:
        """What people say of the item, or what the only scorer that is no panel says."""
        metadata = self.summary.metadata or {}
        declared = self.options.columns.get("gold")
        names = [declared] if declared is not None else candidates(list(metadata), HUMAN)
        told: Any = None
        if names and names[0] in metadata:
            human = metadata[names[0]]
            told = _part(human, part) if isinstance(human, Mapping) == bool(part) else None
        elif not part:
            plain = {name: score for name, score in self.scores.items() if panel_of(score) is None}
            if declared in plain:
                told = plain[declared].value
            elif declared is None and len(plain) == 1:
                told = next(iter(plain.values())).value
            elif declared is not None:
                raise InputError(
                    f"sample {quote(self.summary.id)}: no metadata and no scorer {quote(declared)} to be gold; there "
                    f"are {listing([*metadata, *plain])}"
                )
        gold = _verdict(told)
        lettered = any(_verdict(_part(cast, part)) in ("C", "I", "P") for cast in panel["votes"])
        return GRADES.get(gold.lower(), gold) if gold is not None and lettered else gold


def _parts(panel: Mapping[str, Any]) -> list[str]:
    """The parts of a panel's scores: the keys of dictionaries, the places of lists, or the one score there is."""
    for cast in panel["votes"]:
        if isinstance(cast, Mapping):
            return [str(key) for key in cast]
        if isinstance(cast, list):
            return [str(place) for place in range(1, len(cast) + 1)]
    return [""]


def _part(cast: Any, part: str) -> Any:
    if isinstance(cast, Mapping):
        return cast.get(part)
    if isinstance(cast, list):
        return cast[int(part) - 1] if part.isdecimal() and int(part) <= len(cast) else None
    return cast


def _verdict(cast: Any) -> str | None:
    """A verdict as an answer; nothing, and what is no number, is none."""
    if cast is None or (isinstance(cast, float) and math.isnan(cast)):
        return None
    if isinstance(cast, bool):
        return str(cast).lower()
    return bounded(storable(number(str(cast)) if isinstance(cast, float) else str(cast))) or None
