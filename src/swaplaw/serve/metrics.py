"""What Prometheus sees. Labels are names from the policy, never anything that a client or a model said."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from swaplaw.serve.drift import Monitor

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
ADDED = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1)


class Metrics:
    """All metrics of one app, in a registry of their own."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self._found: dict[tuple[Any, tuple[str, ...]], Any] = {}
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
        self.in_flight = Gauge(
            "swaplaw_requests_in_flight", "Requests being answered", registry=registry, multiprocess_mode="livesum"
        )
        self.refused = Counter(
            "swaplaw_key_refusals", "Requests refused by a key's limits", ["key", "limit"], registry=registry
        )
        self.key_spent = Gauge(
            "swaplaw_key_spent_today",
            "Spent and reserved of a key's budget today (UTC)",
            ["key"],
            registry=registry,
            multiprocess_mode="max",
        )
        self.key_cost = Counter("swaplaw_key_cost", "Cost of requests by key", ["key"], registry=registry)
        self.passed = Counter(
            "swaplaw_passed", "Requests passed through to the primary", ["policy", "because"], registry=registry
        )
        self.shadow = Counter(
            "swaplaw_shadow", "What the ensemble would have said: as the primary, or not", ["policy", "agrees"],
            registry=registry,
        )  # fmt: skip
        self.drift = Gauge(
            "swaplaw_drift_evidence",
            "Evidence that a member's votes differ from those it was judged on: 20 is an alarm at 5%",
            ["policy", "member"],
            registry=registry,
            multiprocess_mode="max",
        )
        self.drift_alarm = Gauge(
            "swaplaw_drift_alarm", "1 once votes have drifted", ["policy"], registry=registry, multiprocess_mode="max"
        )
        self.record_failures = Counter(
            "swaplaw_record_failures", "Decisions whose votes could not be recorded", registry=registry
        )
        self.samples = Counter(
            "swaplaw_samples",
            "Samples by fate: vote, abstention, lost",
            ["policy", "member", "fate"],
            registry=registry,
        )
        self.saved = Counter("swaplaw_samples_saved", "Samples not needed", ["policy"], registry=registry)
        self.cost = Counter(
            "swaplaw_cost", "Cost of what was asked, where prices are known", ["policy", "member"], registry=registry
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
            "swaplaw_circuit_open",
            "1 while a circuit is open",
            ["policy", "member"],
            registry=registry,
            multiprocess_mode="max",
        )

    def _of(self, metric: Any, *labels: str) -> Any:
        """A metric's own counter for these labels: finding it again takes longer than counting."""
        found = self._found.get((metric, labels))
        if found is None:
            found = self._found[metric, labels] = metric.labels(*labels)
        return found

    def count_request(self, policy: str, status: int, seconds: float) -> None:
        """Book an answered request."""
        self._of(self.requests, policy, str(status)).inc()
        self._of(self.seconds, policy).observe(seconds)

    def attempts_of(self, policy: str, member: str) -> Callable[[str, float], None]:
        """What books calls to an upstream: told the result and the seconds of each."""
        well, seconds_of = self.attempts.labels(policy, member, "ok"), self.upstream.labels(policy, member)

        def count(result: str, seconds: float) -> None:
            (well if result == "ok" else self.attempts.labels(policy, member, result)).inc()
            seconds_of.observe(seconds)

        return count

    def count_cost(self, policy: str, member: str, cost: float) -> None:
        """Book what a request has cost of a member."""
        if cost:
            self._of(self.cost, policy, member).inc(cost)

    def count_decision(self, policy: str, by: str, vote: Mapping[str, Any], added: float) -> None:
        """Book a decision."""
        self._of(self.decisions, policy, by, vote["stopped"]).inc()
        if saved := vote["samples"]["saved"]:
            self._of(self.saved, policy).inc(saved)
        self._of(self.added, policy).observe(added)
        if vote["ties"]:
            self._of(self.ties, policy).inc()
        for member in (*vote["members"], *vote["fallback"]):
            abstained = sum(member["abstentions"].values()) if member["abstentions"] else 0
            for fate, number in (
                ("vote", member["votes"] - abstained),
                ("abstention", abstained),
                ("lost", member["lost"]),
            ):
                if number > 0:
                    self._of(self.samples, policy, member["model"], fate).inc(number)
        for model in (vote["degraded"] or {"down": {}})["down"]:
            self._of(self.degraded, policy, model).inc()

    def show_drift(self, policy: str, monitor: Monitor) -> None:
        """Show how much speaks for drift."""
        for model, evidence in monitor.evidence.items():
            self.drift.labels(policy, model).set(evidence)
        self.drift_alarm.labels(policy).set(monitor.alarm)

    def text(self) -> bytes:
        """The exposition that Prometheus scrapes."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self.registry)
        # Several processes serve: each scrape adds up what all of them have counted.
        from prometheus_client.multiprocess import MultiProcessCollector

        everything = CollectorRegistry()
        MultiProcessCollector(everything)  # type: ignore[no-untyped-call]
        return generate_latest(everything)
