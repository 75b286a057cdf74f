"""Weights by subject: near the global ones where a subject is small, its own where it is large."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from swaplaw.decide.rules._subjects import held_out_subjects, subject_weights
from swaplaw.errors import InputError
from swaplaw.votes.tally import Tally

from support.rule_votes import frame, named, tally


def split_fleet(questions: int) -> Tally:
    """Two subjects; model a knows the one and model b the other."""
    rng = np.random.default_rng(0)
    rows = []
    for subject, skill in {"history": {"a": 0.9, "b": 0.4}, "physics": {"a": 0.4, "b": 0.9}}.items():
        for place in range(questions):
            for model, p in skill.items():
                answer = "A" if rng.random() < p else str(rng.choice(list("BCD")))
                rows.append((f"{subject}-{place:03}", model, 0, answer, "A", subject))
    names = ["question", "model", "sample", "answer", "gold", "cluster"]
    return tally(pl.DataFrame(rows, schema=names, orient="row"))


def test_each_subject_is_led_by_who_knows_it() -> None:
    votes = split_fleet(300)
    found = {subject: named(votes, choice) for subject, choice in subject_weights(votes).items()}
    assert next(iter(found["physics"])) == "b"
    assert next(iter(found["history"])) == "a"


def test_held_out_scores_are_of_choices_without_the_question() -> None:
    votes = split_fleet(120)
    folds = np.arange(len(votes.questions)) % 4 == np.arange(4)[:, None]
    scores = held_out_subjects(votes, folds)
    best = max(scores.total / scores.denominator for scores in votes.scores) / len(votes.questions)
    assert scores.mean() > best


def test_votes_without_subjects_are_refused() -> None:
    with pytest.raises(InputError, match="no column 'cluster'"):
        subject_weights(tally(frame()))
