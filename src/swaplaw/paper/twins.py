"""Synthetic twins of the paper's three datasets: its ten models, its accuracies, its pairs and trios; other votes.

A twin has the question counts, option counts, accuracies and abstention rates of the paper's tables. Its ballots were
then arranged so that the published values of pairs and trios come out as well: exchanging a model's whole ballots
between two questions changes nothing about the model alone, so such swaps were annealed toward what the paper reports
(`scripts/anneal_twins.py`). Two arrangements are kept in `data/twins.npz`. No vote is anybody's: datasets are called
`…-twin`, and every vote says `synthetic = true`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swaplaw._arrays import Ints
from swaplaw.errors import InputError, listing, quote
from swaplaw.paper.published import published
from swaplaw.paper.synthetic import Fleet, Model, votes_of

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes

SUFFIX = "-twin"
DISCIPLINES = (
    *("Agronomy", "Economics", "Education", "Engineering", "History", "Law", "Literature and Arts", "Management"),
    *("Medicine", "Military Science", "Philosophy", "Science", "Sociology"),
)
CHALLENGES = ("disk image 1", "disk image 2", "network capture 1", "network capture 2", "phone image")

# How far each model's leanings are its own: the paper's weaker models err least alike (its Table top_pairs).
IDIOSYNCRASY: Mapping[str, float] = {
    "Gemma-4-31B": 0.42,
    "Qwen3.6-27B": 0.42,
    "Gemma-4-26B-A4B": 0.44,
    "Qwen3-30B-Think.": 0.46,
    "DiffusionGemma-26B": 0.54,
    "GLM-4.7-Flash": 0.54,
    "Nemotron-3-Nano": 0.58,
    "GPT-OSS-20B": 0.56,
    "Magistral-Small": 0.6,
    "MedGemma-27B": 0.62,
}
# SuperGPQA's questions mostly have ten options.
OPTIONS: Mapping[str, tuple[int, ...] | None] = {
    "supergpqa": (4, 5, 6, 7, 8, 9, *(10,) * 14),
    "gpqa-diamond": (4,),
    "forensic": None,
}
CLUSTERS = {"supergpqa": DISCIPLINES, "gpqa-diamond": ("Biology", "Chemistry", "Physics"), "forensic": CHALLENGES}
LURES = {"supergpqa": 0.65, "gpqa-diamond": 0.5, "forensic": 0.2}


def twin_fleet(dataset: str) -> Fleet:
    """Specify the twin of one of the paper's datasets."""
    name = dataset.removesuffix(SUFFIX)
    known = published().datasets
    if name not in known:
        raise InputError(f"the paper has no dataset {quote(dataset)}; there are {listing(list(known))}")
    tables = published().tables
    (size,) = (row["questions"] for row in tables["datasets"].rows if row["dataset"] == name)
    nulls = {row["model"]: row for row in tables["abstentions"].rows}
    reasons = ("unanswered",) if name == "forensic" else ("truncated", "no_parse")
    members = tuple(
        Model(
            row["model"],
            plurality=row[f"{name}_plurality"] / 100,
            single=row[f"{name}_single"] / 100,
            abstains={reason: nulls[row["model"]][reason] / 100 for reason in reasons},
            idiosyncrasy=IDIOSYNCRASY[row["model"]],
        )
        for row in tables["model_accuracy"].rows
    )
    return Fleet(name + SUFFIX, members, int(size), OPTIONS[name], CLUSTERS[name], lure=LURES[name], favourite=0.6)


def twin(dataset: str, seed: int = 0, arrangements: str | Path | None = None) -> Votes:
    """Load the twin of one of the paper's datasets.

    Parameters
    ----------
    dataset
        supergpqa, gpqa-diamond or forensic.
    seed
        Chooses one of the arrangements (by the remainder when divided by their number), and draws what no published
        number depends on: the order of questions and samples, letters, reasons. For wholly new votes with the paper's
        marginals alone, use ``generate(twin_fleet(dataset), seed)``.
    arrangements
        A file made by `scripts/anneal_twins.py`, instead of the two arrangements that ship with swaplaw.

    Returns
    -------
    Votes
        Synthetic votes of ten models.

    Examples
    --------
    >>> twin("forensic").datasets
    ['forensic-twin']
    """
    fleet = twin_fleet(dataset)
    ballots, options, cluster = _arranged(dataset.removesuffix(SUFFIX), seed, arrangements)
    rng = np.random.default_rng((seed, len(fleet.members) + 1))
    order = np.argsort(rng.random(fleet.questions), kind="stable")
    kinds = np.arange(ballots.shape[2])
    kinds[-1] = -1
    categories = {}
    for member, counts in zip(fleet.members, ballots[:, order], strict=True):
        votes = np.repeat(np.broadcast_to(kinds, counts.shape).ravel(), counts.ravel()).reshape(len(order), -1)
        shuffled = np.argsort(rng.random(votes.shape), axis=1, kind="stable")
        categories[member.name] = np.take_along_axis(votes, shuffled, axis=1)
    return votes_of(fleet, options[order], cluster[order], categories, seed)


def taken(seed: int, arrangements: str | Path | None = None) -> str:
    """Say which arrangement a seed takes, and what else it draws."""
    with _kept(arrangements) as kept:
        number = len(kept["forensic.places"])
    whose = "those that come along" if arrangements is None else quote(str(arrangements), 200)
    return (
        f"seed {seed} takes arrangement {seed % number + 1} of {number} ({whose}); the seed itself draws the order of "
        "questions and samples, letters and reasons, on which no published number depends"
    )


@contextmanager
def _kept(arrangements: str | Path | None) -> Iterator[Any]:
    place = files("swaplaw") / "data" / "twins.npz" if arrangements is None else Path(arrangements)
    try:
        with place.open("rb") as file, np.load(file) as kept:
            yield kept
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{quote(str(place), 200)}: not a file of arrangements ({error})") from None


def _arranged(name: str, seed: int, arrangements: str | Path | None) -> tuple[Ints, Ints, Ints]:
    """Ballots of one arrangement (models x questions x categories: gold, wrong answers, null), options, clusters."""
    with _kept(arrangements) as kept:
        which = seed % len(kept[f"{name}.places"])
        ballots, places, options, clusters = (
            kept[f"{name}.{part}"][which] for part in ("ballots", "places", "options", "clusters")
        )
    laid = np.take_along_axis(ballots, places.astype(np.intp)[:, :, None], axis=1)
    return laid, options.astype(int), clusters.astype(int)


def twins(datasets: Sequence[str] | None = None, seed: int = 0, arrangements: str | Path | None = None) -> Votes:
    """Take several twins (all three by default) as one vote table."""
    from swaplaw.votes.table import Votes

    names = list(published().datasets) if datasets is None else datasets
    return Votes(tuple(source for name in names for source in twin(name, seed, arrangements).sources))
