"""Traces to votes: the paper's construction, and beside it the categories that a deployment would have.

Every answer graded correct is mapped to the gold category, incorrect answers are grouped by normalised
string, and questions left open are null votes. `gold_free` groups the same answers without any gold.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from swaplaw._files import writing
from swaplaw.errors import InputError, SwaplawError, listing, quote
from swaplaw_forensic.agent.traces import Trace
from swaplaw_forensic.challenges.gold import Gold, load_gold
from swaplaw_forensic.challenges.manifest import Challenge, Question, load
from swaplaw_forensic.grading import grade as grading
from swaplaw_forensic.grading.judge import Item, Outcomes
from swaplaw_forensic.synthetic.key import VARIABLE, fingerprint, secret_key

if TYPE_CHECKING:
    import polars as pl

DATASET = "forensic"


@dataclass(frozen=True)
class Vote:
    """One row of the vote table, with what explains it."""

    dataset: str
    question: str
    model: str
    sample: int
    answer: str | None
    gold: str
    cluster: str
    reason: str | None
    correct: bool
    tokens: float
    gold_free: str | None
    """The category that a deployment would form, knowing no gold."""
    submitted: str | None
    tier: str
    why: str
    ended: str
    score: float
    """Partial credit: F1 or recall of a list; one or zero elsewhere."""
    level: int
    """Difficulty: 1 easy, 2 several steps, 3 evidence from several sources."""
    builds_on: str | None
    """The question whose answer is needed first."""


@dataclass(frozen=True)
class Graded:
    """All votes of some traces, and the questions that have none."""

    votes: list[Vote]
    ungradeable: dict[str, str]
    """Question -> why its gold cannot grade."""
    without_rubric: list[str]
    """Rubric questions left out on request."""


class Key:
    """The challenges and golds that some traces need, each loaded once."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._loaded: dict[tuple[str, str | None], tuple[Challenge, dict[str, Gold]]] = {}
        for trace in traces:
            place = (trace.challenge, trace.folder)
            if place not in self._loaded:
                if trace.key is not None and trace.key != fingerprint(secret_key()):
                    raise InputError(
                        f"the log of {quote(trace.challenge)} was collected with another secret key (fingerprint "
                        f"{trace.key}): set ${VARIABLE} to that key, or grade where it was collected"
                    )
                challenge = load(trace.folder or trace.challenge)
                self._loaded[place] = (challenge, load_gold(challenge))

    def challenge(self, trace: Trace) -> Challenge:
        """Return the trace's challenge."""
        return self._loaded[trace.challenge, trace.folder][0]

    def golds(self, trace: Trace) -> list[tuple[Question, Gold]]:
        """Return every question that the trace was asked, with its gold."""
        challenge, golds = self._loaded[trace.challenge, trace.folder]
        strangers = [name for name in trace.questions if name not in golds]
        if strangers:
            raise InputError(
                f"a log asks {listing(strangers)} of challenge {quote(trace.challenge)}, which its manifest "
                "no longer has: grade with the version that collected the log"
            )
        asked = set(trace.questions)
        return [(question, golds[question.id]) for question in challenge.questions if question.id in asked]


def to_judge(traces: Sequence[Trace], key: Key) -> list[Item]:
    """Return the distinct answers that only a judge can grade: to rubrics, and those that are unsure."""
    items = [
        Item(trace.challenge, question.id, question.text, grading.rubric_of(gold), answer, gold.tier == "rubric")
        for trace in traces
        for question, gold in key.golds(trace)
        if (answer := trace.answers.get(question.id)) is not None
        and grading.grade(gold, answer).outcome in (grading.NEEDS_JUDGE, grading.UNSURE)
    ]
    return list(dict.fromkeys(items))


def grade_traces(traces: Sequence[Trace], key: Key, outcomes: Outcomes | None) -> Graded:
    """Grade every question of every trace; `outcomes` None leaves the rubric questions out."""
    votes: list[Vote] = []
    ungradeable: dict[str, str] = {}
    without_rubric: set[str] = set()
    for trace in traces:
        challenge = key.challenge(trace)
        for question, gold in key.golds(trace):
            name = challenge.vote_id(question.id)
            if gold.ungradeable:
                ungradeable[name] = gold.ungradeable
            elif gold.tier == "rubric" and outcomes is None:
                without_rubric.add(name)
            else:
                votes.append(_vote(trace, challenge, question, gold, outcomes or {}))
    return Graded(votes, ungradeable, sorted(without_rubric))


def _vote(trace: Trace, challenge: Challenge, question: Question, gold: Gold, outcomes: Outcomes) -> Vote:
    submitted = trace.answers.get(question.id)
    grade = grading.grade(gold, submitted)
    outcome, why = grade.outcome, grade.why
    place = (trace.challenge, question.id, submitted or "")
    if outcome == grading.NEEDS_JUDGE or (outcome == grading.UNSURE and place in outcomes):
        verdict = outcomes[place]
        outcome = {True: grading.CORRECT, False: grading.INCORRECT, None: grading.ABSTAINED}[verdict]
        # What the judge could not decide is not a fault of the model.
        why = "judge" if verdict is not None else "judge: no verdict, or two different ones"
    elif outcome == grading.UNSURE:
        outcome, why = grading.ABSTAINED, f"unsure: {why}"
    answer: str | None = gold.category
    reason: str | None = None
    if outcome == grading.ABSTAINED:
        # What a failed run did not reach says nothing about the model.
        answer, reason = None, "error" if submitted is None and trace.ended == "error" else why.partition(":")[0]
    elif outcome == grading.INCORRECT:
        answer = grading.wrong_category(gold, submitted or "")
    return Vote(
        dataset=DATASET,
        question=challenge.vote_id(question.id),
        model=trace.model,
        sample=trace.sample,
        answer=answer,
        gold=gold.category,
        cluster=trace.challenge,
        reason=reason,
        correct=outcome == grading.CORRECT,
        tokens=trace.tokens / len(trace.questions),
        gold_free=None if answer is None else grading.gold_free_category(question.type, question.text, submitted or ""),
        submitted=submitted,
        tier=gold.tier,
        why=why,
        ended=trace.ended,
        score=float(grade.score) if grade.score is not None else float(outcome == grading.CORRECT),
        level=question.level,
        builds_on=challenge.vote_id(question.builds_on) if question.builds_on else None,
    )


def without_gold(votes: Sequence[Vote]) -> list[dict[str, Any]]:
    """Return the rows with gold-free categories in `answer`: the same analysis as a deployment would see it.

    One category a question must be the gold: the correct one with most votes (a generous choice), or else
    the key's own answer. A correct answer in any other form then counts as incorrect.
    """
    support: dict[str, Counter[str]] = defaultdict(Counter)
    for vote in votes:
        if vote.correct and vote.gold_free is not None:
            support[vote.question][vote.gold_free] += 1
    rows = []
    for vote in votes:
        ranked = sorted(support[vote.question].items(), key=lambda pair: (-pair[1], pair[0]))
        gold = ranked[0][0] if ranked else vote.gold
        row = asdict(vote) | {"answer": vote.gold_free, "gold": gold}
        rows.append(row | {"correct": vote.gold_free is not None and vote.gold_free == gold})
    return rows


def vote_table(rows: Iterable[Mapping[str, Any]]) -> "pl.DataFrame":
    """Return the rows as a table."""
    import polars as pl

    types = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    hints = get_type_hints(Vote)
    schema = {name: types[(get_args(hint) or (hint,))[0]] for name, hint in hints.items()}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def write_votes(rows: Iterable[Mapping[str, Any]], file: Path) -> None:
    """Write the vote table as Parquet, in one step: a reader never sees half a file."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with writing(file) as draft:
            vote_table(rows).write_parquet(draft)
    except OSError as error:
        raise SwaplawError(f"cannot write votes to {quote(str(file), 200)}: {error.strerror or error}") from None
