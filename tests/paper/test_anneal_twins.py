"""The recipe of the twins: a seed that nobody chose reaches what the two shipped arrangements were made for."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anneal_twins as recipe
from swaplaw.paper.published import published
from twins import twin

from support.commands import Run

PAIR_TABLES = ("predictors.", "cyber_weights.", "trios.", "top_pairs.")


@pytest.mark.parametrize("seed", [3, 7])
def test_drawn_ballots_meet_the_marginals(seed: int) -> None:
    """Accuracies to the rounding of the paper, and no tie with gold where its tables leave none."""
    counts, _ = recipe.ballots("forensic", seed, None)
    assert (counts.sum(axis=2) == 24).all()
    np.testing.assert_allclose(recipe.scores(counts).sum(axis=1), recipe.SCORES["forensic"], atol=0.011)
    single = [row["forensic_single"] for row in published().tables["model_accuracy"].rows]
    np.testing.assert_allclose(100 * counts[:, :, 0].sum(axis=1) / counts[0].sum(), single, atol=0.05)
    assert not ((recipe.scores(counts[0]) > 0) & (recipe.scores(counts[0]) < 1)).any()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_fresh_seed_shows_the_paper(swaplaw: Run, tmp_path: Path) -> None:
    """About five minutes of processor time: the whole recipe, and everything that is published beside it."""
    file = tmp_path / "twins.npz"
    subprocess.run([sys.executable, recipe.__file__, "--seed", "7", "-o", str(file)], check=True)
    votes = {name: tmp_path / f"{name}.parquet" for name in published().datasets}
    for name, path in votes.items():
        # Only some have grades, so they are no single table.
        twin(name, file).write(path)
    done = swaplaw("reproduce", *votes.values(), "-o", tmp_path / "out", "--json")
    rows = json.loads(done.out)["comparisons"]
    about_pairs = [row for row in rows if row["id"] in published().prose or row["id"].startswith(PAIR_TABLES)]
    assert sum(row["within"] for row in about_pairs) >= 210
    assert sum(row["within"] for row in rows) >= 320
