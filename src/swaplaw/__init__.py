"""swaplaw: will adding a model to yours by weighted voting help, at what weight, and how sure are we?

import swaplaw as sl

votes = sl.read_votes("votes.parquet")           # files, directories; sl.votes_from(frame) for dataframes
tally = votes.tally()                            # integer counts per model, question and category
sl.summary(tally)                                # accuracy and abstention of each model
sl.pair(tally, "A", "B").at("2/3").lift          # the law at one weight, exactly
sl.curve(tally, "A", "B").best_plateau           # the law at every weight, exactly
sl.certify(sl.panel(tally, ["A", "B", "C"])).best  # more than two models, at weights proven best
"""

from swaplaw.bundled import demo_votes
from swaplaw.certify import Certificate, PanelOptimum, certify, marginals
from swaplaw.curve import Curve, Optimum, Piece, curve, curves
from swaplaw.errors import InputError, MissingExtraError, StatisticalWarning, SwaplawError
from swaplaw.pair import Change, Masses, Outcome, Pair, pair, pairs
from swaplaw.panel import Cell, Panel, PanelOutcome, panel
from swaplaw.summary import ModelSummary, summary
from swaplaw.tally import Tally
from swaplaw.votes import Votes, read_votes, votes_from
from swaplaw.weights import PAPER_GRID, as_weight

__all__ = [
    "PAPER_GRID",
    "Cell",
    "Certificate",
    "Change",
    "Curve",
    "InputError",
    "Masses",
    "MissingExtraError",
    "ModelSummary",
    "Optimum",
    "Outcome",
    "Pair",
    "Panel",
    "PanelOptimum",
    "PanelOutcome",
    "Piece",
    "StatisticalWarning",
    "SwaplawError",
    "Tally",
    "Votes",
    "as_weight",
    "certify",
    "curve",
    "curves",
    "demo_votes",
    "marginals",
    "pair",
    "pairs",
    "panel",
    "read_votes",
    "summary",
    "votes_from",
]
