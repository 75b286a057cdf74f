"""S-hat from one matrix product, and from published marginals, against the exact law of each pair."""

from __future__ import annotations

import weakref
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given

import swaplaw as sl
from swaplaw.law.pair import Pair
from swaplaw.predict.law_file import Law
from swaplaw.predict.laws import margin_lift
from swaplaw.predict.screen import Rule, with_reliability

from support.corpora import corpora
from support.twin import Corpus

LAW = Law(Fraction(2, 3), 0.335, 0.138, 1.0, {}, {}, {}, {"dataset": "elsewhere"})


@given(case=corpora(models=4, questions=6))
def test_screening_is_the_law_of_each_pair(case: Corpus) -> None:
    tally = sl.votes_from(case.frame()).tally()
    exact = {(pair.primary, pair.secondary): pair.masses for pair in sl.pairs(tally)}
    rows = sl.screen(tally, LAW).to_dict()["pairs"]
    assert len(rows) == len(exact)
    for row in rows:
        masses = exact[row["primary"], row["secondary"]]
        assert (row["p"], row["q"]) == (float(masses.p), float(masses.q))
        predicted = masses.predicted_swap(Fraction("0.335"), Fraction("0.138"))
        assert row["predicted"] == pytest.approx(float(predicted), abs=1e-12)
        if masses.phi_adj is None:
            assert row["phi_adj"] is None
        else:
            assert row["phi_adj"] == pytest.approx(float(masses.phi_adj), abs=1e-9)
    predictions = [row["predicted"] for row in rows]
    assert predictions == sorted(predictions, reverse=True)
    assert [row["rank"] for row in rows] == [1 + sum(other > mine for other in predictions) for mine in predictions]


@given(case=corpora(models=4, questions=6, missing=False))
def test_marginals_alone_screen_like_votes(case: Corpus) -> None:
    tally = sl.votes_from(case.frame()).tally()
    votes = sl.screen(tally, LAW)
    accuracy = {row.model: float(row.plurality) for row in sl.summary(tally)}
    phi_adj = {(row["secondary"], row["primary"]): row["phi_adj"] for row in votes.to_dict()["pairs"]}
    published = sl.predict.screen_marginals(accuracy, phi_adj, LAW).to_dict()["pairs"]
    ours = {(row["primary"], row["secondary"]): row["predicted"] for row in votes.to_dict()["pairs"]}
    theirs = {(row["primary"], row["secondary"]): row["predicted"] for row in published}
    assert theirs == pytest.approx(ours, abs=1e-12)


def test_wide_ties_are_screened_too() -> None:
    answers = [f"w{i}" for i in range(60)]
    ballots: dict[str, dict[str, Counter[str | None]]] = {"aa": {}, "bb": {}}
    for size in range(1, 54):
        ballots["aa"][f"q{size}"] = Counter(["gold", *answers[: size - 1]])
        ballots["bb"][f"q{size}"] = Counter(["gold", *answers[: (size * 7) % 53]])
    tally = sl.votes_from(Corpus(ballots, {f"q{size}": "gold" for size in range(1, 54)}).frame()).tally()
    masses = sl.pairs(tally)[0].masses
    row = sl.screen(tally, LAW).to_dict()["pairs"][0]
    assert row["p"] == pytest.approx(float(masses.p), abs=1e-9)
    assert row["predicted"] == pytest.approx(
        float(masses.predicted_swap(Fraction("0.335"), Fraction("0.138"))), abs=1e-9
    )


def test_a_pair_needs_two_models_with_a_common_question() -> None:
    alone = Corpus({"aa": {"q": Counter("A")}}, {"q": "A"})
    with pytest.raises(sl.InputError, match="only one model \\('aa'\\)"):
        sl.screen(sl.votes_from(alone.frame()).tally(), LAW)
    apart = Corpus({"aa": {"q": Counter("A")}, "bb": {"r": Counter("A")}}, {"q": "A", "r": "A"})
    with pytest.raises(sl.InputError, match="no two models"):
        sl.screen(sl.votes_from(apart.frame()).tally(), LAW)


@pytest.mark.parametrize(
    ("accuracy", "phi_adj", "words"),
    [
        ({"a": 69.0, "b": 0.5}, {("a", "b"): 0.5}, "accuracy of 'a' is 69.0, expected a fraction of one"),
        ({"a": 0.6}, {("a", "b"): 0.5}, "no accuracy for model 'b'"),
        ({"a": 0.6, "b": 0.5}, {("a", "b"): 1.5}, "phi_adj of 'a' with 'b' is 1.5"),
        ({"a": 0.6, "b": 0.5}, {("b", "a"): -3.0}, "lies between -1 and 1"),
        ({"a": 0.6, "b": 0.5}, {("a", "b"): None}, "phi_adj of 'a' with 'b' is empty"),
        ({"a": 0.6, "b": 0.5}, {}, "no pairs to screen"),
    ],
)
def test_impossible_marginals_are_refused(
    accuracy: dict[str, float], phi_adj: dict[tuple[str, str], float | None], words: str
) -> None:
    with pytest.raises(sl.InputError, match=words):
        sl.predict.screen_marginals(accuracy, phi_adj, LAW)


def test_boundaries_need_no_phi_adj() -> None:
    """At q = 0 or p = 1 there is nothing to rescue: S-hat is the gap's penalty alone."""
    found = sl.predict.screen_marginals({"a": 0.6, "b": 0.0, "c": 1.0}, {("a", "b"): None, ("a", "c"): None}, LAW)
    rows = {(row["primary"], row["secondary"]): row for row in found.to_dict()["pairs"]}
    assert rows["a", "b"]["predicted"] == pytest.approx(-0.138 * 0.6)
    assert rows["c", "a"]["predicted"] == pytest.approx(-0.138 * 0.4)
    assert rows["a", "b"]["phi_adj"] is None


def test_the_margin_law_holds_no_two_pairs_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[weakref.ref[Pair]] = []
    most = 0

    def watched(pair: Pair, weight: Fraction) -> Fraction:
        nonlocal most
        alive.append(weakref.ref(pair))
        most = max(most, sum(each() is not None for each in alive))
        return margin_lift(pair, weight)

    monkeypatch.setattr("swaplaw.predict.screen.margin_lift", watched)
    assert len(sl.screen(sl.demo_votes(), rule="margin")) == len(alive) == 36
    assert most <= 2


@pytest.mark.parametrize("rule", ["swap", "margin"])
def test_a_screen_is_checked_on_questions_that_it_has_not_seen(rule: Rule) -> None:
    """What S-hat shares with the lift of the same questions is luck, and does not count."""
    tally = sl.demo_votes().tally()
    law = sl.calibrate(tally)
    found = with_reliability(sl.screen(tally, law, rule=rule), tally, law).reliability
    assert found is not None
    assert found.rho is not None
    rows = {row.name: row for row in sl.predictors(tally, law).predictors}
    own = rows["predicted" if rule == "swap" else "margin"]
    assert found.rho == pytest.approx(own.split)
    assert (found.gain, found.pairs) == (11, 36)
    if rule == "swap":
        assert own.rho.value is not None
        assert own.rho.value > found.rho + 0.2
        assert found.is_worthless
        assert "worthless here" in found.note


def test_a_screen_of_one_question_cannot_be_checked() -> None:
    one = Corpus({"aa": {"q": Counter("A")}, "bb": {"q": Counter("B")}}, {"q": "A"})
    tally = sl.votes_from(one.frame()).tally()
    found = with_reliability(sl.screen(tally, LAW), tally, LAW).reliability
    assert found is not None
    assert (found.rho, found.low, found.pairs) == (None, None, 1)
    assert "nothing to rank" in found.note
