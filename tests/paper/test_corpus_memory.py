"""A corpus with a gigabyte of reasoning text is read in little memory, whatever format it is in.

python scripts/test.py -m slow tests/paper/test_corpus_memory.py
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.corpus import Frame, gold, records

GIGABYTE = 10**9
ROWS = 21_600
BOUND = 400
"""Megabytes. Python with Polars takes about 100 before it reads anything."""
READ = """
import sys
from swaplaw.paper.corpus import read_deciban
corpus = read_deciban(sys.argv[1])
assert not corpus.problems, corpus.problems
votes = corpus.votes["supergpqa"].counts["votes"].sum()
# Not ru_maxrss: that starts at what the parent held.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(votes, int(peak.split()[1]) // 1024)
"""


def rows() -> Frame:
    """Three models, 300 questions, 24 votes each."""
    from swaplaw.paper.synthetic import Fleet, Model, generate

    members = tuple(
        Model(name, 0.6, 0.5, {"truncated": 0.1}) for name in ("Gemma-4-31B", "Qwen3.6-27B", "GLM-4.7-Flash")
    )
    frame = generate(Fleet("supergpqa", members, 300), 3).frame.collect()
    return records(frame).join(gold(frame), on="question_id")


def texts() -> Iterator[str]:
    """Different text for every row, with quotes and commas; a gigabyte together."""
    letters = np.frombuffer(b'abcdefghijklmnop qrstuvwxyz, "0123456789\\n', dtype=np.uint8)
    drawn = letters[np.random.default_rng(0).integers(len(letters), size=4 * GIGABYTE // ROWS)].tobytes().decode()
    length = GIGABYTE // ROWS
    for row in range(ROWS):
        start = (row * 7919) % (len(drawn) - length)
        yield f"{row} {drawn[start : start + length]}"


def write(frame: Frame, folder: Path, form: str) -> None:
    """Write the rows with their text, without ever holding all of it."""
    file = folder / f"supergpqa.{form}"
    if form.startswith("nested"):
        _write_nested(frame, file)
        return
    if form == "parquet":
        schema = pa.schema([*frame.to_arrow().schema, pa.field("reasoning", pa.string())])
        with pq.ParquetWriter(file, schema) as writer:
            for part, batch in _batches(frame):
                table = part.with_columns(pl.Series("reasoning", batch)).to_arrow()
                writer.write_table(table.cast(schema))
        return
    with gzip.open(file, "wt", compresslevel=1) if form.endswith("gz") else file.open("w") as out:
        out.write("[" if form == "json" else "")
        if form.startswith("csv"):
            out.write(",".join([*frame.columns, "reasoning"]) + "\n")
        for place, (row, text) in enumerate(zip(frame.iter_rows(named=True), texts(), strict=True)):
            if form.startswith("csv"):
                quoted = text.replace('"', '""')
                out.write(",".join("" if value is None else str(value) for value in row.values()) + f',"{quoted}"\n')
            else:
                out.write(("," if form == "json" and place else "") + json.dumps({**row, "reasoning": text}) + "\n")
        out.write("]" if form == "json" else "")


def _write_nested(frame: Frame, file: Path) -> None:
    """One row per model and question, with a list of 24 records."""
    given = texts()
    vote = pa.struct([("text", pa.string()), ("answer", pa.string())])
    names = [(name, pa.string()) for name in ("question", "model", "gold")]
    schema = pa.schema([*names, ("responses", pa.list_(vote))])
    with file.open("wb") as out:
        parquet = pq.ParquetWriter(out, schema) if file.suffix == ".parquet" else None
        for (question, model, right), part in frame.group_by(["question_id", "model", "gold_answer"]):
            votes = [{"text": next(given), "answer": answer} for answer in part["answer"]]
            row = {"question": question, "model": model, "gold": right, "responses": votes}
            if parquet is None:
                out.write(json.dumps(row).encode() + b"\n")
            else:
                parquet.write_table(pa.Table.from_pylist([row], schema))
        if parquet is not None:
            parquet.close()


def _batches(frame: Frame) -> Iterator[tuple[Frame, list[str]]]:
    given = texts()
    for start in range(0, ROWS, 900):
        part = frame.slice(start, 900)
        yield part, [next(given) for _ in range(len(part))]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize(
    "form", ["parquet", "jsonl", "jsonl.gz", "json", "csv", "csv.gz", "nested.jsonl", "nested.parquet"]
)
def test_a_gigabyte_of_text_is_read_in_little_memory(tmp_path: Path, form: str) -> None:
    frame = rows()
    assert len(frame) == ROWS
    write(frame, tmp_path, form)
    read = subprocess.run([sys.executable, "-c", READ, str(tmp_path)], capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr
    votes, megabytes = map(int, read.stdout.split())
    assert votes == ROWS
    print(f"{form}: {megabytes} MB")
    assert megabytes < BOUND
