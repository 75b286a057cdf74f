"""The folder of a reproduction: tables, figures, and the comparison of every published number with ours."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from swaplaw._files import write_text
from swaplaw.errors import InputError, listing, quote
from swaplaw.paper.published import Comparison, Value, published
from swaplaw.paper.reproduce.claims import Claim, claims, equal_pairs
from swaplaw.paper.reproduce.comparison import Section, as_html, as_markdown, escape_cell
from swaplaw.paper.reproduce.figures import figures, further
from swaplaw.paper.reproduce.prose import PREFIX as _PREFIX
from swaplaw.paper.reproduce.prose import compare_prose
from swaplaw.paper.reproduce.reasons import explained
from swaplaw.paper.reproduce.simulation import stated_values
from swaplaw.paper.reproduce.study import Study
from swaplaw.paper.reproduce.tables import Table, tables
from swaplaw.paper.simulation import Theory
from swaplaw.report.plots import save

UNDEFINED = "undefined"
Step = tuple[str, Callable[[], None]]


@dataclass
class Reproduction:
    """What was written, and how it compares."""

    folder: Path
    files: list[Path] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    datasets: tuple[str, ...] = ()
    models: frozenset[str] = frozenset()
    claims: list[Claim] = field(default_factory=list)
    """What the paper states in words alone."""
    equal_pairs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def comparisons(self) -> list[Comparison]:
        """Every published number that has one of ours beside it."""
        return [comparison for section in self.sections for comparison in section.comparisons]

    @property
    def within(self) -> int:
        """How many agree up to rounding (and Monte Carlo error, where we simulate)."""
        return sum(comparison.within for comparison in self.comparisons)

    @property
    def failed(self) -> list[Comparison]:
        """What real votes should have given and did not; a second reading of the same words may stand in."""
        read = {each.published.reading_of for each in self.comparisons if each.within}
        return [
            each for each in self.comparisons if each.should_agree and not each.within and each.published.id not in read
        ]

    @property
    def not_compared(self) -> list[dict[str, str]]:
        """Every published value that has none of ours beside it, and why."""
        compared = {each.published.id for each in self.comparisons}
        rows = [(name, key) for name, table in published().tables.items() for key in table.ids()]
        rows += [("prose", key) for key in published().prose] + [("simulation", key) for key in published().simulation]
        return [
            {"table": name, "row": key.removeprefix(f"{name}."), "why": self._why(key)}
            for name, key in rows
            if key not in compared
        ]

    def _why(self, key: str) -> str:
        """Why a value has none of ours: what it is about is not there, or could not be computed."""
        lacking = [name for name in published().datasets if name not in self.datasets]
        about = [name for name in lacking if name in key or (_PREFIX[name] and key.startswith(_PREFIX[name]))]
        if about or (lacking and "." not in key):
            return f"there are no votes of {listing(about or lacking)}"
        strangers = [model for model in published().codes if model in key and model not in self.models]
        if strangers:
            return f"there are no votes of {quote(strangers[0])}"
        return "the votes do not give it; see what is left out"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "folder": str(self.folder),
            "within": self.within,
            "of": len(self.comparisons),
            "problems": self.problems,
            "not_compared": self.not_compared,
            "claims": [claim.to_dict() for claim in self.claims],
            "equal_pairs": self.equal_pairs,
            "files": [str(file.relative_to(self.folder)) for file in self.files],
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
        }


def write_reproduction(
    study: Study,
    theory: Theory,
    folder: str | Path,
    *,
    progress: Callable[[Sequence[Step]], Iterable[Step]] = iter,
) -> Reproduction:
    """Write everything that the study's datasets allow; what they do not allow becomes a problem, not a failure."""
    models = frozenset(name for dataset in study.datasets.values() for name in dataset.tally.models)
    done = Reproduction(Path(folder), problems=list(study.problems), datasets=tuple(study.datasets), models=models)
    try:
        for part in ("tables", "figures"):
            (done.folder / part).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{str(folder)!r}: cannot write there ({error.strerror}); name another folder") from None
    steps: list[Step] = [
        ("simulation", lambda: done.sections.append(Section("Simulation", stated_values(theory)))),
        *((f"table {name}", _table_step(done, study, make)) for name, make in tables(study).items()),
        ("prose", lambda: _compare_prose(done, study)),
        ("claims", lambda: done.claims.extend(claims(study, theory))),
        ("equal pairs", lambda: done.equal_pairs.extend(equal_pairs(study))),
        ("law", lambda: _write_law(done, study)),
        *(
            (f"figure {name}", _figure_step(done, name, make))
            for name, make in (figures(study, theory) | further(study)).items()
        ),
    ]
    for name, step in progress(steps):
        try:
            step()
        except InputError as error:
            done.problems.append(f"{name} is left out: {error}")
    _write_comparison(done, study)
    return done


def _compare_prose(done: Reproduction, study: Study) -> None:
    if compared := explained(compare_prose(study), study.twin):
        done.sections.append(Section("Numbers in the prose", compared))


def _table_step(done: Reproduction, study: Study, make: Callable[[], Table]) -> Callable[[], None]:
    def step() -> None:
        table = make()
        _write_table(done, table)
        guessed = table.published.grid and study.guessed
        compared = table.published.compare(table.rows) if table.comparable else []
        compared = explained((replace(each, guessed=guessed) for each in compared), study.twin)
        if compared:
            done.sections.append(Section(f"Table {table.name}", compared))

    return step


def _figure_step(done: Reproduction, name: str, make: Callable[[], Any]) -> Callable[[], None]:
    def step() -> None:
        chart = make()
        for suffix in (".svg", ".png"):
            file = done.folder / "figures" / f"{name}{suffix}"
            save(chart, file)
            done.files.append(file)

    return step


def _write_table(done: Reproduction, table: Table) -> None:
    file = done.folder / "tables" / f"{table.name}.csv"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([[_plain(row.get(column)) for column in table.columns] for row in table.rows])
    write_text(file, out.getvalue())
    page = [
        f"# {escape_cell(table.title)}",
        "",
        f"| {' | '.join(map(escape_cell, table.columns))} |",
        f"|{'---|' * len(table.columns)}",
        *(f"| {' | '.join(map(escape_cell, row))} |" for row in table.cells()),
        "",
        escape_cell(table.note),
        "",
        f"Paper: {table.published.place}.",
    ]
    done.files += [file, _write(file.with_suffix(".md"), "\n".join(page))]


def _plain(value: Value) -> str:
    return UNDEFINED if value is None else value if isinstance(value, str) else f"{value:.10g}"


def _write_law(done: Reproduction, study: Study) -> None:
    file = done.folder / "law.json"
    study.law.write(file)
    done.files.append(file)


def _write_comparison(done: Reproduction, study: Study) -> None:
    drawn = [file.stem for file in done.files if file.suffix == ".svg"]
    done.files += [
        _write(done.folder / "comparison.md", as_markdown(done.sections, study, done.problems, done.claims)),
        _write(done.folder / "comparison.html", as_html(done.sections, study, done.problems, drawn, done.claims)),
    ]
    done.files.append(_write(done.folder / "comparison.json", json.dumps(done.to_dict(), indent=1, allow_nan=False)))


def _write(file: Path, text: str) -> Path:
    write_text(file, text.rstrip("\n") + "\n")
    return file
