"""Certified weights against a visit to every cell of the arrangement."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings

import swaplaw as sl
from panel_twin import visits
from swaplaw.arrangement import arrangement
from test_panel import tally_of

from corpora import corpora
from twin import Corpus


def certified(tally: sl.Tally, members: list[str]) -> sl.Certificate:
    found = sl.certify(sl.panel(tally, members))
    assert found is not None
    assert found.certified
    assert found.bound == found.best.accuracy
    return found


def check_against_every_cell(case: Corpus) -> None:
    found = certified(tally_of(case), sorted(case.ballots))
    cells = visits(case, found.panel.members)
    top = max(cell.accuracy for cell in cells)
    assert found.best.accuracy == top
    assert found.panel.at(found.best.weights).accuracy == top
    assert found.best.fragile == (not any(cell.safe for cell in cells if cell.accuracy == top))
    # The best plateau: all weights positive, no plane near.
    assert found.plateau is not None
    assert all(weight > 0 for weight in found.plateau.weights)
    assert found.plateau.accuracy == max(cell.accuracy for cell in cells if cell.safe and all(cell.weights))
    assert found.panel.at(found.plateau.weights).accuracy == found.plateau.accuracy
    # No equally good and safe cell is lighter than the cone that was chosen, and none of its points simpler.
    indices = found.panel.indices
    those = arrangement(found.panel.tally, indices, found.panel.common)
    chosen = found.plateau.weights
    scale = int(np.lcm.reduce([weight.denominator for weight in chosen]))
    point = tuple(int(weight * scale) for weight in chosen)
    lightest_total = those.around(point).least_total
    for cell in cells:
        if cell.safe and all(cell.weights) and cell.accuracy == found.plateau.accuracy:
            assert sum(cell.weights[1:]) >= lightest_total


@given(case=corpora(models=3, questions=4, samples=3))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_trios_are_best_over_every_cell(case: Corpus) -> None:
    check_against_every_cell(case)


@given(case=corpora(models=4, questions=2, samples=2))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_quartets_are_best_over_every_cell(case: Corpus) -> None:
    check_against_every_cell(case)
