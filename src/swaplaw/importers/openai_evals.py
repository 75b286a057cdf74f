"""OpenAI Evals' record files (`oaieval … --record_path run.jsonl`): every `match` event is a vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from swaplaw.answers.characters import storable
from swaplaw.errors import InputError, quote
from swaplaw.importers import documents
from swaplaw.importers.record import Findings, Options, Reading, Spool, describe, schema
from swaplaw.importers.registry import Format, head
from swaplaw.votes.files import Source


def read(files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Spool the votes of record files; several runs of a model are further samples."""
    spool = Spool(str(files[0]), schema())
    samples: Counter[tuple[str, str, str]] = Counter()
    for file in files:
        documents.known(file, "OpenAI Evals", lambda file=file: _file(file, options, spool, samples, findings))  # type: ignore[misc]
        findings.files.append(describe(file))
    findings.readings += [
        Reading("dataset", "spec.eval_name", ""),
        Reading("question", "sample_id", ""),
        Reading("model", "spec.completion_fns", ""),
        Reading("answer", "data.picked, or data.sampled", ""),
        Reading("gold", "data.expected", ""),
        Reading("correct", "data.correct", ""),
    ]
    return spool.source()


def _file(
    file: Path, options: Options, spool: Spool, samples: Counter[tuple[str, str, str]], findings: Findings
) -> None:
    spec: dict[str, Any] = {}
    for number, event in documents.lines(file):
        if "spec" in event:
            spec = event["spec"]
        if event.get("type") != "match":
            continue
        data = event["data"]
        if "expected" not in data:
            raise InputError(f"{quote(str(file), 200)}: line {number} has a match without `expected`")
        functions = spec.get("completion_fns") or [spec.get("model_name") or file.stem]
        dataset = options.dataset or storable(str(spec.get("eval_name") or "evals"))
        model = options.model or storable(str(functions[0]))
        question = storable(str(event["sample_id"]))
        said = data.get("sampled") if options.reader is not None else data.get("picked") or data.get("sampled")
        key = (dataset, question, model)
        vote = documents.vote(
            documents.first(said) if said else None,
            documents.first(data["expected"]),
            bool(data.get("correct")),
            options,
            findings,
        )
        run = storable(str(event.get("run_id", "")))
        spool.add(vote | {"dataset": dataset, "question": question, "model": model, "sample": samples[key], "run": run})
        samples[key] += 1


def _recognises(file: Path) -> bool:
    if file.suffix.lower() not in (".jsonl", ".ndjson", ".log"):
        return False
    start = head(file)
    return b'"spec"' in start.split(b"\n", 1)[0] and b'"completion_fns"' in start.split(b"\n", 1)[0]


FORMAT = Format("openai-evals", _recognises, read)
