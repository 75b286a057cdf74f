"""Figures as Altair charts in one frozen style (extra `plot`): draw, then `save` as SVG, PNG, PDF, HTML or JSON."""

from swaplaw.report.plots.decisions import contributions_figure, front_figure, vote_map
from swaplaw.report.plots.pairs import Lift, Scatter, forest_figure, gap_figure, heat_map, scatter_figure
from swaplaw.report.plots.style import save
from swaplaw.report.plots.weights import Spread, curves_figure, exact_curve_figure, spread_figure

__all__ = [
    "Lift",
    "Scatter",
    "Spread",
    "contributions_figure",
    "curves_figure",
    "exact_curve_figure",
    "forest_figure",
    "front_figure",
    "gap_figure",
    "heat_map",
    "save",
    "scatter_figure",
    "spread_figure",
    "vote_map",
]
