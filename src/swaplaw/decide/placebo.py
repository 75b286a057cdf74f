"""What would secondaries that know nothing have gained?

A vote that is wrong but unsure can be improved by noise alone: where the primary's plurality is systematically wrong,
any other answer is right more often. Such a gain is real on the benchmark, but owes nothing to what the secondaries
know. The placebo has the secondaries' votes, moved to other options of each question at random: as many, as
concentrated, as many abstentions, and nothing known. Gold is one of the options, no more likely than any other. All
secondaries are moved alike, so they agree with each other as they did. Whoever knows that secondaries know nothing
gives them no weight, so a placebo is never worse than the best single model.

How many options a question has is what its votes state. Where they do not, one number for all such questions is read
off the votes: where a few answers come back on question after question, they are the options; where they do not (free
text), a random answer is never gold.

So the placebo takes no power from an ensemble that knows something: wherever noise does harm, to beat the placebo is to
beat the best single model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw.decide.choice import Choice, Scorer
from swaplaw.law.weights import vote
from swaplaw.votes.options import MOST_OPTIONS
from swaplaw.votes.tally import Tally, tally_array

PLACEBOS = 10
FREE_TEXT = 0
"""Stands for the number of options of a question whose answers are free text."""


@dataclass(frozen=True)
class Placebo:
    """Scores with secondaries that know nothing."""

    scores: Floats = field(repr=False)
    """Of each question, averaged over shuffles."""
    options: int | None
    """Among how many options votes were moved, at most; None: free text, where no random answer is right."""


def placebo(scorer: Scorer, choice: Choice, single: Choice, *, seed: int = 0) -> Placebo:
    """Score an ensemble whose secondaries know nothing, or the single model where that is better."""
    tally = scorer.tally
    options = options_of(tally)
    most = int(options.max(initial=FREE_TEXT))
    total = np.zeros(len(tally.questions))
    number = 1 if most == FREE_TEXT else PLACEBOS
    for shuffle in range(number):
        blind = with_placebo(tally, choice.members, options, np.random.default_rng([seed, shuffle]))
        pooled = vote(blind, range(len(choice.members)), choice.weights)
        total += (pooled.numerators / pooled.denominator).astype(np.float64)
    return Placebo(max(scorer.score(single), total / number, key=lambda scores: float(scores.mean())), most or None)


def options_of(tally: Tally) -> Ints:
    """How many options each question has, as far as votes tell; `FREE_TEXT` where answers are free text."""
    stated = np.zeros(len(tally.questions), dtype=np.int64) if tally.options is None else tally.options
    return stated if stated.all() else np.where(stated > 0, stated, _seen(tally))


def _seen(tally: Tally) -> int:
    """How many options questions have where votes do not state it: the same number for all of them."""
    answers = {label for label in tally.rivals.labels if label is not None} | set(tally.golds or ())
    options = max(len(answers), most_answers(tally))
    return options if options <= MOST_OPTIONS else FREE_TEXT


def most_answers(tally: Tally) -> int:
    """How many different answers the question with the most of them has, gold among them; at least 2."""
    voted = np.zeros(len(tally.rivals.question), dtype=bool)
    voted[tally.positions] = True
    named = tally.rivals.question[voted & tally.rivals.named]
    return max(2, 1 + int(np.bincount(named, minlength=1).max(initial=0)))


def with_placebo(tally: Tally, members: Sequence[int], options: Ints, rng: np.random.Generator) -> Tally:
    """The primary, and the secondaries with their votes moved among each question's own options, all alike.

    Gold is the first category; of an answer that nobody in the tally gave, only the number matters.
    """
    counts = _by_category(tally, members, options)
    categories = counts.shape[2] - 1  # the last one is null, and stays
    # What is made up at random is never what anybody else said: free text moves to categories of its own.
    free = options == FREE_TEXT
    moved = np.zeros((*counts.shape[:2], (2 if free.any() else 1) * categories + 1), dtype=counts.dtype)
    moved[0, :, :categories] = counts[0, :, :-1]
    moved[1:, free, -1 - categories : -1] = counts[1:, free, :-1]
    places = rng.random((counts.shape[1], categories))
    places[np.arange(categories) >= options[:, None]] = 1  # After all options, where there are no votes to move.
    places = places[~free].argsort(axis=1)
    moved[1:, ~free, :categories] = np.take_along_axis(counts[1:, ~free, :-1], places[None], axis=2)
    moved[:, :, -1] = counts[:, :, -1]
    names = tuple(tally.models[member] for member in members)
    return tally_array(tally.dataset, names, tally.questions, moved)


def _by_category(tally: Tally, members: Sequence[int], options: Ints) -> Ints:
    """Votes of members x questions x categories: gold, its rivals, options that nobody chose, and null."""
    voted = np.unique(tally.positions)
    question = tally.rivals.question[voted]
    null = np.array([label is None for label in tally.rivals.labels[voted]], dtype=bool)
    order = np.argsort(question[~null], kind="stable")
    rivals = voted[~null][order]
    owner = tally.rivals.question[rivals]
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    width = max(int(options.max(initial=FREE_TEXT)), 1 + int(rank.max(initial=-1)) + 1)
    counts = np.zeros((len(members), len(tally.questions), width + 1), dtype=np.int64)
    for row, member in zip(counts, members, strict=True):
        dense = tally.dense(member)
        row[:, 0] = tally.gold[member]
        row[owner, 1 + rank] = dense[rivals]
        row[question[null], -1] = dense[voted[null]]
    return counts
