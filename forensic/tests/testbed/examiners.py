"""Scripted models for tests: a fixed list of moves, or a judge that reads its prompt."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, ChatMessageAssistant, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall

Move = list[tuple[str, dict[str, Any]]] | str
"""Tool calls made at once, or plain text."""


def sandbox_missing() -> str | None:
    """Return why the real sandbox cannot run here."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    probe = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True)
    return None if probe.returncode == 0 else "user namespaces are off"


def tools_missing(*programs: str) -> list[str]:
    return [program for program in programs if not shutil.which(program)]


def needs_tools(*programs: str) -> pytest.MarkDecorator:
    missing = tools_missing(*programs)
    reason = sandbox_missing() or f"not installed: {', '.join(missing)}"
    return pytest.mark.skipif(sandbox_missing() is not None or bool(missing), reason=reason)


def apptainer_has(*programs: str) -> bool:
    """Say whether Apptainer is here with an unpacked image that holds these programs."""
    image = Path(os.environ.get("SWAPLAW_APPTAINER_IMAGE", "/nonexistent"))
    return bool(shutil.which("apptainer")) and all((image / "usr" / "bin" / name).exists() for name in programs)


def output(move: Move) -> ModelOutput:
    made = ModelOutput.from_content("mockllm", move if isinstance(move, str) else "")
    if not isinstance(move, str):
        calls = [ToolCall(id=f"call{n}", function=name, arguments=args) for n, (name, args) in enumerate(move)]
        made.choices[0].message.tool_calls = calls
    made.usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
    return made


def playing(moves: Sequence[Move], name: str = "script") -> Model:
    """Return a model that makes these moves in every trace, then repeats the last."""

    def play(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        done = sum(isinstance(message, ChatMessageAssistant) for message in messages)
        return output(moves[min(done, len(moves) - 1)])

    return get_model(f"mockllm/{name}", custom_outputs=play, memoize=False)


def judging(decide: Callable[[str, str], str], name: str = "judge") -> tuple[Model, list[str]]:
    """Return a judge that replies `decide(answer, token)`, and the list of prompts that it got."""
    prompts: list[str] = []

    def reply(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        prompt = messages[-1].text
        prompts.append(prompt)
        (line,) = [row for row in prompt.splitlines() if row.startswith("Candidate's answer")]
        answer = json.loads(line.split(": ", 1)[1])
        token = re.findall(r'"token": "([0-9a-f]{16})"', prompt)[-1]
        return output(decide(answer, token))

    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False), prompts


def verdict(token: str, word: str, rationale: str = "because") -> str:
    return json.dumps({"token": token, "rationale": rationale, "verdict": word})


MANIFEST = """
id = "small"
title = "Small"
kind = "real"
licence = "none"
obtain = "Write it."
prompt = "Read /evidence/note.txt."
[[evidence]]
file = "note.txt"
sha256 = "a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447"
"""
QUESTIONS = {
    "word": ("text", "normalised", 'accept = ["hello world"]'),
    "size": ("number", "number", 'accept = ["12"]'),
    "when": ("time", "time", 'accept = ["2015-03-25T15:31:05Z"]'),
    "list": ("list", "set", 'items = ["hello", "world"]'),
    "why": ("report", "rubric", 'rubric = "It greets the world."'),
}


def small_challenge(tmp_path: Path) -> str:
    """Write a challenge of one's own, with its evidence in place, over all kinds of questions."""
    folder = tmp_path / "small-challenge"
    folder.mkdir()
    rows = [
        f'[[questions]]\nid = "{name}"\ntext = "{name}?"\ntype = "{kind}"\ntier = "{tier}"\n'
        for name, (kind, tier, _) in QUESTIONS.items()
    ]
    (folder / "challenge.toml").write_text(MANIFEST + "".join(rows))
    golds = [f"[answers.{name}]\n{gold}\n" for name, (_, _, gold) in QUESTIONS.items()]
    (folder / "gold.toml").write_text('challenge = "small"\n' + "".join(golds))
    (tmp_path / "evidence" / "small").mkdir(parents=True)
    (tmp_path / "evidence" / "small" / "note.txt").write_bytes(b"hello world\n")
    return str(folder)


def submit(question: object, answer: object) -> tuple[str, dict[str, Any]]:
    return ("submit_answer", {"question": question, "answer": answer})


FINISH: Move = [("finish", {})]
