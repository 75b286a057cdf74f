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
def test_200_clients_for_a_minute_at_six_samples_per_member() -> None:
    """Server, upstreams and clients share the machine: it may be slow, but nothing fails and memory stays."""
    found = load(clients=200, seconds=60, pace=1, samples=6)
    assert found.statuses == {200: len(found.latencies)}
    assert found.degraded == 0
    assert found.memory[-1] < 1.1 * found.memory[0]
