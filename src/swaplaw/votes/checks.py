"""Checks: what looks wrong in votes, found before anything is concluded from them.

A table can keep the contract (see `contract`) and still be nonsense: a model that writes "B)" where gold is "B" is
never right, an "N/A" is a vote for the answer N/A, and where a judge's word has replaced every right text by gold,
right answers agree with each other and wrong ones never do. Each check names the model, shows an example and says what
would put it right. A check of severity *error* says that the votes do not mean what they seem to mean, so no deployment
should rest on them; a *warning* says that a conclusion may be weaker than it looks; a *note* only informs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from swaplaw._core.results import Result
from swaplaw.answers.forms import Canonicaliser, canonicaliser
from swaplaw.answers.forms import letter as option_letter
from swaplaw.errors import listing, quote
from swaplaw.votes.position import position_bias
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.table import Votes

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

FEW_QUESTIONS = 30
SERIOUS = 0.05
"""A fault in this share of a model's votes or more is an error, not a warning."""
FOREIGN_LETTERS, FOREIGN = 0.2, 0.5
"""Share of answers that are no option from which on a model does not answer with options: letters, or other words."""
FAR_BELOW = 4.0
"""Standard errors below chance at which a model is not guessing but misread."""
UNIQUE = 0.8
"""Share of wrong answers that nobody repeats, from which on answers are prose."""
FEW_WRONG, FEW_PROSE = 3, 10
"""Wrong answers on a question, and such questions, that it takes to tell."""
SURE_COPY = 20
"""Questions on which two models vote alike before one is called a copy of the other."""
CONSTANT = 0.95
MOST_SPELLINGS = 5_000
"""Different pairs of a wrong answer and its gold that are compared, those with the most votes first."""
_NO_ANSWER = re.compile(
    r"(?:#?n/?a|nan|<na>|null|none|nil|undefined|-+|\?+|no[ _]?answer|timed? ?out|"
    r"(?:api |rate.?limit |internal )?(?:error|exception)\b.*|traceback\b.*)",
    re.IGNORECASE,
)
_CHAINS = ("letter", "text", "numeric", "math")
"""Canonical forms by which an answer may turn out to be gold."""


@dataclass(frozen=True)
class Check(Result):
    """Something that looks wrong in votes."""

    name: str
    severity: Severity
    model: str | None
    """The model that it is about, if it is about one."""
    questions: int
    """How many questions are affected."""
    message: str
    """What is wrong, with an example."""
    fix: str
    """What would put it right."""
    dataset: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def find_checks(votes: Votes | Tally, dataset: str | None = None) -> tuple[Check, ...]:
    """Look for what is wrong in votes, the most serious first.

    Parameters
    ----------
    votes : Votes or Tally
        A vote table, or the counted votes of one dataset. A table tells more: where answers are graded, only a table
        still has the texts that were graded as right.
    dataset : str, optional
        Look at this dataset of a table only.

    Returns
    -------
    tuple of Check
        Errors, then warnings, then notes; empty where nothing looks wrong.

    Examples
    --------
    >>> import swaplaw as sl
    >>> [check.name for check in find_checks(sl.demo_votes())]
    []
    """
    if isinstance(votes, Tally):
        found = list(_found(_from_tally(votes)))
    else:
        names = votes.datasets if dataset is None else [dataset]
        found = [check for name in names for check in (*_found(_from_table(votes, name)), *_labels(votes, name))]
    return tuple(sorted(found, key=lambda check: SEVERITIES.index(check.severity)))


def position_checks(votes: Votes, dataset: str | None = None) -> tuple[Check, ...]:
    """Look for models that are swayed by where an option stands; this reads all rows once more."""
    names = votes.datasets if dataset is None else [dataset]
    return tuple(
        Check(
            "position_bias",
            "warning",
            model,
            votes.tally(name).votes.shape[1],
            f"{quote(model)} chose position {bias.position} in {float(bias.share):.0%} of its votes, where "
            f"{float(bias.expected):.0%} would be even",
            "ask every question in several orders of its options: `swaplaw collect` does",
            name,
        )
        for name in names
        for model, bias in position_bias(votes, name).items()
        if bias.flagged
    )


@dataclass(frozen=True)
class _Ballots:
    """One dataset's votes: a row for each model, question and answer."""

    dataset: str
    rows: pl.DataFrame = field(repr=False)
    """model, question, answer (null: abstention), gold (null: unknown), right, labelled, votes."""
    clusters: int | None
    """How many clusters there are, if there is such a column."""

    @cached_property
    def judged(self) -> _Ballots:
        """The questions that have a label: nobody is wrong where nobody knows what is right."""
        labelled = self.rows["labelled"]
        return self if labelled.all() or not labelled.any() else replace(self, rows=self.rows.filter(labelled))

    @cached_property
    def models(self) -> list[str]:
        return sorted(self.rows["model"].unique())

    @cached_property
    def questions(self) -> int:
        return int(self.rows["question"].n_unique())

    @cached_property
    def golds(self) -> set[str]:
        return set(self.rows["gold"].drop_nulls().unique())

    @cached_property
    def answered(self) -> pl.DataFrame:
        return self.rows.filter(self.rows["answer"].is_not_null())

    @cached_property
    def wrong(self) -> pl.DataFrame:
        return self.answered.filter(~self.answered["right"])

    @cached_property
    def letters(self) -> bool:
        """Whether the right answers are letters of options."""
        return bool(self.golds) and all(len(option_letter(gold)) == 1 for gold in self.golds)

    @cached_property
    def closed(self) -> bool:
        """Whether a few answers are right again and again: questions have options."""
        return 2 <= len(self.golds) <= 26 and (self.letters or 5 * len(self.golds) <= self.questions)

    @cached_property
    def votes(self) -> dict[str, int]:
        """Votes of each model."""
        return _totals(self.rows)

    @cached_property
    def answers(self) -> dict[str, int]:
        """Votes of each model that are no abstentions."""
        return _totals(self.answered)

    @cached_property
    def spoken(self) -> pl.DataFrame:
        """How often each model gave each answer, and how often that was right."""
        import polars as pl

        votes = pl.col("votes")
        return self.answered.group_by("model", "answer").agg(votes.sum(), votes.filter("right").sum().alias("right"))

    def check(self, name: str, severity: Severity, model: str | None, questions: int, message: str, fix: str) -> Check:
        return Check(name, severity, model, questions, message, fix, self.dataset)


def _from_table(votes: Votes, dataset: str) -> _Ballots:
    import polars as pl

    counts = votes.counts.filter(pl.col("dataset") == dataset)
    graded = "correct" in counts.columns
    right = (pl.col("correct") if graded else pl.col("answer") == pl.col("gold")).fill_null(False).alias("right")
    gold = (pl.lit(None, pl.String) if graded else pl.col("gold")).alias("gold")
    question = pl.col("question").cast(pl.Categorical).to_physical()  # Only told apart, never named.
    keys = ["model", question, "answer", gold, right, pl.col("gold").is_not_null().alias("labelled")]
    clusters = counts["cluster"].n_unique() if "cluster" in counts.columns else None
    return _Ballots(dataset, counts.group_by(keys).agg(pl.col("votes").sum().cast(pl.Int64)), clusters)


def _from_tally(tally: Tally) -> _Ballots:
    """Lay a tally's entries out as rows; the text of a right answer is gold's, or unknown."""
    import polars as pl

    model, question = np.nonzero(tally.gold)
    owner = np.repeat(np.arange(len(tally.models)), np.diff(tally.starts))
    spot = tally.rivals.question[tally.positions]
    golds = pl.Series(tally.golds or [None] * len(tally.questions), dtype=pl.String)
    places = np.concatenate([question, spot])
    right = np.arange(len(places)) < len(question)
    said = (
        golds.fill_null("gold")
        .gather(question)
        .extend(pl.Series(tally.rivals.labels[tally.positions].tolist(), dtype=pl.String))
    )
    rows = pl.DataFrame(
        {
            "model": pl.Series(tally.models).gather(np.concatenate([model, owner])),
            "question": places,
            "answer": said,
            "gold": golds.gather(places),
            "right": right,
            "labelled": True,
            "votes": np.concatenate([tally.gold[model, question], tally.counts]).astype(np.int64),
        }
    )
    return _Ballots(tally.dataset, rows, None if tally.clusters is None else len(set(tally.clusters)))


def _found(ballots: _Ballots) -> Iterator[Check]:
    for look in _LOOKS:
        yield from look(ballots.judged if look in _JUDGING else ballots)


def _abstentions(ballots: _Ballots) -> Iterator[Check]:
    for model in ballots.models:
        votes, answers = ballots.votes[model], ballots.answers.get(model, 0)
        if not answers:
            yield ballots.check(
                "no_answers", "error", model, ballots.questions,
                f"{quote(model)} has no answer at all: each of its {votes:,} votes is an error or an abstention",
                "look at why its answers could not be read, or leave the model out",
            )  # fmt: skip
        elif 2 * answers < votes:
            yield ballots.check(
                "many_abstentions", "warning", model, ballots.questions,
                f"{quote(model)} abstains in {1 - answers / votes:.0%} of its votes",
                "look at why its answers could not be read: `swaplaw summary` shows the reasons",
            )  # fmt: skip


def _no_answers_as_text(ballots: _Ballots) -> Iterator[Check]:
    """Words that stand for no answer, but vote like one."""
    import polars as pl

    def is_none(text: str) -> bool:
        return _NO_ANSWER.fullmatch(text.strip()) is not None

    for gold in sorted(filter(is_none, ballots.golds)):
        here = ballots.rows.filter(pl.col("gold") == gold)
        if 2 * here["question"].n_unique() > ballots.questions or gold.casefold() in ("nan", "null", "<na>"):
            yield ballots.check(
                "no_gold", "error", None, here["question"].n_unique(),
                f"the right answer is {quote(gold)} on {here['question'].n_unique()} questions, as if there were none",
                "give these questions their right answers, or leave them out",
            )  # fmt: skip
    words = [text for text in ballots.wrong["answer"].unique() if is_none(text) and text not in ballots.golds]
    for model, rows in _by_model(ballots.wrong.filter(pl.col("answer").is_in(words))):
        votes, share = int(rows["votes"].sum()), int(rows["votes"].sum()) / ballots.votes[model]
        yield ballots.check(
            "no_answer_as_text", "error" if share >= SERIOUS else "warning", model, rows["question"].n_unique(),
            f"{quote(model)} has {_votes(votes)} for {quote(_first(rows))}, which counts as an answer like any other",
            "make these answers null: leave the cell of the column `answer` empty",
        )  # fmt: skip


def _spelling(ballots: _Ballots) -> Iterator[Check]:
    """Wrong answers that are gold, spelt differently."""
    import polars as pl

    pairs = ballots.wrong.filter(pl.col("gold").is_not_null()).group_by("answer", "gold").agg(pl.col("votes").sum())
    first = pairs.sort("votes", "answer", "gold", descending=True).head(MOST_SPELLINGS)
    chains = {pair: chain for pair in first.select("answer", "gold").iter_rows() if (chain := _chain(*pair))}
    if not chains:
        return
    keys = pl.DataFrame([(*pair, chain) for pair, chain in chains.items()], ["answer", "gold", "chain"], orient="row")
    for model, rows in _by_model(ballots.wrong.join(keys, on=["answer", "gold"])):
        votes, share = int(rows["votes"].sum()), int(rows["votes"].sum()) / ballots.votes[model]
        chain = rows.group_by("chain").agg(pl.col("votes").sum()).sort("votes", "chain", descending=True)["chain"][0]
        example = rows.filter(pl.col("chain") == chain).sort("question", "answer").row(0, named=True)
        yield ballots.check(
            "spelling", "error" if share >= SERIOUS else "warning", model, rows["question"].n_unique(),
            f"{quote(model)} answers {quote(example['answer'])} where gold is {quote(example['gold'])}: "
            f"{_votes(votes)} ({share:.0%}) differ from gold only in spelling, and count as wrong",
            f"spell answers and golds alike: `swaplaw import VOTES --canonical {chain} -o votes.parquet`",
        )  # fmt: skip


def _chain(answer: str, gold: str) -> str | None:
    """The canonical forms, if any, by which an answer is gold."""
    return next((chain for chain in _CHAINS if _form(chain)(answer) == _form(chain)(gold)), None)


@cache
def _form(chain: str) -> Canonicaliser:
    return canonicaliser([chain])


def _foreign(ballots: _Ballots) -> Iterator[Check]:
    """Models that do not answer with options, and models that are right less often than guessing would be."""
    import polars as pl

    if not ballots.closed:
        return
    known = {_form(chain)(gold) for chain in _CHAINS for gold in ballots.golds}
    spoken = ballots.answered["answer"].unique().to_list()
    options = [text for text in spoken if _is_option(text, known, ballots.letters)]
    limit = FOREIGN_LETTERS if ballots.letters else FOREIGN
    outside = ballots.answered.filter(~pl.col("answer").is_in(options))
    flagged = set()
    for model, rows in _by_model(outside):
        share = int(rows["votes"].sum()) / ballots.answers[model]
        if share >= limit and rows["question"].n_unique() >= 5:
            flagged.add(model)
            yield ballots.check(
                "not_an_option", "error", model, rows["question"].n_unique(),
                f"{quote(model)} answers {quote(_first(rows))} where the right answers are "
                f"{listing(sorted(ballots.golds), 3)}: {share:.0%} of its answers are none of the options",
                "write the option's letter or label in the column `answer`, as in the column `gold`",
            )  # fmt: skip
    misspelt = {check.model for check in _spelling(ballots) if check.severity == "error"}
    chance = 1 / len(ballots.golds)
    asked = dict(ballots.answered.group_by("model").agg(pl.col("question").n_unique()).iter_rows())
    for model, rows in _by_model(ballots.spoken):
        n, right = asked[model], int(rows["right"].sum()) / ballots.answers[model]
        far = (chance - right) / np.sqrt(chance * (1 - chance) / n)
        if far > FAR_BELOW and right < chance / 2 and model not in flagged | misspelt:
            yield ballots.check(
                "below_chance", "error", model, n,
                f"{quote(model)} is right in {right:.1%} of its answers, where guessing would be right in about "
                f"{chance:.0%}: its answers (such as {quote(_first(rows))}) do not mean what gold means",
                "check that its answers and the column `gold` name options in the same way and the same order",
            )  # fmt: skip


def _is_option(text: str, known: set[str], letters: bool) -> bool:
    if letters:
        return len(option_letter(text)) == 1
    return any(_form(chain)(text) in known for chain in _CHAINS)


def _never_right(ballots: _Ballots) -> Iterator[Check]:
    """Without options there is no chance to go by: a model that is never right beside models that often are."""
    import polars as pl

    if ballots.closed:
        return
    shares = ballots.answered.group_by("model").agg(
        ((pl.col("votes") * pl.col("right")).sum() / pl.col("votes").sum()).alias("share"),
        pl.col("question").n_unique().alias("n"),
    )
    best = float(shares["share"].max() or 0)  # type: ignore[arg-type]
    for model, _, n in shares.filter((pl.col("share") == 0) & (pl.col("n") >= SURE_COPY)).sort("model").iter_rows():
        if best >= 0.2:
            example = ballots.wrong.filter(pl.col("model") == model)
            yield ballots.check(
                "never_right", "warning", model, n,
                f"{quote(model)} is never right, where others are right in up to {best:.0%} of their votes; it answers "
                f"such as {quote(_first(example))}",
                "check that its answers are spelt as gold is",
            )  # fmt: skip


def _constant(ballots: _Ballots) -> Iterator[Check]:
    """Models that give one answer to everything."""
    import polars as pl

    asked = dict(ballots.answered.group_by("model").agg(pl.col("question").n_unique()).iter_rows())
    for model, rows in _by_model(ballots.spoken):
        answer, votes, right = rows.sort("votes", "answer").row(-1)[1:]
        share, n = votes / ballots.answers[model], asked[model]
        if ballots.golds and share >= CONSTANT and n >= SURE_COPY and right < 0.7 * votes:
            yield ballots.check(
                "constant_answer", "warning", model, n,
                f"{quote(model)} answers {quote(answer)} in {share:.0%} of its votes, whatever the question",
                "look at its completions: a template or a stop sequence may cut them short",
            )  # fmt: skip


def _copies(ballots: _Ballots) -> Iterator[Check]:
    """Models whose votes are all the same."""
    import polars as pl

    rows = ballots.rows.with_columns(pl.when("right").then(pl.lit("\0gold")).otherwise("answer").alias("answer"))
    marks = rows.group_by("model").agg(
        pl.struct("question", "answer", "votes").hash().sum().alias("mark"),
        pl.len().alias("rows"),
        pl.col("question").n_unique().alias("n"),
        (~pl.col("right")).any().alias("errs"),
    )
    alike = (
        marks.group_by("mark", "rows", "n", "errs").agg(pl.col("model").sort()).filter(pl.col("model").list.len() > 1)
    )
    for _, _, n, errs, models in alike.sort(pl.col("model").list.first()).iter_rows():
        if n >= SURE_COPY and errs:
            for copy in models[1:]:
                yield ballots.check(
                    "duplicate_model", "warning", copy, n,
                    f"{quote(copy)} votes exactly as {quote(models[0])} does on all {n:,} questions: together they are "
                    "one model, and it cannot change a vote",
                    "leave one of them out, and check that two names do not stand for one file",
                )  # fmt: skip


def _prose(ballots: _Ballots) -> Iterator[Check]:
    """Right answers that all agree, and wrong ones that never do: a judge, not the models, made them agree."""
    import polars as pl

    if ballots.closed:
        return
    said = ballots.wrong.group_by("question", "answer").agg(pl.col("votes").sum())
    telling = said.group_by("question").agg(
        pl.col("votes").sum().alias("all"), pl.col("votes").filter(pl.col("votes") == 1).sum().alias("once")
    ).filter(pl.col("all") >= FEW_WRONG)  # fmt: skip
    once = int(telling["once"].sum()) / max(1, int(telling["all"].sum()))
    if telling.height < FEW_PROSE or once < UNIQUE:
        return
    number = _form("math")
    texts = said.filter(pl.col("votes") == 1)["answer"].head(1000).to_list()
    numbers = sum(re.fullmatch(r"[-+$]?[\d.,/ ]+\w{0,3}", number(text)) is not None for text in texts)
    if 2 * numbers > len(texts):
        return  # Numbers that differ are different answers, whoever compares them.
    model, single, pooled, spelt = max(_inflated(ballots), key=lambda row: row[2] - row[1])
    free = "" if spelt is None else f", and {spelt:.1%} when texts are compared as they are spelt"
    yield ballots.check(
        "graded_prose", "error", model, telling.height,
        f"right answers agree with each other and {once:.0%} of the wrong ones "
        "are given once only, as if a judge had replaced every right text by gold: a single sample of "
        f"{quote(model)} is right {single:.1%} of the time, its plurality vote {pooled:.1%}{free}; nobody could count "
        "such a vote in deployment",
        "compare answers by a rule that needs no gold: `swaplaw import VOTES --canonical text` without the column "
        "`correct`, or ask for short answers",
    )  # fmt: skip


def _inflated(ballots: _Ballots) -> Iterator[tuple[str, float, float, float | None]]:
    """Each model's accuracy by single samples, by its graded plurality, and by plurality of texts as spelt."""
    import polars as pl

    spellings = ballots.answered.filter("right").group_by("question").agg(pl.col("answer").n_unique())
    raw = bool((spellings["answer"] > 1).any())
    for model, rows in _by_model(ballots.rows):
        question = rows.group_by("question").agg(
            pl.col("votes").filter("right").sum().alias("right"),
            pl.col("votes").filter(~pl.col("right")).max().fill_null(0).alias("rival"),
            pl.col("votes").filter("right").max().fill_null(0).alias("spelt"),
            pl.col("votes").sum().alias("all"),
        )
        ahead = question.select(
            (pl.col("right") / pl.col("all")).mean().alias("single"),
            (pl.col("right") > pl.col("rival")).mean().alias("pooled"),
            (pl.col("spelt") > pl.col("rival")).mean().alias("spelt"),
        ).row(0)
        yield model, *ahead[:2], ahead[2] if raw else None


def _shape(ballots: _Ballots) -> Iterator[Check]:
    """Too few questions, questions that not all models share, one sample each, one cluster."""
    import polars as pl

    n = ballots.questions
    if n < FEW_QUESTIONS:
        yield ballots.check(
            "few_questions", "note", None, n,
            f"there {'is' if n == 1 else 'are'} only {n} question{'' if n == 1 else 's'}: intervals need about "
            f"{FEW_QUESTIONS} or more to be trusted",
            "collect more questions",
        )  # fmt: skip
    each = ballots.rows.group_by("model").agg(pl.col("question").n_unique().alias("n")).sort("n", "model")
    asked = ballots.rows.group_by("question").agg(pl.col("model").n_unique().alias("models"))
    common = asked.filter(pl.col("models") == len(ballots.models)).height
    if 0 < 2 * common < n:  # Where they share none, every command says so by itself.
        model, own = each.row(0)
        yield ballots.check(
            "uneven_questions", "warning", model, n - common,
            f"only {common:,} of {n:,} questions have votes of all {len(ballots.models)} models; {quote(model)} has "
            f"the fewest, {own:,}",
            "collect what is missing, or name models that share their questions",
        )  # fmt: skip
    if ballots.rows["votes"].sum() == each["n"].sum() and len(ballots.models) > 1:
        yield ballots.check(
            "one_sample", "note", None, n,
            "every model has one vote per question: of two such votes the heavier always wins, so pairs cannot gain",
            "collect several samples per model and question, or compare three models or more",
        )  # fmt: skip
    if ballots.clusters == 1 and n > 1:
        yield ballots.check(
            "one_cluster", "warning", None, n,
            "all questions are in one cluster, which says nothing about how questions vary",
            "name what questions are nested in (a file, an exam), or drop the column `cluster`",
        )  # fmt: skip


def _labels(votes: Votes, dataset: str) -> Iterator[Check]:
    """Labels on questions that differ from the others: what they show is not true of all."""
    import polars as pl

    counts = votes.counts.filter(pl.col("dataset") == dataset)
    said = counts.group_by("question", "answer").agg(pl.col("votes").sum(), pl.col("gold").is_not_null().any())
    each = said.group_by("question").agg(
        (pl.col("votes").max() / pl.col("votes").sum()).alias("agreed"), pl.col("gold").any()
    )
    known, unknown = (each.filter(pl.col("gold") == have)["agreed"].to_numpy() for have in (True, False))
    n, rest = len(known), len(unknown)
    if min(n, rest) < 2:
        return
    own, other = known.mean(), unknown.mean()
    error = (known.var(ddof=1) / n + unknown.var(ddof=1) / rest) ** 0.5
    if abs(own - other) > FAR_BELOW * error:
        yield Check(
            "chosen_labels", "warning", None, rest,
            f"the {n:,} questions with a label are not like the {rest:,} without: {own:.0%} of votes agree on "
            f"them, {other:.0%} on the others; accuracies and gains here are those of the labelled ones",
            "judge lift by `labels`, which needs no others; or label questions that are drawn at random from all",
            dataset,
        )  # fmt: skip


def _totals(rows: pl.DataFrame) -> dict[str, int]:
    import polars as pl

    return dict(rows.group_by("model").agg(pl.col("votes").sum()).iter_rows())


def _by_model(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for model in sorted(rows["model"].unique()):
        yield model, rows.filter(rows["model"] == model)


def _first(rows: pl.DataFrame) -> str:
    """An example: the commonest answer, the first of equals."""
    import polars as pl

    common = rows.group_by("answer").agg(pl.col("votes").sum()).sort(["votes", "answer"], descending=[True, False])
    return str(common["answer"][0])


def _votes(number: int) -> str:
    return f"{number:,} vote{'' if number == 1 else 's'}"


_LOOKS: tuple[Callable[[_Ballots], Iterator[Check]], ...] = (
    _prose,
    _abstentions,
    _no_answers_as_text,
    _spelling,
    _foreign,
    _never_right,
    _constant,
    _copies,
    _shape,
)
_JUDGING = (_prose, _spelling, _foreign, _never_right)
"""Looks that tell right answers from wrong ones."""
