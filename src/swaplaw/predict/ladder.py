"""How many samples? Expected accuracies of a pair when each model gives N samples per question.

Up to what is recorded, N samples are drawn without replacement from the votes at hand (see `subsample`), so every
expectation is unbiased: one sample gives the mean single-sample accuracy, all of them the plurality, both exactly.

Beyond, there is no more than an interval. Each question's shares are drawn from what its votes leave open (a Dirichlet
posterior whose prior leans towards gold as far as the model's votes do), more samples are drawn from those, and the
interval spans what several strengths of that prior make of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.results import Result
from swaplaw.errors import InputError, quote, several
from swaplaw.evidence.interval import LEVEL, Effect, effect_among, no_effect
from swaplaw.evidence.subsample import ballot_boxes, draw
from swaplaw.evidence.units import Unit, Units, resampling_units
from swaplaw.law.pair import Pair, pair
from swaplaw.law.weights import DEFAULT_WEIGHT, as_weight
from swaplaw.votes import inputs
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally, tie_credit

PRIORS = (0.5, 1.5)
"""Strengths of the prior, in votes: the interval beyond the recorded samples spans both."""
WIDENED = (0.0, 0.0, 0.25, 0.25)
"""By how much of its length each interval (both models, the pair, its lift) is widened on either side: which rivals the
two models share beyond the recorded samples is not simulated, and hidden samples showed that this is needed."""
FUTURES = 200
"""Simulated futures for each strength."""


@dataclass(frozen=True)
class Step:
    """Expected accuracies when each model gives this many samples per question."""

    samples: int | None
    """None where all votes are taken and their number differs between models or questions."""
    primary: float
    secondary: float
    pair: float
    lift: float
    """What the pair gains over the primary with as many samples."""
    effect: Effect | None = field(repr=False)
    """Lift with its interval over questions; None where fewer than two units are resampled."""
    error: float
    """Standard error of `pair` from drawing ballots at random; 0 where every ballot is listed."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        low, high = (None, None) if self.effect is None else (self.effect.low, self.effect.high)
        return {
            "samples": "all" if self.samples is None else self.samples,
            "primary": self.primary,
            "secondary": self.secondary,
            "pair": self.pair,
            "lift": self.lift,
            "low": low,
            "high": high,
            "error": self.error,
        }


@dataclass(frozen=True)
class Beyond:
    """Where accuracies and lift would lie with more samples than are recorded: ends of 95% intervals."""

    samples: int | None
    """None: infinitely many."""
    primary: tuple[float, float]
    secondary: tuple[float, float]
    pair: tuple[float, float]
    lift: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        ends = {name: list(getattr(self, name)) for name in ("primary", "secondary", "pair", "lift")}
        return {"samples": self.samples, **ends}


@dataclass(frozen=True)
class Ladder(Result):
    """A pair at growing numbers of samples."""

    dataset: str
    pair: Pair = field(repr=False)
    weight: Fraction
    steps: tuple[Step, ...]
    beyond: Beyond
    """With more samples than are recorded."""

    def __repr__(self) -> str:
        names = f"{self.pair.primary!r} + {self.pair.secondary!r}"
        lift = f"lift {self.steps[-1].lift:+.4f} with the most samples"
        return f"Ladder({names} at weight {self.weight}, {several(len(self.steps), 'step')}, {lift})"

    @property
    def settled(self) -> bool:
        """Whether more samples would leave the sign of the lift as it is with all recorded ones."""
        low, high = self.beyond.lift
        last = self.steps[-1].lift
        return low > 0 if last > 0 else high < 0 if last < 0 else low == high == 0

    def rows(self) -> list[dict[str, Any]]:
        """List the steps."""
        return [step.to_dict() for step in self.steps]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "dataset": self.dataset,
            "primary": self.pair.primary,
            "secondary": self.pair.secondary,
            "weight": str(self.weight),
            "n": self.pair.n,
            "steps": self.rows(),
            "beyond": self.beyond.to_dict(),
            "settled": self.settled,
        }


def sample_ladder(
    votes: VotesLike,
    primary: str,
    secondary: str,
    samples: Sequence[int] | None = None,
    *,
    weight: str | float | Fraction = DEFAULT_WEIGHT,
    by: Unit | None = None,
    seed: int = 0,
    level: float = LEVEL,
    beyond: int | None = None,
) -> Ladder:
    """Follow a pair from one sample per question to all recorded ones, and say what more would do.

    Parameters
    ----------
    votes : Tally, Votes, dataframe or path
        The votes (see `tally`).
    primary, secondary : str
        The two models.
    samples : sequence of int, optional
        Samples of each model per question; by default 1, 2, 4, ... and all that are recorded.
    weight : str, float or Fraction
        The weight of the secondary; the primary carries 1.
    by : {"question", "cluster"}, optional
        What is resampled; by default clusters where there are several.
    seed : int
        The same seed gives the same numbers.
    level : float
        Level of the intervals.
    beyond : int, optional
        Samples of each model to extrapolate to; by default infinitely many.

    Returns
    -------
    Ladder
        Expected accuracies and lift at each number of samples, and intervals beyond them.

    Raises
    ------
    InputError
        If more samples are asked for than are recorded for either model on some question.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = sl.predict.sample_ladder(sl.demo_votes(), "gpt-4", "mistral-large", [1, 2])
    >>> [(step.samples, round(step.pair, 3)) for step in found.steps]
    [(1, 0.764), (2, 0.769)]
    """
    two = pair(inputs.tally(votes), primary, secondary)
    tally = two.tally.select(models=[primary, secondary], questions=two.common)
    chosen = pair(tally, primary, secondary)
    most = int(tally.votes.min())
    asked: list[int | None] = [*_doubling(most), None] if samples is None else [*samples]
    x, units = as_weight(weight), resampling_units(tally, by)
    steps = [_step(chosen, _checked(number, tally, most), x, units, seed, level) for number in asked]
    return Ladder(tally.dataset, chosen, x, tuple(steps), extrapolate(chosen, x, beyond, seed=seed, level=level))


def _doubling(most: int) -> list[int]:
    return [2**power for power in range(most.bit_length()) if 2**power < most]


def _checked(number: int | None, tally: Tally, most: int) -> int | None:
    """Refuse to draw more than is recorded; all that is recorded is None where it differs."""
    if number is not None and number < 1:
        raise InputError(f"{number} samples make no vote: ask for 1 or more")
    if number is not None and number > most:
        few = min(tally.models, key=lambda model: int(tally.votes[tally.index(model)].min()))
        raise InputError(
            f"{number} samples are not recorded: {quote(few)} has {most} on some question; ask for {most} or fewer, "
            "or for an interval beyond them"
        )
    return number


def _step(chosen: Pair, number: int | None, x: Fraction, units: Units, seed: int, level: float) -> Step:
    if number is None or (chosen.tally.votes == number).all():
        (first, second, both), error = _all(chosen, x), 0.0
        exact = (chosen.masses.p, chosen.masses.q, chosen.at(x).accuracy)
        even = len({*chosen.tally.votes.reshape(-1).tolist()}) == 1
        number = int(chosen.tally.votes.flat[0]) if even else None
    elif number == 1:
        (first, second, both), error = _one(chosen, x), 0.0
        p, q = (_single(chosen.tally, model) for model in (chosen.a, chosen.b))
        exact = (p, q, p if x < 1 else q if x > 1 else (p + q) / 2)
    else:
        first, second, both, error = _some(chosen, number, x, seed)
        exact = (Fraction(first.mean()), Fraction(second.mean()), Fraction(both.mean()))
    effect = effect_among(both - first, units.member, level=level)
    if effect is not None and number == 1 and x < 1:  # The heavier of two votes wins, whatever they say.
        effect = no_effect(units.member, level=level)
    alone, other, both_models = map(float, exact)
    return Step(number, alone, other, both_models, float(exact[2] - exact[0]), effect, error)


def _single(tally: Tally, model: int) -> Fraction:
    """A model's mean share of votes for gold, exactly."""
    gold, votes = tally.gold[model].astype(np.int64), tally.votes[model]
    shares = [Fraction(int(gold[votes == cast].sum()), int(cast)) for cast in np.unique(votes)]
    return sum(shares, Fraction(0)) / len(votes)


def _all(chosen: Pair, x: Fraction) -> tuple[Floats, Floats, Floats]:
    """Scores of each question with every vote that is recorded."""
    gains, scale = chosen.gains(x)
    first, second = (np.asarray(s.numerators / s.denominator, dtype=np.float64) for s in chosen.alone)
    return first, second, first + np.asarray(gains.sum(axis=0) / scale, dtype=np.float64)


def _one(chosen: Pair, x: Fraction) -> tuple[Floats, Floats, Floats]:
    """Expected scores with one sample each: the heavier has its way, and equals share what they disagree on."""
    tally = chosen.tally
    first, second = (tally.gold[model] / tally.votes[model].astype(np.float64) for model in (chosen.a, chosen.b))
    return first, second, first if x < 1 else second if x > 1 else (first + second) / 2


def _some(chosen: Pair, number: int, x: Fraction, seed: int) -> tuple[Floats, Floats, Floats, float]:
    """Expected scores with a number of samples each, drawn without replacement."""
    alone = [
        draw(chosen.tally, [model], [number], seed=seed).scores([Fraction(1)])[0] for model in (chosen.a, chosen.b)
    ]
    both, error = draw(chosen.tally, [chosen.a, chosen.b], [number] * 2, seed=seed).scores([Fraction(1), x])
    return alone[0], alone[1], both, error


def extrapolate(
    chosen: Pair, x: Fraction, samples: int | None = None, *, seed: int = 0, level: float = LEVEL
) -> Beyond:
    """Where a pair's accuracies would lie with `samples` samples of each model (None: infinitely many).

    Parameters
    ----------
    chosen : Pair
        Two models of a tally that both answered every question of.
    x : Fraction
        The weight of the secondary.
    samples : int, optional
        Samples of each model per question, the recorded ones among them.
    seed : int
        The same seed gives the same numbers.
    level : float
        Level of the intervals.

    Returns
    -------
    Beyond
        Intervals that span what the different strengths of the prior say.
    """
    if samples is not None and samples < int(chosen.tally.votes.max()):
        raise InputError(f"{samples} samples are not more than the {int(chosen.tally.votes.max())} that are recorded")
    counts = _padded(chosen)
    source = np.random.default_rng(seed)
    tail = (1 - level) / 2
    found = [_futures(counts, float(x), inf if samples is None else samples, prior, source) for prior in PRIORS]
    low = np.min([np.quantile(each, tail, axis=0) for each in found], axis=0)
    high = np.max([np.quantile(each, 1 - tail, axis=0) for each in found], axis=0)
    room = (high - low) * WIDENED
    low, high = np.maximum(low - room, (0, 0, 0, -1)), np.minimum(high + room, 1)
    return Beyond(samples, *((float(a), float(b)) for a, b in zip(low, high, strict=True)))


def _padded(chosen: Pair) -> Ints:
    """Counts of both models: models x questions x (gold, rivals, an answer not seen so far)."""
    boxes = list(ballot_boxes(chosen.tally, [chosen.a, chosen.b]))
    width = max(len(box[0]) for box in boxes) + 1
    rows = [[own + (0,) * (width - len(own)) for own in box] for box in boxes]
    return np.array(rows).swapaxes(0, 1)


def _futures(counts: Ints, x: float, samples: float, prior: float, source: np.random.Generator) -> Floats:
    """Simulate accuracies of both models and the pair, and lift: futures x 4."""
    cast = counts.sum(axis=2, keepdims=True)
    lean = (counts[..., 0].sum(axis=1) / cast[..., 0].sum(axis=1))[:, None]
    shape = counts.astype(np.float64)
    shape[..., 0] += prior * lean
    shape[..., -1] += prior * (1 - lean)
    found = np.empty((FUTURES, 4))
    for future in found:
        chances = source.standard_gamma(shape)
        chances /= chances.sum(axis=2, keepdims=True)
        if samples == inf:
            shares = chances
        else:
            more = source.multinomial((samples - cast[..., 0]).astype(np.int64), chances)
            shares = (counts + more) / samples
        scores = [_plurality(each) for each in (shares[0], shares[1], shares[0] + x * shares[1])]
        future[:3] = scores
        future[3] = scores[2] - scores[0]
    return found


def _plurality(shares: Floats) -> float:
    """Mean score; simulated shares tie only where counts do, and rounding must not break that."""
    best = shares.max(axis=1, keepdims=True) - 1e-9
    tied = shares >= best
    return float(tie_credit(tied[:, 0].astype(np.float64), tied.sum(axis=1)).mean())
