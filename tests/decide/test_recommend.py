"""The decision: right about fleets whose truth is known, and clear about what it cannot do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.decide.belief import belief
from swaplaw.decide.recommend import recommend
from swaplaw.decide.verdict import DEPLOYS_ENSEMBLE, Candidate, Recommendation, supported
from swaplaw.errors import several
from swaplaw.evidence.interval import Effect, effect
from swaplaw.report import words
from swaplaw.votes.tally import Tally

from support.data import real_votes
from support.twin import Corpus
from support.worlds import Array, independent, junk, noisy_copies, tally_of, vote_counts

World = Callable[[np.random.Generator], Array]

NULLS: dict[str, tuple[World, int]] = {
    "noisy copies, 24 samples": (lambda rng: noisy_copies(rng, 200, 4), 24),
    "noisy copies, 5 samples": (lambda rng: noisy_copies(rng, 300, 4, noise=0.1), 5),
    "junk, 24 samples": (lambda rng: junk(rng, 200, 4), 24),
    "junk, 8 samples": (lambda rng: junk(rng, 200, 4, known=0.8), 8),
}


def verdicts(world: World, samples: int, draws: int, **options: Any) -> Counter[str]:
    found: Counter[str] = Counter()
    for number in range(draws):
        rng = np.random.default_rng([7, number])
        tally = tally_of(vote_counts(world(rng), samples, rng))
        found[recommend(tally, repeats=2, replicates=500, **options).verdict] += 1
    return found


def deployed(found: Counter[str]) -> int:
    return sum(found[verdict] for verdict in DEPLOYS_ENSEMBLE)


@pytest.mark.parametrize("name", NULLS)
def test_null_fleets_get_no_ensemble(name: str) -> None:
    world, samples = NULLS[name]
    assert deployed(verdicts(world, samples, 2)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_null_fleets_get_an_ensemble_in_at_most_one_draw_of_twenty(name: str) -> None:
    world, samples = NULLS[name]
    found = verdicts(world, samples, 200)
    print(f"{name}: {dict(found)} of 200")
    assert deployed(found) <= 10


def test_a_real_gain_is_found() -> None:
    """Peers that know different questions: the true gain is more than ten points."""
    found = verdicts(lambda rng: independent(rng, 250, (0.6, 0.5, 0.45)), 24, 5)
    assert deployed(found) >= 4


@pytest.mark.slow
def test_power_rises_with_the_gain_and_with_the_questions() -> None:

    def share(weak: float, n: int) -> float:
        return verdicts(lambda rng: independent(rng, n, (0.7, weak)), 24, 40)["deploy_pair"] / 40

    shares = {(weak, n): share(weak, n) for weak in (0.2, 0.3, 0.5) for n in (150, 400)}
    print(shares)
    assert shares[0.5, 400] > 0.95
    assert all(shares[weak, 150] <= shares[weak, 400] for weak in (0.2, 0.3, 0.5))


@pytest.fixture(scope="module")
def demo() -> Recommendation:
    return recommend(sl.demo_votes().tally())


def test_a_hundred_questions_of_near_equals_cannot_tell(demo: Recommendation) -> None:
    assert (demo.verdict, demo.reason) == ("cannot_tell", "unsure")
    assert [member.model for member in demo.policy.members] == ["gpt-4"]
    held = held_out(demo)
    assert held.low < 0 < held.high
    assert demo.more is not None
    assert "more questions" in demo.sentence
    assert "Until then deploy gpt-4 alone" in demo.sentence
    # The arithmetic, done again: n ((critical + 0.8416) se / distance)^2.
    effect = demo.more.effect
    distance = abs(effect.mean - demo.more.boundary)
    needed = effect.n * ((effect.critical + 0.841621) * effect.standard_error / distance) ** 2
    assert demo.more.questions == pytest.approx(needed, abs=1.01)
    assert demo.more.low is not None
    assert demo.more.low <= needed


def held_out(found: Recommendation) -> Effect:
    assert found.held_out is not None
    return found.held_out


def test_a_full_search_finds_what_the_curves_do() -> None:
    tally = sl.demo_votes().tally()
    lift = recommend(tally, search="full", max_models=2).rules["lift"]
    curve = sl.curve(tally, *(tally.models[member] for member in lift.choice.members))
    best = max(each.best_plateau.outcome.accuracy for each in sl.law.curves(tally))
    assert curve.at(lift.choice.weights[1]).accuracy == best
    single = max(row.plurality for row in sl.summary(tally))
    assert lift.in_sample == pytest.approx(float(best - single))


def test_the_same_seed_gives_the_same_bytes(demo: Recommendation) -> None:
    again = recommend(sl.demo_votes().tally())
    assert json.dumps(again.to_dict()) == json.dumps(demo.to_dict())


def test_what_to_expect_is_said_beside_the_verdict(demo: Recommendation) -> None:
    document = demo.to_dict()
    assert 0 < document["probability_gain"] < 1
    assert document["probability_min_gain"] < document["probability_gain"]
    assert abs(document["expected_gain"]) <= abs(held_out(demo).mean)
    regret = document["regret"]
    assert regret["single"] - regret["ensemble"] == pytest.approx(document["expected_gain"])
    assert min(regret.values()) > 0
    assert document["rule"] in document["rules"]
    assert document["checks"] == []


# The seven ways in which a verdict was once wrong.


def ten_options(n: int = 400, rescued: float = 0.1) -> sl.Tally:
    """A is surely wrong on a tenth of the questions that B surely knows, and unsure of these."""
    rng = np.random.default_rng(4)
    rows = []
    for question in range(n):
        gold, other = rng.choice(list("ABCDEFGHIJ"), 2, replace=False)
        saved = rng.random() < rescued
        ballots = {
            "A": [other] * 3 + [gold] * 2 if saved else [gold] * 5,
            "B": [gold] * 5 if saved else [other, other, other, gold, gold],
        }
        for model, votes in ballots.items():
            rows += [(f"q{question}", model, answer, gold) for answer in votes]
    return sl.votes_from(pl.DataFrame(rows, schema=["question", "model", "answer", "gold"], orient="row")).tally()


def test_the_placebo_knows_no_gold() -> None:
    found = recommend(ten_options(), repeats=1, replicates=300)
    assert found.verdict == "deploy_pair"
    assert found.options == 10
    tally = sl.read_votes(real_votes("mmlu-pro.parquet")).tally()
    trio = ["Meta-Llama-3_1-70B", "Qwen1.5-72B-Chat", "jamba-1.5-large"]
    three = recommend(tally, models=trio, max_models=3, repeats=1, replicates=300)
    assert three.verdict == "deploy_panel"
    assert three.placebo is not None
    assert three.placebo.mean == pytest.approx(held_out(three).mean, abs=0.005)


def test_two_single_votes_cannot_be_asked_and_three_can() -> None:
    rng = np.random.default_rng(2)
    pair = recommend(tally_of(vote_counts(independent(rng, 300, (0.6, 0.5)), 1, rng)), repeats=1, replicates=200)
    assert (pair.verdict, pair.reason, pair.more, pair.held_out) == ("cannot_tell", "not_askable", None, None)
    assert "one vote per question" in pair.sentence
    assert "Until then deploy m0 alone" in pair.sentence
    single = vote_counts(independent(rng, 900, (0.7, 0.7, 0.7)), 1, rng)
    trio = recommend(tally_of(single), repeats=1, replicates=200)
    assert trio.verdict == "deploy_panel"
    assert trio.equal_compute is None
    again = recommend(tally_of(single[:2] * np.array([3, 5])[:, None, None]), repeats=1, replicates=200)
    assert (again.verdict, again.reason, again.more) == ("cannot_tell", "not_askable", None)
    assert "always gives the same answer to a question" in again.sentence
    split = single[:2] * 3
    split[0, 0, :2] = (2, 1)
    assert recommend(tally_of(split), repeats=1, replicates=200).reason != "not_askable"
    assert "is unknown" in trio.sentence


def single_votes(seed: int, *right: float) -> Tally:
    """Models with one vote on each of 200 questions."""
    rng = np.random.default_rng(seed)
    return tally_of(vote_counts(independent(rng, 200, right), 1, rng))


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"search": "full", "max_models": 2}, "compare three models or more together"),
        ({"budget": 2.0}, "Raise the budget until it buys three models"),
        ({"budget": 2.0, "search": "full"}, "Raise the budget until it buys three models"),
    ],
)
def test_no_search_and_no_budget_makes_single_votes_of_pairs_count(options: dict[str, Any], remedy: str) -> None:
    found = recommend(single_votes(5, 0.7, 0.6, 0.6), repeats=1, replicates=200, **options)
    assert (found.verdict, found.reason, found.held_out, found.more) == ("cannot_tell", "not_askable", None, None)
    assert remedy in found.sentence


def test_a_gain_at_equal_cost_that_nobody_can_know_is_no_matter_of_more_questions() -> None:
    found = recommend(single_votes(5, 0.7, 0.65, 0.65), at_equal_cost=True, repeats=1, replicates=200)
    assert (found.verdict, found.reason) == ("cannot_tell", "unsure")
    (single,) = found.names(found.baseline)
    told = f"At equal cost no number of questions would tell, because {single} has too few votes to split."
    assert found.sentence.endswith(told)


def test_a_budget_can_leave_single_votes_or_no_ensemble_at_all() -> None:
    rng = np.random.default_rng(5)
    tally = tally_of(vote_counts(independent(rng, 200, (0.7, 0.6, 0.6)), 8, rng))
    two = recommend(tally, budget=2, repeats=1, replicates=200)
    assert (two.verdict, two.reason) == ("cannot_tell", "not_askable")
    assert "a budget of 2 buys one vote of each" in two.sentence
    assert "Raise the budget until it buys several votes of each or three models" in two.sentence
    one = recommend(tally, budget=1, repeats=1, replicates=200)
    assert (one.verdict, one.reason, one.held_out) == ("deploy_single", "alone", None)
    assert "a budget of 1 buys no second model" in one.sentence
    assert recommend(tally, budget=3, repeats=1, replicates=200).held_out is not None


def test_a_limit_of_two_models_compares_a_pair_even_where_smooth_weights_see_none() -> None:
    rng = np.random.default_rng(5)
    tally = tally_of(vote_counts(junk(rng, 200, 3), 8, rng))
    found = recommend(tally, max_models=2, repeats=1, replicates=200)
    assert {each.rule: each.members for each in found.candidates} == {"smooth_2": 1, "lead_2": 2}
    assert found.best is not None
    assert found.best.members == 2


def test_equal_compute_informs_and_gates_only_where_asked() -> None:
    """Five samples of each peer: a gain for sure, but hardly one when they must share five."""
    rng = np.random.default_rng(11)
    tally = tally_of(vote_counts(independent(rng, 300, (0.6, 0.45, 0.4)), 5, rng))
    found = recommend(tally, repeats=1, replicates=200)
    assert found.verdict in ("deploy_pair", "deploy_panel")
    assert found.equal_compute is not None
    assert "at the cost of m0 it" in found.sentence
    asked = recommend(tally, repeats=1, replicates=200, at_equal_cost=True)
    assert asked.equal_compute == found.equal_compute
    if asked.equal_compute is not None and asked.equal_compute.p > 0.05:
        assert asked.verdict in ("cannot_tell", "deploy_single")
        assert "cost" in asked.sentence
    single = tally_of(vote_counts(independent(rng, 900, (0.7, 0.7, 0.7)), 1, rng))
    open_one = recommend(single, repeats=1, replicates=200, at_equal_cost=True)
    assert (open_one.verdict, open_one.reason) == ("cannot_tell", "unsure_at_equal_cost")
    assert "too few votes to split" in open_one.sentence
    assert open_one.sentence.endswith("is not proven at equal cost.")
    dear = recommend(tally, repeats=1, replicates=200, prices={"m0": 1, "m1": 1000, "m2": 1000}, at_equal_cost=True)
    assert dear.equal_compute is None
    assert "because what m0 costs does not buy a vote of every model" in dear.sentence


def test_the_sentence_quotes_the_number_of_its_own_check(demo: Recommendation) -> None:
    assert demo.more is not None
    assert demo.more.check == "held_out"
    assert demo.more.effect.mean == held_out(demo).mean
    low, high = demo.more.range
    assert words.about(low or 0) in demo.sentence
    assert high is None or words.about(high) in demo.sentence


def nonsense(case: str) -> sl.Tally:
    rng = np.random.default_rng(0)
    rows = []
    for question in range(80):
        gold = "ABCD"[rng.integers(4)]
        for model, known in (("good", 0.8), ("other", 0.6)):
            for _ in range(4):
                meant = gold if rng.random() < known else "ABCD"[rng.integers(4)]
                rows.append(
                    (f"q{question}", model, WRITES[case](model, meant), f'["{gold}"]' if case == "gold" else gold)
                )
    return sl.votes_from(
        pl.DataFrame(rows, schema=dict.fromkeys(("question", "model", "answer", "gold"), pl.String), orient="row")
    ).tally()


WRITES: dict[str, Callable[[str, str], str | None]] = {
    "silence": lambda model, meant: None,
    "bracket": lambda model, meant: f"{meant})" if model == "good" else meant,
    "lower": lambda model, meant: meant.lower() if model == "good" else meant,
    "text": lambda model, meant: {"A": "Rome", "B": "Oslo"}.get(meant, "Bern") if model == "good" else meant,
    "n/a": lambda model, meant: "N/A" if model == "good" and meant == "A" else meant,
    "gold": lambda model, meant: meant,
}


@pytest.mark.parametrize("case", WRITES)
def test_nonsense_gets_no_verdict(case: str) -> None:
    found = recommend(nonsense(case), repeats=1, replicates=200)
    assert (found.verdict, found.reason) == ("cannot_tell", "checks")
    assert found.sentence.startswith("No verdict")
    assert found.errors[0].fix in found.sentence
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["checks"][0]["severity"] == "error"


def test_a_model_that_is_always_right_needs_no_other() -> None:
    rng = np.random.default_rng(5)
    perfect, other = np.zeros((1, 60, 4), dtype=int), vote_counts(independent(rng, 60, (0.8,)), 8, rng)
    perfect[0, :, 0] = 8
    found = recommend(tally_of(np.concatenate([perfect, other])), repeats=1, replicates=200)
    assert (found.verdict, found.reason, found.belief, found.more) == ("deploy_single", "always_right", None, None)
    assert found.sentence.startswith("Deploy m0 alone: it is right on all 60 questions")
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["expected_gain"] is None


def test_a_copy_cannot_change_a_vote() -> None:
    rng = np.random.default_rng(5)
    counts = vote_counts(independent(rng, 60, (0.6,)), 8, rng)
    found = recommend(tally_of(np.concatenate([counts, counts])), repeats=1, replicates=200)
    assert (found.verdict, found.reason, found.more) == ("deploy_single", "no_change", None)
    assert "alone: m1 votes exactly as m0 does, so it cannot change a vote" in found.sentence
    found = recommend(tally_of(np.concatenate([counts, counts, counts])), repeats=1, replicates=200)
    assert "alone: m1 and m2 vote exactly as m0 does, so they cannot change a vote" in found.sentence
    three = tally_of(np.concatenate([counts, counts, vote_counts(independent(rng, 60, (0.5,)), 8, rng)]))
    assert recommend(three, repeats=1, replicates=200).tally.models == ("m0", "m2")


def test_a_gain_that_hangs_on_one_rule_is_not_enough() -> None:
    sure, small, none, poor = (Effect(mean, 0.01, 2.0, 0.95, 0.01, 300, 300) for mean in (0.03, 0.012, 0.0, -0.05))
    judged = recommend(peers(), repeats=1, replicates=200).candidates[0].judged

    def judge(*effects: Effect, rule: str = "lead") -> bool:
        first, *others = effects
        best = Candidate(rule, judged, first)
        return supported(best, [best, *(Candidate("equal", judged, each) for each in others)])

    assert judge(sure, small, none, none)
    assert not judge(sure, none, none)
    assert judge(sure, poor, poor, poor)
    assert judge(sure)
    assert judge(sure, none, none, rule="log_odds")
    assert judge(replace(sure, p=0.001), none, none)
    assert not judge(replace(sure, p=0.03), none, none, rule="smooth_2")


def test_two_clusters_make_nobody_sure() -> None:
    """The chance of a gain is read off the interval, which knows how few clusters there are."""
    sure = belief(effect(np.repeat([0.1, 0.2], 30), np.repeat([0, 1], 30)))
    assert sure.above(0) < 0.9


def test_numbers_are_worded_as_people_say_them() -> None:
    effect = Effect(-0.0051, 0.002, 2.0, 0.95, -0.0, 100, 100)
    assert words.gains(effect).startswith("loses 0.51 points (95% interval -0.91 to")
    assert words.gains_alone(0.01, 0) == "gains 1 point"
    assert words.p_value(-0.0) == "0.000"
    assert words.costs(3.0) == "costs 3 times as much"
    assert words.costs(2.07) == "costs 2.1 times as much"
    assert words.costs(118.4) == "costs 118 times as much"
    assert words.costs(1.0) == "costs as much"
    assert words.costs(0.5) == "costs less"
    assert several(1, "pair") == "1 pair"
    assert several(36, "pair") == "36 pairs"


def peers() -> sl.Tally:
    rng = np.random.default_rng(1)
    return tally_of(vote_counts(independent(rng, 200, (0.6, 0.55, 0.5)), 8, rng))


def test_constraints() -> None:
    tally = peers()
    assert recommend(tally, repeats=1, replicates=200).verdict in ("deploy_pair", "deploy_panel")
    assert recommend(tally, max_models=2, repeats=1, replicates=200).verdict == "deploy_pair"
    one = recommend(tally, max_models=1, repeats=1, replicates=200)
    assert one.verdict == "deploy_single"
    assert len(one.policy.members) == 1
    two = recommend(tally, models=["m2", "m1"], repeats=1, replicates=200)
    assert {member.model for member in two.policy.members} <= {"m1", "m2"}
    assert recommend(tally, min_gain=0.5, repeats=1, replicates=200).verdict == "deploy_single"


def test_a_budget_scales_ensembles_down() -> None:
    tally = peers()
    found = recommend(tally, budget=8, repeats=1, replicates=200)
    assert sum(found.samples(found.choice)) <= 8
    assert found.cost(found.choice) <= 8
    prices = {"m0": 2.0, "m1": 1.0, "m2": 0.5}
    priced = recommend(tally, budget=4, prices=prices, repeats=1, replicates=200)
    assert priced.cost(priced.chosen) <= 4
    assert priced.policy.cost is not None
    assert priced.policy.cost <= 4
    assert priced.policy.members[0].price is not None


def test_questions_that_not_all_answered_are_counted_and_said() -> None:
    frame = sl.demo_votes().frame.collect()
    fewer = frame.filter((pl.col("model") != "gpt-4") | (pl.col("question").cast(pl.Int64) > 10))
    found = recommend(sl.votes_from(fewer).tally(), repeats=1, replicates=200)
    assert (len(found.tally.questions), len(found.votes.questions)) == (90, 100)
    assert "90 of 100 questions count" in found.notes[0]


def test_ties_of_every_size_stay_exact() -> None:
    """Common denominators past 64 bits take the same road."""
    answers = [f"w{i}" for i in range(60)]
    ballots: dict[str, dict[str, Counter[str | None]]] = {"aa": {}, "bb": {}}
    for size in range(1, 54):
        ballots["aa"][f"q{size}"] = Counter(["gold", *answers[: size - 1]])
        ballots["bb"][f"q{size}"] = Counter(["gold", *answers[: (size * 7) % 53]])
    case = Corpus(ballots, {f"q{size}": "gold" for size in range(1, 54)})
    found = recommend(sl.votes_from(case.frame()).tally(), search="full", repeats=1, replicates=200)
    curve = sl.curve(found.tally, "aa", "bb")
    assert found.rules["lift"].in_sample == pytest.approx(float(curve.best_plateau.lift))
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["verdict"] == found.verdict


def test_few_questions_that_are_all_right_prove_nothing() -> None:
    counts = np.zeros((2, 5, 3), dtype=np.int64)
    counts[0, :, 0], counts[1, :, 1] = 3, 3
    found = recommend(tally_of(counts), repeats=1, replicates=100, checks=())
    assert (found.verdict, found.reason) == ("cannot_tell", "always_right")
    assert "right on all 5 questions" in found.sentence
    assert [member.model for member in found.policy.members] == ["m0"]


def test_an_open_verdict_speaks_of_the_ensemble_that_keeps_it_open() -> None:
    rng = np.random.default_rng(5)
    gold = np.zeros((3, 400), dtype=np.int64)
    right = rng.random((3, 400)) < np.array([[0.89], [0.62], [0.62]])
    said = np.where(right, gold, 1 + rng.integers(3, size=(3, 400)))
    counts = np.eye(5, dtype=np.int64)[said]
    found = recommend(tally_of(counts), repeats=1, replicates=200, checks=())
    assert found.reason == "unsure"
    assert "about 0 more" not in found.sentence
    other = found.still_open
    assert other is not None
    assert found.more is not None
    assert other.effect.mean + found.selection.reach() * other.effect.standard_error >= found.min_gain
    assert found.more.effect.mean == other.effect.mean
    if other is not found.best:
        assert words.rule_words(other.rule) in found.sentence


@pytest.mark.parametrize(("gain", "said"), [(0.01, "+1 point"), (-0.01, "-1 point"), (0.02, "+2 points")])
def test_a_signed_gain_agrees_with_its_number(gain: float, said: str) -> None:
    assert words.gain_words(gain, 0) == said


def test_a_very_sure_gain_may_hang_on_one_rule() -> None:
    # On a tenth of the questions the second model is right and the first wrong, both for certain: only equal weights
    # share the credit. Elsewhere it wavers, and changes nothing.
    counts = np.zeros((2, 300, 10), dtype=np.int64)
    for question in range(300):
        rescued, known = question % 10 == 0, question % 10 < 7
        counts[0, question, 0 if known and not rescued else 1 + question % 9] = 2
        counts[1, question, 0] += 2 if rescued else 1
        counts[1, question, 1 + (question + 4) % 9] += not rescued
    found = recommend(tally_of(counts), repeats=1, replicates=1000, checks=())
    assert found.held_out is not None
    assert found.held_out.p <= 0.002
    assert (found.verdict, found.reason) == ("deploy_pair", "gain"), found.sentence


def test_nobody_falls_short_of_nothing() -> None:
    rng = np.random.default_rng(3)
    poor = tally_of(vote_counts(independent(rng, 300, (0.8, 0.3)), 4, rng))
    found = replace(recommend(poor, repeats=1, replicates=200), reason="too_little", min_gain=0.0)
    assert "no ensemble gains anything (one-sided test at 5%)" in found.sentence
    assert "worth" not in replace(found, reason="noise").sentence


def test_too_few_draws_for_any_verdict_are_refused() -> None:
    for number in (0, 1, 18):
        with pytest.raises(sl.InputError, match=rf"{number} bootstrap replicates? cannot show a p-value of 5%"):
            recommend(peers(), replicates=number)
    assert recommend(peers(), repeats=1, replicates=19).verdict


def test_votes_may_come_in_any_form(tmp_path: Path) -> None:
    rows = [
        (f"q{n}", model, "AB"[(n * place) % 3 % 2] if sample else "A", "AB"[n % 2])
        for n in range(40)
        for place, model in enumerate("abc")
        for sample in range(3)
    ]
    frame = pl.DataFrame(rows, schema=["question", "model", "answer", "gold"], orient="row")
    frame.write_csv(tmp_path / "votes.csv")
    wanted = recommend(sl.votes_from(frame).tally(), repeats=1).to_dict()
    for votes in (frame, frame.to_pandas(), sl.votes_from(frame), tmp_path / "votes.csv"):
        assert sl.recommend(votes, repeats=1).to_dict() == wanted
    assert sl.combine(frame, rules=["equal"], repeats=1).tally.models == ("a", "b", "c")
    assert sl.intervals(frame, quantities=["lift"]).of("b", "a")
    misspelt = frame.with_columns(answer=pl.col("answer") + ")")
    assert sl.recommend(misspelt).reason == "checks"
