"""Where workers are: processes on this machine, or a Dask, Ray or Spark cluster.

A site ships data once to each worker and runs one share. joblib's processes do that themselves; clusters are asked by
joblib's threads, each of which hands over one share and waits for it. (joblib has Dask and Ray backends of its own.
Dask's keeps a single copy of every larger argument, and loses the share with the worker that holds it; Ray's tells
nothing until the end; Spark's, a package apart, has no broadcast.) The cluster that this program is connected to is
used; where there is none, a local one starts, and stays until the program ends.
"""

from __future__ import annotations

import mmap
import os
import pickle
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol
from urllib.parse import urlsplit

from swaplaw.errors import InputError, MissingExtraError, SwaplawError, quote

PATIENCE = 10
"""Seconds to wait for a cluster to answer."""
ARRAYS, REST = "arrays", "rest"
"""Files of the data that processes share."""
RETRIES = 2
"""How often a cluster tries a share again whose worker it lost."""


class Site(Protocol):
    """A place with workers."""

    dispatcher: ClassVar[str]
    """The joblib backend that hands shares out."""
    size: int
    """Shares at a time."""

    def shipped(self, data: Any) -> Any:
        """While in this context, workers have the data; gives its handle."""

    def run(self, attempt: Callable[..., Any], work: Any, handle: Any, number: int, share: Any) -> Any:
        """Run `attempt(work, data, number, share)` on a worker and wait for its result."""


def site(backend: str, workers: int | None) -> Site:
    """The place that a backend stands for, connected."""
    return Processes(workers or 1) if backend == "processes" else CLUSTERS[backend](workers)


class Processes:
    """Processes on this machine; they map the data's arrays into memory, so that these are there once for all."""

    dispatcher: ClassVar[str] = "loky"

    def __init__(self, workers: int) -> None:
        self.size = workers

    @contextmanager
    def shipped(self, data: Any) -> Iterator[str]:
        """Write the data to files: arrays as they are, and a pickle of the rest."""
        import cloudpickle

        arrays: list[pickle.PickleBuffer] = []
        rest = cloudpickle.dumps(data, protocol=5, buffer_callback=arrays.append)
        with tempfile.TemporaryDirectory(prefix="swaplaw-", ignore_cleanup_errors=True) as folder:
            spans = []
            with Path(folder, ARRAYS).open("wb") as file:
                for each in arrays:
                    # Aligned as NumPy would, and never empty: nothing can be mapped of an empty file.
                    file.write(bytes(64 - file.tell() % 64))
                    first = file.tell()
                    file.write(each.raw())
                    spans.append((first, file.tell()))
            Path(folder, REST).write_bytes(pickle.dumps((rest, spans)))
            yield folder

    def run(self, attempt: Callable[..., Any], work: Any, handle: str, number: int, share: Any) -> Any:
        """Run a share; this is a worker already."""
        return attempt(work, _mapped(handle), number, share)


@lru_cache(maxsize=1)
def _mapped(folder: str) -> Any:
    """The data as it stays in a worker from share to share."""
    rest, spans = pickle.loads(Path(folder, REST).read_bytes())
    if not spans:
        return pickle.loads(rest)
    with Path(folder, ARRAYS).open("rb") as file:
        arrays = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return pickle.loads(rest, buffers=[arrays[first:last] for first, last in spans])


def _package(name: str, extra: str) -> Any:
    """Import what a cluster needs."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(extra, f"backend {extra}") from None


class Dask:
    """A Dask cluster; every worker holds the scattered data."""

    dispatcher: ClassVar[str] = "threading"

    def __init__(self, workers: int | None, address: str | None = None) -> None:
        distributed = _package("distributed", "dask")
        if address is not None:
            reach(address, "Dask scheduler")
            self.client = _CONNECTED["dask"] = distributed.Client(address, timeout=PATIENCE)
        else:
            try:
                self.client = distributed.get_client()
            except ValueError:
                number = workers or os.cpu_count() or 1
                local = {"n_workers": number, "threads_per_worker": 1, "dashboard_address": None}
                self.client = _CONNECTED["dask"] = distributed.Client(**local)
        self.size = workers or sum(self.client.ncores().values()) or 1

    @contextmanager
    def shipped(self, data: Any) -> Iterator[Any]:
        """Scatter the data to all workers; those that join later get it from the others."""
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise SwaplawError("the Dask cluster has no workers: start some, then run this again") from None
        # In a list, because a dictionary by itself would be scattered value by value.
        yield self.client.scatter([data], broadcast=True, hash=False)[0]

    def run(self, attempt: Callable[..., Any], work: Any, handle: Any, number: int, share: Any) -> Any:
        """Submit one share; Dask moves it to another worker if its own dies."""
        return self.client.submit(attempt, work, handle, number, share, pure=False).result()


class Ray:
    """A Ray cluster; each node holds the data in shared memory."""

    dispatcher: ClassVar[str] = "threading"

    def __init__(self, workers: int | None, address: str | None = None) -> None:
        self.ray = _package("ray", "ray")
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        if address is not None:
            reach(address, "Ray cluster")
            self.ray.init(address=address, **quiet)
        elif not self.ray.is_initialized():
            self.ray.init(num_cpus=workers, include_dashboard=False, **quiet)
        self.size = workers or int(self.ray.cluster_resources().get("CPU", 1))
        self.task = self.ray.remote(max_retries=RETRIES)(_ray_share)

    @contextmanager
    def shipped(self, data: Any) -> Iterator[Any]:
        """Put the data into the object store."""
        # Inside a list the reference stays one, so that workers can keep what it stands for from share to share.
        yield [self.ray.put(data)]

    def run(self, attempt: Callable[..., Any], work: Any, handle: Any, number: int, share: Any) -> Any:
        """Ask for one share; Ray asks another worker if its own dies."""
        return self.ray.get(self.task.remote(attempt, work, handle, number, share))


def _ray_share(attempt: Callable[..., Any], work: Any, handle: Any, number: int, share: Any) -> Any:
    return attempt(work, _fetched(handle[0]), number, share)


@lru_cache(maxsize=1)
def _fetched(reference: Any) -> Any:
    return _package("ray", "ray").get(reference)


class Spark:
    """A Spark cluster; each executor holds the broadcast data."""

    dispatcher: ClassVar[str] = "threading"

    def __init__(self, workers: int | None, address: str | None = None) -> None:
        sessions = _package("pyspark.sql", "spark").SparkSession
        session = sessions.getActiveSession()
        if address is not None or session is None:
            if address is not None:
                reach(address, "Spark master")
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            # The second number lets a local Spark, too, try a share again.
            master = address or f"local[{workers or '*'},{1 + RETRIES}]"
            builder = sessions.builder.master(master).appName("swaplaw")
            session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
            session.sparkContext.setLogLevel("ERROR")
        self.context = session.sparkContext
        self.size = workers or self.context.defaultParallelism

    @contextmanager
    def shipped(self, data: Any) -> Iterator[Any]:
        """Broadcast the data, pickled here: Spark's own pickle knows no functions."""
        import cloudpickle

        handle = self.context.broadcast(cloudpickle.dumps(data))
        try:
            yield handle
        finally:
            handle.destroy()

    def run(self, attempt: Callable[..., Any], work: Any, handle: Any, number: int, share: Any) -> Any:
        """Run one share as a job of its own; Spark runs it again if its executor dies."""
        job = self.context.parallelize([0], 1).map(lambda _: attempt(work, _broadcast(handle), number, share))
        return job.collect()[0]


@lru_cache(maxsize=1)
def _broadcast(handle: Any) -> Any:
    return pickle.loads(handle.value)


_CONNECTED: dict[str, Any] = {}
"""Dask forgets a client that nobody holds."""

CLUSTERS: dict[str, Callable[..., Site]] = {"dask": Dask, "ray": Ray, "spark": Spark}


def connect(backend: str, address: str) -> None:
    """Connect this program to a running cluster, for all that asks for the backend from now on."""
    if backend not in CLUSTERS:
        raise InputError(f"backend {quote(backend)} has no cluster to connect to: take {', '.join(CLUSTERS)}")
    try:
        CLUSTERS[backend](None, address)
    except SwaplawError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"cannot connect to {backend} at {quote(address)}: {type(error).__name__}: {said}") from error


def reach(address: str, what: str) -> None:
    """Make sure that something answers at an address that names a host and a port."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or port is None:
        return
    try:
        socket.create_connection((host, port), timeout=PATIENCE).close()
    except OSError as error:
        raise InputError(
            f"no {what} answers at {quote(address)} ({error.strerror or error}): check the address, or leave it out "
            "to start a local cluster"
        ) from None
