"""LangSmith's experiments as CSV: `inputs.*`, `outputs.*`, `reference.*` (or `reference_outputs.*`), `feedback.*`."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swaplaw.answers.characters import storable
from swaplaw.errors import InputError, listing, quote
from swaplaw.importers import documents
from swaplaw.importers.record import Findings, Options, Reading, Spool, describe, schema
from swaplaw.importers.registry import Format, head
from swaplaw.importers.scores import Scores
from swaplaw.votes.files import Source

GRADES = ("correctness", "correct", "exact_match", "accuracy")
MODELS = ("model", "experiment", "session_name", "project_name", "session")


def read(files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Spool the votes of experiments: a row is a vote, another row of an example a further sample."""
    spool = Spool(str(files[0]), schema())
    samples: Counter[tuple[str, str]] = Counter()
    for file in files:
        documents.known(file, "LangSmith", lambda file=file: _file(file, options, spool, samples, findings))  # type: ignore[misc]
        findings.files.append(describe(file))
    findings.readings += [
        Reading("question", "example_id, or a digest of the inputs", ""),
        Reading("model", f"a column such as {MODELS[0]!r}, or the file's name", ""),
        Reading("answer", "outputs", ""),
        Reading("gold", "reference outputs", ""),
        Reading("correct", f"feedback {options.scorer or ', '.join(GRADES)}", ""),
    ]
    return spool.source()


def _file(file: Path, options: Options, spool: Spool, samples: Counter[tuple[str, str]], findings: Findings) -> None:
    csv.field_size_limit(documents.MAX_LINE)
    scores = Scores(options.threshold)
    with file.open(newline="", encoding="utf-8-sig") as handle:
        for row in csv.DictReader(handle):
            parts = {part: _part(row, part) for part in ("inputs", "outputs", "reference", "feedback")}
            gold = _only(parts["reference"], "reference", file)
            model = options.model or next((row[name] for name in MODELS if row.get(name)), file.stem)
            question = row.get("example_id") or documents.question_of(parts["inputs"])
            answer = None if row.get("error") else _only(parts["outputs"], "outputs", file)
            vote = documents.vote(answer, gold, _grade(row, parts["feedback"], options, scores), options, findings)
            if row.get("error"):
                vote["reason"] = "error"
            key = (question, model)
            place = {"dataset": options.dataset or "langsmith", "question": question, "model": storable(model)}
            spool.add(vote | place | {"sample": samples[key]})
            samples[key] += 1
    scores.judge(quote(str(file), 200), "scores of the feedback", findings)


def _part(row: Mapping[str, str], part: str) -> dict[str, Any]:
    """Gather a part of a row: its columns (`outputs.answer`), or one column of JSON."""
    names = (part, f"{part}_outputs")
    found = {
        name.split(".", 1)[1]: value
        for name, value in row.items()
        if name and name.split(".")[0] in names and "." in name
    }
    if found:
        return found
    whole = next((row[name] for name in names if row.get(name)), "")
    try:
        document = json.loads(whole) if whole[:1] in ("{", "[") else whole
    except ValueError:
        document = whole
    return document if isinstance(document, dict) else {"output": document}


def _only(values: Mapping[str, Any], part: str, file: Path) -> str:
    named = {name: value for name, value in values.items() if value not in (None, "")}
    for name in ("answer", "output", "label", "expected", "result", *named):
        if name in named and (
            name != next(iter(named), None) or len(named) == 1 or name in ("answer", "output", "label")
        ):
            return documents.first(named[name])
    if not named:
        return ""
    raise InputError(
        f"{quote(str(file), 200)}: {part} has the fields {listing(list(named))}; keep the one that is the answer"
    )


def _grade(row: Mapping[str, str], feedback: Mapping[str, Any], options: Options, scores: Scores) -> bool | None:
    names = [options.scorer] if options.scorer else GRADES
    for name in names:
        value = feedback.get(name) if feedback.get(name) not in (None, "") else row.get(name)
        if value not in (None, ""):
            word = str(value).strip().lower()
            if word in ("true", "false"):
                return word == "true"
            return scores.right(float(word))
    if options.scorer:
        raise InputError(f"there is no feedback {quote(options.scorer)}; there is {listing(list(feedback))}")
    return None


def _recognises(file: Path) -> bool:
    if file.suffix.lower() != ".csv":
        return False
    names = [name.strip('" \r\ufeff') for name in head(file).split(b"\n", 1)[0].decode("utf-8", "replace").split(",")]
    roots = {name.split(".")[0] for name in names}
    return {"inputs", "outputs"} <= roots and bool(roots & {"reference", "reference_outputs"})


FORMAT = Format("langsmith", _recognises, read)
