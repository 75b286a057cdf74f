"""Datasets of the Hugging Face hub, read by its own client from a server here that speaks the hub's protocol."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl
import pytest

from swaplaw.collect.sources import read_questions
from swaplaw.errors import InputError, MissingExtraError, SwaplawError
from swaplaw.importers import hub

from support.question_tables import GPQA, MMLU_PRO, SUPERGPQA, written

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GATED = "Idavidrein/gpqa"


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as listing and downloading a dataset's files needs."""

    repos: dict[str, dict[str, bytes]]

    def do_GET(self) -> None:
        self.answer()

    def do_HEAD(self) -> None:
        self.answer()

    def answer(self) -> None:
        parts = urlsplit(self.path).path.strip("/").split("/")
        api = parts[0] == "api"
        repo = "/".join(parts[2:4] if api else parts[1:3])
        if repo == GATED:
            self.reply(401, b"", {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted"})
        elif repo not in self.repos:
            self.reply(404, b"", {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        elif api:
            entries = [
                {"type": "file", "path": name, "size": len(body), "oid": "0" * 40}
                for name, body in self.repos[repo].items()
            ]
            self.reply(200, json.dumps(entries).encode(), {"Content-Type": "application/json"})
        else:
            body = self.repos[repo]["/".join(parts[5:])]
            etag = hashlib.sha256(body).hexdigest()
            self.reply(200, body, {"X-Repo-Commit": COMMIT, "ETag": f'"{etag}"', "Content-Type": "text/plain"})

    def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    frames = [pl.DataFrame([MMLU_PRO | {"question_id": number}]) for number in (70, 71)]
    shards = {f"data/test-0000{n}-of-00002.parquet": frame for n, frame in enumerate(frames)}
    files = {}
    for name, frame in {**shards, "data/validation-00000-of-00001.parquet": frames[0]}.items():
        frame.write_parquet(tmp_path / "shard.parquet")
        files[name] = (tmp_path / "shard.parquet").read_bytes()
    lines = written(tmp_path, SUPERGPQA).read_bytes()
    Hub.repos = {
        "m-a-p/SuperGPQA": {"README.md": b"# SuperGPQA", "SuperGPQA-all.jsonl": lines},
        "TIGER-Lab/MMLU-Pro": {"README.md": b"", **files},
        "someone/two": {"a.jsonl": lines, "b.jsonl": lines},
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    from huggingface_hub import constants, hf_api

    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(hf_api.api, "endpoint", address)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    yield
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.usefixtures("served")
def test_datasets_of_the_hub() -> None:
    supergpqa = read_questions("supergpqa")
    assert (supergpqa.dataset, [question.id for question in supergpqa]) == ("supergpqa", ["be3f1a"])
    mmlu_pro = read_questions("mmlu-pro")
    assert [question.id for question in mmlu_pro] == ["70", "71"]  # Both shards of the test split, no other.
    one = read_questions("hf:someone/two:b.jsonl", name="mine")
    assert (one.dataset, len(one)) == ("mine", 1)


@pytest.mark.usefixtures("served")
def test_what_the_hub_refuses_is_one_clear_line() -> None:
    for source, error, complaint in [
        ("gpqa-diamond", SwaplawError, "'Idavidrein/gpqa' is gated: accept its terms .* or download the file"),
        ("hf:someone/none", SwaplawError, "could not read 'someone/none' from the Hugging Face hub"),
        ("hf:someone/two", InputError, r"holds the tables 'a.jsonl', 'b.jsonl'; say which .*hf:someone/two:FILES"),
        ("hf:someone/two:c.jsonl", InputError, "holds the tables"),
        ("hf:nonsense", InputError, "'hf:nonsense' names no dataset"),
        ("hf:../../etc:x", InputError, "names no dataset"),
    ]:
        with pytest.raises(error, match=complaint) as caught:
            read_questions(source)
        assert "\n" not in str(caught.value)


def test_a_file_of_that_name_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CSV that one downloads by hand is read without the hub."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, GPQA, name="gpqa_diamond.csv")
    assert len(read_questions("gpqa_diamond.csv")) == 1


def test_without_the_extra_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'swaplaw\[hub\]'"):
        hub.download("supergpqa")
