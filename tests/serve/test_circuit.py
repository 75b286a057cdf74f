"""A circuit that opened closes again: the call that tries is heard, whatever becomes of the question behind it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from math import inf

import httpx
import pytest

from swaplaw.serve.upstream import Throttle

from support.upstreams import Start, World, ask, serve

IMPATIENT = {"breaker": 2, "retries": 0, "cooldown": 0.2}
SLOW = "counts-A"
"""Takes long enough to answer that calls beside it have failed by then."""


def closed(client: httpx.Client, member: str = SLOW) -> bool:
    health = client.get(str(client.base_url).replace("/v1/", "/health")).json()
    return bool(health["policies"]["pool"][member] == "closed")


def within(seconds: float, found: Callable[[], bool]) -> bool:
    until = time.monotonic() + seconds
    while not found():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def recovered(base_url: str, world: World, start: Start) -> httpx.Client:
    """A server whose first member failed until its circuit opened, and is well again."""
    client = start(serve(base_url, (SLOW, "1", 3), ("says-B", "2/3", 3), upstream=IMPATIENT, quorum="1"))
    world.broken.add(SLOW)
    for _ in range(2):  # The first failure takes the member out of a vote, which calls its other samples off.
        client.post("/chat/completions", json=ask())
    assert not closed(client)
    world.broken.clear()
    return client


def test_the_refusals_beside_a_trial_do_not_call_it_off(recovered: httpx.Client) -> None:
    """Two of three samples are refused while the third tries: the member is out of this vote, and back in the next."""
    time.sleep(0.3)
    assert recovered.post("/chat/completions", json=ask()).json()["swaplaw"]["degraded"]["down"] == {
        SLOW: "circuit open"
    }
    assert within(10, lambda: closed(recovered))
    assert recovered.post("/chat/completions", json=ask()).json()["swaplaw"]["degraded"] is None


def test_a_client_that_leaves_does_not_call_a_trial_off(base_url: str, world: World, start: Start) -> None:
    client = start(serve(base_url, (SLOW, "1", 1), upstream=IMPATIENT))
    world.broken.add(SLOW)
    for _ in range(2):
        client.post("/chat/completions", json=ask())
    world.broken.clear()
    time.sleep(0.3)
    with pytest.raises(httpx.ReadTimeout):
        client.post("/chat/completions", json=ask(), timeout=httpx.Timeout(10, read=0.01))
    assert within(10, lambda: closed(client))


def test_a_trial_that_fails_unheard_leaves_the_circuit_open(
    recovered: httpx.Client, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.broken.add(SLOW)
    asked = world.calls[SLOW]
    time.sleep(0.3)
    recovered.post("/chat/completions", json=ask())
    assert within(10, lambda: world.calls[SLOW] == asked + 1)
    assert not closed(recovered)
    assert not [record for record in caplog.records if record.name == "asyncio"]


def test_a_call_that_outlives_its_caller_keeps_its_turn() -> None:
    async def take_turns() -> list[str]:
        throttle, told = Throttle(1), []

        async def wait_for_a_turn() -> None:
            await throttle.enter(inf)
            told.append("entered")

        await throttle.enter(inf)
        throttle.keep()
        waiting = asyncio.create_task(wait_for_a_turn())
        for who in ("caller", "call"):
            throttle.leave()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            told.append(f"the {who} has left")
        await waiting
        return told

    assert asyncio.run(take_turns()) == ["the caller has left", "entered", "the call has left"]
