"""Odd clients and odd upstreams over real HTTP: every reply is bounded, in OpenAI's form, and gives nothing away."""

from __future__ import annotations

import json
import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from fractions import Fraction
from hashlib import sha256
from typing import Any

import httpx
import pytest
from starlette.responses import JSONResponse, Response

from serve.test_app import vote
from serve.test_faults import SIGNED, signed
from swaplaw.decide.policy import Member
from swaplaw.serve import gate as protocol
from swaplaw.serve.app import Panels, create_app
from swaplaw.serve.demo import running
from swaplaw.serve.ledger import Key, Keyring
from swaplaw.serve.metrics import Metrics
from swaplaw.serve.settings import Upstream
from swaplaw.serve.upstream import LONGEST_REST, Client, Switchboard

from support.upstreams import Start, World, ask, reply, serve

TOOLS: list[Any] = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
JSON = {"content-type": "application/json"}
SOON, LATE = (
    {"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=s), usegmt=True)} for s in (1, 3600)
)


def error_of(response: httpx.Response, status: int) -> dict[str, Any]:
    """The error of a reply, which has OpenAI's form."""
    assert response.status_code == status, response.text
    found: dict[str, Any] = response.json()["error"]
    assert set(found) == {"message", "type", "param", "code"}
    assert found["message"]
    return found


@pytest.mark.parametrize(
    "headers",
    [
        {}, SOON, LATE,
        *({"retry-after": value} for value in (
            "0", "-5", "nan", "inf", "1e400", "0.001", "99999999999", "soon", "", "1, 2", "1_0",
            "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:00 -0000", "Wed, 99 Oct 2015 07:28:00 GMT",
        )),
        *({"retry-after-ms": value} for value in ("5", "-1", "x", "1e300")),
    ],
    # A date that depends on the clock would give each process of the tests another name.
    ids=lambda headers: {id(SOON): "soon", id(LATE): "late"}.get(id(headers), str(headers)),
)  # fmt: skip
def test_whatever_a_rate_limit_asks_for_it_is_asked_few_times(
    base_url: str, world: World, start: Start, headers: dict[str, str]
) -> None:
    world.replies["limited"] = JSONResponse({"error": "your key sk-secret"}, 429, headers)
    upstream = {"patience": 0.5, "breaker": 3}
    client = start(serve(base_url, ("replies-limited", "1", 3), ("says-B", "1/3", 1), upstream=upstream))
    found = vote(client)["swaplaw"]
    assert (found["winner"], found["degraded"]["down"]) == ("B", {"replies-limited": "status 429"})
    # A rest of a thousandth of a second was kept to: hundreds of calls.
    assert world.calls["replies-limited"] <= 40
    assert client.get(str(client.base_url).replace("/v1/", "/health")).json()["status"] == "ok"


def test_no_rest_lasts_forever() -> None:
    client = Client(Member("m", Fraction(1), 1), Upstream(base_url="http://h/v1"), Switchboard(), max_answer_bytes=9)
    client.rest(1e12, time.monotonic())
    assert 0 < client.throttle.paused <= LONGEST_REST


def test_a_reload_may_allow_more_calls(base_url: str) -> None:
    panels = Panels(Metrics())
    for first, second, limit in ((2, 9, 2), (7, 9, 7), (7, 3, 3)):
        put = [
            serve(base_url, ("says-A", "1", 1), name=name, upstream={"concurrency": most})
            for name, most in (("one", first), ("two", second))
        ]
        panels.put(put)
        assert panels["one"].clients[0].throttle.limit == limit


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": "pool", "seed": ' + b"9" * 5000 + b"}",
        b'{"model": "pool", "x": 1e999, "messages": [{"role": "user", "content": "x"}]}',
        b'{"model": "pool", "tools": [{"x": NaN}], "messages": [{"role": "user", "content": "x"}]}',
        b'{"model": "\\ud800", "messages": [{"role": "user", "content": "x"}]}',
        b'{"model": "pool", "stream": "yes please", "messages": [{"role": "user", "content": "x"}]}',
        b'{"model": "pool", "messages": [{"role": "user", "content": [7]}]}',
        b'{"model": "pool", "messages": {"role": "user"}}',
        b'{"model": "pool", "n": 0, "messages": [{"role": "user", "content": "x"}]}',
        b'"\\ud800"',
        b"null",
        b"\xef\xbb\xbf{}",
    ],
    ids=lambda body: body[:60],
)
def test_nonsense_is_a_client_error(base_url: str, start: Start, body: bytes) -> None:
    client = start(serve(base_url, ("says-A", "1", 1)))
    error_of(client.post("/chat/completions", content=body, headers=JSON), 400)


@pytest.mark.parametrize("depth", [100, 700, 850, 900, 2000])
def test_nesting_is_no_server_error(base_url: str, start: Start, depth: int) -> None:
    """What can just be read may be too deep to be written."""
    client = start(serve(base_url, ("says-A", "1", 1)))
    for field in (b"response_format", b"tools", b"y"):
        deep = b'{"x":' * depth + b"1" + b"}" * depth
        body = b'{"model": "pool", "%b": %b, "messages": [{"role": "user", "content": "x"}]}' % (field, deep)
        assert client.post("/chat/completions", content=body, headers=JSON).status_code in (200, 400)


def test_odd_field_names_are_carried_or_refused(base_url: str, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 1)))
    body = b'{"model": "pool", "\\ud800": 1, "": 2, "messages": [{"role": "user", "content": "x", "\\udfff": 1}]}'
    assert client.post("/chat/completions", content=body, headers=JSON).status_code in (200, 400)


def talk(port: int, data: bytes) -> tuple[int, dict[str, Any]]:
    """Say something to a port, and read what comes back until it hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(data)
        found = b""
        while piece := connection.recv(65536):
            found += piece
    head, _, body = found.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]


@pytest.mark.parametrize(
    "data",
    [
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /health HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n",
        b"GET /health HTTP/1.1\r\n: x\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\nxyz",
    ],
)
def test_what_is_not_http_is_refused_in_the_same_form(base_url: str, start: Start, data: bytes) -> None:
    port = start(serve(base_url, ("says-A", "1", 1))).base_url.port
    assert port is not None
    status, problem = talk(port, data)
    assert (status, problem["code"]) == (400, "invalid_http")


def test_who_says_nothing_is_not_waited_for(base_url: str, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.3)
    port = start(serve(base_url, ("says-A", "1", 1))).base_url.port
    assert port is not None
    for data in (b"", b"GET /health", b"GET /health HTTP/1.1\r\nhost: x\r\nx-slow: "):
        status, problem = talk(port, data)
        assert (status, problem["code"]) == (408, "timeout")


def test_paths_are_not_redirected(base_url: str, start: Start) -> None:
    client = start(serve(base_url, ("says-A", "1", 1)))
    for path in ("/chat/completions/", "/models/", "//chat/completions", "/chat/completions/../x"):
        response = client.post(path, json=ask())
        assert response.status_code in (404, 405)
        assert response.json()["error"]["message"]
    upgrade = {"connection": "upgrade", "upgrade": "websocket", "sec-websocket-key": "x", "sec-websocket-version": "13"}
    assert client.get("/models", headers=upgrade).status_code == 200


def test_a_signed_prompt_holds_for_content_in_parts(base_url: str, world: World, start: Start) -> None:
    client = start(signed(base_url))
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    parts = [{"type": "text", "text": "Which "}, image, {"type": "text", "text": "one?"}]
    asked = {"model": "pool", "messages": [{"role": "user", "content": parts}, {"role": "assistant", "content": "?"}]}
    assert client.post("/chat/completions", json=asked).status_code == 200
    (body,) = world.bodies
    assert SIGNED.prompt is not None
    text = SIGNED.prompt.replace("{question}", "Which one?")
    assert body["messages"][0]["content"] == [{"type": "text", "text": text}, image]
    for content in ([image], None):
        bare = {"model": "pool", "messages": [{"role": "user", "content": content}]}
        assert "prompt" in error_of(client.post("/chat/completions", json=bare), 400)["message"]


SCHEMA: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}


def test_json_is_pooled_where_the_reader_reads_it_else_passed_through(
    base_url: str, world: World, start: Start
) -> None:
    world.texts |= {"json": '{"answer": "A"}', "other": "no JSON at all"}
    client = start(serve(base_url, ("texts-json", "1", 2), ("says-B", "1", 2)))
    response = client.post("/chat/completions", json=ask(response_format=SCHEMA))
    assert response.headers["x-swaplaw-passed-through"] == "response_format"
    assert response.json()["choices"][0]["message"]["content"] == '{"answer": "A"}'
    assert world.calls == {"texts-json": 1}
    pooled = start(serve(base_url, ("texts-json", "1", 2), ("texts-other", "1/2", 2), answer={"read": "json"}))
    assert vote(pooled, response_format=SCHEMA)["swaplaw"]["winner"] == "A"
    assert all(body["response_format"] == SCHEMA for body in world.bodies)


def test_an_abstention_is_a_refusal_where_json_is_expected(base_url: str, world: World, start: Start) -> None:
    """Clients parse the content: prose there would break them."""
    world.texts["other"] = "no JSON at all"
    client = start(serve(base_url, ("texts-other", "1", 2), answer={"read": "json"}, abstention="No idea."))
    message = vote(client, response_format=SCHEMA)["choices"][0]["message"]
    assert (message["content"], message["refusal"]) == (None, "No idea.")
    with client.stream("POST", "/chat/completions", json=ask(response_format=SCHEMA, stream=True)) as response:
        assert '"refusal":"No idea."' in response.read().decode()


@pytest.mark.parametrize(
    ("odd", "status"),
    [
        (Response(b'{"choices": [{"x": NaN}]}', media_type="application/json"), 503),
        (Response(b"[" * 100_000, media_type="application/json"), 503),
        (Response(b'{"x": "\\ud800"}', media_type="application/json"), 200),
        (Response(b"\x1f\x8b", headers={"content-encoding": "gzip"}), 503),
        (Response(b"[]", media_type="application/json"), 503),
        (JSONResponse({"error": "sk-secret"}, 401), 503),
        (JSONResponse({"error": "sk-secret"}, 422), 422),
        (JSONResponse({"error": "sk-secret"}, 429, {"retry-after": "7"}), 429),
    ],
)
def test_odd_replies_are_passed_through_safely(
    base_url: str, world: World, start: Start, odd: Response, status: int
) -> None:
    world.replies["odd"] = odd
    client = start(serve(base_url, ("replies-odd", "1", 1)))
    response = client.post("/chat/completions", json=ask(tools=TOOLS))
    assert response.status_code == status
    assert "sk-secret" not in response.text
    if status == 429:
        assert int(response.headers["retry-after"]) in (6, 7)


def test_a_client_that_leaves_ends_what_was_passed_through(base_url: str, world: World, start: Start) -> None:
    client = start(serve(base_url, ("slow-60", "1", 1), upstream={"timeout": 90, "concurrency": 1}))
    for _ in range(2):  # The second would wait for the first one's place, had that not been given back.
        with pytest.raises(httpx.ReadTimeout):
            client.post("/chat/completions", json=ask(tools=TOOLS), timeout=1.0)
    deadline = time.monotonic() + 30
    while world.cancelled < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert world.cancelled == 2


def test_a_budget_covers_what_is_passed_through_and_what_is_left(base_url: str, start: Start) -> None:
    ring = Keyring([Key("team", sha256(b"sk-team").digest(), budget=1e6)])
    price = {"price": {"input": 2e5, "output": 1e5}}
    members = [("streams-A", "1", 1)]
    client = start(
        serve(base_url, ("says-A", "1", 1), upstream=price),
        serve(base_url, *members, name="streaming", upstream=price),
        serve(base_url, ("slow-60", "1", 2), name="slow", price=3.0, upstream={"timeout": 90}),
        keys=ring,
    )
    headers = {"authorization": "Bearer sk-team"}
    client.post("/chat/completions", json=ask(tools=TOOLS), headers=headers)
    assert ring.ledger.spent("team") == pytest.approx(5 * 0.2 + 3 * 0.1)
    with client.stream(
        "POST", "/chat/completions", json=ask(model="streaming", tools=TOOLS, stream=True), headers=headers
    ) as response:
        response.read()
    # What was reserved is settled a moment after the last of the stream has come.
    reserved, deadline = ring.ledger.spent("team"), time.monotonic() + 30
    while (streamed := ring.ledger.spent("team")) > 20 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert 1.3 + 2 * 0.1 < streamed <= reserved
    with pytest.raises(httpx.ReadTimeout):
        client.post("/chat/completions", json=ask(model="slow"), headers=headers, timeout=1.0)
    deadline = time.monotonic() + 30
    while ring.ledger.spent("team") != pytest.approx(streamed + 6.0) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert ring.ledger.spent("team") == pytest.approx(streamed + 6.0)


def test_many_choices_and_none(base_url: str, world: World, start: Start) -> None:
    """An upstream that answers more often than it was asked casts no extra votes."""
    world.replies["many"] = reply("The answer is (A).", 50)
    client = start(serve(base_url, ("replies-many", "1", 3), upstream={"batch": 2}, stop={"exact": False}))
    found = vote(client)["swaplaw"]
    assert (found["members"][0]["votes"], found["samples"]["spent"]) == (3, 3)


def test_tool_calls_that_nobody_asked_for_are_no_answer(base_url: str, world: World, start: Start) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    world.replies["calls"] = JSONResponse({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    found = vote(start(serve(base_url, ("replies-calls", "1", 2))))
    assert found["swaplaw"]["members"][0]["abstentions"] == {"no_parse": 2}
    history = [{"role": "user", "content": "x"}, message, {"role": "tool", "tool_call_id": "1", "content": "7"}]
    client = start(serve(base_url, ("says-A", "1", 2)))
    response = client.post("/chat/completions", json={"model": "pool", "messages": history})
    assert response.headers["x-swaplaw-passed-through"] == "tool messages"


def test_wrong_keys_of_every_kind(base_url: str) -> None:
    with running(create_app([serve(base_url, ("says-A", "1", 1))], keys=["sk-x"])) as url:
        shown = [
            b"Bearer",
            b"Bearer sk-x sk-x",
            b"Bearer \xff\xfe",
            b"sk-x",
            b"Basic c2steA==",
            b"Bearer " + b"k" * 60_000,
        ]
        for value in shown:
            response = httpx.post(f"{url}/chat/completions", json=ask(), headers={b"authorization": value})
            assert error_of(response, 401)["code"] == "invalid_api_key"
            assert httpx.get(f"{url}/models", headers={b"authorization": value}).status_code == 401
        assert httpx.get(f"{url}/models", headers={"authorization": "bearer   sk-x"}).status_code == 200
        assert httpx.get(f"{url.removesuffix('/v1')}/health").status_code == 200
