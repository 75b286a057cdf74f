"""swaplaw: will adding a model to yours by weighted voting help, at what weight, and how sure are we?

import swaplaw as sl

votes = sl.read_votes("votes.parquet")           # files, directories; sl.votes_from(frame) for dataframes
tally = votes.tally()                            # integer counts per model, question and category
sl.import_votes("logs").write("votes.parquet")   # Inspect, lm-evaluation-harness and HELM logs, any table
tally = sl.tally(frame)                          # the same from any dataframe, counted in its own engine
sl.summary(tally)                                # accuracy and abstention of each model
sl.pair(tally, "A", "B").at("2/3").lift          # the law at one weight, exactly
sl.curve(tally, "A", "B").best_plateau           # the law at every weight, exactly
sl.certify(sl.panel(tally, ["A", "B", "C"])).best  # more than two models, at weights proven best
sl.panels(tally, 3).panels                       # the best trios of the fleet
sl.bootstrap(tally).of("A", "B")["lift"]         # every quantity with its interval
law = sl.calibrate(tally)                        # conversion rates, frozen: law.write("law.json")
sl.screen(other, law).to_frame()                 # S-hat of every pair of other votes, before pooling
sl.curves_of(sl.best_pairs(other, sl.screen(other, law), 100))  # exact curves of the most promising
sl.predictors(other, law)                        # what tells lift in advance, and how well
sl.budget(tally, "A", "B", 8).best(8)            # the pair against its models alone, at equal compute
sl.recommend(tally).policy.write("policy.json")  # what to deploy, judged on held-out questions
sl.simulate(sl.World(0.45)).lifts["12:12"]       # the paper's Monte Carlo world
sl.generate(sl.Fleet(...)), sl.twin("forensic")  # synthetic votes with the marginals you ask for
"""

from swaplaw.bootstrap import Bootstrap, Estimate, bootstrap
from swaplaw.budget import Budget, Split, budget
from swaplaw.bundled import demo_votes
from swaplaw.calibrate import calibrate
from swaplaw.certify import Certificate, PanelOptimum, certify, marginals
from swaplaw.choice import Choice
from swaplaw.curve import Curve, Optimum, Piece, curve, curves, curves_of
from swaplaw.diversity import Diversity, diversity, pairwise
from swaplaw.effect import Effect
from swaplaw.errors import InputError, LostWorkerWarning, MissingExtraError, StatisticalWarning, SwaplawError
from swaplaw.fingerprint import fingerprint
from swaplaw.grid import grid_search
from swaplaw.holdout import HeldOut, held_out
from swaplaw.importers import Imported, import_votes
from swaplaw.importers.record import Options as ImportOptions
from swaplaw.intervals import Interval
from swaplaw.law import Law, read_law
from swaplaw.pair import Change, Masses, Outcome, Pair, outcomes, pair, pairs
from swaplaw.panel import Cell, Panel, PanelOutcome, panel
from swaplaw.panel_holdout import HeldOutPanel, held_out_panel
from swaplaw.panels import PanelSearch, panels
from swaplaw.policy import Member, Policy, read_policy
from swaplaw.position import PositionBias, position_bias
from swaplaw.predictors import Predictor, Predictors, predictors
from swaplaw.recommend import recommend
from swaplaw.resample import Resampler, resampler
from swaplaw.screen import Screen, best_pairs, screen, screen_marginals
from swaplaw.simulate import World, simulate
from swaplaw.summary import ModelSummary, summary
from swaplaw.synthetic import Fleet, Model, generate
from swaplaw.tally import Tally
from swaplaw.twins import twin
from swaplaw.verdict import Recommendation
from swaplaw.votes import Votes, read_votes, tally, votes_from
from swaplaw.weights import PAPER_GRID, as_weight

__all__ = [
    "PAPER_GRID",
    "Bootstrap",
    "Budget",
    "Cell",
    "Certificate",
    "Change",
    "Choice",
    "Curve",
    "Diversity",
    "Effect",
    "Estimate",
    "Fleet",
    "HeldOut",
    "HeldOutPanel",
    "ImportOptions",
    "Imported",
    "InputError",
    "Interval",
    "Law",
    "LostWorkerWarning",
    "Masses",
    "Member",
    "MissingExtraError",
    "Model",
    "ModelSummary",
    "Optimum",
    "Outcome",
    "Pair",
    "Panel",
    "PanelOptimum",
    "PanelOutcome",
    "PanelSearch",
    "Piece",
    "Policy",
    "PositionBias",
    "Predictor",
    "Predictors",
    "Recommendation",
    "Resampler",
    "Screen",
    "Split",
    "StatisticalWarning",
    "SwaplawError",
    "Tally",
    "Votes",
    "World",
    "as_weight",
    "best_pairs",
    "bootstrap",
    "budget",
    "calibrate",
    "certify",
    "curve",
    "curves",
    "curves_of",
    "demo_votes",
    "diversity",
    "fingerprint",
    "generate",
    "grid_search",
    "held_out",
    "held_out_panel",
    "import_votes",
    "marginals",
    "outcomes",
    "pair",
    "pairs",
    "pairwise",
    "panel",
    "panels",
    "position_bias",
    "predictors",
    "read_law",
    "read_policy",
    "read_votes",
    "recommend",
    "resampler",
    "screen",
    "screen_marginals",
    "simulate",
    "summary",
    "tally",
    "twin",
    "votes_from",
]
