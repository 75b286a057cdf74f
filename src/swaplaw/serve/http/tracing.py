"""OpenTelemetry spans where somebody has set it up, else nothing. Attributes are names and numbers, never content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

try:
    from opentelemetry import trace
except ImportError:  # The extra `tracing` is not installed.
    trace = None  # type: ignore[assignment]

Attributes = dict[str, str | int]
Span = Callable[[str, Attributes], AbstractContextManager[Attributes]]


def tracer() -> Span:
    """What traces a piece of work; what is put into the yielded dictionary becomes attributes, too."""
    # Where no provider is set, a stand-in for it would be asked for every span and drop it.
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return lambda name, attributes: nullcontext(attributes)
    return _traced


@contextmanager
def _traced(name: str, attributes: Attributes) -> Iterator[Attributes]:
    with trace.get_tracer("swaplaw.serve").start_as_current_span(name) as current:
        try:
            yield attributes
        finally:
            current.set_attributes(attributes)
