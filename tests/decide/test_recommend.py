"""The decision: right about fleets whose truth is known, and clear about what to deploy and what is proven."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.decide.crossfit import crossfit, deal
from swaplaw.decide.front import proves
from swaplaw.decide.recommend import PRIOR, RULE, Recommendation, belief, recommend
from swaplaw.decide.rules import RULES
from swaplaw.evidence.interval import Effect
from swaplaw.votes.tally import Tally

from support.worlds import Array, independent, junk, noisy_copies, tally_of, vote_counts

World = Callable[[np.random.Generator], Array]

NULLS: dict[str, tuple[World, int]] = {
    "noisy copies, 24 samples": (lambda rng: noisy_copies(rng, 200, 4), 24),
    "noisy copies of a leader that never hesitates": (lambda rng: noisy_copies(rng, 300, 4, noise=0.6), 40),
    "junk, 8 samples": (lambda rng: junk(rng, 200, 4, known=0.8), 8),
}


def proven(world: World, samples: int, draws: int) -> int:
    """In how many draws the one test of `recommend` is passed."""
    found = 0
    for number in range(draws):
        rng = np.random.default_rng([7, number])
        tally = tally_of(vote_counts(world(rng), samples, rng))
        fitted = crossfit(tally, [RULES[RULE]], deal(np.arange(len(tally.questions)), repeats=1))
        found += proves(fitted.gain(RULE), fitted.over_best(RULE), 0.01)
    return found


@pytest.mark.parametrize("name", NULLS)
def test_null_fleets_are_not_proven(name: str) -> None:
    world, samples = NULLS[name]
    assert proven(world, samples, 8) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_null_fleets_are_proven_in_at_most_one_draw_of_twenty(name: str) -> None:
    world, samples = NULLS[name]
    assert proven(world, samples, 200) <= 10


def test_a_real_gain_is_proven() -> None:
    """Peers that know different questions: the true gain is more than ten points."""
    assert proven(lambda rng: independent(rng, 250, (0.6, 0.5, 0.45)), 24, 5) >= 4


def peers(questions: int = 250, seed: int = 1) -> Tally:
    rng = np.random.default_rng(seed)
    return tally_of(vote_counts(independent(rng, questions, (0.6, 0.5, 0.45)), 8, rng))


@pytest.fixture(scope="module")
def demo() -> Recommendation:
    return recommend(sl.demo_votes().tally())


def test_the_document_has_the_keys_of_the_contract(demo: Recommendation) -> None:
    document = json.loads(json.dumps(demo.to_dict()))
    now = document["now"]
    assert {"members", "fallback", "silence", "calls", "accuracy", "gain", "probability"} <= set(now)
    assert set(now["members"][0]) == {"model", "weight", "samples"}
    assert set(now["gain"]) == {"mean", "low", "high"}
    assert set(document["single"]) == {"model", "samples", "accuracy", "held_out", "one_call"}
    assert now["accuracy"] - document["single"]["held_out"] == pytest.approx(now["gain"]["mean"], abs=1e-15)
    assert document["single"]["one_call"]["accuracy"] == pytest.approx(0.764, abs=1e-3)
    assert 3 <= len(document["front"]) <= 5
    assert document["proven"] is False
    assert document["verdict"] == "cannot_tell"
    assert document["held_out"]["interval"][0] < 0 < document["held_out"]["interval"][1]
    policy = document["policy"]
    assert [each["model"] for each in policy["members"]] == [each["model"] for each in now["members"]]
    assert policy["silence"] == now["silence"]


def test_the_same_seed_gives_the_same_bytes(demo: Recommendation) -> None:
    assert json.dumps(recommend(sl.demo_votes().tally()).to_dict()) == json.dumps(demo.to_dict())


def test_the_sentence_says_how_many_calls_how_sure_and_what_now(demo: Recommendation) -> None:
    assert demo.sentence.startswith("Deploy ")
    assert "calls per question" in demo.sentence
    assert "% likely" in demo.sentence
    assert "Nothing is proven yet" in demo.sentence
    assert demo.names(demo.choice)[0] in demo.sentence
    assert "gain -" not in demo.sentence
    assert "gains -" not in demo.sentence


def test_a_proven_ensemble_is_deployed_and_a_strict_user_gets_it_too() -> None:
    found = recommend(peers(), only_proven=True)
    assert (found.verdict, found.reason, found.proven) == ("deploy_panel", "gain", True)
    assert found.now.deploys_more
    assert found.now.gain.low > 0
    assert "Proven: " in found.sentence


def test_only_proven_stays_with_the_single_model(demo: Recommendation) -> None:
    strict = recommend(sl.demo_votes().tally(), only_proven=True)
    assert demo.now.deploys_more
    assert len(strict.policy.members) == 1
    assert strict.policy.fallback == ()
    assert strict.held_out.to_dict() == demo.held_out.to_dict()


def test_limits_are_kept() -> None:
    for most in (1, 2):
        found = recommend(peers(), max_models=most)
        assert len(found.now.point.models) <= most
    assert recommend(peers(), max_models=1).reason == "alone"
    cheap = recommend(peers(), budget=5)
    assert cheap.now.point.price <= 5
    assert all(point.price <= 5 for point in cheap.telling)
    prices = {"m0": 1.0, "m1": 1.0, "m2": 1000.0}
    assert recommend(peers(), prices=prices).now.point.price < 5000


def test_a_model_that_is_always_right_leaves_nothing_to_gain() -> None:
    rows = [
        {"question": f"q{n}", "model": model, "answer": "A" if model == "a" or n % 2 else "B", "gold": "A"}
        for n in range(40)
        for model in "ab"
    ]
    found = recommend(pl.DataFrame(rows), checks=())
    assert (found.verdict, found.reason) == ("deploy_single", "always_right")
    assert found.policy.members[0].model == "a"


def test_copies_and_single_models_are_said_to_be_so() -> None:
    rng = np.random.default_rng(0)
    said = [(f"q{n:02}", "AB"[rng.random() < 0.6]) for n in np.repeat(range(50), 3)]
    rows = [{"question": n, "model": model, "answer": answer, "gold": "B"} for model in "ab" for n, answer in said]
    copies = recommend(pl.DataFrame(rows))
    assert (copies.verdict, copies.reason) == ("deploy_single", "no_change")
    assert recommend(pl.DataFrame(rows[:150]), checks=()).reason == "alone"


def test_junk_that_surely_gains_too_little_is_called_that() -> None:
    rng = np.random.default_rng(5)
    tally = tally_of(vote_counts(junk(rng, 3000, 3), 8, rng))
    found = recommend(tally, repeats=1, checks=())
    assert (found.verdict, found.reason) == ("deploy_single", "too_little")
    assert "No ensemble is worth it" in found.sentence


def test_nonsense_gets_no_verdict() -> None:
    rows = [
        {"question": f"q{n}", "model": model, "answer": "N/A", "gold": "AB"[n % 2]} for n in range(40) for model in "ab"
    ]
    found = recommend(pl.DataFrame(rows))
    assert (found.verdict, found.reason) == ("cannot_tell", "checks")
    assert found.sentence.startswith("No verdict")


def effect(mean: float, error: float, p: float = 0.01) -> Effect:
    return Effect(mean, error, 2.0, 0.95, p, 300, 300)


def test_what_it_takes_to_be_proven() -> None:
    assert proves(effect(0.02, 0.005), 0.01, 0.01)
    assert not proves(effect(0.02, 0.005, p=0.06), 0.01, 0.01)
    assert not proves(effect(0.009, 0.003), 0.01, 0.01)
    assert not proves(effect(0.02, 0.005), 0.0, 0.01)


def test_beliefs_lie_between_the_measurement_and_what_was_known() -> None:
    sure, unsure = belief(effect(0.08, 0.002)), belief(effect(0.08, 0.5))
    assert PRIOR.mean < unsure.mean < sure.mean < 0.08
    assert unsure.mean == pytest.approx(PRIOR.mean, abs=0.002)
    assert sure.deviation < unsure.deviation
    assert sure.low < sure.mean < sure.high
    assert sure.above(0) > 0.99 > unsure.above(0) > 0.5


def test_the_questions_needed_are_plain_arithmetic(demo: Recommendation) -> None:
    more = demo.more
    assert more is not None
    found = demo.held_out
    distance = abs(demo.belief.mean - more.boundary)
    needed = found.n * ((found.critical + 0.841621) * found.standard_error / distance) ** 2
    assert more.questions == pytest.approx(needed, abs=1.01)
    few = recommend(peers(12), checks=(), by="question")
    assert few.more is None or few.more.questions is None or few.more.questions > 0
