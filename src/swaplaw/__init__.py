"""swaplaw: will adding a model to yours by weighted voting help, at what weight, and how sure are we?

import swaplaw as sl

votes = sl.read_votes("votes.parquet")           # files, directories; sl.votes_from(frame) for dataframes
tally = votes.tally()                            # integer counts per model, question and category
sl.import_votes("logs").write("votes.parquet")   # Inspect, lm-evaluation-harness and HELM logs, any table
tally = sl.tally(frame)                          # the same from any dataframe, counted in its own engine
sl.summary(tally)                                # accuracy and abstention of each model
sl.pair(tally, "A", "B").at("2/3").lift          # the law at one weight, exactly
sl.curve(tally, "A", "B").best_plateau           # the law at every weight, exactly
sl.panels.certify(sl.panel(tally, ["A", "B", "C"])).best  # more than two models, at weights proven best
sl.panels.best_panels(tally, 3).panels           # the best trios of the fleet
sl.intervals(tally).of("A", "B")["lift"]         # every quantity with its interval
law = sl.calibrate(tally)                        # conversion rates, frozen: law.write("law.json")
sl.screen(other, law).to_frame()                 # S-hat of every pair of other votes, before pooling
sl.law.curves_of(sl.predict.best_pairs(other, sl.screen(other, law), 100))  # exact curves of the most promising
sl.predictors(other, law)                        # compare predictors of lift
sl.front(tally).best                             # what accuracy n calls buy
sl.recommend(tally).policy.write("policy.json")  # what to deploy, judged on held-out questions
sl.paper.simulate(sl.paper.World(0.45)).lifts["12:12"]       # the paper's Monte Carlo world
sl.paper.generate(sl.paper.Fleet(...)), sl.demo_votes("forensic-twin")  # synthetic votes with the marginals you ask for
"""

import lazy_loader

# Reached as `sl.errors` and so on without being listed: they cost nothing before they are used.
from swaplaw import answers, errors, importers, report, votes  # noqa: F401

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
