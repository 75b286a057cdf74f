"""What Prometheus sees. Labels are names from the policy, never anything that a client or a model said."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from swaplaw.serve.drift import Monitor

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
ADDED = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1)


class Metrics:
    """All metrics of one app, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        count, show, time = self._count, self._show, self._time
        member = ("policy", "member")
        self.requests = count("requests", "Answered requests", "policy", "status")
        self.decisions = count("decisions", "Decisions by how they came about", "policy", "decision", "stopped")
        self.seconds = time("request_seconds", "From request to decision", SECONDS, "policy")
        self.added = time("added_seconds", "From the last needed sample's arrival to the decision", ADDED, "policy")
        self.in_flight = show("requests_in_flight", "Requests being answered", mode="livesum")
        self.refused = count("key_refusals", "Requests refused by a key's limits", "key", "limit")
        self.key_spent = show("key_spent_today", "Spent and reserved of a key's budget today (UTC)", "key")
        self.key_cost = count("key_cost", "Cost of requests by key", "key")
        self.passed = count("passed", "Requests passed through to the primary", "policy", "because")
        self.cached = count("cached", "Requests answered by what was decided before", "policy")
        self.drift = show(
            "drift_evidence",
            "Evidence that a member's votes differ from those it was judged on: 20 is an alarm",
            *member,
        )
        self.drift_alarm = show("drift_alarm", "1 once votes have drifted", "policy")
        self.record_failures = count("record_failures", "Decisions whose votes could not be recorded")
        self.samples = count("samples", "Samples by fate: vote, abstention, lost", *member, "fate")
        self.saved = count("samples_saved", "Samples not needed", "policy")
        self.cost = count("cost", "Cost of what was asked, where prices are known", *member)
        self.ties = count("ties", "Decisions among tied answers", "policy")
        self.degraded = count("degraded", "Decisions without a member", *member)
        self.upstream = time("upstream_seconds", "Calls to upstreams", SECONDS, *member)
        self.attempts = count("upstream_attempts", "Attempts by result", *member, "result")
        self.circuit = show("circuit_open", "1 while a circuit is open", *member)
        self._of = cache(lambda metric, *labels: metric.labels(*labels))
        """A metric's own counter for these labels: finding it again takes longer than counting."""

    def _count(self, name: str, what: str, *labels: str) -> Counter:
        return Counter(f"swaplaw_{name}", what, labels, registry=self.registry)

    def _show(self, name: str, what: str, *labels: str, mode: Any = "max") -> Gauge:
        return Gauge(f"swaplaw_{name}", what, labels, registry=self.registry, multiprocess_mode=mode)

    def _time(self, name: str, what: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(f"swaplaw_{name}", what, labels, buckets=buckets, registry=self.registry)

    def count_request(self, policy: str, status: int, seconds: float) -> None:
        """Book an answered request."""
        self._of(self.requests, policy, str(status)).inc()
        self._of(self.seconds, policy).observe(seconds)

    def attempts_of(self, policy: str, member: str) -> Callable[[str, float], None]:
        """What books calls to an upstream: told the result and the seconds of each."""

        def count(result: str, seconds: float) -> None:
            self._of(self.attempts, policy, member, result).inc()
            self._of(self.upstream, policy, member).observe(seconds)

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
            abstained = sum(member["abstentions"].values())
            fates = {"vote": member["votes"] - abstained, "abstention": abstained, "lost": member["lost"]}
            for fate, number in fates.items():
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
