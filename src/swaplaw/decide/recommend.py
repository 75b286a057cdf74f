"""The decision: deploy a pair or a panel, deploy the best single model, or say that these votes cannot tell.

An ensemble is recommended only if, beyond doubt at the level asked for,

1. it beats the best single model of the fleet on questions that had no part in choosing it, with an interval wide
   enough for the best of all candidates (see `selection`);
2. it still does when scaled down to what that single model costs: else more samples would do (see `spend`);
3. it beats a placebo, whose secondaries know nothing: else noise would do (see `placebo`);

and if its held-out gain is at least `min_gain`. The single model is recommended if one of the three intervals ends
below `min_gain`: whatever an ensemble gains is too little. Otherwise these votes cannot tell, and how many questions
would is a matter of arithmetic.

Pairs are compared at every weight, panels of three or more along lines of weights (see `lines`): the same candidates
are chosen from on training parts and allowed for in the interval, and the same seed gives the same bytes, which a
search against the clock would not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import comb

import numpy as np

from swaplaw._core.arrays import Bools, Floats
from swaplaw._core.parallel import Backend, Crew, Progress
from swaplaw.decide.choice import BestSingle, PairRule, all_pairs, led_by_best, model_totals
from swaplaw.decide.cost import Budgeted, check_prices, scaled_down
from swaplaw.decide.defaults import FOLDS, MIN_GAIN, REPEATS, REPLICATES
from swaplaw.decide.holdout import Folds, HeldOut, deal, held_out, held_out_weight
from swaplaw.decide.placebo import placebo_scores
from swaplaw.decide.selection import Selection, selection
from swaplaw.decide.subsample import draw
from swaplaw.decide.verdict import Check, Recommendation, decide, more_questions
from swaplaw.errors import InputError, listing, quote
from swaplaw.evidence.intervals import effect
from swaplaw.evidence.resample import resampler
from swaplaw.evidence.units import Unit
from swaplaw.law.mixtures import Line, all_panels, line_through, panel_lines
from swaplaw.law.scoresheet import Scoresheet
from swaplaw.panels.panel import LARGEST_PANEL
from swaplaw.votes.tally import Tally

MAX_MODELS = 2
MOST_PANELS = 5_000
"""More panels than this take too long to compare."""
BALLOTS = 200
"""Ballots a question that stand for an ensemble scaled down: what drawing adds to the noise is then negligible."""


def recommend(
    tally: Tally,
    *,
    models: Sequence[str] | None = None,
    prices: Mapping[str, float] | None = None,
    budget: float | None = None,
    max_models: int = MAX_MODELS,
    min_gain: float = MIN_GAIN,
    by: Unit | None = None,
    folds: int = FOLDS,
    repeats: int = REPEATS,
    replicates: int = REPLICATES,
    seed: int = 0,
    workers: int | None = None,
    backend: Backend = "processes",
    progress: Progress = iter,
) -> Recommendation:
    """Decide what to deploy of a fleet; every choice that this needs is made, and judged, on different questions.

    With `workers` or a `backend` the candidates are shared out (see `crew`).
    """
    crew = Crew(workers, backend)
    _check_options(max_models, min_gain, budget)
    considered = _considered(tally, models)
    scorer = Budgeted(considered, check_prices(tally, considered.models, prices), budget, prices is not None, seed)
    singles, pairs = _candidates(scorer, max_models)
    panels = _panels(scorer, singles, max_models)
    draws = resampler(considered, by=by, seed=seed, replicates=replicates)
    dealt = deal(draws.member, folds=folds, repeats=repeats, seed=seed)
    best_single = BestSingle(scorer, singles)
    lines = _led_lines(scorer, panels, dealt)
    by_lift = held_out(scorer, PairRule(scorer, singles, pairs, "lift", progress, lines, crew), best_single, dealt)
    by_swap = held_out(scorer, PairRule(scorer, singles, pairs, "swap", progress, crew=crew), best_single, dealt)
    spread = selection(scorer, by_lift.baseline, pairs, draws, lines=lines, progress=progress, crew=crew)
    checks = tuple(_checks(scorer, by_lift, spread, dealt, seed, crew))
    # Where no ensemble may be deployed there is nothing to tell apart.
    verdict = decide(checks, len(by_lift.choice.members), min_gain) if pairs or panels else "deploy_single"
    more = more_questions(checks, min_gain) if verdict == "cannot_tell" else None
    return Recommendation(
        verdict, tally, considered, min_gain, by_lift, by_swap, spread, checks, more, scorer, max_models
    )


def _checks(scorer: Budgeted, found: HeldOut, spread: Selection, dealt: Folds, seed: int, crew: Crew) -> list[Check]:
    """Ask the three questions; the last two only of an ensemble, and the second where votes allow it.

    The first guards against luck among many candidates. The others ask why the one that was chosen gains, so theirs are
    plain intervals: wider ones would cost power and guard against nothing more. Who the members are, and a panel's mix
    of secondaries, is what was chosen on all questions; the weight of the secondaries is chosen on training parts.
    """
    checks = [Check("held_out", spread.effect(found.gains))]
    if len(found.choice.members) > 1:
        line = line_through(found.choice.members, found.choice.weights)
        equal = _equal_compute(scorer, found, line, dealt, seed)
        if equal is not None:
            checks.append(Check("equal_compute", effect(equal, dealt.member)))
        scores = held_out_weight(scorer.along(line), dealt)
        sheet_of = partial(_sheet_on, scorer, line)
        blinded = placebo_scores(scorer.tally, line.members, dealt, sheet_of, seed=seed, crew=crew)
        checks.append(Check("placebo", effect(scores - blinded, dealt.member)))
    return checks


def _sheet_on(scorer: Budgeted, line: Line, blind: Tally) -> Scoresheet:
    """Scores along a line of a tally that holds its members only."""
    return scorer.on(blind, line.members).along(Line(tuple(range(len(line.members))), line.mix))


def _equal_compute(scorer: Budgeted, found: HeldOut, line: Line, dealt: Folds, seed: int) -> Floats | None:
    """Held-out gain of the chosen members when they may cost no more than the best single model does."""
    members, (single,) = line.members, found.baseline.members
    own = scorer.sizes((single,))
    votes = scorer.sizes(members)
    assert own is not None  # Else neither would be a candidate.
    assert votes is not None
    sizes = scaled_down(votes, scorer.prices[list(members)], own[0] * scorer.prices[single])
    if sizes is None:
        return None
    sheet = draw(scorer.tally, members, list(sizes), seed=seed, ballots=BALLOTS).sheet(line.mix)
    return held_out_weight(sheet, dealt) - scorer.score(found.baseline)


def _check_options(max_models: int, min_gain: float, budget: float | None) -> None:
    if max_models < 1:
        raise InputError(f"an ensemble of {max_models} models cannot be deployed: --max-models is 1 or more")
    if not 0 <= min_gain < 1:  # This refuses NaN, too.
        raise InputError(f"a smallest gain of {min_gain} is no fraction of one: give 0.01 for 1 percentage point")
    if budget is not None and not 0 < budget < float("inf"):
        raise InputError(f"a budget of {budget} buys nothing: give a cost per question above 0")


def _considered(tally: Tally, models: Sequence[str] | None) -> Tally:
    """Keep the models asked for and the questions that all of them answered."""
    if models is not None:
        if not models:
            raise InputError(f"no model is named: choose from {listing(tally.models)}")
        if twice := [model for model in models if models.count(model) > 1]:
            raise InputError(f"{quote(twice[0])} is named twice among the models")
        for model in models:
            tally.index(model)
    kept = tally if models is None else tally.select(models=sorted(models))
    answered: Bools = np.logical_and.reduce(kept.answered)
    if not answered.any():
        raise InputError(
            f"there is no question in dataset {quote(tally.dataset)} that all {len(kept.models)} models answered; "
            "name models that share questions with --models"
        )
    return kept if answered.all() else kept.select(questions=answered)


def _candidates(scorer: Budgeted, max_models: int) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """Single models and pairs within the budget."""
    singles = tuple(model for model in range(len(scorer.tally.models)) if scorer.affordable((model,)))
    if not singles:
        cheapest = min(scorer.prices)
        raise InputError(
            f"a budget of {scorer.budget:g} a question buys no sample of any model; the cheapest costs {cheapest:g}"
        )
    pairs = all_pairs(singles) if max_models > 1 else ()
    return singles, tuple(pair for pair in pairs if scorer.affordable(pair))


def _panels(scorer: Budgeted, singles: tuple[int, ...], max_models: int) -> list[tuple[int, ...]]:
    """Panels of three or more within the budget."""
    largest = min(max_models, len(singles))
    if largest > LARGEST_PANEL:
        raise InputError(f"panels of {largest} models are not worked out: --max-models is at most {LARGEST_PANEL}")
    number = sum(comb(len(singles), size) for size in range(3, largest + 1))
    if number > MOST_PANELS:
        raise InputError(
            f"{len(singles)} models make {number:,} panels of 3 to {largest}, more than the {MOST_PANELS:,} that are "
            "compared: name fewer models with --models, or lower --max-models"
        )
    return [panel for panel in all_panels(singles, largest) if scorer.affordable(panel)]


def _led_lines(scorer: Budgeted, panels: Sequence[tuple[int, ...]], dealt: Folds) -> tuple[Line, ...]:
    """The lines of weights whose primary is the most accurate member on some part: all that can be chosen."""
    everything = np.ones((1, dealt.tests.shape[1]), dtype=bool)
    totals = model_totals(scorer, np.concatenate([everything, dealt.trains]))
    return tuple(line for panel in panels for line in panel_lines(panel) if led_by_best(line, totals).any())
