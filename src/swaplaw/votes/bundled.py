"""The bundled votes, under the word `demo`, and `demo:NAME` for the others.

| name | what | from |
|---|---|---|
| `exams` (plain `demo`) | nine models, a hundred exam questions, up to thirty samples each | jhu-llm-temperature |
| `gpqa-diamond` | six reasoning models, 198 questions, 80 samples each (one model 160) | Best-of-Infinity |
| `math500` | seven reasoning models, 500 questions, 80 samples each | Best-of-Infinity |
| `mmlu-pro` | three models, about 12,000 questions with up to ten options, one sample each | MMLU-Pro |
| `supergpqa-twin`, `gpqa-diamond-twin`, `forensic-twin` | synthetic, with the paper's marginals | `scripts/twins.py` |

Sources and licences are in `data/README.md`. Answers were extracted again from the published outputs.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from swaplaw.errors import InputError, quote

if TYPE_CHECKING:
    from swaplaw.votes.table import Votes

WORD = "demo"
FILES = {
    "exams": "renze-temperature.parquet",
    "gpqa-diamond": "gpqa-diamond.parquet",
    "math500": "math500.parquet",
    "mmlu-pro": "mmlu-pro.parquet",
    "supergpqa-twin": "supergpqa-twin.parquet",
    "gpqa-diamond-twin": "gpqa-diamond-twin.parquet",
    "forensic-twin": "forensic-twin.parquet",
}
TWIN = "-twin"
"""How the names of synthetic twins end; their files hold counts of equal votes."""
TEMPERATURE = 0.8
"""Exam votes sampled colder repeat themselves: only those at this temperature or above are independent enough."""


def demo_votes(name: str = "exams") -> Votes:
    """Read bundled votes.

    Parameters
    ----------
    name : str
        `exams` (nine models, a hundred questions, sampled at temperature 0.8 or above), `gpqa-diamond`, `math500`,
        `mmlu-pro`, or a synthetic twin of one of the paper's datasets (`supergpqa-twin`, `gpqa-diamond-twin`,
        `forensic-twin`).

    Returns
    -------
    Votes
        The votes.

    Raises
    ------
    InputError
        If no votes of that name are bundled.

    Examples
    --------
    >>> import swaplaw as sl
    >>> sl.demo_votes().tally()
    Tally('renze-temperature': 9 models, 100 questions, 21,600 votes)
    >>> sl.demo_votes("gpqa-diamond").tally()
    Tally('gpqa-diamond': 6 models, 198 questions, 110,880 votes)
    """
    import polars as pl

    from swaplaw.votes.table import votes_of

    if name not in FILES:
        raise InputError(f"no votes called {quote(name)} are bundled: there are {', '.join(FILES)}")
    with as_file(files("swaplaw") / "data" / FILES[name]) as file:
        frame = pl.read_parquet(file)
    if name.endswith(TWIN):
        counts = frame.with_columns(pl.col(pl.Categorical).cast(pl.String)).sort("question", "model")
        rows = counts.select(pl.exclude("votes").repeat_by("votes").explode())
        return votes_of(rows.with_columns(pl.lit(name).alias("dataset"), pl.lit(value=True).alias("synthetic")))
    return votes_of(frame.filter(pl.col("temperature") >= TEMPERATURE) if name == "exams" else frame)


def bundled_name(word: str) -> str | None:
    """The name of the bundled votes that a word such as `demo` or `demo:math500` stands for, or None."""
    head, colon, name = word.partition(":")
    if head != WORD:
        return None
    return name if colon else "exams"
