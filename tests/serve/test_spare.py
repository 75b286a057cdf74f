"""What stands in for upstreams that fail or dawdle, what is given again, and decisions that could not be recorded."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from serve.test_app import vote
from swaplaw.errors import InputError
from swaplaw.serve.ledger import Key, Keyring
from swaplaw.serve.record import Recorder

from support.upstreams import Start, World, ask, serve


@pytest.mark.parametrize("model", ["status-500", "status-429", "broken-json"])
def test_where_an_upstream_fails_another_answers(base_url: str, world: World, start: Start, model: str) -> None:
    spare = {"retries": 0, "patience": 0.1, "fallback": {"base_url": base_url, "model": "says-B"}}
    found = vote(start(serve(base_url, (model, "1", 2), upstream=spare, stop={"exact": False})))["swaplaw"]
    assert (found["winner"], found["degraded"], found["members"][0]["votes"]) == ("B", None, 2)
    assert world.calls["says-B"] == 2


def test_a_request_that_is_at_fault_is_not_asked_again(base_url: str, world: World, start: Start) -> None:
    spare = {"fallback": {"base_url": base_url, "model": "says-B"}}
    response = start(serve(base_url, ("status-400", "1", 1), upstream=spare)).post("/chat/completions", json=ask())
    assert (response.status_code, world.calls["says-B"]) == (400, 0)
    with pytest.raises(InputError, match="no fallback, hedge or price of its own"):
        serve(base_url, ("m", "1", 1), upstream={"fallback": {"base_url": base_url, "price": 1.0}})


def test_what_takes_long_is_asked_for_once_more_and_paid(base_url: str, world: World, start: Start) -> None:
    ring = Keyring([Key("team", sha256(b"sk-team").digest(), budget=1.5)])
    hedged = {"hedge": 0.3, "timeout": 30.0, "fallback": {"base_url": base_url, "model": "says-B"}}
    client = start(serve(base_url, ("slow-9", "1", 1), upstream=hedged, price=0.6), keys=ring)
    headers = {"authorization": "Bearer sk-team"}
    found = client.post("/chat/completions", json=ask(), headers=headers).json()["swaplaw"]
    assert (found["winner"], found["degraded"]) == ("B", None)
    assert world.calls == {"slow-9": 1, "says-B": 1}
    assert ring.ledger.spent("team") == pytest.approx(1.2)


def test_what_was_decided_is_given_again_to_the_very_same_question(base_url: str, world: World, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 1), price=1.0, cache=60.0))
    asked: list[dict[str, Any]] = [{}, {}, {"text": "Else?"}, {"seed": 3}, {"stream": True}]
    replies = [client.post("/chat/completions", json=ask(**more)) for more in asked]
    assert ["x-swaplaw-cached" in reply.headers for reply in replies] == [False, True, False, False, True]
    assert world.calls["says-A"] == 3
    first, again = (reply.json() for reply in replies[:2])
    assert first["choices"] == again["choices"]
    assert first["id"] != again["id"]
    assert (again["usage"]["total_tokens"], again["swaplaw"]["cached"]) == (0, True)
    metrics = client.get(str(client.base_url).replace("/v1/", "/metrics")).text
    assert 'swaplaw_cached_total{policy="pool"} 2.0' in metrics


def test_lost_decisions_are_as_many_as_the_metric_says(
    base_url: str, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full now and then, and in the middle of lines."""
    recorder, plain, turn = Recorder(tmp_path / "votes.parquet"), os.write, iter(range(10**6))

    def write(handle: int, data: bytes) -> int:
        fault = next(turn) % 4 if data.startswith(b'{"time"') else 0
        if fault == 1:
            raise OSError(28, "No space left on device")
        return plain(handle, data[: len(data) // 2] if fault == 2 else data)

    client = start(serve(base_url, ("says-A", "1", 1)), recorder=recorder)
    monkeypatch.setattr(os, "write", write)
    ids = [vote(client)["id"] for _ in range(20)]
    monkeypatch.undo()
    metrics = client.get(str(client.base_url).replace("/v1/", "/metrics")).text
    recorder.flush()
    kept = pl.read_parquet(tmp_path / "votes.parquet")["question"].to_list()
    assert kept == [one for place, one in enumerate(ids) if place % 4 not in (1, 2)]
    assert "swaplaw_record_failures_total 10.0" in metrics
