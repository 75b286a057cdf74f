"""Synthetic twins of the paper's three datasets: its ten models, their accuracies and abstentions, other votes.

A twin has the question counts, option counts, single-sample and plurality accuracies and abstention rates of the
paper's tables, and dependence between models in the paper's range. It is no copy of the released votes: which questions
a model gets right, and whom it errs with, is drawn. Datasets are called `…-twin`; every vote says `synthetic = true`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from swaplaw.errors import InputError, listing, quote
from swaplaw.paper.published import published
from swaplaw.paper.synthetic import Fleet, Model, generate

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


def twin(dataset: str, seed: int = 0) -> Votes:
    """Draw the twin of one of the paper's datasets: supergpqa, gpqa-diamond or forensic."""
    return generate(twin_fleet(dataset), seed)


def twins(datasets: Sequence[str] | None = None, seed: int = 0) -> Votes:
    """Draw several twins (all three by default) as one vote table."""
    from swaplaw.votes.table import Votes

    names = list(published().datasets) if datasets is None else datasets
    return Votes(tuple(source for name in names for source in twin(name, seed).sources))
