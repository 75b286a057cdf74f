"""Which format a file is: nobody is asked in vain, and whoever registers a format is asked about every file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from swaplaw.importers.registry import ADDED, COLUMNS, Format, built_in, format_of, register

from support.data import real_votes


def test_no_built_in_format_keeps_logs_in_columns(tmp_path: Path) -> None:
    for suffix in COLUMNS:
        (tmp_path / f"votes{suffix}").write_bytes(real_votes("aime.parquet").read_bytes()[:1000])
        assert not any(form.recognises(tmp_path / f"votes{suffix}") for form in built_in())


def test_a_registered_format_is_asked_about_columns_too() -> None:
    added = register(Format("columns", lambda file: file.suffix == ".parquet", lambda *_: None))  # type: ignore[arg-type]
    try:
        found = format_of(real_votes("aime.parquet"))
    finally:
        ADDED.remove(added)
    assert found is not None
    assert found.name == "columns"


def test_reading_a_parquet_file_imports_no_format_and_no_reader_of_replies() -> None:
    code = (
        "import sys, swaplaw as sl; sl.read_votes(sys.argv[1]); "
        "assert not {'swaplaw.answers.readers', 'swaplaw.importers.helm'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(real_votes("aime.parquet"))], check=True)
