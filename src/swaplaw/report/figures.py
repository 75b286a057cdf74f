"""The page's pictures as figures (extra `plot`): drawn by `swaplaw.plots`, as those of the paper are."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from swaplaw.law.curve import curve
from swaplaw.votes.tally import Tally

MOST_LIFTS = 40
"""Pairs that the forest shows: those with the largest held-out lift."""


def figures(tally: Tally, document: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Every picture that a report's document has the numbers for, to be drawn when called."""
    found: dict[str, Callable[[], Any]] = {"votes": lambda: _votes(tally)}
    if "why" not in document["pairs"]:
        found |= {
            "lifts": lambda: _lifts(document),
            "dependence": lambda: _dependence(document),
            "curve": lambda: _curve(tally, document),
            "contributions": lambda: _contributions(tally, document),
        }
    if "why" not in document["combining"]:
        found["combining"] = lambda: _combining(document)
    if "why" not in document["screening"]:
        found["screening"] = lambda: _screening(document)
    if "why" not in document["front"]:
        found["front"] = lambda: _front(document)
    return found


def write_figures(tally: Tally, document: dict[str, Any], folder: str | Path) -> list[Path]:
    """Draw every picture of a report as SVG and PNG (needs the extra `plot`).

    Parameters
    ----------
    tally : Tally
        The counted votes that the report is about.
    document : dict
        What `document` gathered about them.
    folder : str or Path
        Where to write the files.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import swaplaw as sl
    >>> few = sl.demo_votes().frame.head(600)
    >>> found = sl.report.document(few, options=sl.report.Options(repeats=1, replicates=100, panel_work=0))
    >>> with TemporaryDirectory() as folder:
    ...     [file.name for file in write_figures(sl.tally(few), found, folder)][:2]
    ['votes.svg', 'votes.png']
    """
    from swaplaw.report.plots import save

    files = []
    for name, draw in figures(tally, document).items():
        figure = draw()
        for suffix in (".svg", ".png"):
            files.append(Path(folder) / f"{name}{suffix}")
            save(figure, files[-1])
    return files


def _label(document: dict[str, Any]) -> str:
    return "SYNTHETIC votes" if document["quality"]["synthetic"] else ""


def _rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The pair table, models by name."""
    part, models = document["pairs"], document["models"]
    rows = [dict(zip(part["columns"], row, strict=True)) for row in part["rows"]]
    return [row | {"primary": models[row["a"]], "secondary": models[row["b"]]} for row in rows]


def _votes(tally: Tally) -> Any:
    from swaplaw.report.plots import vote_map

    return vote_map(tally, f"Who is right where, {tally.dataset}", "Gold's share of each model's votes")


def _lifts(document: dict[str, Any]) -> Any:
    from swaplaw.report.plots import Lift, forest_figure

    judged = sorted((row for row in _rows(document) if row["held"] is not None), key=lambda row: -row["held"])
    lifts = [
        Lift(f"{row['primary']} + {row['secondary']}", *(100 * row[name] for name in ("held", "lo", "hi")))
        for row in judged[:MOST_LIFTS]
    ]
    words = f"{len(lifts)} of {len(document['pairs']['rows'])} pairs; 95% intervals, each pair's own"
    return forest_figure(lifts, f"Held-out lift, {document['dataset']}", [_label(document), words])


def _dependence(document: dict[str, Any]) -> Any:
    from swaplaw.report.plots import heat_map

    order = [document["models"][row["model"]] for row in document["fleet"]]
    values = {(row["primary"], row["secondary"]): row["phi_adj"] for row in _rows(document)}
    title = f"Accuracy-adjusted correlation, {document['dataset']}"
    return heat_map(values, order, "φ adjusted", title, [_label(document), "Models by accuracy"])


def _curve(tally: Tally, document: dict[str, Any]) -> Any:
    from swaplaw.report.plots import exact_curve_figure

    return exact_curve_figure(curve(tally, *document["best"]), [_label(document), "In-sample, at every weight"])


def _contributions(tally: Tally, document: dict[str, Any]) -> Any:
    from swaplaw.report.plots import contributions_figure

    exact = curve(tally, *document["best"])
    weights = dict.fromkeys([exact.best_plateau.weight, Fraction(1, 3), Fraction(2, 3), Fraction(1)])
    outcomes = [(f"weight {weight}", exact.at(weight)) for weight in sorted(weights)]
    title = f"What makes the lift of {exact.primary} with {exact.secondary}"
    return contributions_figure(outcomes, title, [_label(document), "In-sample; the tick marks the sum"])


def _screening(document: dict[str, Any]) -> Any:
    from swaplaw.report.plots import Scatter, scatter_figure

    part, models = document["screening"], document["models"]
    panel = Scatter(
        document["dataset"],
        [100 * dot[0] for dot in part["dots"]],
        [100 * dot[1] for dot in part["dots"]],
        [f"{models[dot[2]]} + {models[dot[3]]}" for dot in part["dots"]],
        f"{part['of']} pairs at weight {part['weight']}",
    )
    title = "Predicted against observed lift"
    return scatter_figure(
        [panel], "predicted swap mass Ŝ (pp)", "observed lift (pp)", title, [_label(document), f"By {part['source']}"]
    )


def _combining(document: dict[str, Any]) -> Any:
    from swaplaw.report.plots.rules import RuleGain, gains_figure

    part, models = document["combining"], document["models"]
    gains = [
        RuleGain(row["rule"], *(100 * value for value in (*row["gain"], row["in_sample"]))) for row in part["rules"]
    ]
    words = [_label(document), f"{part['n']:,} questions; the best single model is {models[part['baseline']]}"]
    title = f"{document['dataset']}: ways to combine {part['models']} models"
    return gains_figure(gains, title, ". ".join(filter(None, words)))


def _front(document: dict[str, Any]) -> Any:
    from swaplaw.report.plots import front_figure

    part = document["front"]
    return front_figure(part["points"], part["priced"], f"{document['dataset']}: what calls buy", _label(document))
