"""`python -m benchmarks.decisions prior|halves|null|power`: what decisions are worth on real votes and in known worlds.

*halves*: weights are chosen and decided on one half of a real dataset and scored on the other. Gains are over the best
single model of the first half, with nulls as votes. *prior*: what the cross-fit says of such halves, as the mean and
deviation that `decide.recommend` starts from, and how much they change without any one dataset. *null*: fleets in which
no ensemble can gain. *power*: fleets with a known gain, beside an oracle that tests the ensemble that is truly best.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import swaplaw as sl
from swaplaw.decide.crossfit import Choice, Scorer, alone, best_singles, crossfit, deal
from swaplaw.decide.front import Asked, proves
from swaplaw.decide.rules import RULES
from swaplaw.evidence.interval import effect
from swaplaw.votes.tally import Tally, tally_array

Array = npt.NDArray[Any]
VOTES = Path(__file__).resolve().parents[1] / "tests" / "data" / "votes"
LEAST, MOST = 100, 1_500
"""Questions of a dataset: fewer say little, more take long."""
COMPETITORS = ("smooth", "chain", "best_single", "equal", "log_odds", "greedy", "best_pair")
SPLITS, SEED = 4, 5


def decided(tally: Tally, **options: Any) -> Any:
    """What `recommend` says."""
    return sl.recommend(tally, checks=(), **options)


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
    measured: dict[str, tuple[float, float]]
    """Mean and standard error of the cross-fitted gain, by kind of policy."""
    stated: float
    probability: float
    realised: dict[str, float]
    error: float
    proven: bool


def halves(folder: Path, splits: int) -> Iterator[Half]:
    """Decide on halves."""
    for name, tally in datasets(folder):
        n, score = len(tally.questions), Scorer(tally)
        for number in range(splits):
            train = np.random.default_rng([SEED, number]).permutation(n) < n // 2
            half = tally.select(questions=train)
            found = decided(half)
            (single,) = best_singles(half, np.ones((1, len(half.questions)), dtype=bool))
            base = score(single)[~train]
            gains = Asked(tally).outcome(found.now.point.plan, ~train).scores - base
            realised = {rule: float((score(RULES[rule].on_all(half))[~train] - base).mean()) for rule in COMPETITORS}
            measured = {
                "chain": _measured(found.judge.point("chain").gain),
                "smooth": _measured(found.held_out),
            }
            now = found.now.gain
            error = float(gains.std(ddof=1) / np.sqrt(len(gains)))
            yield Half(
                name,
                measured,
                now.mean,
                now.above(0),
                {"now": float(gains.mean()), **realised},
                error,
                found.proven,
            )


def _measured(found: Any) -> tuple[float, float]:
    return found.mean, found.half_width / 1.96


def prior_of(rows: Sequence[Half], kind: str) -> tuple[float, float]:
    """Mean of the measured gains, and their deviation less what noise explains; every dataset counts the same."""
    gains, errors = np.array([row.measured[kind] for row in rows]).T
    share = np.array([1 / sum(other.dataset == row.dataset for other in rows) for row in rows])
    mean = float(np.average(gains, weights=share))
    variance = np.average((gains - mean) ** 2 - errors**2, weights=share)
    return mean, float(np.sqrt(max(variance, 0.0)))


def show_prior(rows: Sequence[Half]) -> None:
    """Print the priors, of all datasets and how much they change without one of them."""
    for kind in ("chain", "smooth"):
        without = [prior_of([row for row in rows if row.dataset != name], kind) for name in {r.dataset for r in rows}]
        lows, highs = np.min(without, axis=0), np.max(without, axis=0)
        mean, deviation = prior_of(rows, kind)
        print(
            f"{kind}: mean {100 * mean:.2f} ({100 * lows[0]:.2f} to {100 * highs[0]:.2f} without one dataset), ", end=""
        )
        print(f"deviation {100 * deviation:.2f} ({100 * lows[1]:.2f} to {100 * highs[1]:.2f})")


def show_halves(rows: Sequence[Half]) -> None:
    """Print what each way of deciding was worth, and how well it was foreseen."""
    names = list(dict.fromkeys(row.dataset for row in rows))
    ways = list(rows[0].realised)
    by_set = {
        way: np.array([np.mean([row.realised[way] for row in rows if row.dataset == name]) for name in names])
        for way in ways
    }
    print(f"| decided by | mean gain on {len(names)} datasets | standard error | worst |\n|:--|--:|--:|--:|")
    for way, gains in by_set.items():
        error = gains.std(ddof=1) / np.sqrt(len(gains))
        print(f"| `{way}` | {100 * gains.mean():+.2f} | {100 * error:.2f} | {100 * gains.min():+.2f} |")
    below = [
        (name, gain, error)
        for name, gain in zip(names, by_set["now"], strict=True)
        if gain + 2 * (error := np.sqrt(np.mean([row.error**2 for row in rows if row.dataset == name]))) < -0.005
    ]
    print(f"surely below -0.5 points: {below or 'none'}")
    stated, realised = (np.mean([value(row) for row in rows]) for value in (_stated, _realised))
    print(f"stated {100 * stated:+.2f}, realised {100 * realised:+.2f} points; proven in {sum(r.proven for r in rows)}")
    chances = np.array([row.probability for row in rows])
    gained = np.array([float(row.realised["now"] > 0) + 0.5 * (row.realised["now"] == 0) for row in rows])
    for low, high in ((0, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01)):
        held = (chances >= low) & (chances < high)
        if held.any():
            print(f"probability {chances[held].mean():.2f} in {held.sum()} halves: gained in {gained[held].mean():.2f}")


def _stated(row: Half) -> float:
    return row.stated


def _realised(row: Half) -> float:
    return row.realised["now"]


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


def null_fleet(kind: str, models: int, samples: int, n: int, rng: np.random.Generator) -> Tally:
    """A leader, and others that add nothing: copies of its votes, weaker copies, questions' subsets, or guesses."""
    first = drawn(rng, known(rng, n, (0.6,)), samples)[0]
    others = []
    for _ in range(models - 1):
        guess = rng.multinomial(samples, np.full(4, 0.25), size=n)
        if kind == "guessers":
            others.append(guess)
        elif kind == "nested":
            others.append(np.where((rng.random(n) < 0.7)[:, None], first, np.eye(4, dtype=int)[3] * samples))
        else:
            kept = rng.binomial(first, 0.9 if kind == "copies" else 0.6)
            others.append(kept + rng.multinomial(samples - kept.sum(axis=1), np.full(4, 0.25)))
    return _tally(np.stack([first, *others]))


def _tally(votes: Array) -> Tally:
    models, n, _ = votes.shape
    return tally_array("made up", [f"m{m:02}" for m in range(models)], [f"q{q:06}" for q in range(n)], votes)


def show_null(draws: int, questions: int = 300) -> None:
    """Print in how many draws an ensemble was proven where none can gain."""
    proven = total = 0
    print("| fleet | 2 models | 5 models | 10 models |\n|:--|--:|--:|--:|")
    for kind in ("copies", "weak copies", "nested", "guessers"):
        cells = []
        for models in (2, 5, 10):
            counts = []
            for samples in (1, 8, 24):
                found = 0
                for number in range(draws):
                    rng = np.random.default_rng([SEED, models, samples, number])
                    found += proven_in(null_fleet(kind, models, samples, questions, rng))
                counts.append(f"{found}/{draws}")
                proven, total = proven + found, total + draws
            cells.append(", ".join(counts))
        print(f"| {kind} (1, 8, 24 votes) | {' | '.join(cells)} |", flush=True)
    print(f"proven in {proven} of {total}: {proven / total:.1%}")


def proven_in(tally: Tally) -> bool:
    """The one test of `recommend`."""
    fitted = crossfit(tally, [RULES["smooth"]], deal(np.arange(len(tally.questions))))
    return proves(fitted.gain("smooth"), fitted.over_best("smooth"), 0.01)


WORLDS: dict[str, tuple[Sequence[float], float, int]] = {
    f"{len(shares)} models, alike {alike}, {samples} votes": (shares, alike, samples)
    for shares, alike, samples in (
        ((0.6, 0.58), 0.3, 8), ((0.6, 0.5), 0.0, 8), ((0.6, 0.55, 0.5), 0.3, 8), ((0.6, 0.55, 0.5), 0.6, 8),
        ((0.6, 0.58, 0.56, 0.54), 0.6, 1), ((0.6, 0.58, 0.56, 0.54, 0.5), 0.6, 24), ((0.6, 0.4, 0.4, 0.4), 0.3, 8),
        ((0.7, 0.68, 0.66), 0.8, 3), ((0.5, 0.48, 0.46, 0.2, 0.2), 0.6, 5), ((0.8, 0.78, 0.76, 0.74), 0.7, 8),
    )
}  # fmt: skip


def show_power(draws: int, questions: int = 300) -> None:
    """Print how often a true gain is proven, beside an oracle that tests the truly best of the candidates."""
    ours = oracles = covered = 0
    print("| world | true gain | proven | oracle | interval holds it |\n|:--|--:|--:|--:|--:|")
    for name, (shares, alike, samples) in WORLDS.items():
        world = np.random.default_rng(SEED)
        large = _tally(drawn(world, known(world, 20_000, shares, alike=alike), samples))
        whole = np.ones((1, 20_000), dtype=bool)
        candidates: list[Choice] = [RULES[rule].choose(large, whole)[0] for rule in ("smooth", "equal", "best_pair")]
        truth = Scorer(large)
        lead = int(np.argmax([truth(alone(model)).mean() for model in range(len(shares))]))
        true = {choice: float((truth(choice) - truth(alone(lead))).mean()) for choice in candidates}
        best = max(candidates, key=lambda choice: true[choice])
        proven = oracle = held = 0
        for number in range(draws):
            rng = np.random.default_rng([SEED, 7, number])
            tally = _tally(drawn(rng, known(rng, questions, shares, alike=alike), samples))
            member = np.arange(questions)
            fitted = crossfit(tally, [RULES["smooth"]], deal(member))
            gain, score = fitted.gain("smooth"), Scorer(tally)
            proven += proves(gain, fitted.over_best("smooth"), 0.01)
            sure = effect(score(best) - score(alone(lead)), member)
            oracle += sure.p <= 0.05 and sure.mean >= 0.01
            held += gain.low <= true[best] <= gain.high
        print(
            f"| {name} | {100 * true[best]:+.1f} | {proven}/{draws} | {oracle}/{draws} | {held / draws:.0%} |",
            flush=True,
        )
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
        if chosen.what == "halves":
            show_prior(rows)


if __name__ == "__main__":
    main()
