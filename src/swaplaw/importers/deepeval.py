"""DeepEval's test runs (`.deepeval/.latest_test_run.json`, or what `file_path` of a test run names)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from swaplaw.answers.characters import storable
from swaplaw.errors import InputError, listing, quote
from swaplaw.importers import documents
from swaplaw.importers.record import Findings, Options, Reading, Spool, describe, schema
from swaplaw.importers.registry import Format, head
from swaplaw.votes.files import Source


def read(files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Spool the votes of test runs: a test case is a vote, the same input again a further sample."""
    spool = Spool(str(files[0]), schema())
    samples: Counter[tuple[str, str]] = Counter()
    for file in files:
        documents.known(file, "DeepEval", lambda file=file: _file(file, options, spool, samples, findings))  # type: ignore[misc]
        findings.files.append(describe(file))
    findings.readings += [
        Reading("question", "input, by a digest", ""),
        Reading("model", "hyperparameters.model, or the file's name", ""),
        Reading("answer", "actualOutput", ""),
        Reading("gold", "expectedOutput", ""),
        Reading("correct", options.scorer or "success", ""),
    ]
    return spool.source()


def _file(file: Path, options: Options, spool: Spool, samples: Counter[tuple[str, str]], findings: Findings) -> None:
    document = documents.load(file)
    run = document.get("testRunData", document)
    settings = run.get("hyperparameters") or {}
    model = options.model or str(settings.get("model") or file.stem.strip("."))
    for case in run["testCases"]:
        gold = case.get("expectedOutput")
        if gold in (None, ""):
            raise InputError(f"{quote(str(file), 200)}: test case {quote(case.get('name'))} has no expectedOutput")
        question = documents.question_of({"input": case["input"]})
        correct = case.get("success")
        if options.scorer is not None:
            metrics = {metric["name"]: metric for metric in case.get("metricsData") or []}
            if options.scorer not in metrics:
                raise InputError(f"there is no metric {quote(options.scorer)}; there are {listing(list(metrics))}")
            correct = metrics[options.scorer].get("success")
        vote = documents.vote(case.get("actualOutput"), documents.first(gold), correct, options, findings)
        key = (question, model)
        place = {"dataset": options.dataset or "deepeval", "question": question, "model": storable(model)}
        spool.add(vote | place | {"sample": samples[key], "cost": case.get("evaluationCost")})
        samples[key] += 1


def _recognises(file: Path) -> bool:
    return file.suffix.lower() == ".json" and b'"testCases"' in head(file) and b"actualOutput" in head(file)


FORMAT = Format("deepeval", _recognises, read)
