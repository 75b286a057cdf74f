"""Pictures of the page and of results (extra `plot`), drawn by `swaplaw.report.plots` as those of the paper are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.errors import several
from swaplaw.law.curve import Curve, curve
from swaplaw.votes.tally import Tally

if TYPE_CHECKING:
    from swaplaw.decide.combine import Combination
    from swaplaw.decide.compare import Comparisons
    from swaplaw.decide.front import Front, Point
    from swaplaw.decide.recommend import Recommendation
    from swaplaw.evidence.interval import Effect
    from swaplaw.law.pair import Pairs

MOST_LIFTS = 40
"""Pairs that the forest shows: those with the largest held-out lift."""
MOST_BARS = 20
"""Pairs that are shown with what makes their lift."""


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


RULES = ("over the best single model, {}", "dots with 95% intervals: held out; rings: on the questions that chose")


def _combining(document: dict[str, Any]) -> Any:
    from swaplaw.report.plots import Lift, forest_figure

    part, models = document["combining"], document["models"]
    gains = [
        Lift(row["rule"], *(100 * value for value in row["gain"]), in_sample=100 * row["in_sample"])
        for row in part["rules"]
    ]
    title = f"{document['dataset']}: ways to combine {part['models']} models"
    words = [_label(document), RULES[0].format(models[part["baseline"]]), RULES[1]]
    return forest_figure(gains, title, words, axis="gain (pp)")


def _front(document: dict[str, Any]) -> Any:
    from swaplaw.report.plots import front_figure

    part = document["front"]
    return front_figure(part["points"], part["priced"], f"{document['dataset']}: what calls buy", _label(document))


def _draw_curve(found: Curve) -> Any:
    from swaplaw.report.plots import exact_curve_figure

    return exact_curve_figure(found)


def _draw_front(found: Front) -> Any:
    return _points(found.dataset, found.points, found.priced)


def _draw_recommendation(found: Recommendation) -> Any:
    return _points(found.tally.dataset, found.points, found.judge.prices is not None, found.now.point)


def _points(dataset: str, points: Sequence[Point], priced: bool, now: Point | None = None) -> Any:
    from swaplaw.report.plots import front_figure
    from swaplaw.report.words import point_words

    drawn = [
        {"name": point_words(point), **point.to_dict(), "now": now is not None and point.plan == now.plan}
        for point in points
    ]
    return front_figure(drawn, priced, f"{dataset}: what calls buy", "" if now is None else f"Now: {point_words(now)}")


def _points_of(effect: Effect) -> tuple[float, float, float]:
    return 100 * effect.mean, 100 * effect.low, 100 * effect.high


def _draw_combination(found: Combination) -> Any:
    from swaplaw.report.plots import Lift, forest_figure

    gains = [Lift(one.rule.name, *_points_of(one.gain), in_sample=100 * one.in_sample.mean) for one in found.rules]
    title = f"{found.tally.dataset}: ways to combine {len(found.tally.models)} models"
    return forest_figure(gains, title, [RULES[0].format(found.baseline), RULES[1]], axis="gain (pp)")


def _draw_comparisons(found: Comparisons) -> Any:
    from swaplaw.report.plots import Lift, forest_figure

    shown = [
        Lift(f"{one.first} over {one.second}", *_points_of(one.effect), sure=one.significant)
        for one in found.comparisons[:MOST_LIFTS]
    ]
    words = (
        f"{len(shown)} of {several(len(found.comparisons), 'pair')}; 95% intervals; significant: adjusted for all pairs"
    )
    kinds = ("significant", "significant", "not significant")
    return forest_figure(shown, f"{found.dataset}: who beats whom", words, axis="difference (pp)", kinds=kinds)


def _draw_pairs(found: Pairs) -> Any:
    from swaplaw.report.plots import contributions_figure, heat_map
    from swaplaw.votes.summary import summary

    tally = found[0].tally
    if found.weight is None:
        values = {(two.primary, two.secondary): two.masses.phi_adj for two in found}
        known = {names: None if value is None else float(value) for names, value in values.items()}
        return heat_map(known, [row.model for row in summary(tally)], "φ adjusted", f"{tally.dataset}: who errs alike")
    ranked = sorted(zip(found, found.outcomes, strict=True), key=lambda both: -both[1].lift)[:MOST_BARS]
    bars = [(f"{two.primary} + {found.weight} {two.secondary}", outcome) for two, outcome in ranked]
    words = f"{len(bars)} of {several(len(found), 'pair')}; in-sample; the tick marks the sum"
    return contributions_figure(bars, f"{tally.dataset}: what makes the lift of each pair", words)


PICTURES: dict[str, Callable[[Any], Any]] = {
    "Combination": _draw_combination,
    "Comparisons": _draw_comparisons,
    "Curve": _draw_curve,
    "Front": _draw_front,
    "Pairs": _draw_pairs,
    "Recommendation": _draw_recommendation,
}
"""How results are drawn, by the name of their class."""
