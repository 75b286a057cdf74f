"""Faults that kept serving out of production, one test each: what a client saw, and what it sees now."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.responses import Response

from serve.test_app import vote
from serve.test_command import server
from swaplaw.answers import Reader
from swaplaw.decide.policy import Member, Policy, Voting
from swaplaw.errors import InputError
from swaplaw.serve.app import create_app
from swaplaw.serve.demo import running
from swaplaw.serve.gate import MOST_HEAD
from swaplaw.serve.reading import Reading
from swaplaw.serve.settings import served_from

from support.upstreams import Start, World, ask, serve


@pytest.mark.parametrize("pattern", [None, r"(?:a|aa)+$"])
def test_no_reply_freezes_the_server(base_url: str, world: World, start: Start, pattern: str | None) -> None:
    """`The answer` and 700 newlines took 19 s of the event loop; policy patterns had no bound at all."""
    answer = {"choices": "ABCDE"} if pattern is None else {"read": "regex", "pattern": pattern}
    client = start(serve(base_url, ("texts-freeze", "1", 1), answer=answer))
    text = "The answer" + "\n" * 20_000 if pattern is None else "a" * 20_000 + "!"
    world.texts["freeze"] = text
    found = vote(client)["swaplaw"]
    assert found["members"][0]["abstentions"] == {"no_parse": 1}


def test_a_long_reply_is_read_beside_the_event_loop(
    base_url: str, world: World, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A megabyte of loose letters took half a second, in which nobody else was answered."""
    read_here: list[int] = []

    def read(self: Reader, text: str, plain: Callable[..., Any] = Reader.read) -> Any:
        read_here.append(len(text))
        return plain(self, text)

    monkeypatch.setattr(Reader, "read", read)
    world.texts["long"] = "A or B? " * 3_000 + "The answer is (C)."
    found = vote(start(serve(base_url, ("texts-long", "1", 2), ("says-A", "1/2", 2), stop={"exact": False})))
    assert found["swaplaw"]["winner"] == "C"
    assert read_here == [len("The answer is (A).")]  # And is remembered.


def test_reading_goes_on_where_a_process_that_reads_is_killed() -> None:
    reader, texts = Reader(), ["I looked at all of them at length. " * 20 + f"The answer is ({x})." for x in "ABCD"]

    async def run() -> list[list[str | None]]:
        reading = Reading(processes=1)
        reading.start()
        found = [await reading.read(reader, texts)]
        for child in active_children():
            child.kill()
        found += [await reading.read(reader, texts) for _ in range(3)]
        reading.close()
        return found

    assert asyncio.run(run()) == [["A", "B", "C", "D"]] * 4


def test_half_a_character_is_no_question_mark(base_url: str, world: World, start: Start) -> None:
    """It became one, and `The answer is (A). ?` is no answer."""
    body = b'{"choices": [{"message": {"content": "The answer is (A). \\ud83d"}, "finish_reason": "stop"}]}'
    world.replies["half"] = Response(body, media_type="application/json")
    found = vote(start(serve(base_url, ("replies-half", "1", 1))))
    assert found["swaplaw"]["winner"] == "A"
    assert found["choices"][0]["message"]["content"] == "The answer is (A). \ufffd"


def test_a_number_beyond_all_floats_is_refused(base_url: str, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 1)))
    for more in ('"response_format": {"x": 1e999}', '"tools": [{"x": -1e999}]', '"top_p": 1e999'):
        body = json.dumps(ask())[:-1] + f", {more}}}"
        response = client.post("/chat/completions", content=body, headers={"content-type": "application/json"})
        assert response.status_code == 400
        assert response.json()["error"]["type"] == "invalid_request_error"


def test_patterns_without_a_bound_are_refused(base_url: str) -> None:
    with pytest.raises(InputError, match="linear"):
        serve(base_url, ("says-A", "1", 1), answer={"read": "regex", "pattern": r"(a+)+\1"})


def test_a_truncated_reply_abstains_as_it_does_when_collected(base_url: str, world: World, start: Start) -> None:
    world.texts["cut"] = "The answer is (A). But let me think again:"
    found = vote(start(serve(base_url, ("lengthy-cut", "1", 2))))["swaplaw"]
    assert (found["winner"], found["members"][0]["abstentions"]) == (None, {"truncated": 2})
    found = vote(start(serve(base_url, ("lengthy-cut", "1", 2), truncated="read")))["swaplaw"]
    assert found["winner"] == "A"


SIGNED = Voting(
    reader=Reader("choice", labels="AB").to_dict(),
    temperature=0.7,
    prompt="Reply with a letter.\n{question}",
    truncated="abstain",
)


def signed(base_url: str, **serving: Any) -> Any:
    everything = {"upstreams": {"says-A": {"base_url": base_url}}, **serving}
    return served_from(Policy((Member("says-A", Fraction(1), 1),), "test", {}, {}, everything, SIGNED), "pool")


def test_votes_come_about_as_signed(base_url: str, world: World, start: Start) -> None:
    vote(start(signed(base_url)), temperature=0.1)
    (body,) = world.bodies
    assert body["temperature"] == 0.7
    assert body["messages"][-1]["content"] == "Reply with a letter.\nWhich?"
    assert signed(base_url).unknown == []
    with pytest.raises(InputError, match=r"serving.temperature is 1.0, but the policy was judged on votes with 0.7"):
        signed(base_url, temperature=1.0)
    with pytest.raises(InputError, match=r"serving.answer is .* but the policy was judged on"):
        signed(base_url, answer={"read": "text"})


def test_rate_limits_do_not_trip_the_breaker(base_url: str, world: World, start: Start) -> None:
    """A healthy primary that allows 7 calls per second was dropped from 6 of 6 questions."""
    client = start(serve(base_url, ("burst-7", "1", 6), ("says-B", "1/3", 1), stop={"exact": False}))
    replies: list[httpx.Response] = []
    asking = [
        threading.Thread(target=lambda: replies.append(client.post("/chat/completions", json=ask()))) for _ in range(6)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert [reply.status_code for reply in replies] == [200] * 6
    assert [reply.json()["swaplaw"]["degraded"] for reply in replies] == [None] * 6
    health = client.get(str(client.base_url).replace("/v1/", "/health")).json()
    assert health["status"] == "ok"
    assert world.limited > 0


def test_limits_of_an_upstream_are_shared_by_policies(base_url: str, world: World, start: Start) -> None:
    one = serve(base_url, ("counts-1", "1", 4), name="one", upstream={"concurrency": 2}, stop={"exact": False})
    two = serve(base_url, ("counts-1", "1", 4), name="two", upstream={"concurrency": 9}, stop={"exact": False})
    client = start(one, two)
    asking = [threading.Thread(target=lambda name=name: vote(client, model=name)) for name in ("one", "two")]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert world.most_at_once == 2


def test_a_pause_beyond_the_questions_time_is_not_waited_for(base_url: str, start: Start) -> None:
    members = [("later-3600", "1", 3), ("says-B", "1/3", 1)]
    found = vote(start(serve(base_url, *members, timeout=20.0)))["swaplaw"]
    assert (found["winner"], found["degraded"]["down"]) == ("B", {"later-3600": "status 429"})


def test_bookkeeping_never_costs_an_answer(
    base_url: str, start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from swaplaw.serve.metrics import Metrics

    def fail(*arguments: Any) -> None:
        raise ValueError("Counters can only be incremented by non-negative amounts.")

    client = start(serve(base_url, ("says-A", "1", 1)))
    monkeypatch.setattr(Metrics, "count_decision", fail)
    assert vote(client)["swaplaw"]["winner"] == "A"
    assert "could not be booked" in caplog.text


def test_whatever_fails_is_said_in_openais_form(
    base_url: str, start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from swaplaw.serve.app import Endpoint

    async def fail(*arguments: Any) -> None:
        raise RuntimeError("secret")

    client = start(serve(base_url, ("says-A", "1", 1)))
    monkeypatch.setattr(Endpoint, "_served", fail)
    response = client.post("/chat/completions", json=ask())
    assert (response.status_code, response.json()["error"]["code"]) == (500, "internal_error")
    assert "secret" not in response.text
    assert "RuntimeError: secret" in caplog.text


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_all_members_refuse_is_passed_on(base_url: str, start: Start, status: int) -> None:
    """It was a 503, which clients retry: they bought everything again."""
    members = [(f"status-{status}", "1", 2), (f"status-{status}b", "1", 1)]
    response = start(serve(base_url, *members)).post("/chat/completions", json=ask())
    assert response.status_code == status
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert "sk-secret" not in response.text
    mixed = start(serve(base_url, (f"status-{status}", "1", 1), ("status-500", "1", 1)))
    assert mixed.post("/chat/completions", json=ask()).status_code == 503


def test_the_token_cap_holds_in_both_fields(base_url: str, world: World, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 1), max_tokens=50))
    vote(client, max_tokens=10_000, max_completion_tokens=10_000)
    vote(client, max_completion_tokens=20)
    vote(client)
    caps = [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in world.bodies]
    assert caps == [(50, 50), (None, 20), (50, None)]


def test_headers_are_bounded_before_anything_is_read(base_url: str) -> None:
    with running(create_app([serve(base_url, ("says-A", "1", 1))], keys=["sk-x"])) as url:
        port = int(url.rsplit(":", 1)[1].split("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(b"GET /v1/models HTTP/1.1\r\nhost: x\r\n")
            sent = 0
            try:
                while sent < 40 * MOST_HEAD:
                    sent += connection.send(b"x-filler: " + b"a" * 1000 + b"\r\n")
                    time.sleep(0.0005)
            except OSError:
                pass  # The server has hung up.
            assert sent < 40 * MOST_HEAD
        assert httpx.get(f"{url}/models", headers={"x-filler": "a" * 2 * MOST_HEAD}).status_code == 431
        assert httpx.get(f"{url}/models", headers={"authorization": "Bearer sk-x"}).status_code == 200


def test_a_refusal_and_content_in_parts_are_understood(base_url: str, start: Start) -> None:
    found = vote(start(serve(base_url, ("refuses", "1", 2))))["swaplaw"]
    assert found["members"][0]["abstentions"] == {"refused": 2}
    assert vote(start(serve(base_url, ("parts-C", "1", 2))))["swaplaw"]["winner"] == "C"


def test_a_hangup_reloads_and_drops_nothing(base_url: str, tmp_path: Path) -> None:
    from serve.test_command import write

    policy = tmp_path / "slow.json"
    write(policy, base_url, "slow-3")
    replies: list[httpx.Response] = []
    with server(str(policy)) as (process, port):
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        asking = threading.Thread(target=lambda: replies.append(httpx.post(url, json=ask(model="slow"), timeout=30)))
        asking.start()
        time.sleep(1)
        write(policy, base_url, "says-B")
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        after = httpx.post(url, json=ask(model="slow"), timeout=30)
        asking.join()
        policy.write_text("{")
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        still = httpx.post(url, json=ask(model="slow"), timeout=30)
    assert replies[0].json()["swaplaw"]["winner"] == "A"
    assert after.json()["swaplaw"]["winner"] == still.json()["swaplaw"]["winner"] == "B"


def test_a_throttle_halves_once_a_burst_and_recovers() -> None:
    from swaplaw.serve.upstream import Throttle

    now = [0.0]
    throttle = Throttle(16, clock=lambda: now[0])
    for _ in range(5):
        throttle.limited(1.0, started=0.0)
    assert (throttle.limit, throttle.paused) == (8, 1.0)
    now[0] = 2.0
    throttle.limited(0.5, started=1.5)
    assert throttle.limit == 4
    for _ in range(200):
        throttle.succeeded()
    assert throttle.limit == 16


def test_a_slot_of_one_that_leaves_is_passed_on() -> None:
    from swaplaw.serve.upstream import Throttle

    async def run() -> list[str]:
        throttle, done = Throttle(1), []

        async def work(name: str) -> None:
            await throttle.enter(float("inf"))
            done.append(name)
            await asyncio.sleep(0.01)
            throttle.leave()

        first, second, third = (asyncio.create_task(work(name)) for name in "abc")
        await asyncio.sleep(0.001)
        second.cancel()
        await asyncio.gather(first, second, third, return_exceptions=True)
        return done

    assert asyncio.run(run()) == ["a", "c"]


def test_endless_informational_answers_end_the_connection(base_url: str, start: Start) -> None:
    """They were read on and on, for seconds in which nobody else was answered."""
    told = []

    def flood(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            try:
                for _ in range(1_000):
                    connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000)
                told.append("all of it was read")
            except OSError:
                told.append("cut off")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        flooding = threading.Thread(target=flood, args=[listener])
        flooding.start()
        hostile = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        serving = {"floods": {"base_url": hostile, "retries": 0}, "says-A": {"base_url": base_url}}
        members = (Member("says-A", Fraction(1), 1), Member("floods", Fraction(1, 2), 1))
        policy = Policy(members, "test", {}, {}, {"upstreams": serving, "stop": {"exact": False}})
        found = vote(start(served_from(policy, "pool")))["swaplaw"]
        flooding.join(timeout=30)
    assert (found["winner"], list(found["degraded"]["down"]), told) == ("A", ["floods"], ["cut off"])


def test_one_authorization_header_and_none_behind_the_body(base_url: str) -> None:
    with running(create_app([serve(base_url, ("says-A", "1", 1))], keys=["sk-x"])) as url:
        place = httpx.URL(url)

        def status(head: str, body: str) -> int:
            with socket.create_connection((place.host, place.port or 80), timeout=10) as connection:
                connection.sendall(
                    f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
                    f"connection: close\r\n{head}\r\n{body}".encode()
                )
                return int(connection.makefile().readline().split()[1])

        body = json.dumps(ask())
        length = f"content-length: {len(body)}\r\n"
        right, wrong = ("authorization: Bearer sk-x\r\n", "authorization: Bearer sk-y\r\n")
        assert status(length + right, body) == 200
        assert status(length + right + right, body) == 400
        assert status(length + wrong + right, body) == 400
        chunked = f"{len(body):x}\r\n{body}\r\n0\r\n{right}\r\n"
        assert status("transfer-encoding: chunked\r\n", chunked) == 401


def test_a_policy_with_a_key_is_held_to_it(base_url: str, tmp_path: Path) -> None:
    """A fingerprint is no protection: whoever changes a policy makes a new one."""
    from swaplaw.decide.policy import policy_key, read_policy

    secret, other, short = (tmp_path / name for name in ("secret", "other", "short"))
    for file, content in ((secret, "k" * 32 + "\n"), (other, "x" * 32), (short, "guess")):
        file.write_text(content)
    file, policy = tmp_path / "policy.json", signed(base_url).policy
    policy.write(file, policy_key(secret))
    assert read_policy(file, policy_key(secret)) == policy
    for key in (None, policy_key(other)):
        with pytest.raises(InputError, match=r"written with a secret key|changed after it was written"):
            read_policy(file, key)
    file.write_text(file.read_text().replace('"samples": 1', '"samples": 2'))
    with pytest.raises(InputError, match="changed after it was written"):
        read_policy(file, policy_key(secret))
    policy.write(file)
    with pytest.raises(InputError, match="fingerprint, which anybody can make"):
        read_policy(file, policy_key(secret))
    with pytest.raises(InputError, match="can be guessed"):
        policy_key(short)
