"""The decision: deploy an ensemble, deploy the best single model, or say that these votes cannot tell.

A small family of rules is compared (see `family`); each chooses an ensemble on training questions and is scored on the
others. It has to beat the best single model as all questions show it: the single model's luck counts in its favour, so
an ensemble that beats it beats every model of the fleet.

- An ensemble is deployed if its held-out gain is above 0 by a one-sided test at 5% that allows for the best of all
  candidates (see `selection`), and is at least `min_gain`; if half of the rules gain by more than a standard error, so
  that the gain does not hang on one of them (or a rule that ignores guesses gains by a test at 2%, or any rule at
  0.2%); and if it gains over the same ensemble with secondaries that know nothing (see `placebo`), by a test at 5%. Of
  several, the smallest that is as good as any.
- The single model is deployed if every candidate's gain is below `min_gain` by a one-sided test at 5%: then no
  candidate is worth it, and no allowance is needed, since all tests must agree.
- Otherwise these votes cannot tell, and the range of questions that would is a matter of arithmetic.

Votes in which something is wrong (see `votes.checks`, severity *error*) get no verdict. What the ensemble would gain at
the single model's cost is reported beside the verdict, and decides only where `at_equal_cost` asks for it.

A full search adds every pair at every weight, and panels along lines of weights, to the candidates and to what the test
allows for. The same seed gives the same bytes, which a search against the clock would not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Literal

import numpy as np

from swaplaw._core.arrays import Bools, Floats
from swaplaw._core.parallel import Crew, Progress, Workers
from swaplaw.decide.choice import BestSingle, Choice, PairRule, all_pairs, alone, led_by_best, model_totals
from swaplaw.decide.controls import Controls
from swaplaw.decide.cost import Budgeted, check_prices
from swaplaw.decide.defaults import FOLDS, MIN_GAIN, REPEATS, REPLICATES
from swaplaw.decide.family import Family
from swaplaw.decide.holdout import Folds, HeldOut, deal, held_out, judge
from swaplaw.decide.selection import Selection, selection
from swaplaw.decide.sequential import fleet_anytime
from swaplaw.decide.verdict import (
    Candidate,
    More,
    Reason,
    Recommendation,
    Verdict,
    more_questions,
    pick,
    supported,
)
from swaplaw.errors import InputError, listing, quote, several
from swaplaw.evidence.interval import LEVEL, Effect
from swaplaw.evidence.resample import Resampler, resampler
from swaplaw.evidence.units import Unit
from swaplaw.law.lines import Line, all_panels, panel_lines
from swaplaw.panels.panel import LARGEST_PANEL
from swaplaw.votes import inputs
from swaplaw.votes.checks import FEW_QUESTIONS, Check, copy_checks, find_checks
from swaplaw.votes.checks.names import apart
from swaplaw.votes.inputs import VotesLike
from swaplaw.votes.tally import Tally

Search = Literal["family", "full"]
FEWEST_REPLICATES = round(1 / (1 - LEVEL)) - 1
"""With fewer draws no p-value is small enough for a verdict: the smallest is one in one more than there are."""
MOST_PANELS = 5_000
"""More panels than this take too long to compare."""


def recommend(
    votes: VotesLike,
    *,
    models: Sequence[str] | None = None,
    prices: Mapping[str, float] | None = None,
    budget: float | None = None,
    max_models: int | None = None,
    min_gain: float = MIN_GAIN,
    search: Search = "family",
    at_equal_cost: bool = False,
    anytime: bool = False,
    checks: Sequence[Check] | None = None,
    by: Unit | None = None,
    folds: int = FOLDS,
    repeats: int = REPEATS,
    replicates: int = REPLICATES,
    seed: int = 0,
    workers: Workers = None,
    progress: Progress = iter,
) -> Recommendation:
    """Decide what to deploy from a fleet; every choice on the way is made and judged on different questions.

    Parameters
    ----------
    votes : Tally, Votes, dataframe, path or paths
        The votes of one dataset.
    models : sequence of str, optional
        Consider these models only.
    prices : mapping of str to float, optional
        Price of a sample of each model; without prices every sample costs 1.
    budget : float, optional
        The most that a question may cost; costlier ensembles are scaled down to it.
    max_models : int, optional
        Size of the largest ensemble; by default the whole fleet (in a full search: pairs, or trios where pairs cannot
        gain).
    min_gain : float
        Smallest gain worth a second model, as a fraction of one.
    search : {"family", "full"}
        Compare a small family of rules, or every pair at every weight as well.
    at_equal_cost : bool
        Whether an ensemble must also gain when it may cost no more than the single model.
    anytime : bool
        Whether to add evidence that is valid at every look (see `sequential`).
    checks : sequence of Check, optional
        What `find_checks` found in the votes; by default they are checked here. A table tells more than its tally.
    by : {"question", "cluster"}, optional
        What is held out and resampled together; by default clusters where there are any.
    folds, repeats, replicates, seed : int
        Folds of the questions, how often they are dealt, bootstrap draws, and the seed of both.
    workers
        Who does the work.
    progress : callable
        Wraps what is looped over.

    Returns
    -------
    Recommendation
        The verdict, what to deploy, and the evidence.

    Raises
    ------
    InputError
        If options contradict each other or the votes, or there is nothing to hold out.

    Examples
    --------
    >>> import swaplaw as sl
    >>> found = recommend(sl.demo_votes().tally(), models=["gpt-4", "gpt-35-turbo"], repeats=1)
    >>> found.policy.members[0].model
    'gpt-4'
    """
    _check_options(max_models, min_gain, budget, search, replicates)
    table = None if isinstance(votes, Tally) else inputs.vote_table(votes)
    tally = votes if table is None else table.tally()
    considered = _considered(tally, models)
    if checks is None and models is None and table is not None:
        checks = find_checks(table, tally.dataset)
    looked = find_checks(considered) if checks is None else _about(checks, considered)
    distinct = _without_copies(considered, looked)
    priced = Budgeted(distinct, check_prices(tally, distinct.models, prices), budget, prices is not None, seed)
    scorer = _affordable(priced)
    draws = resampler(scorer.tally, by=by, seed=seed, replicates=replicates)
    dealt = deal(draws.member, folds=folds, repeats=repeats, seed=seed)
    work = _Work(scorer, draws, dealt, max_models, Crew(workers), progress)
    rules, spread = work.judged(search)
    candidates = tuple(
        Candidate(name, each, spread.held_out(each.gains, each.shift)) for name, each in rules.items() if name != "swap"
    )
    # Where all rules stay with one model on every part, no ensemble was compared.
    best = pick(candidates, min_gain) if any(each.judged.pools for each in candidates) else None
    asked = best is not None and best.members > 1
    controls = Controls(scorer, best.judged if best is not None and asked else None, spread, seed)
    facts = _Facts(
        any(check.severity == "error" for check in looked),
        max_models == 1 or not any(map(scorer.affordable, all_pairs(work.singles))),
        len(scorer.tally.questions),
        _always_right(scorer.tally, work.baseline.members[0]),
        len(distinct.models) < len(considered.models),
        candidates,
        best,
        at_equal_cost,
        controls,
        min_gain,
        spread.reach(),
    )
    verdict, reason = facts.decide()
    return Recommendation(
        verdict=verdict,
        reason=reason,
        votes=tally,
        tally=scorer.tally,
        min_gain=min_gain,
        baseline=work.baseline,
        candidates=candidates,
        best=best,
        rules=rules,
        selection=spread,
        controls=controls,
        checks=looked,
        more=facts.more(reason, spread),
        still_open=facts.still_open if reason == "unsure" else None,
        scorer=scorer,
        max_models=max_models,
        at_equal_cost=at_equal_cost,
        anytime=fleet_anytime(scorer, draws.member, min_gain=min_gain) if anytime else None,
    )


@dataclass(frozen=True)
class _Facts:
    """All that decides."""

    broken: bool
    """Whether votes do not mean what they seem to mean."""
    alone: bool
    """Whether only single models are compared."""
    questions: int
    always_right: bool
    """Whether the best single model is right on every question, so that there is nothing to gain."""
    copies: bool
    """Whether models were left out that vote exactly as another."""
    candidates: tuple[Candidate, ...]
    best: Candidate | None
    at_equal_cost: bool
    controls: Controls
    min_gain: float
    reach: float
    """Standard errors of a one-sided test of one gain by itself."""

    def decide(self) -> tuple[Verdict, Reason]:
        """The verdict, and why."""
        if self.broken:
            return "cannot_tell", "checks"
        if self.alone:
            return "deploy_single", "no_change" if self.copies else "alone"
        if self.always_right:
            return "deploy_single" if self.questions >= FEW_QUESTIONS else "cannot_tell", "always_right"
        if self.best is None:
            return "cannot_tell", "not_askable"
        if self.best.helps(self.min_gain):
            return self._proven(self.best) if supported(self.best, self.candidates) else ("cannot_tell", "one_rule")
        if all(each.gains_too_little(self.min_gain, self.reach) for each in self.ensembles):
            return "deploy_single", "too_little"
        return "cannot_tell", "unsure"

    def _proven(self, best: Candidate) -> tuple[Verdict, Reason]:
        """The verdict on an ensemble that surely gains: unless noise would gain as much, or more samples would."""
        blind = self.controls.over_placebo
        if blind is not None and blind.p > 1 - LEVEL:
            return ("deploy_single", "noise") if self._too_little(blind) else ("cannot_tell", "maybe_noise")
        if self.at_equal_cost:
            equal = self.controls.equal_compute
            if equal is None:
                return "cannot_tell", "unsure_at_equal_cost"
            if equal.p > 1 - LEVEL and self._too_little(equal):
                return "deploy_single", "too_little_at_equal_cost"
            if equal.p > 1 - LEVEL:
                return "cannot_tell", "unsure_at_equal_cost"
        return "deploy_pair" if best.members == 2 else "deploy_panel", "gain"

    @cached_property
    def ensembles(self) -> Sequence[Candidate]:
        """The candidates that would deploy more than one model; all, where none would."""
        return [each for each in self.candidates if each.members > 1] or self.candidates

    @cached_property
    def still_open(self) -> Candidate | None:
        """The candidate that keeps the verdict open: the best, or where it surely gains too little, the least sure."""
        if self.best is None or not self.best.gains_too_little(self.min_gain, self.reach):
            return self.best
        return max(self.ensembles, key=lambda each: each.effect.mean + self.reach * each.effect.standard_error)

    def _too_little(self, effect: Effect) -> bool:
        return effect.mean + self.reach * effect.standard_error < self.min_gain

    def more(self, reason: Reason, spread: Selection) -> More | None:
        """How many questions would tell, where the verdict is open because there are too few."""
        if reason == "unsure" and self.still_open is not None:
            return more_questions("held_out", self.still_open.effect, spread.threshold(), self.reach, self.min_gain)
        if reason == "maybe_noise" and self.controls.over_placebo is not None:
            return more_questions("placebo", self.controls.over_placebo, self.reach, self.reach, self.min_gain)
        if reason == "unsure_at_equal_cost" and self.controls.equal_compute is not None:
            return more_questions("equal_compute", self.controls.equal_compute, self.reach, self.reach, self.min_gain)
        return None


def _always_right(tally: Tally, model: int) -> bool:
    scores = tally.scores[model]
    return scores.total == scores.denominator * len(tally.questions)


@dataclass(frozen=True)
class _Work:
    """What it takes to judge rules."""

    scorer: Budgeted
    draws: Resampler
    dealt: Folds
    max_models: int | None
    crew: Crew
    progress: Progress

    @property
    def singles(self) -> tuple[int, ...]:
        return tuple(range(len(self.scorer.tally.models)))

    @cached_property
    def baseline(self) -> Choice:
        """The best single model of all questions."""
        return BestSingle(self.scorer, self.singles)(np.ones((1, self.dealt.tests.shape[1]), dtype=bool))[0]

    def judged(self, search: Search) -> tuple[dict[str, HeldOut], Selection]:
        """Every rule on held-out questions, and the noise of the noisiest."""
        family = Family(self.scorer, self.max_models, self.crew)
        parts = np.concatenate([np.ones((1, self.dealt.tests.shape[1]), dtype=bool), self.dealt.trains])
        # One single model to beat, scored on the very questions that made it the best: that favours it. Were it chosen
        # on training parts, too, near-equal models would take turns, each just where it does worse.
        single = [self.baseline] * len(parts)
        rules = {
            name: judge(self.scorer, choices, single, self.dealt) for name, choices in family.choices(parts).items()
        }
        gains = np.array([each.gains for each in rules.values()]).reshape(len(rules), parts.shape[1])
        pairs, lines = ((), ()) if search == "family" or self.max_models == 1 else self._searched(family.pairs_can_gain)
        if not pairs and not lines:
            return rules, selection(gains, self.draws, singles=self._over_baseline())
        return rules | self._by_search(pairs, lines), selection(
            gains,
            self.draws,
            singles=self._over_baseline(),
            scorer=self.scorer,
            baseline=self.baseline,
            pairs=pairs,
            lines=lines,
            progress=self.progress,
            crew=self.crew,
        )

    def _over_baseline(self) -> Floats:
        """What each single model gains over the best one; that one comes first, so that it wins ties."""
        (best,) = self.baseline.members
        order = [best, *(model for model in self.singles if model != best)]
        scores = np.array([self.scorer.score(alone(model)) for model in order])
        over: Floats = scores - scores[0]
        return over

    def _searched(self, pairs_can_gain: bool) -> tuple[tuple[tuple[int, int], ...], tuple[Line, ...]]:
        """The pairs and lines of panels that a full search compares."""
        every = all_pairs(self.singles) if pairs_can_gain else ()
        pairs = tuple(pair for pair in every if self.scorer.affordable(pair))
        largest = self.max_models or (2 if pairs_can_gain else 3)
        return pairs, _led_lines(self.scorer, _panels(self.scorer, self.singles, largest), self.dealt)

    def _by_search(self, pairs: tuple[tuple[int, int], ...], lines: tuple[Line, ...]) -> dict[str, HeldOut]:
        lift = PairRule(self.scorer, self.singles, pairs, "lift", self.progress, lines, self.crew)
        swap = PairRule(self.scorer, self.singles, pairs, "swap", self.progress, crew=self.crew)
        return {
            name: held_out(self.scorer, rule, lambda parts: [self.baseline] * len(parts), self.dealt)
            for name, rule in (("lift", lift), ("swap", swap))
        }


def _check_options(max_models: int | None, min_gain: float, budget: float | None, search: str, replicates: int) -> None:
    if max_models is not None and max_models < 1:
        raise InputError(f"an ensemble of {max_models} models cannot be deployed: max_models is 1 or more")
    if not 0 <= min_gain < 1:  # This refuses NaN, too.
        raise InputError(f"a smallest gain of {min_gain} is not a fraction of one: give 0.01 for 1 percentage point")
    if budget is not None and not 0 < budget < float("inf"):
        raise InputError(f"a budget of {budget} buys nothing: give a cost per question above 0")
    if search not in ("family", "full"):
        raise InputError(f"there is no search {quote(search)}: take 'family' or 'full'")
    if replicates < FEWEST_REPLICATES:
        raise InputError(
            f"{several(replicates, 'bootstrap replicate')} cannot show a p-value of {1 - LEVEL:.0%}: ask for "
            f"{FEWEST_REPLICATES} or more (better 1,000 or more)"
        )


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
            f"there is no question in dataset {quote(tally.dataset)} that all {len(kept.models)} models "
            f"answered{apart(kept)}; name models that share questions"
        )
    return kept if answered.all() else kept.select(questions=answered)


def _about(checks: Sequence[Check], tally: Tally) -> tuple[Check, ...]:
    """The checks that concern a tally; who is a copy is decided on its own questions."""
    others = tuple(
        check
        for check in checks
        if check.dataset in ("", tally.dataset)
        and (check.model is None or check.model in tally.models)
        and check.name != "duplicate_model"
    )
    return others + copy_checks(tally)


def _without_copies(tally: Tally, checks: Sequence[Check]) -> Tally:
    """Leave out models that vote exactly as another does: they cannot change a vote."""
    copies = {check.model for check in checks if check.name == "duplicate_model"}
    kept = [model for model in tally.models if model not in copies]
    return tally if len(kept) == len(tally.models) or not kept else tally.select(models=kept)


def _affordable(scorer: Budgeted) -> Budgeted:
    """Keep the models of which the budget buys a sample."""
    kept = [model for model in range(len(scorer.tally.models)) if scorer.affordable((model,))]
    if not kept:
        cheapest = min(scorer.prices)
        raise InputError(
            f"a budget of {scorer.budget:g} per question buys no sample of any model; the cheapest costs {cheapest:g}"
        )
    return scorer if len(kept) == len(scorer.tally.models) else scorer.only(kept)


def _panels(scorer: Budgeted, singles: tuple[int, ...], max_models: int) -> list[tuple[int, ...]]:
    """Panels of three or more within the budget."""
    largest = min(max_models, len(singles))
    if largest > LARGEST_PANEL:
        raise InputError(f"a full search compares panels of at most {LARGEST_PANEL} models, not of {largest}")
    number = sum(comb(len(singles), size) for size in range(3, largest + 1))
    if number > MOST_PANELS:
        raise InputError(
            f"{len(singles)} models make {number:,} panels of 3 to {largest}, more than the {MOST_PANELS:,} that are "
            "compared: name fewer models or a smaller largest ensemble, or do not search in full"
        )
    return [panel for panel in all_panels(singles, largest) if scorer.affordable(panel)]


def _led_lines(scorer: Budgeted, panels: Sequence[tuple[int, ...]], dealt: Folds) -> tuple[Line, ...]:
    """The lines of weights whose primary is the most accurate member on some part: all that can be chosen."""
    everything = np.ones((1, dealt.tests.shape[1]), dtype=bool)
    totals = model_totals(scorer, np.concatenate([everything, dealt.trains]))
    return tuple(line for panel in panels for line in panel_lines(panel) if led_by_best(line, totals).any())
