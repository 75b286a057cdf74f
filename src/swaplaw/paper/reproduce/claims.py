"""What the paper states in words alone, held against the votes; and the conventions that numbers depend on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import Any

from swaplaw.law.pair import Pair
from swaplaw.law.weights import DEFAULT_WEIGHT
from swaplaw.paper.reproduce.study import Dataset, Study
from swaplaw.paper.simulation import Theory

LITTLE = 0.1
"""Share of the available rescue that counts as almost none of it."""
RESIDUALS = (
    "mean residuals are over the 25 weights that are searched, here as in `calibrate`; the paper counts weight 0, too, "
    "where nothing is pooled and the residual is 0, which makes its means 25/26 of these"
)
PLATEAU = (
    "of weights that lift alike, the paper's rule names the smallest of its grid, and `curve` the simplest inside the "
    "best plateau"
)
FORENSIC = (
    "the paper counts 2,352 = 98 x 24 gradeable forensic instances a model; swaplaw-forensic can grade 92 of the 98 "
    "questions, so an accuracy over its 92 is 98/92 times one over 98 in which the other six count as wrong"
)
QUESTIONS = 98
"""Gradeable questions of the paper's forensic tasks."""


@dataclass(frozen=True)
class Claim:
    """A statement in words, and what the votes make of it."""

    id: str
    place: str
    says: str
    ours: str
    holds: bool

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return dict(vars(self))


def claims(study: Study, theory: Theory) -> list[Claim]:
    """Every claim in words that the study's votes and the simulation can tell."""
    return [*_simulated(theory), *_trios(study), *_forensic(study)]


def _simulated(theory: Theory) -> Iterator[Claim]:
    best = max(theory.by_collective, key=lambda point: point.lifts["1:23"].value)
    lift, rescue = best.lifts["1:23"].value, float(best.masses.rescue)
    yield Claim(
        "tiny_captures_nothing",
        "Section 4, Figure 1",
        "1:23 is too small to overturn the primary anywhere and captures almost none of the available rescue",
        f"at most {100 * lift:.2f} pp, of {100 * rescue:.2f} pp of rescue mass",
        lift <= LITTLE * rescue,
    )


def _trios(study: Study) -> Iterator[Claim]:
    found = {key: (dataset.best_trio, dataset.models) for key, dataset in study.datasets.items() if dataset.best_trio}
    if found:
        alone = {key: {model.model: float(model.plurality) for model in models} for key, (_, models) in found.items()}
        pooled = {key: alone[key][trio.members[0]] + float(trio.lift) for key, (trio, _) in found.items() if trio}
        yield Claim(
            "trios_below_single",
            "Section 8",
            "the trios of the largest lift are less accurate than the strongest single model",
            ", ".join(f"{key} {100 * pooled[key]:.1f}% to {100 * max(alone[key].values()):.1f}%" for key in pooled),
            all(pooled[key] < max(alone[key].values()) for key in pooled),
        )


def _forensic(study: Study) -> Iterator[Claim]:
    forensic = study.datasets.get("forensic")
    if forensic is None:
        return
    best = max(forensic.top.grid(forensic.weights), key=lambda outcome: (outcome.lift, -outcome.weight))
    yield Claim(
        "plateau_damages_nothing",
        "Section 7",
        "on the forensic plateau the damage conversion is 0",
        f"{float(best.gamma or 0):.3f} at weight {best.weight}",
        not best.gamma,
    )
    if len(study.datasets) > 1:
        means = {key: _damage(dataset) for key, dataset in study.datasets.items()}
        yield Claim(
            "forensic_damage_largest",
            "Section 7",
            "damage conversion is largest on the forensic tasks",
            ", ".join(f"{key} {mean:.2f}" for key, mean in means.items()),
            max(means, key=lambda key: means[key]) == "forensic",
        )


def _damage(dataset: Dataset) -> float:
    """Mean damage conversion of all pairs at 40:60."""
    return fmean(float(outcome.gamma) for outcome in dataset.at_weight if outcome.gamma is not None)


def equal_pairs(study: Study) -> list[dict[str, Any]]:
    """Pairs of equally accurate models: their names alone decide who is the primary, so both lifts are given."""
    found = []
    for key, dataset in study.datasets.items():
        for curve in dataset.curves:
            if curve.masses.p != curve.masses.q:
                continue
            first, second = (dataset.tally.index(name) for name in (curve.primary, curve.secondary))
            lifts = [
                Pair(dataset.tally, *order).at(DEFAULT_WEIGHT).lift for order in ((first, second), (second, first))
            ]
            found.append(_both(key, curve.primary, curve.secondary, lifts))
    return found


def _both(key: str, primary: str, secondary: str, lifts: list[Fraction]) -> dict[str, Any]:
    return {
        "dataset": key,
        "primary": primary,
        "secondary": secondary,
        "lift": float(lifts[0]),
        "lift_other_way": float(lifts[1]),
    }


def conventions(study: Study) -> list[str]:
    """Say which readings the numbers take where the paper leaves two, a sentence each."""
    top = study.weighing.top
    best = max(top.grid(study.weighing.weights), key=lambda outcome: (outcome.lift, -outcome.weight))
    said = [
        RESIDUALS,
        f"{PLATEAU}: {best.weight} and {top.best_plateau.weight} for {top.primary} with {top.secondary}",
    ]
    if forensic := study.datasets.get("forensic"):
        graded, first = len(forensic.tally.questions), forensic.models[0]
        share = float(first.plurality)
        both = (
            f", such as {100 * share:.1f}% over {graded} and {100 * share * graded / QUESTIONS:.1f}% over {QUESTIONS}"
        )
        said.append(FORENSIC + f"{both} of {first.model}" * (graded < QUESTIONS))
    for pair in equal_pairs(study):
        said.append(
            f"{pair['primary']} and {pair['secondary']} are equally accurate on {pair['dataset']}, and the first by "
            f"name is the primary: lift {100 * pair['lift']:+.2f} pp, the other way round "
            f"{100 * pair['lift_other_way']:+.2f} pp"
        )
    return said
