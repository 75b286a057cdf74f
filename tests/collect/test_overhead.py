"""What a sample costs beyond the model's own time, and that memory does not grow with their number."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.collect import GROWTH, collected

from support.collecting import UNCLOSED

pytestmark = UNCLOSED
MOST = 300.0
"""CPU milliseconds a sample that no machine should need; `python -m benchmarks collect` compares with Inspect."""


def test_a_small_collection_is_quick(tmp_path: Path) -> None:
    assert collected(tmp_path, 240)["cpu"] < MOST


@pytest.mark.slow
def test_memory_is_flat_over_ten_thousand_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = collected(tmp_path, 10_000)
    with capsys.disabled():
        print(f"\n{found['cpu']:.1f} CPU ms a sample, {found['growth']:.2f} MB more for every 1,000 samples")
    assert found["cpu"] < MOST
    assert found["growth"] < GROWTH
