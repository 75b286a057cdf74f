"""The bundled real votes: nine models, a hundred exam questions, up to thirty samples each.

From github.com/matthewrenze/jhu-llm-temperature (BSD-2-Clause; see `data/LICENSE-renze`), answers extracted again
from the published outputs.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes

TEMPERATURE = 0.8
"""Votes sampled colder repeat themselves: only those at this temperature or above are independent enough."""


def demo_votes() -> Votes:
    """Read the bundled real votes, those that were sampled at temperature 0.8 or above.

    Returns
    -------
    Votes
        Nine models, a hundred exam questions, up to thirty samples of each.

    Examples
    --------
    >>> import swaplaw as sl
    >>> sl.demo_votes().tally()
    Tally('renze-temperature': 9 models, 100 questions, 21,600 votes)
    """
    import polars as pl

    from swaplaw.votes.table import votes_from

    with as_file(files("swaplaw") / "data" / "renze-temperature.parquet") as file:
        frame = pl.read_parquet(file)
    return votes_from(frame.filter(pl.col("temperature") >= TEMPERATURE))
