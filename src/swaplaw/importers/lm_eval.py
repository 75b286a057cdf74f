"""lm-evaluation-harness `samples_*.jsonl`: a document becomes a vote, or one vote for each repeat.

Multiple-choice tasks vote for the option of highest log-likelihood (see `harness_choices`); with `shares`, the softmax
is split into that many votes instead. Generation tasks vote with the responses of one filter. Several runs of a model
are repeated samples.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from swaplaw._parallel import with_bar
from swaplaw.answers.characters import storable
from swaplaw.answers.patterns import Pattern
from swaplaw.answers.readers import Reader
from swaplaw.errors import InputError, listing, quote
from swaplaw.importers import documents
from swaplaw.importers.harness_choices import Golds, choice_of
from swaplaw.importers.record import Findings, Options, Reading, Spool, bounded, describe, schema
from swaplaw.importers.registry import Format, head
from swaplaw.importers.scores import Scores
from swaplaw.votes.files import Source

NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl$")
RAW = "raw"
"""Every response that the model gave, read by the reader that is asked for or else by the task's own filter."""
LETTER = re.compile(r"\(?[A-J]\)?")
NAMED_BY = ("pretrained", "model", "peft", "engine", "path")
"""Model arguments that name the model; without them the harness makes a name up for each run."""
CHOICE = Reader("choice")
"""Reads letters where the task has no filter that does."""


@dataclass
class Run:
    """One samples file, and what the results beside it say of the model."""

    file: Path
    task: str
    time: str
    model: str
    named: bool = True
    """Whether the run's own files tell the model, rather than only its class."""
    filters: Counter[str] = field(default_factory=Counter)
    task_filters: TaskFilters = field(default_factory=lambda: TaskFilters({}))
    temperature: float | None = None
    golds: Golds = field(default_factory=Golds)
    scores: Scores = field(default_factory=lambda: Scores(Options.threshold))


def read(files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Spool the votes of samples files; several runs of one model and task are repeated samples."""
    found = _told_apart([_run(file, options) for file in files], findings)
    runs = sorted(found, key=lambda run: (run.task, run.model, run.time, run.file))
    name = str(files[0]) if len(files) == 1 else f"{len(files)} lm-evaluation-harness files from {files[0].parent}"
    spool = Spool(name, schema(*(["cluster"] if options.cluster else []), "option"))
    offsets: Counter[tuple[str, str]] = Counter()
    digests: dict[str, str] = {}
    for run in with_bar(runs, "samples", len(runs)):
        facts = describe(run.file, task=run.task, model=run.model, created=run.time)
        if facts["sha256"] in digests:
            findings.notes.append(f"{run.file.name} is a copy of {digests[facts['sha256']]}: counted once")
            continue
        digests[facts["sha256"]] = run.file.name
        findings.files.append(facts)
        offset, most = offsets[run.task, run.model], 0
        for vote in _votes(run, options, findings):
            most = max(most, vote["sample"] + 1)
            spool.add(vote | {"sample": offset + vote["sample"], "run": run.time})
        if offset:
            findings.notes.append(
                f"{quote(run.model)} ran {quote(run.task)} again in {run.file.name}: its votes count as further samples"
            )
        offsets[run.task, run.model] += most
    findings.readings += _readings(options)
    temperatures = {run.temperature for run in runs}
    if len(temperatures) == 1 and None not in temperatures:
        findings.recorded["temperature"] = temperatures.pop()
    if findings.reader is not None:
        findings.recorded["truncated"] = "read"  # The harness does not tell which responses were cut off.
    return spool.source()


def _run(file: Path, options: Options) -> Run:
    found = NAME.search(file.name)
    task, time = (found["task"], found["time"]) if found else (file.stem.removeprefix("samples_"), "")
    beside = sorted(file.parent.glob(f"results_{time}*.json")) or sorted(file.parent.glob("results_*.json"))
    results = beside[0] if beside else None
    model, named = (options.model, True) if options.model else _model(file, results)
    filters, temperature = filters_of(results, task), temperature_of(results, task)
    made = Run(file, options.dataset or task, time, model, named, task_filters=filters, temperature=temperature)
    made.scores = Scores(options.threshold)
    return made


def _model(file: Path, results: Path | None) -> tuple[str, bool]:
    """The model's name, and whether anything but its class tells it: from the results, or from the directory's name."""
    if results is not None:
        try:
            facts = json.loads(results.read_bytes())
            arguments = facts["config"]["model_args"] or {}
            named = any(f"{key}=" in arguments if isinstance(arguments, str) else key in arguments for key in NAMED_BY)
            return storable(str(facts["model_name"] if named else facts["config"]["model"])), named
        except (ValueError, KeyError, TypeError, OSError):
            pass
    return file.parent.name.replace("__", "/"), False


def _told_apart(runs: list[Run], findings: Findings) -> list[Run]:
    """Name runs in several directories by what tells their directories apart, where only a class names the models."""
    folders: dict[str, set[Path]] = {}
    for run in runs:
        if not run.named:
            folders.setdefault(run.model, set()).add(run.file.parent.resolve())
    apart = {model: _differences(paths) for model, paths in folders.items() if len(paths) > 1}
    for run in runs:
        if not run.named and run.model in apart:
            run.model = f"{run.model}/{apart[run.model][run.file.parent.resolve()]}"
    for model, names in apart.items():
        findings.notes.append(
            f"the results name only the class {quote(model)}, and there are runs of it in {len(names)} directories: "
            "each directory is taken for a model of its own"
        )
    return runs


def _differences(paths: set[Path]) -> dict[Path, str]:
    """What is left of paths without the folders that all of them begin and end with."""
    parts = {path: list(path.parts) for path in paths}
    for end in (0, -1):
        while len({tuple(part[end : end + 1 or None]) for part in parts.values()}) == 1 and all(
            map(len, parts.values())
        ):
            for part in parts.values():
                part.pop(end)
    return {path: "/".join(part) or path.name for path, part in parts.items()}


def _votes(run: Run, options: Options, findings: Findings) -> Iterator[dict[str, Any]]:
    _survey(run, options)
    chosen = _filter(run, options)
    kept_less = 0
    _say_how(run, chosen, options, findings)
    for number, line in _lines(run.file):
        if chosen != RAW and line.get("filter", "none") != chosen:
            continue
        if chosen == RAW and line.get("filter", "none") != next(iter(run.filters)):
            continue  # Every filter repeats the raw responses: one is enough.
        with _named(run.file, number):
            votes, less = _document(run, line, chosen, options)
        kept_less += less
        yield from votes
    run.scores.judge(quote(run.file.name, 200), "values of the metric", findings)
    if kept_less:
        findings.notes.append(
            f"{run.file.name}: filter {quote(chosen)} kept one response of several for {kept_less} documents; "
            f"filter {quote(RAW)} counts every response"
        )


@contextmanager
def _named(file: Path, number: int) -> Iterator[None]:
    """Name the file in every error, and the line where it is not a sample as the harness writes them."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{quote(str(file), 200)}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError) as error:
        raise InputError(
            f"{quote(str(file), 200)}: line {number} is not a sample of lm-evaluation-harness that this "
            f"version reads ({type(error).__name__}: {quote(str(error), 80)}); was it written by another version?"
        ) from None


def _lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, sample in documents.lines(file):
        if "resps" not in sample:
            raise InputError(f"{quote(str(file), 200)}: line {number} has no 'resps'; is this a samples file?")
        yield number, sample


def _survey(run: Run, options: Options) -> None:
    """Look at the whole file first: which filters there are, and how targets name the right options."""
    for number, line in _lines(run.file):
        run.filters[str(line.get("filter", "none"))] += 1
        with _named(run.file, number):
            if (choice := choice_of(line, options.scorer)) is not None:
                run.golds.see(choice, line["doc_id"])


def _filter(run: Run, options: Options) -> str:
    if not run.filters:
        raise InputError(f"{quote(str(run.file), 200)}: there are no samples in it; run the evaluation first")
    if options.filter is None:
        if len(run.filters) > 1:
            raise InputError(
                f"{quote(str(run.file), 200)}: this task has several filters ({listing(list(run.filters))}); "
                f"choose one by name, or {RAW} to count every response"
            )
        return next(iter(run.filters))
    if len(run.filters) == 1 and options.filter != RAW:
        return next(iter(run.filters))  # There is nothing to choose.
    if options.filter != RAW and options.filter not in run.filters:
        raise InputError(
            f"{quote(str(run.file), 200)}: there is no filter {quote(options.filter)}; "
            f"there are {listing([*run.filters, RAW])}"
        )
    return options.filter


def _document(run: Run, line: dict[str, Any], chosen: str, options: Options) -> tuple[list[dict[str, Any]], bool]:
    """Votes of one document, and whether the filter kept fewer responses than the model gave."""
    common = {"dataset": run.task, "question": str(line["doc_id"]), "model": run.model}
    if options.cluster:
        if options.cluster not in line["doc"]:
            raise InputError(
                f"document {line['doc_id']} has no field {quote(options.cluster)} to be its cluster; "
                f"there are {listing(list(line['doc']))}"
            )
        common["cluster"] = storable(str(line["doc"][options.cluster]))
    if (choice := choice_of(line, options.scorer)) is not None:
        return [common | vote for vote in choice.votes(run.golds.of(choice), options.shares)], False
    raw = [response for group in line["resps"] for response in (group if isinstance(group, list) else [group])]
    raw = raw[: run.task_filters.first.get(chosen)]
    kept = raw if chosen == RAW or options.reader is not None else _flat(line["filtered_resps"])
    read = _reading_of(run, chosen, options, line)
    if len(kept) < len(raw) and run.task_filters.extracts(chosen):
        kept, read = raw, lambda response: run.task_filters.apply(chosen, response)
    graded = len(kept) == 1 and chosen != RAW and options.reader is None
    votes = [
        common | {"sample": n} | _generation(line, read(str(text)), graded, options, run) for n, text in enumerate(kept)
    ]
    return votes, len(kept) < len(raw)


def _reading_of(run: Run, chosen: str, options: Options, line: dict[str, Any]) -> Callable[[str], str | None]:
    """How a response becomes an answer: as it is where a filter made it, else by a reader or the task's own filter."""
    if options.reader is not None:
        return options.reader.read
    if chosen != RAW:
        return lambda response: response
    own = _own_filter(run)
    if own is not None:
        return lambda response: run.task_filters.apply(own, response)
    if LETTER.fullmatch(str(line["target"]).strip()):
        return CHOICE.read
    return lambda response: response


def _own_filter(run: Run) -> str | None:
    """The task's first filter, where that takes an answer out of a response."""
    first = next(iter(run.filters))
    return first if run.task_filters.extracts(first) else None


def _say_how(run: Run, chosen: str, options: Options, findings: Findings) -> None:
    if options.reader is not None:
        findings.reader = options.reader
    elif chosen == RAW and (own := _own_filter(run)) is not None:
        findings.notes.append(f"{run.file.name}: every response is read by the task's own filter {quote(own)}")
    elif chosen == RAW:
        findings.reader = CHOICE
        findings.notes.append(
            f"{run.file.name}: the results beside it name no filter that extracts answers: letters are read where the "
            "target is one, and other responses count as they are; give a reader or a pattern to extract answers"
        )


def _flat(responses: list[Any]) -> list[Any]:
    return [item for response in responses for item in (response if isinstance(response, list) else [response])]


def _generation(line: dict[str, Any], response: str | None, graded: bool, options: Options, run: Run) -> dict[str, Any]:
    """One response: its grade is the harness's own where it graded this response, else whether it reads like gold."""
    filters, target = run.task_filters, line["target"]
    written = str(target[0] if isinstance(target, list) and target else target)
    letter = LETTER.fullmatch(written.strip())
    gold = options.gold(bounded(storable(written.strip("() ") if letter else filters.spell(written))))
    text = None if response is None else bounded(storable(response))
    if text is None or text in INVALID:
        reason = "unanswered" if text == "" else "no_parse"
        return {"answer": None, "gold": gold, "reason": reason, "correct": False}
    said = text.strip("() ") if letter and LETTER.fullmatch(text) else filters.spell(text)
    answer = options.spell(said) or None
    metric = _metric(line, options) if graded else None
    correct = answer == gold if metric is None else run.scores.right(metric)
    if answer is None:
        return {"answer": None, "gold": gold, "reason": "no_parse", "correct": False}
    return {"answer": answer, "gold": gold, "reason": None, "correct": correct}


def _metric(line: dict[str, Any], options: Options) -> float | None:
    names = [name for name in line.get("metrics", []) if isinstance(line.get(name), int | float)]
    if options.scorer is not None:
        if options.scorer not in names:
            raise InputError(f"there is no metric {quote(options.scorer)}; there are {listing(names)}")
        return float(line[options.scorer])
    return float(line[names[0]]) if names else None


def _readings(options: Options) -> list[Reading]:
    votes = f"{options.shares} votes by softmax" if options.shares else "the option of highest log-likelihood"
    by = {"acc_norm": " per character", "acc_bytes": " per byte", "acc_mutual_info": " above that without the question"}
    votes += by.get(options.scorer or "", "")
    return [
        Reading("dataset", "the task in the file's name", ""),
        Reading("question", "doc_id", ""),
        Reading("model", "config of results_*.json, or the directory", ""),
        Reading("sample", "repeat, counted on over runs", ""),
        Reading("answer", f"{votes}; responses of filter {options.filter or '(the only one)'}", ""),
        Reading("gold", "target", ""),
        Reading("correct", options.scorer or "the first metric, or equality with target", ""),
    ]


def _recognises(file: Path) -> bool:
    if file.suffix.lower() not in (".jsonl", ".ndjson"):
        return False
    start = head(file)
    if file.name.startswith("samples_") and b'"resps"' in start:
        return True
    return b'"doc_id"' in start and b'"resps"' in start and b'"arguments"' in start


FORMATS = (Format("lm-eval", _recognises, read),)


# --- what lm-evaluation-harness's own filters do to one response, before a reducer keeps one of several ---


INVALID = ("[invalid]", "")
"""What the harness's extracting filters give where they find nothing."""
REDUCERS = ("take_first", "take_first_k", "majority_vote")
Step = Callable[[str], str]
PLAIN: dict[str, Step] = {
    "remove_whitespace": lambda text: text.strip(),
    "lowercase": lambda text: text.lower(),
    "uppercase": lambda text: text.upper(),
}


@dataclass(frozen=True)
class TaskFilters:
    """A task's filters as its results file records them, and what its metric does not look at."""

    steps: Mapping[str, tuple[Step, ...]]
    first: Mapping[str, int] = field(default_factory=dict)
    """Of filters that look at the first few responses only: how many."""
    ignored: tuple[str, ...] = ()
    """Patterns of what the metric does not look at."""
    ignores_case: bool = False

    def apply(self, name: str, response: str) -> str:
        """Take one response through the steps of a filter that look at responses one by one."""
        for step in self.steps.get(name, ()):
            response = step(response)
        return response

    def extracts(self, name: str) -> bool:
        """Whether a filter takes an answer out of a response."""
        return bool(self.steps.get(name))

    def spell(self, answer: str) -> str:
        """Spell an answer as the metric compares it."""
        for pattern in self.ignored:
            answer = _pattern(pattern).without(answer)
        return (answer.lower() if self.ignores_case else answer).strip()


def filters_of(results: Path | None, task: str) -> TaskFilters:
    """Read a task's filters from the results file that was written with its samples; none where that does not tell."""
    config = _load(results).get("configs", {}).get(task) or {}
    steps = {
        str(entry.get("name")): tuple(_steps(entry.get("filter") or [], task))
        for entry in config.get("filter_list") or []
        if isinstance(entry, dict)
    }
    first = {
        str(entry.get("name")): int(function["k"])
        for entry in config.get("filter_list") or []
        for function in entry.get("filter") or []
        if function.get("function") == "take_first_k"
    }
    metric = next((metric for metric in config.get("metric_list") or [] if isinstance(metric, dict)), {})
    ignored = tuple(str(pattern) for pattern in metric.get("regexes_to_ignore") or [])
    return TaskFilters(steps, first, ignored, bool(metric.get("ignore_case")))


def temperature_of(results: Path | None, task: str) -> float | None:
    """The temperature at which a task's responses were drawn; None where the results file does not tell."""
    document = _load(results)
    own = (document.get("configs", {}).get(task) or {}).get("generation_kwargs") or {}
    given = document.get("config", {}).get("gen_kwargs") or {}
    settings = {**own, **(given if isinstance(given, dict) else {})}
    if settings.get("do_sample") is False:
        return 0.0
    value = settings.get("temperature")
    return float(value) if isinstance(value, int | float) else None


def _load(results: Path | None) -> dict[str, Any]:
    try:
        found = json.loads(results.read_bytes()) if results is not None else {}
    except (ValueError, OSError, RecursionError):
        return {}
    parts = ("configs", "config")
    return {part: found[part] for part in parts if isinstance(found, dict) and isinstance(found.get(part), dict)}


def _steps(functions: list[Any], task: str) -> list[Step]:
    made: list[Step] = []
    for function in functions:
        name = function.get("function")
        if name in REDUCERS:
            continue
        if name == "regex":
            made.append(_regex(function))
        elif name in PLAIN:
            made.append(PLAIN[name])
        else:
            made.append(_unknown(str(name), task))
    return made


def _regex(function: Mapping[str, Any]) -> Step:
    """As the harness does: all matches, one of them, its first group that is not empty."""
    text = str(function.get("regex_pattern", r"#### (\-?[0-9\.\,]+)"))
    place = int(function.get("group_select", 0))
    fallback = str(function.get("fallback", INVALID[0]))

    def extract(response: str) -> str:
        found = _pattern(text).all(response)
        try:
            return found[place].strip() or fallback
        except IndexError:
            return fallback

    return extract


@lru_cache(maxsize=64)
def _pattern(text: str) -> Pattern:
    """Compile a task's pattern when it is needed: RE2 cannot run all of Python's, and not all filters are asked for."""
    return Pattern(text)


def _unknown(name: str, task: str) -> Step:
    def refuse(_: str) -> str:
        raise InputError(
            f"task {quote(task)}: its filter {quote(name)} kept one response of several, and is not known here; "
            "read every response by a pattern of your own instead"
        )

    return refuse
