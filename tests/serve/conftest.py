"""Running servers for the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from swaplaw.serve.app import create_app
from swaplaw.serve.demo import running
from swaplaw.serve.settings import Served

from support.upstreams import Start, World


@pytest.fixture(scope="module")
def upstream() -> Iterator[tuple[World, str]]:
    """A world of upstreams, and its address."""
    world = World()
    with running(world.app) as base_url:
        yield world, base_url


@pytest.fixture
def world(upstream: tuple[World, str]) -> World:
    """The world, with its books cleared."""
    found, _ = upstream
    found.calls.clear()
    found.bodies.clear()
    found.headers.clear()
    found.broken.clear()
    found.cancelled = 0
    return found


@pytest.fixture
def base_url(upstream: tuple[World, str], world: World) -> str:
    return upstream[1]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Serve policies and get a client for them; what fails is tried as often as ever, after shorter pauses."""
    monkeypatch.setattr("swaplaw.serve.upstream.FIRST_PAUSE", 0.02)
    with ExitStack() as stack:

        def run(*served: Served, **options: Any) -> httpx.Client:
            url = stack.enter_context(running(create_app(served, **options)))
            return stack.enter_context(httpx.Client(base_url=url, timeout=30, trust_env=False))

        yield run
