"""Serving under load: many clients, upstreams with 50 ms latency, every part in a process of its own.

Open loop: each client asks about once a second and waits for the answer. Closed loop (pace 0): it asks again at once.
What counts is the latency beyond that of the slowest sample needed, errors (there must be none), the server's memory,
and its processor time beside that of a bare proxy, which makes the same calls by the same libraries and votes nothing.

On a quiet machine: `python -m benchmarks.serve`; SWAPLAW_LOAD_CLIENTS, _SECONDS and _PACE set the size. All of it stays
on loopback.
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
MOST_PROCESSOR = 1.5
"""Processor time of the server for each answer, over the bare proxy's."""
PROXY = """
import asyncio, json, sys
import aiohttp, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
port, first, second, samples = map(int, sys.argv[1:])
urls = {"first": f"http://127.0.0.1:{first}/v1/chat/completions", "second": f"http://127.0.0.1:{second}/v1/chat/completions"}
async def chat(request):
    asked = json.loads(await request.body())
    async def one(model, seed):
        body = json.dumps({**asked, "model": model, "seed": seed}).encode()
        async with session().post(urls[model], data=body, headers={"content-type": "application/json"}) as reply:
            return json.loads(await reply.read())
    found = await asyncio.gather(*(one(model, seed) for model in urls for seed in range(samples)))
    return JSONResponse(found[0])
held = []
def session():
    if not held:
        held.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=4)))
    return held[0]
async def health(request):
    return JSONResponse({})
app = Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"]), Route("/health", health)])
uvicorn.run(app, host="127.0.0.1", port=port, log_level="critical", access_log=False)
"""
UPSTREAM = """
import gc, random, sys
from starlette.responses import JSONResponse, Response
from swaplaw.serve.demo import Script, running, scripted_app
answers = {(model, "1"): ["A"] * 8 for model in ("first", "second")}
app, faults = scripted_app(Script(answers), delay=float(sys.argv[2])), float(sys.argv[3])
odd = [lambda: JSONResponse({}, 500), lambda: JSONResponse({}, 429, {"retry-after": "1"}),
       lambda: Response(b"{", media_type="application/json"), lambda: JSONResponse({"choices": []})]
async def faulty(scope, receive, send):
    if scope["type"] == "http" and scope["path"] != "/health" and random.random() < faults:
        await random.choice(odd)()(scope, receive, send)
    else:
        await app(scope, receive, send)
with running(faulty, port=int(sys.argv[1])):
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
    for samples in (1, 6):
        for loop, pace in (("open", PACE), ("closed", 0)):
            yield beside_proxy(samples, loop, pace)


def beside_proxy(samples: int, loop: str, pace: float, clients: int = 20, seconds: float = 10) -> Row:
    """The server's processor time for each answer beside that of the bare proxy, one run after the other."""
    ours = load(clients, seconds, pace, samples=samples, exact=False)
    bare = load(clients, seconds, pace, samples=samples, bare=True)
    name = f"processor time, {samples} samples per member, {loop} loop"
    return Row(name, ours.processor, bare.processor, "a bare proxy", 1 / MOST_PROCESSOR)


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


def load(
    clients: int,
    seconds: float,
    pace: float,
    *,
    kill_at: float | None = None,
    samples: int = 1,
    exact: bool = True,
    bare: bool = False,
    faults: float = 0.0,
) -> Load:
    """Run the whole set-up.

    At `kill_at` seconds the primary's upstream is killed; a share `faults` of the upstreams' calls goes wrong; `bare`
    puts the proxy that votes nothing in the server's place, which makes all calls, as the server does without `exact`.
    """
    with ExitStack() as stack:
        ports = [free_port() for _ in range(3)]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        arguments = [str(DELAY), str(faults)]
        upstreams = [stack.enter_context(process("-c", UPSTREAM, str(port), *arguments)) for port in ports[:2]]
        if bare:
            numbers = [str(number) for number in (ports[2], ports[0], ports[1], samples)]
            server = stack.enter_context(process("-c", PROXY, *numbers))
        else:
            policy = folder / "load.json"
            write_policy(policy, ports[0], ports[1], samples, exact)
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


def write_policy(path: Path, first: int, second: int, samples: int, exact: bool) -> None:
    from swaplaw.decide.policy import Member, Policy

    options = {"concurrency": 500, "retries": 1, "timeout": 10.0, "cooldown": 1.0}
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
    for row in measure():
        print(json.dumps({"name": row.name, "ours": row.ours, "beside": row.theirs, "of": row.against}))
