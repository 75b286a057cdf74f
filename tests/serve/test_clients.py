"""What clients can ask besides closed questions, and who may ask how much."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from serve.test_app import vote
from swaplaw.errors import InputError
from swaplaw.serve.app import create_app
from swaplaw.serve.demo import running
from swaplaw.serve.ledger import Key, Keyring, Ledger, read_keys

from support.upstreams import Start, World, ask, serve

TOOLS: list[Any] = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
MESSAGES: list[Any] = [{"role": "user", "content": "Which?"}]


def test_tools_are_passed_through_to_the_primary_visibly(base_url: str, world: World, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 4), ("says-B", "1", 4), max_tokens=50))
    response = client.post("/chat/completions", json=ask(tools=TOOLS, temperature=0.3, max_tokens=99, user="me"))
    assert response.status_code == 200
    assert response.headers["x-swaplaw-passed-through"] == "tools"
    found = response.json()
    assert found["swaplaw"] == {
        "policy": "pool", "decision": "passed_through", "member": "says-A", "because": "tools",
    }  # fmt: skip
    (body,) = world.bodies
    assert (body["model"], body["tools"], body["temperature"], body["max_tokens"]) == ("says-A", TOOLS, 0.3, 50)
    assert "user" not in body
    with openai.OpenAI(base_url=str(client.base_url), api_key="x", max_retries=0) as official:
        answer = official.chat.completions.create(model="pool", messages=MESSAGES, tools=TOOLS)
        assert answer.choices[0].message.content == "The answer is (A)."


def test_a_stream_is_passed_through(base_url: str, start: Start) -> None:
    client = start(serve(base_url, ("streams-A", "1", 2)))
    with client.stream("POST", "/chat/completions", json=ask(tools=TOOLS, stream=True)) as response:
        assert response.headers["x-swaplaw-passed-through"] == "tools"
        assert response.read().decode().endswith("data: [DONE]\n\n")


def test_passing_through_can_be_refused_and_can_fail(base_url: str, start: Start) -> None:
    refusing = start(serve(base_url, ("says-A", "1", 1), pass_through="refuse"))
    assert refusing.post("/chat/completions", json=ask(tools=TOOLS)).status_code == 400
    for model, status in (("status-500", 503), ("status-400", 400), ("status-429", 429), ("broken-json", 503)):
        response = start(serve(base_url, (model, "1", 1))).post("/chat/completions", json=ask(tools=TOOLS))
        assert response.status_code == status
        assert response.json()["error"]["message"]
        assert "sk-secret" not in response.text


def test_open_chat_gets_the_primarys_text(base_url: str, start: Start) -> None:
    served = serve(base_url, ("mumbles", "1", 3), ("says-B", "1/3", 3), null_win="primary_text")
    found = vote(start(served))
    assert found["choices"][0]["message"]["content"] == "Hard to say."
    assert (found["swaplaw"]["decision"], found["swaplaw"]["answer"]) == ("primary_text", None)


def test_every_reply_has_a_request_id(base_url: str, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 1)))
    assert client.post("/chat/completions", json=ask()).headers["x-request-id"].startswith("req_")
    named = client.post("/chat/completions", json=ask(), headers={"x-request-id": "mine-7"})
    assert named.headers["x-request-id"] == "mine-7"
    odd = client.get("/nothing", headers={"x-request-id": "x" * 200})
    assert odd.headers["x-request-id"].startswith("req_")


def test_probes(base_url: str, world: World, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 1), upstream={"breaker": 1, "retries": 0, "cooldown": 60.0}))
    root = str(client.base_url).replace("/v1/", "")
    assert client.get(f"{root}/health/live").json() == {"status": "ok"}
    assert client.get(f"{root}/health/ready").status_code == 200
    world.broken.add("says-A")
    client.post("/chat/completions", json=ask())
    assert client.get(f"{root}/health/ready").status_code == 503
    assert client.get(f"{root}/health/live").status_code == 200


def key_file(path: Path, **limits: Any) -> Path:
    entry = {"name": "team", "sha256": sha256(b"sk-team").hexdigest(), **limits}
    path.write_text(json.dumps({"keys": [entry, {"name": "free", "sha256": sha256(b"sk-free").hexdigest()}]}))
    return path


def posted(client: httpx.Client, key: str, **more: Any) -> httpx.Response:
    return client.post("/chat/completions", json=ask(**more), headers={"authorization": f"Bearer {key}"})


def test_keys_have_limits_and_budgets(base_url: str, start: Start, tmp_path: Path) -> None:
    file = key_file(tmp_path / "keys.json", budget=1.0)
    client = start(serve(base_url, ("says-A", "1", 1), price=0.5), keys=read_keys(file))
    assert [posted(client, "sk-team").status_code for _ in range(3)] == [200, 200, 429]
    assert posted(client, "sk-team").json()["error"]["code"] == "insufficient_quota"
    assert (posted(client, "sk-free").status_code, posted(client, "sk-else").status_code) == (200, 401)
    metrics = client.get(
        str(client.base_url).replace("/v1/", "/metrics"), headers={"authorization": "Bearer sk-free"}
    ).text
    assert 'swaplaw_key_cost_total{key="team"} 1.0' in metrics
    assert 'swaplaw_key_spent_today{key="team"} 1.0' in metrics
    assert 'swaplaw_cost_total{member="says-A",policy="pool"} 1.5' in metrics
    assert "sk-" not in metrics
    assert "sk-team" not in file.read_text()
    again = start(serve(base_url, ("says-A", "1", 1), price=0.5), keys=read_keys(file))
    assert posted(again, "sk-team").status_code == 429, "a restart forgets nothing"


def test_many_requests_at_once_spend_no_more_than_the_budget(
    base_url: str, world: World, start: Start, tmp_path: Path
) -> None:
    """Some fail, some are left, some are passed through; two servers share the ledger."""
    file = key_file(tmp_path / "keys.json", budget=10.0)
    policies = [
        serve(base_url, ("counts-x", "1", 1), name="counts", price=1.0),
        serve(base_url, ("status-500", "1", 1), name="fails", price=1.0, upstream={"retries": 0}),
    ]
    clients = [start(*policies, keys=read_keys(file)) for _ in range(2)]
    with ThreadPoolExecutor(16) as pool:
        asked = [
            pool.submit(posted, clients[n % 2], "sk-team", model=("counts", "counts", "fails")[n % 3])
            for n in range(90)
        ]
        statuses = Counter(one.result().status_code for one in asked)
    assert world.calls["counts-x"] == statuses[200] == 10
    assert statuses[429] >= 50


def test_a_rate_is_held_and_a_day_turns(tmp_path: Path) -> None:
    key = Key("team", b"", requests_per_minute=2.0)
    assert [key.admit(now=100.0) for _ in range(3)] == [True, True, False]
    assert key.admit(now=131.0)
    ledger = Ledger(tmp_path / "spent")
    assert ledger.reserve("team", 2.0, most=3.0, now=100.0)
    assert not ledger.reserve("team", 2.0, most=3.0, now=200.0)
    ledger.add("team", -1.0, now=200.0)
    assert ledger.reserve("team", 2.0, most=3.0, now=200.0)
    assert (ledger.spent("team", now=200.0), ledger.spent("team", now=200.0 + 86_400)) == (3.0, 0.0)
    assert ledger.reserve("team", 3.0, most=3.0, now=200.0 + 86_400)
    assert not Keyring()


def test_a_key_that_is_taken_out_is_refused_at_once(base_url: str, start: Start, tmp_path: Path) -> None:
    file = key_file(tmp_path / "keys.json", requests_per_minute=1)
    policy = serve(base_url, ("says-A", "1", 1))
    app = create_app([policy], keys=read_keys(file))
    with running(app) as url, httpx.Client(base_url=url, trust_env=False) as client:
        assert [posted(client, key).status_code for key in ("sk-team", "sk-team", "sk-free")] == [200, 429, 200]
        free = {"name": "free", "sha256": sha256(b"sk-free").hexdigest()}
        team = {"name": "team", "sha256": sha256(b"sk-team").hexdigest(), "requests_per_minute": 1}
        file.write_text(json.dumps({"keys": [team]}))
        assert app.state.reload(lambda: ([policy], read_keys(file)))
        assert [posted(client, key).status_code for key in ("sk-team", "sk-free")] == [429, 401]
        file.write_text(json.dumps({"keys": [free]}))
        assert app.state.reload(lambda: ([policy], read_keys(file)))
        assert [posted(client, key).status_code for key in ("sk-team", "sk-free")] == [401, 200]
        file.write_text("{")
        assert not app.state.reload(lambda: ([policy], read_keys(file)))
        assert posted(client, "sk-free").status_code == 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ('{"keys": []}', "keys"),
        ('{"keys": [{"name": "a", "sha256": "sk-plain"}]}', "sha256"),
        (None, "cannot read the keys"),
    ],
)
def test_a_bad_key_file_is_named_without_its_content(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "keys.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=message) as raised:
        read_keys(file)
    assert "sk-plain" not in str(raised.value)
