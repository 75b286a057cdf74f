"""The replication study on the real datasets with repeated samples, and its numbers against those of other parts."""

from __future__ import annotations

import json

import numpy as np
import pytest

import swaplaw as sl
from swaplaw.predict.calibrate import mean_rates
from swaplaw.predict.replication import Replication, replicate

from support.data import real_votes


@pytest.fixture(scope="module")
def repeated() -> list[sl.Tally]:
    both, contests = (sl.read_votes(real_votes(f"{name}.parquet")) for name in ("best-of-infinity", "aime"))
    others = [sl.read_votes(real_votes(f"{name}.parquet")).tally() for name in ("reasoning-gym", "renze-temperature")]
    return [both.tally("gpqa-diamond"), both.tally("math500"), *map(contests.tally, contests.datasets), *others]


@pytest.fixture(scope="module")
def found(repeated: list[sl.Tally]) -> Replication:
    return replicate(repeated, "2/3")


def test_the_shares_law_ranks_lift_on_every_dataset(found: Replication) -> None:
    assert found.median("rho", "shares") >= 0.75
    behind = [each.dataset for each in found.datasets if each.rho["shares"] < each.rho["predicted"] - 0.1]
    assert not behind
    assert all(each.rmse["shares"] < each.baseline for each in found.datasets)
    assert found.median("rmse", "shares") < found.median("rmse", "margin")


def test_the_paper_s_near_exact_predictor_stays_so(found: Replication) -> None:
    assert all(each.rho["swap"] >= 0.88 for each in found.datasets)


def test_numbers_are_those_of_the_other_parts(found: Replication, repeated: list[sl.Tally]) -> None:
    rates = [mean_rates(tally) for tally in repeated]
    assert [(each.alpha, each.gamma) for each in found.datasets] == rates
    frozen = np.mean(rates[1:], axis=0)
    chosen = list(sl.pairs(repeated[0]))
    lift = np.array([float(pair.at("2/3").lift) for pair in chosen])
    predicted = [(frozen[0] - frozen[1]) * float(p.masses.rescue) - frozen[1] * float(p.masses.gap) for p in chosen]
    assert found.datasets[0].rmse["predicted"] == pytest.approx(np.sqrt(((lift - predicted) ** 2).mean()))
    assert len(found.transfers) == 30
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["weight"] == "2/3"
    assert found.to_frame().height == 6


def test_the_joint_law_leads_and_the_fitted_competitor_is_shown(found: Replication) -> None:
    assert found.median("rho", "joint") >= found.median("rho", "shares")
    assert all(each.rho["joint"] >= 0.75 for each in found.datasets)
    assert {"conditional", "accuracies"} <= set(found.datasets[0].rmse)


def test_one_dataset_cannot_be_replicated(repeated: list[sl.Tally]) -> None:
    with pytest.raises(sl.InputError, match="two datasets"):
        replicate(repeated[:1])
