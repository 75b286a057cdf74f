"""What every test of the testbed has."""

import pytest


@pytest.fixture(autouse=True)
def _own_forensic_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Synthetic cases are built with a key of the tests, never the user's."""
    monkeypatch.setenv("SWAPLAW_FORENSIC_KEY", "the key of the tests")
