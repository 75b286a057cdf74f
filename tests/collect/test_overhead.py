"""Memory does not grow with the number of samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.collecting import UNCLOSED
from support.instant import GROWTH, collected

pytestmark = UNCLOSED


@pytest.mark.slow
def test_memory_is_flat_over_ten_thousand_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = collected(tmp_path, 10_000)
    with capsys.disabled():
        print(f"\n{found['cpu']:.1f} CPU ms a sample, {found['growth']:.2f} MB more for every 1,000 samples")
    assert found["growth"] < GROWTH
