"""promptfoo's results (`promptfoo eval -o results.json`): every provider's output of a test is a vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from swaplaw.answers.characters import storable
from swaplaw.errors import Fix, InputError, quote
from swaplaw.importers import documents
from swaplaw.importers.record import Findings, Options, Reading, Spool, describe, schema
from swaplaw.importers.registry import Format, head
from swaplaw.votes.files import Source

ASSERTED = (
    "equals",
    "contains",
    "icontains",
    "is-json",
    "similar",
    "factuality",
    "llm-rubric",
    "model-graded-closedqa",
)
"""Assertions whose value is the gold answer, the plainest first."""


def read(files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Spool the votes of results files; the same test again is a further sample."""
    spool = Spool(str(files[0]), schema(*(["cluster"] if options.cluster else [])))
    samples: Counter[tuple[str, str, str]] = Counter()
    for file in files:
        documents.known(file, "promptfoo", lambda file=file: _file(file, options, spool, samples, findings))  # type: ignore[misc]
        findings.files.append(describe(file))
    findings.readings += [
        Reading("question", "the test's variables: their id, or a digest of them", ""),
        Reading("model", "provider (and prompt, where there are several)", ""),
        Reading("answer", "response.output", ""),
        Reading("gold", "a variable such as `expected`, or the value of an assertion", ""),
        Reading("correct", "success", ""),
    ]
    return spool.source()


def _file(
    file: Path, options: Options, spool: Spool, samples: Counter[tuple[str, str, str]], findings: Findings
) -> None:
    document = documents.load(file)
    results = document["results"]
    rows = results["results"] if isinstance(results, dict) else results
    prompts = list(dict.fromkeys(map(_prompt, sorted(rows, key=lambda row: row.get("promptIdx", 0)))))
    for row in rows:
        provider = row["provider"]
        name = provider if isinstance(provider, str) else provider.get("label") or provider["id"]
        model = options.model or (
            f"{name} (prompt {prompts.index(_prompt(row)) + 1})" if len(prompts) > 1 else str(name)
        )
        inputs = row.get("vars") or row.get("testCase", {}).get("vars") or {}
        gold = _gold(row, inputs, file, options)
        question = documents.question_of(inputs)
        dataset = options.dataset or storable(str(document.get("config", {}).get("description") or "promptfoo"))
        key = (dataset, question, model)
        response = row.get("response") or {}
        vote = documents.vote(response.get("output"), gold, bool(row.get("success")), options, findings)
        if vote["answer"] is None and row.get("error") and not response.get("output"):
            vote["reason"] = "error"
        usage = response.get("tokenUsage") or {}
        vote |= {"tokens": usage.get("total"), "cost": row.get("cost")}
        if options.cluster:
            vote["cluster"] = str(inputs.get(options.cluster, ""))
        spool.add(vote | {"dataset": dataset, "question": question, "model": storable(model), "sample": samples[key]})
        samples[key] += 1


def _prompt(row: dict[str, Any]) -> str:
    """What tells prompts apart; `promptIdx` numbers every prompt of every provider where there is an id as well."""
    return str(row.get("promptId") or row.get("promptIdx", 0))


def _gold(row: dict[str, Any], inputs: dict[str, Any], file: Path, options: Options) -> str:
    declared = options.columns.get("gold")
    if declared is not None and declared in inputs:
        return documents.first(inputs[declared])
    asserted = {one.get("type"): one.get("value") for one in row.get("testCase", {}).get("assert") or []}
    found = documents.gold_in(inputs) or next(
        (documents.first(asserted[kind]) for kind in ASSERTED if asserted.get(kind) not in (None, "")), None
    )
    if found is None:
        raise InputError(
            f"{quote(str(file), 200)}: a test has neither a variable such as `expected` nor an assertion that names "
            "the gold answer",
            Fix("columns", {"gold": "NAME"}, "say which variable it is"),
        )
    return found


def _recognises(file: Path) -> bool:
    if file.suffix.lower() != ".json":
        return False
    start = head(file)
    return b'"results"' in start and (b'"promptIdx"' in start or b'"evalId"' in start)


FORMAT = Format("promptfoo", _recognises, read)
