"""Inspect's own conformance tests for sandbox providers, run against both providers."""

from collections.abc import Iterator
from typing import Any

import pytest
from inspect_ai.util._sandbox import self_check
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from swaplaw_forensic.sandbox.apptainer import ApptainerSandbox
from swaplaw_forensic.sandbox.bwrap import BwrapSandbox
from swaplaw_forensic.sandbox.environment import ForensicSandbox

from testbed.sandboxes import NO_APPTAINER, NO_BWRAP

pytestmark = pytest.mark.anyio

# What a provider does not pass, and why: (provider, check) -> reason.
ONE_USER = "the sandbox has one user, without privileges: nobody can be root in it"
KNOWN = {
    ("bwrap", "test_exec_as_user"): ONE_USER,
    ("apptainer", "test_exec_as_user"): ONE_USER,
    (
        "apptainer",
        "test_exec_large_command",
    ): "Apptainer itself takes no command line of more than about 1 MB",
}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


PROVIDERS: dict[str, type[ForensicSandbox]] = {"bwrap": BwrapSandbox, "apptainer": ApptainerSandbox}
MISSING = {"bwrap": NO_BWRAP, "apptainer": NO_APPTAINER}


SLOWER = {"bwrap": (), "apptainer": (pytest.mark.slow,)}


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=SLOWER[name]) for name in PROVIDERS if MISSING[name] is None]
)
def opened(request: pytest.FixtureRequest) -> Iterator[ForensicSandbox]:
    sandbox = PROVIDERS[request.param].opened()
    yield sandbox
    sandbox.close()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_provider_is_checked(provider: str) -> None:
    """Says once, and not for each check, that a provider is missing here."""
    if MISSING[provider]:
        pytest.skip(str(MISSING[provider]))


@pytest.fixture
def sandbox_env(request: pytest.FixtureRequest, opened: ForensicSandbox) -> Any:
    provider = "bwrap" if isinstance(opened, BwrapSandbox) else "apptainer"
    reason = KNOWN.get((provider, getattr(request.node, "originalname", "")))
    if reason:
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    return opened


def test_every_check_is_run() -> None:
    assert len(self_check.__all__) >= 44
    assert {check for _, check in KNOWN} <= set(self_check.__all__)
