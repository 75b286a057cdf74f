"""Equal compute against brute force: every subset of the votes, one by one, in Fractions."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw.cli import swaplaw
from swaplaw.cli.decide.budget import command
from swaplaw.decide.equal_compute import budget
from swaplaw.errors import InputError
from swaplaw.evidence.subsample import Shuffled, draw
from swaplaw.law.weights import vote

from support.corpora import corpora, weights
from support.twin import Ballots, Corpus, every_breakpoint, score
from support.worlds import independent, tally_of, vote_counts


def subsets(votes: Counter[str | None], size: int) -> list[tuple[Counter[str | None], Fraction]]:
    """Every way to draw so many of the votes: all equally likely."""
    drawn = [tuple(subset) for subset in combinations(sorted(votes.elements(), key=str), size)]
    return [(Counter(list(ballot)), Fraction(n, len(drawn))) for ballot, n in Counter(drawn).items()]


def expected(corpus: Corpus, sizes: dict[str, int], weighted: dict[str, Fraction], question: str) -> Fraction:
    """Expected score over every combination of subsets."""
    total = Fraction(0)
    lists = [subsets(corpus.ballots[model][question], sizes[model]) for model in sizes]
    for chosen in product(*lists):
        ballots: Ballots = {model: {question: votes} for model, (votes, _) in zip(sizes, chosen, strict=True)}
        chance = Fraction(1)
        for _, share in chosen:
            chance *= share
        total += chance * score(weighted, ballots, question, corpus.gold[question])
    return total


def least(corpus: Corpus, model: str) -> int:
    return min(votes.total() for votes in corpus.ballots[model].values())


@given(case=corpora(questions=3, missing=False), x=weights.filter(bool), data=st.data())
def test_expectations_equal_brute_force(case: Corpus, x: Fraction, data: st.DataObject) -> None:
    tally = sl.votes_from(case.frame()).tally()
    sizes = {model: data.draw(st.integers(1, least(case, model))) for model in ("aa", "bb")}
    drawn = draw(tally, (0, 1), list(sizes.values()))
    assert drawn.exact.all()
    found, error = drawn.scores((Fraction(1), x))
    assert error == 0
    weighted = {"aa": Fraction(1), "bb": x}
    for number, question in enumerate(tally.questions):
        truth = float(expected(case, sizes, weighted, question))
        assert found[number] == pytest.approx(truth, abs=1e-11)
        assert drawn.sheet().at(x)[number] == pytest.approx(truth, abs=1e-11)
    alone, _ = draw(tally, (1,), [sizes["bb"]]).scores((Fraction(1),))
    plain = [float(expected(case, {"bb": sizes["bb"]}, {"bb": Fraction(1)}, q)) for q in tally.questions]
    assert alone == pytest.approx(plain, abs=1e-11)


@given(case=corpora(questions=4, missing=False), x=weights, ballots=st.sampled_from([1, 3, 1_000]), data=st.data())
@settings(deadline=None)
def test_a_shuffle_draws_its_first_votes(case: Corpus, x: Fraction, ballots: int, data: st.DataObject) -> None:
    """Ballots that are listed have their brute-force probability; the others count the first votes of each shuffle."""
    tally = sl.votes_from(case.frame()).tally()
    shuffled = Shuffled(tally, 5, ballots)
    members = data.draw(st.sampled_from([(0, 1), (0,), (1,)]))
    sizes = [data.draw(st.integers(1, int(tally.votes[member].min()))) for member in members]
    drawn = shuffled.draw(members, sizes)
    names = [tally.models[member] for member in members]
    weighted = dict(zip(names, (Fraction(1), x), strict=False))
    found, _ = drawn.scores(tuple(weighted.values()))
    for number, question in enumerate(tally.questions):
        own = np.flatnonzero(drawn.owner == number)
        if drawn.exact[number]:
            truth = expected(case, dict(zip(names, sizes, strict=True)), weighted, question)
            assert found[number] == pytest.approx(float(truth), abs=1e-11)
            continue
        assert len(own) == ballots
        for place, (member, size) in enumerate(zip(members, sizes, strict=True)):
            first = shuffled.orders[member][:size, number]
            assert drawn.tally.gold[place, own].tolist() == (first == 0).sum(axis=0).tolist()
            # Rivals come in no order of their own: their counts tell them apart.
            dense = drawn.tally.dense(place)
            for ballot, one in enumerate(own):
                counts = sorted(dense[(drawn.tally.rivals.question == one) & (dense > 0)].tolist())
                assert counts == sorted(n for category, n in Counter(first[:, ballot].tolist()).items() if category)


@given(case=corpora(questions=4, missing=False), x=weights)
@settings(deadline=None)
def test_scores_read_off_the_spans_are_those_of_the_pooled_vote(case: Corpus, x: Fraction) -> None:
    tally = sl.votes_from(case.frame()).tally()
    drawn = draw(tally, (0, 1), [int(own.min()) for own in tally.votes])
    pooled = vote(drawn.tally, (0, 1), (Fraction(1), x))
    values = np.asarray(pooled.numerators / pooled.denominator, dtype=np.float64)
    truth = np.bincount(drawn.owner, drawn.share * values)
    assert drawn.scores((Fraction(1), x))[0].tolist() == np.round(truth, 12).tolist()


def test_ballots_too_many_for_floats_are_listed_exactly() -> None:
    votes = [["A"] * 40 + ["B"] * 40, ["A"] * 40 + ["C"] * 40]
    rows = {"question": [], "model": [], "answer": [], "gold": []}  # type: dict[str, list[str]]
    for model, own in zip("ab", votes, strict=True):
        for answer in own:
            for column, value in zip(rows, ("q", model, answer, "A"), strict=True):
                rows[column].append(value)
    tally = sl.votes_from(pl.DataFrame(rows)).tally()
    drawn = draw(tally, (0,), [41])
    ways = [comb(40, gold) * comb(40, 41 - gold) for gold in range(1, 41)]
    assert sum(ways) == comb(80, 41) > 2**53
    assert dict(zip(drawn.tally.gold[0].tolist(), drawn.share.tolist(), strict=True)) == {
        gold: number / comb(80, 41) for gold, number in zip(range(1, 41), ways, strict=True)
    }


@given(case=corpora(questions=3, samples=3, missing=False))
@settings(max_examples=25, deadline=None)
def test_the_best_weight_is_the_best_plateau_of_all(case: Corpus) -> None:
    if len(case.gold) < 2:
        return
    tally = sl.votes_from(case.frame()).tally()
    most = least(case, "aa"), least(case, "bb")
    total = max(most)
    found = budget(tally, "aa", "bb", total)
    assert [(s.primary, s.secondary) for s in found.splits] == [
        (total - b, b) for b in range(total + 1) if total - b <= most[0] and b <= most[1]
    ]
    for split in found.splits:
        assert split.exact
        sizes = {m: n for m, n in (("aa", split.primary), ("bb", split.secondary)) if n}

        def accuracy(x: Fraction, sizes: dict[str, int] = sizes) -> Fraction:
            weighted = {model: Fraction(1) if model == "aa" or len(sizes) == 1 else x for model in sizes}
            return sum((expected(case, sizes, weighted, q) for q in case.gold), Fraction(0)) / len(case.gold)

        if split.weight is None:
            assert split.accuracy == pytest.approx(float(accuracy(Fraction(1))), abs=1e-9)
            continue
        # Every weight at which drawn votes can tie: ratios of differences of shares.
        shares = [Fraction(n, split.primary) for n in range(1, split.primary + 1)]
        steps = [Fraction(n, split.secondary) for n in range(1, split.secondary + 1)]
        points = sorted({Fraction(0), *(s / t for s in shares for t in steps)})
        plateaus = [*((a + b) / 2 for a, b in pairwise(points)), points[-1] + 1]
        best = max(accuracy(x) for x in plateaus)
        assert split.accuracy == pytest.approx(float(best), abs=1e-9)
        assert float(accuracy(split.weight)) == pytest.approx(split.accuracy, abs=1e-9)


def test_all_the_votes_are_no_draw_at_all() -> None:
    tally = sl.demo_votes().tally()
    everything = draw(tally, (0, 5), (30, 30))
    assert len(everything.owner) == len(tally.questions)
    ours = everything.sheet().values.sum(axis=1).max()
    assert ours == pytest.approx(
        float(sl.curve(tally, tally.models[0], tally.models[5]).best_lift.outcome.accuracy) * 100
    )


def test_random_ballots_agree_with_listed_ones_within_their_standard_error() -> None:
    """The same split with every ballot listed and with few ballots drawn: over many seeds the z-scores are standard."""
    rng = np.random.default_rng(3)
    tally = tally_of(vote_counts(independent(rng, 40, (0.6, 0.5)), 8, rng))
    one = (Fraction(1), Fraction(2, 3))
    listed = draw(tally, (0, 1), (4, 3), ballots=10**6)
    assert listed.exact.all()
    truth = listed.scores(one)[0].mean()
    z = []
    for seed in range(60):
        few = draw(tally, (0, 1), (4, 3), ballots=40, seed=seed)
        assert not few.exact.all()
        scores, error = few.scores(one)
        assert error > 0
        z.append((scores.mean() - truth) / error)
    assert abs(np.mean(z)) < 4 / np.sqrt(60)
    assert 0.75 < np.std(z) < 1.3


def test_more_samples_help_a_model_and_splitting_them_is_compared_at_the_same_total() -> None:
    rng = np.random.default_rng(5)
    tally = tally_of(vote_counts(independent(rng, 150, (0.55, 0.55)), 8, rng))
    found = budget(tally, "m0", "m1", [2, 4, 8], ballots=100)
    alone = {s.samples: s.accuracy for s in found.splits if s.secondary == 0}
    assert alone[2] < alone[4] < alone[8]
    single, mixed = found.best(8)
    assert mixed is not None
    assert mixed.held_out > single.held_out + 0.05, "independent peers: diversity, not more samples"


def test_the_front_is_what_nothing_cheaper_beats() -> None:
    rng = np.random.default_rng(6)
    tally = tally_of(vote_counts(independent(rng, 60, (0.6, 0.5)), 6, rng))
    found = budget(tally, "m0", "m1", [1, 2, 3, 4], prices={"m0": 3, "m1": 1}, ballots=50)
    for split in found.splits:
        assert split.cost == 3 * split.primary + split.secondary
        beaten = any(
            (o.cost <= split.cost and o.held_out > split.held_out)
            or (o.cost < split.cost and o.held_out == split.held_out)
            for o in found.splits
        )
        assert split.efficient != beaten or any(
            o.efficient and (o.cost, o.held_out) == (split.cost, split.held_out) for o in found.splits
        )
    assert [s.cost for s in found.front] == sorted(s.cost for s in found.front)
    assert [s.held_out for s in found.front] == sorted(s.held_out for s in found.front)


def test_the_same_seed_gives_the_same_bytes() -> None:
    rng = np.random.default_rng(7)
    tally = tally_of(vote_counts(independent(rng, 40, (0.6, 0.5)), 8, rng))
    one, two = (json.dumps(budget(tally, "m0", "m1", 6, ballots=30, seed=4).to_dict()) for _ in range(2))
    assert one == two
    assert one != json.dumps(budget(tally, "m0", "m1", 6, ballots=30, seed=5).to_dict())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, "give 1 or more"),
        ({"samples": 31}, "more than either model has"),
        ({"prices": {"gpt-5": 1}}, "price for 'gpt-5'"),
        ({"prices": {"gpt-4": -1, "mistral-large": 1}}, "'gpt-4' is -1"),
        ({"prices": {"gpt-4": float("nan"), "mistral-large": 1}}, "'gpt-4' is nan"),
        ({"prices": {"gpt-4": 1}}, "no price for 'mistral-large'"),
        ({"primary": "gpt-5"}, "no model 'gpt-5'"),
    ],
)
def test_bad_input_gets_one_clear_message(options: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"primary": "gpt-4", "secondary": "mistral-large", **options}
    with pytest.raises(InputError, match=message):
        budget(sl.demo_votes().tally(), **arguments)  # type: ignore[arg-type]


def test_the_command(tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"gpt-4": 3, "claude-3-opus-20240229": 1}))
    pair = ["demo", "--primary", "gpt-4", "--secondary", "claude-3-opus-20240229", "--samples", "2,4"]
    shown = CliRunner().invoke(command, [*pair, "--prices", str(prices)])
    assert shown.exit_code == 0, shown.output
    assert "4 samples: claude-3-opus-20240229 alone" in shown.output
    found = CliRunner().invoke(command, [*pair, "--json"])
    document = json.loads(found.stdout)
    assert {split["samples"] for split in document["splits"]} == {2, 4}
    bad = CliRunner().invoke(swaplaw, ["budget", *pair, "--price", "gpt-4"])
    assert isinstance(bad.exception, InputError)
    assert "MODEL=PRICE" in str(bad.exception)


def test_every_breakpoint_of_a_draw_is_a_ratio_of_small_differences() -> None:
    """What the brute force above relies on."""
    case = Corpus({"aa": {"q": Counter("AAB")}, "bb": {"q": Counter("AB")}}, {"q": "A"})
    allowed = {Fraction(s, 3) / Fraction(t, 2) for s in range(4) for t in (1, 2)}
    assert set(every_breakpoint(case, "aa", "bb")) <= allowed
