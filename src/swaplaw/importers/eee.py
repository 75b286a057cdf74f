"""Every Eval Ever (schema 0.3.0): instance-level records, as its converters write them for Inspect, HELM and lm-eval.

Each record is one reply. What was extracted from it (`answer_attribution[].extracted_value`) is the vote; where nothing
was extracted, the reply itself is read. The flag `is_correct` is not: Inspect's converter sets it for every reply of a
question where any reply was right, and HELM's repeats the first trial's. A grade counts only where it can be this
reply's own; otherwise an answer is right where it equals the reference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swaplaw.answers.characters import storable
from swaplaw.answers.choice import read_choice
from swaplaw.answers.letters import letter
from swaplaw.errors import Fix, InputError, listing, quote
from swaplaw.importers import documents
from swaplaw.importers.harness_choices import Choice, Golds
from swaplaw.importers.helm import GRADES
from swaplaw.importers.lm_eval import INVALID
from swaplaw.importers.record import STOPS, Findings, Options, Reading, Spool, bounded, describe, positions, schema
from swaplaw.importers.registry import Format, head
from swaplaw.votes.files import Source

Key = tuple[str, str, str]


@dataclass
class _File:
    """What has to be known of a file before its records can be read."""

    replies: dict[Key, set[int]] = field(default_factory=dict)
    """What each model says of a question (digests), by metric or filter."""
    variants: Counter[str] = field(default_factory=Counter)
    golds: dict[str, Golds] = field(default_factory=dict)
    """How the references of each evaluation name options."""


def read(files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Spool the votes of instance-level records."""
    spool = Spool(str(files[0]), schema(*(["cluster"] if options.cluster else []), "option"))
    samples: Counter[Key] = Counter()
    for file in files:
        with documents.known(file, "Every Eval Ever"):
            seen = _survey(file)
            chosen = _chosen(seen, options, file)
            for _, record in documents.lines(file):
                if _variant(record) == chosen:
                    vote = _vote(record, seen, options, findings)
                    key = (vote["dataset"], vote["question"], vote["model"])
                    spool.add(vote | {"sample": samples[key]})
                    samples[key] += 1
        findings.files.append(describe(file))
    findings.readings += [
        Reading("dataset", "evaluation_name", ""),
        Reading("question", "sample_id", ""),
        Reading("model", "model_id", ""),
        Reading("answer", "answer_attribution.extracted_value, or output.raw, or the last message", ""),
        Reading("gold", "input.reference, as one of input.choices where there are any", ""),
        Reading("correct", "evaluation.score where it is one reply's, else whether the answer equals gold", ""),
    ]
    return spool.source()


def _survey(file: Path) -> _File:
    seen = _File()
    for _, record in documents.lines(file):
        seen.replies.setdefault(_key(record), set()).add(hash(_said(record).text))
        seen.variants[_variant(record)] += 1
        if (choice := _choice(record)) is not None:
            golds = seen.golds.setdefault(record["evaluation_name"], Golds())
            golds.see(choice, record["sample_id"])
    return seen


def _key(record: Mapping[str, Any]) -> Key:
    return str(record["model_id"]), str(record["evaluation_name"]), f"{record['sample_id']}\0{_variant(record)}"


def _variant(record: Mapping[str, Any]) -> str:
    """Which of several records of one reply this is: HELM has one for each metric, lm-eval for each filter."""
    return str(record.get("evaluation_result_id") or _filter(record) or "")


def _filter(record: Mapping[str, Any]) -> str | None:
    """The filter of lm-eval, which is part of the evaluation's name."""
    name = (record.get("metadata") or {}).get("filter")
    return str(name) if name and str(record["evaluation_name"]).endswith(f"/{name}") else None


def _chosen(seen: _File, options: Options, file: Path) -> str:
    """The variant that is read: the one that is asked for, else the plainest metric."""
    names = list(seen.variants)
    if len(names) == 1:
        return names[0]
    asked = [name for name in (options.scorer, options.filter) if name]
    for want in asked or GRADES:
        for name in names:
            if want in (name, name.partition(":")[0]):
                return name
    raise InputError(
        f"{quote(str(file), 200)}: each reply has several records ({listing(names)})",
        (Fix("filter", "NAME", "choose one"), Fix("scorer", "NAME", when="if these are metrics")),
    )


@dataclass(frozen=True)
class _Said:
    """What a record holds of its reply."""

    text: str
    extracted: bool
    """Whether the text is an answer that was extracted, rather than a reply."""
    exact: bool
    """Whether the text counts only where it is an option or its letter, as HELM maps it."""


def _said(record: Mapping[str, Any]) -> _Said:
    found = [each for each in record.get("answer_attribution") or [] if each.get("is_terminal", True)]
    if found:
        return _Said(str(found[-1]["extracted_value"]), True, found[-1].get("extraction_method") == "exact_match")
    raw = (record.get("output") or {}).get("raw") or []
    spoken = [each.get("content") for each in record.get("messages") or [] if each.get("role") == "assistant"]
    return _Said(str(next(iter(raw), None) or next(filter(None, reversed(spoken)), "")), False, False)


def _choices(record: Mapping[str, Any]) -> list[str]:
    """The options, where there are any: HELM's converter lists references of free text, too, which no letter names."""
    choices = [str(each).strip() for each in record["input"].get("choices") or []]
    if len(choices) < 2 or (_said(record).exact and not re.search(rf"\bA\W+{re.escape(choices[0])}", _asked(record))):
        return []
    return choices


def _asked(record: Mapping[str, Any]) -> str:
    return str(record["input"].get("raw") or "")


def _choice(record: Mapping[str, Any]) -> Choice | None:
    """A record as one of multiple choice: the option that it names, and what the reference says."""
    choices, references = _choices(record), record["input"]["reference"]
    if not choices:
        return None
    place = _place(_said(record), choices)
    scores = tuple(float(position == place) if place is not None else float("nan") for position in range(len(choices)))
    return Choice(tuple(choices), scores, str(references[0]).strip() if references else "", None)


def _place(said: _Said, choices: Sequence[str]) -> int | None:
    """The option that an answer names: by its text or its letter, or (of a reply) as it is read."""
    text = said.text.strip()
    if choices.count(text) == 1:
        return choices.index(text)
    named = positions(text, len(choices)) if text else None
    if named is not None and len(named) == 1:
        return named[0]
    label = None if said.exact else read_choice(said.text, len(choices), choices)
    return None if label is None else positions(label, len(choices))[0]  # type: ignore[index]


def _vote(record: Mapping[str, Any], seen: _File, options: Options, findings: Findings) -> dict[str, Any]:
    metadata, usage = record.get("metadata") or {}, record.get("token_usage") or {}
    vote = {
        "dataset": options.dataset or storable(str(record["evaluation_name"]).removesuffix(f"/{_filter(record)}")),
        "question": storable(str(record["sample_id"])),
        "model": options.model or storable(str(record["model_id"])),
        "tokens": usage.get("total_tokens"),
    }
    if options.cluster:
        if options.cluster not in metadata:
            raise InputError(f"there is no metadata {quote(options.cluster)}; there is {listing(list(metadata))}")
        vote["cluster"] = storable(str(metadata[options.cluster]))
    choice, said = _choice(record), _said(record)
    golds = seen.golds.get(record["evaluation_name"])
    if choice is not None and golds is not None and golds.readings:
        vote |= _option(choice, said, golds.of(choice))
    else:
        vote |= _text(record, said, seen, options, findings)
    if vote["answer"] is None:
        stopped = STOPS.get(str(metadata.get("stop_reason") or ""))
        vote["reason"] = "error" if record.get("error") else stopped or vote["reason"]
    return vote


def _option(choice: Choice, said: _Said, golds: list[int]) -> dict[str, Any]:
    """The letter of the option, or its text where that is what HELM votes with."""
    names = list(choice.options) if said.exact else [letter(place) for place in range(len(choice.options))]
    shown = {"gold": ", ".join(names[place] for place in sorted(golds)), "options": len(names)}
    if choice.best is None:
        reason = "no_parse" if said.text.strip() else "unanswered"
        return shown | {"answer": None, "reason": reason, "correct": False}
    option = bounded(storable(choice.options[choice.best]))[:200]
    return shown | {"answer": names[choice.best], "reason": None, "correct": choice.best in golds, "option": option}


def _text(record: Mapping[str, Any], said: _Said, seen: _File, options: Options, findings: Findings) -> dict[str, Any]:
    """Free text: the reply's own grade where there is one, else whether it equals a reference."""
    references = [storable(str(each)) for each in record["input"]["reference"]]
    score = float(record["evaluation"]["score"])
    # A mean of 0 or 1 over epochs is every epoch's; HELM's trials all carry the first one's.
    alone = len(seen.replies[_key(record)]) == 1 or (score in (0.0, 1.0) and not said.exact)
    correct = score >= options.threshold if alone else None
    text = "" if said.extracted and said.text.strip() in INVALID[:1] else storable(said.text)
    vote = documents.vote(text, next(iter(references), "(no reference)"), correct, options, findings)
    if said.extracted and said.text.strip() in INVALID[:1]:
        vote["reason"] = "no_parse"
    if not alone and vote["answer"] is not None and vote["answer"] in map(options.gold, map(bounded, references)):
        vote["correct"] = True
    return vote


def _recognises(file: Path) -> bool:
    if file.suffix.lower() not in (".jsonl", ".ndjson"):
        return False
    start = head(file)
    return all(word in start for word in (b'"evaluation_id"', b'"answer_attribution"', b'"interaction_type"'))


FORMATS = (Format("every-eval-ever", _recognises, read),)
