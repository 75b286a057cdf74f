"""How an upstream is spared: a circuit for one that fails, a throttle for one that wants fewer calls.

A rate limit is not a failure. It never opens the circuit: it pauses all calls to that upstream for as long as it asks,
and halves how many may run at once; every success then adds a little back.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from itertools import takewhile
from time import monotonic
from typing import Any

from swaplaw.serve.upstream.completions import UpstreamError


class Circuit:
    """Leaves an upstream alone after several failures in a row, then lets one call try."""

    def __init__(self, failures: int, cooldown: float, clock: Callable[[], float] = monotonic) -> None:
        self._most, self._cooldown, self._clock = failures, cooldown, clock
        self._failures = 0
        self._retry_at = 0.0

    @property
    def open(self) -> bool:
        """Whether calls are refused, or would be but for one that may try."""
        return self._failures >= self._most

    def enter(self) -> bool:
        """Ask to make a call."""
        if not self.open:
            return True
        now = self._clock()
        if now < self._retry_at:
            return False
        self._retry_at = now + self._cooldown  # Others wait for the outcome of this one.
        return True

    def record(self, *, healthy: bool) -> None:
        """Say how a call went."""
        if healthy:
            self._failures = 0
            return
        self._failures += 1
        if self.open:
            self._retry_at = self._clock() + self._cooldown


class Deadlines:
    """Ends work that takes too long, by one timer for all of it: one for each would cost more than its vote."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends: dict[asyncio.Task[Any], float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(self) -> Deadline:
        """A context that the current task works in; TimeoutError is raised from it where that takes too long."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("only a task can be ended")
        self._ends[task] = loop.time() + self._seconds
        if self._timer is None or self._loop is not loop:
            self._loop, self._timer = loop, loop.call_later(self._seconds, self._sweep, loop)
        return Deadline(self, task)

    def end(self, task: asyncio.Task[Any]) -> bool:
        """The task's work has ended; True where it was cancelled for taking too long."""
        return self._ends.pop(task, None) is None

    def expire(self, task: asyncio.Task[Any]) -> None:
        """The task's time is up."""
        if self._ends.pop(task, None) is not None:
            task.cancel()

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel what is due: tasks are in the order of their ends."""
        self._timer = None
        now = loop.time()
        for task in list(takewhile(lambda task: self._ends[task] <= now, self._ends)):
            self.expire(task)
        if (following := next(iter(self._ends.values()), None)) is not None:
            self._timer = loop.call_at(following, self._sweep, loop)


class Deadline:
    """The time that one piece of work has."""

    __slots__ = ("_deadlines", "_task")

    def __init__(self, deadlines: Deadlines, task: asyncio.Task[Any]) -> None:
        self._deadlines, self._task = deadlines, task

    def expire(self) -> None:
        """The time is up now."""
        self._deadlines.expire(self._task)

    def __enter__(self) -> Deadline:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        # A task that somebody else has cancelled, too, is not only late.
        if self._deadlines.end(self._task) and not self._task.uncancel() and kind is asyncio.CancelledError:
            raise TimeoutError


class Throttle:
    """How many calls to one model run at once, and until when none may start; shared by all policies that use it."""

    def __init__(self, most: int, clock: Callable[[], float] = monotonic) -> None:
        self._most, self._clock = most, clock
        self._limit = float(most)
        self._running = 0
        self._resume_at = 0.0
        self._halved_at = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """How many calls may run at once now."""
        return int(self._limit)

    def allow(self, most: int) -> None:
        """Set how many calls may ever run at once; one that has been told to slow down keeps to what it runs."""
        slowed = self._limit < self._most
        self._most = most
        self._limit = min(self._limit, float(most)) if slowed else float(most)

    @property
    def paused(self) -> float:
        """Seconds until calls may start again."""
        return max(0.0, self._resume_at - self._clock())

    async def enter(self, until: float) -> None:
        """Wait for a turn, which `leave` ends; a pause that lasts beyond `until` is not waited for."""
        self._hold_to(until)
        if self._waiting or self._running >= self.limit:
            await self._queue()
        else:
            self._running += 1
        try:
            while pause := self.paused:
                self._hold_to(until)
                await asyncio.sleep(pause)
        except BaseException:
            self.leave()
            raise

    def _hold_to(self, until: float) -> None:
        if self._resume_at > until:
            raise UpstreamError("status 429", passing=False, healthy=True, status=429)

    async def _queue(self) -> None:
        """Wait until a slot is handed over; it then counts as running."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()  # The slot was given to one that has gone: pass it on.
            elif turn in self._waiting:
                self._waiting.remove(turn)
            raise

    def keep(self) -> None:
        """Let the turn last on, for a call that outlives who made it: one more `leave` ends it."""
        self._running += 1

    def leave(self) -> None:
        """Give the turn to the next."""
        self._running -= 1
        while self._waiting and self._running < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)

    def succeeded(self) -> None:
        """A call went well: allow a little more."""
        if self._limit < self._most:
            self._limit = min(self._most, self._limit + 1 / self._limit)

    def limited(self, wait: float, started: float) -> None:
        """A call that began at `started` was told to slow down: pause, and halve the calls at once.

        One burst is answered with many refusals; only the first of them halves.
        """
        now = self._clock()
        self._resume_at = max(self._resume_at, now + wait)
        if started > self._halved_at:
            self._limit = max(1.0, self._limit / 2)
            self._halved_at = now
