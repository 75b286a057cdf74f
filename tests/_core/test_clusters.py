"""Real clusters on this machine, with two workers each, one of which is killed in the middle.

One test a cluster, because each takes long to start.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from swaplaw._core import clusters as sites
from swaplaw._core.parallel import Backend, Crew
from swaplaw.law.curve import _curves_at
from swaplaw.law.pair import places_of_pairs

from support.commands import Run
from support.crews import alone, curve_bytes, documented, everything, fleet

pytestmark = [
    pytest.mark.filterwarnings("ignore:only 6 clusters:swaplaw.errors.StatisticalWarning"),
    # Clusters leave sockets and loops to their own threads, which end when they do.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@contextmanager
def dask() -> Iterator[str]:
    distributed: Any = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        yield cluster.scheduler_address
        # The second client is the one that `--cluster` made.
        sites._CONNECTED.pop("dask").close()


@contextmanager
def ray() -> Iterator[None]:
    package: Any = pytest.importorskip("ray")
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as environment:
        # Ray gives its half a dozen processes thirty seconds to start. A busy machine needs longer, and most of it for
        # a package that they import only because it is there.
        Path(folder, "chardet.py").write_text("raise ImportError")
        environment.setenv("PYTHONPATH", folder, prepend=os.pathsep)
        for attempt in range(3):
            try:
                package.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
                break
            except Exception:
                package.shutdown()
                if attempt == 2:
                    raise
        try:
            yield
        finally:
            package.shutdown()


@contextmanager
def spark() -> Iterator[None]:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    sessions: Any = pytest.importorskip("pyspark.sql").SparkSession
    builder = sessions.builder.master("local[2,3]").config("spark.ui.enabled", "false")
    for name in ("bindAddress", "host"):
        builder = builder.config(f"spark.driver.{name}", "127.0.0.1")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        try:
            yield
        finally:
            session.stop()


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [dask, ray, spark])
def test_a_cluster_says_the_same_and_a_killed_worker_loses_nothing(
    cluster: Any, swaplaw: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backend: Backend = cluster.__name__
    pairs = swaplaw("pairs", "demo").out
    with cluster() as address:
        assert everything(backend=backend) == alone()
        assert killed_in_the_middle(Crew(2, backend), str(tmp_path / "killed")) == alone()["curves"]
        for line in documented(f"--backend {backend}"):
            words = shlex.split(line)[1:]
            # Ray tells of the killed worker on standard output.
            capsys.readouterr()
            assert swaplaw(*(address if "://" in word else word for word in words)).out == pairs


def killed_in_the_middle(crew: Crew, flag: str) -> bytes:
    """All curves, from workers one of which kills itself when it comes to a certain pair."""

    def work(data: Any, places: Sequence[tuple[int, int]]) -> Any:
        if (1, 2) in places and not Path(flag).exists():
            Path(flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return os.getpid(), _curves_at(data, places)

    shares = list(crew.share(work, fleet(), crew.split(places_of_pairs(fleet()))))
    assert Path(flag).exists()
    assert os.getpid() not in {pid for pid, _ in shares}
    return curve_bytes(curve for _, curves in shares for curve in curves)
