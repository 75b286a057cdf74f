"""Calibration on real votes, and the law file."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.predict.law_file import SCHEMA, VERSION
from swaplaw.votes.tally import Tally


@pytest.fixture(scope="module")
def tally() -> Tally:
    return sl.demo_votes().tally()


@pytest.fixture(scope="module")
def law(tally: Tally) -> sl.predict.Law:
    return sl.calibrate(tally)


def test_rates_of_the_bundled_votes(law: sl.predict.Law) -> None:
    """Computed independently from the same votes."""
    assert law.alpha == pytest.approx(0.335, abs=5e-4)
    assert law.gamma == pytest.approx(0.138, abs=5e-4)
    assert law.fit["rho"] == pytest.approx(0.45, abs=5e-3)
    assert law.weight == Fraction(2, 3)


def test_calibration_is_what_the_law_says_of_each_pair(tally: Tally, law: sl.predict.Law) -> None:
    outcomes = [pair.at("2/3") for pair in sl.pairs(tally)]
    alphas = [outcome.alpha for outcome in outcomes if outcome.alpha is not None]
    gammas = [outcome.gamma for outcome in outcomes if outcome.gamma is not None]
    assert law.alpha == pytest.approx(float(sum(alphas) / len(alphas)), abs=1e-12)
    assert law.gamma == pytest.approx(float(sum(gammas) / len(gammas)), abs=1e-12)
    assert law.provenance["pairs_defining"] == {"alpha": len(alphas), "gamma": len(gammas)}
    slope = sum(o.lift * o.swap for o in outcomes) / sum(o.swap**2 for o in outcomes)
    assert law.slope == pytest.approx(float(slope), abs=1e-12)
    residuals = [float(o.residual) for curve in sl.law.curves(tally) for o in curve.grid()]
    assert law.residual["cells"] == len(residuals) == 900
    assert law.residual["mean"] == pytest.approx(np.mean(residuals), abs=1e-12)
    assert law.residual["sd"] == pytest.approx(np.std(residuals), abs=1e-12)
    assert law.residual["max"] == pytest.approx(max(map(abs, residuals)), abs=1e-12)
    where = law.residual["max_at"]
    worst = sl.pair(tally, where["primary"], where["secondary"]).at(where["weight"]).residual
    assert abs(float(worst)) == pytest.approx(law.residual["max"], abs=1e-12)
    here = [float(o.residual) for o in outcomes]
    assert law.residual["at_weight"]["mean"] == pytest.approx(np.mean(here), abs=1e-12)


def test_every_number_has_an_interval_around_it(law: sl.predict.Law) -> None:
    for name, value in {"alpha": law.alpha, "gamma": law.gamma, "lambda": law.slope, "rho": law.fit["rho"]}.items():
        interval = law.intervals[name]
        assert interval is not None
        assert value is not None
        assert interval.low < value < interval.high
    assert set(law.intervals) >= {"residual_mean", "residual_sd", "residual_max", "r2", "rmse"}
    assert law.intervals["residual_max"] is None  # The largest of 900 numbers is largely luck.


def test_spreads_are_those_of_each_part_left_out(tally: Tally, law: sl.predict.Law) -> None:
    """A slow second way: calibrate without each of the ten clusters, and take the noise off the squares."""
    assert tally.clusters is not None
    names = np.array(tally.clusters)
    chosen = [(pair.primary, pair.secondary) for pair in sl.pairs(tally)]
    spreads, sizes = [], []
    for cluster in sorted(set(names.tolist())):
        left = tally.select(questions=names != cluster)
        residuals = [float(each.residual) for two in chosen for each in sl.curve(left, *two).grid()]
        spreads.append(np.var(residuals))
        sizes.append(np.mean(np.abs(residuals)))
    for name, values, whole in (
        ("residual_sd", np.array(spreads), law.residual["sd"] ** 2),
        ("residual_mean_absolute", np.array(sizes), law.residual["mean_absolute"]),
    ):
        centre = whole - 9 * (values.mean() - whole)
        reach = 2.262157 * np.sqrt(9 / 10 * ((values - values.mean()) ** 2).sum())
        ends = law.intervals[name]
        assert ends is not None
        found = (ends.low**2, ends.high**2) if name == "residual_sd" else (ends.low, ends.high)
        assert found == pytest.approx((max(0, centre - reach), centre + reach), abs=1e-9)


def test_questions_that_some_skipped_are_followed_over_the_grid(tally: Tally) -> None:
    frame = sl.demo_votes().frame.collect()
    holed = sl.tally(frame.filter((pl.col("model") != "gpt-4") | (pl.col("question").hash(0) % 3 != 0)))
    assert not holed.complete
    residuals = [float(o.residual) for curve in sl.law.curves(holed) for o in curve.grid()]
    found = sl.calibrate(holed).residual
    assert (found["mean"], found["sd"]) == pytest.approx((np.mean(residuals), np.std(residuals)), abs=1e-12)
    assert found["mean_absolute"] == pytest.approx(np.mean(np.abs(residuals)), abs=1e-12)


def test_the_law_file_comes_back_as_it_went(law: sl.predict.Law, tally: Tally, tmp_path: Path) -> None:
    file = tmp_path / "law.json"
    law.write(file)
    assert sl.predict.read_law(file).to_dict() == law.to_dict()
    again = sl.calibrate(tally)
    again.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()
    document = json.loads(file.read_text())
    assert (document["schema"], document["version"], document["weight"]) == (SCHEMA, VERSION, "2/3")
    assert document["provenance"]["fingerprint"] == sl.votes.fingerprint_of(tally)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": "swaplaw.policy"}, "schema is 'swaplaw.policy', expected 'swaplaw.law'"),
        ({"schema": None}, "schema is None"),
        ({"version": 2}, "law file version 2, this swaplaw reads version 1"),
        ({"alpha": "a third"}, "alpha is 'a third', expected a number"),
        ({"gamma": None}, "gamma is None"),
        ({"weight": 0.4}, "weight is 0.4, expected text"),
        ({"weight": "two"}, "weight 'two' is not a number"),
        ({"provenance": []}, r"provenance is \[\], expected an object"),
        ({"intervals": {"level": 0.95, "method": "bca", "alpha": [1]}}, "interval of 'alpha'"),
    ],
)
def test_another_file_is_refused_in_one_sentence(
    law: sl.predict.Law, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    file = tmp_path / "law.json"
    file.write_text(json.dumps(law.to_dict() | change))
    with pytest.raises(sl.InputError, match=words):
        sl.predict.read_law(file)


def test_no_law_file_at_all(tmp_path: Path) -> None:
    with pytest.raises(sl.InputError, match="cannot read the law"):
        sl.predict.read_law(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("alpha: 0.3")
    with pytest.raises(sl.InputError, match="not JSON"):
        sl.predict.read_law(tmp_path / "text.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(sl.InputError, match="not JSON"):
        sl.predict.read_law(tmp_path / "binary.json")


def test_a_law_is_for_one_weight(law: sl.predict.Law, tally: Tally, tmp_path: Path) -> None:
    law.write(tmp_path / "law.json")
    assert sl.predict.read_law(tmp_path / "law.json", weight="4/6").weight == Fraction(2, 3)
    with pytest.raises(sl.InputError, match="calibrated at weight 2/3 and says nothing about weight 1"):
        sl.predict.read_law(tmp_path / "law.json", weight=1)
    with pytest.raises(sl.InputError, match="says nothing about weight 1/2"):
        sl.predictors(tally, law, "1/2")


@pytest.mark.filterwarnings("ignore:only 40 questions")
def test_models_that_never_differ_have_no_rates() -> None:
    frame = pl.DataFrame(
        {
            "question": [f"q{n}" for n in range(40)] * 2,
            "model": ["aa"] * 40 + ["bb"] * 40,
            "answer": (["A"] * 20 + ["B"] * 20) * 2,
            "gold": "A",
        }
    )
    with pytest.raises(sl.InputError, match="has any rescue mass, so alpha cannot be calibrated"):
        sl.calibrate(sl.votes_from(frame).tally())


def test_fingerprints_follow_the_votes_and_nothing_else() -> None:
    frame = sl.demo_votes().frame.collect()
    whole = sl.votes.fingerprint_of(sl.votes_from(frame).tally())
    assert sl.votes.fingerprint_of(sl.votes_from(frame.sample(fraction=1, shuffle=True, seed=1)).tally()) == whole
    assert sl.votes.fingerprint_of(sl.votes_from(frame.drop("temperature", "sample")).tally()) == whole
    assert sl.votes.fingerprint_of(sl.votes_from(frame[1:]).tally()) != whole
    assert sl.votes.fingerprint_of(sl.votes_from(frame.with_columns(dataset=pl.lit("other"))).tally()) != whole
