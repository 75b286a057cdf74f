"""Running the server: in one process, or in several under uvicorn's supervisor, which replaces those that hang or die.

All that a serving process needs to know is plain data (`Setup`), so that every process reads policies and keys itself:
when it starts, at SIGHUP, and when a watched file changes. Where they cannot be read, what is served stays.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.supervisors import Multiprocess

from swaplaw.decide.policy import policy_key
from swaplaw.errors import InputError, quote
from swaplaw.serve.app import Service, create_app
from swaplaw.serve.gate import Bounds, server_options
from swaplaw.serve.ledger import Keyring, keys_from, read_keys
from swaplaw.serve.reading import end_with
from swaplaw.serve.record import Recorder
from swaplaw.serve.settings import Served, TokenPrice, read_served

YOUNG = 20_000
"""New objects after which garbage is looked for: a question makes hundreds, nearly all of which go by themselves."""
LOOK_EVERY = 2.0
"""Seconds between looks at the files that are watched."""
GRACE = 60
"""Seconds that questions being answered get to finish when the server is told to stop."""
TOLD = "SWAPLAW_SERVE"
"""The environment variable in which the processes of a server find their setup."""


@dataclass(frozen=True)
class Setup:
    """What a serving process needs to know."""

    policies: Sequence[str]
    policy_key_file: str | None = None
    key_file: str | None = None
    ledger: str | None = None
    keys_env: str | None = None
    hosts: Sequence[str] = ()
    max_body: int = 4 * 2**20
    max_requests: int = 1000
    log_content: bool = False
    record: str | None = None
    record_prompts: bool = False
    watch: bool = False
    workers: int = 1

    def served(self) -> list[Served]:
        """The policies, whose upstreams' keys are there."""
        key = None if self.policy_key_file is None else policy_key(self.policy_key_file)
        found = [read_served(path, key) for path in self.policies]
        for served in found:
            for one in served.asked:
                served.upstream(one).key()
        return found

    def keyring(self) -> Keyring:
        """The keys to accept."""
        if self.key_file is not None:
            return read_keys(self.key_file, self.workers, self.ledger)
        return Keyring() if self.keys_env is None else keys_from(self.keys_env)

    def load(self) -> tuple[list[Served], Keyring]:
        """Policies and keys; a budget must be able to tell what a request may cost."""
        served, keys = self.served(), self.keyring()
        if limited := [key.name for key in keys if key.budget is not None]:
            for policy in served:
                _check_priced(policy, limited[0])
        return served, keys

    def app(self, served: Sequence[Served] | None = None) -> Service:
        """The app that serves these policies, or others that are there already."""
        policies, keys = self.load() if served is None else (served, self.keyring())
        app = create_app(
            policies,
            keys=keys,
            hosts=self.hosts,
            bounds=Bounds(self.max_body, requests=max(1, self.max_requests // self.workers)),
            log_content=self.log_content,
            recorder=self._recorder(),
            share=self.workers,
        )
        if served is None:
            watched = [*self.policies, *([self.key_file] if self.key_file else [])] if self.watch else []
            _reload_on_demand(app, self.load, watched)
        return app

    def _recorder(self) -> Recorder | None:
        if self.record is None or self.workers == 1:
            return None if self.record is None else Recorder(self.record, prompts=self.record_prompts)
        # Each process writes a file of its own, the first that no other has.
        for number in count():
            try:
                return Recorder(self.record, prompts=self.record_prompts, worker=number)
            except InputError:
                if number == 2 * self.workers:
                    raise
        return None


def _check_priced(policy: Served, key: str) -> None:
    """Refuse a budget that nothing could be held to."""
    for one in policy.asked:
        upstream = policy.upstream(one)
        if upstream.price is None and one.price is None:
            raise InputError(
                f"key {quote(key)} has a budget, but {quote(policy.name)} does not say what {quote(one.model)} costs: "
                "give its upstream a price, or leave the budget out"
            )
        if isinstance(upstream.price, TokenPrice) and policy.serving.max_tokens is None:
            raise InputError(
                f"key {quote(key)} has a budget, and {quote(one.model)} is paid by the token: set serving.max_tokens "
                f"in {quote(policy.name)}, so that a request costs no more than it may"
            )


def run(setup: Setup, listener: socket.socket, served: Sequence[Served] | None = None) -> None:
    """Serve until told to stop."""
    options = {"log_config": None, "timeout_graceful_shutdown": GRACE, **server_options()}
    if setup.workers == 1:
        settle_down()
        uvicorn.Server(uvicorn.Config(setup.app(served), **options)).run(sockets=[listener])
        return
    os.environ[TOLD] = json.dumps(asdict(setup))
    factory = f"{worker.__module__}:{worker.__name__}"
    Multiprocess(uvicorn.Config(factory, factory=True, workers=setup.workers, **options), [listener]).run()


def worker() -> Service:
    """The app of one process of several."""
    end_with(os.getppid())
    write_logs()
    settle_down()
    return Setup(**json.loads(os.environ[TOLD])).app()


def settle_down() -> None:
    """What is loaded now stays: looking it over for garbage again and again would hold answers up."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)


def write_logs() -> None:
    """Our own log on standard error; httpx would log every upstream URL."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    for name in ("httpx", "httpcore", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _reload_on_demand(
    app: Starlette, load: Callable[[], tuple[Sequence[Served], Keyring]], watched: Sequence[str]
) -> None:
    """Read policies and keys again at SIGHUP, and when a watched file changes."""
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: Starlette) -> AsyncIterator[Any]:
        async with inner(running) as state:
            app.state.reading.start()
            again = partial(app.state.reload, load)
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, again)
            watching = asyncio.create_task(_watch(watched, again)) if watched else None
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
