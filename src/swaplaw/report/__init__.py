"""The report: a verdict people can see, explore and share, as one self-contained page that needs no network.

`contents` gathers the numbers, `explorer` lays out exact curves and votes so that the page never approximates, and
`html` puts them into HTML so that nothing in them can run. `figures` draws the same pictures for papers and slides.
"""

from typing import Any

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _plot_curve(curve: Any) -> Any:
    from swaplaw.report.plots.weights import exact_curve_figure

    return exact_curve_figure(curve)


def _plot_front(found: Any) -> Any:
    from swaplaw.report.plots.decisions import front_figure
    from swaplaw.report.words import point_words

    points = [{"name": point_words(point), **point.to_dict()} for point in found.points]
    return front_figure(points, found.priced, f"{found.dataset}: what calls buy")


def _plot_combination(found: Any) -> Any:
    from swaplaw.report.plots.rules import rules_figure

    return rules_figure(found)


PICTURES = {"Combination": _plot_combination, "Curve": _plot_curve, "Front": _plot_front}
"""How results are drawn, by the name of their class."""
