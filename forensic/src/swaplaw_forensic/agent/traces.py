"""Saved Inspect logs of the forensic task, read into traces: all that grading needs, and no model call."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swaplaw.errors import Fix, InputError, listing, quote

ANSWERS, FINISHED = "forensic_answers", "forensic_finished"
BY = {"challenge": "cluster", "level": "level", "tier": "tier"}
"""What tables of grades are split by -> the column of the votes."""
EFFORT = ("tokens", "cost", "messages", "seconds")
"""What a trace costs."""
UNREAD = {"messages", "events", "attachments", "timelines", "events_data"}


@dataclass(frozen=True)
class Trace:
    """What one (challenge, run) of one model submitted."""

    model: str
    challenge: str
    folder: str | None
    """Where a challenge of the user's own lies."""
    questions: tuple[str, ...]
    answers: dict[str, str]
    ended: str
    """`finish`, the limit that cut the trace (`message`, `token`, `time`, `context`, ...), `error`, or `stopped`."""
    tokens: int
    sample: int
    key: str | None = None
    """The fingerprint of the secret key with which a synthetic case was built."""
    messages: int = 0
    seconds: float = 0.0
    cost: float | None = None
    """As far as the prices of its models are known."""


@dataclass(frozen=True)
class Reading:
    """The traces of some logs, and what was left out."""

    traces: list[Trace]
    skipped: list[str]


def read_traces(paths: Sequence[Path], *, partial: bool = False) -> Reading:
    """Read every forensic log under the paths; unfinished logs only when `partial`."""
    from inspect_ai.log import read_eval_log

    traces: list[Trace] = []
    skipped: list[str] = []
    seen: set[str] = set()
    numbers: Counter[tuple[str, str]] = Counter()
    for path in paths:
        if not path.exists():
            raise InputError(f"no log at {quote(str(path))}: give .eval files, or a folder that holds them")
    files = [file for path in paths for file in (path.rglob("*.eval") if path.is_dir() else [path])]
    for file in sorted(files, key=lambda path: path.name):
        try:
            header = read_eval_log(str(file), header_only=True)
        except Exception as error:  # a broken file raises whatever its first bad byte provokes
            raise InputError(f"{file}: not an Inspect log that can be read: {quote(str(error), 200)}") from None
        if header.eval.task.rsplit("/", 1)[-1] != "forensic":
            skipped.append(f"{file.name}: a log of task {quote(header.eval.task)}, not of forensic")
            continue
        if header.status != "success" and not partial:
            skipped.append(f"{file.name}: unfinished ({header.status})")
            continue
        for sample, messages in _samples(file):
            # A retried or resumed log repeats the samples of the log before it.
            if sample.uuid and sample.uuid in seen:
                continue
            seen.add(sample.uuid or "")
            if not sample.metadata.get("challenge") or not sample.metadata.get("questions"):
                raise InputError(f"{file}: a log of another task that is called forensic too; leave it out")
            key = (header.eval.model, str(sample.metadata["challenge"]))
            traces.append(_trace(header.eval.model, sample, numbers[key], messages))
            numbers[key] += 1
    if not traces:
        why = f": {'; '.join(skipped[:3])}" if skipped else ""
        fix = Fix("partial", True, "keep what they have") if "unfinished" in why else ()
        raise InputError(f"no finished forensic log in {listing([str(path) for path in paths])}{why}", fix)
    return Reading(traces, skipped)


def _samples(file: Path) -> Iterable[tuple[Any, int]]:
    """Return a log's samples in order of challenge and run, each with the number of messages that were left unread."""
    from inspect_ai.log import read_eval_log_sample_summaries, read_eval_log_samples_by_id

    summaries = read_eval_log_sample_summaries(str(file))
    wanted = sorted((str(summary.id), summary.epoch) for summary in summaries)
    counts = {(str(summary.id), summary.epoch): summary.message_count or 0 for summary in summaries}
    for sample in read_eval_log_samples_by_id(str(file), wanted, exclude_fields=UNREAD):
        yield sample, counts[str(sample.id), sample.epoch]


def _trace(model: str, sample: Any, number: int, messages: int) -> Trace:
    from swaplaw_forensic.agent.replies import OVERFLOW

    full = sample.output.stop_reason == "model_length" if sample.output and sample.output.choices else False
    if full or (sample.error and OVERFLOW.search(sample.error.message)):
        ended = "context"
    elif sample.error:
        ended = "error"
    elif sample.limit:
        ended = str(sample.limit.type)
    else:
        ended = "finish" if sample.store.get(FINISHED) else "stopped"
    usages = list(sample.model_usage.values())
    spent = {"messages": messages, "seconds": sample.total_time or 0.0}
    return made(model, sample.metadata, sample.store, usages, ended=ended, sample=number, **spent)


def made(model: str, metadata: Mapping[str, Any], store: Any, usages: Sequence[Any], **rest: Any) -> Trace:
    """Return the trace that a sample was, from its log or while it is scored."""
    costs = [usage.total_cost for usage in usages if usage.total_cost is not None]
    return Trace(
        model=model,
        challenge=str(metadata["challenge"]),
        folder=metadata.get("folder"),
        questions=tuple(metadata["questions"]),
        answers={str(name): str(text) for name, text in store.get(ANSWERS, {}).items()},
        key=metadata.get("key"),
        tokens=sum(usage.total_tokens for usage in usages),
        cost=sum(costs) if costs else None,
        **rest,
    )
