"""Deployment files name only what is there: metrics, paths, options."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from swaplaw.cli.serve import serve as command
from swaplaw.serve.metrics import Metrics

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def known_metrics() -> set[str]:
    found = set()
    for family in Metrics().registry.collect():
        found |= {family.name, f"{family.name}_total", f"{family.name}_bucket"}
    return found


@pytest.mark.parametrize("name", ["grafana.json", "alerts.yaml"])
def test_every_metric_that_is_asked_for_is_there(name: str) -> None:
    asked = set(re.findall(r"\bswaplaw_\w+", (DEPLOY / name).read_text()))
    assert asked
    assert asked <= known_metrics()


def test_the_files_are_well_formed() -> None:
    assert json.loads((DEPLOY / "grafana.json").read_text())["panels"]
    for name in ("compose.yaml", "prometheus.yaml", "alerts.yaml", "kubernetes.yaml"):
        assert list(yaml.safe_load_all((DEPLOY / name).read_text()))


@pytest.mark.parametrize("name", ["Dockerfile", "kubernetes.yaml", "swaplaw.service"])
def test_every_option_that_is_given_is_there(name: str) -> None:
    text = (DEPLOY / name).read_text()
    known = {option for parameter in command.params for option in parameter.opts}
    line = next(line for line in text.splitlines() if "policy.json" in line and "--keys" in line)
    given = set(re.findall(r"--[a-z-]+", line))
    assert given
    assert given <= known


def test_the_probes_are_paths_that_are_served() -> None:
    probes = set(re.findall(r"path: (/health/\w+)", (DEPLOY / "kubernetes.yaml").read_text()))
    assert probes == {"/health/live", "/health/ready"}
