"""The comparison page: published, ours, difference, within rounding or not; as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from swaplaw.errors import printable
from swaplaw.paper.published import Comparison, published
from swaplaw.paper.reproduce.claims import Claim, conventions
from swaplaw.paper.reproduce.study import Study

COLUMNS = ("Place", "What", "Published", "Ours", "Difference", "Within rounding")
GUESSED = "†"
"""Marks what depends on weights that the paper does not name."""
TWIN = (
    "These votes are SYNTHETIC: twins with the paper's question counts, accuracies and abstention rates, whose ballots "
    "were arranged until the published values of pairs and trios come out. That shows what the paper reports and tests "
    "our arithmetic; it is no evidence for the paper."
)

SYNTHETIC = "These votes are SYNTHETIC."


@dataclass(frozen=True)
class Section:
    """Comparisons that belong together."""

    title: str
    comparisons: Sequence[Comparison]

    @property
    def within(self) -> int:
        """How many agree."""
        return sum(comparison.within for comparison in self.comparisons)


def _cells(comparison: Comparison) -> list[str]:
    said = comparison.published
    bound = {"at_most": "≤ ", "at_least": "≥ ", "below": "< ", "above": "> "}.get(said.kind, "")
    # One digit more than was published shows how near the edge of rounding ours is.
    finer = said.decimals + (0 if said.decimals == 0 and float(comparison.difference or 0).is_integer() else 1)
    difference = comparison.difference
    signed = "—" if difference is None else _signed(difference, finer)
    verdict = "yes" if comparison.within else "no"
    if comparison.tolerance:
        verdict += f" (Monte Carlo ±{comparison.tolerance:.{finer}f})"
    verdict += f" {GUESSED}" if comparison.guessed else ""
    verdict += f": {comparison.reason}" if comparison.reason and not comparison.within else ""
    value = comparison.ours
    ours = (
        f"{value:,.{finer}f}" if isinstance(value, int | float) else "undefined" if value is None else printable(value)
    )
    unit = "" if isinstance(value, str) or value is None else said.unit
    return [
        said.place,
        said.says,
        bound + said.show(said.value),
        ours if not unit else f"{ours}{'' if unit == '%' else ' '}{unit}",
        signed,
        verdict,
    ]


def differences(comparisons: Iterable[Comparison]) -> list[list[str]]:
    """What does not agree, a row each: place, what, published, ours, and why where that is known."""
    found = [each for each in comparisons if not each.within]
    return [[*_cells(each)[:4], each.reason or "no reason is known"] for each in found]


def _signed(value: float, decimals: int) -> str:
    """A difference with its sign, and nought without one."""
    text = f"{value:+,.{decimals}f}"
    return text if text.strip("+-0.,") else text[1:]


def _summary(sections: Sequence[Section], study: Study, problems: Sequence[str], claimed: Sequence[Claim]) -> list[str]:
    total = sum(len(section.comparisons) for section in sections)
    within = sum(section.within for section in sections)
    titles = ", ".join(f"{each.title} ({len(each.tally.questions):,} questions)" for each in study.datasets.values())
    lines = [f"Datasets: {titles}.", f"{within} of {total} published numbers agree up to rounding."]
    if study.synthetic:
        lines.append(TWIN if study.twin else SYNTHETIC)
    lines.append(
        f"Intervals: questions in {study.replicates} parts, each left out in turn, seed {study.seed}. "
        + (
            f"Marked {GUESSED}: depends on weights that the paper does not name (it names 13 of its 25, and not its "
            "grid for trios); the others are ours."
            if study.guessed
            else f"Weights searched: {', '.join(map(str, study.grid or ()))}; trios on 24ths of the primary's vote."
        )
    )
    lines += [f"Convention: {convention}." for convention in conventions(study)]
    lines += [f"In words: {one.says} ({one.place}): {'yes' if one.holds else 'NO'}, {one.ours}." for one in claimed]
    lines += [f"Read: {source}" for source in study.sources]
    return [*lines, *(f"Left out: {problem}" for problem in problems)]


def as_markdown(
    sections: Sequence[Section], study: Study, problems: Sequence[str], claimed: Sequence[Claim] = ()
) -> str:
    """One page of Markdown."""
    lines = ["# Published and reproduced", "", f"*{published().paper}*", ""]
    lines += [f"- {escape_cell(line)}" for line in _summary(sections, study, problems, claimed)]
    for section in sections:
        lines += ["", f"## {section.title}: {section.within} of {len(section.comparisons)} agree", ""]
        lines += [f"| {' | '.join(COLUMNS)} |", "|---|---|--:|--:|--:|---|"]
        lines += [f"| {' | '.join(map(escape_cell, _cells(each)))} |" for each in section.comparisons]
    return "\n".join(lines)


def escape_cell(text: str) -> str:
    """Make text safe inside a Markdown table: names come from other people's files."""
    safe = printable(text)
    for special in ("\\", "|", "<", "`", "[", "*", "_"):
        safe = safe.replace(special, "&lt;" if special == "<" else f"\\{special}")
    return safe


STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#222;max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin-top:2.2rem}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{padding:.3rem .6rem;border-bottom:1px solid #e3e3e3;text-align:left;vertical-align:top}
th:nth-child(n+3):nth-child(-n+5),td:nth-child(n+3):nth-child(-n+5){text-align:right;font-variant-numeric:tabular-nums}
td.no{background:#fdeee3}td.yes{background:#e6f1f8}
.note{background:#fff6dc;border-left:4px solid #e69f00;padding:.6rem 1rem}
figure{margin:1.5rem 0}img{max-width:100%;height:auto}figcaption{color:#666;font-size:.9rem}
"""


def as_html(
    sections: Sequence[Section],
    study: Study,
    problems: Sequence[str],
    drawn: Sequence[str],
    claimed: Sequence[Claim] = (),
) -> str:
    """One page of HTML, with the figures; no scripts, nothing from the network."""
    summary = [printable(line) for line in _summary(sections, study, problems, claimed)]
    body = [f"<h1>Published and reproduced</h1><p><em>{escape(published().paper)}</em></p>"]
    body += [f"<p{' class=note' if line in (TWIN, SYNTHETIC) else ''}>{escape(line)}</p>" for line in summary]
    body += [_section(section) for section in sections]
    label = "Synthetic votes. " if study.synthetic else ""
    body.append("<h2>Figures</h2>" if drawn else "")
    for name in drawn:
        votes = "" if name in ("theory", "decomp") else label
        caption = f"{votes}Figure {name}"
        body.append(
            f'<figure><img src="figures/{escape(name)}.svg" alt="{escape(caption)}"><figcaption>{escape(caption)}'
            "</figcaption></figure>"
        )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Published and reproduced</title><style>{STYLE}</style></head><body>{''.join(body)}</body></html>"
    )


def _section(section: Section) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in COLUMNS)
    rows = []
    for comparison in section.comparisons:
        *cells, verdict = map(escape, _cells(comparison))
        mark = "yes" if comparison.within else "no"
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}<td class={mark}>{verdict}</td></tr>")
    title = f"{escape(section.title)}: {section.within} of {len(section.comparisons)} agree"
    return f"<h2>{title}</h2><table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
