"""Figures as Altair charts in one frozen style (extra `plot`): draw, then `save` as SVG, PNG, PDF, HTML or JSON."""

from swaplaw.plots.decisions import contributions_figure, cost_figure, vote_map
from swaplaw.plots.pairs import Lift, Scatter, forest_figure, gap_figure, heat_map, scatter_figure
from swaplaw.plots.simulation import decomposition_figure, theory_figure
from swaplaw.plots.style import save
from swaplaw.plots.weights import Spread, curves_figure, exact_curve_figure, spread_figure

__all__ = [
    "Lift",
    "Scatter",
    "Spread",
    "contributions_figure",
    "cost_figure",
    "curves_figure",
    "decomposition_figure",
    "exact_curve_figure",
    "forest_figure",
    "gap_figure",
    "heat_map",
    "save",
    "scatter_figure",
    "spread_figure",
    "theory_figure",
    "vote_map",
]
