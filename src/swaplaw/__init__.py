"""swaplaw: will adding a model to yours by weighted voting help, at what weight, and how sure are we?

import swaplaw as sl

votes = sl.read_votes("votes.parquet")           # files, directories; sl.votes_from(frame) for dataframes
tally = votes.tally()                            # integer counts per model, question and category
sl.summary(tally)                                # accuracy and abstention of each model
sl.pair(tally, "A", "B").at("2/3").lift          # the law at one weight, exactly
sl.curve(tally, "A", "B").best_plateau           # the law at every weight, exactly
sl.bootstrap(tally).of("A", "B")["lift"]         # every quantity with its interval
law = sl.calibrate(tally)                        # conversion rates, frozen: law.write("law.json")
sl.screen(other, law).to_frame()                 # S-hat of every pair of other votes, before pooling
sl.predictors(other, law)                        # what tells lift in advance, and how well
"""

from swaplaw.bootstrap import Bootstrap, Estimate, bootstrap
from swaplaw.bundled import demo_votes
from swaplaw.calibrate import calibrate
from swaplaw.curve import Curve, Optimum, Piece, curve, curves
from swaplaw.diversity import Diversity, diversity, pairwise
from swaplaw.errors import InputError, MissingExtraError, StatisticalWarning, SwaplawError
from swaplaw.fingerprint import fingerprint
from swaplaw.intervals import Interval
from swaplaw.law import Law, read_law
from swaplaw.pair import Change, Masses, Outcome, Pair, pair, pairs
from swaplaw.predictors import Predictor, Predictors, predictors
from swaplaw.resample import Resampler, resampler
from swaplaw.screen import Screen, screen, screen_marginals
from swaplaw.summary import ModelSummary, summary
from swaplaw.tally import Tally
from swaplaw.votes import Votes, read_votes, votes_from
from swaplaw.weights import PAPER_GRID, as_weight

__all__ = [
    "PAPER_GRID",
    "Bootstrap",
    "Change",
    "Curve",
    "Diversity",
    "Estimate",
    "InputError",
    "Interval",
    "Law",
    "Masses",
    "MissingExtraError",
    "ModelSummary",
    "Optimum",
    "Outcome",
    "Pair",
    "Piece",
    "Predictor",
    "Predictors",
    "Resampler",
    "Screen",
    "StatisticalWarning",
    "SwaplawError",
    "Tally",
    "Votes",
    "as_weight",
    "bootstrap",
    "calibrate",
    "curve",
    "curves",
    "demo_votes",
    "diversity",
    "fingerprint",
    "pair",
    "pairs",
    "pairwise",
    "predictors",
    "read_law",
    "read_votes",
    "resampler",
    "screen",
    "screen_marginals",
    "summary",
    "votes_from",
]
