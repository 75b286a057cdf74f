"""swaplaw: will adding a model to yours by weighted voting help, at what weight, and how sure are we?

import swaplaw as sl

votes = sl.read_votes("votes.parquet")           # files, directories; sl.votes_from(frame) for dataframes
tally = votes.tally()                            # integer counts per model, question and category
sl.import_votes("logs").write("votes.parquet")   # Inspect, lm-evaluation-harness and HELM logs, any table
tally = sl.tally(frame)                          # the same from any dataframe, counted in its own engine
sl.summary(tally)                                # accuracy and abstention of each model
sl.pair(tally, "A", "B").at("2/3").lift          # the law at one weight, exactly
sl.curve(tally, "A", "B").best_plateau           # the law at every weight, exactly
"""

from swaplaw.bundled import demo_votes
from swaplaw.curve import Curve, Optimum, Piece, curve, curves
from swaplaw.errors import InputError, MissingExtraError, StatisticalWarning, SwaplawError
from swaplaw.importers import Imported, import_votes
from swaplaw.importers.record import Options as ImportOptions
from swaplaw.pair import Change, Masses, Outcome, Pair, pair, pairs
from swaplaw.summary import ModelSummary, summary
from swaplaw.tally import Tally
from swaplaw.votes import Votes, read_votes, tally, votes_from
from swaplaw.weights import PAPER_GRID, as_weight

__all__ = [
    "PAPER_GRID",
    "Change",
    "Curve",
    "ImportOptions",
    "Imported",
    "InputError",
    "Masses",
    "MissingExtraError",
    "ModelSummary",
    "Optimum",
    "Outcome",
    "Pair",
    "Piece",
    "StatisticalWarning",
    "SwaplawError",
    "Tally",
    "Votes",
    "as_weight",
    "curve",
    "curves",
    "demo_votes",
    "import_votes",
    "pair",
    "pairs",
    "read_votes",
    "summary",
    "tally",
    "votes_from",
]
