"""The Inspect task `forensic`: one sample is one trace over all questions of one challenge.

`inspect eval swaplaw_forensic/forensic -T challenges=rhino-hunt --model ...` runs it; so does `swaplaw forensic run`.
This side knows manifests and never golds: an answer is stored, and graded later from the log.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.agent import AgentPrompt, AgentSubmit, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolError, bash, python, tool
from inspect_ai.util import ComposeConfig, ComposeService, SandboxEnvironmentSpec, store

from swaplaw.errors import Fix, InputError, listing, quote
from swaplaw_forensic.agent.replies import replying
from swaplaw_forensic.agent.traces import ANSWERS, FINISHED
from swaplaw_forensic.challenges.evidence import default_root, require
from swaplaw_forensic.challenges.manifest import SHIPPED, Challenge, load
from swaplaw_forensic.grading.scorer import graded
from swaplaw_forensic.reading.remarks import remark_in
from swaplaw_forensic.sandbox.config import ApptainerConfig, SandboxConfig
from swaplaw_forensic.synthetic.key import fingerprint, secret_key

SANDBOXES = ("bwrap", "apptainer", "docker")
LONGEST_ANSWER = 4000
QUESTIONS = "forensic_questions"
DEFAULT_CHALLENGES = "synthetic-disk,synthetic-capture"

INSTRUCTIONS = (Path(__file__).parent / "agent" / "instructions.txt").read_text(encoding="utf-8")
FORMATS = {
    "text": "the bare value",
    "number": "a number",
    "time": "date and time as YYYY-MM-DD HH:MM:SS with its zone, such as UTC",
    "list": "one item a line",
    "report": "one to five sentences",
}


@task
def forensic(
    challenges: str | list[str] = DEFAULT_CHALLENGES,
    evidence: str | None = None,
    runs: int = 1,
    sandbox: str = "bwrap",
    image: str | None = None,
    message_limit: int = 400,
    token_limit: int = 5_000_000,
    time_limit: int = 7200,
    command_timeout: int = 180,
    cpu_seconds: int = 3600,
    memory: int | str = "4GiB",
    disk: int | str = "1GiB",
    file_size: int | str = "1GiB",
    truncation: bool = True,
    text_calls: bool = False,
    judge: str | None = None,
) -> Task:
    """Let a model investigate challenges; N runs are N votes per question.

    Args:
        challenges: ids, `id@seed`, or folders with a challenge.toml; a list, or separated by commas.
        evidence: folder of the evidence; default $SWAPLAW_EVIDENCE, or `evidence`.
        runs: traces per challenge.
        sandbox: `bwrap`, `apptainer`, or `docker`, which is Inspect's own.
        image: the image of Apptainer (default $SWAPLAW_APPTAINER_IMAGE) or Docker, with the tools in it.
        message_limit: messages per trace.
        token_limit: tokens per trace.
        time_limit: seconds per trace.
        command_timeout: seconds per call of bash or python.
        cpu_seconds: CPU time of a trace, all its processes together.
        memory: memory of all processes of a trace, in bytes or as in 4GiB.
        disk: what a trace may write, in bytes or as in 1GiB (held in memory).
        file_size: largest file that a trace may write.
        truncation: drop early messages when the model's context is full, rather than end the trace.
        text_calls: read tool calls that a model writes as JSON in its text.
        judge: any Inspect model, which judges rubrics; without, they are scored later.
    """
    if sandbox not in SANDBOXES:
        raise InputError(f"sandbox {quote(sandbox)} is not known; accepted are {listing(SANDBOXES)}")
    if runs < 1:
        raise InputError(f"runs {runs} must be at least 1")
    root = Path(evidence) if evidence else default_root()
    names = challenges.split(",") if isinstance(challenges, str) else challenges
    cases = [load(name.strip()) for name in names]
    twice = sorted({case.ref for case in cases if [other.ref for other in cases].count(case.ref) > 1})
    if twice:
        raise InputError(f"challenge {listing(twice)} is named twice: ask for more runs to get more traces")
    limits = {
        "wall_seconds": command_timeout,
        "cpu_seconds": min(cpu_seconds, command_timeout * (os.cpu_count() or 1)),
        "total_cpu_seconds": cpu_seconds,
        "memory": parse_size(memory),
        "disk": parse_size(disk),
        "file_size": parse_size(file_size),
    }
    return Task(
        dataset=MemoryDataset([_sample(case, root, sandbox, image, limits) for case in cases], name="forensic"),
        solver=react(
            prompt=AgentPrompt(instructions=INSTRUCTIONS, assistant_prompt=None, submit_prompt=None),
            tools=[bash(timeout=command_timeout), python(timeout=command_timeout), submit_answer()],
            model=replying(text_calls),
            submit=AgentSubmit(tool=finish(), answer_only=True, keep_in_messages=True),
            truncation="auto" if truncation else "disabled",
            on_continue="Go on with your tools. When you are done, call {submit}().",
        ),
        setup=know_questions(),
        scorer=graded(judge),
        epochs=runs,
        message_limit=message_limit,
        token_limit=token_limit,
        time_limit=time_limit,
        name="forensic",
    )


def _sample(challenge: Challenge, root: Path, sandbox: str, image: str | None, limits: Mapping[str, int]) -> Sample:
    folder, hashes = require(challenge, root)
    rows = "\n".join(f"[{q.id}] {q.text} (Answer: {FORMATS[q.type]}.)" for q in challenge.questions)
    return Sample(
        id=challenge.ref,
        input=f"{challenge.prompt.strip()}\n\nQuestions:\n{rows}",
        metadata={
            "challenge": challenge.ref,
            "folder": None if challenge.folder.parent == SHIPPED else str(challenge.folder.absolute()),
            "questions": list(challenge.question_ids),
            "asked": {question.id: [question.type, question.text] for question in challenge.questions},
            "evidence_sha256": hashes,
            "seed": challenge.seed,
            "key": None if challenge.seed is None else fingerprint(secret_key()),
        },
        sandbox=SandboxEnvironmentSpec(sandbox, _sandbox_config(sandbox, folder, hashes, image, limits)),
    )


def parse_size(text: int | str) -> int:
    """Read a number of bytes: 1073741824, 1GiB or 1024MiB.

    >>> parse_size("2GiB")
    2147483648
    """
    match = re.fullmatch(r"(\d+)\s*(?:([KMGT])(?:i?B)?|B)?", str(text).strip(), re.IGNORECASE)
    if not match:
        raise InputError(f"size {quote(text)} must be a number of bytes, or such as 512MiB or 4GiB")
    return int(match[1]) << 10 * " kmgt".index((match[2] or " ").lower())


def _sandbox_config(sandbox: str, folder: Path, hashes: Any, image: str | None, limits: Mapping[str, int]) -> Any:
    if sandbox == "docker":
        if image is None:
            raise InputError("sandbox docker needs an image with the tools in it", Fix("image", "NAME", "name it"))
        service = ComposeService(
            image=image,
            command="tail -f /dev/null",
            init=True,
            network_mode="none",
            working_dir="/home/agent",
            volumes=[f"{folder.absolute()}:/evidence:ro"],
            mem_limit=str(limits["memory"]),
        )
        return ComposeConfig(services={"default": service})
    evidence = {"evidence": str(folder.absolute()), "sha256": hashes, "limits": dict(limits)}
    if sandbox == "apptainer":
        return ApptainerConfig.model_validate(evidence | {"image": image})
    return SandboxConfig.model_validate(evidence)


@solver
def know_questions() -> Solver:
    """Tell the tools which questions this sample has."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        store().set(QUESTIONS, state.metadata["asked"])
        return state

    return solve


@tool
def submit_answer() -> Tool:
    """Store an answer to one question."""

    async def execute(question: str, answer: str | int | float | list[str | int | float]) -> str:
        """Submit your answer to one question; a later answer replaces an earlier one.

        Args:
            question: The question's id, as given in brackets.
            answer: The answer alone, without explanation; several items as lines or as a list.
        """
        text = "\n".join(str(item) for item in answer) if isinstance(answer, list) else str(answer)
        text = text.encode("utf-8", "replace").decode()
        known: dict[str, list[str]] = store().get(QUESTIONS, {})
        name = question.strip().strip("[]")
        if name not in known:
            raise ToolError(f"There is no question {quote(question)}. The questions are: {', '.join(known)}")
        if not text.strip():
            raise ToolError("The answer is empty. Leave the question open if you do not know.")
        if len(text) > LONGEST_ANSWER:
            raise ToolError(f"The answer has {len(text)} characters; at most {LONGEST_ANSWER} are accepted.")
        answers: dict[str, str] = store().get(ANSWERS, {})
        store().set(ANSWERS, {**answers, name: text})
        told = f"Stored your answer to {name}{' in place of the earlier one' if name in answers else ''}."
        kind, asked = known[name]
        if kind != "report" and name not in answers and remark_in(text, asked):
            told += f" It holds a remark beside the value: if so, submit {FORMATS[kind]} alone, once more."
        return told

    return execute


@tool
def finish() -> Tool:
    """End the trace."""

    async def execute() -> str:
        """End the investigation. Answers submitted so far stand; open questions count as unanswered."""
        store().set(FINISHED, True)
        return "finished"

    return execute
