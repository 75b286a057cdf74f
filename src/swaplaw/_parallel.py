"""Who does the work: this process, several, or any executor of `concurrent.futures`; the results are the same.

Work that falls into independent shares (pairs, panels, replicates, folds) is a function of the data that all shares
need and of one share. Results arrive in the order of the shares, and what a share computes depends on nothing but data
and share, so the number of workers cannot change a bit. A worker may die: killed for its memory, pre-empted, unplugged.
Shares return their result, or the error that the work itself raised; whatever else comes back means that a worker was
lost, and the shares that are missing are done again.
"""

from __future__ import annotations

import hashlib
import io
import logging
import pickle
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from swaplaw.errors import InputError, LostWorkerWarning, MissingExtraError, SwaplawError, quote

Data = TypeVar("Data")
Share = TypeVar("Share")
Result = TypeVar("Result")

Workers = int | Executor | None
"""Processes of this machine, or whatever runs calls: Dask's `Client().get_executor()`, MPI's, a pool of your own."""
ROUNDS = 4
"""How often missing shares are handed out, at most: a share that kills its worker would do so for ever."""
SHARES, SHARES_A_WORKER = 32, 8
"""At least this many: fewer would let workers wait for the slowest, and a lost worker costs one of them."""
LARGEST_SHARE = 1_000
"""Items: progress shows, and results come back, at least this often."""
PATIENCE = 10
"""Seconds to wait for a cluster to answer."""

Progress = Callable[[Sequence[Any]], Iterable[Any]]
"""Wraps what is looped over, so that a progress bar can progress."""


@dataclass(frozen=True)
class Crew:
    """Who shares the work; by default this process alone."""

    workers: Workers = None

    def __post_init__(self) -> None:
        number = self.workers
        if number is None or isinstance(number, Executor):
            return
        if isinstance(number, bool) or not isinstance(number, int):
            raise InputError(f"workers is {quote(number)}: give a whole number, 1 or more, or an executor")
        if number < 1:
            raise InputError(f"{number} workers can do no work: give 1 (this process) or more")

    @property
    def is_alone(self) -> bool:
        """Whether this process does all the work."""
        return self.workers in (None, 1)

    def split(self, items: Sequence[Share]) -> list[Sequence[Share]]:
        """Cut items into runs of neighbours, small enough that workers end together."""
        workers = self.workers if isinstance(self.workers, int) else SHARES // SHARES_A_WORKER
        size = max(1, min(LARGEST_SHARE, len(items) // max(SHARES, SHARES_A_WORKER * workers)))
        return [items[first : first + size] for first in range(0, len(items), size)]

    def share(
        self,
        work: Callable[[Data, Share], Result],
        data: Data,
        shares: Sequence[Share],
        *,
        progress: Progress = iter,
    ) -> Iterator[Result]:
        """Do the work on every share of it; results in the order of the shares, of which `progress` sees the ends."""
        if self.is_alone or len(shares) < 2:
            return (work(data, each) for each in progress(shares))
        return self._spread(work, data, shares, progress)

    def _spread(
        self, work: Callable[[Data, Share], Result], data: Data, shares: Sequence[Share], progress: Progress
    ) -> Iterator[Result]:
        import cloudpickle

        packed = cloudpickle.dumps((work, data))
        futures = dict(self._submitted(packed, enumerate(shares)))
        lost = 0
        try:
            for number, _ in enumerate(progress(shares)):
                while True:
                    try:
                        found = futures[number].result()
                        break
                    except Exception as error:
                        lost += 1
                        missing = {each: shares[each] for each, future in futures.items() if not _is_there(future)}
                        _tell(error, len(missing), lost)
                        futures |= dict(self._submitted(packed, missing.items()))
                result = _unpacked(found, data)
                del futures[number]
                if isinstance(result, _Failed):
                    raise result.error
                yield result
        finally:
            for future in futures.values():
                future.cancel()

    def _submitted(self, packed: bytes, shares: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Future[bytes]]]:
        """Hand shares out, with what they need; each worker opens that once."""
        executor = self.workers if isinstance(self.workers, Executor) else _processes(self.workers or 1)
        # Dask and Ray keep what all shares need where the workers are; others get it with every share.
        keep: Callable[[bytes], Any] = getattr(executor, "keep", None) or _scatter_of(executor)
        kept, name = keep(packed), hashlib.sha256(packed).hexdigest()
        for number, share in shares:
            yield number, executor.submit(_attempt, kept, name, share)


ALONE = Crew()
"""This process by itself."""


def executor_at(cluster: str) -> Executor:
    """Connect to a cluster: the address of a Dask scheduler or of Ray, or `dask` or `ray` for one on this machine."""
    kind = "ray" if cluster.startswith("ray") else "dask"
    address = None if cluster == kind else cluster
    try:
        return _ray(address) if kind == "ray" else _dask(address)
    except ImportError:
        raise MissingExtraError(kind, f"a {kind.capitalize()} cluster") from None
    except Exception as error:  # Each of them has exceptions of its own.
        said = " ".join(str(error).split())[:200]
        raise InputError(
            f"no {kind.capitalize()} cluster with workers answers at {quote(cluster)} ({type(error).__name__}: "
            f"{said}): check the address, or say {kind!r} to start one here"
        ) from None


def _processes(workers: int) -> Executor:
    """A pool of this machine; asked for again, it is a new one if the last was broken."""
    from joblib.externals.loky import get_reusable_executor

    pool: Executor = get_reusable_executor(workers)
    return pool


def _dask(address: str | None) -> Executor:
    from distributed import Client

    client: Any = Client(address, timeout=PATIENCE) if address else Client(threads_per_worker=1, dashboard_address=None)  # type: ignore[no-untyped-call]
    client.wait_for_workers(1, timeout=PATIENCE)
    executor: Executor = client.get_executor()
    return executor


def _scatter_of(executor: Executor) -> Callable[[bytes], Any]:
    client: Any = getattr(executor, "_client", None)
    # In a list, because bytes alone would be hashed to find out whether they are there.
    return (lambda packed: packed) if client is None else lambda packed: client.scatter([packed], broadcast=True)[0]


def _ray(address: str | None) -> Executor:
    import ray

    class Ray(Executor):
        """Ray as an executor: its references become futures by themselves."""

        def keep(self, packed: bytes) -> Any:
            return ray.put(packed)

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = ray.remote(fn).remote(*args, **kwargs).future()
            return future

    if not ray.is_initialized():
        ray.init(
            address=address,
            include_dashboard=None if address else False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    return Ray()


@dataclass(frozen=True)
class _Failed:
    """The work itself raised an error: no worker was lost."""

    error: Exception


_open: dict[str, tuple[Callable[..., Any], Any]] = {}
"""In a worker: the work and its data, as they stay from share to share."""


def _attempt(kept: bytes, name: str, share: Any) -> bytes:
    """Do one share, where the worker is."""
    if name not in _open:
        _open.clear()
        _open[name] = pickle.loads(kept)
    work, data = _open[name]
    try:
        return _packed(work(data, share), data)
    except Exception as error:
        error.add_note("In a worker:\n" + traceback.format_exc())
        return _packed(_Failed(error), data)


def _packed(result: Any, data: Any) -> bytes:
    """Pickle a result; where it holds a part of the data, it says which."""
    places = {id(part): place for place, part in enumerate(_parts(data))}

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj: Any) -> int | None:
            return places.get(id(obj))

    file = io.BytesIO()
    Pickler(file, pickle.HIGHEST_PROTOCOL).dump(result)
    return file.getvalue()


def _unpacked(packed: bytes, data: Any) -> Any:
    """The result, holding our own data where it held the worker's."""
    parts = _parts(data)

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, pid: Any) -> Any:
            return parts[pid]

    return Unpickler(io.BytesIO(packed)).load()


def _parts(data: Any) -> list[Any]:
    """The data and what it is made of, as far as that may be large."""
    named = [getattr(data, each.name) for each in fields(data)] if is_dataclass(data) else []
    inner = list(data) if isinstance(data, tuple) else named
    return [data, *(part for part in inner if is_dataclass(part) or isinstance(part, dict))]


def _is_there(future: Future[Any]) -> bool:
    """Whether a share has come back; those under way are waited for where their workers are still alive."""
    return future.done() and not future.cancelled() and future.exception() is None


def _tell(error: Exception, missing: int, times: int) -> None:
    """Say that a worker was lost, or give up."""
    said = quote(" ".join(str(error).split())[:200], 200)
    if "No module named" in str(error):
        raise SwaplawError(
            f"the workers lack what this process has ({said}): install the same swaplaw there"
        ) from error
    if times == ROUNDS:
        raise SwaplawError(
            f"workers were lost {ROUNDS} times ({type(error).__name__}: {said}); {missing} shares of the work are "
            "missing: give each worker more memory, or ask for fewer workers"
        ) from error
    warnings.warn(
        f"a worker was lost ({type(error).__name__}: {said}); {missing} shares that are missing are done again",
        LostWorkerWarning,
        stacklevel=2,
    )


def one_thread() -> AbstractContextManager[Any]:
    """While in this context, BLAS uses one thread.

    Several threads on a product of a few thousand numbers wait for each other longer than they work, and several
    products at a time, each on all cores, do nothing else.
    """
    # SciPy brings a library of its own, which is there once its linear algebra is.
    limit: AbstractContextManager[Any] = _controller("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=2)
def _controller(scipy: bool) -> Any:
    """Find the libraries once, with SciPy's and without: that takes longer than many a product."""
    import numpy.linalg  # noqa: F401  What is not loaded yet would not be found.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_MEMINFO, _STATUS = Path("/proc/meminfo"), Path("/proc/self/status")


def available_bytes() -> int | None:
    """Memory that this process could still get; None where the system does not tell."""
    try:
        found = re.search(r"MemAvailable:\s*(\d+) kB", _MEMINFO.read_text())
    except OSError:
        found = None
    free = None if found is None else 1024 * int(found[1])
    return _within_limits(free)


def _within_limits(free: int | None) -> int | None:
    """What the limits of this process leave of it."""
    try:
        import resource
    except ImportError:  # Not on Windows.
        return free
    kinds = {"VmSize": resource.RLIMIT_AS, "VmData": resource.RLIMIT_DATA}
    limits = {name: resource.getrlimit(kind)[0] for name, kind in kinds.items()}
    known = [limit - _used(name) for name, limit in limits.items() if limit != resource.RLIM_INFINITY]
    return min([*(max(0, left) for left in known), *([] if free is None else [free])], default=None)


def _used(name: str) -> int:
    """What this process has taken of a limit already; 0 where the system does not tell."""
    try:
        found = re.search(rf"{name}:\s*(\d+) kB", _STATUS.read_text())
    except OSError:
        found = None
    return 0 if found is None else 1024 * int(found[1])


def require_memory(needed: float, what: str, advice: str) -> None:
    """Refuse work that would take more memory than there is.

    Parameters
    ----------
    needed : float
        Bytes, about.
    what : str
        What would be held.
    advice : str
        What to do instead.

    Raises
    ------
    InputError
        If that is more than the process could get.

    Examples
    --------
    >>> require_memory(1e6, "a small table", "ask for less")
    """
    free = available_bytes()
    if free is not None and needed > free:
        raise InputError(f"{what} would take about {_gigabytes(needed)}, and {_gigabytes(free)} are free: {advice}")


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.0f} MB"


Item = TypeVar("Item")

_shown: list[Any] = []
"""What is under way, outermost first; only the innermost is drawn."""


def with_bar(work: Iterable[Item], label: str, total: int | None = None) -> Iterator[Item]:
    """Pass items through, with a bar that says how many are done."""
    if not sys.stderr.isatty():
        yield from work
        return
    with _display() as display:
        yield from display.track(work, total=total, description=label)


@contextmanager
def counting(label: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function to be told how much is done, and of how much."""
    if not sys.stderr.isatty():
        yield lambda done, of: None
        return
    with _display() as display:
        task = display.add_task(label, total=None)
        yield lambda done, of: display.update(task, completed=done, total=of)


@contextmanager
def busy(label: str) -> Iterator[None]:
    """Say what is being done, and for how long, while nobody can tell how much is left."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    with _display(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as display:
        display.add_task(label, total=None)
        yield


@contextmanager
def aside() -> Iterator[None]:
    """Clear the terminal while something is printed, then go on showing what is under way."""
    for display in _shown:
        display.stop()
    try:
        yield
    finally:
        if _shown:
            _shown[-1].start()


@contextmanager
def _display(*columns: Any) -> Iterator[Any]:
    """Draw on standard error; what was drawn before waits until this ends."""
    from rich.console import Console
    from rich.progress import Progress

    # Redirecting would send what is printed meanwhile to standard error.
    display = Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    )
    with aside():
        _shown.append(display)
        try:
            with display:
                yield display
        finally:
            _shown.remove(display)
