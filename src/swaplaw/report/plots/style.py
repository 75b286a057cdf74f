"""One frozen look for every figure: colour-blind-safe, the same in SVG, PNG and the report.

Figures are Altair charts, so whoever gets one can restyle, combine or embed it. The colours are those of Okabe and Ito,
which stay apart under the common kinds of colour blindness; series differ in dash or shape as well where they cross.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw._files import write_bytes, write_text
from swaplaw.errors import InputError, MissingExtraError, printable, quote

if TYPE_CHECKING:
    import altair as alt

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Blue, vermilion, green, purple, orange, sky and black of Okabe and Ito, darkest contrasts first."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [4, 4], [1, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
INK, MUTED, GRID = "#222222", "#666666", "#E6E6E6"
PERCENT_POINTS = "+.1f"
PNG_SCALE = 2.0
LINE_SYMBOL = 500
"""Size of a line in a legend: long enough to show its dashes."""

Rows = Sequence[Mapping[str, Any]]


def altair() -> Any:
    """Import Altair, or say what to install."""
    try:
        import altair
        import vl_convert  # noqa: F401  Altair draws SVG and PNG with it.
    except ImportError:
        raise MissingExtraError("plot", "drawing figures") from None
    return altair


def base(rows: Rows) -> alt.Chart:
    """Start a chart on plain rows."""
    alt = altair()
    return alt.Chart(alt.Data(values=[dict(row) for row in rows]))  # type: ignore[no-any-return]


def colour(field: str, order: Sequence[str], title: str | None = None, **legend: Any) -> alt.Color:
    """Colour series in the fixed order."""
    alt = altair()
    scale = alt.Scale(domain=list(order), range=list(COLOURS[: len(order)]))
    return alt.Color(f"{field}:N", title=title, scale=scale, sort=list(order), legend=alt.Legend(**legend))  # type: ignore[no-any-return]


def dash(field: str, order: Sequence[str], title: str | None = None) -> alt.StrokeDash:
    """Dash series in the fixed order, so that colour is never the only difference."""
    alt = altair()
    scale = alt.Scale(domain=list(order), range=[list(each) for each in DASHES[: len(order)]])
    return alt.StrokeDash(f"{field}:N", title=title, scale=scale, sort=list(order))  # type: ignore[no-any-return]


def shape(field: str, order: Sequence[str], title: str | None = None) -> alt.Shape:
    """Shape series in the fixed order."""
    alt = altair()
    scale = alt.Scale(domain=list(order), range=list(SHAPES[: len(order)]))
    return alt.Shape(f"{field}:N", title=title, scale=scale, sort=list(order))  # type: ignore[no-any-return]


def bands(rows: Rows, field: str, order: Sequence[str], **channels: Any) -> list[alt.Chart]:
    """Shade each series in its own colour; plain colours, so that the legend is the lines' alone."""
    shaded = []
    for name, hue in zip(order, COLOURS, strict=False):
        own = [row for row in rows if row[field] == name]
        shaded += [base(own).mark_area(color=hue, opacity=0.16).encode(**channels)] if own else []
    return shaded


def signed(**more: Any) -> alt.Axis:
    """Label differences with their sign, and nought without one."""
    alt = altair()
    return alt.Axis(labelExpr="datum.value == 0 ? '0' : format(datum.value, '+~g')", tickCount=8, **more)  # type: ignore[no-any-return]


def zero_line(axis: str = "y") -> alt.Chart:
    """Draw the line of no lift."""
    alt = altair()
    channel = {axis: getattr(alt, axis.upper())(datum=0)}
    return base([{}]).mark_rule(color=MUTED, strokeWidth=1).encode(**channel)  # type: ignore[no-any-return]


def finish(chart: Any, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """Give a chart its title, its caveats and the frozen look."""
    alt = altair()
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    heading = alt.TitleParams(text=title, subtitle=[line for line in lines if line], anchor="start")
    return (
        chart.properties(title=heading)
        .configure(background="white", font="sans-serif", padding=12)
        .configure_title(fontSize=15, subtitleFontSize=12, subtitleColor=MUTED, color=INK, offset=12)
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            labelFontSize=11,
            titleFontSize=12,
            titleFontWeight="normal",
            gridColor=GRID,
            domainColor=MUTED,
            tickColor=MUTED,
        )
        .configure_legend(labelFontSize=11, titleFontSize=11, titleFontWeight="normal", symbolStrokeWidth=2)
        .configure_header(labelFontSize=12, titleFontSize=12, labelColor=INK)
        .configure_view(stroke=None)
    )


def save(chart: Any, path: str | Path) -> None:
    """Write a figure as SVG, PNG, PDF, HTML or Vega-Lite JSON, as the file's suffix says."""
    file = Path(path)
    accepted = (".svg", ".png", ".pdf", ".html", ".json")
    if file.suffix not in accepted:
        raise InputError(f"{quote(str(path), 200)}: cannot draw {quote(file.suffix)}; use {', '.join(accepted)}")
    file.parent.mkdir(parents=True, exist_ok=True)
    # Names come from other people's files, and a control character is enough to bring the renderer down.
    cleaned = _printable(chart.to_dict())
    if file.suffix in (".html", ".json"):
        text = io.StringIO()
        type(chart).from_dict(cleaned, validate=False).save(text, format=file.suffix[1:])
        write_text(file, text.getvalue())
    else:
        drawn = _drawn(cleaned, file.suffix)
        write_bytes(file, _renumbered(drawn.decode()).encode() if file.suffix == ".svg" else drawn)


def _drawn(spec: dict[str, Any], suffix: str) -> bytes:
    """Render a specification as it is: made a chart again first, it takes three times as long."""
    import vl_convert

    version = ".".join(altair().SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    if suffix == ".svg":
        return vl_convert.vegalite_to_svg(spec, vl_version=version).encode()
    if suffix == ".pdf":
        return vl_convert.vegalite_to_pdf(spec, vl_version=version)
    return vl_convert.vegalite_to_png(spec, vl_version=version, scale=PNG_SCALE)


def _renumbered(text: str) -> str:
    """Number clips and gradients from 0: the renderer counts on from figure to figure, so bytes would differ."""
    names = dict.fromkeys(re.findall(r'id="((?:clip|gradient_)\d+)"', text))
    for number, name in enumerate(names):
        text = re.sub(rf'(["#]){name}(?=[")])', rf"\g<1>part-{number}", text)
    return text


def _printable(spec: Any) -> Any:
    """Escape what is not printable in every text of a chart's specification."""
    if isinstance(spec, str):
        return printable(spec)
    if isinstance(spec, dict):
        return {key: _printable(value) for key, value in spec.items()}
    return [_printable(value) for value in spec] if isinstance(spec, list) else spec
