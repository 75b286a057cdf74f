"""The simulated world: its votes, its exact pooling, and the values that the paper states of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from math import sqrt
from pathlib import Path

import pytest

from swaplaw.errors import InputError
from swaplaw.law.pair import pair
from swaplaw.paper.reproduce.simulation import stated_values
from swaplaw.paper.simulation import SPLITS, Point, World, draw, simulate, split_weight, theory
from swaplaw.votes.tally import Tally

from support.commands import Run
from support.pages import DOCS, blocks, words


def counts(tally: Tally, model: int, question: int) -> list[int]:
    """Votes for gold and for each rival, read back from the margins."""
    gold = int(tally.gold[model, question])
    width = len(tally.questions)
    return [gold, *(gold - int(margin) for margin in tally.margins(model)[question::width])]


def plain_score(votes: list[Fraction]) -> Fraction:
    tied = [place for place, vote in enumerate(votes) if vote == max(votes)]
    return Fraction(1, len(tied)) if 0 in tied else Fraction(0)


def plain_lift(tally: Tally, split: str) -> Fraction:
    primary, secondary = split_weight(split)
    total = Fraction(0)
    for question in range(len(tally.questions)):
        a, b = (list(map(Fraction, counts(tally, model, question))) for model in (0, 1))
        pooled = [primary * mine + secondary * theirs for mine, theirs in zip(a, b, strict=True)]
        total += plain_score(pooled) - plain_score(a)
    return total / len(tally.questions)


@pytest.mark.parametrize("world", [World(0.3), World(0.45, 0.2, -0.7), World(0.5, 0.0, 1.0, 3, 5, contested=1.0)])
def test_pooling_is_exact(world: World) -> None:
    tally = draw(world, 150, seed=3)
    point = simulate(world, trials=150, seed=3)
    for split in SPLITS:
        assert point.lifts[split].value == float(plain_lift(tally, split))
    assert {sum(counts(tally, model, 7)) for model in (0, 1)} == {world.samples}
    assert point.lifts["12:12"].value == float(pair(tally, "primary", "secondary").at(1).lift)


def test_votes_have_the_rates_and_the_overlap_that_the_world_says() -> None:
    n = 60_000
    for overlap in (-1.0, 0.35, 1.0):
        world = World(0.4, 0.1, overlap, contested=0.0, samples=1, known=1.0, unknown=0.0)
        tally = draw(world, n, seed=1)
        right = tally.gold.astype(bool)
        expected = (*world.thetas, world.joint_knowledge)
        for share, rate in zip((right[0].mean(), right[1].mean(), (right[0] & right[1]).mean()), expected, strict=True):
            assert abs(share - rate) < 4 * sqrt(rate * (1 - rate) / n) + 1e-12
    assert World(0.4, 0.1, -1.0, known=1.0, unknown=0.0).joint_knowledge == 0
    assert World(0.4, 0.1, 1.0, known=1.0, unknown=0.0).joint_knowledge == pytest.approx(0.35)


def test_standard_errors_are_those_of_repeated_simulations() -> None:
    world = World(0.4)
    runs = [simulate(world, trials=400, seed=seed) for seed in range(60)]
    lifts = [run.lifts["12:12"].value for run in runs]
    centre = sum(lifts) / len(lifts)
    spread = sqrt(sum((lift - centre) ** 2 for lift in lifts) / (len(lifts) - 1))
    assert spread == pytest.approx(sum(run.lifts["12:12"].error for run in runs) / len(runs), rel=0.35)


def test_every_stated_value_holds_within_monte_carlo_error_and_rounding() -> None:
    stated = stated_values(theory())
    assert len(stated) == 19
    wrong = [(each.published.id, each.published.value, each.ours) for each in stated if not each.within]
    assert not wrong
    # The tolerance is an error, not a blank cheque: a standard error of two simulations of 15,000 questions.
    assert all(each.tolerance < 1.5 for each in stated)


@pytest.mark.slow
def test_stated_values_hold_with_little_error_of_our_own() -> None:
    for seed in (11, 12):
        stated = stated_values(theory(trials=120_000, seed=seed))
        assert [each.published.id for each in stated if not each.within] == []


@pytest.mark.parametrize("changes", [{"contested": 0.1}, {"overlap": 0.9}, {"known": 0.7}, {"options": 9}])
def test_another_world_is_told_apart(changes: dict[str, float]) -> None:
    world = World(**{"collective": 0.4, **changes})  # type: ignore[arg-type]
    assert not all(each.within for each in stated_values(theory(world, trials=4000, step=0.02)))


def test_the_same_seed_gives_the_same_points() -> None:
    def points(seed: int) -> list[dict[str, object]]:
        found = theory(trials=50, step=0.1, seed=seed)
        return [point.to_dict() for sweep in (found.by_collective, found.by_gap, found.by_overlap) for point in sweep]

    assert points(4) == points(4)
    assert points(4) != points(5)


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: World(0.99), "mean rate"),
        (lambda: World(0.5, gap=-0.1), "gap"),
        (lambda: World(0.5, overlap=1.5), "overlap"),
        (lambda: World(0.5, contested=2), "contested"),
        (lambda: World(0.5, known=0.1, unknown=0.2), "unknown"),
        (lambda: World(0.5, options=1), "options"),
        (lambda: World(0.5, samples=0), "samples"),
        (lambda: simulate(World(0.5), trials=1), "trials"),
        (lambda: simulate(World(0.5), trials=5, splits=["6-18"]), "6-18"),
        (lambda: simulate(World(0.5), trials=5, splits=["0:0"]), "nobody"),
        (lambda: theory(step=0.5), "step"),
    ],
)
def test_impossible_worlds_are_refused(build: Callable[[], Point], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        build()


def test_command_prints_the_stated_values_and_draws_the_figures(swaplaw: Run, tmp_path: Path) -> None:
    [line] = [block for block in blocks(DOCS / "paper.md", "sh") if block.startswith("swaplaw simulate")]
    shown = swaplaw(*words(line), "--trials", "300", "-o", tmp_path)
    assert shown.code == 0
    assert "peak lift of 12:12 over m" in shown.out
    assert {file.name for file in tmp_path.iterdir()} == {"theory.svg", "theory.png", "decomp.svg", "decomp.png"}
    printed = swaplaw("simulate", "--trials", "300", "--split", "8:16", "--json")
    document = json.loads(printed.out)
    assert len(document["stated"]) == 19
    assert "8:16" in document["by_gap"][0]["lifts"]
    assert swaplaw("simulate", "--overlap", "7").code == 2


def test_a_world_without_harm_has_no_place_where_harm_begins(swaplaw: Run) -> None:
    printed = swaplaw("simulate", "--trials", "100", "--contested", "0", "--gap", "0", "--overlap", "-1", "--json")
    stated = {each["id"]: each for each in json.loads(printed.out)["stated"]}
    assert stated["harmful_below"]["ours"] is None or stated["harmful_below"]["ours"] < 0.2
