"""What cascades save on GPQA Diamond, for every ordered pair of its six models (`python -m benchmarks.cascade`).

Weight and threshold are chosen on other questions than they are judged on (10 folds, dealt three times); costs are the
tokens that Best-of-Infinity recorded. *Over the pair* is the cascade's accuracy less that of the pair at a weight
chosen likewise; *lossless* is that pair, with the secondary asked only where it can matter.
"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import swaplaw as sl
from swaplaw.cli.decide.cascade import question_costs
from swaplaw.decide.cascade import cascades

VOTES = Path(__file__).resolve().parent.parent / "tests" / "data" / "votes" / "best-of-infinity.parquet"
DATASET = "gpqa-diamond"


def rows() -> list[str]:
    """The table, the most accurate primary first."""
    votes = sl.read_votes([str(VOTES)])
    tally = votes.tally(DATASET)
    found = []
    for primary, secondary in permutations(tally.models, 2):
        costs, _ = question_costs(votes, tally, (primary, secondary), None)
        every = cascades(tally, primary, secondary, costs)
        cascade, pair, lossless = (every.held_out(how=how) for how in ("cascade", "pair", "lossless"))
        over = cascade.over(pair)
        assert cascade.cost is not None
        assert lossless.cost is not None
        assert pair.cost
        cells = [
            f"{primary}, {secondary}",
            f"{100 * float(every.pair.masses.p):.1f}%",
            f"{100 * pair.accuracy:.1f}%",
            f"{100 * cascade.accuracy:.1f}%",
            f"{100 * over.mean:+.1f} [{100 * over.low:+.1f}, {100 * over.high:+.1f}]",
            f"{100 * cascade.asked:.0f}%",
            f"{100 * (1 - cascade.cost / pair.cost):.0f}%",
            f"{100 * (1 - lossless.cost / pair.cost):.0f}%",
        ]
        found.append((-every.pair.masses.p, primary, "| " + " | ".join(cells) + " |"))
    return [row for *_, row in sorted(found)]


if __name__ == "__main__":
    print("| primary, then secondary | alone | pair | cascade | over the pair | asks on | tokens saved | lossless |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows():
        print(row, flush=True)
