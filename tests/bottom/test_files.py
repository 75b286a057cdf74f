from __future__ import annotations

import errno
import gzip
import io
import json
import os
import signal
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from swaplaw._files import allowing, blocks, read_json, regular, unpacked, write_text, writing
from swaplaw.errors import InputError


def names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "law.json"
    write_text(file, "old")
    file.chmod(0o640)
    with writing(file) as draft:
        draft.write_text("new")
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert names(tmp_path) == ["law.json"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EIO, "I/O error")])
@pytest.mark.parametrize("where", ["write", "fsync", "replace"])
def test_what_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: OSError, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "law.json"
    file.write_text("old")

    def fail(*_: Any) -> Any:
        raise error

    if where == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    if where == "replace":
        monkeypatch.setattr(Path, "replace", fail)

    def write() -> None:
        with writing(file) as draft:
            draft.write_text("half")
            if where == "write":
                raise error

    with pytest.raises(InputError, match=rf"law.json': cannot be written \({error.strerror}\)"):
        write()
    assert file.read_text() == "old"
    assert names(tmp_path) == ["law.json"]


def test_errors_of_the_caller_pass_and_clean_up(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(tmp_path / "law.json") as draft:
        draft.write_text(str(1 // 0))
    assert names(tmp_path) == []


def test_a_killed_writer_leaves_the_old_file_and_the_next_one_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "law.json"
    file.write_text("old")
    program = (
        "import os, signal; from swaplaw._files import writing\n"
        f"with writing({str(file)!r}) as draft:\n    draft.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == -signal.SIGKILL
    assert file.read_text() == "old"
    write_text(file, "new")
    assert names(tmp_path) == ["law.json"]
    assert file.read_text() == "new"


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "law.json"
    with writing(file) as draft:
        draft.write_text("first")
        with pytest.raises(InputError, match="another process is writing"):
            write_text(file, "second")
    assert file.read_text() == "first"


def test_links_folders_and_pipes_are_not_written(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    os.mkfifo(pipe)
    (tmp_path / ".planted.part").symlink_to(target)
    for name, words in {
        "link": "a link: name the file",
        "pipe": "no regular file",
        "no/file": "there is no directory",
        "planted": "cannot be written",
    }.items():
        with pytest.raises(InputError, match=words):
            write_text(tmp_path / name, "new")
    with pytest.raises(InputError, match="no regular file"):
        write_text(tmp_path, "new")
    assert target.read_text() == "old"


def packed(file: Path, content: bytes) -> Path:
    if file.suffix == ".zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("inner.csv", content)
    else:
        file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else zstandard.compress(content))
    return file


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".zip"])
def test_packed_files_are_unpacked_up_to_a_bound(suffix: str, tmp_path: Path) -> None:
    small = packed(tmp_path / f"small.csv{suffix}", b"question,answer\n" * 1000)
    assert unpacked(small).read_bytes() == b"question,answer\n" * 1000
    bomb = packed(tmp_path / f"bomb.csv{suffix}", bytes(80 * 2**20))
    with pytest.raises(
        InputError, match=rf"bomb.csv{suffix}': more than 67,108,864 bytes unpacked.*max_unpacked=BYTES"
    ):
        unpacked(bomb)
    with allowing(100 * 2**20):
        assert unpacked(bomb).stat().st_size == 80 * 2**20
    cut = tmp_path / f"cut.csv{suffix}"
    cut.write_bytes(small.read_bytes()[:-20])
    with pytest.raises(InputError, match="it is not whole"):
        unpacked(cut)


def test_streams_end_where_they_must() -> None:
    assert b"".join(blocks(io.BytesIO(b"a" * 100), "stream", largest=100)) == b"a" * 100
    with pytest.raises(InputError, match="'stream': more than 99 bytes: split it"):
        list(blocks(io.BytesIO(b"a" * 100), "stream", largest=99))


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "votes.csv"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="no regular file: write its content to one"):
        regular(pipe)
    with pytest.raises(InputError, match="there is no such file"):
        regular(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "the key 'b' is there twice"),
        ('{"a": ', "not JSON"),
    ],
)
def test_json_is_said_properly(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_json(text, "votes.json")
    assert read_json(json.dumps({"a": [1, 2]}), "votes.json") == {"a": [1, 2]}
