"""Early stopping within one model, on real votes: ours beside published rules (`python -m benchmarks.stopping`).

Each rule sees one model's samples of a question in their recorded order and says when to stop; what leads then is its
answer. *Equal* is the share of questions on which that is the answer of all samples (or one of those that tie).

- adaptive: AdaptiveConsistency (Aggarwal et al. 2023): stop when P(first beats second) under a Beta posterior is 0.95.
- ESC: early-stopping self-consistency (Li et al. 2024): stop when all five samples of a window agree.
- Bayes factor: stop when "the first beats the second" is 20 times as likely as a coin flip between them.
- exact, statistical: this project's `stop`, the second with `error` 0.05.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from scipy.special import betainc, betaln

from swaplaw.serve.stop import Sampling, Stop, StopRule
from swaplaw.serve.vote import Ballot, Terms, Vote

ERROR = 0.05
WINDOW = 5
Rule = Callable[[Sequence[Vote]], int]
"""How many of the samples are drawn."""


def adaptive(votes: Sequence[Vote]) -> int:
    counts: Counter[Vote] = Counter()
    for drawn, answer in enumerate(votes, 1):
        counts[answer] += 1
        first, second = first_two(counts)
        if 1 - betainc(first + 1, second + 1, 0.5) >= 1 - ERROR:
            return drawn
    return len(votes)


def window(votes: Sequence[Vote]) -> int:
    for start in range(0, len(votes), WINDOW):
        seen = votes[start : start + WINDOW]
        if len(seen) == WINDOW and len(set(seen)) == 1:
            return start + WINDOW
    return len(votes)


def bayes_factor(votes: Sequence[Vote]) -> int:
    import numpy as np

    counts: Counter[Vote] = Counter()
    for drawn, answer in enumerate(votes, 1):
        counts[answer] += 1
        first, second = first_two(counts)
        above = 1 - betainc(first + 1, second + 1, 0.5)
        if 2 * above * np.exp(betaln(first + 1, second + 1) + (first + second) * np.log(2)) >= 1 / ERROR:
            return drawn
    return len(votes)


def ours(rule: StopRule) -> Rule:
    def drawn(votes: Sequence[Vote]) -> int:
        ballot, sampling = Ballot([Fraction(1)], [len(votes)]), Sampling(rule, Terms([0]))
        while not isinstance(step := sampling.next(ballot), Stop):
            for answer in votes[ballot.cast_by(0) :][: step[0]]:
                ballot.cast(0, answer)
        return ballot.cast_by(0)

    return drawn


RULES: dict[str, Rule] = {
    "exact": ours(StopRule()),
    "statistical": ours(StopRule(error=ERROR)),
    "adaptive": adaptive,
    "ESC": window,
    "Bayes factor": bayes_factor,
}


def first_two(counts: Counter[Vote]) -> tuple[int, int]:
    first, second = [*(count for _, count in counts.most_common(2)), 0][:2]
    return first, second


def compare(questions: Sequence[Sequence[Vote]]) -> dict[str, tuple[float, float]]:
    """For each rule, the share of samples saved and the share of equal answers."""
    total = sum(map(len, questions))
    found = {}
    for name, rule in RULES.items():
        drawn = [rule(votes) for votes in questions]
        same = sum(leaders(votes[:n])[0] in leaders(votes) for votes, n in zip(questions, drawn, strict=True))
        found[name] = (1 - sum(drawn) / total, same / len(questions))
    return found


def leaders(votes: Sequence[Vote]) -> list[Vote]:
    counts = Counter(votes)
    return [answer for answer, count in counts.items() if count == max(counts.values())]


def recorded_questions(path: str | None, dataset: str | None, samples: int) -> list[list[Vote]]:
    """Every model's samples of every question that has enough."""
    import swaplaw as sl
    from swaplaw.serve.replay import recorded

    votes = sl.demo_votes() if path is None else sl.read_votes([path])
    models = votes.tally(dataset).models
    answers = recorded(votes, models, dataset).answers
    return [list(cast[:samples]) for _, cast in sorted(answers.items()) if len(cast) >= samples]


if __name__ == "__main__":
    folder = Path(__file__).resolve().parent.parent / "tests" / "data" / "votes"
    boinf = str(folder / "best-of-infinity.parquet")
    for path, dataset, samples in ((None, None, 24), (boinf, "gpqa-diamond", 40), (boinf, "math500", 40)):
        questions = recorded_questions(path, dataset, samples)
        print(f"{dataset or 'renze-temperature'}: {len(questions)} questions and models, {samples} samples each")
        for name, (saved, equal) in compare(questions).items():
            print(f"  {name:12} saves {100 * saved:5.1f}%  equal {100 * equal:5.1f}%")
            sys.stdout.flush()
