"""One question asked of all members until the weighted vote is decided."""

from __future__ import annotations

import asyncio
from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import inf
from time import monotonic
from typing import Any, Literal, NamedTuple

from swaplaw.decide.policy import Silence
from swaplaw.serve.reading import Reading
from swaplaw.serve.settings import Served
from swaplaw.serve.stop import Course, Stop
from swaplaw.serve.upstream import OUR_FAULT, Asked, Client, Completion, UpstreamError
from swaplaw.serve.vote import Answer, Terms, Vote, heard

By = Literal["vote", "primary", "primary_text", "abstain"]
"""What decided; `primary`: the null category won, and the policy falls back to the primary."""


class UnavailableError(Exception):
    """Too many members are down for the policy to decide."""

    def __init__(self, down: Mapping[str, str], status: int | None = None) -> None:
        super().__init__(", ".join(f"{model} ({why})" for model, why in down.items()))
        self.down = dict(down)
        self.status = status
        """What the upstreams said, where all of them refused the request itself: to ask again would not help."""


@dataclass(slots=True)
class MemberRecord:
    """What one member did for one question."""

    pending: list[int]
    """Numbers of the samples that have not been asked for, or were called off: each keeps its own seed."""
    touched: set[int] = field(default_factory=set)
    """Samples that were ever asked for, and so may have to be paid."""
    asked: int = 0
    """Samples asked for, those that were asked for again included."""
    sent: int = 0
    """Samples that may have to be paid: those of every attempt, but for attempts that were refused."""
    replied: int = 0
    lost: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    cast: list[Cast] = field(default_factory=list)

    def pay(self, samples: int) -> None:
        """More samples may have to be paid."""
        self.sent += samples


class Cast(NamedTuple):
    """One vote as it came in."""

    sample: int
    answer: Answer
    reason: str | None
    tokens: int | None

    def vote(self, silence: Silence) -> Vote:
        """What it adds to the vote."""
        return heard(self.answer, self.reason, silence)


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
    ) -> None:
        self._reading = reading or Reading()
        self.served, self.clients, self.asked, self.seed = served, clients, Asked(body), seed
        self.ballot = served.ballot.empty()
        self.records = [MemberRecord(list(range(one.samples))) for one in served.asked]
        """What was asked of the members, then of the fallback models."""
        self.down: dict[str, str] = {}
        self.arrived = monotonic()
        self._until = until
        self._prepared: dict[int, bytes] = {}
        self._course = Course(served.stop_rule, served.terms, self.ballot, served.fallback_terms, served.prices)
        self._rounds_before = 0
        self._statuses: set[int | None] = set()
        self._primary: tuple[int, Answer, Completion] | None = None
        self._read_ahead: dict[Completion, tuple[Answer, str | None]] = {}
        self._first: list[dict[Answer, tuple[int, Completion]]] = [{} for _ in served.asked]

    @property
    def rounds(self) -> int:
        """How often the question has waited for its slowest sample."""
        return self._rounds_before + self._course.rounds

    async def decide(self) -> Decision:
        """Draw samples, wave by wave, until the vote is decided."""
        await self._settle()
        if not self.ballot.members and not self._course.leaders:
            raise self._unavailable()
        answer = self._course.winner
        vote = self._vote(answer)
        by: By = "vote"
        completion = None
        if self.served.serving.shadow or self.served.serving.canary < 1:
            while self._primary is None and 0 in self.ballot.members and self.ballot.left[0]:
                await self._draw_primary(1)
        if answer is None:
            by, answer, completion = await self._fall_back()
        return Decision(
            answer=answer,
            by=by,
            vote={"decision": by, "answer": answer, **vote, **self._spent()},
            completion=completion or self._completion(answer),
            input_tokens=sum(record.input_tokens for record in self.records),
            output_tokens=sum(record.output_tokens for record in self.records),
            arrived=self.arrived,
        )

    def primary_alone(self) -> tuple[Answer, Completion] | None:
        """What the primary says without a vote: its first sample, and how that is read. None where it gave none."""
        if self._primary is None:
            return None
        return self._primary[1:]

    async def _fall_back(self) -> tuple[By, Answer, Completion | None]:
        """The null category has won: do as the policy says. A primary that is down, or goes down now, has no vote."""
        fallback = self.served.serving.null_win
        if fallback not in ("primary", "primary_text") or 0 not in self.ballot.members:
            return "abstain", None, None
        self._keep_only_primary()
        if fallback == "primary_text":
            terms = self._course.terms
            while terms.may_fall(self.ballot, 0):
                await self._draw_primary(terms.needs[0] - self.ballot.cast_by(0))
            if self._primary is None or 0 not in self.ballot.members:
                return "abstain", None, None
            return "primary_text", None, self._primary[2]
        # The primary's own vote, decided as exactly as that of all members was.
        terms = self._course.terms
        self._rounds_before = self.rounds
        self._course = Course(
            self.served.stop_rule, Terms(terms.needs, terms.degrade), self.ballot, prices=self.served.prices
        )
        await self._settle()
        answer = self._course.winner
        return ("abstain" if answer is None else "primary"), answer, None

    async def _draw_primary(self, number: int) -> None:
        """Draw samples of the primary that the vote itself does not need."""
        await self._draw([number, *([0] * (len(self.records) - 1))], whole=True)
        self._rounds_before += 1

    async def _settle(self) -> None:
        while not isinstance(step := self._course.next(), Stop):
            await self._draw([*step, *[0] * (len(self.records) - len(step))])

    def _completion(self, answer: Answer) -> Completion | None:
        """The sample that is served: of the winning category, the first of the first member that gave one."""
        if answer is None:
            return None
        return next(first[answer][1] for first in self._first if answer in first)

    async def _draw(self, plan: Sequence[int], *, whole: bool = False) -> None:
        """Draw these samples at once and count them as they come; what is no longer needed is cancelled."""
        arrivals = _Arrivals()
        calls = {self._ask(call, arrivals): call for call in self._calls(plan)}
        open_calls = set(calls)
        try:
            while open_calls:
                done = [task for task in await arrivals.next() if task in open_calls]
                open_calls.difference_update(done)
                await self._read(done)
                for task in sorted(done, key=calls.__getitem__) if len(done) > 1 else done:
                    self._count(task, calls[task])
                if open_calls and not whole and self._course.cut():
                    break
                if self.down:
                    open_calls = self._call_off_silent(open_calls, calls)
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
            record.asked += len(taken)
            record.touched.update(taken)
            start = 0
            for end in range(1, len(taken) + 1):
                gap = end < len(taken) and taken[end] != taken[end - 1] + 1
                if end == len(taken) or gap or end - start == batch:
                    calls.append(Call(member, taken[start], end - start))
                    start = end
        return calls

    def _ask(self, call: Call, arrivals: _Arrivals) -> asyncio.Task[list[Completion]]:
        client, seed = self.clients[call.member], None if self.seed is None else self.seed + call.first
        prepared = self._prepared.get(call.member)
        if prepared is None:
            prepared = self._prepared[call.member] = client.prepare(self.asked)
        task = arrivals.loop.create_task(
            client.draw(prepared, call.size, seed, self._until, self.records[call.member].pay)
        )
        task.add_done_callback(arrivals.add)
        return task

    def _put_back(self, call: Call, keep: int = 0) -> None:
        """What was called off, or not delivered, may be asked for again: as the same samples."""
        for sample in range(call.first + keep, call.first + call.size):
            insort(self.records[call.member].pending, sample)

    def _call_off_silent(
        self, open_calls: set[asyncio.Task[list[Completion]]], calls: Mapping[asyncio.Task[list[Completion]], Call]
    ) -> set[asyncio.Task[list[Completion]]]:
        """Call off what was asked of members that have no say any more."""
        silent = {task for task in open_calls if not self._course.has_say(calls[task].member)}
        for task in silent:
            task.cancel()
        return open_calls - silent

    async def _read(self, done: Sequence[asyncio.Task[list[Completion]]]) -> None:
        """Read what takes a while elsewhere: other questions must not wait for it."""
        well = (task for task in done if not task.cancelled() and task.exception() is None)
        slow = [each for task in well for each in task.result() if self.served.settled(each) is None]
        if slow:
            answers = await self._reading.read(self.served.reader, [completion.text for completion in slow])
            for completion, answer in zip(slow, answers, strict=True):
                self._read_ahead[completion] = self.served.outcome(completion, answer)

    def _count(self, task: asyncio.Task[list[Completion]], call: Call) -> None:
        member = call.member
        if not self._course.has_say(member):
            return
        try:
            completions = task.result()
        except UpstreamError as error:
            self._statuses.add(error.status)
            self._lose(member, call.size, error.result)
            return
        self.arrived = monotonic()
        record, first = self.records[member], self._first[member]
        record.replied += len(completions)
        for sample, completion in enumerate(completions, call.first):
            ahead = self._read_ahead.get(completion) if self._read_ahead else None
            answer, reason = ahead or self.served.settled(completion) or self.served.read(completion)
            if reason is not None:
                record.reasons[reason] = record.reasons.get(reason, 0) + 1
            cast = Cast(sample, answer, reason, completion.output_tokens if call.size == 1 else None)
            self._course.cast(member, cast.vote(self.served.policy.silence))
            record.cast.append(cast)
            record.input_tokens += completion.input_tokens
            record.output_tokens += completion.output_tokens
            if answer not in first or sample < first[answer][0]:
                first[answer] = (sample, completion)
            if member == 0 and (self._primary is None or sample < self._primary[0]):
                self._primary = (sample, answer, completion)
        # An upstream that ignores `n` owes the rest: it is drawn again later.
        self._put_back(call, keep=len(completions))

    def _lose(self, member: int, number: int, why: str) -> None:
        self.records[member].lost += number
        if not self._course.lose(member, number):
            self._take_out(member, why)

    def _take_out(self, member: int, why: str) -> None:
        """A member is down: do as the policy says."""
        self.down[self.served.asked[member].model] = why
        self._drop(member)
        if member >= len(self.served.members):
            return  # Whoever comes next in the order is asked.
        degrade = self._course.terms.degrade
        if degrade == "unavailable" or (degrade == "primary" and member == 0):
            raise self._unavailable()
        if degrade == "primary":
            self._keep_only_primary()

    def _unavailable(self) -> UnavailableError:
        statuses = self._statuses
        refused = statuses and statuses <= OUR_FAULT
        return UnavailableError(self.down, max(status or 0 for status in statuses) if refused else None)

    def _keep_only_primary(self) -> None:
        for member in self.ballot.members:
            if member != 0:
                self._drop(member)

    def _drop(self, member: int) -> None:
        self._course.drop(member)
        self._first[member].clear()

    def _vote(self, answer: Answer) -> dict[str, Any]:
        """The vote as it stands when it is decided."""
        course = self._course
        deciding = course.terms.active(self.ballot)
        standing, scale = deciding.standing(), deciding.scale
        stop, members = course.stop or Stop("all"), len(self.served.members)
        return {
            "winner": answer,
            "ties": [tied for tied in course.leaders if tied != answer],
            "margin": _share(standing.lead, scale),
            "remaining": _share(standing.remaining, scale),
            "stopped": stop.how,
            "error_bound": stop.error_bound,
            "silence": self.served.policy.silence,
            "members": [self._member(number) for number in range(members)],
            "fallback": [self._asked(number) for number in range(members, len(self.records))],
            "abstentions": sum(sum(record.reasons.values()) for record in self.records),
            "degraded": {"rule": course.terms.degrade, "down": self.down} if self.down else None,
        }

    def _member(self, number: int) -> dict[str, Any]:
        """What a member said, with its weight, and whether it had a say."""
        said = self._asked(number)
        return {
            "model": said.pop("model"),
            "weight": self.served.weights[number],
            **said,
            "counted": self.ballot.samples[number] > 0,
        }

    def _asked(self, number: int) -> dict[str, Any]:
        """What a model said, whatever became of it."""
        one, record = self.served.asked[number], self.records[number]
        ballot, place = self._course.ballot_of(number)
        total = ballot.cast_by(place)
        shares = ballot.counts[place].most_common()
        return {
            "model": one.model,
            "samples": one.samples,
            "votes": total,
            "lost": record.lost,
            "shares": [{"answer": a, "votes": n, "share": _share(n, total)} for a, n in shares],
            "abstentions": dict(record.reasons),
        }

    def _spent(self) -> dict[str, Any]:
        planned = sum(member.samples for member in self.served.members)
        spent = sum(len(record.touched) for record in self.records)
        saved = sum(
            member.samples - len(record.touched)
            for member, record in zip(self.served.members, self.records, strict=False)
            if member.model not in self.down
        )
        return {
            "rounds": self.rounds,
            "samples": {"planned": planned, "spent": spent, "saved": saved},
            "cost": self.cost,
        }

    @property
    def costs(self) -> list[float | None]:
        """What each model has cost so far, where its price is known: a sample that never came counts at its most."""
        found = []
        for place, (client, record) in enumerate(zip(self.clients, self.records, strict=True)):
            missing, asked = max(0, record.sent - record.replied), len(self._prepared.get(place, b""))
            told = client.cost(record.sent - missing, record.input_tokens, record.output_tokens)
            found.append(None if told is None else told + (client.most(missing, asked, self.asked.max_tokens) or 0.0))
        return found

    @property
    def cost(self) -> float | None:
        """What has been asked for so far costs, where prices are known."""
        known = [cost for cost in self.costs if cost is not None]
        return sum(known) if len(known) == len(self.clients) else None

    @property
    def most(self) -> float:
        """What the question may cost at most, where prices are known."""
        asked = [len(client.prepare(self.asked)) for client in self.clients]
        most = [
            client.most(one.samples, size, self.asked.max_tokens)
            for client, one, size in zip(self.clients, self.served.asked, asked, strict=True)
        ]
        return sum(each for each in most if each is not None)


@lru_cache(maxsize=4096)
def _share(part: int, whole: int) -> str:
    """A share as text, exact."""
    return str(Fraction(part, whole))


class _Arrivals:
    """Calls as they end; `asyncio.wait` would look at every open call for every one that ends."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._ended: list[asyncio.Task[list[Completion]]] = []
        self._waiter: asyncio.Future[None] | None = None

    def add(self, call: asyncio.Task[list[Completion]]) -> None:
        """A call has ended; see how, or asyncio would complain of failures that nobody waits for any more."""
        if not call.cancelled():
            call.exception()
        self._ended.append(call)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def next(self) -> list[asyncio.Task[list[Completion]]]:
        """Wait for some calls to end."""
        if not self._ended:
            self._waiter = self.loop.create_future()
            await self._waiter
        ended, self._ended = self._ended, []
        return ended
