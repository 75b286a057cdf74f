"""Make the bundled twins, `demo:supergpqa-twin` and so on, from an arrangement of ballots.

A twin has the question counts, option counts, accuracies and abstention rates of the paper's tables. Its ballots were
then arranged so that the published values of pairs and trios come out as well: exchanging a model's whole ballots
between two questions changes nothing about the model alone, so such swaps were annealed toward what the paper reports
(`anneal_twins.py`). Two arrangements are kept in `twins.npz`. No vote is anybody's: datasets are called `...-twin`.

    python scripts/twins.py scripts/twins.npz -o src/swaplaw/data
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from swaplaw.errors import InputError, listing, quote
from swaplaw.paper.published import published
from swaplaw.paper.synthetic import Fleet, Model, votes_of
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


def twin(dataset: str, arrangements: Path, seed: int = 0) -> Votes:
    """Lay out the votes of one arrangement; the seed draws order, letters and reasons, on which nothing depends."""
    fleet = twin_fleet(dataset)
    with np.load(arrangements) as kept:
        which = seed % len(kept[f"{dataset}.places"])
        ballots, places, options, clusters = (
            kept[f"{dataset}.{part}"][which] for part in ("ballots", "places", "options", "clusters")
        )
    ballots = np.take_along_axis(ballots, places.astype(np.intp)[:, :, None], axis=1)
    rng = np.random.default_rng((seed, len(fleet.members) + 1))
    order = np.argsort(rng.random(fleet.questions), kind="stable")
    kinds = np.arange(ballots.shape[2])
    kinds[-1] = -1
    categories = {}
    for member, counts in zip(fleet.members, ballots[:, order], strict=True):
        votes = np.repeat(np.broadcast_to(kinds, counts.shape).ravel(), counts.ravel()).reshape(len(order), -1)
        shuffled = np.argsort(rng.random(votes.shape), axis=1, kind="stable")
        categories[member.name] = np.take_along_axis(votes, shuffled, axis=1)
    return votes_of(fleet, options.astype(int)[order], clusters.astype(int)[order], categories, seed)


def counted(votes: Votes) -> pl.DataFrame:
    """Equal votes with their number, as the bundled files hold them."""
    frame = votes.frame.drop("dataset", "synthetic", "sample").collect()
    counts = frame.group_by(frame.columns).agg(pl.len().cast(pl.UInt8).alias("votes"))
    return counts.sort("question", "model", "votes", descending=[False, False, True])


def main() -> None:
    """Write the three files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arrangements", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for name in published().datasets:
        frame = counted(twin(name, given.arrangements, given.seed)).with_columns(pl.col(pl.String).cast(pl.Categorical))
        frame.write_parquet(given.output / f"{name}{SUFFIX}.parquet", compression_level=22, statistics=False)


if __name__ == "__main__":
    main()
