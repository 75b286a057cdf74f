"""LiteLLM and LangChain ask a served policy, and LiteLLM's proxy answers for a member: each in its own environment.

They are too large to be installed for every run: `python scripts/test.py -m slow tests/serve/test_frameworks.py`.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.serve import free_port, wait_for

from serve.test_app import vote
from swaplaw.serve.demo import running

from support.upstreams import Start, World, serve

pytestmark = pytest.mark.slow
CLIENTS = Path(__file__).resolve().parent.parent / "support" / "framework_clients.py"
ANSWER = "The answer is (A)."
OFFLINE = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"}
"""LiteLLM would fetch a list of prices at its start."""


def environment(folder: Path, *packages: str) -> Path:
    """A new environment with these packages; its programs' folder."""
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "-q", "--python", sys.executable, str(folder)], check=True)
    subprocess.run([*uv, "pip", "install", "-q", "--python", str(folder / "bin" / "python"), *packages], check=True)
    return folder / "bin"


@pytest.mark.parametrize(("framework", "package"), [("litellm", "litellm[proxy]"), ("langchain", "langchain-openai")])
def test_a_framework_asks_the_policy(framework: str, package: str, base_url: str, start: Start, tmp_path: Path) -> None:
    url = str(start(serve(base_url, ("says-A", "1", 2), ("says-B", "1/3", 2))).base_url)
    programs = environment(tmp_path / "venv", package)
    command = [str(programs / "python"), str(CLIENTS), framework, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=OFFLINE)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found.pop("tokens") > 0
    assert found.pop("unknown") == "not found"
    assert set(found.values()) == {ANSWER}


CONFIG = """
model_list:
  - model_name: behind
    litellm_params: {{model: openai/says-A, api_base: "{url}", api_key: x}}
"""


def test_litellms_proxy_answers_for_a_member(
    world: World, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = f"sk-{secrets.token_urlsafe(32)}"
    monkeypatch.setenv("SWAPLAW_TEST_KEY", key)
    programs = environment(tmp_path / "venv", "litellm[proxy]")
    with running(world.app) as upstream:
        config, port = tmp_path / "litellm.yaml", free_port()
        config.write_text(CONFIG.format(url=upstream))
        command = [str(programs / "litellm"), "--config", str(config), "--port", str(port), "--host", "127.0.0.1"]
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=tmp_path,
            env={**OFFLINE, "LITELLM_MASTER_KEY": key},
        )
        try:
            wait_for(port, patience=600)
            options = {"model": "behind", "timeout": 60.0, "key_env": "SWAPLAW_TEST_KEY"}
            served = serve(f"http://127.0.0.1:{port}/v1", ("member", "1", 2), upstream=options)
            found = vote(start(served))
        finally:
            process.terminate()
            process.wait(30)
    assert found["choices"][0]["message"]["content"] == ANSWER
    assert found["swaplaw"]["winner"] == "A"
