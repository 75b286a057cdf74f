"""A budget beside a counter at the upstream: whatever happens, nothing is sent for free or for more than it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from random import Random
from subprocess import Popen
from typing import Any

import httpx
import pytest

from serve.test_clients import TOOLS, key_file
from serve.test_command import server
from swaplaw.serve.ledger import Ledger
from swaplaw.serve.settings import Served

from support.upstreams import World, ask, serve

BUDGET = 40.0


class Customer:
    """Spends a budget in every way there is."""

    def __init__(self, folder: Path, policies: list[Served], workers: int, seed: int, stack: ExitStack) -> None:
        self.files = []
        for served in policies:
            self.files.append(str(folder / f"{served.name}.json"))
            served.policy.write(self.files[-1])
        self.keys, self.rng = key_file(folder / "keys.json", budget=BUDGET), Random(seed)
        self.ledger, self.workers, self.stack = Ledger(f"{self.keys}.ledger"), workers, stack
        self.begin()

    def begin(self) -> None:
        command = [*self.files, "--keys", str(self.keys), "--workers", str(self.workers)]
        self.process: Popen[str]
        self.process, self.port = self.stack.enter_context(server(*command))

    def ask(self, model: str = "fine", timeout: float = 30.0, key: str = "sk-team", **more: Any) -> int:
        headers = {"authorization": f"Bearer {key}"}
        url = f"http://127.0.0.1:{self.port}/v1/chat/completions"
        try:
            return httpx.post(url, json=ask(model=model, **more), headers=headers, timeout=timeout).status_code
        except httpx.HTTPError:
            return 0

    def many(self, one: Callable[[], int], number: int) -> list[int]:
        with ThreadPoolExecutor(number) as pool:
            return list(pool.map(lambda _: one(), range(number)))

    def burst(self) -> None:
        """Many questions at once, some that fail and are tried again, some with tools."""
        kinds: list[dict[str, Any]] = [{}, {"model": "fails"}, {"tools": TOOLS}]
        assert set(self.many(lambda: self.ask(**self.rng.choice(kinds)), 8)) <= {0, 200, 429, 503}

    def abandon(self) -> None:
        """Questions that nobody waits for."""
        self.many(lambda: self.ask("slow", timeout=self.rng.uniform(0.05, 0.5)), 3)

    def kill(self) -> None:
        """A server that dies in the middle of questions."""
        with ThreadPoolExecutor(4) as pool:
            left = [pool.submit(self.ask, "slow", 5.0) for _ in range(3)]
            time.sleep(self.rng.uniform(0.1, 0.5))
            self.process.kill()
            self.process.wait()
            assert all(one.result() in (0, 200, 429) for one in left)
        self.begin()

    def revoke(self) -> None:
        """A key that is taken out, and put in again."""
        whole = self.keys.read_text()
        self.keys.write_text(whole.replace(sha256(b"sk-team").hexdigest(), "0" * 64))
        self.reload(lambda: self.ask() == 401)
        self.keys.write_text(whole)
        self.reload(lambda: self.ask() != 401)

    def reload(self, done: Callable[[], bool]) -> None:
        self.process.send_signal(signal.SIGHUP)
        for _ in range(600):
            if done():
                break
            time.sleep(0.1)
        assert all(done() for _ in range(6)), "one process still has it the old way"


def spend(world: World, base_url: str, folder: Path, seed: int, steps: int, workers: int) -> None:
    policies = [
        serve(base_url, ("counts-x", "1", 2), name="fine", price=1.0),
        serve(base_url, ("status-500", "1", 1), name="fails", price=1.0, upstream={"retries": 2}),
        serve(base_url, ("slow-3", "1", 1), name="slow", price=1.0, upstream={"timeout": 30.0}),
    ]
    with ExitStack() as stack:
        customer = Customer(folder, policies, workers, seed, stack)
        acts = [customer.burst, customer.abandon, customer.kill, customer.revoke]
        for step in range(steps):
            (acts[step] if step < len(acts) else customer.rng.choice(acts))()
        for _ in range(6):
            customer.burst()
        assert customer.ask() == 429
        assert customer.ask(key="sk-free") == 200  # Which has no budget, and is not counted below.
    sent = world.calls["counts-x"] - 2 + world.calls["slow-3"]
    spent = customer.ledger.spent("team")
    assert sent <= spent <= BUDGET, "something was sent for free, or for more than the budget"
    assert sent >= BUDGET / 4  # What is left of a request that was killed stays paid.


def test_a_budget_holds_whatever_happens(world: World, base_url: str, tmp_path: Path) -> None:
    spend(world, base_url, tmp_path, seed=1, steps=4, workers=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_budget_holds_whatever_happens_for_long(world: World, base_url: str, tmp_path: Path, seed: int) -> None:
    spend(world, base_url, tmp_path, seed, steps=20, workers=2)
