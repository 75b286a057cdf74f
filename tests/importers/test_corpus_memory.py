"""A corpus with a gigabyte of reasoning text is read in little memory (`python scripts/test.py -m slow`)."""

from __future__ import annotations

import csv
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

GIGABYTE, BOUND = 10**9, 400
"""Bytes of text, and megabytes of memory; Python with Polars takes about 100 before it reads anything."""
MODELS, QUESTIONS, SAMPLES = ("gemma4-31b", "gpt-oss-20b", "glm47-flash"), 300, 24
NAMES = ("question", "model", "sample", "answer", "gold", "reasoning")
READ = """
import sys
import swaplaw as sl
votes = sl.read_votes(sys.argv[1]).counts["votes"].sum()
# Not ru_maxrss: that starts at what the parent held.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(votes, int(peak.split()[1]) // 1024)
"""


def rows() -> Iterator[tuple[object, ...]]:
    length = GIGABYTE // (len(MODELS) * QUESTIONS * SAMPLES)
    text = 'So, "B", then.\n' * (length // 15)
    for question in range(QUESTIONS):
        for place, model in enumerate(MODELS):
            for sample in range(SAMPLES):
                yield f"q{question}", model, sample, "ABCD"[(question + sample * place) % 4], "ABCD"[question % 4], text


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize("form", ["csv", "sqlite"])
def test_a_gigabyte_of_text_is_read_in_little_memory(tmp_path: Path, form: str) -> None:
    file = tmp_path / f"supergpqa.{form}"
    if form == "csv":
        with file.open("w", newline="") as out:
            csv.writer(out).writerow(NAMES)
            csv.writer(out).writerows(rows())
    else:
        with sqlite3.connect(file) as open_:
            open_.execute(f"create table votes ({', '.join(NAMES)})")
            open_.executemany(f"insert into votes values ({', '.join('?' * len(NAMES))})", rows())
    read = subprocess.run([sys.executable, "-c", READ, str(tmp_path)], capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr
    votes, megabytes = map(int, read.stdout.split())
    assert votes == len(MODELS) * QUESTIONS * SAMPLES
    assert megabytes < BOUND
