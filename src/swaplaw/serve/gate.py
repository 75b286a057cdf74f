"""What every request passes before it is read: keys, and bounds on number, kind, size and patience.

The parser itself sets no bounds on what comes before the body.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from swaplaw.serve.ledger import Keyring
from swaplaw.serve.metrics import Metrics

MOST_HEAD = 64 * 1024
"""Bytes of a request line and its headers."""
PATIENCE = 30.0
"""Seconds for them to arrive."""


class BoundedProtocol(HttpToolsProtocol):
    """Refuses a request whose head is too long, or too slow, before anything is done with it."""

    _head_bytes = 0
    _head_done = True
    _in_head = True
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first request no longer than for the rest of any other: who says nothing holds a place, too."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(PATIENCE, self._too_slow)

    def data_received(self, data: bytes) -> None:
        """Count what arrives until the head is whole; one read is never more than a few hundred kilobytes."""
        if self._head_done:
            self._head_bytes = 0
        self._head_bytes += len(data)
        self._head_done = False
        super().data_received(data)
        if self._head_done or self.transport is None or self.transport.is_closing():
            self._stop_timer()
        elif self._head_bytes > MOST_HEAD:
            self._refuse(b"431 Request Header Fields Too Large", b"the headers are too long", b"too_large")
        elif self._timer is None:
            self._timer = self.loop.call_later(PATIENCE, self._too_slow)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; what comes after the body (a trailer) is none."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._head_done, self._in_head = True, False
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """What arrives now is bounded as a body."""
        self._head_done = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Nothing more of this request is to come."""
        self._head_done = True
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP in the same form as everything else."""
        self._refuse(b"400 Bad Request", b"this is not HTTP that can be read", b"invalid_http")

    def _too_slow(self) -> None:
        self._timer = None
        self._refuse(b"408 Request Timeout", b"the headers did not arrive in time", b"timeout")

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: bytes, message: bytes, code: bytes) -> None:
        body = b'{"error":{"message":"%b","type":"invalid_request_error","param":null,"code":"%b"}}' % (message, code)
        head = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        self.transport.write(head % (status, len(body)) + body)
        self.transport.close()
        self._stop_timer()


def server_options() -> dict[str, Any]:
    """How our servers speak HTTP: for uvicorn's configuration."""
    quiet = {"server_header": False, "proxy_headers": False, "access_log": False}
    return {"http": BoundedProtocol, "ws": "none", **quiet}


log = logging.getLogger("swaplaw.serve")
OPEN = frozenset({"/health", "/health/live", "/health/ready"})
"""What needs no key."""
KEY = "swaplaw.key"
"""Where a request's scope has its API key."""


Attributes = dict[str, str | int | tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Asking:
    """A request whose body is there."""

    scope: Scope
    body: bytes
    receive: Receive
    """Waits until the client has gone."""
    told: Attributes = field(default_factory=dict)
    """What is known about it, for whoever traces requests."""


Answer = Callable[[Asking], Awaitable[Response]]
Headers = Mapping[bytes, bytes]


@dataclass(frozen=True)
class Bounds:
    """How much is accepted."""

    body_bytes: int = 4 * 2**20
    body_seconds: float = 30.0
    requests: int = 1000
    """In flight at once; more are told to come back."""


def error(status: int, message: str, code: str, param: str | None = None, **headers: str) -> JSONResponse:
    """An error in OpenAI's form."""
    kind = "invalid_request_error" if status < 500 and status != 429 else "server_error"
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return JSONResponse(body, status, headers={name.replace("_", "-"): value for name, value in headers.items()})


class Gate:
    """ASGI middleware: `/health` is open, all else needs a key where keys are set. Every reply has a request's id.

    What is posted to one of the paths of `answers` is answered by these at once: a router and its layers would cost
    more than the vote.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Keyring,
        hosts: Sequence[str],
        bounds: Bounds,
        metrics: Metrics,
        answers: Mapping[str, Answer],
    ) -> None:
        self._app, self._bounds, self._metrics, self._keys = app, bounds, metrics, keys
        self._answers = answers
        self._hosts = frozenset(hosts)
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it here: in OpenAI's form, whatever happens."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        marked = _Marked(send, _request_id(headers))
        try:
            if refusal := self._refusal(scope, headers):
                await refusal(scope, receive, marked)
            elif scope["method"] != "POST":
                await self._app(scope, receive, marked)
            else:
                await self._counted(headers, scope, receive, marked)
        except Exception:
            log.exception("a request failed")
            if not marked.begun:
                await error(500, "something went wrong here; it is in the log", "internal_error")(
                    scope, receive, marked
                )

    def _refusal(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        """What stands against a request before it is read."""
        if sum(map(len, chain.from_iterable(scope["headers"]))) > MOST_HEAD:
            return error(431, "the headers are too long", "too_large")
        if scope["path"] in OPEN:
            return None
        if self._hosts and not self._meant(_text(headers, b"host")):
            return error(421, "this server does not go by that name", "misdirected")
        if not self._keys:
            return None
        if sum(name == b"authorization" for name, _ in scope["headers"]) > 1:
            return error(400, "there are two authorization headers: send one", "invalid_request")
        key = self._keys.find(_text(headers, b"authorization"))
        if key is None:
            return error(401, "missing or wrong API key", "invalid_api_key", www_authenticate="Bearer")
        scope[KEY] = key
        if scope["method"] == "POST" and not key.admit():
            self._metrics.refused.labels(key.name, "rate").inc()
            return error(429, "this key may not ask more often: try again", "rate_limited", retry_after="1")
        return None

    async def _counted(self, headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
        if self._in_flight >= self._bounds.requests:
            await error(429, "too many requests at once: try again", "busy", retry_after="1")(scope, receive, send)
            return
        self._in_flight += 1
        self._metrics.in_flight.inc()
        try:
            await self._bounded(headers, scope, receive, send)
        finally:
            self._in_flight -= 1
            self._metrics.in_flight.dec()

    def _meant(self, host: str) -> bool:
        """A web page whose name was made to point here names itself: it must not ask on its visitor's account."""
        try:
            return urlsplit(f"//{host}").hostname in self._hosts
        except ValueError:
            return False

    async def _bounded(self, headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
        # A web page cannot send this kind across origins without being allowed to, and nobody allows it.
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
            await error(415, "send the request as application/json", "unsupported_media_type")(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._bounds.body_seconds):
                body = await self._read(headers, receive)
        except TimeoutError:
            await error(408, "the request's body did not arrive in time", "timeout")(scope, receive, send)
            return
        if body is None:
            limit = f"{self._bounds.body_bytes} bytes"
            await error(413, f"the request's body is longer than {limit}", "too_large")(scope, receive, send)
            return
        if (answer := self._answers.get(scope["path"])) is not None:
            response = await answer(Asking(scope, body, receive))
            await response(scope, receive, send)
        else:
            await self._app(scope, receive, send)  # No such path, or none to post to: nobody reads the body.

    async def _read(self, headers: Headers, receive: Receive) -> bytes | None:
        """The whole body, or None if it is too long."""
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared[:20]) > self._bounds.body_bytes:
            return None
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self._bounds.body_bytes:
                return None
            if not message.get("more_body", False):
                return bytes(body)


class _Marked:
    """Sends on, with the request's id among the headers, and remembers that a reply has begun."""

    def __init__(self, send: Send, request_id: bytes) -> None:
        self._send, self._id = send, request_id
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", self._id)]
        await self._send(message)


def _request_id(headers: Headers) -> bytes:
    """The client's own id where it is plain and short, else a new one."""
    given = _text(headers, b"x-request-id")
    if given and len(given) <= 128 and given.isascii() and given.isprintable():
        return given.encode()
    return b"req_%032x" % random.getrandbits(128)


def _text(headers: Headers, name: bytes) -> str:
    return headers.get(name, b"").decode("latin-1")
