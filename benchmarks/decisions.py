"""`python -m benchmarks.decisions prior|halves|null|power`: what decisions are worth on real votes and in known worlds.

*halves*: weights are chosen and decided on one half of a real dataset and scored on the other, then the halves change
places. Gains are over the best single model of the first half, with nulls as votes. *prior*: mean and deviation of what
the ensemble gains on such halves, less what noise explains, with all datasets and without each.
*null*: fleets in which no ensemble can gain. *power*: fleets with a known gain, beside an oracle that tests the
ensemble that is truly best.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import swaplaw as sl
from swaplaw.decide.crossfit import Choice, Scorer, alone, crossfit, deal
from swaplaw.decide.defaults import MIN_GAIN
from swaplaw.decide.front import Asked, proves
from swaplaw.decide.recommend import Belief
from swaplaw.decide.rules import RULES, likeliest, rounded, shares_of
from swaplaw.errors import several
from swaplaw.evidence.interval import LEVEL, effect
from swaplaw.votes.tally import Tally, tally_array

Array = npt.NDArray[Any]
VOTES = Path(__file__).resolve().parents[1] / "tests" / "data" / "votes"
LEAST, MOST = 100, 1_500
"""Questions of a dataset: fewer say little, more take long."""
COMPETITORS = ("smooth", "chain", "equal", "log_odds", "greedy", "best_pair")
SPLITS, SEED = 8, 5


def datasets(folder: Path) -> Iterator[tuple[str, Tally]]:
    """Real votes, some in parts, each of questions that all its models answered."""
    frames = {file.stem: pl.read_parquet(file) for file in sorted(folder.glob("*.parquet"))}
    for name, frame in frames.items():
        if name == "renze-temperature":
            for label, least, most in (("cold", 0.0, 0.01), ("warm", 0.75, 2.0)):
                yield from _counted(f"{name}, {label}", frame.filter(pl.col("temperature").is_between(least, most)))
        elif name == "renze-exams":
            # Ids repeat from exam to exam; what no column tells apart is left out.
            named = frame.with_columns(question=pl.concat_str("cluster", "question", "gold", separator="/"))
            yield from _counted(name, named)
            for (exam,), part in named.group_by("cluster", maintain_order=True):
                yield from _counted(f"{name}, {exam}", part)
        elif name == "reasoning-gym":
            yield from _counted(name, frame)
            family = pl.col("cluster").str.split("/").list.first()
            for (kind,), part in frame.group_by(family, maintain_order=True):
                yield from _counted(f"{name}, {kind}", part)
        elif name == "mmlu-pro":
            right = (pl.col("answer") == pl.col("gold")).fill_null(False).mean()
            ranked = frame.group_by("model").agg(right).sort("answer", descending=True)["model"].to_list()
            rng = np.random.default_rng(SEED)
            fleets = {"eight best": ranked[:8], "ranks 11 to 18": ranked[10:18], "all": ranked}
            fleets |= {f"fleet {k}": rng.choice(ranked, 5, replace=False).tolist() for k in range(3)}
            for fleet, models in fleets.items():
                yield from _counted(f"{name}, {fleet}", frame.filter(pl.col("model").is_in(models)))
            best = frame.filter(pl.col("model").is_in(ranked[:8]))
            for (subject,), part in best.group_by("cluster", maintain_order=True):
                yield from _counted(f"{name}, {subject}", part)
        else:
            for (dataset,), part in frame.group_by("dataset", maintain_order=True):
                yield from _counted(str(dataset), part)


def _counted(name: str, frame: pl.DataFrame) -> Iterator[tuple[str, Tally]]:
    several = frame.group_by("question").agg(pl.col("gold").n_unique()).filter(pl.col("gold") > 1)["question"]
    columns = [column for column in ("question", "model", "answer", "gold", "reason") if column in frame.columns]
    kept = frame.filter(~pl.col("question").is_in(several.implode())).select(columns)
    tally = sl.votes_from(kept.with_columns(dataset=pl.lit("real"))).tally()
    tally = tally.select(questions=np.logical_and.reduce(tally.answered))
    n = len(tally.questions)
    if n > MOST:
        chosen = np.random.default_rng(SEED).choice(n, MOST, replace=False)
        tally = tally.select(questions=np.isin(np.arange(n), chosen))
    if n >= LEAST:
        yield name, tally


@dataclass(frozen=True)
class Half:
    """One decision on one half of a dataset, and what it was worth on the other."""

    dataset: str
    now: Belief
    proven: bool
    realised: dict[str, tuple[float, float]]
    """What `now` and its competitors gain on the other half, and the standard error."""


def halves(folder: Path, splits: int) -> Iterator[Half]:
    """Decide on halves."""
    for name, tally in datasets(folder):
        n, score, asked = len(tally.questions), Scorer(tally), Asked(tally)
        for number in range(splits):
            train = np.random.default_rng([SEED, number // 2]).permutation(n) < n // 2
            train = ~train if number % 2 else train
            half = tally.select(questions=train)
            found = sl.recommend(half, checks=())
            base = score(found.baseline)[~train]
            choices = {rule: RULES[rule].on_all(half) for rule in COMPETITORS} | {"logit of all": logit_of_all(half)}
            gains = {"now": asked.outcome(found.now.point.plan, ~train).scores - base}
            gains |= {rule: score(choice)[~train] - base for rule, choice in choices.items()}
            root = float(np.sqrt(len(base)))
            realised = {rule: (float(gain.mean()), float(gain.std(ddof=1)) / root) for rule, gain in gains.items()}
            yield Half(name, found.now.gain, found.proven, realised)


def logit_of_all(tally: Tally) -> Choice:
    """The simplest competitor: `smooth` with as many voters as have a weight."""
    read = tally.silence("ignored")
    order = sorted(
        range(len(tally.models)), key=lambda model: -Fraction(read.scores[model].total, read.scores[model].denominator)
    )
    return replace(rounded(likeliest(shares_of(read)), order, then_ask=True), silence="ignored")


def show_prior(rows: Sequence[Half]) -> None:
    """Print the prior of all datasets, and how much it changes without one of them."""
    names = list(dict.fromkeys(row.dataset for row in rows))
    without = [prior_of([row for row in rows if row.dataset != name]) for name in names]
    for word, place in (("mean", 0), ("deviation", 1)):
        others = [prior[place] for prior in without]
        print(f"{word} {prior_of(rows)[place]:.2f} points ({min(others):.2f} to {max(others):.2f} without one dataset)")


def prior_of(rows: Sequence[Half]) -> tuple[float, float]:
    """Mean of what the ensemble gains, and its deviation less what noise explains; all datasets count the same."""
    share = np.array([1 / sum(other.dataset == row.dataset for other in rows) for row in rows])
    gains, errors = 100 * np.array([row.realised["smooth"] for row in rows]).T
    mean = np.average(gains, weights=share)
    variance = np.average((gains - mean) ** 2 - errors**2, weights=share)
    return float(mean), float(np.sqrt(max(variance, 0.0)))


def show_halves(rows: Sequence[Half]) -> None:
    """Print what each way of deciding was worth, and how well it was foreseen."""
    names = list(dict.fromkeys(row.dataset for row in rows))

    def by_set(values: Sequence[float]) -> Array:
        each = list(zip(rows, values, strict=True))
        return np.array([np.mean([value for row, value in each if row.dataset == name]) for name in names])

    print(f"| decided by | mean gain on {len(names)} datasets | standard error | worst |\n|:--|--:|--:|--:|")
    for way in rows[0].realised:
        gains = 100 * by_set([row.realised[way][0] for row in rows])
        print(f"| {way} | {gains.mean():+.2f} | {gains.std(ddof=1) / np.sqrt(len(gains)):.2f} | {gains.min():+.2f} |")
    gains, errors = (by_set([row.realised["now"][place] for row in rows]) for place in (0, 1))
    below = [(name, *pair) for name, *pair in zip(names, gains, errors, strict=True) if pair[0] + 2 * pair[1] < -0.005]
    print(f"surely below -0.5 points: {below or 'none'}")
    stated = by_set([row.now.mean for row in rows])
    print(f"stated {100 * stated.mean():+.2f}, realised {100 * gains.mean():+.2f} points")
    deployed, proven = np.mean([(row.now.mean != 0, row.proven) for row in rows], axis=0)
    print(f"an ensemble is deployed in {deployed:.0%} and proven in {proven:.0%} of {len(rows)} halves")
    chances = np.array([row.now.above(0) for row in rows])
    gained = np.array([(row.realised["now"][0] > 0) + 0.5 * (row.realised["now"][0] == 0) for row in rows])
    for low, high in ((0.01, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01)):
        held = (chances >= low) & (chances < high)
        if held.any():
            print(f"probability {chances[held].mean():.2f} in {held.sum()} halves: gained in {gained[held].mean():.2f}")


World = Callable[[np.random.Generator, int], Array]
"""Answer distributions of models x questions x options, gold first."""


def known(rng: np.random.Generator, n: int, shares: Sequence[float], *, alike: float = 0.3, options: int = 4) -> Array:
    """Models that know these shares of the questions, and know the same ones the more they are alike."""
    common = rng.random(n)
    draws = np.where(rng.random((len(shares), n)) < alike, common, rng.random((len(shares), n)))
    gold = np.where(draws < np.array(shares)[:, None], 0.8, 0.15)
    favourite = rng.integers(1, options, size=(len(shares), n))
    rest = np.where(favourite[..., None] == np.arange(1, options), 0.7, 0.3 / max(options - 2, 1))
    rest /= rest.sum(axis=-1, keepdims=True)
    return np.concatenate([gold[..., None], (1 - gold)[..., None] * rest], axis=-1)


def drawn(rng: np.random.Generator, shares: Array, samples: int) -> Array:
    """Votes."""
    return rng.multinomial(samples, shares)


CLUSTER = 5
NULLS = ("copies", "weak copies", "nested", "guessers", "clusters")


def null_fleet(kind: str, models: int, samples: int, n: int, rng: np.random.Generator) -> Tally:
    """A leader, and others that add nothing: copies of its votes, weaker copies, questions' subsets, or guesses.

    Where others guess, questions have two, three or four options; in *clusters*, what is copied comes in runs of five.
    """
    again = CLUSTER if kind == "clusters" else 1
    first = drawn(rng, np.repeat(known(rng, n // again, (0.6,)), again, axis=1), samples)[0]
    if kind == "guessers":
        options = rng.integers(2, 5, n)
        there = np.arange(4) < options[:, None]
        first[:, 1] += np.where(there, 0, first).sum(axis=1)
        first[~there] = 0
        guessed = [rng.multinomial(samples, there / options[:, None]) for _ in range(models - 1)]
        return _tally(np.stack([first, *guessed]))
    others = []
    for _ in range(models - 1):
        if kind in ("nested", "clusters"):
            copied = np.repeat(rng.random(n // again) < 0.7, again)
            others.append(np.where(copied[:, None], first, np.eye(4, dtype=int)[3] * samples))
        else:
            kept = rng.binomial(first, 0.9 if kind == "copies" else 0.6)
            others.append(kept + rng.multinomial(samples - kept.sum(axis=1), np.full(4, 0.25)))
    return _tally(np.stack([first, *others]))


def _tally(votes: Array) -> Tally:
    models, n, _ = votes.shape
    return tally_array("made up", [f"m{m:02}" for m in range(models)], [f"q{q:06}" for q in range(n)], votes)


FLEETS = ((2, 1), (2, 24), (5, 8), (10, 1), (10, 24))
"""Models and votes of the fleets in which nothing can gain."""


def show_null(draws: int, questions: int = 300) -> None:
    """Print in how many draws an ensemble was proven where none can gain."""
    total = 0
    heads = [f"{models} models, {several(samples, 'vote')}" for models, samples in FLEETS]
    print(f"| of {draws} draws | {' | '.join(heads)} |\n|:--|{'--:|' * len(FLEETS)}")
    for kind in NULLS:
        counts = []
        for models, samples in FLEETS:
            made = (np.random.default_rng([SEED, models, samples, number]) for number in range(draws))
            fleets = (null_fleet(kind, models, samples, questions, rng) for rng in made)
            counts.append(sum(proven_in(fleet, kind == "clusters") for fleet in fleets))
        total += sum(counts)
        print(f"| {kind} | {' | '.join(map(str, counts))} |", flush=True)
    print(f"proven in {total / draws / len(FLEETS) / len(NULLS):.1%} of all")


def proven_in(tally: Tally, clustered: bool) -> bool:
    """The one test of `recommend`."""
    member = np.arange(len(tally.questions)) // (CLUSTER if clustered else 1)
    fitted = crossfit(tally, [RULES["smooth"]], deal(member))
    return proves(fitted.gain("smooth"), fitted.over_best("smooth"), MIN_GAIN)


WORLDS: tuple[tuple[Sequence[float], float, int], ...] = (
    ((0.6, 0.58), 0.8, 8), ((0.6, 0.5), 0.7, 8), ((0.6, 0.55, 0.5), 0.85, 8), ((0.6, 0.55, 0.5), 0.9, 24),
    ((0.6, 0.58, 0.56, 0.54, 0.5), 0.9, 24), ((0.6, 0.4, 0.4, 0.4), 0.6, 8), ((0.7, 0.68, 0.66), 0.9, 3),
    ((0.5, 0.48, 0.46, 0.2, 0.2), 0.85, 5), ((0.8, 0.78, 0.76, 0.74), 0.8, 8), ((0.5, 0.45, 0.45, 0.45), 0.8, 1),
)  # fmt: skip
"""Shares of the questions that models know, how alike they are, and votes for each question."""


def show_power(draws: int, questions: int = 300) -> None:
    """Print how often a true gain is proven, beside an oracle that tests the truly best of the candidates.

    The interval should hold what the ensemble that was chosen truly gains over the single model that was chosen.
    """
    ours = oracles = covered = 0
    print("| known, alike, votes | true gain | proven | oracle | interval holds it |\n|:--|--:|--:|--:|--:|")
    for shares, alike, samples in WORLDS:
        world = np.random.default_rng(SEED)
        large = _tally(drawn(world, known(world, 20_000, shares, alike=alike), samples))
        candidates: list[Choice] = [RULES[rule].on_all(large) for rule in ("smooth", "equal", "best_pair")]
        truth = Scorer(large)
        lead = max((alone(model) for model in range(len(shares))), key=lambda single: truth(single).mean())
        best = max(candidates, key=lambda choice: truth(choice).mean())
        proven = oracle = held = 0
        for number in range(draws):
            rng = np.random.default_rng([SEED, 7, number])
            tally = _tally(drawn(rng, known(rng, questions, shares, alike=alike), samples))
            fitted = crossfit(tally, [RULES["smooth"]], deal(np.arange(questions)))
            gain, score = fitted.gain("smooth"), Scorer(tally)
            proven += proves(gain, fitted.over_best("smooth"), MIN_GAIN)
            sure = effect(score(best) - score(lead), np.arange(questions))
            oracle += sure.p <= 1 - LEVEL and sure.mean >= MIN_GAIN
            held += gain.low <= (truth(fitted["smooth"].choice) - truth(fitted.single.choice)).mean() <= gain.high
        true = 100 * (truth(best) - truth(lead)).mean()
        name = f"{', '.join(f'{share:.0%}' for share in shares)}; {alike}; {several(samples, 'vote')}"
        print(f"| {name} | {true:+.1f} | {proven}/{draws} | {oracle}/{draws} | {held / draws:.0%} |", flush=True)
        ours, oracles, covered = ours + proven, oracles + oracle, covered + held
    held_in = covered / draws / len(WORLDS)
    print(f"{ours / max(oracles, 1):.2f} of the oracle's power; intervals hold the gain in {held_in:.0%}")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decisions", description=__doc__)
    parser.add_argument("what", choices=["prior", "halves", "null", "power"])
    parser.add_argument("--draws", type=int, default=200, help="draws of each made-up fleet")
    parser.add_argument("--splits", type=int, default=SPLITS, help="splits of each real dataset")
    parser.add_argument("--votes", type=Path, default=VOTES, help="a folder of real votes")
    chosen = parser.parse_args()
    if chosen.what == "null":
        show_null(chosen.draws)
    elif chosen.what == "power":
        show_power(chosen.draws)
    else:
        rows = list(halves(chosen.votes, chosen.splits))
        (show_prior if chosen.what == "prior" else show_halves)(rows)


if __name__ == "__main__":
    main()
