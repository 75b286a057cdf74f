from . import decide as decide
from . import evidence as evidence
from . import law as law
from . import panels as panels
from . import paper as paper
from . import predict as predict
from .decide.combine import combine as combine
from .decide.compare import compare as compare
from .decide.front import front as front
from .decide.recommend import recommend as recommend
from .errors import InputError as InputError
from .errors import SwaplawError as SwaplawError
from .evidence.quantities import intervals as intervals
from .importers.reading import import_votes as import_votes
from .importers.reading import read_votes as read_votes
from .importers.reading import votes_from as votes_from
from .law.curve import curve as curve
from .law.pair import pair as pair
from .law.pair import pairs as pairs
from .panels.panel import panel as panel
from .predict.calibrate import calibrate as calibrate
from .predict.predictors import predictors as predictors
from .predict.screen import screen as screen
from .votes.bundled import demo_votes as demo_votes
from .votes.inputs import tally as tally
from .votes.summary import summary as summary
from .votes.table import Votes as Votes
from .votes.tally import Tally as Tally

__all__ = [
    "InputError",
    "SwaplawError",
    "Tally",
    "Votes",
    "calibrate",
    "combine",
    "compare",
    "curve",
    "decide",
    "demo_votes",
    "evidence",
    "front",
    "import_votes",
    "intervals",
    "law",
    "pair",
    "pairs",
    "panel",
    "panels",
    "paper",
    "predict",
    "predictors",
    "read_votes",
    "recommend",
    "screen",
    "summary",
    "tally",
    "votes_from",
]
