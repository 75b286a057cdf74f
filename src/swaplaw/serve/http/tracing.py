"""OpenTelemetry spans where its API is installed, else nothing. Attributes are names and numbers, never content."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

try:
    from opentelemetry import trace
except ImportError:  # The extra `tracing` is not installed.
    trace = None  # type: ignore[assignment]


@contextmanager
def span(name: str, **attributes: str | int) -> Iterator[dict[str, str | int]]:
    """Trace a piece of work; what is put into the yielded dictionary becomes attributes, too."""
    if trace is None:
        yield attributes
        return
    with trace.get_tracer("swaplaw.serve").start_as_current_span(name) as current:
        try:
            yield attributes
        finally:
            current.set_attributes(attributes)
