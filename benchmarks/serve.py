"""Serving under load: many clients, upstreams with 50 ms latency, every part in a process of its own.

Open loop: each client asks about once a second and waits for the answer. Closed loop (pace 0): it asks again at once.
What counts is the server's processor time and latency beside those of a bare proxy, which makes the same calls by the
same libraries and votes nothing (`loopback/proxy.py`), errors (there must be none), and the server's memory. Server and
proxy run side by side and are asked in turns, several times, so that both see the same machine.

On a quiet machine: `python -m benchmarks.serve`, or `python -m benchmarks.serve processor` for the ratios alone and
`python -m benchmarks.serve lengths` for replies that must be read; SWAPLAW_LOAD_CLIENTS, _SECONDS and _PACE set the
size. All of it stays on loopback.
"""

from __future__ import annotations

import asyncio
import gc
import http.client
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
from itertools import chain
from pathlib import Path
from statistics import median

import aiohttp
import uvloop

from benchmarks.harness import Row

ROOT = Path(__file__).resolve().parent.parent
DELAY = 0.05
CLIENTS, SECONDS, PACE = (
    int(os.environ.get(f"SWAPLAW_LOAD_{name}", value))
    for name, value in (("CLIENTS", 200), ("SECONDS", 60), ("PACE", 1))
)
SAMPLES = 6
MOST_PROCESSOR = 1.5
"""Processor time of the server for each answer, over the bare proxy's."""
MOST_LATENCY = 1.5
LENGTHS = {30: 2.0, 800: 10.0, 4_000: 10.0, 16_000: 30.0}
"""Characters of a reply, and the most processor time beside the bare proxy's."""


def measure() -> Iterator[Row]:
    """Everything: the large load first, then the ratios."""
    yield from many_clients()
    yield from processor_ratios()
    yield from reply_lengths()


def reply_lengths(clients: int = 8, seconds: float = 6, rounds: int = 3) -> Iterator[Row]:
    """Replies of several lengths, all distinct, each of which argues about every option.

    The server stops as policies are served by default; the proxy makes all calls.
    """
    for length, most in LENGTHS.items():
        with set_up(SAMPLES, proxy=True, length=length) as found:
            run(found, "server", clients, 2, 0.1)  # What reads long replies has started then.
            pairs = [
                tuple(run(found, name, clients, seconds, 0.5) for name in ("server", "proxy")) for _ in range(rounds)
            ]
        ours, bare = (median(one.processor for one in side) for side in zip(*pairs, strict=True))
        live = sorted(chain.from_iterable(own.live for own, _ in pairs))
        waited = 1000 * live[int(0.99 * len(live))]
        name = f"processor time, replies of {length:,} characters"
        yield Row(name, ours, bare, "a bare proxy", 1 / most, note=f"p99 of /health/live {waited:.0f} ms")


def many_clients() -> Iterator[Row]:
    """Many clients at six samples per member, beside the proxy under the same load."""
    with set_up(SAMPLES, exact=False, proxy=True) as found:
        ours, bare = (run(found, name, CLIENTS, SECONDS, PACE) for name in ("server", "proxy"))
    for one in (ours, bare):
        assert one.statuses == {200: len(one.latencies)}, one.statuses
    name = f"{CLIENTS} clients, {SECONDS} s, {SAMPLES} samples per member"
    for quantile in (0.5, 0.9, 0.99):
        own, theirs = ours.latency(quantile), bare.latency(quantile)
        yield Row(f"p{100 * quantile:g} latency: {name}", own, theirs, "a bare proxy", 1 / MOST_LATENCY)
    yield Row(f"processor time: {name}", ours.processor, bare.processor, "a bare proxy", 1 / MOST_PROCESSOR)
    memory = f"memory at the end: {name}, {len(ours.latencies)} answers"
    yield Row(memory, ours.memory[-1], ours.memory[0], "a quarter into the run", 0.9, "MB")


def processor_ratios(clients: int = 20, seconds: float = 4, rounds: int = 5) -> Iterator[Row]:
    """The server's processor time for each answer beside that of the bare proxy, in turns."""
    for samples in (1, 6):
        with set_up(samples, exact=False, proxy=True) as found:
            for loop, pace in (("open", 0.25), ("closed", 0.0)):
                pairs = []
                for _ in range(rounds):
                    ours, bare = (run(found, name, clients, seconds, pace) for name in ("server", "proxy"))
                    pairs.append((ours.processor, bare.processor))
                name = f"processor time, {samples} sample{'s' * (samples > 1)} per member, {loop} loop"
                ours_each, bare_each = (median(side) for side in zip(*pairs, strict=True))
                note = "ratios " + ", ".join(f"{own / theirs:.2f}" for own, theirs in pairs)
                yield Row(name, ours_each, bare_each, "a bare proxy", 1 / MOST_PROCESSOR, note=note)


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
    live: Sequence[float]
    """Seconds that each probe of `/health/live` took."""

    def latency(self, quantile: float) -> float:
        """Quantile of the latency, in seconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(quantile * len(ordered)))]


@dataclass(frozen=True)
class Running:
    """A whole set-up: ports of what can be asked, and the processes."""

    ports: dict[str, int]
    processes: dict[str, subprocess.Popen[bytes]]
    policy: Path


@contextmanager
def set_up(
    samples: int = 1,
    *,
    exact: bool = True,
    proxy: bool = False,
    faults: float = 0.0,
    length: int = 0,
    serving: Sequence[str] = (),
) -> Iterator[Running]:
    """Two upstreams, a server between them and the clients, and perhaps the bare proxy beside it.

    Without `exact` the server makes all calls, as the proxy does; a share `faults` of the upstreams' calls goes wrong;
    replies have `length` characters; `serving` holds more options of the command.
    """
    names = ["first", "second", "server", *(["proxy"] if proxy else [])]
    ports = {name: free_port() for name in names}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        policy = folder / "load.json"
        write_policy(policy, ports["first"], ports["second"], samples, exact)
        numbers = [str(number) for number in (*(ports[name] for name in ("first", "second")), samples)]
        commands = {
            **{
                name: ["benchmarks.loopback.upstream", *map(str, (ports[name], DELAY, faults, length))]
                for name in ("first", "second")
            },
            "server": ["swaplaw", "serve", str(policy), "--port", str(ports["server"]), *serving],
            "proxy": ["benchmarks.loopback.proxy", str(ports.get("proxy")), *numbers],
        }
        processes = {name: stack.enter_context(process("-m", *commands[name])) for name in names}
        for port in ports.values():
            wait_for(port)
        yield Running(ports, processes, policy)


def load(
    clients: int, seconds: float, pace: float, *, kill_at: float | None = None, samples: int = 1, faults: float = 0.0
) -> Load:
    """Put load on a server; at `kill_at` seconds the primary's upstream is killed."""
    with set_up(samples, faults=faults) as found:
        return run(found, "server", clients, seconds, pace, kill_at=kill_at)


def run(
    running: Running, name: str, clients: int, seconds: float, pace: float, *, kill_at: float | None = None
) -> Load:
    """Let many clients ask for a while; they are not what is measured, so they wait on the quicker event loop."""
    victim = running.processes["first"]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        server = running.processes[name].pid
        return runner.run(ask_for(clients, seconds, pace, running.ports[name], server, victim, kill_at))


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
    live: list[float] = []
    statuses: Counter[int] = Counter()
    degraded, explained = 0, True
    phases = random.Random(0)
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=4)
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

        async def probe() -> None:
            while time.perf_counter() < start + seconds:
                asked = time.perf_counter()
                async with session.get(f"http://127.0.0.1:{port}/health/live") as response:
                    await response.read()
                live.append(time.perf_counter() - asked)
                await asyncio.sleep(0.05)

        async def kill() -> None:
            if kill_at is not None:
                await asyncio.sleep(kill_at)
                victim.kill()

        asking = [client(phases.uniform(0, pace)) for _ in range(clients)]
        watching = asyncio.create_task(watch())
        await asyncio.gather(kill(), probe(), *asking)
        memory = await watching
        each = (processor(server) - before) / len(latencies)
    return Load(latencies, dict(statuses), degraded, memory, each, explained, live)


def write_policy(path: Path, first: int, second: int, samples: int, exact: bool) -> None:
    from swaplaw.decide.policy import Member, Policy

    options = {"concurrency": 5000, "retries": 1, "timeout": 10.0, "cooldown": 1.0}
    upstreams = {
        name: {"base_url": f"http://127.0.0.1:{port}/v1", **options}
        for name, port in (("first", first), ("second", second))
    }
    members = (Member("first", Fraction(1), samples), Member("second", Fraction(2, 3), samples))
    stop = {"rounds": 2} if exact else {"exact": False}
    Policy(members, "load", {}, {}, {"upstreams": upstreams, "seed": 0, "stop": stop}).write(path)


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that is gone when the block is left."""
    quiet = subprocess.DEVNULL
    running = subprocess.Popen(
        [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, cwd=ROOT
    )
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
    """Processor seconds that a process and its children have used so far: long replies are read by some of these."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(map(processor, map(int, children)))


def resident(pid: int) -> float:
    """Resident memory in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    parts = {"clients": many_clients, "processor": processor_ratios, "lengths": reply_lengths}
    for row in chain.from_iterable(parts[name]() for name in sys.argv[1:] or parts):
        beside = f"{row.ours:.4g} {row.unit} beside {row.theirs:.4g} of {row.against}"
        print(f"{row.name}: {beside}, {row.ours / row.theirs:.2f} times; {row.note}", flush=True)
