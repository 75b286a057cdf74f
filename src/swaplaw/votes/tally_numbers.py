"""Sample numbers of tallies that are merged: no vote may be counted twice, however the parts split the samples.

A ballot is one model's votes on one question. Sums of marks tell of nearly every ballot that its numbers run on, from 0
to n-1 or from 1 to n, in all parts together; nothing more is needed then. Of the others, which are open, the numbers of
every part are put together, as runs from `first` to `last`: no two may overlap. The tally keeps the longest runs there
are, which depend on the numbers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swaplaw.errors import InputError, quote
from swaplaw.votes import engines
from swaplaw.votes.tally_parts import Part

if TYPE_CHECKING:
    import polars as pl

BALLOT = ["model", "question"]


def open_ballots(counts: pl.DataFrame) -> pl.DataFrame:
    """Find the ballots whose numbers do not run on in all parts together, and how many votes these have."""
    import polars as pl

    return _first_numbers(counts, BALLOT).filter(pl.col("first") < 0).select(*BALLOT, "votes")


def _first_numbers(counts: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """The votes of each of `keys`, and the first number of those that run on, -1 where they do not."""
    import polars as pl

    found = counts.group_by(keys).agg(pl.col("votes").sum(), pl.col(engines.MARK).sum())
    first = engines.first_numbers(found["votes"].to_numpy(), found[engines.MARK].to_numpy())
    return found.drop(engines.MARK).with_columns(first=pl.Series(first, dtype=pl.Int64))


def repeated(runs: pl.DataFrame) -> pl.DataFrame:
    """Find the runs that overlap the one before: `first` is a number of both. Runs are sorted by ballot and first.

    If any two runs overlap, two neighbours do.
    """
    import polars as pl

    return runs.filter(_same_ballot() & (pl.col("first") <= pl.col("last").shift()))


def joined(runs: pl.DataFrame) -> pl.DataFrame:
    """Put runs that follow each other together; they are sorted, and none overlaps another."""
    import polars as pl

    follows = runs.select(_same_ballot() & (pl.col("first") - 1 == pl.col("last").shift())).to_series().fill_null(False)
    begins, ends = ~follows, ~follows.shift(-1, fill_value=False)
    return runs.filter(begins).select("ballot", "first").with_columns(runs["last"].filter(ends))


def _same_ballot() -> pl.Expr:
    import polars as pl

    return pl.col("ballot") == pl.col("ballot").shift()


@dataclass(frozen=True)
class JoinedNumbers:
    """The numbers of some open ballots of a dataset in all parts together."""

    dataset: str
    ballots: pl.DataFrame
    """Model, question and votes; `ballot` numbers them from 0."""
    parts: Sequence[Part]
    search: Callable[[], None]
    """Searches the sources that are votes for numbers that are missing or repeated, and says where they are."""

    def runs(self, counts: pl.DataFrame) -> pl.DataFrame:
        """Runs of numbers, as long as they can be: model, question, first and last, sorted.

        Raises
        ------
        InputError
            If a number is counted twice, or if nothing tells whether it is.
        """
        import polars as pl

        own = _first_numbers(counts.join(self.ballots.select("ballot", *BALLOT), on=BALLOT), ["ballot", "part"])
        found = pl.concat([_runs_on(own), *(self._asked(part, own) for part in self.parts)]).sort("ballot", "first")
        self._refuse_repeated(found)
        longest = joined(found)
        self._refuse_unknown(own, longest)
        names = self.ballots.select(pl.col(BALLOT).gather(longest["ballot"]))
        return names.with_columns(longest["first"], longest["last"])

    def _asked(self, part: Part, own: pl.DataFrame) -> pl.DataFrame:
        """The numbers of a part that its marks do not tell."""
        import polars as pl

        unknown = own.filter((pl.col("part") == part.number) & (pl.col("first") < 0))
        if unknown.is_empty() or not part.numbered:
            return _runs_on(unknown)
        found = part.numbers(self.dataset, self.ballots.join(unknown, on="ballot", how="semi").drop("votes"))
        if not part.source.counted and len(found) < unknown["votes"].sum():
            self.search()
        return found.with_columns(pl.lit(part.number, dtype=pl.UInt32).alias("part"))

    def _refuse_repeated(self, runs: pl.DataFrame) -> None:
        import polars as pl

        again = repeated(runs)
        if again.is_empty():
            return
        self.search()
        ballot, number = again.select("ballot", "first").row(0)
        here = (pl.col("ballot") == ballot) & pl.lit(number).is_between("first", "last")
        parts = runs.filter(here)["part"].sort()
        raise InputError(
            f"{self._named(parts[-1])}: sample {number} of {self._ballot(ballot)} is counted in "
            f"{self._named(parts[0])}, too; count every vote once, and give different votes different sample numbers"
        )

    def _refuse_unknown(self, own: pl.DataFrame, runs: pl.DataFrame) -> None:
        """Nothing tells whether votes without numbers are those of another tally."""
        import polars as pl

        tallies = [part.number for part in self.parts if part.source.counted]
        parts, last = pl.col("part").len(), pl.col("part").max().alias("last")
        several = own.group_by("ballot").agg(
            pl.col("votes").sum(), last, parts.alias("parts"), pl.col("part").is_in(tallies).all().alias("counted")
        )
        length = (pl.col("last") - pl.col("first") + 1).sum().alias("known")
        known = several.join(runs.group_by("ballot").agg(length), on="ballot", how="left")
        lacking = pl.col("known").fill_null(0) != pl.col("votes")
        refused = known.filter((pl.col("parts") > 1) & pl.col("counted") & lacking).sort("ballot")
        if not refused.is_empty():
            ballot, part = refused.select("ballot", "last").row(0)
            raise InputError(
                f"{self._named(part)}: {self._ballot(ballot)} are counted in another tally, too, and there are votes "
                "without sample numbers: the same votes may be counted twice; number the samples, or merge tallies of "
                "different questions or models"
            )

    def _named(self, part: int) -> str:
        return quote(self.parts[part].source.name, 200)

    def _ballot(self, ballot: int) -> str:
        model, question = self.ballots.select(BALLOT).row(ballot)
        return f"model {quote(model)} and question {quote(question)}"


def _runs_on(own: pl.DataFrame) -> pl.DataFrame:
    """The runs that marks tell: `votes` numbers from `first` on, where that is known."""
    import polars as pl

    last = pl.col("first") + pl.col("votes") - 1
    return own.filter(pl.col("first") >= 0).select("ballot", "first", last.alias("last"), "part")
