"""One question asked of all members until the weighted vote is decided."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from time import monotonic
from typing import Any, Literal

from swaplaw.serve.settings import Served, TokenPrice
from swaplaw.serve.upstream import Client, Completion, UpstreamError
from swaplaw.serve.voting.ballot import Answer, Ballot
from swaplaw.serve.voting.stopping import Stop

By = Literal["vote", "primary", "abstain"]
"""What decided; `primary`: the null category won, and the policy falls back to the primary."""
HOW_NULL = {"length": "truncated", "content_filter": "refused"}
"""Why nothing could be read, by finish reason; otherwise `no_parse`."""


class UnavailableError(Exception):
    """Too many members are down for the policy to decide."""

    def __init__(self, down: Mapping[str, str]) -> None:
        super().__init__(", ".join(f"{model} ({why})" for model, why in down.items()))
        self.down = dict(down)


@dataclass
class MemberRecord:
    """What one member did for one question."""

    asked: int = 0
    """The number of the next sample: no two are asked for with the same seed."""
    drawn: int = 0
    lost: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Decision:
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
    """Asks the members of one policy one question."""

    def __init__(self, served: Served, clients: Sequence[Client], body: Mapping[str, Any], seed: int | None) -> None:
        self.served, self.clients, self.body, self.seed = served, clients, body, seed
        members = served.members
        self.ballot = Ballot([member.weight for member in members], [member.samples for member in members])
        self.records = [MemberRecord() for _ in members]
        self.down: dict[str, str] = {}
        self.rounds = 0
        self.stop = Stop("all")
        self.arrived = monotonic()
        self._rule = served.serving.stop.rule
        self._first: list[dict[Answer, tuple[int, Completion]]] = [{} for _ in members]
        self._prices = [_sample_price(served, client) for client in clients]

    async def decide(self) -> Decision:
        """Draw samples, wave by wave, until the vote is decided."""
        await self._settle()
        answer = self.ballot.winner()
        by: By = "vote"
        vote = self._vote(answer)
        if answer is None:
            by = "abstain"
            if self.served.serving.null_win == "primary" and 0 in self.ballot.members:
                # The primary's own vote, decided as exactly as that of all members was.
                self._keep_only_primary()
                await self._settle()
                answer = self.ballot.winner()
                by = "abstain" if answer is None else "primary"
        return Decision(
            answer=answer,
            by=by,
            vote={"decision": by, "answer": answer, **vote, **self._spent()},
            completion=self._completion(answer),
            input_tokens=sum(record.input_tokens for record in self.records),
            output_tokens=sum(record.output_tokens for record in self.records),
            arrived=self.arrived,
        )

    async def _settle(self) -> None:
        while (stop := self._rule.stop(self.ballot)) is None:
            await self._draw(self._rule.plan(self.ballot, self.rounds, self._prices))
            self.rounds += 1
        if not self.ballot.members:
            raise UnavailableError(self.down)
        self.stop = stop

    def _completion(self, answer: Answer) -> Completion | None:
        """The sample that is served: of the winning category, the first of the first member that gave one."""
        if answer is None:
            return None
        return next(first[answer][1] for first in self._first if answer in first)

    async def _draw(self, plan: Sequence[int]) -> None:
        """Draw these samples at once and count them as they come; what is no longer needed is cancelled."""
        calls: dict[asyncio.Task[list[Completion]], tuple[int, int, int]] = {}
        for member, number in enumerate(plan):
            batch = self.clients[member].upstream.batch
            for start in range(0, number, batch):
                size = min(batch, number - start)
                record = self.records[member]
                index = record.asked
                record.asked += size
                record.drawn += size
                task = asyncio.create_task(self.clients[member].draw(self._body(index), size))
                task.add_done_callback(_looked_at)
                calls[task] = (member, index, size)
        open_calls = set(calls)
        try:
            while open_calls:
                done, open_calls = await asyncio.wait(open_calls, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=calls.__getitem__):
                    self._count(task, *calls[task])
                if self._rule.exact and self.ballot.decided:
                    break
                open_calls = self._cancel(open_calls, calls)
        finally:
            for task in open_calls:
                task.cancel()
            if open_calls:
                await asyncio.wait(open_calls)

    def _cancel(
        self,
        open_calls: set[asyncio.Task[list[Completion]]],
        calls: Mapping[asyncio.Task[list[Completion]], tuple[int, int, int]],
    ) -> set[asyncio.Task[list[Completion]]]:
        """Call off what was asked of members that have no say any more."""
        members = self.ballot.members
        silent = {task for task in open_calls if calls[task][0] not in members}
        for task in silent:
            task.cancel()
        return open_calls - silent

    def _body(self, index: int) -> Mapping[str, Any]:
        return self.body if self.seed is None else {**self.body, "seed": self.seed + index}

    def _count(self, task: asyncio.Task[list[Completion]], member: int, index: int, size: int) -> None:
        if member not in self.ballot.members:
            return
        try:
            completions = task.result()
        except UpstreamError as error:
            self._lose(member, size, error.result)
            return
        self.arrived = monotonic()
        record, first = self.records[member], self._first[member]
        read = self.served.serving.answer.reader.read
        for offset, completion in enumerate(completions):
            answer = read(completion.text)
            if answer is None:
                record.reasons[HOW_NULL.get(completion.finish_reason or "", "no_parse")] += 1
            self.ballot.cast(member, answer)
            record.input_tokens += completion.input_tokens
            record.output_tokens += completion.output_tokens
            if answer not in first or index + offset < first[answer][0]:
                first[answer] = (index + offset, completion)
        # An upstream that ignores `n` owes the rest: it is drawn again later.
        record.drawn -= size - len(completions)

    def _lose(self, member: int, number: int, why: str) -> None:
        self.records[member].lost += number
        for _ in range(number):
            self.ballot.lose(member)
        planned = self.served.members[member].samples
        if self.ballot.samples[member] < ceil(Fraction(self.served.serving.quorum) * planned):
            self._take_out(member, why)

    def _take_out(self, member: int, why: str) -> None:
        """A member is down: do as the policy says."""
        self.down[self.served.members[member].model] = why
        self._drop(member)
        degrade = self.served.serving.degrade
        if degrade == "unavailable" or (degrade == "primary" and member == 0):
            raise UnavailableError(self.down)
        if degrade == "primary":
            self._keep_only_primary()

    def _keep_only_primary(self) -> None:
        for member in self.ballot.members:
            if member != 0:
                self._drop(member)

    def _drop(self, member: int) -> None:
        self.ballot.drop(member)
        self._first[member].clear()

    def _vote(self, answer: Answer) -> dict[str, Any]:
        """The vote as it stands when it is decided."""
        standing, scale = self.ballot.standing(), self.ballot.scale
        return {
            "winner": answer,
            "ties": [tied for tied in standing.leaders if tied != answer],
            "margin": str(Fraction(standing.lead, scale)),
            "remaining": str(Fraction(standing.remaining, scale)),
            "stopped": self.stop.how,
            "error_bound": self.stop.error_bound,
            "members": [self._member(number) for number in range(len(self.records))],
            "abstentions": sum(record.reasons.total() for record in self.records),
            "degraded": {"rule": self.served.serving.degrade, "down": self.down} if self.down else None,
        }

    def _member(self, number: int) -> dict[str, Any]:
        member, record, votes = self.served.members[number], self.records[number], self.ballot.counts[number]
        shares = self.ballot.shares(number)
        return {
            "model": member.model,
            "weight": str(member.weight),
            "samples": member.samples,
            "votes": votes.total(),
            "lost": record.lost,
            "counted": number in self.ballot.members,
            "shares": [{"answer": a, "votes": votes[a], "share": str(share)} for a, share in shares.items()],
            "abstentions": dict(record.reasons),
        }

    def _spent(self) -> dict[str, Any]:
        planned = sum(member.samples for member in self.served.members)
        spent = sum(record.drawn for record in self.records)
        unneeded = [
            member.samples - record.drawn if member.model not in self.down else 0
            for member, record in zip(self.served.members, self.records, strict=True)
        ]
        return {
            "rounds": self.rounds,
            "samples": {"planned": planned, "spent": spent, "saved": sum(unneeded)},
            "cost": self._cost(),
        }

    def _cost(self) -> float | None:
        total = 0.0
        for member, record in enumerate(self.records):
            price = self.clients[member].upstream.price
            if isinstance(price, TokenPrice):
                total += (price.input * record.input_tokens + price.output * record.output_tokens) / 1e6
                continue
            each = price if price is not None else self.served.members[member].price
            if each is None:
                return None
            total += each * record.drawn
        return total


def _looked_at(call: asyncio.Task[list[Completion]]) -> None:
    """See how a call ended, or asyncio would complain of failures that nobody waits for any more."""
    if not call.cancelled():
        call.exception()


def _sample_price(served: Served, client: Client) -> float:
    """What a sample costs, to prefer the cheaper of equals; tokens stand for it where they are priced."""
    price = client.upstream.price
    if isinstance(price, TokenPrice):
        return price.output
    return price if price is not None else client.member.price or 0.0
