"""What every request passes before it is read: keys, and bounds on number, kind, size and patience."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from swaplaw.serve.http.metrics import Metrics


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
    """ASGI middleware: `/health` is open, all else needs a key where keys are set."""

    def __init__(
        self, app: ASGIApp, *, keys: Sequence[str], hosts: Sequence[str], bounds: Bounds, metrics: Metrics
    ) -> None:
        self._app, self._bounds, self._metrics = app, bounds, metrics
        self._hosts = frozenset(hosts)
        # Digests have one length, so comparing them tells nothing about a key, not even how long it is.
        self._digests = [sha256(key.encode()).digest() for key in keys]
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it here."""
        if scope["type"] != "http" or scope["path"] == "/health":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if self._hosts and not self._meant(headers.get("host", "")):
            await error(421, "this server does not go by that name", "misdirected")(scope, receive, send)
            return
        if self._digests and not self._knows(headers.get("authorization", "")):
            refusal = error(401, "missing or wrong API key", "invalid_api_key", www_authenticate="Bearer")
            await refusal(scope, receive, send)
            return
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        if self._in_flight >= self._bounds.requests:
            await error(429, "too many requests at once: try again", "busy", retry_after="1")(scope, receive, send)
            return
        self._in_flight += 1
        self._metrics.in_flight.set(self._in_flight)
        try:
            await self._bounded(headers, scope, receive, send)
        finally:
            self._in_flight -= 1
            self._metrics.in_flight.set(self._in_flight)

    def _meant(self, host: str) -> bool:
        """A web page whose name was made to point here names itself: it must not ask on its visitor's account."""
        try:
            return urlsplit(f"//{host}").hostname in self._hosts
        except ValueError:
            return False

    def _knows(self, authorization: str) -> bool:
        scheme, _, key = authorization.partition(" ")
        digest = sha256(key.strip().encode()).digest()
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        return scheme.lower() == "bearer" and any(matches)

    async def _bounded(self, headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
        # A web page cannot send this kind across origins without being allowed to, and nobody allows it.
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
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
        await self._app(scope, _replay(body, receive), send)

    async def _read(self, headers: Headers, receive: Receive) -> bytes | None:
        """The whole body, or None if it is too long."""
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared[:20]) > self._bounds.body_bytes:
            return None
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self._bounds.body_bytes:
                return None
            if not message.get("more_body", False):
                return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand the body on as one message, then whatever follows (which is: the client has gone)."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return first.pop() if first else await receive()

    return replayed
