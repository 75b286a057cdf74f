"""Names that cannot be what was meant: one model under two names, ids that no model shares, columns swapped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from swaplaw.errors import listing, quote, several
from swaplaw.votes import engines
from swaplaw.votes.checks.seen import SERIOUS, Check
from swaplaw.votes.columns import LIKELY_CLUSTERS, candidates
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.table import Votes

_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")
_ONE_ID = "give a question the same id in the rows of every model (column `question`)"


def name_checks(votes: Votes | Tally, dataset: str) -> Iterator[Check]:
    """Models and questions of one dataset that are one, but have two names."""
    asked = _asked(votes, dataset)
    yield from _models(asked["model"].unique(), dataset)
    yield from _strangers(asked, dataset)
    yield from _spellings(asked, dataset)


def dataset_checks(votes: Votes) -> Iterator[Check]:
    """Columns that may say what questions are nested in; datasets that have one model each, on the same questions."""
    import polars as pl

    yield from _ignored_clusters(votes)
    counts = votes.counts
    sizes = counts.group_by("dataset").agg(pl.col("model", "question").n_unique(), pl.col("model").first().alias("own"))
    shared = counts["question"].n_unique()
    if len(sizes) < 2 or (sizes["model"] != 1).any() or (sizes["question"] != shared).any():
        return
    datasets, models = sorted(sizes["dataset"]), sorted(sizes["own"].unique())
    golds = counts.group_by("question").agg(pl.col("gold").drop_nulls().n_unique())
    if (golds["gold"] > 1).any():
        return  # Other questions under the same numbers, as logs of several tasks have them.
    if len(models) == 1:
        yield Check(
            "swapped_columns", "error", models[0], shared,
            f"the datasets {listing(datasets, 3)} have the same questions and the one model {quote(models[0])}: the "
            "columns `model` and `dataset` seem to be swapped",
            "read them the other way round: `--column model=dataset --column dataset=model`",
        )  # fmt: skip
    else:
        yield Check(
            "one_model_each", "warning", None, shared,
            f"the datasets {listing(datasets, 3)} have the same questions and one model each, and models are compared "
            "within a dataset only",
            "give all rows the same name in the column `dataset`, if they are of one dataset",
        )  # fmt: skip


def _ignored_clusters(votes: Votes) -> Iterator[Check]:
    """A column that is no cluster unless somebody says so."""
    if "cluster" in votes.counts.columns:
        return
    there = {name: None for source in votes.sources for name in engines.columns(source.scan(), source.name)}
    for column in candidates(list(there), LIKELY_CLUSTERS)[:1]:
        yield Check(
            "ignored_cluster", "warning", None, votes.counts["question"].n_unique(),
            f"the column {quote(column)} is not taken for clusters: fixed parts of a benchmark are no sample, and "
            "questions are drawn one by one",
            f"if questions were sampled in groups, say so: `--column cluster={column}`",
        )  # fmt: skip


def apart(tally: Tally) -> str:
    """How the questions of two models that share none are called, by example."""
    asked = _asked(tally, tally.dataset)
    return next((f" ({check.message})" for check in _strangers(asked, tally.dataset)), "")


def _asked(votes: Votes | Tally, dataset: str) -> pl.DataFrame:
    """Which model has which questions."""
    import polars as pl

    if isinstance(votes, Tally):
        model, question = votes.answered.nonzero()
        names = {"model": (votes.models, model), "question": (votes.questions, question)}
        return pl.DataFrame({name: pl.Series(texts, dtype=pl.String).gather(at) for name, (texts, at) in names.items()})
    return votes.counts.filter(pl.col("dataset") == dataset).select("model", "question").unique()


def _fold(name: str) -> str:
    """A name without what people do not see, or do not mean to tell names apart by."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


_LIKE = str.maketrans(
    "аеорсухіјѕԁԛԝһАВЕКМНОРСТХІЈЅοαντΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxijsdqwhABEKMHOPCTXIJSoavtABEZHIKMNOPTYX"
)
"""Letters of other alphabets that look like Latin ones."""


def _look(name: str) -> str:
    """What a name looks like: without what has no width, every dash and blank as the plain one."""
    kinds = ((unicodedata.category(char), char) for char in unicodedata.normalize("NFKC", name))
    seen = "".join("-" if kind == "Pd" or char == "\u2212" else char for kind, char in kinds if kind != "Cf")
    return _fold(seen.translate(_LIKE))


def _fold_id(name: str) -> str:
    """An id of a question, the same with and without zeros before a number.

    >>> _fold_id("Q007"), _fold_id("q7"), _fold_id("v1.05")
    ('q7', 'q7', 'v1.05')
    """
    return _ZEROS.sub("", _fold(name))


def _models(models: Iterable[str], dataset: str) -> Iterator[Check]:
    folded: dict[str, str] = {}
    looks: dict[str, str] = {}
    for model in sorted(models):
        same, alike = folded.setdefault(_fold(model), model), looks.setdefault(_look(model), model)
        if same != model:
            yield Check(
                "model_names", "error", model, 0,
                f"the models {quote(same)} and {quote(model)} differ only in case or white space, and count as two",
                "give one model one name in the column `model`",
                dataset,
            )  # fmt: skip
        elif alike != model:
            yield Check(
                "look_alike_names", "error", model, 0,
                f"the models {alike!a} and {model!a} look alike, but hold different characters, and count as "
                "two",
                "give one model one name in the column `model`, typed with plain letters and hyphens",
                dataset,
            )  # fmt: skip


def _strangers(asked: pl.DataFrame, dataset: str) -> Iterator[Check]:
    """Models whose questions nobody else has."""
    import polars as pl

    alone = asked.with_columns(alone=pl.len().over("question") == 1)
    each = alone.group_by("model").agg(pl.col("alone").all(), pl.len().alias("n"), pl.col("question").min())
    ranked = each.sort(["alone", "n", "model"], descending=[False, True, False])
    _, _, _, usual = ranked.row(0)
    for model, lonely, n, own in ranked[1:].iter_rows():
        if lonely:
            yield Check(
                "own_questions", "error", model, n,
                f"{quote(model)} shares no question with another model: its questions have ids such as {quote(own)}, "
                f"those of {quote(ranked['model'][0])} such as {quote(usual)}",
                _ONE_ID,
                dataset,
            )  # fmt: skip


def _spellings(asked: pl.DataFrame, dataset: str) -> Iterator[Check]:
    """Questions whose ids differ only in case, white space or zeros before a number, and that no model has both of."""
    import polars as pl

    ids = asked["question"].unique()
    folded = pl.DataFrame(
        {"question": ids, "id": [_fold_id(name) for name in ids]}, schema=dict.fromkeys(("question", "id"), pl.String)
    )
    if folded["id"].n_unique() == len(folded):
        return
    twice = folded.filter(pl.len().over("id") > 1)
    groups = asked.join(twice, on="question").group_by("id").agg(
        pl.col("question").unique().sort(), pl.col("model").is_duplicated().any().alias("both")
    ).filter(~pl.col("both")).sort("id")  # fmt: skip
    shared = asked.filter(pl.len().over("question") > 1)
    if groups.is_empty() or shared.is_empty():
        return  # Where models share nothing at all, that has been said.
    first, second = groups["question"][0][:2]
    yield Check(
        "question_ids", "error" if len(groups) >= SERIOUS * (len(ids) - len(groups)) else "warning", None, len(groups),
        f"{several(len(groups), 'question')} {'has' if len(groups) == 1 else 'have'} two ids, such as {quote(first)} "
        f"and {quote(second)}, and no model has both",
        _ONE_ID,
        dataset,
    )  # fmt: skip
