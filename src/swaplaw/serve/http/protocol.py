"""HTTP with bounds on what comes before the body, which the parser itself does not set."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 64 * 1024
"""Bytes of a request line and its headers."""
PATIENCE = 30.0
"""Seconds for them to arrive."""


CALLER = "swaplaw.caller"
"""Where a request's scope has its `Caller`."""
MOST_HELD = 64 * 1024
"""Bytes of a reply that wait for the rest of it."""


class Caller:
    """Who sent a request, as far as it is known: whether all of it is here, and whether they have gone.

    A task that waits for them to go, and a timer for what has arrived, would cost each request more than its vote.
    """

    __slots__ = ("_then", "gone", "whole")

    def __init__(self) -> None:
        self._then: Callable[[], None] | None = None
        self.gone = False
        self.whole = False

    @property
    def watched(self) -> bool:
        """Whether somebody wants to be told when they go."""
        return self._then is not None

    def watch(self, then: Callable[[], None]) -> None:
        """Call this when they go, or soon if they have gone."""
        self._then = then
        if self.gone:
            asyncio.get_running_loop().call_soon(then)

    def unwatch(self) -> None:
        """It no longer matters."""
        self._then = None

    def leave(self) -> None:
        """They have gone."""
        self.gone = True
        if self._then is not None:
            self._then()


class Joined:
    """A transport that sends in one piece what is written in one turn of the loop: a reply's head with its body."""

    __slots__ = ("_held", "_loop", "_size", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._held: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send this, with what follows at once."""
        if not self._held:
            self._loop.call_soon(self._send)
        self._held.append(data)
        self._size += len(data)
        if self._size > MOST_HELD:
            self._send()

    def close(self) -> None:
        """Send what is held, and hang up."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._held:
            whole, self._held, self._size = b"".join(self._held), [], 0
            self._transport.write(whole)


class BoundedProtocol(HttpToolsProtocol):
    """Refuses a request whose head is too long, or too slow, before anything is done with it."""

    _callers: tuple[Caller, ...] = ()
    _head_bytes = 0
    _head_done = True
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first request no longer than for the rest of any other: who says nothing holds a place, too."""
        super().connection_made(Joined(transport, self.loop))  # type: ignore[arg-type]
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

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._head_done = True
        caller, scope = Caller(), cast("dict[str, Any]", self.scope)
        scope[CALLER] = caller
        self._callers = (*(one for one in self._callers if one.watched), caller)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """What arrives now is bounded as a body."""
        self._head_done = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Nothing more of this request is to come."""
        self._head_done = True
        self._callers[-1].whole = True
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timer, and tell those who are still at work for this client."""
        self._stop_timer()
        super().connection_lost(exc)
        for one in self._callers:
            one.leave()

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
