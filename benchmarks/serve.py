"""Serving under load: many clients, upstreams with 50 ms latency, every part in a process of its own.

Each client asks about once a second and waits for the answer. What counts is the latency beyond that of the slowest
sample needed, errors (there must be none) and the server's memory.
"""

from __future__ import annotations

import asyncio
import gc
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import aiohttp
import uvloop

from benchmarks.harness import Row

DELAY = 0.05
CLIENTS, SECONDS, PACE = (
    int(os.environ.get(f"SWAPLAW_LOAD_{name}", value))
    for name, value in (("CLIENTS", 200), ("SECONDS", 60), ("PACE", 1))
)
BUDGET = 0.025
UPSTREAM = """
import gc, sys
from swaplaw.serve.demo import Script, running, scripted_app
answers = {(model, "1"): ["A"] * 8 for model in ("first", "second")}
with running(scripted_app(Script(answers), delay=float(sys.argv[2])), port=int(sys.argv[1])):
    gc.freeze()
    sys.stdin.read()
"""


def measure() -> Iterator[Row]:
    found = load(CLIENTS, SECONDS, PACE)
    assert found.statuses == {200: len(found.latencies)}, found.statuses
    name = f"{CLIENTS} clients, {SECONDS} s, {len(found.latencies) / SECONDS:.0f} answers/s"
    yield Row(f"added p50 latency: {name}", found.added(0.5), BUDGET, "25 ms", 1)
    yield Row(f"added p99 latency: {name}", found.added(0.99), BUDGET, "25 ms", 1)
    yield Row(f"memory at the end: {name}", found.memory[-1], found.memory[0], "a quarter into the run", 0.9, "MB")


@dataclass(frozen=True)
class Load:
    """What clients saw, and the server's memory in MB from a quarter into the run to its end."""

    latencies: Sequence[float]
    statuses: dict[int, int]
    degraded: int
    memory: Sequence[float]
    processor: float
    """Processor seconds of the server for each answer."""
    explained: bool
    """Every answer that is not 200 says why in OpenAI's form."""

    def added(self, quantile: float) -> float:
        """Quantile of the latency beyond the slowest needed sample's."""
        ordered = sorted(self.latencies)
        return max(ordered[min(len(ordered) - 1, int(quantile * len(ordered)))] - DELAY, 1e-6)


def load(clients: int, seconds: float, pace: float, *, kill_at: float | None = None, samples: int = 1) -> Load:
    """Run the whole set-up; at `kill_at` seconds the primary's upstream is killed."""
    with ExitStack() as stack:
        ports = [free_port() for _ in range(3)]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        upstreams = [stack.enter_context(process("-c", UPSTREAM, str(port), str(DELAY))) for port in ports[:2]]
        policy = folder / "load.json"
        write_policy(policy, ports[0], ports[1], samples)
        server = stack.enter_context(process("-m", "swaplaw", "serve", str(policy), "--port", str(ports[2])))
        for port in ports:
            wait_for(port)
        # Clients are not what is measured: they wait on the quicker event loop.
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(ask_for(clients, seconds, pace, ports[2], server.pid, upstreams[0], kill_at))


async def ask_for(
    clients: int,
    seconds: float,
    pace: float,
    port: int,
    server: int,
    victim: subprocess.Popen[bytes],
    kill_at: float | None,
) -> Load:
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    body = {"model": "load", "messages": [{"role": "user", "content": "question 1"}]}
    latencies: list[float] = []
    statuses: Counter[int] = Counter()
    degraded, explained = 0, True
    phases = random.Random(0)
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60)
    async with aiohttp.ClientSession(connector=connector) as session:
        gc.freeze()  # Nor are their pauses.
        before = processor(server)
        start = time.perf_counter()

        async def client(phase: float) -> None:
            nonlocal degraded, explained
            due = start + phase
            while due < start + seconds:
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                asked = time.perf_counter()
                async with session.post(url, json=body) as response:
                    reply = await response.json()
                latencies.append(time.perf_counter() - asked)
                statuses[response.status] += 1
                degraded += "x-swaplaw-degraded" in response.headers
                explained = explained and (response.status == 200 or bool(reply["error"]["message"]))
                due = max(due + pace, time.perf_counter())

        async def watch() -> list[float]:
            await asyncio.sleep(seconds / 4)
            memory = [resident(server)]
            for _ in range(10):
                await asyncio.sleep(0.07 * seconds)
                memory.append(resident(server))
            return memory

        async def kill() -> None:
            if kill_at is not None:
                await asyncio.sleep(kill_at)
                victim.kill()

        asking = [client(phases.uniform(0, pace)) for _ in range(clients)]
        watching = asyncio.create_task(watch())
        await asyncio.gather(kill(), *asking)
        memory = await watching
        each = (processor(server) - before) / len(latencies)
    return Load(latencies, dict(statuses), degraded, memory, each, explained)


def write_policy(path: Path, first: int, second: int, samples: int) -> None:
    from swaplaw.decide.policy import Member, Policy

    options = {"concurrency": 500, "retries": 1, "timeout": 10.0, "cooldown": 1.0}
    upstreams = {
        name: {"base_url": f"http://127.0.0.1:{port}/v1", **options}
        for name, port in (("first", first), ("second", second))
    }
    members = (Member("first", Fraction(1), samples), Member("second", Fraction(2, 3), samples))
    Policy(members, "load", {}, {}, {"upstreams": upstreams, "seed": 0}).write(path)


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that is gone when the block is left."""
    quiet = subprocess.DEVNULL
    running = subprocess.Popen([sys.executable, *arguments], stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def wait_for(port: int, patience: float = 60.0) -> None:
    """Wait until a server answers, whatever it says: it listens before it has started."""
    deadline = time.monotonic() + patience
    while True:
        asked = http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
        try:
            asked.request("GET", "/health")
            asked.getresponse().read()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        finally:
            asked.close()


def processor(pid: int) -> float:
    """Processor seconds used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Resident memory in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    found = load(CLIENTS, SECONDS, PACE)
    print(
        json.dumps(
            {"statuses": found.statuses, "memory": found.memory, "p99": found.added(0.99), "processor": found.processor}
        )
    )
