"""Forensic tests use a key of their own, never the user's."""

import pytest

from swaplaw.forensic.synthetic.key import VARIABLE


@pytest.fixture(autouse=True)
def _own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "the key of the tests")
