"""The report's numbers, one part for each section of the page. A part that cannot be had says why instead."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from swaplaw._arrays import Ints
from swaplaw.decide.defaults import FOLDS, MIN_GAIN, PANEL_WORK, REPEATS, REPLICATES
from swaplaw.decide.recommend import RULE, Recommendation
from swaplaw.errors import InputError, StatisticalWarning
from swaplaw.evidence.interval import LEVEL, Effect
from swaplaw.evidence.lifts import accuracy_effect
from swaplaw.evidence.units import Units, resampling_units
from swaplaw.report.pairs import PairRows, pair_rows
from swaplaw.report.sections import (
    combining_part,
    comparing_part,
    front_part,
    labels_part,
    most_accurate,
    now_part,
    panels_part,
    screening_part,
    telling_part,
)
from swaplaw.report.words import proof
from swaplaw.votes.inputs import VotesLike, vote_table
from swaplaw.votes.provenance import fingerprint_of
from swaplaw.votes.summary import summary
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    from swaplaw._parallel import Progress
    from swaplaw.evidence.units import Unit
    from swaplaw.predict.law_file import Law
    from swaplaw.votes.table import Votes

SCHEMA, VERSION = "swaplaw.report", 1

Part = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """How a report is made."""

    by: Unit | None = None
    seed: int = 0
    folds: int = FOLDS
    repeats: int = REPEATS
    replicates: int = REPLICATES
    min_gain: float = MIN_GAIN
    panel_work: float = PANEL_WORK
    """Work to search panels of three with, again to hold them out and for the best weights of all models, in millions
    of planes looked at (see `panels`); 0 leaves all of that out."""
    prices: Mapping[str, float] | None = None
    law: Law | None = field(default=None, repr=False)
    """A law calibrated elsewhere, to predict with; by default half of the questions calibrate one for the other."""
    command: str = ""
    """The command that makes this report, as the page shows it."""
    progress: Callable[[str], Progress] = field(default=lambda _: iter, repr=False)
    """Given the name of a step, returns what shows its progress."""


def document(votes: VotesLike, dataset: str | None = None, options: Options | None = None) -> Part:
    """Gather everything that the page of one dataset shows; the same votes and options give the same document.

    Parameters
    ----------
    votes : Votes, dataframe, path or paths
        The votes themselves: a tally has lost what the page says about them.
    dataset : str, optional
        Which dataset to show, where the votes hold several.
    options : Options, optional
        How the report is made: seed, folds, prices and the like.

    Returns
    -------
    dict
        Plain data, ready for `page` and for JSON.

    Raises
    ------
    InputError
        If the votes break the contract of the vote table, or hold several datasets and none is named.

    Examples
    --------
    >>> import polars as pl
    >>> import swaplaw as sl
    >>> votes = sl.demo_votes().frame.filter(pl.col("model").is_in(["gpt-4", "gpt-35-turbo"]))
    >>> found = document(votes, options=Options(repeats=1, replicates=100, panel_work=0))
    >>> [member["model"] for member in found["verdict"]["deploy"]]
    ['gpt-4']
    """
    chosen, table = options or Options(), vote_table(votes)
    tally = table.tally(dataset)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StatisticalWarning)
        units = resampling_units(tally, chosen.by)
        found = _decide(table, tally, chosen)
        rows = _pairs(tally, units.member, chosen, found)
        best = _best_pair(found, rows)
        parts: Part = {
            "verdict": _verdict(tally, found),
            "fleet": _fleet(tally, units),
            "pairs": rows if isinstance(rows, dict) else rows.to_dict(),
            "explorer": rows if isinstance(rows, dict) else rows.explorer(_golds(table, tally)),
            "panels": or_why(lambda: panels_part(tally, chosen.panel_work, chosen.seed, chosen.progress("Panels"))),
            "comparing": or_why(lambda: comparing_part(tally, chosen.by)),
            "combining": or_why(lambda: _combining(tally, chosen)),
            "screening": or_why(
                lambda: screening_part(tally, chosen.law, chosen.by, chosen.seed, chosen.progress("Screening"))
            ),
            "front": found if isinstance(found, dict) else front_part(found),
        }
    parts["labels"] = or_why(lambda: labels_part(table, tally.dataset, best))
    doubts = dict.fromkeys(str(each.message) for each in caught if issubclass(each.category, StatisticalWarning))
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "dataset": tally.dataset,
        "models": list(tally.models),
        "questions": list(tally.questions),
        "best": None if best is None else list(best),
        **parts,
        "quality": _quality(table, tally) | {"doubts": list(doubts)},
        "methods": _methods(tally, chosen, units),
    }


def or_why(part: Callable[[], Part]) -> Part:
    """A part, or why there is none."""
    try:
        return part()
    except InputError as error:
        return {"why": str(error)}


def _decide(table: Votes, tally: Tally, options: Options) -> Recommendation | Part:
    from swaplaw.decide.recommend import recommend

    if len(tally.models) < 2:
        return {"why": f"There is only one model, {tally.models[0]}: an ensemble needs a second."}
    try:
        return recommend(
            table,
            dataset=tally.dataset,
            models=most_accurate(tally).models,
            prices=options.prices,
            min_gain=options.min_gain,
            by=options.by,
            folds=options.folds,
            repeats=options.repeats,
            seed=options.seed,
            progress=options.progress("Verdict"),
        )
    except InputError as error:
        return {"why": f"No verdict: {error}."}


def _verdict(tally: Tally, found: Recommendation | Part) -> Part:
    if isinstance(found, dict):
        return found
    rows = {
        "In-sample": found.in_sample,
        "Held out": found.held_out,
    }
    notes = list(found.notes)
    if len(found.tally.models) < len(tally.models):
        notes.append(
            f"Decided among {len(found.tally.models)} of {len(tally.models)} models: the most accurate, no two of "
            "which vote alike."
        )
    policy = found.policy
    return {
        "kind": found.verdict,
        "reason": found.reason,
        "deploy": [member.to_dict() for member in policy.members],
        "fallback": [each.to_dict() for each in policy.fallback],
        "now": now_part(found),
        "points": telling_part(found),
        "ensemble": found.kind,
        "sentence": found.sentence,
        "proof": proof(found),
        "checks": [{"name": name, **_effect(each)} for name, each in rows.items()],
        "single": found.names(found.baseline)[0],
        "stability": found.fitted[RULE].stability,
        "min_gain": found.min_gain,
        "notes": notes,
    }


def _effect(found: Effect) -> Part:
    return {"mean": found.mean, "lo": found.low, "hi": found.high, "p": found.p, "n": found.n, "units": found.units}


def _fleet(tally: Tally, units: Units) -> list[Part]:
    rows = []
    for row in summary(tally):
        model = tally.index(row.model)
        found = accuracy_effect(tally, model, units)
        ends = None if found is None else [found.low, found.high]
        rows.append(row.to_dict() | {"model": model, "interval": ends})
    return rows


def _pairs(tally: Tally, member: Ints, options: Options, found: Recommendation | Part) -> PairRows | Part:
    if len(tally.models) < 2:
        return {"why": f"There is only one model, {tally.models[0]}: a pair needs two."}
    first = None if isinstance(found, dict) else _choice(found)
    dealt = options.folds, options.repeats, options.seed
    try:
        return pair_rows(tally, member, *dealt, first, _single(found), options.progress("Pairs"))
    except InputError as error:
        return {"why": str(error)}


def _combining(tally: Tally, options: Options) -> Part:
    return combining_part(
        tally,
        work=options.panel_work,
        prices=options.prices,
        by=options.by,
        folds=options.folds,
        repeats=options.repeats,
        seed=options.seed,
        progress=options.progress("Ways to combine"),
    )


def _choice(found: Recommendation) -> tuple[str, str] | None:
    names = found.names(found.choice)
    return (names[0], names[1]) if len(names) == 2 else None


def _best_pair(found: Recommendation | Part, rows: PairRows | Part) -> tuple[str, str] | None:
    """The pair to begin with: the recommended one, else the one that lifts the best single model most."""
    chosen = None if isinstance(found, dict) else _choice(found)
    return chosen or (None if isinstance(rows, dict) else rows.first(_single(found)))


def _single(found: Recommendation | Part) -> str | None:
    """The best single model, where a verdict names it."""
    return None if isinstance(found, dict) else found.names(found.baseline)[0]


def _golds(votes: Votes, tally: Tally) -> Sequence[str | None]:
    """The right answer of each question, where there is one and not a judge's word."""
    import polars as pl

    counts = votes.counts.filter(pl.col("dataset") == tally.dataset)
    known = dict(counts.select("question", "gold").unique().iter_rows()) if "gold" in counts.columns else {}
    return [known.get(question) for question in tally.questions]


def _quality(votes: Votes, tally: Tally) -> Part:
    asked = tally.answered
    clusters = None if tally.clusters is None else len(set(tally.clusters))
    return {
        "questions": len(tally.questions),
        "common": int(np.logical_and.reduce(asked).sum()),
        "models": len(tally.models),
        "pairs": comb(len(tally.models), 2),
        "votes": int(tally.votes.sum(dtype=np.int64)),
        "missing": int((~asked).sum()),
        "samples": [int(tally.votes[asked].min()), int(tally.votes.max(initial=0))],
        "ties": sum(scores.tied for scores in tally.scores),
        "clusters": clusters,
        "datasets": list(votes.datasets),
        "notes": list(votes.notes),
        "synthetic": _synthetic(votes, tally.dataset),
    }


def _synthetic(votes: Votes, dataset: str) -> bool:
    """Whether any vote says that nobody cast it."""
    import polars as pl

    frame = votes.frame
    if "synthetic" not in frame.collect_schema().names():
        return False
    said = pl.col("synthetic").cast(pl.String).str.to_lowercase() == "true"
    return bool(frame.filter(pl.col("dataset") == dataset).select(said.any()).collect().item())


def _methods(tally: Tally, options: Options, units: Units) -> Part:
    from importlib.metadata import version

    return {
        "command": options.command,
        "fingerprint": fingerprint_of(tally),
        "swaplaw": version("swaplaw"),
        "seed": options.seed,
        "folds": options.folds,
        "repeats": options.repeats,
        "replicates": options.replicates,
        "level": LEVEL,
        "units": units.count,
        "unit": units.kind,
    }
