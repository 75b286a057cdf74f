"""Many clients at once, in processes of their own; an upstream that is killed in the middle."""

from __future__ import annotations

import pytest
from benchmarks.serve import load


def test_an_upstream_killed_in_the_middle_is_explained() -> None:
    found = load(clients=20, seconds=5, pace=0.5, kill_at=2.5)
    assert set(found.statuses) == {200}
    assert found.explained
    assert 0 < found.degraded < len(found.latencies)


@pytest.mark.slow
def test_200_clients_for_a_minute() -> None:
    """Wants a quiet machine: server, upstreams and clients share its cores."""
    found = load(clients=200, seconds=60, pace=1)
    assert found.statuses == {200: len(found.latencies)}
    assert len(found.latencies) > 200 * 50
    assert found.memory[-1] < 1.1 * found.memory[0]
