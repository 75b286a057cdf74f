"""The replication study: the paper's claims, the margin law and the shares law on every real dataset of the tests.

`python -m benchmarks.predict` writes docs/replication.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import swaplaw as sl
from swaplaw.cli.paper._replicate import WEIGHTS, claims, transfers
from swaplaw.predict.replication import COMPARED, LAWS, Replication, replicate

ROOT = Path(__file__).resolve().parent.parent
VOTES = ROOT / "tests" / "data" / "votes"
PAGE = ROOT / "docs" / "replication.md"
MARK = "<!-- Tables below: python -m benchmarks.predict -->\n"


def tallies() -> list[sl.Tally]:
    """All real datasets in the repository."""
    both = sl.read_votes(VOTES / "best-of-infinity.parquet")
    options = sl.importers.Options(question=("cluster", "question", "gold"), drop_ambiguous=True)
    return [
        both.tally("gpqa-diamond"),
        both.tally("math500"),
        *(sl.read_votes(VOTES / "aime.parquet").tally(dataset) for dataset in ("aime2024", "aime2025")),
        sl.read_votes(VOTES / "reasoning-gym.parquet").tally(),
        sl.read_votes(VOTES / "renze-temperature.parquet").tally(),
        sl.import_votes(VOTES / "renze-exams.parquet", options).votes.tally(),
        sl.read_votes(VOTES / "mmlu-pro.parquet").tally(),
    ]


def main() -> None:
    """Put the tables on the page, below its mark."""
    votes = tallies()
    parts = [tables(replicate(votes, weight)) for weight in WEIGHTS]
    head, _, _ = PAGE.read_text().partition(MARK)
    PAGE.write_text(head + MARK + "\n" + "\n".join(parts))


def tables(found: Replication) -> str:
    """The tables of one weight as Markdown."""
    ranks = [[each.dataset, *(f"{each.rho[name]:.2f}" for name in COMPARED)] for each in found.datasets]
    ranks.append(["**median**", *(f"{found.median('rho', name):.2f}" for name in COMPARED)])
    squares = [[each.dataset, *(f"{each.r2[name]:.2f}" for name in COMPARED)] for each in found.datasets]
    squares.append(["**median**", *(f"{found.median('r2', name):.2f}" for name in COMPARED)])
    errors = [
        [each.dataset, *(f"{100 * each.rmse[name]:.1f}" for name in LAWS), f"{100 * each.baseline:.1f}"]
        for each in found.datasets
    ]
    none = float(np.median([each.baseline for each in found.datasets]))
    errors.append(["**median**", *(f"{100 * found.median('rmse', name):.1f}" for name in LAWS), f"{100 * none:.1f}"])
    names = [each.dataset for each in found.datasets]
    worse = np.mean([each.rmse > each.baseline for each in found.transfers])
    median = np.nanmedian([each.rho for each in found.transfers])
    return "\n".join(
        [
            f"## Weight {found.weight}",
            "",
            "Rates, lambda, mean residual (points) and R2 of S* with lift:",
            "",
            table(["dataset", "models", "gain", "alpha", "gamma", "lambda", "residual", "R2 of S*"], claims(found)),
            "Spearman's rho with observed lift (`predicted` is S-hat by the mean rates of the other datasets):",
            "",
            table(["dataset", *COMPARED], ranks),
            "R2 with observed lift:",
            "",
            table(["dataset", *COMPARED], squares),
            "RMSE in points:",
            "",
            table(["dataset", *LAWS, "no lift"], errors),
            "Rho of S-hat with rates from the row's dataset, on the column's:",
            "",
            table(["from / to", *names], transfers(found)),
            f"Median rho over {len(found.transfers)} transfers: {median:.2f}. In {worse:.0%} of them S-hat as a point "
            "prediction is worse than predicting no lift.",
            "",
        ]
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
