"""What to expect of an ensemble, beyond yes and no: its gain, how likely it is, and what each choice may cost.

The held-out gain is one noisy measurement, and the best of a few candidates at that. Before it was made, gains of this
kind were known to be small: over real fleets, ensembles gain and lose a few points. A prior of 0 with a standard
deviation of `PRIOR` says so; together with the measurement it gives a normal posterior. How uncertain the measurement
is, is read off its interval, which knows that clusters may be few and that the best of several candidates was taken. It
informs the reader; the verdict rests on tests alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from swaplaw.evidence.interval import Effect

PRIOR = 0.03
"""Standard deviation of what ensembles gain on real fleets, as a fraction of one."""
_STANDARD = NormalDist()


@dataclass(frozen=True)
class Belief:
    """A normal belief about a gain."""

    mean: float
    """The expected gain: the measured one, shrunk towards 0."""
    deviation: float

    def above(self, gain: float) -> float:
        """How likely the true gain is above another.

        >>> Belief(0.02, 0.02).above(0.0) > 0.8
        True
        """
        return 1 - NormalDist(self.mean, self.deviation).cdf(gain)

    def quantile(self, probability: float) -> float:
        """The gain that the true one is below with this probability."""
        return NormalDist(self.mean, self.deviation).inv_cdf(probability)

    @property
    def regret_of_single(self) -> float:
        """Accuracy that deploying the single model may forgo: the expectation of a gain above 0."""
        ratio = self.mean / self.deviation
        return self.mean * _STANDARD.cdf(ratio) + self.deviation * _STANDARD.pdf(ratio)

    @property
    def regret_of_ensemble(self) -> float:
        """Accuracy that deploying the ensemble may cost: the expectation of a loss."""
        return self.regret_of_single - self.mean


def belief(effect: Effect, prior: float = PRIOR) -> Belief:
    """Combine a measured gain with what was known before.

    >>> measured = Effect(0.03, 0.03, 2.0, 0.95, 0.2, 100, 100)
    >>> round(belief(measured).mean, 3)
    0.015
    """
    error = effect.half_width / _STANDARD.inv_cdf((1 + effect.level) / 2)
    trust = prior**2 / (prior**2 + error**2)
    return Belief(trust * effect.mean, sqrt(trust) * error)
