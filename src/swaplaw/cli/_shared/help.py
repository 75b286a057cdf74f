"""The help of a command: its own options first, those that all commands share after them, and an example to copy."""

from __future__ import annotations

from typing import Any

import click

from swaplaw.cli import options
from swaplaw.cli.options import folded

GROUPS = {
    "How VOTES are read": (
        *("dataset", "scorer", "threshold", "filter", "shares", "columns", "kind", "pattern", "canonical", "groups"),
    ),
    "Workers": ("workers", "cluster"),
    "Output": ("as_json", "format", "help"),
}
"""Options that many commands share, by the names of their parameters."""

EXAMPLES = {
    "compare": "swaplaw compare demo",
    "labels": "swaplaw labels examples/unlabelled.csv --weight 2/3",
    "pairs": "swaplaw pairs demo --weight 2/3",
    "curve": "swaplaw curve demo --primary gpt-4 --secondary mistral-large --at 1/3",
    "panel": "swaplaw panel demo --size 3 --top 5",
    "combine": "swaplaw combine demo",
    "front": "swaplaw front demo",
    "calibrate": "swaplaw calibrate demo -o law.json",
    "screen": "swaplaw screen examples/right-or-wrong.csv --law law.json",
    "predictors": "swaplaw predictors demo --law law.json",
    "recommend": "swaplaw recommend demo -o policy.json",
    "report": "swaplaw report demo -o report.html",
    "replay": "swaplaw replay demo policy.json",
    "serve": "swaplaw serve --demo",
    "drift": "swaplaw drift policy.json votes.parquet",
    "simulate": "swaplaw simulate -o simulation --trials 1000",
    "reproduce": "swaplaw reproduce demo -o reproduction --trials 500 --replicates 200",
    "twin": "swaplaw twin forensic gpqa-diamond -o twins.parquet",
}
"""One command line for each command; the documentation shows them too, where tests run them."""


class Command(options.Command):
    """A command whose options are stated in the old way."""

    def __init__(self, *arguments: Any, own_display: bool = False, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.own_display = own_display

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the command's own options, then the shared ones under their headings."""
        found = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        records = [("help" if "--help" in each.opts else each.name, each.get_help_record(ctx)) for each in found]
        shown = [(name, record) for name, record in records if record is not None]
        takes_votes = any(each.name in ("votes", "live") for each in self.params)
        shared = {
            name: heading
            for heading, names in GROUPS.items()
            for name in names
            # What `--dataset`, `--column` and `--cluster` mean depends on what the command reads.
            if takes_votes or (heading != "How VOTES are read" and name != "cluster")
        }
        for heading in ("Options", *GROUPS):
            rows = [record for name, record in shown if shared.get(str(name), "Options") == heading]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show one example."""
        _write_example(ctx, formatter)
        super().format_epilog(ctx, formatter)


class Group(click.Group):
    """A command with commands of its own, which list their options in groups."""

    command_class = Command

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show one example."""
        _write_example(ctx, formatter)
        super().format_epilog(ctx, formatter)


def _write_example(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    example = EXAMPLES.get(" ".join(ctx.command_path.split()[1:]))
    if example is not None:
        with formatter.section("Example"):
            formatter.write(f"{' ' * formatter.current_indent}{folded(example)}\n")
