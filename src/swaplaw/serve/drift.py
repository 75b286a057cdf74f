"""Whether live votes still look like those a policy was judged on: without labels, and valid at every look.

The policy carries the votes that it was judged on, as categories without names. Played back by the policy's own
stopping rule they say what each member's votes look like when served: how far it **disagrees** with the decision, how
often it **abstains**, and its **margin**, its first answer's share less its second's. While nothing has changed, live
questions are exchangeable with those, and the place of each new value among all before it, ties broken at random, is
uniform and independent of what came before (conformal prediction). Whoever bets against that starts with 1 and ends
above 20 with probability at most 5%, however often one looks and however long the stream (Ville). No distribution is
assumed and no rate is taken as known.

Each bet is a mixture over small and large shifts, up and down, that may begin at any time (Vovk's simple jumper). There
are k bets, one for each measure of each member, and the alarm rings when one of them reaches 20 k: by the union bound
that, too, happens to at most 5% of streams without drift. (Their average is no such bet: the ranks of one measure are
independent of its own past, but not of that of the others, so that gains of one might tell when another is lucky.)
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from swaplaw.decide.policy import Member, Policy
from swaplaw.errors import InputError, listing, quote
from swaplaw.serve.replay import recorded
from swaplaw.serve.stop import Course, stop_rule, terms_of
from swaplaw.serve.vote import SILENT, Ballot, Vote, heard
from swaplaw.votes.table import Votes

ALARM = 20.0
"""Evidence at which the alarm rings: at most 1 in 20 streams without drift ever reaches it."""
MEASURES = ("disagreement", "abstention", "margin")
MOST_QUESTIONS = 500
"""Questions that a policy carries to compare live votes with."""
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""How a category is written: 0 is null, then in the order in which they appear; the last stands for all beyond."""
STAKES = (-1.5, -1.0, -0.5, 0.5, 1.0, 1.5)
JUMP = 0.01
"""Share of the account that changes its stake with every bet."""


class Bet:
    """A bet against the places of new values among old ones being uniform."""

    def __init__(self, values: Iterable[float], rng: Random) -> None:
        self._values = sorted(values)
        self._expected = sum(self._values) / len(self._values) if self._values else None
        self._rng = rng
        self._accounts = [1 / len(STAKES)] * len(STAKES)
        self._sum, self.number = 0.0, 0
        self.evidence = self.most = 1.0

    @property
    def p(self) -> float:
        """Valid at every look: the chance, at most, of ever seeing so much evidence without drift."""
        return min(1.0, 1 / self.most)

    def observe(self, value: float) -> None:
        """Bet on a new value, then count it among the old ones."""
        low, high = bisect_left(self._values, value), bisect_right(self._values, value)
        place = (low + self._rng.random() * (high - low + 1)) / (len(self._values) + 1)
        insort(self._values, value)
        self._sum, self.number = self._sum + value, self.number + 1
        total = sum(self._accounts)
        moved = [(1 - JUMP) * account + JUMP * total / len(STAKES) for account in self._accounts]
        self._accounts = [account * (1 + stake * (place - 0.5)) for account, stake in zip(moved, STAKES, strict=True)]
        self.evidence = sum(self._accounts)
        self.most = max(self.most, self.evidence)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        observed = self._sum / self.number if self.number else None
        return {"expected": self._expected, "observed": observed, "p": self.p, "questions": self.number}


class Monitor:
    """Watches the votes of one policy's members."""

    def __init__(self, policy: Policy, questions: Sequence[Sequence[Sequence[Vote]]], seed: int = 0) -> None:
        """Take `questions` (for each the votes of each member, in order) for what to expect."""
        self._policy = policy
        found: dict[tuple[int, str], list[float]] = {}
        for votes in questions:
            for key, value in self._measured([dict(enumerate(own)) for own in votes]).items():
                found.setdefault(key, []).append(value)
        self.bets = {
            (member, name): Bet(found.get((member, name), ()), Random(f"{seed} {member} {name}"))
            for member in range(len(policy.members))
            for name in MEASURES
        }
        self.questions = 0
        self.alarm = False
        self.alarmed_at: int | None = None
        """The question at which the alarm rang first."""

    def observe(self, votes: Sequence[Mapping[int, Vote]]) -> None:
        """Look at one live question: each member's votes by the number of the sample, none where it was not asked."""
        self.questions += 1
        for key, value in self._measured(votes).items():
            self.bets[key].observe(value)
        if not self.alarm and max(self.evidence.values()) >= ALARM:
            self.alarm, self.alarmed_at = True, self.questions

    def _measured(self, votes: Sequence[Mapping[int, Vote]]) -> dict[tuple[int, str], float]:
        drawn = drawn_votes(self._policy, votes)
        return {} if drawn is None else measure(self._policy.members, drawn)

    @property
    def evidence(self) -> dict[str, float]:
        """Evidence on each member: its best bet over the number of all bets."""
        return {
            member.model: max(self.bets[number, name].evidence for name in MEASURES) / len(self.bets)
            for number, member in enumerate(self._policy.members)
        }

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        members = [
            {"model": member.model, **{name: self.bets[number, name].to_dict() for name in MEASURES}}
            for number, member in enumerate(self._policy.members)
        ]
        return {
            "members": members,
            "alarm": self.alarm,
            "alarmed_at": self.alarmed_at,
            "questions": self.questions,
            "evidence": max(self.evidence.values()),
        }


def drawn_votes(policy: Policy, votes: Sequence[Mapping[int, Vote]]) -> list[list[Vote]] | None:
    """The members' votes that the policy draws wave by wave; None where one of them is not there (it was lost).

    What it then draws at once is left out: a server calls that off in the middle, so that which votes there are
    depends on who was quick. Without early stopping there are no waves, and all votes count that are there.
    """
    rule, samples = stop_rule(policy.serving), [member.samples for member in policy.members]
    if not rule.exact:
        samples = [min(number, max(own, default=-1) + 1) for number, own in zip(samples, votes, strict=True)]
    course = Course(terms_of(policy), rule, samples)
    drawn: list[list[Vote]] = [[] for _ in samples]
    while (plan := course.next()) is not None and not (rule.exact and course.at_once):
        for member, number in enumerate(plan):
            for sample in range(len(drawn[member]), len(drawn[member]) + number):
                if sample not in votes[member]:
                    return None
                drawn[member].append(votes[member][sample])
                course.cast(member, drawn[member][-1])
    return drawn


def measure(members: Sequence[Member], votes: Sequence[Sequence[Vote]]) -> dict[tuple[int, str], float]:
    """What one question shows of each member that was asked; equal shares are equal floats."""
    ballot = Ballot([member.weight for member in members], [len(own) for own in votes])
    for member, own in enumerate(votes):
        for vote in own:
            ballot.cast(member, vote)
    winner = ballot.preferred(ballot.standing().leaders)
    found: dict[tuple[int, str], float] = {}
    for member in ballot.members:
        counts, cast = ballot.counts[member], len(votes[member])
        silent = sum(vote is None or vote is SILENT for vote in votes[member])
        first, second = [*(count for _, count in counts.most_common(2)), 0, 0][:2]
        values = ((cast - counts[winner]) / cast, silent / cast, (first - second) / cast)
        found |= {(member, name): value for name, value in zip(MEASURES, values, strict=True)}
    return found


def calibrated(policy: Policy, questions: Mapping[str, Sequence[Sequence[Vote]]]) -> Policy:
    """The policy with what `drift` compares live votes with: categories without names, evenly over many questions."""
    ids = sorted(questions)
    if len(ids) > MOST_QUESTIONS:
        ids = sorted(Random(0).sample(ids, MOST_QUESTIONS))
    found = [_nameless(policy.members, questions[one]) for one in ids]
    votes = {member.model: [one[place] for one in found] for place, member in enumerate(policy.members)}
    return replace(policy, data={**policy.data, "calibration": {"votes": votes}})


def _nameless(members: Sequence[Member], votes: Sequence[Sequence[Vote]]) -> list[str]:
    """For each member a character per vote."""
    names: dict[Vote, str] = {None: "0", SILENT: "-"}
    kept = [own[: member.samples] for member, own in zip(members, votes, strict=True)]
    for answer in (answer for own in kept for answer in own):
        names.setdefault(answer, DIGITS[min(len(names) - 1, len(DIGITS) - 1)])
    return ["".join(names[answer] for answer in own) for own in kept]


def calibrated_on(policy: Policy, votes: Votes, dataset: str | None = None) -> Policy:
    """The policy with how its votes came about, and with those of its members for `drift` to compare live ones with."""
    models = [member.model for member in policy.members]
    judged = policy.judged_on(votes.origin)
    return calibrated(judged, recorded(votes, models, dataset, policy.silence).by_question(models))


def calibration_of(policy: Policy) -> list[list[list[Vote]]] | None:
    """The votes that a policy carries; None where it carries none."""
    carried = policy.data.get("calibration")
    if carried is None:
        return None
    said: dict[str, Vote] = {"0": None, "-": SILENT}
    try:
        texts = [carried["votes"][member.model] for member in policy.members]
        return [
            [[said.get(digit, digit) for digit in own] for own in question] for question in zip(*texts, strict=True)
        ]
    except (KeyError, TypeError, ValueError):
        raise InputError(f"data.calibration is {quote(carried)}, expected the votes of every member") from None


def monitor_of(policy: Policy, seed: int = 0) -> Monitor | None:
    """A monitor of a policy that carries what to expect."""
    questions = calibration_of(policy)
    return None if not questions else Monitor(policy, questions, seed)


def live_questions(policy: Policy, paths: Sequence[str], seed: int = 0) -> list[list[dict[int, Vote]]]:
    """The votes of each live question, in order of their time where that was recorded, else shuffled."""
    import polars as pl

    from swaplaw.votes.files import open_file

    models = [member.model for member in policy.members]
    frames = []
    for path in paths:
        if Path(path).is_dir():
            raise InputError(
                f"{quote(str(path), 200)}: a directory; name the files of live votes in it, and import logs first"
            )
        if not Path(path).is_file():
            raise InputError(f"{quote(str(path), 200)}: there is no such file of live votes")
        frame = Votes((open_file(Path(path)),)).frame.collect()
        wanted = [name for name in ("question", "model", "answer", "reason", "sample", "time") if name in frame.columns]
        frames.append(frame.select(wanted))
    rows = pl.concat(frames, how="diagonal_relaxed").filter(pl.col("model").is_in(models))
    if rows.is_empty():
        raise InputError(f"there are no votes of the policy's members ({listing(models)}) here")
    order = [name for name in ("time", "sample") if name in rows.columns]
    rows = rows.sort("time", maintain_order=True) if "time" in order else rows
    number = pl.col("sample") if "sample" in order else pl.int_range(pl.len()).over("question", "model")
    # Tables may count samples from any number.
    rows = rows.with_columns((number - number.min()).alias("sample"))
    if "reason" not in rows.columns:
        rows = rows.with_columns(pl.lit(None, pl.String).alias("reason"))
    questions: dict[str, list[dict[int, Vote]]] = {}
    place = {model: number for number, model in enumerate(models)}
    wanted = ["question", "model", "sample", "answer", "reason"]
    for question, model, sample, answer, reason in rows.select(wanted).iter_rows():
        cast = questions.setdefault(question, [{} for _ in models])
        cast[place[model]][sample] = heard(answer or None, reason, policy.silence)
    found = list(questions.values())
    if "time" not in order:
        # Tables are sorted by topic, as a rule; a stream that goes through topics one by one would look like drift.
        Random(seed).shuffle(found)
    return found
