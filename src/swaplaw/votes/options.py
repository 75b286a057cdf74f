"""How many options questions have, where votes state it in a column `options`.

Votes are not counted by this column: it comes with the counts, the largest number that they state, so tables without it
are counted as before. A user's own column of that name, which holds something else, states nothing.
"""

from __future__ import annotations

import numpy as np

from swaplaw._arrays import Ints

OPTIONS = "options"
FEWEST_OPTIONS, MOST_OPTIONS = 2, 26
"""Numbers beyond these are not numbers of options."""


def stated_options(stated: Ints, question: Ints, answers: Ints) -> Ints | None:
    """The number of options of each question, 0 where none is stated; None where none is stated anywhere.

    Parameters
    ----------
    stated : array
        The number that each count states, 0 where it states none.
    question : array
        The question of each count.
    answers : array
        How many different answers each question got, gold included: it has at least as many options.
    """
    most = np.zeros(len(answers), dtype=np.int64)
    np.maximum.at(most, question, stated)
    return np.where(most > 0, np.maximum(most, answers), 0) if most.any() else None
