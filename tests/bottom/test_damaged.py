"""Files of votes that were damaged at random, read with 2 GB of memory: votes, or one line that says what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import swaplaw as sl

READ = """
import contextlib, io, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30))
from swaplaw.cli import main
for file in sys.argv[1:]:
    said, start = io.StringIO(), time.monotonic()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            main(["summary", file, "--json"])
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    assert code in (0, 2), (file, said.getvalue())
    assert code == 0 or said.getvalue().splitlines()[-1].startswith("swaplaw: "), (file, said.getvalue())
    assert "Traceback" not in said.getvalue(), (file, said.getvalue())
"""


def damaged(content: bytes, rng: Random) -> bytes:
    """Bytes changed, cut off, left out or put in, half of the time near the end."""
    data = bytearray(content)
    place = rng.randrange(rng.choice([0, max(0, len(data) - 400)]), len(data))
    more = rng.randbytes(rng.randrange(1, 30))
    how = rng.randrange(4)
    if how == 0:
        data[place : place + 1] = more[:1]
    elif how == 1:
        del data[place:]
    elif how == 2:
        del data[place : place + len(more)]
    else:
        data[place:place] = more
    return bytes(data)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv", "jsonl", "json"])
def test_damaged_files_are_votes_or_one_line(suffix: str, tmp_path: Path) -> None:
    votes = sl.demo_votes().frame.collect().head(400).select("dataset", "question", "model", "sample", "answer", "gold")
    whole, rng = tmp_path / f"whole.{suffix}", Random(suffix)
    write = {"arrow": votes.write_ipc, "jsonl": votes.write_ndjson, "json": votes.write_json}
    write.get(suffix, getattr(votes, f"write_{suffix}", None))(whole)  # type: ignore[misc,operator]
    files = []
    for number in range(100):
        files.append(tmp_path / f"{number:03}.{suffix}")
        files[-1].write_bytes(damaged(whole.read_bytes(), rng))
    done = subprocess.run([sys.executable, "-c", READ, *map(str, files)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
