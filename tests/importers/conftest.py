"""Where the real votes are, and one Spark session for all tests that need one."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REAL_VOTES = (
    Path(os.environ.get("SWAPLAW_REAL_VOTES", Path(__file__).resolve().parents[3] / "shared" / "data" / "votes")),
    Path(__file__).resolve().parents[4] / "shared" / "data" / "votes",
)
BUNDLED = Path(__file__).resolve().parents[2] / "src" / "swaplaw" / "data"


def real_votes(name: str) -> Path:
    """Find one of the real datasets, bundled or beside the repository."""
    for folder in (*REAL_VOTES, BUNDLED):
        if (folder / f"{name}.parquet").is_file():
            return folder / f"{name}.parquet"
    pytest.skip(f"{name}.parquet is not on this machine: set SWAPLAW_REAL_VOTES to the folder that holds it")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A real Spark in local mode."""
    if shutil.which("java") is None:
        pytest.skip("no Java on this machine: PySpark cannot run")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
