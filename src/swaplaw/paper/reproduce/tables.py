"""The paper's seven tables, from vote tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from swaplaw.errors import several
from swaplaw.paper.published import PublishedTable, Value, published, show
from swaplaw.paper.reproduce.study import Dataset, Study
from swaplaw.paper.reproduce.trios import LARGEST_FLEET
from swaplaw.votes.summary import ModelSummary

Row = dict[str, Value]

WEIGHTS = ("0", "1/12", "1/11", "1/6", "2/3", "1", "4")
"""Weights of the paper's Table cyber_weights."""
PREDICTORS = {
    "swap": "Measured swap mass S*",
    "predicted": "Calibrated heuristic Ŝ",
    "rescue": "Rescue mass r",
    "collective": "Collective accuracy m",
    "gap": "Accuracy gap Δ",
    "phi_adj": "Adjusted correlation φ_adj",
    "phi": "Raw correlation φ",
}


@dataclass(frozen=True)
class Table:
    """A table of ours: rows of named cells, numbers in the paper's units, None where a number is undefined."""

    name: str
    title: str
    rows: tuple[Row, ...]
    note: str = ""
    comparable: bool = True
    """Whether it is about what the paper's table is about: the same datasets in the same roles."""

    @property
    def published(self) -> PublishedTable:
        """The paper's table of the same name."""
        return published().tables[self.name]

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return list(dict.fromkeys(column for row in self.rows for column in row))

    def cells(self) -> list[list[str]]:
        """Every cell as text, rounded as the paper rounds (other datasets' columns like the paper's of that kind)."""
        decimals = self.published.decimals
        kinds = {column.rpartition("_")[2]: number for column, number in decimals.items()}
        digits = {column: decimals.get(column, kinds.get(column.rpartition("_")[2], 0)) for column in self.columns}
        return [[show(row.get(column), digits[column]) for column in self.columns] for row in self.rows]


def tables(study: Study) -> dict[str, Callable[[], Table]]:
    """Every table under its label in the paper, to be computed when called."""
    return {
        "datasets": lambda: _datasets(study),
        "model_accuracy": lambda: _model_accuracy(study),
        "predictors": lambda: _predictors(study),
        "cyber_weights": lambda: _weights(study.weighing),
        "abstentions": lambda: _abstentions(study),
        "trios": lambda: _trios(study),
        "top_pairs": lambda: _top_pairs(study),
    }


def percent(value: Fraction | float | None) -> float | None:
    """A fraction of one in the paper's per cent or percentage points."""
    return None if value is None else 100 * float(value)


def _table(
    name: str, rows: Iterable[Row], datasets: Sequence[Dataset], note: str, title: str = "", *, comparable: bool = True
) -> Table:
    synthetic = [dataset.key for dataset in datasets if dataset.synthetic]
    label = f" [SYNTHETIC votes: {', '.join(synthetic)}]" if synthetic else ""
    return Table(name, (title or published().tables[name].title) + label, tuple(rows), note, comparable)


def _datasets(study: Study) -> Table:
    rows: list[Row] = [
        {
            "dataset": dataset.key,
            "questions": len(dataset.tally.questions),
            "answers": _format(dataset),
            "trials": sum(model.votes for model in dataset.models),
        }
        for dataset in study.datasets.values()
    ]
    return _table("datasets", rows, list(study.datasets.values()), "Trials are votes, abstentions included.")


def _format(dataset: Dataset) -> str:
    """How answers look: letters are options, as many as the farthest one says."""
    given = [label for label in set(dataset.tally.rivals.labels) if label is not None]
    if not all(len(label) == 1 and label.isalpha() for label in given):
        return "free text"
    return "MCQ" if not given else f"MCQ, up to {max(ord(label.upper()) - ord('A') + 1 for label in given)} options"


def _by_model(study: Study) -> dict[str, dict[str, ModelSummary]]:
    """Models in order of accuracy on the calibration set, with their summary in each dataset."""
    found: dict[str, dict[str, ModelSummary]] = {model.model: {} for model in study.calibration.models}
    for key, dataset in study.datasets.items():
        for model in dataset.models:
            found.setdefault(model.model, {})[key] = model
    return found


def _model_accuracy(study: Study) -> Table:
    rows = []
    for name, found in _by_model(study).items():
        row: Row = {"model": name}
        for key in study.datasets:
            model = found.get(key)
            row[f"{key}_single"] = percent(model.single if model else None)
            row[f"{key}_plurality"] = percent(model.plurality if model else None)
        rows.append(row)
    return _table(
        "model_accuracy", rows, list(study.datasets.values()), "Plurality of all samples, fractional tie credit."
    )


def _predictors(study: Study) -> Table:
    rows = []
    for name in PREDICTORS:
        row: Row = {"predictor": name}
        for key, table in study.predictors.items():
            found = next(each for each in table.predictors if each.name == name)
            row |= {f"{key}_r2": found.r2.value, f"{key}_rho": found.rho.value}
        rows.append(row)
    counts = ", ".join(
        f"{study.datasets[key].title}: {several(table.pairs, 'pair')}"
        + (f" (phi over {found.n})" if found.n < table.pairs else "")
        for key, table in study.predictors.items()
        for found in table.predictors
        if found.name == "phi"
    )
    note = f"{counts}. Rates of Ŝ calibrated once on {study.calibration.title}; S* needs the pooled votes."
    as_published = study.calibration.key == "supergpqa"
    return _table("predictors", rows, list(study.datasets.values()), note, comparable=as_published)


def _weights(dataset: Dataset) -> Table:
    rows: list[Row] = [
        {
            "weight": weight,
            "accuracy": percent(outcome.accuracy),
            "lift": percent(outcome.lift),
            "swap": percent(outcome.swap),
        }
        for weight in WEIGHTS
        for outcome in [dataset.top.at(weight)]
    ]
    best = dataset.top.best_plateau
    end = "up" if best.high is None else f"to {best.high}"
    note = (
        f"{dataset.title}: {dataset.top.primary} with {dataset.top.secondary}, {dataset.top.n} questions. "
        f"Best plateau over all weights, in-sample: from {best.low} {end}, lift {100 * float(best.lift):+.2f} pp."
    )
    title = f"{dataset.title}: accuracy of the top-accuracy pair as the secondary's weight varies (%, pp)"
    return _table("cyber_weights", rows, [dataset], note, title, comparable=dataset.key == "forensic")


def _abstentions(study: Study) -> Table:
    """As in the paper: choice datasets pooled by reason, free text apart."""
    free = [key for key in study.datasets if key == "forensic"]
    choice = [key for key in study.datasets if key not in free]
    rows = []
    for name, found in _by_model(study).items():
        row: Row = {"model": name}
        asked = [found[key] for key in choice if key in found]
        if choice:
            votes = sum(model.votes for model in asked)
            shares = {
                reason: 100
                * float(sum(model.reasons.get(reason, Fraction(0)) * model.votes for model in asked) / votes)
                if votes
                else None
                for reason in ("truncated", "no_parse")
            }
            nulls = sum((model.abstained * model.votes for model in asked), Fraction(0))
            row |= {"parsed": 100 * (1 - float(nulls / votes)) if votes else None, **shares}
        for key in free:
            row["unanswered"] = percent(found[key].abstained) if key in found else None
        rows.append(row)
    return _table(
        "abstentions",
        rows,
        list(study.datasets.values()),
        "Reasons over the votes of all choice datasets; unanswered over the forensic ones.",
        comparable=set(published().datasets) <= set(study.datasets),
    )


def _trios(study: Study) -> Table:
    rows: list[Row] = []
    for key, dataset in study.datasets.items():
        curve, outcome = dataset.best_pair
        rows.append(
            {
                "dataset": key,
                "size": "pair",
                "ensemble": f"{curve.primary} + {curve.secondary}",
                "weights": str(outcome.weight),
                "lift": percent(outcome.lift),
                "ceiling": percent(curve.masses.rescue),
            }
        )
        if trio := dataset.best_trio:
            rows.append(
                {
                    "dataset": key,
                    "size": "trio",
                    "ensemble": " + ".join(trio.members),
                    "weights": ", ".join(map(str, trio.weights)),
                    "lift": percent(trio.lift),
                    "ceiling": percent(trio.ceiling),
                }
            )
    note = (
        f"In-sample maxima over all pairs ({len(study.calibration.weights)} weights) and all trios (24 x 24 weights) "
        "of the "
        f"{LARGEST_FLEET} most accurate models: expect less on new questions."
    )
    return _table("trios", rows, list(study.datasets.values()), note)


def _top_pairs(study: Study) -> Table:
    dataset, law = study.calibration, study.law
    alpha, gamma = Fraction(law.alpha), Fraction(law.gamma)
    found = sorted(
        zip(dataset.curves, dataset.at_weight, strict=True),
        key=lambda each: (-each[1].lift, each[0].primary, each[0].secondary),
    )
    rows: list[Row] = [
        {
            "rank": rank,
            "primary": curve.primary,
            "secondary": curve.secondary,
            "p": percent(curve.masses.p),
            "q": percent(curve.masses.q),
            "phi_adj": None if curve.masses.phi_adj is None else float(curve.masses.phi_adj),
            "predicted": percent(curve.masses.predicted_swap(alpha, gamma)),
            "swap": percent(outcome.swap),
            "lift": percent(outcome.lift),
        }
        for rank, (curve, outcome) in enumerate(found[:8], start=1)
    ]
    title = f"{dataset.title}: the pairs with the largest observed lift at 40:60 (%, pp)"
    note = f"The first {len(rows)} of {several(len(found), 'pair')}, chosen in-sample."
    return _table("top_pairs", rows, [dataset], note, title, comparable=dataset.key == "supergpqa")
