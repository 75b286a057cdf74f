"""Running the server: in one process or several, reloading policies without dropping a question."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from swaplaw.serve.app import create_app
from swaplaw.serve.gate import server_options
from swaplaw.serve.record import Recorder
from swaplaw.serve.settings import Served

log = logging.getLogger("swaplaw.serve")
YOUNG = 20_000
"""New objects after which garbage is looked for: a question makes hundreds, nearly all of which go by themselves."""
LOOK_EVERY = 2.0
"""Seconds between looks at the files that are watched."""


@dataclass(frozen=True)
class Setup:
    """What every serving process needs to know."""

    policies: Sequence[Served]
    load: Callable[[], Sequence[Served]] | None
    """Reads the policies again; None where there is nothing to read."""
    watched: Sequence[str]
    options: Mapping[str, Any]
    record: str | None
    record_prompts: bool


def run(setup: Setup, listener: socket.socket, workers: int, grace: int) -> None:
    """Serve until told to stop."""
    if workers == 1:
        serve(setup, listener, grace)
    else:
        Crew(setup, listener, workers, grace).run()


def serve(setup: Setup, listener: socket.socket, grace: int, worker: int | None = None, workers: int = 1) -> None:
    """Serve in this process."""
    recorder = None
    if setup.record is not None:
        recorder = Recorder(setup.record, prompts=setup.record_prompts, worker=worker)
    app = create_app(setup.policies, recorder=recorder, share=workers, **setup.options)
    _reload_on_demand(app, setup)
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=grace, **server_options())
    # What is loaded now stays: looking it over for garbage again and again would hold answers up.
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)
    uvicorn.Server(config).run(sockets=[listener])


def _reload_on_demand(app: FastAPI, setup: Setup) -> None:
    """Read the policies again at SIGHUP, and when a watched file changes."""
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: FastAPI) -> AsyncIterator[Any]:
        async with inner(running) as state:
            loop = asyncio.get_running_loop()
            again = (lambda: None) if setup.load is None else partial(app.state.reload, setup.load)
            # Without a handler, the signal would end the process and all it is answering.
            loop.add_signal_handler(signal.SIGHUP, again)
            watching = asyncio.create_task(_watch(setup.watched, again)) if setup.watched else None
            try:
                yield state
            finally:
                if watching is not None:
                    watching.cancel()

    app.router.lifespan_context = lifespan


async def _watch(files: Sequence[str], changed: Callable[[], Any]) -> None:
    before = _stamps(files)
    while True:
        await asyncio.sleep(LOOK_EVERY)
        if (now := _stamps(files)) != before:
            before = now
            changed()


def _stamps(files: Sequence[str]) -> list[tuple[int, int] | None]:
    def stamp(file: str) -> tuple[int, int] | None:
        try:
            found = Path(file).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    return [stamp(file) for file in files]


class Crew:
    """Several processes at one socket; one that dies is replaced, unless it does so again and again."""

    def __init__(self, setup: Setup, listener: socket.socket, workers: int, grace: int) -> None:
        self._setup, self._listener, self._workers, self._grace = setup, listener, workers, grace
        self._pids: dict[int, tuple[int, float]] = {}
        self._stopping = False

    def run(self) -> None:
        """Start them, pass signals on, and wait for them."""
        for number in range(self._workers):
            self._start(number)
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(name, self._pass_on)
        while self._pids:
            try:
                pid, _ = os.wait()
            except InterruptedError:
                continue
            number, began = self._pids.pop(pid)
            if self._stopping:
                continue
            if monotonic() - began < 1:
                log.error("a serving process ended as soon as it began: stopping")
                self._pass_on(signal.SIGTERM, None)
                continue
            log.error("a serving process has ended: starting another")
            self._start(number)

    def _start(self, number: int) -> None:
        pid = os.fork()
        if pid:
            self._pids[pid] = (number, monotonic())
            return
        code = 1
        try:
            for name in (signal.SIGTERM, signal.SIGINT):
                signal.signal(name, signal.SIG_DFL)
            serve(self._setup, self._listener, self._grace, worker=number, workers=self._workers)
            code = 0
        except Exception:
            log.exception("a serving process could not start")
        finally:
            os._exit(code)

    def _pass_on(self, name: int, frame: FrameType | None) -> None:
        self._stopping = self._stopping or name != signal.SIGHUP
        for pid in self._pids:
            os.kill(pid, name)
