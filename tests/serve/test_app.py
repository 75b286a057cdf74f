"""The endpoint as clients see it: real HTTP to the server, real HTTP from it to its upstreams."""

from __future__ import annotations

import gc
import json
import logging
import threading
import time
from typing import Any

import httpx
import openai
import pytest

from swaplaw.errors import InputError
from swaplaw.serve.app import create_app
from swaplaw.serve.gate import Bounds

from support.upstreams import Start, World, ask, serve

KEY = "sk-our-own-key"


def vote(client: httpx.Client, **more: Any) -> dict[str, Any]:
    response = client.post("/chat/completions", json=ask(**more))
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def test_the_official_client_unmodified(base_url: str, start: Start) -> None:
    url = str(start(serve(base_url, ("says-A", "1", 4), ("says-B", "2/3", 4))).base_url)
    with openai.OpenAI(base_url=url, api_key="unused", max_retries=0) as client:
        assert [model.id for model in client.models.list()] == ["pool"]
        question: list[Any] = [{"role": "user", "content": "Which?"}]
        answer = client.chat.completions.create(model="pool", messages=question)
        assert answer.choices[0].message.content == "The answer is (A)."
        assert answer.usage is not None
        assert answer.usage.total_tokens > 0
        assert answer.model_extra is not None
        assert answer.model_extra["swaplaw"]["winner"] == "A"
        chunks = list(
            client.chat.completions.create(
                model="pool", messages=question, stream=True, stream_options={"include_usage": True}
            )
        )
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert text == "The answer is (A)."
        assert chunks[-1].usage is not None
        ended = next(chunk for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason)
        assert ended.model_extra is not None
        assert ended.model_extra["swaplaw"]["winner"] == "A"
        with pytest.raises(openai.NotFoundError, match="there is no model 'other'; there are 'pool'"):
            client.chat.completions.create(model="other", messages=question)
        assert client.models.retrieve("pool").id == "pool"


def test_the_vote_is_reported(base_url: str, start: Start) -> None:
    served = serve(base_url, ("says-A", "1", 3), ("mumbles", "2/3", 3), price=0.5, stop={"exact": False})
    found = vote(start(served))["swaplaw"]
    assert found["winner"] == found["answer"] == "A"
    assert (found["margin"], found["remaining"], found["ties"]) == ("1/3", "0", [])
    assert found["members"][0]["shares"] == [{"answer": "A", "votes": 3, "share": "1"}]
    assert found["members"][1]["shares"] == [{"answer": None, "votes": 3, "share": "1"}]
    assert found["members"][1]["abstentions"] == {"no_parse": 3}
    assert found["abstentions"] == 3
    assert found["samples"] == {"planned": 6, "spent": 6, "saved": 0}
    assert found["cost"] == 3.0
    assert (found["stopped"], found["degraded"], found["ignored"]) == ("all", None, [])


def test_early_stopping_leaves_the_secondary_alone(base_url: str, world: World, start: Start) -> None:
    found = vote(start(serve(base_url, ("says-A", "1", 6), ("says-B", "1/3", 6))))["swaplaw"]
    assert found["samples"] == {"planned": 12, "spent": 5, "saved": 7}
    assert world.calls == {"says-A": 5}
    assert (found["margin"], found["remaining"], found["stopped"]) == ("5/6", "1/2", "exact")


def test_a_tie_is_reported_and_goes_to_the_primary(base_url: str, start: Start) -> None:
    found = vote(start(serve(base_url, ("says-B", "1", 2), ("says-A", "1", 2))))
    assert found["choices"][0]["message"]["content"] == "The answer is (B)."
    assert found["swaplaw"]["ties"] == ["A"]
    assert found["swaplaw"]["margin"] == "0"


def test_samples_are_asked_for_as_the_policy_says(base_url: str, world: World, start: Start) -> None:
    settings: dict[str, Any] = {"temperature": 0.8, "max_tokens": 50, "seed": 7, "stop": {"exact": False}}
    served = serve(base_url, ("says-A", "1", 5), upstream={"batch": 2, "extra": {"grammar": "g"}}, **settings)
    found = vote(start(served), temperature=2.0, max_tokens=900, top_p=0.5, base_url="http://elsewhere", user="me")
    assert sorted((body["seed"], body.get("n", 1)) for body in world.bodies) == [(7, 2), (9, 2), (11, 1)]
    for body in world.bodies:
        assert (body["temperature"], body["max_tokens"], body["top_p"], body["grammar"]) == (0.8, 50, 0.5, "g")
        assert not {"base_url", "user", "stream"} & set(body)
    assert found["swaplaw"]["ignored"] == ["base_url", "temperature", "user"]


def test_an_upstream_that_ignores_n_is_asked_again(base_url: str, world: World, start: Start) -> None:
    served = serve(base_url, ("ignores-A", "1", 3), upstream={"batch": 3}, seed=0, stop={"exact": False})
    found = vote(start(served))["swaplaw"]
    assert found["members"][0]["votes"] == found["samples"]["spent"] == 3
    seeds = [body["seed"] for body in world.bodies]
    assert len(set(seeds)) == len(seeds) == 3


@pytest.mark.parametrize(("model", "reason"), [("mumbles", "no_parse"), ("cut", "truncated"), ("filtered", "refused")])
def test_a_null_win_abstains(base_url: str, start: Start, model: str, reason: str) -> None:
    found = vote(start(serve(base_url, (model, "1", 2), ("says-A", "1/2", 2), abstention="No idea.")))
    assert found["choices"][0]["message"]["content"] == "No idea."
    assert found["swaplaw"]["winner"] is None
    assert found["swaplaw"]["decision"] == "abstain"
    assert found["swaplaw"]["members"][0]["abstentions"] == {reason: 2}


def test_a_null_win_falls_back_to_the_primary(base_url: str, start: Start) -> None:
    served = serve(base_url, ("says-A", "1", 4), ("mumbles", "3", 4), null_win="primary")
    found = vote(start(served))
    assert found["choices"][0]["message"]["content"] == "The answer is (A)."
    assert (found["swaplaw"]["winner"], found["swaplaw"]["decision"]) == (None, "primary")
    assert found["swaplaw"]["answer"] == "A"


def test_a_null_win_is_an_error(base_url: str, start: Start) -> None:
    response = start(serve(base_url, ("mumbles", "1", 1), null_win="error")).post("/chat/completions", json=ask())
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "no_answer"


@pytest.mark.parametrize(
    "model",
    [
        "status-500", "status-429", "status-401", "status-400", "slow-9", "truncated", "giant", "packed", "moved",
        "broken-json", "broken-html", "broken-list", "broken-empty", "broken-choice", "broken-content", "broken-deep",
        "broken-latin",
    ],
)  # fmt: skip
def test_a_member_that_fails_is_left_out_visibly(base_url: str, start: Start, model: str) -> None:
    faulty = {"timeout": 2.0, "retries": 0 if model == "slow-9" else 1}
    client = start(serve(base_url, (model, "1", 2), ("says-B", "1/3", 2), upstream=faulty, max_answer_bytes=10_000))
    response = client.post("/chat/completions", json=ask())
    assert response.status_code == 200, response.text
    assert response.headers["x-swaplaw-degraded"] == "1"
    found = response.json()["swaplaw"]
    assert found["winner"] == "B"
    assert list(found["degraded"]["down"]) == [model]
    assert not found["members"][0]["counted"]
    assert "sk-secret" not in response.text


def test_what_passes_is_tried_again(base_url: str, world: World, start: Start) -> None:
    for model in ("once-429", "once-500"):
        found = vote(start(serve(base_url, (model, "1", 1))))["swaplaw"]
        assert (found["winner"], found["degraded"], world.calls[model]) == ("B", None, 2)


def test_a_lost_sample_leaves_the_share_of_the_others(base_url: str, start: Start) -> None:
    served = serve(base_url, ("once-500", "1", 4), upstream={"retries": 0}, stop={"exact": False})
    found = vote(start(served))["swaplaw"]
    assert (found["winner"], found["degraded"]) == ("B", None)
    assert (found["members"][0]["lost"], found["members"][0]["votes"]) == (1, 3)
    assert found["members"][0]["shares"] == [{"answer": "B", "votes": 3, "share": "1"}]


def test_degrading_to_the_primary_and_to_nothing(base_url: str, start: Start) -> None:
    members = [("says-A", "1", 2), ("status-500", "2", 2), ("says-B", "3", 2)]
    primary_only = vote(start(serve(base_url, *members, degrade="primary")))["swaplaw"]
    assert primary_only["winner"] == "A"
    assert [member["counted"] for member in primary_only["members"]] == [True, False, False]
    for served in (
        serve(base_url, *members, degrade="unavailable"),
        serve(base_url, ("status-500", "1", 2), ("says-B", "1", 2), degrade="primary"),
        serve(base_url, ("status-500", "1", 2), ("status-429", "1", 2)),
    ):
        response = start(served).post("/chat/completions", json=ask())
        assert response.status_code == 503
        assert "status-500 (status 500)" in response.json()["error"]["message"]


def test_a_circuit_opens_is_shown_and_closes_again(base_url: str, world: World, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 1), upstream={"breaker": 2, "retries": 0, "cooldown": 0.5}))
    root = str(client.base_url).replace("/v1/", "")
    world.broken.add("says-A")
    for _ in range(3):
        assert client.post("/chat/completions", json=ask()).status_code == 503
    assert world.calls["says-A"] == 2
    assert client.get(f"{root}/health").json() == {"status": "degraded", "policies": {"pool": {"says-A": "open"}}}
    assert 'swaplaw_circuit_open{member="says-A",policy="pool"} 1.0' in client.get(f"{root}/metrics").text
    world.broken.clear()
    time.sleep(0.6)
    assert vote(client)["swaplaw"]["winner"] == "A"
    assert client.get(f"{root}/health").json()["status"] == "ok"


def test_a_client_that_leaves_cancels_the_work(base_url: str, world: World, start: Start) -> None:
    client = start(serve(base_url, ("slow-60", "1", 3), upstream={"timeout": 90}))
    with pytest.raises(httpx.ReadTimeout):
        client.post("/chat/completions", json=ask(), timeout=1.0)
    deadline = time.monotonic() + 30
    while world.cancelled < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert world.cancelled == 2  # The fewest of three samples that could decide.


def test_a_question_has_a_time_limit(base_url: str, start: Start) -> None:
    response = start(serve(base_url, ("slow-9", "1", 1), timeout=0.3)).post("/chat/completions", json=ask())
    assert response.status_code == 504
    assert response.json()["error"]["message"] == "the vote was not decided within 0.3 s"


def test_only_its_own_names(base_url: str, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 1)), hosts=["127.0.0.1", "::1", "ask.example.org"])
    codes = {
        host: client.post("/chat/completions", json=ask(), headers={"host": host}).status_code
        for host in ("127.0.0.1:8080", "[::1]:8080", "ask.example.org", "evil.example.org", "[", "")
    }
    assert list(codes.values()) == [200, 200, 200, 421, 421, 421]


def test_upstream_keys_come_from_the_environment(
    base_url: str, world: World, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(base_url, ("says-A", "1", 1), upstream={"key_env": "SWAPLAW_TEST_KEY"})
    monkeypatch.setenv("SWAPLAW_TEST_KEY", "sk-upstream")
    vote(start(served))
    assert world.headers[0]["authorization"] == "Bearer sk-upstream"
    monkeypatch.delenv("SWAPLAW_TEST_KEY")
    with pytest.raises(InputError, match="SWAPLAW_TEST_KEY"):
        served.upstream(served.members[0]).key()


def test_nothing_private_is_logged(base_url: str, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="swaplaw")
    headers = {"authorization": f"Bearer {KEY}"}
    members = [("says-A", "1", 1), ("status-500", "1", 1)]
    start(serve(base_url, *members), keys=[KEY]).post("/chat/completions", json=ask("my secret"), headers=headers)
    assert "'pool': status 200" in caplog.text
    for private in ("my secret", KEY, "sk-secret", "The answer"):
        assert private not in caplog.text
    vote(start(serve(base_url, *members), log_content=True), text="my secret")
    assert "my secret" in caplog.text


def test_failures_that_no_longer_matter_are_not_complained_about(
    base_url: str, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    # With its circuit open, all calls to a member fail at once, and the first of them takes it out.
    policy = serve(base_url, ("says-A", "1", 2), ("status-500", "2", 4), upstream={"breaker": 1}, quorum="1")
    client = start(policy)
    for _ in range(5):
        vote(client)
    client.close()
    gc.collect()
    assert not [record for record in caplog.records if record.name == "asyncio"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "Field required"),
        (b"{", "the body is not JSON: Expecting property name enclosed in double quotes at character 1"),
        (b"[]", "body"),
        (b'{"model": "pool"}', "messages"),
        (b'{"model": "pool", "messages": []}', "messages"),
        (b'{"model": "pool", "messages": [{"role": "king"}]}', "role"),
        (b'{"model": "pool", "messages": [{"role": "user", "content": 3}]}', "content"),
        (b'{"model": "pool", "n": 2, "messages": [{"role": "user", "content": "x"}]}', "n"),
        (b'{"model": "pool", "top_p": NaN, "messages": [{"role": "user", "content": "x"}]}', "JSON"),
        (b'{"model": "pool", "messages": [{"role": "user", "content": "x", "y": NaN}]}', "JSON"),
        (b"[" * 50_000, ""),
        (b"\xff\xfe", ""),
    ],
)
def test_bad_requests_are_told_what_is_wrong(base_url: str, start: Start, body: bytes, message: str) -> None:
    client = start(serve(base_url, ("says-A", "1", 1)))
    response = client.post("/chat/completions", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert message in response.json()["error"]["message"]


def test_odd_text_is_carried_through(base_url: str, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 1)))
    body = b'{"model": "pool", "messages": [{"role": "user", "content": "\\ud800 \\u0000 \\u202e"}]}'
    headers = {"content-type": "application/json; charset=utf-8"}
    assert client.post("/chat/completions", content=body, headers=headers).status_code == 200


def test_bounds(base_url: str, start: Start) -> None:
    client = start(serve(base_url, ("slow-1", "1", 1)), bounds=Bounds(body_bytes=2000, body_seconds=0.5, requests=1))
    giant = json.dumps(ask("x" * 3000)).encode()
    headers = {"content-type": "application/json"}
    assert client.post("/chat/completions", content=giant, headers=headers).status_code == 413
    # Without a declared length it is counted as it comes.
    assert client.post("/chat/completions", content=iter([giant]), headers=headers).status_code == 413
    assert client.post("/chat/completions", content=b"{}", headers={"content-type": "text/plain"}).status_code == 415

    def dawdle() -> Any:
        yield b"{"
        time.sleep(1.5)
        yield b"}"

    assert client.post("/chat/completions", content=dawdle(), headers=headers).status_code == 408
    with openai.OpenAI(base_url=str(client.base_url), api_key="x", max_retries=0) as other:
        first = threading.Thread(target=lambda: client.post("/chat/completions", json=ask()))
        first.start()
        time.sleep(0.5)
        with pytest.raises(openai.RateLimitError):
            other.chat.completions.create(model="pool", messages=[{"role": "user", "content": "x"}])
        first.join()


def test_unknown_paths_and_methods(base_url: str, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 1)))
    assert client.get("/nothing").json()["error"]["code"] == "not_found"
    assert client.get("/chat/completions").status_code == 405


def test_two_policies_of_one_name_are_refused(base_url: str) -> None:
    one = serve(base_url, ("says-A", "1", 1))
    with pytest.raises(InputError, match=r"two policies are called 'pool'"):
        create_app([one, one])


def test_spans_are_traced(base_url: str, start: Start) -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    vote(start(serve(base_url, ("says-A", "1", 1))))
    (traced,) = [span for span in spans.get_finished_spans() if span.name == "chat pool"]
    told = dict(traced.attributes or {})
    assert str(told.pop("gen_ai.response.id")).startswith("chatcmpl-")
    assert told == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "swaplaw",
        "gen_ai.request.model": "pool",
        "gen_ai.response.model": "pool",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 3,
        "http.response.status_code": 200,
    }
