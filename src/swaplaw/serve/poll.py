"""One question asked of all members until the weighted vote is decided."""

from __future__ import annotations

import asyncio
from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from math import inf
from time import monotonic
from typing import Any, Literal, NamedTuple

from swaplaw.decide.policy import Silence
from swaplaw.serve.reading import Reading
from swaplaw.serve.settings import Served
from swaplaw.serve.stop import Course
from swaplaw.serve.upstream import OUR_FAULT, Asked, Client, Completion, UpstreamError
from swaplaw.serve.vote import Answer, Vote, heard

By = Literal["vote", "primary", "primary_text", "abstain"]
"""What decided; `primary`: the null category won, and the policy falls back to the primary."""
Drawing = asyncio.Task[list[Completion]]


class UnavailableError(Exception):
    """Too many members are down for the policy to decide."""

    def __init__(self, down: Mapping[str, str], status: int | None = None) -> None:
        super().__init__(", ".join(f"{model} ({why})" for model, why in down.items()))
        self.status = status
        """What the upstreams said, where all of them refused the request itself: to ask again would not help."""


class Cast(NamedTuple):
    """One vote as it came in."""

    sample: int
    answer: Answer
    reason: str | None
    tokens: int | None

    def vote(self, silence: Silence) -> Vote:
        """What it adds to the vote."""
        return heard(self.answer, self.reason, silence)


@dataclass(slots=True)
class MemberRecord:
    """What one member did for one question."""

    pending: list[int]
    """Numbers of the samples that have not been asked for, or were called off: each keeps its own seed."""
    touched: set[int] = field(default_factory=set)
    """Samples that were ever asked for."""
    sent: int = 0
    """Samples that may have to be paid: those of every attempt, but for attempts that were refused."""
    replied: int = 0
    lost: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    cast: list[Cast] = field(default_factory=list)
    first: dict[Answer, tuple[int, Completion]] = field(default_factory=dict)
    """The first sample of each answer."""


class Call(NamedTuple):
    """Samples that one call asks for."""

    member: int
    first: int
    size: int


class Decision(NamedTuple):
    """The decided vote and what it took."""

    answer: Answer
    """The category that is served; None is an abstention."""
    by: By
    vote: dict[str, Any]
    """The vote for people and programs, ready for JSON."""
    completion: Completion | None
    input_tokens: int
    output_tokens: int
    arrived: float
    """When the last needed sample came."""


class Poll:
    """Asks the members of one policy one question.

    Raises
    ------
    InputError
        If the question holds something that JSON does not have.
    """

    def __init__(
        self,
        served: Served,
        clients: Sequence[Client],
        body: Mapping[str, Any],
        seed: int | None,
        until: float = inf,
        reading: Reading | None = None,
        afford: Callable[[float], bool] = lambda amount: True,
    ) -> None:
        self._reading = reading or Reading()
        self.served, self.clients, self.asked, self.seed = served, clients, Asked(body), seed
        self.records = [MemberRecord(list(range(one.samples))) for one in served.asked]
        """What was asked of the members, then of the fallback models."""
        self.down: dict[str, str] = {}
        self.arrived = monotonic()
        self._until, self._afford = until, afford
        self._course = Course(served.terms, served.stop_rule, [one.samples for one in served.asked])
        self._statuses: set[int | None] = set()
        self._read_ahead: dict[Completion, tuple[Answer, str | None]] = {}

    async def decide(self) -> Decision:
        """Draw samples, wave by wave, until the vote is decided."""
        course, null_win = self._course, self.served.serving.null_win
        await self._settle()
        if not course.main.ballot.members and not course.leaders:
            raise self._unavailable()
        answer, completion = course.winner, None
        by: By = "vote"
        vote = self._vote(answer)
        if answer is None:
            by = "abstain"
            if null_win in ("primary", "primary_text") and course.has_say(0):
                self._keep_only_primary()
                course.ask_primary()
                await self._settle()
                if null_win == "primary":
                    answer = course.winner
                    by = "abstain" if answer is None else "primary"
                elif said := self.records[0].first.values():
                    by, completion = "primary_text", min(said)[1]
        if answer is not None:
            # Of the winning category, the first sample of the first member that gave one.
            completion = next(record.first[answer][1] for record in self.records if answer in record.first)
        return Decision(
            answer=answer,
            by=by,
            vote={"decision": by, "answer": answer, **vote, **self._spent()},
            completion=completion,
            input_tokens=sum(record.input_tokens for record in self.records),
            output_tokens=sum(record.output_tokens for record in self.records),
            arrived=self.arrived,
        )

    async def _settle(self) -> None:
        while (plan := self._course.next()) is not None:
            await self._draw(plan)

    async def _draw(self, plan: Sequence[int]) -> None:
        """Draw these samples at once and count them as they come; what is no longer needed is cancelled."""
        # `asyncio.wait` would look at every open call for every one that ends.
        ended: asyncio.Queue[Drawing] = asyncio.Queue()
        calls = {self._ask(call, ended): call for call in self._calls(plan)}
        open_calls = set(calls)
        try:
            while open_calls:
                done = [await ended.get()]
                while not ended.empty():
                    done.append(ended.get_nowait())
                done = [task for task in done if task in open_calls]
                open_calls.difference_update(done)
                await self._read(done)
                for task in sorted(done, key=calls.__getitem__):
                    self._count(task, calls[task])
                if open_calls and self._course.cut():
                    break
                if self.down:  # Whoever has no say any more need not answer.
                    silent = {task for task in open_calls if not self._course.has_say(calls[task].member)}
                    for task in silent:
                        task.cancel()
                    open_calls -= silent
        finally:
            for task in open_calls:
                task.cancel()
                self._put_back(calls[task])
            if open_calls:
                await asyncio.wait(open_calls)

    def _calls(self, plan: Sequence[int]) -> list[Call]:
        """Take the next samples of each member, in as few calls as its upstream's batch allows."""
        calls = []
        for member, number in enumerate(plan):
            record, batch = self.records[member], self.clients[member].upstream.batch
            taken, record.pending = record.pending[:number], record.pending[number:]
            record.touched.update(taken)
            start = 0
            for end in range(1, len(taken) + 1):
                gap = end < len(taken) and taken[end] != taken[end - 1] + 1
                if end == len(taken) or gap or end - start == batch:
                    calls.append(Call(member, taken[start], end - start))
                    start = end
        return calls

    def _ask(self, call: Call, ended: asyncio.Queue[Drawing]) -> Drawing:
        seed = None if self.seed is None else self.seed + call.first
        drawing = self.clients[call.member].draw(
            self.asked, call.size, seed, self._until, partial(self._pay, call.member)
        )
        task = asyncio.get_running_loop().create_task(drawing)

        def end(task: Drawing) -> None:
            if not task.cancelled():
                task.exception()  # Or asyncio would complain of failures that nobody waits for any more.
            ended.put_nowait(task)

        task.add_done_callback(end)
        return task

    def _pay(self, member: int, samples: int) -> None:
        """More samples may have to be paid: those beyond what was reserved must be affordable, too."""
        record, client = self.records[member], self.clients[member]
        record.sent += samples
        if (beyond := min(samples, record.sent - self.served.asked[member].samples)) > 0:
            most = client.most(beyond, len(self.asked.written(client)), self.asked.max_tokens)
            if not self._afford(most or 0.0):
                record.sent -= samples
                raise UpstreamError("over budget", passing=False, healthy=True)

    def _put_back(self, call: Call, keep: int = 0) -> None:
        """What was called off, or not delivered, may be asked for again: as the same samples."""
        for sample in range(call.first + keep, call.first + call.size):
            insort(self.records[call.member].pending, sample)

    async def _read(self, done: Sequence[Drawing]) -> None:
        """Read what takes a while elsewhere: other questions must not wait for it."""
        well = (task for task in done if not task.cancelled() and task.exception() is None)
        slow = [each for task in well for each in task.result() if self.served.settled(each) is None]
        if slow:
            answers = await self._reading.read(self.served.reader, [completion.text for completion in slow])
            for completion, answer in zip(slow, answers, strict=True):
                self._read_ahead[completion] = self.served.outcome(completion, answer)

    def _count(self, task: Drawing, call: Call) -> None:
        member = call.member
        if not self._course.has_say(member):
            return
        record = self.records[member]
        try:
            completions = task.result()
        except UpstreamError as error:
            self._statuses.add(error.status)
            record.lost += call.size
            if not self._course.lose(member, call.size):
                self._take_out(member, error.result)
            return
        self.arrived = monotonic()
        record.replied += len(completions)
        for sample, completion in enumerate(completions, call.first):
            answer, reason = self._read_ahead.get(completion) or self.served.read(completion)
            if reason is not None:
                record.reasons[reason] = record.reasons.get(reason, 0) + 1
            cast = Cast(sample, answer, reason, completion.output_tokens if call.size == 1 else None)
            self._course.cast(member, cast.vote(self.served.policy.silence))
            record.cast.append(cast)
            record.input_tokens += completion.input_tokens
            record.output_tokens += completion.output_tokens
            if answer not in record.first or sample < record.first[answer][0]:
                record.first[answer] = (sample, completion)
        # An upstream that ignores `n` owes the rest: it is drawn again later.
        self._put_back(call, keep=len(completions))

    def _take_out(self, member: int, why: str) -> None:
        """A member is down: do as the policy says."""
        self.down[self.served.asked[member].model] = why
        self._drop(member)
        degrade = self._course.terms.degrade
        if degrade == "renormalise" or member >= len(self.served.members):
            return  # Whoever comes next in the order is asked.
        if degrade == "unavailable" or member == 0:
            raise self._unavailable()
        self._keep_only_primary()

    def _unavailable(self) -> UnavailableError:
        statuses = self._statuses
        refused = statuses and statuses <= OUR_FAULT
        return UnavailableError(self.down, max(status or 0 for status in statuses) if refused else None)

    def _keep_only_primary(self) -> None:
        for member in self._course.main.ballot.members:
            if member != 0:
                self._drop(member)

    def _drop(self, member: int) -> None:
        self._course.drop(member)
        self.records[member].first.clear()

    def _vote(self, answer: Answer) -> dict[str, Any]:
        """The vote as it stands when it is decided."""
        course, members = self._course, len(self.served.members)
        standing, scale = course.deciding.standing(), course.deciding.scale
        weights, samples = self.served.weights, course.main.ballot.samples
        return {
            "winner": answer,
            "ties": [tied for tied in course.leaders if tied != answer],
            "margin": _share(standing.lead, scale),
            "remaining": _share(standing.remaining, scale),
            "stopped": course.stopped,
            "silence": self.served.policy.silence,
            "members": [
                {"weight": weights[number], **self._asked(number), "counted": samples[number] > 0}
                for number in range(members)
            ],
            "fallback": [self._asked(number) for number in range(members, len(self.records))],
            "abstentions": sum(sum(record.reasons.values()) for record in self.records),
            "degraded": {"rule": course.terms.degrade, "down": self.down} if self.down else None,
        }

    def _asked(self, number: int) -> dict[str, Any]:
        """What a model said, whatever became of it."""
        one, record = self.served.asked[number], self.records[number]
        stage, place = self._course.vote_of(number)
        total = stage.ballot.cast_by[place]
        shares = stage.ballot.counts[place].most_common()
        return {
            "model": one.model,
            "samples": one.samples,
            "votes": total,
            "lost": record.lost,
            "shares": [{"answer": a, "votes": n, "share": _share(n, total)} for a, n in shares],
            "abstentions": dict(record.reasons),
        }

    def _spent(self) -> dict[str, Any]:
        members = list(zip(self.served.members, self.records, strict=False))
        saved = sum(one.samples - len(record.touched) for one, record in members if one.model not in self.down)
        known = [cost for cost in self.costs if cost is not None]
        return {
            "rounds": self._course.rounds,
            "samples": {
                "planned": sum(one.samples for one, _ in members),
                "spent": sum(len(record.touched) for record in self.records),
                "saved": saved,
            },
            "cost": sum(known) if len(known) == len(self.clients) else None,
        }

    @property
    def costs(self) -> list[float | None]:
        """What each model has cost so far, where its price is known: a sample that never came counts at its most."""
        found = []
        for client, record in zip(self.clients, self.records, strict=True):
            missing = max(0, record.sent - record.replied)
            told = client.cost(record.sent - missing, record.input_tokens, record.output_tokens)
            asked = len(self.asked.written(client)) if missing else 0
            found.append(None if told is None else told + (client.most(missing, asked, self.asked.max_tokens) or 0.0))
        return found

    @property
    def most(self) -> float:
        """What the question may cost at most, where prices are known and nothing is asked for twice."""
        most = (
            client.most(one.samples, len(self.asked.written(client)), self.asked.max_tokens)
            for client, one in zip(self.clients, self.served.asked, strict=True)
        )
        return sum(each for each in most if each is not None)


@lru_cache(maxsize=4096)
def _share(part: int, whole: int) -> str:
    """A share as text, exact."""
    return str(Fraction(part, whole))
