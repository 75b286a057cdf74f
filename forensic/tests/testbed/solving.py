"""Play a challenge's solution script with the tools of this machine: no sandbox, no agent."""

import os
import shlex
import subprocess
from pathlib import Path

from swaplaw_forensic.challenges.gold import load_gold
from swaplaw_forensic.challenges.manifest import load
from swaplaw_forensic.grading.grade import grade
from swaplaw_forensic.synthetic.case import build_case


def unsolved(name: str, seed: int, folder: Path) -> list[tuple[str, str, str]]:
    """The questions of a synthetic case that its script does not answer: topic, what was said, and why it is wrong."""
    challenge = load(f"{name}@{seed}")
    evidence, work = folder / f"evidence-{seed}", folder / f"work-{seed}"
    evidence.mkdir()
    work.mkdir()
    for file, content in build_case(name, seed).files.items():
        (evidence / file).write_bytes(content)
    keys, found = load_gold(challenge), []
    for question in challenge.questions:
        script = f"{challenge.solution}\n{question.topic} {shlex.quote(question.text)}"
        environment = {**os.environ, "EVIDENCE": str(evidence)}
        done = subprocess.run(["bash", "-c", script], cwd=work, env=environment, capture_output=True, text=True)
        graded = grade(keys[question.id], done.stdout.strip())
        if graded.outcome != "correct":
            found.append((question.topic, done.stdout + done.stderr, graded.why))
    return found
