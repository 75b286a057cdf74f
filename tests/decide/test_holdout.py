"""Held-out choice: folds that leak nothing, and a gain that is right on average where the in-sample one is not."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.decide.choice import BestSingle, Choice, PairRule, Recorded, all_pairs, alone, each
from swaplaw.decide.holdout import HeldOut, deal, held_out, held_out_weight
from swaplaw.decide.selection import selection
from swaplaw.errors import InputError
from swaplaw.evidence.interval import effect
from swaplaw.evidence.resample import resampler
from swaplaw.law.scoresheet import scoresheet
from swaplaw.votes.tally import Tally

from support.worlds import independent, tally_of, vote_counts

NONE = np.empty((0, 0))
"""No family of rules: pairs alone are compared."""


@given(
    member=st.lists(st.integers(0, 9), min_size=12, max_size=40),
    folds=st.integers(2, 12),
    repeats=st.integers(1, 3),
    seed=st.integers(0, 5),
)
def test_every_question_is_held_out_once_a_deal_and_units_stay_whole(
    member: list[int], folds: int, repeats: int, seed: int
) -> None:
    units = np.unique(member, return_inverse=True)[1]
    number = int(units.max()) + 1
    if number < 2:
        return
    dealt = deal(units, folds=folds, repeats=repeats, seed=seed)
    assert len(dealt.tests) == dealt.folds * dealt.repeats
    assert (dealt.tests.sum(axis=0) == dealt.repeats).all()
    for test in dealt.tests:
        assert all(len(set(test[units == unit])) == 1 for unit in range(number))
        assert test.any()
    sizes = [len(set(units[test])) for test in dealt.tests]
    assert max(sizes) - min(sizes) <= 1
    if folds >= number:
        assert (dealt.folds, dealt.repeats) == (number, 1)
    assert np.array_equal(dealt.tests, deal(units, folds=folds, repeats=repeats, seed=seed).tests)


@pytest.mark.parametrize(("options", "message"), [({"folds": 1}, "2 or more"), ({"repeats": 0}, "1 or more")])
def test_too_few_folds(options: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        deal(np.arange(5), **options)


def judge(tally: Tally, by: str = "lift", folds: int = 10) -> HeldOut:
    scorer, models = Recorded(tally), tuple(range(len(tally.models)))
    dealt = deal(np.arange(len(tally.questions)), folds=folds, repeats=1)
    rule = PairRule(scorer, models, all_pairs(models), by)  # type: ignore[arg-type]
    return held_out(scorer, rule, BestSingle(scorer, models), dealt)


def test_the_choice_never_sees_the_question_it_is_scored_on() -> None:
    """Turning round what a question says changes its own score, and no choice that was made without it."""
    rng = np.random.default_rng(0)
    counts = vote_counts(independent(rng, 30, (0.5, 0.5, 0.5)), 6, rng)
    before = judge(tally_of(counts), folds=30)
    for question in (0, 7):
        spoilt = counts.copy()
        spoilt[:, question] = spoilt[:, question][:, [1, 0, 2, 3]]
        after = judge(tally_of(spoilt), folds=30)
        fold = int(np.flatnonzero(deal(np.arange(30), folds=30, repeats=1).tests[:, question])[0])
        assert after.choices[fold] == before.choices[fold]
        assert after.baselines[fold] == before.baselines[fold]


def test_any_function_of_a_training_tally_is_a_rule() -> None:
    """A rule that knows nothing of scoresheets: all models at equal weights, led by the best on the training part."""
    rng = np.random.default_rng(1)
    tally = tally_of(vote_counts(independent(rng, 60, (0.6, 0.5, 0.5)), 6, rng))

    def panel(part: Tally) -> Choice:
        own = [float(scores.numerators.sum() / scores.denominator) for scores in part.scores]
        leader = int(np.argmax(own))
        members = (leader, *(model for model in range(3) if model != leader))
        return Choice(members, (Fraction(1),) * 3)

    scorer = Recorded(tally)
    dealt = deal(np.arange(60), folds=5, repeats=2)
    found = held_out(scorer, each(tally, panel), BestSingle(scorer, (0, 1, 2)), dealt)
    assert len(found.choices) == 10
    assert found.stability == 1
    assert found.ensembles == [((0, 1, 2), 1.0)]
    assert found.scores.mean() > found.baseline_scores.mean()


def test_the_shift_is_what_the_choice_of_all_questions_gains_beyond_those_of_the_folds() -> None:
    rng = np.random.default_rng(4)
    counts = vote_counts(independent(rng, 40, (0.5, 0.5, 0.5, 0.5)), 6, rng)

    def accuracy(made: Choice) -> Fraction:
        total = Fraction(0)
        for question in range(40):
            pooled = sum(
                w * counts[m, question].astype(object) for m, w in zip(made.members, made.weights, strict=True)
            )
            total += Fraction(int(pooled[0] == max(pooled)), sum(pooled == max(pooled)))
        return total / 40

    found = judge(tally_of(counts))
    folds = [accuracy(made) - accuracy(single) for made, single in zip(found.choices, found.baselines, strict=True)]
    expected = accuracy(found.choice) - accuracy(found.baseline) - sum(folds) / len(folds)
    assert expected
    assert found.shift == pytest.approx(float(expected))


@pytest.mark.slow
def test_held_out_is_unbiased_where_in_sample_is_not() -> None:
    """Six equal models: whichever pair is chosen on 60 questions was lucky there. The truth is known to any precision.

    The truth of a choice is its gain on many more questions of the same world; the truth of a held-out estimate is the
    mean truth of the choices that its folds made.
    """
    known, samples, n = (0.5,) * 6, 5, 60
    rng = np.random.default_rng(2)
    many = Recorded(tally_of(vote_counts(independent(rng, 20_000, known), samples, rng)))
    truth: dict[Choice, float] = {}

    def true_accuracy(choice: Choice) -> float:
        if choice not in truth:
            truth[choice] = float(many.score(choice).mean())
        return truth[choice]

    in_sample, held, real, real_in_folds = [], [], [], []
    for _ in range(100):
        found = judge(tally_of(vote_counts(independent(rng, n, known), samples, rng)))
        in_sample.append(found.in_sample)
        held.append(found.held_out)
        real.append(true_accuracy(found.choice) - true_accuracy(found.baseline))
        folds = zip(found.choices, found.baselines, strict=True)
        real_in_folds.append(np.mean([true_accuracy(c) - true_accuracy(b) for c, b in folds]))
    bias = np.array(held) - np.array(real_in_folds)
    optimism = np.array(in_sample) - np.array(real)
    error = bias.std() / np.sqrt(len(bias))
    figures = {
        "in-sample": np.mean(in_sample),
        "held out": np.mean(held),
        "truth": np.mean(real),
        "in-sample bias": optimism.mean(),
        "held-out bias": bias.mean(),
        "standard error": error,
    }
    print({name: f"{100 * value:+.2f} pp" for name, value in figures.items()})
    assert abs(bias.mean()) < 3 * error
    assert optimism.mean() > 0.02
    assert optimism.mean() > 5 * optimism.std() / np.sqrt(len(optimism))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("known", "samples", "n"), [((0.5,) * 6, 5, 60), ((0.5,) * 3, 5, 150), ((0.7, 0.3, 0.3), 12, 150)]
)
def test_intervals_for_the_best_of_many_cover_what_plain_ones_do_not(
    known: tuple[float, ...], samples: int, n: int
) -> None:
    """Held out, a lucky choice stays lucky on every fold: only the max-statistic's critical value allows for that."""
    rng = np.random.default_rng(5)
    many = Recorded(tally_of(vote_counts(independent(rng, 20_000, known), samples, rng)))
    models = tuple(range(len(known)))
    covered = {"plain": 0, "best of many": 0}
    for _ in range(100):
        tally = tally_of(vote_counts(independent(rng, n, known), samples, rng))
        scorer, draws = Recorded(tally), resampler(tally, replicates=500)
        rule, single = PairRule(scorer, models, all_pairs(models)), BestSingle(scorer, models)
        found = held_out(scorer, rule, single, deal(draws.member, repeats=2))
        folds = zip(found.choices, found.baselines, strict=True)
        truth = np.mean([many.score(chosen).mean() - many.score(base).mean() for chosen, base in folds])
        wide = selection(NONE, draws, scorer=scorer, baseline=found.baseline, pairs=all_pairs(models)).effect(
            found.gains
        )
        plain = effect(found.gains, draws.member)
        covered["best of many"] += wide.low <= truth <= wide.high
        covered["plain"] += plain.low <= truth <= plain.high
    print(f"{known}: {covered} of 100")
    assert covered["best of many"] >= 88
    assert covered["plain"] < covered["best of many"]


def test_both_rules_are_compared_on_the_same_folds() -> None:
    tally = sl.demo_votes().tally()
    lift, swap = judge(tally, "lift"), judge(tally, "swap")
    assert lift.baselines == swap.baselines
    assert lift.in_sample >= swap.in_sample, "no rule beats exact lift on the questions it was made by"


def test_held_out_weights_are_chosen_without_the_question() -> None:
    rng = np.random.default_rng(4)
    tally = tally_of(vote_counts(independent(rng, 20, (0.6, 0.5)), 4, rng))
    sheet = scoresheet(sl.pair(tally, "m0", "m1"))
    dealt = deal(np.arange(20), folds=20)
    found = held_out_weight(sheet, dealt)
    for test in dealt.tests:
        curve = sl.curve(tally.select(questions=~test), "m0", "m1")
        question = int(np.flatnonzero(test)[0])
        assert found[question] == sheet.at(curve.best_plateau.weight)[question]


def test_more_candidates_need_stronger_evidence() -> None:
    rng = np.random.default_rng(6)
    tally = tally_of(vote_counts(independent(rng, 150, (0.5,) * 6), 6, rng))
    scorer, draws = Recorded(tally), resampler(tally, replicates=500)
    pairs = all_pairs(range(6))
    spreads = [selection(NONE, draws, scorer=scorer, baseline=alone(0), pairs=pairs[:number]) for number in (1, 3, 15)]
    for fewer, more in pairwise(spreads):
        assert (fewer.largest <= more.largest).all()
        assert fewer.critical() <= more.critical()
    assert spreads[0].critical() >= 1.9
    gains = scorer.score(Choice((0, 1), (Fraction(1), Fraction(1)))) - scorer.score(alone(0))
    assert spreads[0].effect(gains).p <= spreads[2].effect(gains).p
    # The same candidate twice is one candidate.
    twice = selection(NONE, draws, scorer=scorer, baseline=alone(0), pairs=[pairs[0], pairs[0]])
    assert np.array_equal(twice.largest, spreads[0].largest)
    none = selection(NONE, draws)
    assert none.candidates == 0
    assert none.effect(np.zeros(150)).p == 1
