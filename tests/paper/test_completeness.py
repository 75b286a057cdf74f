"""Whatever is taken out of a whole corpus, or is called otherwise, is named."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from swaplaw.errors import InputError
from swaplaw.importers import corpus
from swaplaw.paper.completeness import gaps

from support.corpus_layouts import MODELS

QUESTIONS, SAMPLES = {"supergpqa": 5, "gpqa-diamond": 4, "forensic": 3}, 4
Tables = dict[str, pl.DataFrame]


def whole() -> Tables:
    draw, found = random.Random(5), {}
    for dataset, number in QUESTIONS.items():
        votes, reasons, gold = [], [], []
        for question in [f"{dataset}-{place}" for place in range(number)]:
            gold.append({"question": question, "gold": "A"})
            for model in MODELS:
                for sample in range(SAMPLES):
                    answer = draw.choice("AABC") if draw.random() > 0.2 else None
                    place = {"question": question, "model": model, "sample": str(sample)}
                    grade = "unanswered" if answer is None else "correct" if answer == "A" else "incorrect"
                    votes.append({**place, "answer": answer} | ({"grade": grade} if dataset == "forensic" else {}))
                    if answer is None:
                        reasons.append({**place, "reason": "truncated"})
        for kind, rows in (("votes", votes), ("gold", gold), ("reasons", reasons)):
            found[f"{dataset}_{kind}"] = pl.DataFrame(rows)
    return found


def without(table: str, **cell: str) -> Callable[[Tables], Tables]:
    """The tables less the rows with this cell, or less the first row."""
    test = pl.lit(value=True)
    for name, value in cell.items():
        test = test & (pl.col(name) == value)
    return lambda tables: tables | {table: tables[table].filter(~test) if cell else tables[table][1:]}


def changed(table: str, name: str, old: str | None, new: str | None, first: bool = False) -> Callable[[Tables], Tables]:
    """The tables with another cell: everywhere, or in the first row."""

    def change(tables: Tables) -> Tables:
        hit = pl.col(name).is_not_null() if old is None else pl.col(name) == old
        hit = hit & (hit.cum_sum() == 1) if first else hit
        cell = pl.when(hit).then(pl.lit(new, pl.String)).otherwise(name)
        return tables | {table: tables[table].with_columns(cell.alias(name))}

    return change


def less(*names: str) -> Callable[[Tables], Tables]:
    return lambda tables: {name: frame for name, frame in tables.items() if name not in names}


def column(table: str, old: str, new: str | None = None) -> Callable[[Tables], Tables]:
    return lambda tables: tables | {table: tables[table].rename({old: new}) if new else tables[table].drop(old)}


Q, V = "supergpqa-0", "supergpqa_votes"
CHANGES: dict[str, tuple[Callable[[Tables], Tables], str]] = {
    "a model in one dataset": (without(V, model="gemma4-a4b"), "Gemma-4-26B-A4B|belong to no vote"),
    "a model renamed": (changed(V, "model", "gemma4-a4b", "gemma4-a4c"), "gemma4-a4c"),
    "a model renamed beyond recognition": (changed(V, "model", "glm47-flash", "zeta"), "'zeta'"),
    "a model's first row": (changed(V, "model", "glm47-flash", "zeta", first=True), "'zeta'"),
    "a model for another": (changed(V, "model", "glm47-flash", "medgemma-27b"), "MedGemma-27B|medgemma"),
    "a dataset": (less("forensic_votes", "forensic_gold", "forensic_reasons"), "no votes for dataset 'forensic'"),
    "votes of a dataset": (less("forensic_votes"), "'forensic' has"),
    "gold of a dataset": (less("gpqa-diamond_gold"), "'gpqa-diamond': no table has gold"),
    "reasons of a dataset": (less("gpqa-diamond_reasons"), "'gpqa-diamond'.* abstentions have no reason"),
    "a vote": (without(V), "supergpqa.* (3 of|no vote)"),
    "a question's votes": (without(V, question=Q), Q),
    "a question's gold": (without("supergpqa_gold", question=Q), Q),
    "a gold cell": (changed("supergpqa_gold", "gold", "A", None, first=True), Q),
    "a reason": (without("supergpqa_reasons"), "1 of .* abstentions have no reason"),
    "a question renamed": (changed(V, "question", Q, "supergpqa-x"), "supergpqa-(x|0)"),
    "a question renamed in gold": (changed("supergpqa_gold", "question", Q, "supergpqa-x"), "supergpqa-(x|0)"),
    "a sample number": (changed(V, "sample", "2", "7", first=True), "sample '?[27]"),
    "a grade": (changed("forensic_votes", "grade", "correct", None, first=True), "'forensic'.*no grade"),
    "an odd grade": (changed("forensic_votes", "grade", "correct", "quite", first=True), "'quite'"),
    "the column of models": (column(V, "model"), "'supergpqa_votes.csv'.*'model'"),
    "the column of answers": (column(V, "answer"), "'supergpqa_votes.csv'.*'answer'"),
    "the column of questions": (column(V, "question"), "'supergpqa_votes.csv'.*'question'"),
    "the column of samples": (column(V, "sample"), "'supergpqa'.* sample numbers"),
    "the column of gold": (column("supergpqa_gold", "gold"), "'supergpqa': no table has gold"),
    "the column of grades": (column("forensic_votes", "grade"), "'forensic' has no grades"),
    "the column of reasons": (column("supergpqa_reasons", "reason"), "supergpqa.*reason"),
    "answers called otherwise": (column(V, "answer", "zz"), "'supergpqa_votes.csv'.*'answer'"),
    "questions called otherwise": (column(V, "question", "zz"), "'supergpqa_votes.csv'.*'question'"),
    "samples called otherwise": (column(V, "sample", "zz"), "'supergpqa'.* sample numbers"),
    "a file called otherwise": (
        lambda tables: {("other" if name == V else name): frame for name, frame in tables.items()}, "other.csv"
    ),
    "a vote twice": (
        lambda tables: tables | {V: pl.concat([tables[V], tables[V][:1].with_columns(answer=pl.lit("J"))])},
        f"two different rows for question '{Q}'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_taken_out_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "CARD", QUESTIONS)
    monkeypatch.setattr(corpus, "SAMPLES", SAMPLES)
    change, told = CHANGES[name]
    for table, frame in change(whole()).items():
        frame.write_csv(tmp_path / f"{table}.csv")
    try:
        said = "; ".join(gaps(corpus.read_corpus(tmp_path)))
    except InputError as error:
        said = str(error)
    assert re.search(told, said), said


def test_models_are_known_whatever_their_column_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "CARD", QUESTIONS)
    monkeypatch.setattr(corpus, "SAMPLES", SAMPLES)
    for table, frame in column(V, "model", "zz")(whole()).items():
        frame.write_csv(tmp_path / f"{table}.csv")
    assert gaps(corpus.read_corpus(tmp_path)) == []


def test_nothing_is_missed_in_a_whole_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "CARD", QUESTIONS)
    monkeypatch.setattr(corpus, "SAMPLES", SAMPLES)
    for table, frame in whole().items():
        frame.write_csv(tmp_path / f"{table}.csv")
    assert gaps(corpus.read_corpus(tmp_path)) == []
