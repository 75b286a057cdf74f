"""Inspect AI logs: every sample and epoch becomes a vote, read through Inspect's own API.

Summaries are read first: they are small and hold nearly everything. Only samples whose answer was shortened there, or
that have none (so that the model's stop reason must say why), are read in full, a batch at a time and without their
transcripts. Nothing but one batch is ever in memory.
"""

from __future__ import annotations

import gc
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw._parallel import with_bar
from swaplaw.answers.characters import storable
from swaplaw.answers.readers import Reader
from swaplaw.errors import InputError, MissingExtraError, listing, quote
from swaplaw.importers.documents import CHOICE, elements
from swaplaw.importers.inspect.answers import OWN, Orders, SampleRow, abstention, read_score, reason_of
from swaplaw.importers.inspect.panels import Item, judges_of, panel_of
from swaplaw.importers.record import Findings, Options, Reading, Spool, describe, positions, schema
from swaplaw.importers.scores import Scores
from swaplaw.votes.files import Source

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary
    from inspect_ai.model import GenerateConfig

MAX_UNPACKED = 64 * 2**30
"""The most bytes that a log may unpack to."""
MAX_MEMBER = 2 * 2**30
"""The most bytes that one part of a log may unpack to: it is read at once."""
MAX_JSON = 2**30
"""The largest JSON log: Inspect can only read it whole."""
MAX_RATIO = 2000
"""How many times smaller than its content a log of over 1 GiB can honestly be."""
SHORTENED = 1000
"""Texts of this length may have been cut off in a summary."""
OLDEST = (0, 3, 240)
"""The first version of Inspect that logs are read with."""
PANEL = ("judges", "models")
BATCH, FULL_BATCH = 5000, 1000
"""How many summaries, and how many full samples, are in memory at once."""
LEFT_OUT = {"events", "messages", "attachments", "store", "timelines", "events_data", "error_retries"}


@dataclass(frozen=True)
class Log:
    """One log's file and header."""

    file: Path
    header: EvalLog

    @property
    def created(self) -> str:
        """When the evaluation began: runs are numbered in this order."""
        return str(self.header.eval.created)

    @property
    def planned(self) -> int:
        """How many samples, over all epochs, the evaluation was to have."""
        dataset, config = self.header.eval.dataset, self.header.eval.config
        ids = len(dataset.sample_ids) if dataset.sample_ids is not None else dataset.samples or 0
        return ids * (config.epochs or 1)


@contextmanager
def _garbage_seldom() -> Iterator[None]:
    """Samples come and go without leaving garbage; looking for it as often as usual takes a third of the time."""
    usual = gc.get_threshold()
    if usual[0]:  # 0 is never, and somebody's wish.
        gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@_garbage_seldom()
def read(files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Spool the votes of Inspect logs; a task that was retried is counted once."""
    logs = _headers(files, findings)
    logs.sort(key=lambda log: (log.header.eval.task, log.header.eval.model, log.created, log.file.name))
    name = str(files[0]) if len(files) == 1 else f"{len(files)} Inspect logs from {files[0].parent}"
    if options.panel not in (None, *PANEL):
        raise InputError(f"panel is {quote(options.panel)}; expected {listing(PANEL)}")
    if options.panel != "models" and (judged := [log for log in logs if _has_panel(log)]):
        return _read_panels(name, logs, judged, options, findings)
    columns = schema(*(["cluster"] if options.cluster else []), "option")
    columns |= {"graded": columns["correct"]}
    spool = Spool(name, columns | ({"position": columns["tokens"]} if any(is_ours(log.header) for log in logs) else {}))
    orders: Orders = {}
    readers = Readers(ours=all(is_ours(log.header) for log in logs))
    scores: dict[str, Scores] = {}
    for (task, model), runs in groupby(logs, key=lambda log: (log.header.eval.task, log.header.eval.model)):
        offset = 0
        attempts = _attempts(list(runs), findings)
        for number, attempt in enumerate(attempts):
            most = 0
            for ballot in _samples(attempt, options, findings, orders):
                ballot.row |= {"dataset": options.dataset or task, "model": options.model or model}
                ballot.row["sample"] = offset + ballot.epoch - 1
                most = max(most, ballot.epoch)
                readers.see(ballot)
                if ballot.score is not None:
                    scores.setdefault(task, Scores(options.threshold)).right(ballot.score)
                spool.add(ballot.row)
            offset += most
            if number:
                other = differing(attempts[0][0].header, attempt[0].header)
                findings.notes.append(
                    f"{quote(model)} ran {quote(task)} again in {quote(attempt[0].file.name, 100)}"
                    + (f" with other settings ({listing(other)})" if other else "")
                    + ": its votes count as further samples"
                    + ("; to compare the settings, import each run under a model's name of its own" if other else "")
                )
    for task, seen in scores.items():
        seen.judge(f"task {quote(task)}", "scores", findings)
    findings.reader = options.reader or readers.reader
    findings.recorded |= recorded([log.header for log in logs])
    findings.readings += _readings(options)
    return spool.source()


def _has_panel(log: Log) -> bool:
    """Whether a log records who of a panel cast what: judged by its first scored sample."""
    judges = judges_of(log.header)
    if not judges:
        return False
    for summary, full in _with_full(log, lambda one: _hides_panel(one, judges), first=True):
        if not summary.error and summary.scores:
            return any(map(panel_of, Item(summary, full, judges, Options()).scores.values()))
    return False


def _hides_panel(summary: EvalSampleSummary, judges: Mapping[str, Sequence[str]]) -> bool:
    """Whether the summary may have left a panel out: it leaves out metadata that are long."""
    scores = summary.scores or {}
    return any(name.rstrip("0123456789") in judges and panel_of(score) is None for name, score in scores.items())


def _read_panels(name: str, logs: list[Log], judged: list[Log], options: Options, findings: Findings) -> Source:
    """Spool every judge's verdicts; what one of several attempts judged is not judged again by a later one."""
    ungraded = ("correct", "tokens", "cost")
    columns = schema(*(["cluster"] if options.cluster else []))
    spool = Spool(name, {column: kind for column, kind in columns.items() if column not in ungraded})
    several = len({log.header.eval.model for log in judged}) > 1
    series: set[str] = set()
    rows: list[dict[str, Any]] = []
    for (task, model), runs in groupby(judged, key=lambda log: (log.header.eval.task, log.header.eval.model)):
        offset = 0
        attempts = _attempts(list(runs), findings)
        for attempt in attempts:
            seen: set[tuple[str, int]] = set()
            for log in attempt:
                judges = judges_of(log.header)
                for summary, full in _with_full(log, lambda one, judges=judges: _hides_panel(one, judges)):  # type: ignore[misc]
                    if summary.error or (str(summary.id), summary.epoch) in seen:
                        continue
                    seen.add((str(summary.id), summary.epoch))
                    epoch = offset + summary.epoch
                    runs_on = len(attempts) > 1 or (log.header.eval.config.epochs or 1) > 1
                    parts = [str(summary.id), *([model] if several else []), *([str(epoch)] if runs_on else [])]
                    place = {"question": storable("/".join(parts)), "sample": 0, "run": log.header.eval.eval_id}
                    if options.cluster:
                        place["cluster"] = _cluster(summary, options.cluster, str(log.file))
                    for vote in Item(summary, full, judges, options).votes():
                        series.add(vote["series"])
                        rows.append(vote | place | {"task": options.dataset or task})
                findings.files.append(_facts(log))
            offset += max((epoch for _, epoch in seen), default=0)
    for row in rows:
        told, task = row.pop("series"), row.pop("task")
        spool.add(row | {"dataset": f"{task}:{told}" if len(series) > 1 else task})
    findings.notes.append(
        "a panel of graders scored these replies: each grader is read as a voter and each reply as a question "
        "(panel='models' reads the models' own answers)"
    )
    if left := len(logs) - len(judged):
        findings.notes.append(f"{left} of {len(logs)} logs record no panel, and are left out")
    findings.readings += [
        Reading("dataset", "eval.task, and the scorer where there are several", ""),
        Reading("question", "sample id, model and epoch: the judged reply", ""),
        Reading("model", "the graders of the scorer", ""),
        Reading("answer", "votes of the score's metadata 'panel'", ""),
        Reading("gold", "what people say in the metadata, or the scorer that is no panel", ""),
        Reading("reason", "failures of the panel", ""),
    ]
    return spool.source()


def _headers(files: Sequence[Path], findings: Findings) -> list[Log]:
    """Read the headers; a log that cannot be read is named, and stops the import only if nothing else is left."""
    logs: list[Log] = []
    broken: list[InputError] = []
    for file in files:
        try:
            logs.append(Log(file, _header(file)))
        except InputError as error:
            broken.append(error)
    if not logs:
        raise broken[0]
    findings.notes += [f"left out: {error}" for error in broken]
    return logs


def _header(file: Path) -> EvalLog:
    _check_size(file)
    api = _inspect()
    try:
        header: EvalLog = api.read_eval_log(str(file.resolve()), header_only=True)
    except Exception as error:  # Pydantic, zip, JSON and version errors all mean that this log cannot be read.
        raise _unreadable(file, error) from None
    known = api.EvalLog.model_fields["version"].default
    if header.version > known:
        raise _unreadable(file, ValueError(f"its format has version {header.version}, and only {known} is known"))
    return header


def _inspect() -> Any:
    try:
        import inspect_ai.log
    except ImportError:
        raise MissingExtraError("inspect", "reading Inspect logs") from None
    _check_version()
    return inspect_ai.log


def _check_version() -> None:
    """Refuse an Inspect that is too old in one line, instead of failing later in many."""
    from importlib.metadata import version

    found = version("inspect-ai")
    if tuple(int(part) for part in re.findall(r"\d+", found)[:3]) < OLDEST:
        raise InputError(
            f"Inspect {found} is installed, but reading logs needs {'.'.join(map(str, OLDEST))} or newer; "
            "upgrade inspect-ai"
        )


def _unreadable(file: Path, error: Exception) -> InputError:
    from importlib.metadata import version

    # Inspect wraps what went wrong: the innermost error says it best.
    inner: BaseException = error
    while inner.__cause__ or inner.__context__:
        inner = inner.__cause__ or inner.__context__ or inner
    detail = " ".join(str(inner).split()) or type(inner).__name__
    if "version" in detail.lower() and "log format" in detail.lower():
        return InputError(
            f"{quote(str(file), 200)}: written by a newer Inspect than the one here ({version('inspect-ai')}; "
            f"{quote(detail, 120)}); upgrade inspect-ai, or write the log again with an older one"
        )
    return InputError(
        f"{quote(str(file), 200)}: not a whole Inspect log ({quote(detail, 160)}); it may be cut off: "
        "copy it again, or retry the evaluation with `inspect eval-retry`"
    )


def _check_size(file: Path) -> None:
    """Refuse logs that would unpack to more than an evaluation can hold."""
    name = quote(str(file), 200)
    if file.suffix == ".json":
        if file.stat().st_size > MAX_JSON:
            raise InputError(f"{name}: a JSON log this large cannot be streamed; run `inspect log convert --to eval`")
        return
    try:
        with zipfile.ZipFile(file) as archive:
            sizes = [(member.file_size, member.filename) for member in archive.infolist()]
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise _unreadable(file, error) from None
    total, (largest, member) = sum(size for size, _ in sizes), max(sizes, default=(0, ""))
    if largest > MAX_MEMBER:
        raise InputError(f"{name}: {quote(member)} would unpack to {largest:,} bytes; at most {MAX_MEMBER:,} are read")
    if total > MAX_UNPACKED or (total > 2**30 and total > MAX_RATIO * file.stat().st_size):
        raise InputError(f"{name}: this log would unpack to {total:,} bytes, which no evaluation needs; it is not read")


def _attempts(runs: list[Log], findings: Findings) -> list[list[Log]]:
    """Group one task's logs of one model into runs; each run lists its attempts, the best one first."""
    once = {log.header.eval.eval_id: log for log in runs}
    if len(once) < len(runs):
        findings.notes.append(f"{len(runs) - len(once)} copies of logs that were read already: counted once")
    tasks: dict[str, list[Log]] = {}
    for log in once.values():
        tasks.setdefault(log.header.eval.task_id, []).append(log)
    for attempts in tasks.values():
        attempts.sort(key=lambda log: (log.header.status == "success", log.created), reverse=True)
        if len(attempts) > 1:
            findings.notes.append(
                f"{quote(attempts[0].header.eval.task)} was retried: {len(attempts)} logs of one run, every sample "
                f"counted once, from {quote(attempts[0].file.name, 100)} first"
            )
    return sorted(tasks.values(), key=lambda attempts: attempts[0].created)


def _samples(attempts: list[Log], options: Options, findings: Findings, orders: Orders) -> Iterator[SampleRow]:
    """Read a run's samples once each; one that failed counts only if no attempt finished it."""
    seen: set[tuple[str, int]] = set()
    failed: dict[tuple[str, int], SampleRow] = {}
    for log in attempts:
        ungraded = 0
        for ballot in with_bar(_ballots(log, options, orders), log.file.name, log.planned):
            key = (ballot.row["question"], ballot.epoch)
            if key in seen:
                continue
            if ballot.row["reason"] == "error":
                failed.setdefault(key, ballot)
                continue
            seen.add(key)
            ungraded += ballot.row["reason"] == "ungraded"
            yield ballot
        findings.files.append(_facts(log))
        if ungraded:
            findings.notes.append(
                f"{quote(log.file.name, 100)}: {ungraded} answers have no grade and count as abstentions"
            )
    for key, ballot in failed.items():
        if key not in seen:
            seen.add(key)
            yield ballot
    _say_what_is_missing(attempts[0], len(seen), findings)


def _say_what_is_missing(log: Log, found: int, findings: Findings) -> None:
    status = log.header.status
    name = quote(log.file.name, 100)
    if status != "success":
        state = {"started": "still running or was killed", "cancelled": "was cancelled", "error": "failed"}
        findings.notes.append(
            f"{name}: this evaluation {state.get(status, quote(status))}: {found} of {log.planned} samples imported"
        )
    elif found < log.planned:
        findings.notes.append(f"{name}: {found} of {log.planned} samples are in the log; the others are missing")


def _facts(log: Log) -> dict[str, Any]:
    spec = log.header.eval
    return describe(
        log.file,
        status=log.header.status,
        task=spec.task,
        model=spec.model,
        eval_id=spec.eval_id,
        task_id=spec.task_id,
        created=log.created,
        inspect=spec.packages.get("inspect_ai"),
    )


def _ballots(log: Log, options: Options, orders: Orders) -> Iterator[SampleRow]:
    """Turn a log's samples into votes, the full sample at hand where the summary is not enough."""
    for summary, full in _with_full(log, lambda one: _needs_full(one, options)):
        ballot = read_ballot(summary, full, options, orders, str(log.file))
        ballot.row["run"] = log.header.eval.eval_id
        yield ballot


def read_ballot(
    summary: EvalSampleSummary, full: EvalSample | None, options: Options, orders: Orders, file: str
) -> SampleRow:
    """Turn one sample into a vote: its answer or why there is none, its cluster and its cost."""
    score = read_score(summary, full, options, file)
    ballot = score.ballot(orders) if score else SampleRow.abstained(summary, abstention(summary, full, None))
    ballot.row |= _costs(summary)
    if options.cluster:
        ballot.row["cluster"] = _cluster(summary, options.cluster, file)
    return ballot


def _summaries(log: Log) -> Iterator[EvalSampleSummary]:
    try:
        yield from summaries(log.file)
    except Exception as error:  # The header was whole; what follows is not.
        raise _unreadable(log.file, error) from None


def _with_full(
    log: Log, needed: Callable[[EvalSampleSummary], bool], *, first: bool = False
) -> Iterator[tuple[EvalSampleSummary, EvalSample | None]]:
    """Give each summary, with the full sample where it is needed; `first` reads them one by one."""
    if log.file.suffix == ".json":
        yield from _whole(log)
        return
    for batch, wanted in _batches(log, needed, 1 if first else BATCH):
        full = {(sample.id, sample.epoch): sample for sample in _full(log, wanted)}
        yield from ((summary, full.get((summary.id, summary.epoch))) for summary in batch)


def _batches(
    log: Log, needed: Callable[[EvalSampleSummary], bool], size: int
) -> Iterator[tuple[list[EvalSampleSummary], list[tuple[str | int, int]]]]:
    """Gather summaries, and which of them need their full samples: opening a log costs a look at all its parts."""
    batch: list[EvalSampleSummary] = []
    wanted: list[tuple[str | int, int]] = []
    for summary in _summaries(log):
        batch.append(summary)
        if summary.completed and needed(summary):
            wanted.append((summary.id, summary.epoch))
        if len(batch) == size or len(wanted) == FULL_BATCH:
            yield batch, wanted
            batch, wanted = [], []
    yield batch, wanted


def _whole(log: Log) -> Iterator[tuple[EvalSampleSummary, EvalSample]]:
    """A JSON log has no parts: Inspect reads it whole whatever is asked for, so it is asked once."""
    try:
        samples = _inspect().read_eval_log(str(log.file.resolve())).samples or []
    except Exception as error:  # As above.
        raise _unreadable(log.file, error) from None
    yield from ((sample.summary(), sample) for sample in samples)


def _needs_full(summary: EvalSampleSummary, options: Options) -> bool:
    """Whether the summary leaves the answer or the reason for having none open."""
    if summary.error or not summary.scores:
        return False
    if options.reader is not None:
        return True
    chosen = [score for name, score in summary.scores.items() if options.scorer in (None, name)]
    texts = [
        *(score.answer or "" for score in chosen),
        *([summary.target] if isinstance(summary.target, str) else summary.target),
    ]
    if summary.choices and not all(
        positions((score.answer or "").split(","), len(summary.choices)) for score in chosen
    ):
        return True  # No letters: the completion may name one.
    return any(len(text) >= SHORTENED or text.endswith("...") for text in texts) or not any(
        (score.answer or "").strip() or reason_of(score) in OWN for score in chosen
    )


def _full(log: Log, wanted: Iterable[tuple[str | int, int]]) -> list[EvalSample]:
    ids = list(wanted)
    if not ids:
        return []
    api, path = _inspect(), str(log.file.resolve())
    try:
        if not hasattr(api, "read_eval_log_samples_by_id"):
            # Older versions read one sample at a time, which is slower and gives the same.
            return [api.read_eval_log_sample(path, id=name, epoch=epoch) for name, epoch in ids]
        found: list[EvalSample] = api.read_eval_log_samples_by_id(path, ids, exclude_fields=set(LEFT_OUT))
    except Exception as error:  # As above: any failure means that the log is not whole.
        raise _unreadable(log.file, error) from None
    return found


def _cluster(summary: EvalSampleSummary, key: str, file: str) -> str:
    if key not in summary.metadata:
        raise InputError(
            f"{quote(file, 200)}: sample {quote(summary.id)} has no metadata {quote(key)} to be its cluster; "
            f"there are {listing(list(islice(summary.metadata, 20))) or 'none'}"
        )
    return str(summary.metadata[key])


def _costs(summary: EvalSampleSummary) -> dict[str, Any]:
    usage = list(summary.model_usage.values())
    costs = [use.total_cost for use in usage if use.total_cost is not None and math.isfinite(use.total_cost)]
    # Nobody answers without tokens: 0 means that the provider did not count them.
    return {"tokens": sum(use.total_tokens for use in usage) or None, "cost": sum(costs) if costs else None}


def _readings(options: Options) -> list[Reading]:
    scorer = f"the scorer {options.scorer!r}" if options.scorer else "the log's scorer"
    return [
        Reading("dataset", "eval.task", ""),
        Reading("question", "sample id", ""),
        Reading("model", "eval.model", ""),
        Reading("sample", "epoch, counted on over runs", ""),
        Reading("answer", f"answer of {scorer}; letters mapped back to the option", ""),
        Reading("gold", "target", ""),
        Reading("reason", "error, limit, stop reason, score's reason", ""),
        Reading("correct", f"value of {scorer}, at least {options.threshold:g}", ""),
        Reading("graded", f"value of {scorer}, whatever is read from the reply", ""),
        Reading("tokens", "model usage", ""),
        *([Reading("cluster", f"metadata {options.cluster!r}", "")] if options.cluster else []),
    ]


# --- how the votes of Inspect logs came about: who read the answers, the temperature, what truncation counts as ---


TELLING = {"temperature", "top_p", "top_k", "max_tokens", "reasoning_effort", "reasoning_tokens", "effort"}
"""Settings that make another model of one; how often and how fast it is asked does not."""


def is_ours(header: EvalLog) -> bool:
    """Whether a log is of our own task, whose scorer is the one reader and says where the chosen option was shown."""
    return bool(header.eval.task_registry_name == "swaplaw/mcq")


@dataclass
class Readers:
    """Who read the answers: the one reader, if it read all of them; with as many labels as there are options."""

    ours: bool
    """Whether all logs are of our own task."""
    spoken: bool = False
    scored: bool = False
    options: int = 0

    def see(self, ballot: SampleRow) -> None:
        """Look at one vote."""
        if ballot.row["answer"] is None:
            return
        self.spoken |= ballot.spoken or self.ours
        self.scored |= not (ballot.spoken or self.ours)
        self.options = max(self.options, ballot.options)

    @property
    def reader(self) -> Reader | None:
        """The reader of all answers; None where a scorer of its own kind read some."""
        if not self.spoken or self.scored:
            return None
        return Reader.of_options(self.options) if self.options else CHOICE


def recorded(headers: Sequence[EvalLog]) -> dict[str, Any]:
    """What the headers tell of how completions came about, where all of them agree."""
    temperatures = {_temperature(header) for header in headers}
    known: dict[str, Any] = {"truncated": "abstain"} if all(map(is_ours, headers)) else {}
    temperature = temperatures.pop() if len(temperatures) == 1 else None
    return known if temperature is None else known | {"temperature": temperature}


def differing(first: EvalLog, second: EvalLog) -> list[str]:
    """What two runs of one model and task were set to differently, as `setting: first, then second`."""
    one, two = _settings(first), _settings(second)
    names = [name for name in {**one, **two} if one.get(name) != two.get(name)]
    return [f"{name}: {one.get(name)}, then {two.get(name)}" for name in names]


def _settings(header: EvalLog) -> dict[str, Any]:
    """Arguments of task, model and solver, and how replies are generated; a seed only makes further samples."""
    spec = header.eval
    generated = {**_given(spec.model_generate_config), **_given(header.plan.config)}
    arguments = {**spec.task_args, **spec.model_args, **(spec.solver_args or {})}
    return {**arguments, **generated, "solver": spec.solver}


def _given(config: GenerateConfig) -> dict[str, Any]:
    return config.model_dump(exclude_none=True, include=TELLING)


def _temperature(header: EvalLog) -> float | None:
    """The temperature of an evaluation: what its run was given, else what the model was made with."""
    for config in (header.plan.config, header.eval.model_generate_config):
        if config.temperature is not None:
            return float(config.temperature)
    return None


# --- sample summaries of an Inspect log, one at a time ---


WHOLE = "summaries.json"
"""Where a finished log has all summaries."""
JOURNAL = "_journal/summaries/"
"""Where one that was cut short has them, in numbered parts."""


def summaries(file: Path) -> Iterator[EvalSampleSummary]:
    """Read a log's summaries; of a sample that was run again, the last one, as Inspect itself does."""
    from inspect_ai.log import EvalSampleSummary

    last = {_key(item): place for place, item in enumerate(_items(file))}
    for place, item in enumerate(_items(file)):
        if last[_key(item)] == place:
            yield EvalSampleSummary.model_validate(_without_long_texts(item))


def _without_long_texts(item: dict[str, Any]) -> dict[str, Any]:
    scores = item.get("scores") or {}
    return {**item, "input": "", "scores": {name: {**scores[name], "explanation": None} for name in scores}}


def _key(item: dict[str, Any]) -> tuple[str, int]:
    return str(item["id"]), int(item["epoch"])


def _items(file: Path) -> Iterator[dict[str, Any]]:
    with zipfile.ZipFile(file) as archive:
        for part in _parts(archive.namelist()):
            with archive.open(part) as handle:
                yield from elements(handle, part)


def _parts(names: list[str]) -> list[str]:
    if WHOLE in names:
        return [WHOLE]
    parts = {name for name in names if name.startswith(JOURNAL) and name.endswith(".json")}
    return sorted(parts, key=lambda name: int(name.removeprefix(JOURNAL).removesuffix(".json")))
