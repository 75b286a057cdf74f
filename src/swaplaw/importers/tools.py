"""Files of promptfoo, DeepEval, OpenAI Evals and LangSmith: a table of where each keeps the parts of a vote.

Another tool is another entry of `TOOLS`: how its files are recognised, how they are cut into one record a reply, and
where in a record each part stands (dots lead inside, `|` parts places that are tried in turn).
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from swaplaw.answers.characters import storable
from swaplaw.errors import Fix, InputError, listing, quote
from swaplaw.importers import documents
from swaplaw.importers.record import Findings, Options, Reading, Spool, describe, schema
from swaplaw.importers.registry import Format, head
from swaplaw.importers.scores import Scores
from swaplaw.votes.files import Source

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Tool:
    """Where one tool keeps the parts of a vote."""

    name: str
    suffixes: tuple[str, ...]
    marks: tuple[tuple[bytes, ...], ...]
    """What files begin with (the first line, where each is a record): one of the words of each of these."""
    records: Callable[[Path], Iterator[Record]]
    """A file's replies; what is said once, above all of them, is in each."""
    parts: Mapping[str, str]
    """Of each part of the vote, its places; `inputs` are what makes a question, where it has no name."""
    grades: Callable[[Record], Mapping[str, Any]] = dict
    """The grades of a reply by name, for `scorer`."""

    def recognises(self, file: Path) -> bool:
        """Whether a file is this tool's."""
        if file.suffix.lower() not in self.suffixes:
            return False
        start = head(file) if file.suffix.lower() == ".json" else head(file).split(b"\n", 1)[0]
        return all(any(word in start for word in words) for words in self.marks)


def found(record: Any, places: str) -> Any:
    """What stands in the first of these places that holds anything.

    >>> found({"a": {"b": ""}, "c": 3}, "a.b|c")
    3
    """
    for place in places.split("|"):
        value = record
        for step in place.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        if value not in (None, "", {}):
            return value
    return None


def read(tool: Tool, files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Spool the votes of files of a tool; the same question again is a further sample."""
    spool = Spool(str(files[0]), schema(*(["cluster"] if options.cluster else [])))
    samples: Counter[tuple[str, str, str]] = Counter()
    for file in files:
        scores = Scores(options.threshold)
        with documents.known(file, tool.name):
            for record in tool.records(file):
                vote = _vote(tool, record, file, options, scores, findings)
                key = (vote["dataset"], vote["question"], vote["model"])
                spool.add(vote | {"sample": samples[key]})
                samples[key] += 1
        scores.judge(quote(str(file), 200), "scores", findings)
        findings.files.append(describe(file))
    findings.readings += [Reading(part, places.replace("|", ", or "), "") for part, places in tool.parts.items()]
    return spool.source()


def _vote(
    tool: Tool, record: Record, file: Path, options: Options, scores: Scores, findings: Findings
) -> dict[str, Any]:
    parts = {part: found(record, places) for part, places in tool.parts.items()}
    inputs = parts.pop("inputs", None)
    inputs = inputs if isinstance(inputs, Mapping) else {"input": inputs}
    gold = _gold(parts.get("gold"), inputs, file, options)
    failed = parts.get("error") not in (None, False, "") and parts.get("answer") in (None, "")
    correct = _grade(parts.get("correct"), tool.grades(record), options, scores)
    answer = parts.get("reply") if options.reader is not None and parts.get("reply") else parts.get("answer")
    said = documents.first(answer) if isinstance(answer, list) else answer
    vote = documents.vote(said, gold, correct, options, findings)
    vote |= {
        "dataset": options.dataset or storable(str(parts.get("dataset") or tool.name)),
        "question": storable(str(parts.get("question") or documents.question_of(inputs))),
        "model": options.model or storable(str(parts.get("model") or file.stem.strip("."))),
        "tokens": parts.get("tokens"),
        "cost": parts.get("cost"),
        "run": storable(str(parts.get("run") or "")),
    }
    if failed:
        vote["reason"] = "error"
    if options.cluster:
        vote["cluster"] = str(inputs.get(options.cluster, ""))
    return vote


def _gold(told: Any, inputs: Record, file: Path, options: Options) -> str:
    declared = inputs.get(options.columns.get("gold", ""))
    gold = documents.first(declared or told) if declared or told else documents.gold_in(inputs)
    if gold is None:
        raise InputError(
            f"{quote(str(file), 200)}: a reply has no gold answer", Fix("columns", {"gold": "NAME"}, "name the input")
        )
    return gold


def _grade(told: Any, grades: Mapping[str, Any], options: Options, scores: Scores) -> bool | None:
    if options.scorer is not None:
        if options.scorer not in grades:
            raise InputError(f"there is no grade {quote(options.scorer)}; there are {listing(list(grades))}")
        told = grades[options.scorer]
    word = str(told).strip().lower()
    if told in (None, "") or word in ("true", "false"):
        return None if told in (None, "") else word == "true"
    return scores.right(float(word))


# How files are cut into records


def _promptfoo(file: Path) -> Iterator[Record]:
    document = documents.load(file)
    rows = document["results"]
    rows = rows["results"] if isinstance(rows, dict) else rows
    prompts = list(dict.fromkeys(map(_prompt, sorted(rows, key=lambda row: row.get("promptIdx", 0)))))
    for row in rows:
        provider = row["provider"]
        name = provider if isinstance(provider, str) else provider.get("label") or provider["id"]
        asserted = {one.get("type"): one.get("value") for one in found(row, "testCase.assert") or []}
        inputs = found(row, "vars|testCase.vars") or {}
        yield row | {
            "document": document,
            "model": f"{name} (prompt {prompts.index(_prompt(row)) + 1})" if len(prompts) > 1 else name,
            "asserted": None
            if documents.gold_in(inputs)
            else next((asserted[kind] for kind in ASSERTED if asserted.get(kind) not in (None, "")), None),
            "success": bool(row.get("success")),
        }


ASSERTED = (
    *("equals", "contains", "icontains", "is-json", "similar", "factuality", "llm-rubric", "model-graded-closedqa"),
)
"""Assertions whose value is the gold answer, the plainest first."""


def _prompt(row: Record) -> str:
    """What tells prompts apart; `promptIdx` numbers every prompt of every provider where there is an id as well."""
    return str(row.get("promptId") or row.get("promptIdx", 0))


def _deepeval(file: Path) -> Iterator[Record]:
    document = documents.load(file)
    run = document.get("testRunData", document)
    yield from ({"run": run, **case} for case in run["testCases"])


def _openai_evals(file: Path) -> Iterator[Record]:
    spec: dict[str, Any] = {}
    for number, event in documents.lines(file):
        spec = event.get("spec", spec)
        if event.get("type") == "match":
            if "expected" not in event["data"]:
                raise InputError(f"{quote(str(file), 200)}: line {number} has a match without `expected`")
            yield {"model": (spec.get("completion_fns") or [None])[0], "spec": spec, **event}


def _langsmith(file: Path) -> Iterator[Record]:
    csv.field_size_limit(documents.MAX_LINE)
    with file.open(newline="", encoding="utf-8-sig") as handle:
        for row in csv.DictReader(handle):
            parts = {part: _gathered(row, part) for part in ("inputs", "outputs", "reference", "feedback")}
            chosen = {part: _answer(parts[part], part, file) for part in ("outputs", "reference")}
            yield row | parts | {"answer": None if row.get("error") else chosen["outputs"], "gold": chosen["reference"]}


def _gathered(row: Mapping[str, str], part: str) -> dict[str, Any]:
    """Gather a part of a row: its columns (`outputs.answer`), or one column of JSON."""
    names = (part, f"{part}_outputs")
    dotted = {name.partition(".")[2]: value for name, value in row.items() if name and name.split(".")[0] in names}
    if set(dotted) - {""}:
        return {name: value for name, value in dotted.items() if name}
    whole = next((row[name] for name in names if row.get(name)), "")
    try:
        document = json.loads(whole) if whole[:1] in ("{", "[") else whole
    except ValueError:
        document = whole
    return document if isinstance(document, dict) else {"output": document}


def _answer(values: Record, part: str, file: Path) -> str | None:
    """The field of a part that is the answer: the only one, or one that is called so."""
    named = {name: value for name, value in values.items() if value not in (None, "")}
    if len(named) > 1:
        named = {name: named[name] for name in ("answer", "output", "label") if name in named}
    if not named and any(values.values()):
        raise InputError(
            f"{quote(str(file), 200)}: {part} has the fields {listing(list(values))}; keep the one that is the answer"
        )
    return next((documents.first(value) for value in named.values()), None)


_FEEDBACK = ("correctness", "correct", "exact_match", "accuracy")
TOOLS = (
    Tool(
        "promptfoo",
        (".json",),
        ((b'"results"',), (b'"promptIdx"', b'"evalId"')),
        _promptfoo,
        {
            "dataset": "document.config.description",
            "inputs": "vars|testCase.vars",
            "model": "model",
            "answer": "response.output",
            "gold": "asserted",
            "correct": "success",
            "error": "error",
            "tokens": "response.tokenUsage.total",
            "cost": "cost",
        },
    ),
    Tool(
        "deepeval",
        (".json",),
        ((b'"testCases"',), (b"actualOutput",)),
        _deepeval,
        {
            "inputs": "input",
            "model": "run.hyperparameters.model",
            "answer": "actualOutput",
            "gold": "expectedOutput",
            "correct": "success",
            "cost": "evaluationCost",
        },
        lambda case: {metric["name"]: metric.get("success") for metric in case.get("metricsData") or []},
    ),
    Tool(
        "openai-evals",
        (".jsonl", ".ndjson", ".log"),
        ((b'{"spec"', b'"spec":'), (b'"completion_fns"',)),
        _openai_evals,
        {
            "dataset": "spec.eval_name",
            "question": "sample_id",
            "model": "model|spec.model_name",
            "answer": "data.picked|data.sampled",
            "reply": "data.sampled",
            "gold": "data.expected",
            "correct": "data.correct",
            "run": "run_id",
        },
    ),
    Tool(
        "langsmith",
        (".csv",),
        ((b"inputs",), (b"outputs",), (b"reference",)),
        _langsmith,
        {
            "question": "example_id",
            "inputs": "inputs",
            "model": "model|experiment|session_name|project_name|session",
            "answer": "answer",
            "gold": "gold",
            "correct": "|".join(f"feedback.{name}|{name}" for name in _FEEDBACK),
            "error": "error",
        },
        lambda row: row["feedback"],
    ),
)
FORMATS = tuple(Format(tool.name, tool.recognises, partial(read, tool)) for tool in TOOLS)
