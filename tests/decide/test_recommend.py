"""The decision: right about fleets whose truth is known, and clear about what it cannot do."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import swaplaw as sl
from swaplaw.cli import main
from swaplaw.cli.decide.budget import command as budget_command
from swaplaw.cli.decide.recommend import command
from swaplaw.decide.policy import read_policy
from swaplaw.decide.recommend import recommend
from swaplaw.decide.verdict import Check, Recommendation, decide, sentence
from swaplaw.evidence.intervals import Effect

from support.pages import DOCS
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


@pytest.mark.parametrize("name", NULLS)
def test_null_fleets_get_no_ensemble(name: str) -> None:
    world, samples = NULLS[name]
    assert verdicts(world, samples, 5)["deploy_pair"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_null_fleets_get_an_ensemble_in_at_most_one_draw_of_twenty(name: str) -> None:
    world, samples = NULLS[name]
    found = verdicts(world, samples, 200)
    print(f"{name}: {dict(found)} of 200")
    assert found["deploy_pair"] <= 10


def test_a_real_gain_is_found() -> None:
    """Peers that know different questions: the true gain is more than ten points."""
    found = verdicts(lambda rng: independent(rng, 250, (0.6, 0.5, 0.45)), 24, 5)
    assert found["deploy_pair"] >= 4


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
    assert demo.verdict == "cannot_tell"
    assert demo.policy.members[0].model == "gpt-4"
    assert len(demo.policy.members) == 1
    assert demo.held_out.low < 0 < demo.held_out.high
    assert demo.more is not None
    assert demo.more.more is not None
    assert "more questions" in sentence(demo)
    # The arithmetic, done again: n ((critical + 0.8416) se / distance)^2.
    effect = demo.more.effect
    distance = abs(effect.mean - demo.more.boundary)
    needed = effect.n * ((effect.critical + 0.841621) * effect.standard_error / distance) ** 2
    assert demo.more.questions == pytest.approx(needed, abs=1.01)


def test_the_in_sample_gain_is_the_curves(demo: Recommendation) -> None:
    primary, secondary = demo.names(demo.by_lift.choice)
    curve = sl.curve(demo.tally, primary, secondary)
    best = max(each.best_plateau.outcome.accuracy for each in sl.law.curves(demo.tally))
    assert curve.at(demo.by_lift.choice.weights[1]).accuracy == best
    single = max(row.plurality for row in sl.summary(demo.tally))
    assert demo.by_lift.in_sample == pytest.approx(float(best - single))


def test_the_same_seed_gives_the_same_bytes(demo: Recommendation) -> None:
    again = recommend(sl.demo_votes().tally())
    assert json.dumps(again.to_dict()) == json.dumps(demo.to_dict())


def effect_between(low: float, high: float) -> Effect:
    return Effect((low + high) / 2, (high - low) / 4, 2.0, 0.95, 0.5, 100, 100)


@pytest.mark.parametrize(
    ("intervals", "members", "verdict"),
    [
        ([(0.01, 0.05)], 2, "deploy_pair"),
        ([(0.01, 0.05), (0.001, 0.04), (0.002, 0.05)], 2, "deploy_pair"),
        ([(0.01, 0.05), (0.001, 0.04), (0.002, 0.05)], 3, "deploy_panel"),
        ([(-0.001, 0.05), (0.001, 0.04), (0.002, 0.05)], 3, "cannot_tell"),
        ([(0.01, 0.05), (-0.001, 0.04), (0.002, 0.05)], 2, "cannot_tell"),
        ([(0.01, 0.05), (0.001, 0.04), (-0.01, 0.009)], 2, "deploy_single"),
        ([(0.001, 0.008)], 2, "deploy_single"),
        ([(0.001, 0.015)], 2, "cannot_tell"),
        ([(-0.01, 0.03)], 2, "cannot_tell"),
        ([(-0.01, 0.009)], 1, "deploy_single"),
        ([(-0.01, 0.011)], 1, "cannot_tell"),
    ],
)
def test_intervals_decide(intervals: list[tuple[float, float]], members: int, verdict: str) -> None:
    names = ("held_out", "equal_compute", "placebo")
    checks = [Check(name, effect_between(*each)) for name, each in zip(names, intervals, strict=False)]  # type: ignore[arg-type]
    assert decide(checks, members, 0.01) == verdict


def peers() -> sl.Tally:
    rng = np.random.default_rng(1)
    return tally_of(vote_counts(independent(rng, 200, (0.6, 0.55, 0.5)), 8, rng))


def test_constraints() -> None:
    tally = peers()
    assert recommend(tally, repeats=1, replicates=200).verdict == "deploy_pair"
    one = recommend(tally, max_models=1, repeats=1, replicates=200)
    assert one.verdict == "deploy_single"
    assert len(one.policy.members) == 1
    two = recommend(tally, models=["m2", "m1"], repeats=1, replicates=200)
    assert {member.model for member in two.policy.members} <= {"m1", "m2"}
    assert recommend(tally, min_gain=0.5, repeats=1, replicates=200).verdict == "deploy_single"


def test_a_budget_scales_ensembles_down() -> None:
    tally = peers()
    found = recommend(tally, budget=8, repeats=1, replicates=200)
    assert sum(found.samples(found.by_lift.choice)) <= 8
    assert found.cost(found.by_lift.choice) <= 8
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


def test_one_sample_each_says_what_it_cannot_show() -> None:
    rng = np.random.default_rng(2)
    found = recommend(tally_of(vote_counts(independent(rng, 300, (0.6, 0.5)), 1, rng)), repeats=1, replicates=200)
    assert found.verdict == "deploy_single"
    assert "one sample a question" in found.notes[0]


def test_a_gain_that_passes_only_some_checks_says_which_one_is_open() -> None:
    """Five samples of each peer: a gain for sure, but hardly one when the two must share five."""
    rng = np.random.default_rng(11)
    tally = tally_of(vote_counts(independent(rng, 300, (0.6, 0.45, 0.4)), 5, rng))
    found = recommend(tally, repeats=1, replicates=200)
    equal = found.effect("equal_compute")
    assert equal is not None
    assert found.held_out.low > 0 > equal.low
    assert found.verdict == "cannot_tell"
    assert "beats m0" in sentence(found)
    assert "at what m0 costs" in sentence(found)


def test_ties_of_every_size_stay_exact() -> None:
    """Common denominators past 64 bits take the same road."""
    answers = [f"w{i}" for i in range(60)]
    ballots: dict[str, dict[str, Counter[str | None]]] = {"aa": {}, "bb": {}}
    for size in range(1, 54):
        ballots["aa"][f"q{size}"] = Counter(["gold", *answers[: size - 1]])
        ballots["bb"][f"q{size}"] = Counter(["gold", *answers[: (size * 7) % 53]])
    case = Corpus(ballots, {f"q{size}": "gold" for size in range(1, 54)})
    found = recommend(sl.votes_from(case.frame()).tally(), repeats=1, replicates=200)
    curve = sl.curve(found.tally, "aa", "bb")
    assert found.by_lift.in_sample == pytest.approx(float(curve.best_plateau.lift))
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["verdict"] == found.verdict


def test_two_questions_are_enough_to_say_that_they_are_not(tmp_path: Path) -> None:
    found = recommend(sl.read_votes(votes_file(tmp_path, TWO)).tally())
    assert found.verdict == "cannot_tell"
    assert (found.held_out.low, found.held_out.high) == (-1, 1)


def votes_file(tmp_path: Path, rows: list[tuple[str, str, str, str]], **columns: list[str]) -> str:
    file = tmp_path / "votes.csv"
    frame = pl.DataFrame(rows, schema=["question", "model", "answer", "gold"], orient="row")
    frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()}).write_csv(file)
    return str(file)


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as stopped:
        main(["recommend", *arguments])
    code = stopped.value.code
    assert isinstance(code, int)
    return code, capsys.readouterr().err


ONE = [("q1", "a", "A", "A"), ("q1", "b", "B", "A")]
TWO = [*ONE, ("q2", "a", "A", "A"), ("q2", "b", "A", "A")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--models", "gpt-4,gpt-5"], "no model 'gpt-5'"),
        (["--models", "gpt-4,gpt-4"], "named twice"),
        (["--models", ","], "no model is named"),
        (["--max-models", "0"], "--max-models is 1 or more"),
        (["--min-gain", "5"], "no fraction of one"),
        (["--min-gain", "nan"], "no fraction of one"),
        (["--budget", "0"], "buys nothing"),
        (["--budget", "0.5"], "buys no sample of any model"),
        (["--price", "gpt-5=1"], "price for 'gpt-5'"),
        (["--price", "gpt-4=-1"], "'gpt-4' is -1.0"),
        (["--price", "gpt-4=1"], "no price for"),
        (["--price", "gpt-4=cheap"], "MODEL=PRICE"),
        (["--prices", "nowhere.json"], "cannot read prices"),
        (["--folds", "1"], "2 or more"),
        (["--repeats", "0"], "1 or more"),
        (["-o", "nowhere/policy.json"], "cannot write the policy"),
    ],
)
def test_bad_options_get_one_clear_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, error = run(["demo", "--replicates", "100", *arguments], capsys)
    assert code == 2
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_bad_votes_get_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, error = run([votes_file(tmp_path, ONE)], capsys)
    assert (code, "single question" in error, error.count("\n")) == (2, True, 1)
    code, error = run([votes_file(tmp_path, TWO, cluster=["c"] * 4), "--by", "cluster"], capsys)
    assert (code, "single cluster" in error, error.count("\n")) == (2, True, 1)
    apart = [("q1", "a", "A", "A"), ("q2", "b", "A", "A")]
    code, error = run([votes_file(tmp_path, apart)], capsys)
    assert (code, "no question" in error, error.count("\n")) == (2, True, 1)


def test_a_single_model_is_deployed_alone(tmp_path: Path) -> None:
    rows = [row for row in TWO if row[1] == "a"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.errors.StatisticalWarning)
        found = recommend(sl.read_votes(votes_file(tmp_path, rows)).tally())
    assert found.chosen.members == (0,)
    assert found.selection.pairs == 0


PAGE = (DOCS / "recommend.md").read_text()
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("line", COMMANDS)
def test_documented_commands_run(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, name, *arguments = shlex.split(line)
    done = CliRunner().invoke({"recommend": command, "budget": budget_command}[name], arguments)
    assert done.exit_code == 0, done.output


def test_documented_output_and_python_are_real() -> None:
    (shown,) = re.findall(r"```console\n\$ swaplaw recommend demo\n(.*?)```", PAGE, flags=re.DOTALL)
    assert shown.strip() in CliRunner().invoke(command, ["demo"]).output
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(code, "docs/recommend.md", "exec"), {})


def test_the_command_writes_the_policy_that_it_prints(tmp_path: Path, demo: Recommendation) -> None:
    file = tmp_path / "policy.json"
    shown = CliRunner().invoke(command, ["demo", "-o", str(file)])
    assert shown.exit_code == 0, shown.output
    assert shown.output.splitlines()[1].startswith("These votes cannot tell")
    assert "36 pairs" in shown.output
    assert read_policy(file) == demo.policy
    document = json.loads(CliRunner().invoke(command, ["demo", "--json"]).stdout)
    assert document == json.loads(json.dumps(demo.to_dict()))
    assert document["verdict"] == "cannot_tell"
    assert set(document["held_out"]) >= {"lift", "interval"}
    assert document["policy"]["members"] == [{"model": "gpt-4", "weight": "1", "samples": 30, "price": None}]
