"""What Prometheus sees. Labels are names from the policy, never anything that a client or a model said."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
ADDED = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1)


class Metrics:
    """All metrics of one app, in a registry of their own."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.requests = Counter("swaplaw_requests", "Answered requests", ["policy", "status"], registry=registry)
        self.decisions = Counter(
            "swaplaw_decisions",
            "Decisions by how they came about",
            ["policy", "decision", "stopped"],
            registry=registry,
        )
        self.seconds = Histogram(
            "swaplaw_request_seconds", "From request to decision", ["policy"], buckets=SECONDS, registry=registry
        )
        self.added = Histogram(
            "swaplaw_added_seconds",
            "From the last needed sample's arrival to the decision",
            ["policy"],
            buckets=ADDED,
            registry=registry,
        )
        self.in_flight = Gauge("swaplaw_requests_in_flight", "Requests being answered", registry=registry)
        self.samples = Counter(
            "swaplaw_samples",
            "Samples by fate: vote, abstention, lost",
            ["policy", "member", "fate"],
            registry=registry,
        )
        self.saved = Counter("swaplaw_samples_saved", "Samples not needed", ["policy"], registry=registry)
        self.cost = Counter(
            "swaplaw_cost", "Cost of the samples drawn, where prices are known", ["policy"], registry=registry
        )
        self.ties = Counter("swaplaw_ties", "Decisions among tied answers", ["policy"], registry=registry)
        self.degraded = Counter(
            "swaplaw_degraded", "Decisions without a member", ["policy", "member"], registry=registry
        )
        self.upstream = Histogram(
            "swaplaw_upstream_seconds", "Calls to upstreams", ["policy", "member"], buckets=SECONDS, registry=registry
        )
        self.attempts = Counter(
            "swaplaw_upstream_attempts", "Attempts by result", ["policy", "member", "result"], registry=registry
        )
        self.circuit = Gauge(
            "swaplaw_circuit_open", "1 while a circuit is open", ["policy", "member"], registry=registry
        )

    def text(self) -> bytes:
        """The exposition that Prometheus scrapes."""
        return generate_latest(self.registry)
