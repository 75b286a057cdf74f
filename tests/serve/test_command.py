"""`swaplaw serve` as a command: started as documented, stopped gracefully, refusing what is unsafe."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest
from benchmarks.serve import free_port, wait_for

from swaplaw.decide.policy import Member, Policy

from support.commands import Run
from support.pages import ROOT
from support.upstreams import World, ask


@contextmanager
def server(*arguments: str, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], int]]:
    port = port or free_port()
    command = [sys.executable, "-m", "swaplaw", "serve", *arguments, "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(port)
            yield process, port
        finally:
            process.kill()


def write(path: Path, base_url: str, model: str = "says-A", **serving: Any) -> str:
    everything = {"upstreams": {model: {"base_url": base_url}}, **serving}
    Policy((Member(model, Fraction(1), 1),), "test", {}, {}, everything).write(path)
    return str(path)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_the_demo_answers_the_documented_curl() -> None:
    text = (ROOT / "docs" / "serve.md").read_text()
    assert "swaplaw serve --demo" in text
    found = re.search(r"^curl .*chat/completions(?:.*\\\n)*.*$", text, flags=re.MULTILINE)
    assert found is not None
    with server("--demo") as (_, port):
        curl = shlex.split(found[0].replace("\\\n", " ").replace(":8080", f":{port}"))
        done = subprocess.run([*curl, "-sS", "--noproxy", "*"], capture_output=True, text=True, check=True)
    reply = json.loads(done.stdout)
    assert reply["swaplaw"]["winner"] in "ABCDE"
    assert reply["swaplaw"]["samples"]["saved"] > 0


def test_a_question_being_answered_is_finished_before_stopping(base_url: str, tmp_path: Path) -> None:
    policy = write(tmp_path / "slow.json", base_url, "slow-2")
    replies: list[httpx.Response] = []
    with server(policy) as (process, port):
        url = f"http://127.0.0.1:{port}"
        asked = ask(model="slow")
        asking = threading.Thread(
            target=lambda: replies.append(httpx.post(f"{url}/v1/chat/completions", json=asked, timeout=30))
        )
        asking.start()
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        asking.join()
        process.wait(timeout=20)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/health")
    assert replies[0].status_code == 200
    assert replies[0].json()["swaplaw"]["winner"] == "A"


def test_keys_are_taken_from_the_environment_and_stay_there(
    base_url: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_KEYS", "sk-ours, sk-theirs")
    policy = write(tmp_path / "keyed.json", base_url)
    with server(policy, "--keys-env", "OUR_KEYS") as (process, port):
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        asked = ask("private words", model="keyed")
        codes = [
            httpx.post(url, json=asked, headers={"authorization": f"Bearer {key}"}, timeout=20).status_code
            for key in ("sk-theirs", "sk-wrong")
        ]
        process.terminate()
        process.wait(timeout=20)
        assert process.stderr is not None
        log = process.stderr.read()
    assert codes == [200, 401]
    assert "Serving model" in log
    for private in ("sk-", "private words", "The answer"):
        assert private not in log
    assert all("authorization" not in headers for headers in world.headers)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one policy file or more, or --demo"),
        (["good.json", "--demo"], "give one policy file or more, or --demo"),
        (["missing.json"], "cannot read the policy"),
        (["bare.json"], "fill in `serving`"),
        (["good.json", "--host", "0.0.0.0"], "--keys-env"),
        (["good.json", "--keys-env", "NO_SUCH_KEYS"], "'NO_SUCH_KEYS' holds no keys"),
        (["keyless.json"], "'NO_SUCH_KEY' is empty"),
        (["unknown.json"], "serving.upstreams has 'other', which nobody asks"),
        (["lacking.json"], "serving.upstreams lacks 'm'"),
        (["url.json"], "serving.upstreams.m.base_url"),
        (["secret.json"], "a key belongs in the environment"),
        (["misspelt.json"], "serving.temprature"),
        (["quorum.json"], "serving.quorum"),
        (["many.json"], "2000 samples per question are more than the 1000"),
        (["extra.json"], "cannot be set in extra"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    swaplaw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    good: dict[str, Any] = {"base_url": "http://127.0.0.1:9/v1"}
    servings: dict[str, Any] = {
        "good": {"upstreams": {"m": good}},
        "bare": {},
        "keyless": {"upstreams": {"m": {**good, "key_env": "NO_SUCH_KEY"}}},
        "unknown": {"upstreams": {"m": good, "other": good}},
        "lacking": {"upstreams": {}},
        "url": {"upstreams": {"m": {"base_url": "ftp://x"}}},
        "secret": {"upstreams": {"m": {"base_url": "http://me:sk-1@host/v1"}}},
        "misspelt": {"upstreams": {"m": good}, "temprature": 1},
        "quorum": {"upstreams": {"m": good}, "quorum": "3/2"},
        "extra": {"upstreams": {"m": {**good, "extra": {"messages": []}}}},
    }
    for name, serving in servings.items():
        Policy((Member("m", Fraction(1), 1),), "test", {}, {}, serving).write(f"{name}.json")
    Policy((Member("m", Fraction(1), 2000),), "test", {}, {}, servings["good"]).write("many.json")
    done = swaplaw("serve", *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def test_without_the_extra_serving_says_what_to_install_and_replay_works(tmp_path: Path) -> None:
    policy = write(tmp_path / "good.json", "http://127.0.0.1:9/v1", "gpt-4")
    parts = ("pydantic", "httpx", "uvicorn", "starlette", "prometheus_client", "aiohttp")
    bare = f"import sys; sys.modules.update(dict.fromkeys({parts!r})); from swaplaw.cli import main; main(sys.argv[1:])"
    serving = subprocess.run(
        [sys.executable, "-c", bare, "serve", "--demo"], capture_output=True, text=True, timeout=60
    )
    assert (serving.returncode, serving.stderr.count("\n")) == (1, 1)
    assert "pip install 'swaplaw[serve]'" in serving.stderr
    replaying = [sys.executable, "-c", bare, "replay", "demo", policy, "--json"]
    assert subprocess.run(replaying, capture_output=True, timeout=60).returncode == 0


def test_a_port_in_use_is_a_failure(swaplaw: Run, tmp_path: Path) -> None:
    policy = write(tmp_path / "good.json", "http://127.0.0.1:9/v1")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = swaplaw("serve", policy, "--port", str(taken.getsockname()[1]))
    assert done.code == 1
    assert "cannot listen at '127.0.0.1'" in done.err
