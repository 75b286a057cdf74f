"""Synthetic fleets: whole vote tables whose marginals are what you ask for.

Every question has a difficulty, a number of options and a *lure*, a wrong answer that draws all models; every model has
a skill, a sharpness (how often it repeats itself), leanings of its own on each question and on each cluster, and
reasons to abstain, which it does more often on hard questions. A vote is null, or gold with probability
logistic(sharpness x (skill - difficulty + leaning)), or a wrong answer: the lure, the model's own favourite, or any.

Marginals are met by construction, whatever the seed: given all random numbers, a question's score can only rise with
the skill, so skill and sharpness are solved for the plurality and single-sample accuracies that were asked for.
All votes carry `synthetic = true`. Only uniform numbers are drawn: the same seed gives the same votes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from swaplaw._arrays import Bools, Ints
from swaplaw.errors import InputError, quote
from swaplaw.paper.skill import BLUNT, SHARP, Leanings, Solution, solve

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.table import Votes

Floats = npt.NDArray[np.float64]

SCATTER = 30
"""Wrong answers that a free-text question has."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Model:
    """One model of a synthetic fleet, given by the marginals it should have (fractions of one)."""

    name: str
    plurality: float
    """Accuracy of its plurality vote."""
    single: float | None = None
    """Accuracy of a single sample; None leaves it to `sharpness`."""
    abstains: Mapping[str, float] = field(default_factory=dict)
    """Share of null votes by reason."""
    idiosyncrasy: float = 1.0
    """How far its own leanings outweigh the shared difficulty; at 0 its errors are nested with those of the others."""
    sharpness: float = 2.0
    """How deterministic its votes are, where `single` does not determine that."""
    samples: int = 24
    missing: float = 0.0
    """Share of its votes that are lost at random, which makes counts ragged."""

    def __post_init__(self) -> None:
        shares = {"plurality": self.plurality, "single": self.single, "missing": self.missing, **self.abstains}
        for name, share in shares.items():
            if share is not None and not 0 <= share <= 1:
                raise InputError(f"{quote(self.name)}: {name} is {share:g}; give a fraction of one, from 0 to 1")
        if sum(self.abstains.values()) > 1:
            raise InputError(f"{quote(self.name)}: the shares of null votes add up to more than one")
        if self.samples < 1 or self.idiosyncrasy < 0 or self.sharpness <= 0:
            raise InputError(f"{quote(self.name)}: samples and sharpness must be positive, idiosyncrasy 0 or more")


@dataclass(frozen=True)
class Fleet:
    """A synthetic dataset and the models that vote on it."""

    dataset: str
    members: tuple[Model, ...]
    questions: int
    options: tuple[int, ...] | None = (4,)
    """Numbers of options that questions have, one drawn for each question; None makes answers free text."""
    clusters: tuple[str, ...] = ()
    """Names of clusters of questions, if any; difficulty and skill differ between clusters."""
    lure: float = 0.5
    """Mean share of wrong votes that goes to the question's shared lure."""
    favourite: float = 0.5
    """Share of the other wrong votes that goes to a model's own favourite."""
    cluster_share: float = 0.15
    """Share of the spread of difficulties and leanings that lies between clusters."""

    def __post_init__(self) -> None:
        if not self.members or len({member.name for member in self.members}) < len(self.members):
            raise InputError(f"fleet {quote(self.dataset)} needs at least one member, each with a name of its own")
        if self.questions < 1:
            raise InputError(f"fleet {quote(self.dataset)} has {self.questions} questions: give at least 1")
        if self.options is not None and not all(2 <= number <= len(LETTERS) for number in self.options):
            raise InputError(
                f"options are {self.options}: give numbers from 2 to {len(LETTERS)}, or None for free text"
            )


def generate(fleet: Fleet, seed: int = 0) -> Votes:
    """Draw a fleet's votes, labelled synthetic.

    Parameters
    ----------
    fleet : Fleet
        The marginals that the votes should have.
    seed : int
        The same seed gives the same votes.

    Returns
    -------
    Votes
        A vote table with the column `synthetic`.

    Raises
    ------
    InputError
        If no votes have these marginals.

    Examples
    --------
    >>> generate(Fleet("made up", (Model("a", 0.8), Model("b", 0.7)), questions=50))
    Votes(2,400 votes of 'made up')
    """
    import polars as pl

    from swaplaw.votes.table import votes_of

    exam = _Exam.draw(fleet, np.random.default_rng((seed, 0)))
    ballots = [
        _Ballots.draw(exam, member, np.random.default_rng((seed, number)))
        for number, member in enumerate(fleet.members, start=1)
    ]
    return votes_of(pl.concat([_frame(exam, each) for each in ballots]))


def votes_of(fleet: Fleet, options: Ints, cluster: Ints, categories: Mapping[str, Ints], seed: int = 0) -> Votes:
    """Lay given votes out as a vote table, labelled synthetic; which option is gold and which reason is drawn.

    Parameters
    ----------
    fleet
        The dataset and its models.
    options
        Options of each question, gold included.
    cluster
        Place of each question's cluster among the fleet's.
    categories
        For each model, questions x samples: 0 is gold, 1, 2, … are wrong answers, -1 is null.
    seed
        Of what is drawn.
    """
    import polars as pl

    from swaplaw.votes.table import votes_of

    rng = np.random.default_rng((seed, 0))
    free, n = fleet.options is None, fleet.questions
    gold = np.zeros(n, dtype=int) if free else (rng.random(n) * options).astype(int)
    exam = _Exam(fleet, np.zeros(n), cluster, options, gold, np.zeros(n))
    frames = []
    for number, member in enumerate(fleet.members, start=1):
        category = categories[member.name]
        reasons = _reasons(member, np.random.default_rng((seed, number)), category == -1)
        frames.append(_frame(exam, _Ballots(member, category, reasons)))
    return votes_of(pl.concat(frames))


def _logistic(rng: np.random.Generator, size: int) -> Floats:
    """Draw standard logistic numbers from uniform ones."""
    uniform = rng.random(size)
    values: Floats = np.log(uniform) - np.log1p(-uniform)
    return values


@dataclass(frozen=True)
class _Exam:
    """The questions: all that models share."""

    fleet: Fleet
    difficulty: Floats
    cluster: Ints
    options: Ints
    """Options of each question, gold included."""
    gold: Ints
    """Which option is correct (0 for free text)."""
    lure: Floats
    """Share of wrong votes that goes to wrong answer number 1."""

    @classmethod
    def draw(cls, fleet: Fleet, rng: np.random.Generator) -> _Exam:
        n = fleet.questions
        kinds = (SCATTER + 1,) if fleet.options is None else fleet.options
        options = np.array(kinds)[(rng.random(n) * len(kinds)).astype(int)]
        cluster = (rng.random(n) * max(len(fleet.clusters), 1)).astype(int)
        between, within = _shares(fleet)
        difficulty = between * _logistic(rng, max(len(fleet.clusters), 1))[cluster] + within * _logistic(rng, n)
        gold = (rng.random(n) * options).astype(int) if fleet.options is not None else np.zeros(n, dtype=int)
        # A power of a uniform has any mean in (0, 1): many weak lures and a few strong ones.
        lure = rng.random(n) ** (1 / max(fleet.lure, 1e-9) - 1) if fleet.lure > 0 else np.zeros(n)
        return cls(fleet, difficulty, cluster, options, gold, lure)


def _shares(fleet: Fleet) -> tuple[float, float]:
    """Spread between and within clusters; together they make one unit of variance."""
    between = fleet.cluster_share if fleet.clusters else 0.0
    return between**0.5, (1 - between) ** 0.5


@dataclass(frozen=True)
class _Ballots:
    """One model's votes: category 0 is gold, others are wrong answers, -1 null, -2 lost."""

    member: Model
    category: Ints
    reason: Ints
    """Index into the member's reasons, -1 where the vote is not null."""

    @classmethod
    def draw(cls, exam: _Exam, member: Model, rng: np.random.Generator) -> _Ballots:
        numbers = _Numbers.draw(exam, member, rng)
        ballot, solution = _best(member, numbers)
        category = np.where(ballot.chance < solution.theta[:, None], 0, ballot.wrong)
        category[ballot.null], category[ballot.lost] = -1, -2
        return cls(member, category, _reasons(member, rng, ballot.null))


@dataclass(frozen=True)
class _Temper:
    """How a model is wrong, where skill and sharpness alone cannot meet its marginals."""

    scatter: float
    """Share of wrong votes that heed neither lure nor favourite: scattered, they let gold win with fewer votes."""
    caution: float
    """How strongly abstention follows difficulty: weakly, null votes beat gold where it is often found."""


TEMPERS = tuple(
    _Temper(scatter, caution)
    for scatter, caution in sorted(
        ((scatter, caution) for scatter in (0.0, 0.3, 0.6, 0.9) for caution in (1.0, 0.5, 2.0, 0.25, 4.0, 0.1)),
        key=lambda temper: temper[0] + abs(np.log2(temper[1])) / 3,
    )
)
"""The plainest first: the first that meets the marginals is taken."""
CLOSE_ENOUGH = 0.005
"""In plurality twice over, and in single-sample accuracy."""


def _best(member: Model, numbers: _Numbers) -> tuple[Leanings, Solution]:
    """Take the first temper whose solution is close enough, or else the closest; blunt models are the last resort."""
    found: list[tuple[Leanings, Solution]] = []
    for candidates in (SHARP, BLUNT):
        for temper in TEMPERS:
            ballot = numbers.ballot(temper)
            found.append((ballot, solve(ballot, member.plurality, member.single, member.sharpness, candidates)))
            if found[-1][1].miss(member.plurality, member.single) <= CLOSE_ENOUGH:
                return found[-1]
        if member.single is None:
            break
    return min(found, key=lambda each: each[1].miss(member.plurality, member.single))


@dataclass(frozen=True)
class _Numbers:
    """All random numbers of one model, drawn before anything is solved."""

    exam: _Exam
    member: Model
    leaning: Floats
    favourite: Ints
    anything: Ints
    """What a vote is if it is wrong and nothing draws it."""
    scattered: Floats
    drawn: Floats
    lured: Floats
    urge: Floats
    chance: Floats
    lost: Bools

    @classmethod
    def draw(cls, exam: _Exam, member: Model, rng: np.random.Generator) -> _Numbers:
        questions, shape = exam.fleet.questions, (exam.fleet.questions, member.samples)
        between, within = _shares(exam.fleet)
        own = between * _logistic(rng, max(len(exam.fleet.clusters), 1))[exam.cluster]
        leaning = member.idiosyncrasy * (own + within * _logistic(rng, questions))
        others = exam.options - 1
        return cls(
            exam,
            member,
            leaning,
            1 + (rng.random(questions) * others).astype(int),
            1 + (rng.random(shape) * others[:, None]).astype(int),
            rng.random(shape),
            rng.random(shape),
            rng.random(shape),
            _logistic(rng, questions * member.samples).reshape(shape),
            rng.random(shape),
            rng.random(shape) < member.missing,
        )

    def ballot(self, temper: _Temper) -> Leanings:
        """Settle what each vote is if it is not gold."""
        own = np.where(self.drawn < self.exam.fleet.favourite, self.favourite[:, None], self.anything)
        drawn = np.where(self.lured < self.exam.lure[:, None], 1, own)
        wrong = np.where(self.scattered < temper.scatter, self.anything, drawn)
        return Leanings(self.leaning - self.exam.difficulty, self.chance, wrong, self._null(temper.caution), self.lost)

    def _null(self, caution: float) -> Bools:
        """Abstain where the urge is greatest, at exactly the asked share of the votes that are not lost."""
        urge = caution * (self.exam.difficulty - self.leaning)[:, None] + self.urge
        urge[self.lost] = -np.inf
        number = round(sum(self.member.abstains.values()) * int((~self.lost).sum()))
        null = np.zeros(urge.size, dtype=bool)
        null[np.argsort(-urge, axis=None, kind="stable")[:number]] = True
        return null.reshape(urge.shape)


def _reasons(member: Model, rng: np.random.Generator, null: Bools) -> Ints:
    """Share the null votes out between the reasons, at exactly their shares."""
    reason = np.full(null.shape, -1)
    if not null.any():
        return reason
    total = sum(member.abstains.values())
    bounds = np.cumsum(list(member.abstains.values())) / total
    ranks = (np.argsort(np.argsort(rng.random(int(null.sum())))) + 0.5) / int(null.sum())
    reason[null] = np.minimum(np.searchsorted(bounds, ranks), len(bounds) - 1)
    return reason


def _frame(exam: _Exam, ballots: _Ballots) -> pl.DataFrame:
    """Lay one model's votes out as rows of the vote table."""
    import polars as pl

    question, sample = np.nonzero(ballots.category != -2)
    category = ballots.category[question, sample]
    names, golds = _names(exam)
    reasons = list(ballots.member.abstains)
    columns: dict[str, Any] = {
        "dataset": pl.repeat(exam.fleet.dataset, len(question), eager=True),
        "question": pl.Series(names).gather(question),
        "model": pl.repeat(ballots.member.name, len(question), eager=True),
        "sample": sample,
        "answer": _answers(exam, question, category),
        "gold": pl.Series(golds).gather(question),
        "reason": _pick(reasons, ballots.reason[question, sample]),
        "synthetic": pl.repeat(True, len(question), eager=True),
    }
    if exam.fleet.clusters:
        columns["cluster"] = pl.Series(list(exam.fleet.clusters)).gather(exam.cluster[question])
    if exam.fleet.options is None:
        columns["correct"] = category == 0
    return pl.DataFrame(columns)


def _names(exam: _Exam) -> tuple[list[str], list[str]]:
    digits = len(str(exam.fleet.questions))
    names = [f"{exam.fleet.dataset}-{number:0{digits}d}" for number in range(1, exam.fleet.questions + 1)]
    return names, [LETTERS[gold] for gold in exam.gold] if exam.fleet.options is not None else [
        f"finding {number}" for number in range(1, exam.fleet.questions + 1)
    ]


def _answers(exam: _Exam, question: Ints, category: Ints) -> pl.Series:
    """Write categories as letters, gold at its own place; or as free text."""
    import polars as pl

    if exam.fleet.options is not None:
        # Wrong answer k is the k-th letter after gold's, around the circle of the question's options.
        letter = (exam.gold[question] + category) % exam.options[question]
        return _pick(LETTERS, np.where(category < 0, -1, letter))
    text = pl.DataFrame({"question": question + 1, "category": category}).select(
        pl.when(pl.col("category") == 0)
        .then(pl.format("finding {}", "question"))
        .when(pl.col("category") > 0)
        .then(pl.format("misreading {} of {}", "category", "question"))
        .alias("answer")
    )
    return text["answer"]


def _pick(values: Sequence[str], index: Ints) -> pl.Series:
    """Take values by index, null where the index is -1."""
    import polars as pl

    table = pl.Series([*values, None], dtype=pl.String)
    return table.gather(np.where(index < 0, len(values), index))
