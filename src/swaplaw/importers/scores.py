"""Scores as grades: from which one on an answer is right, and when that cannot be meant."""

from __future__ import annotations

from dataclasses import dataclass

from swaplaw.errors import Fix, InputError
from swaplaw.importers.record import Findings, Options

FULL = 1.0 + 1e-6
"""A score above this shows that 1, the default threshold, is not the full mark."""
THRESHOLD = Fix("threshold", "NUMBER", "set the lowest score that counts as right")


@dataclass
class Scores:
    """The scores of one source, as far as they were seen."""

    threshold: float
    highest: float | None = None
    between: float | None = None
    """The first score that was neither 0 nor enough."""

    def right(self, score: float) -> bool:
        """Whether a score is high enough; remember it."""
        self.highest = score if self.highest is None else max(self.highest, score)
        if self.between is None and 0 < score < self.threshold:
            self.between = score
        return score >= self.threshold

    def judge(self, source: str, what: str, findings: Findings) -> None:
        """Refuse scores on another scale than the threshold; say what becomes of those in between."""
        if self.highest is None:
            return
        if self.threshold == Options.threshold and self.highest > FULL:
            raise InputError(
                f"{source}: {what} go up to {self.highest:g}, so 1 is not the full mark",
                THRESHOLD,
            )
        if self.between is None:
            return
        if self.highest < self.threshold:
            raise InputError(
                f"{source}: none of the {what} is at least {self.threshold:g} (the highest is {self.highest:g}), so no "
                "vote would be right",
                THRESHOLD,
            )
        if self.threshold != Options.threshold:
            return  # Somebody has chosen it.
        findings.notes.append(
            f"{source}: there are {what} such as {self.between:g}; those of at least {self.threshold:g} count as right "
            "(choose another threshold if that is not meant)"
        )
