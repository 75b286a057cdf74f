"""`swaplaw forensic`: agents investigate challenges in a sandbox, are graded offline, and become votes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from swaplaw._inspect_run import display, inspect_errors, stdout_to_stderr
from swaplaw._parallel import busy, counting
from swaplaw.cli.options import FILE, FOLDER, Group, command, option, switch, words
from swaplaw.cli.render import Column, answer, header, percent, show, tell, text, wants_json
from swaplaw.errors import InputError, SwaplawError, quote, several
from swaplaw_forensic.agent.traces import BY, EFFORT, read_traces
from swaplaw_forensic.challenges import evidence as places
from swaplaw_forensic.challenges.gold import load_gold
from swaplaw_forensic.challenges.manifest import SHIPPED, Challenge, at_level, load, shipped
from swaplaw_forensic.challenges.seeds import remembered
from swaplaw_forensic.challenges.tools import diagnose
from swaplaw_forensic.grading.judge import Item, Judgement
from swaplaw_forensic.grading.judge import judge as judged
from swaplaw_forensic.grading.tables import dependence, effort, shares
from swaplaw_forensic.grading.votes import Key, grade_traces, to_judge, without_gold, write_votes

POSITIVE = click.IntRange(1)
CHALLENGES = words("CHALLENGE...")
EVIDENCE = option(
    "--evidence",
    "Folder of the evidence, with one folder per challenge. Default: $SWAPLAW_EVIDENCE, or 'evidence' here.",
    type=FOLDER,
)
LEVEL = option("--level", "How hard synthetic cases are.", type=click.IntRange(1, 3), default=1)
IMAGE = option("--image", "Image of Apptainer (SIF; default: $SWAPLAW_APPTAINER_IMAGE) or Docker.")
EXAMPLES = 3
"""Unsure answers that are shown."""


@click.group("forensic")
def forensic() -> None:
    """A forensic testbed: agents investigate in a sandbox without network, and their answers become votes.

    CHALLENGE is an id (see `list`), id@seed for a synthetic one, or a folder with a challenge.toml.
    """


def _root(evidence: Path | None) -> Path:
    return evidence or places.default_root()


def _cases(names: Sequence[str], level: int, logs: Path | None = None) -> list[Challenge]:
    """Load challenges, at a level where they name none; logs keep the seeds that were drawn."""
    levelled = [at_level(name, level) for name in names]
    return [load(name) for name in (levelled if logs is None else remembered(levelled, logs))]


@command(example="swaplaw forensic list", evidence=EVIDENCE)
def list_(evidence: Path | None) -> None:
    """List the challenges, and whether their evidence is here."""
    root = _root(evidence)
    rows: list[dict[str, Any]] = []
    for name in shipped():
        challenge = load(name)
        golds = load_gold(challenge).values()
        where = places.whereabouts(challenge, root)
        told = {name: getattr(challenge, name) for name in ("id", "title", "kind", "licence", "obtain")}
        told |= {"pages": list(challenge.pages), "unknown": list(challenge.unknown), "here": where == "here"}
        counts = {
            "questions": len(challenge.questions),
            "gradeable": sum(not gold.ungradeable for gold in golds),
            "rubric": sum(gold.tier == "rubric" and not gold.ungradeable for gold in golds),
            "errata": sum(bool(gold.erratum) for gold in golds),
            "files": len(challenge.evidence),
        }
        rows.append(told | counts | {"evidence": where})
    numbers = [Column(name, name) for name in counts if name != "files"]
    columns = [text("challenge", "id"), text("title", "title"), *numbers, text("evidence", "evidence")]
    answer(
        {"evidence": str(root), "challenges": rows},
        lambda: show(f"challenges; evidence in {root}", columns, rows),
    )


@command(
    example="swaplaw forensic verify synthetic-disk@7 synthetic-capture@7",
    challenges=CHALLENGES,
    evidence=EVIDENCE,
    level=LEVEL,
)
def verify(challenges: tuple[str, ...], evidence: Path | None, level: int) -> None:
    """Verify the size and hashes of evidence. Exit 1 unless every file is right."""
    root = _root(evidence)
    results: list[dict[str, Any]] = []
    failed = []
    for name, challenge in zip(challenges, _cases(challenges, level), strict=True):
        if challenge.seed is not None and "@" not in name:
            raise InputError(f"{challenge.id} is a different case for each seed: verify {challenge.id}@SEED")
        files = [asdict(row) for row in places.verify(challenge, root)]
        good = bool(files) and all(row["status"] == "ok" for row in files)
        failed += [] if good else [challenge]
        folder = str(places.locate(challenge, root))
        results.append({"challenge": challenge.ref, "folder": folder, "ok": good, "files": files})
    _answer_files(results, [text(name, name) for name in ("file", "status", "detail")])
    if failed:
        raise SwaplawError(
            f"the evidence of {', '.join(c.ref for c in failed)} cannot be used. To get it: {failed[0].obtain}"
        )


@command(
    example="swaplaw forensic build synthetic-disk@7 synthetic-capture@7 --level 2",
    challenges=CHALLENGES,
    evidence=EVIDENCE,
    level=LEVEL,
    source=option("--from", "Folder with a real challenge's files or its published archive.", type=FOLDER),
)
def build(challenges: tuple[str, ...], evidence: Path | None, level: int, source: Path | None) -> None:
    """Put evidence in place. Generate a synthetic challenge, or take a real one's files from --from."""
    built: list[dict[str, Any]] = []
    for challenge in _cases(challenges, level):
        folder = places.build(challenge, _root(evidence), source)
        files = [{"file": e.file, "bytes": e.bytes, "sha256": e.sha256} for e in places.expected(challenge)]
        built.append({"challenge": challenge.ref, "folder": str(folder), "files": files})
    place = text("file", lambda row: f"{row['folder']}/{row['file']}")
    _answer_files(built, [place, Column("bytes", "bytes"), text("sha256", "sha256")])


def _answer_files(found: Sequence[dict[str, Any]], columns: Sequence[Column]) -> None:
    rows = [one | file for one in found for file in one["files"]]
    named = [text("challenge", "challenge"), *columns]
    answer({"challenges": found}, lambda: show("evidence", named, rows))


@command(
    example="swaplaw forensic doctor synthetic-disk synthetic-capture",
    challenges=words("[CHALLENGE]...", required=False),
    evidence=EVIDENCE,
    image=IMAGE,
)
def doctor(challenges: tuple[str, ...], evidence: Path | None, image: str | None) -> None:
    """Name the tools and evidence that each challenge lacks here. Exit 1 if tools are missing.

    With --image, look into an unpacked Apptainer image instead of this machine. Without CHALLENGE, look at all.
    """
    root, inside = _root(evidence), Path(image) if image else None
    if inside is not None and not inside.is_dir():
        raise InputError(
            f"{image} is not an unpacked image (`apptainer build --sandbox`): only such a folder can be looked into"
        )
    found = [diagnose(load(name), root, inside) for name in challenges or shipped()]

    def together(names: Sequence[str]) -> str:
        return " ".join(names) or "-"

    columns = [
        text("challenge", "challenge"),
        Column("missing tools", "missing", together, right=False),
        text("evidence", "evidence"),
        Column("cannot be graded", "ungradeable", together, right=False),
    ]

    def shown() -> None:
        show("challenges on this machine", columns, found)
        for one in found if challenges else ():
            for line in one["steps"]:
                click.echo(f"{one['challenge']}: {line}")

    answer({"challenges": found}, shown)
    packages = list(dict.fromkeys(package for one in found for package in one["packages"]))
    if packages:
        raise SwaplawError(f"tools are missing; on Debian: apt-get install {' '.join(packages)}")


SETTINGS = {
    "sandbox": option("--sandbox", "Where the agent's tools run.", type=click.Choice(("bwrap", "apptainer", "docker")),
                      default="bwrap"),
    "image": IMAGE,
    "message_limit": option("--message-limit", "Messages per trace.", type=POSITIVE, default=400),
    "token_limit": option("--token-limit", "Tokens per trace.", type=POSITIVE, default=5_000_000),
    "time_limit": option("--time-limit", "Seconds per trace.", type=POSITIVE, default=7200),
    "command_timeout": option("--command-timeout", "Seconds per tool call.", type=POSITIVE, default=180),
    "cpu_seconds": option("--cpu-seconds", "CPU time of a trace.", type=POSITIVE, default=3600),
    "memory": option("--memory", "Memory of a trace.", default="4GiB"),
    "disk": option("--disk", "What a trace may write (held in memory).", default="1GiB"),
    "file_size": option("--file-size", "Largest file that a trace may write.", default="1GiB"),
    "truncation": option("--truncation/--no-truncation", "Drop early messages when the context is full.", default=True),
    "text_calls": switch("--text-calls", "Read tool calls that a model writes as JSON in its text."),
}  # fmt: skip
"""Of the task, by the names of its arguments."""
GENERATION = {
    "max_samples": option("--max-samples", "Traces at once.", type=POSITIVE),
    "max_tokens": option("--max-tokens", "Tokens per model reply.", type=POSITIVE),
    "temperature": option("--temperature", "Of the model.", type=float, default=1.0),
    "model_base_url": option("--model-base-url", "Address of the model's server."),
}


@command(
    example="swaplaw forensic run synthetic-host --local smollm2 --runs 4 --text-calls",
    own_display=True,
    challenges=CHALLENGES,
    models=option("--model", "Any Inspect model; may be given several times.", multiple=True),
    local=option("--local", "A model on this machine: smollm2.", multiple=True, metavar="NAME"),
    human=option("--human", "A person at this terminal, who is graded alike.", metavar="NAME"),
    runs=option("--runs", "Traces per challenge: votes per question.", type=POSITIVE, default=24),
    evidence=EVIDENCE,
    level=LEVEL,
    logs=option("--logs", "Log folder.", type=FOLDER, default=Path("logs")),
    context=option(
        "--context", "Tokens of a conversation that a --local model keeps in mind.", type=POSITIVE, default=16_384
    ),
    settings=Group(SETTINGS),
    generation=Group(GENERATION),
)
def run(
    challenges: tuple[str, ...],
    models: tuple[str, ...],
    local: tuple[str, ...],
    human: str | None,
    runs: int,
    evidence: Path | None,
    level: int,
    logs: Path,
    context: int,
    settings: dict[str, Any],
    generation: dict[str, Any],
) -> None:
    """Let models investigate challenges. Run the same command again to resume or to add runs."""
    if not (models or local or human):
        raise InputError("no model to run: give --model openai/gpt-5-mini, or --local smollm2 to run one here")
    cases = _cases(challenges, level, logs)
    from inspect_ai import eval_set
    from inspect_ai.model import get_model

    from swaplaw_forensic.task import forensic as investigation

    if human:
        for case in cases:
            tell(f"{case.ref}: the evidence is in {places.require(case, _root(evidence))[0]}")
    with inspect_errors(), stdout_to_stderr():
        fleet: list[Any] = [*models, *([f"human/{human}"] if human else [])]
        # Room for a whole investigation; as many conversations at once as there are traces.
        slots = {"slots": generation["max_samples"]} if generation["max_samples"] else {}
        fleet += [get_model(f"local/{name}", context=context, **slots) for name in local]
        with busy("Preparing challenges"):
            task = investigation(
                [case.ref if case.folder.parent == SHIPPED else str(case.folder) for case in cases],
                evidence=str(evidence) if evidence else None,
                **settings,
            )
        success, made = eval_set(
            task,
            log_dir=str(logs),
            model=fleet,
            # Not a setting of the task: so more runs later are the same task with more to do.
            epochs=runs,
            **(generation | ({"max_samples": 1} if human else {})),
            continue_on_fail=True,
            retry_on_error=2,
            retry_attempts=1,
            log_dir_allow_dirty=True,
            display="none" if human else display(wants_json()),
        )
    rows = [
        {"model": log.eval.model, "status": log.status, "log": log.location,
         "traces": log.results.completed_samples if log.results else None}
        for log in made
    ]  # fmt: skip
    columns = [text("model", "model"), text("status", "status"), Column("traces", "traces"), text("log", "log")]
    answer({"success": success, "logs": rows}, lambda: show("logs", columns, rows))
    if not success:
        raise SwaplawError("some traces failed: run the same command again to repeat only those")


@command(
    example="swaplaw forensic grade logs -o votes.parquet",
    logs=words("LOGS...", type=click.Path(path_type=Path)),
    output=option("-o/--output", "Vote table (Parquet).", type=FILE, required=True),
    judge_name=option("--judge", "Any Inspect model, for rubrics and unsure answers; verdicts are kept."),
    judge_twice=switch("--judge-twice", "Judge twice: correct only where both agree; agreement is reported."),
    verdicts=option(
        "--verdicts",
        "Where prompts, verdicts and rationales are kept. Default: OUTPUT with the ending .verdicts.jsonl.",
        type=FILE,
    ),
    without_rubric=switch("--without-rubric", "Leave the rubric questions out, and judge nothing."),
    categories=option(
        "--categories",
        "What `answer` holds: the paper's categories, or those that a deployment would have.",
        type=click.Choice(("oracle", "gold-free")),
        default="oracle",
    ),
    partial=switch("--partial", "Use unfinished logs too."),
)
def grade(
    logs: tuple[Path, ...],
    output: Path,
    judge_name: str | None,
    judge_twice: bool,
    verdicts: Path | None,
    without_rubric: bool,
    categories: str,
    partial: bool,
) -> None:
    """Grade saved logs into votes. No model is called, except the judge for new rubric and unsure answers."""
    from swaplaw.importers.reading import read_votes
    from swaplaw.votes.summary import summary

    if without_rubric and (judge_name or judge_twice):
        raise InputError("--without-rubric leaves nothing to judge: drop it, or drop --judge and --judge-twice")
    reading = read_traces(logs, partial=partial)
    key = Key(reading.traces)
    judgement = None
    if not without_rubric:
        file = verdicts or output.with_name(f"{output.name}.verdicts.jsonl")
        judgement = _judge(to_judge(reading.traces, key), judge_name, file, judge_twice)
    graded = grade_traces(reading.traces, key, None if judgement is None else judgement.outcomes)
    if not graded.votes:
        raise InputError("no question of these logs can be graded: all need a judge, or have no gold")
    rows = [asdict(vote) for vote in graded.votes] if categories == "oracle" else without_gold(graded.votes)
    write_votes(rows, output)
    tally = read_votes(output).tally()
    distinct = {(vote.question, vote.submitted): vote for vote in graded.votes if vote.reason == "unsure"}
    shown = [{"question": v.question, "submitted": v.submitted, "gold": v.gold} for v in distinct.values()]
    times = sum(vote.reason == "unsure" for vote in graded.votes)
    report = {
        "votes": str(output),
        "rows": len(rows),
        "categories": categories,
        "models": [row.to_dict() for row in summary(tally)],
        "normalisation": dependence(graded.votes),
        **{f"by_{name}": shares(graded.votes, field) for name, field in BY.items()},
        "effort": effort(reading.traces),
        "judge": judgement.to_dict() if judgement else None,
        "unsure": {"votes": times, "answers": len(distinct), "examples": shown[:EXAMPLES]},
        "ungradeable": graded.ungradeable,
        "without_rubric": graded.without_rubric,
        "errata": sorted({v.question for v in graded.votes if v.why.startswith("a known error")}),
        "skipped": reading.skipped,
    }
    answer(report, lambda: _show_grades(report, lambda: header(tally)))
    _notes(report)


def _show_grades(report: dict[str, Any], head: Any) -> None:
    free = {row["model"]: row["gold_free"] for row in report["normalisation"]}
    effort = {row["model"]: row for row in report["effort"]}
    columns = [
        text("model", "model"),
        *(Column(name, name) for name in ("questions", "votes")),
        *(Column(f"{name} %", name, percent) for name in ("single", "plurality")),
        Column("without gold %", lambda row: free[row["model"]], percent),
        Column("abstained %", "abstained", percent),
        *(Column(name, name, _number, minor=1) for name in EFFORT),
    ]
    head()
    note = "without gold: plurality over the categories that a deployment would form; per trace: " + ", ".join(EFFORT)
    fleet = [effort[row["model"]] | row for row in report["models"]]
    show(f"{report['votes']}: {report['rows']} votes", columns, fleet, note)
    for name in ("challenge", "level"):
        split = [text("model", "model"), text(name, name), Column("votes", "votes")]
        split += [Column(f"{part} %", part, percent) for part in ("single", "abstained", "progress")]
        show(f"by {name}", split, report[f"by_{name}"])


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.4g}" if value < 1 else f"{value:,.0f}"


def _judge(items: Sequence[Item], name: str | None, file: Path, twice: bool) -> Judgement:
    """Judge what needs it, with a bar on a terminal."""
    model = None
    if name is not None:
        from inspect_ai.model import get_model

        with inspect_errors():
            model = get_model(name)
    of = len(items) * (2 if twice else 1)
    with counting("Judging") as progress:
        done = itertools.count(1)
        return judged(items, model, file=file, twice=twice, progress=lambda: progress(next(done), of))


def _notes(report: dict[str, Any]) -> None:
    """Say on stderr what the table cannot show."""
    unsure = report["unsure"]
    if unsure["votes"]:
        examples = "; ".join(f"{one['question']}: {quote(one['submitted'])}" for one in unsure["examples"])
        tell(
            f"{several(unsure['votes'], 'vote')} hold the right answer without being proven right and abstain "
            f"(reason `unsure`), such as {examples}: --judge MODEL decides"
        )
    if report["ungradeable"]:
        tell(f"{len(report['ungradeable'])} questions have no gold to grade by and were left out")
    if report["without_rubric"]:
        tell(f"{len(report['without_rubric'])} rubric questions were left out")
    if report["errata"]:
        tell(f"answers equal to a known error of a key were graded incorrect: {', '.join(report['errata'])}")
    judge = report["judge"]
    if judge and judge["undecided"]:
        tell(f"{judge['undecided']} answers without a clear verdict are abstentions (reason `judge`)")
    if judge and judge["twice"]:
        tell(f"the judge agreed with itself on {judge['agreed']} of {judge['twice']} answers")
    for line in report["skipped"]:
        tell(f"skipped {line}")
    tell(f"wrote {report['rows']} votes to {report['votes']}")


for _each in (list_, doctor, build, verify, run, grade):
    forensic.add_command(_each)
