"""`swaplaw forensic solve` and `run`: agents at work, scripted or modelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swaplaw._core.inspect_run import display, inspect_errors, need_inspect, stdout_to_stderr
from swaplaw._core.progress import busy
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import emit, show, tell
from swaplaw.errors import InputError, SwaplawError, quote
from swaplaw_forensic.cli._options import CHALLENGES, EVIDENCE, IMAGE, LOGS, SANDBOX, TABLES, columns

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from swaplaw_forensic.challenges.manifest import Challenge


@click.command(cls=Command, own_display=True)
@CHALLENGES
@EVIDENCE
@SANDBOX
@IMAGE
@LOGS
@TABLES
def solve(
    challenges: tuple[str, ...], evidence: Path | None, sandbox: str, image: str | None, logs: Path, as_json: bool
) -> None:
    """Prove that challenges can be solved.

    A scripted agent plays their solutions in the real sandbox, and its answers are graded. Exit 1 unless every question
    that needs no judge is graded correct.
    """
    from swaplaw_forensic.challenges.manifest import load

    cases = [load(name) for name in challenges]
    need_inspect("running agents")
    with busy("Preparing challenges"):
        from swaplaw_forensic.agent.scripted import scripted_model
        from swaplaw_forensic.agent.traces import read_traces
        from swaplaw_forensic.grading.votes import Key, grade_traces

        model = scripted_model(cases)
    file = _evaluate(cases, model, evidence=evidence, sandbox=sandbox, image=image, logs=logs, quiet=as_json)
    traces = read_traces([file], partial=True).traces
    graded = grade_traces(traces, Key(traces), None)
    rows: list[dict[str, Any]] = [
        {"question": v.question, "tier": v.tier, "correct": v.correct, "submitted": v.submitted, "why": v.why}
        for v in graded.votes
    ]
    if as_json:
        emit({"log": str(file), "questions": rows, "need_a_judge": graded.without_rubric})
    else:
        shown = [
            [r["question"], r["tier"], "correct" if r["correct"] else "WRONG", quote(r["submitted"])] for r in rows
        ]
        show(f"solved; log {file}", columns("question", "tier", "grade", "submitted"), shown)
        if graded.without_rubric:
            tell(f"not graded without a judge: {', '.join(graded.without_rubric)}")
    wrong = [row["question"] for row in rows if not row["correct"]]
    if wrong:
        raise SwaplawError(f"{len(wrong)} of {len(rows)} questions were not solved: {', '.join(map(str, wrong))}")


def _evaluate(cases: Sequence[Challenge], model: Any, *, logs: Path, quiet: bool, **settings: Any) -> Path:
    """Run one evaluation to its end and return its log; a failed one is one line."""
    from inspect_ai import eval as evaluate

    from swaplaw_forensic.agent.task import forensic

    settings["evidence"] = str(settings["evidence"]) if settings["evidence"] else None
    with inspect_errors(), stdout_to_stderr():
        with busy("Preparing challenges"):
            task = forensic([case.ref if case.seed is not None else _name(case) for case in cases], **settings)
        (log,) = evaluate(task, model=model, log_dir=str(logs), display=display(quiet))
    if log.status != "success":
        reason = log.error.message if log.error else log.status
        raise SwaplawError(f"the run failed: {quote(reason, 300)}; its log is {log.location}")
    return Path(log.location)


def _name(case: Challenge) -> str:
    from swaplaw_forensic.challenges.manifest import SHIPPED

    return case.id if case.folder.parent == SHIPPED else str(case.folder)


@click.command(cls=Command, own_display=True)
@CHALLENGES
@click.option("--model", "models", multiple=True, help="Any Inspect model; may be given several times.")
@click.option("--local", multiple=True, metavar="NAME", help="A model on this machine: smollm2, qwen2.5-coder, a GGUF.")
@click.option(
    "--runs", type=click.IntRange(1), default=24, show_default=True, help="Traces per challenge: votes per question."
)
@EVIDENCE
@SANDBOX
@IMAGE
@LOGS
@click.option("--message-limit", type=click.IntRange(1), default=400, show_default=True, help="Messages per trace.")
@click.option("--token-limit", type=click.IntRange(1), default=5_000_000, show_default=True, help="Tokens per trace.")
@click.option("--time-limit", type=click.IntRange(1), default=7200, show_default=True, help="Seconds per trace.")
@click.option(
    "--command-timeout", type=click.IntRange(1), default=180, show_default=True, help="Seconds per tool call."
)
@click.option("--cpu-seconds", type=click.IntRange(1), default=3600, show_default=True, help="CPU time of a trace.")
@click.option("--memory", default="4GiB", show_default=True, help="Memory of a trace.")
@click.option("--disk", default="1GiB", show_default=True, help="What a trace may write (held in memory).")
@click.option("--file-size", default="1GiB", show_default=True, help="Largest file that a trace may write.")
@click.option(
    "--truncation/--no-truncation",
    default=True,
    show_default=True,
    help="Drop early messages when the context is full.",
)
@click.option("--text-calls", is_flag=True, help="Read tool calls that a model writes as JSON in its text.")
@click.option(
    "--context",
    type=click.IntRange(1024),
    default=16_384,
    show_default=True,
    help="Tokens of a conversation that a --local model keeps in mind.",
)
@click.option("--max-samples", type=click.IntRange(1), help="Traces at once.")
@click.option("--max-tokens", type=click.IntRange(1), help="Tokens per model reply.")
@click.option("--temperature", type=float, default=1.0, show_default=True)
@click.option("--model-base-url", help="Address of the model's server.")
@TABLES
def run(
    challenges: tuple[str, ...], models: tuple[str, ...], local: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Let models investigate challenges. Run the same command again to resume or to add runs."""
    if not (models or local):
        raise InputError("no model to run: give --model openai/gpt-5-mini, or --local qwen2.5-coder to run one here")
    from swaplaw_forensic.challenges.manifest import load
    from swaplaw_forensic.challenges.seeds import remembered

    cases = [load(name) for name in remembered(challenges, options["logs"])]
    need_inspect("running agents")
    from inspect_ai import eval_set

    from swaplaw_forensic.agent.task import forensic

    names = (
        *("sandbox", "image", "message_limit", "token_limit", "time_limit", "command_timeout"),
        *("cpu_seconds", "memory", "disk", "file_size", "truncation", "text_calls"),
    )
    settings = {name: options[name] for name in names}
    evidence = str(options["evidence"]) if options["evidence"] else None
    with inspect_errors(), stdout_to_stderr():
        fleet: list[Any] = [*models, *(_local(name, options) for name in local)]
        task = forensic(
            [case.ref if case.seed is not None else _name(case) for case in cases], evidence=evidence, **settings
        )
        success, logs = eval_set(
            task,
            log_dir=str(options["logs"]),
            model=fleet,
            # Not a setting of the task: so more runs later are the same task with more to do.
            epochs=options["runs"],
            model_base_url=options["model_base_url"],
            temperature=options["temperature"],
            max_tokens=options["max_tokens"],
            max_samples=options["max_samples"],
            continue_on_fail=True,
            retry_on_error=2,
            retry_attempts=1,
            log_dir_allow_dirty=True,
            display=display(as_json),
        )
    rows: list[dict[str, Any]] = [
        {"model": log.eval.model, "status": log.status, "log": log.location, "traces": _completed(log)} for log in logs
    ]
    if as_json:
        emit({"success": success, "logs": rows})
    else:
        cells = [[row["model"], row["status"], str(row["traces"]), row["log"]] for row in rows]
        show("logs", columns("model", "status", "traces", "log", numbers=("traces",)), cells)
    if not success:
        raise SwaplawError("some traces failed: run the same command again to repeat only those")


def _local(name: str, options: Mapping[str, Any]) -> Model:
    """Return a model on this machine with room for a whole investigation."""
    from inspect_ai.model import get_model

    from swaplaw.collect.local.models import SLOTS

    slots = min(SLOTS, options["max_samples"] or SLOTS)
    return get_model(f"local/{name}", context=options["context"], slots=slots)


def _completed(log: Any) -> int | None:
    return log.results.completed_samples if log.results else None
