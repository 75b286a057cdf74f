"""Who does the work: this process, several, or a cluster; the results are the same, bit by bit.

Work that falls into independent shares (pairs, panels, replicates, folds) is a function of the data that all shares
need and of one share. joblib hands shares out; the data goes to every worker once, before the first share (see
`sites`), and none of it comes back. Results arrive in the order of the shares, however many workers there are and
whichever ends first, and what a share computes depends on nothing but data and share.

A worker may die: killed for its memory, pre-empted, unplugged. Shares return their result, or the error that the work
itself raised; whatever else comes back means that a worker was lost, and the shares that are missing are done again.
"""

from __future__ import annotations

import io
import pickle
import re
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, get_args

from swaplaw.errors import InputError, LostWorkerWarning, SwaplawError, quote

if TYPE_CHECKING:
    from swaplaw._core.clusters import Site

Data = TypeVar("Data")
Share = TypeVar("Share")
Result = TypeVar("Result")
Work = Callable[[Data, Share], Result]

Backend = Literal["processes", "dask", "ray", "spark"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)

ROUNDS = 4
"""How often missing shares are handed out, at most: a share that kills its worker would do so for ever."""
SHARES, SHARES_A_WORKER = 32, 8
"""At least this many: fewer would let workers wait for the slowest, and a lost worker costs one of them."""
LARGEST_SHARE = 1_000
"""Items: progress shows, and results come back, at least this often."""

Progress = Callable[[Sequence[Any]], Iterable[Any]]
"""Wraps what is looped over, so that a progress bar can progress."""


@dataclass(frozen=True)
class Crew:
    """A number of workers of a kind; by default this process alone, or all that a cluster has."""

    workers: int | None = None
    backend: Backend = "processes"

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise InputError(f"there is no backend {quote(self.backend)}; there are {', '.join(BACKENDS)}")
        if self.workers is not None and (isinstance(self.workers, bool) or not isinstance(self.workers, int)):
            raise InputError(f"workers is {quote(self.workers)}: give a whole number, 1 or more")
        if self.workers is not None and self.workers < 1:
            raise InputError(f"{self.workers} workers can do no work: give 1 (this process) or more")

    @property
    def is_alone(self) -> bool:
        """Whether this process does all the work."""
        return self.backend == "processes" and self.workers in (None, 1)

    def split(self, items: Sequence[Share]) -> list[Sequence[Share]]:
        """Cut items into runs of neighbours, small enough that workers end together."""
        workers = 1 if self.is_alone else self.workers or self._site().size
        size = max(1, min(LARGEST_SHARE, len(items) // max(SHARES, SHARES_A_WORKER * workers)))
        return [items[first : first + size] for first in range(0, len(items), size)]

    def share(
        self, work: Work[Data, Share, Result], data: Data, shares: Sequence[Share], *, progress: Progress = iter
    ) -> Iterator[Result]:
        """Do the work on every share of it; results in the order of the shares.

        `data` must pickle, and `work` be a module's function, or small: it goes with every share. `progress` sees
        shares end.
        """
        with self.holding(data) as team:
            yield from team.share(work, shares, progress=progress)

    @contextmanager
    def holding(self, data: Data) -> Iterator[Team[Data]]:
        """Workers that keep the data from one round of shares to the next."""
        with Team(data, None if self.is_alone else self._site()) as team:
            yield team

    def _site(self) -> Site:
        """Where the workers are."""
        from swaplaw._core.clusters import site

        return site(self.backend, self.workers)


ALONE = Crew()
"""This process by itself."""


class Team(ExitStack, Generic[Data]):
    """Workers that hold some data."""

    def __init__(self, data: Data, place: Site | None) -> None:
        super().__init__()
        self.data, self.place = data, place
        self.handle: Any = None

    def share(
        self, work: Work[Data, Share, Result], shares: Sequence[Share], *, progress: Progress = iter
    ) -> Iterator[Result]:
        """Do the work on every share of it; results in the order of the shares."""
        if self.place is None or len(shares) < 2:
            return (work(self.data, each) for each in progress(shares))
        return _in_order(self._spread(self.place, work, dict(enumerate(shares))), progress, shares)

    def _spread(
        self, place: Site, work: Work[Data, Share, Result], left: dict[int, Share]
    ) -> Iterator[tuple[int, Result]]:
        """Results with the numbers of their shares, as they end."""
        from joblib import Parallel, delayed

        for handed_out in range(1, ROUNDS + 1):
            handle, failed = self._ship(place), None
            hands = Parallel(place.size, backend=place.dispatcher, return_as="generator_unordered", batch_size=1)
            calls = [delayed(place.run)(_attempt, work, handle, number, each) for number, each in left.items()]
            try:
                with _closing(hands(calls)) as ended:
                    for number, packed in ended:
                        result = _unpacked(packed, self.data)
                        if isinstance(result, _Failed):
                            failed = result.error
                            break
                        del left[number]
                        yield number, result
            except Exception as error:
                _tell(error, len(left), handed_out)
                self.close()
            else:
                break
        if failed is not None:
            raise failed

    def _ship(self, place: Site) -> Any:
        """Give every worker the data, once; and again after a loss, which may have taken the only copy."""
        if self.handle is None:
            self.callback(setattr, self, "handle", None)
            self.handle = self.enter_context(place.shipped(self.data))
        return self.handle


@dataclass(frozen=True)
class _Failed:
    """The work itself raised an error: no worker was lost."""

    error: Exception


def _attempt(work: Work[Data, Share, Result], data: Data, number: int, share: Share) -> tuple[int, bytes]:
    """Do one share, where the worker is."""
    try:
        return number, _packed(work(data, share), data)
    except Exception as error:
        error.add_note("In a worker:\n" + traceback.format_exc())
        return number, _packed(_Failed(error), data)


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


@contextmanager
def _closing(ended: Any) -> Iterator[Any]:
    """Stop handing shares out when nobody wants the results any more; joblib would call that a waste."""
    try:
        yield ended
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*tasks ", category=UserWarning)
            ended.close()


def _in_order(ended: Iterator[tuple[int, Result]], progress: Progress, shares: Sequence[Any]) -> Iterator[Result]:
    """Put results in the order of their shares, and let a progress_bar see every end."""
    steps = iter(progress(shares))
    next(steps, None)
    early: dict[int, Result] = {}
    following = 0
    for number, result in ended:
        next(steps, None)
        early[number] = result
        while following in early:
            yield early.pop(following)
            following += 1


def _tell(error: Exception, missing: int, handed_out: int) -> None:
    """Say that a worker was lost, or give up."""
    if lacking := re.search(r"No module named '[^']+'", str(error)):
        raise SwaplawError(
            f"the workers lack what this process has ({lacking.group()}): install the same swaplaw where they are"
        ) from error
    said = quote(" ".join(str(error).split())[:200], 200)
    if handed_out == ROUNDS:
        raise SwaplawError(
            f"workers were lost {ROUNDS} times ({type(error).__name__}: {said}); {missing} shares of the work are "
            "missing: give each worker more memory, or ask for fewer workers"
        ) from error
    warnings.warn(
        f"a worker was lost ({type(error).__name__}: {said}); {missing} shares that are missing are done again",
        LostWorkerWarning,
        stacklevel=2,
    )
