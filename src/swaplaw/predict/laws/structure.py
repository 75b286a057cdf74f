"""Small truths about the swap law that the paper states in passing: two derivatives of S*, and two bounds on lift."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from swaplaw.law.pair import Masses, Outcome


@dataclass(frozen=True)
class LiftBounds:
    """A pair's lift and what it cannot exceed."""

    lift: Fraction
    repair: Fraction
    """r + beta z: the rescue mass and what both-wrong repairs add. The paper states it for scores of 0 and 1; where
    models tie by themselves it can be exceeded."""
    errors: Fraction
    """1 - p: no vote gains more than the primary's errors."""

    @property
    def within_repair(self) -> bool:
        """Whether L <= r + beta z."""
        return self.lift <= self.repair

    @property
    def within_errors(self) -> bool:
        """Whether L <= 1 - p; there are no exceptions."""
        return self.lift <= self.errors


def lift_bounds(outcome: Outcome) -> LiftBounds:
    """Compare a pair's lift with both bounds of the paper's section on the ceiling.

    Parameters
    ----------
    outcome : Outcome
        A pair at a weight (`Pair.at`).

    Returns
    -------
    LiftBounds
        Lift and bounds, exact.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = sl.predict.lift_bounds(sl.pair(sl.demo_votes(), "gpt-4", "mistral-large").at("2/3"))
    >>> found.within_repair, found.within_errors
    (True, True)
    """
    return LiftBounds(outcome.lift, outcome.masses.rescue + outcome.repaired, 1 - outcome.masses.p)


def slope_in_phi_adj(masses: Masses, alpha: Fraction, gamma: Fraction) -> Fraction:
    """How S* moves with phi_adj at fixed accuracies and rates, -(alpha - gamma) q (1 - p).

    Parameters
    ----------
    masses : Masses
        Where the slope is taken.
    alpha, gamma : Fraction
        The conversion rates, held fixed.

    Returns
    -------
    Fraction
        The derivative; negative where rescues convert better than damage.
    """
    return -(alpha - gamma) * masses.q * (1 - masses.p)


def slope_in_gap(masses: Masses, alpha: Fraction, gamma: Fraction) -> Fraction | None:
    """How S* moves with the gap at fixed mean accuracy, phi_adj and rates.

    -(alpha - gamma) (1 - gap) (1 - phi_adj) / 2 - gamma: never positive where alpha >= gamma.

    Parameters
    ----------
    masses : Masses
        Where the slope is taken.
    alpha, gamma : Fraction
        The conversion rates, held fixed.

    Returns
    -------
    Fraction or None
        The derivative; None where phi_adj is undefined.
    """
    phi_adj = masses.phi_adj
    return None if phi_adj is None else -(alpha - gamma) * (1 - masses.gap) * (1 - phi_adj) / 2 - gamma
