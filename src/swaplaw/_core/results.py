"""What every result can do: plain data, a table, and a look in notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from swaplaw._core.hooks import above
from swaplaw.errors import InputError

if TYPE_CHECKING:
    import polars as pl

SHOWN = 30
"""Rows that a notebook shows; `to_frame` has all of them."""


class Result:
    """A result that turns into plain data, a dataframe, or a table in a notebook."""

    def to_dict(self) -> dict[str, Any]:
        """Turn it into plain data, ready for JSON: fractions of one, weights as text, None where undefined."""
        raise NotImplementedError

    def rows(self) -> list[dict[str, Any]]:
        """List what the table of it shows; by default one row, without what is nested."""
        return [{name: value for name, value in self.to_dict().items() if not isinstance(value, dict | list)}]

    def to_frame(self) -> pl.DataFrame:
        """Lay it out as a Polars dataframe."""
        import polars as pl

        return pl.DataFrame(self.rows(), infer_schema_length=None)

    def plot(self) -> Any:
        """Draw it as an Altair chart (needs the extra `plot`)."""
        draw = above("swaplaw.report:PICTURES").get(type(self).__name__)
        if draw is None:
            name = type(self).__name__
            raise InputError(
                f"there is no picture of {'an' if name[0] in 'AEIOU' else 'a'} {name}; `to_frame` has its numbers"
            )
        return draw(self)

    def _repr_html_(self) -> str:
        """Show it in a notebook; names come from votes, so they are escaped."""
        rows = self.rows()
        names = list(rows[0]) if rows else []
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            f"<tr>{''.join(f'<td>{_cell(row.get(name))}</td>' for name in names)}</tr>" for row in rows[:SHOWN]
        )
        more = f"<p>… and {len(rows) - SHOWN} more rows</p>" if len(rows) > SHOWN else ""
        return f"<p>{escape(repr(self))}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else escape(str(value))
