"""The command line: arguments in, tables or JSON out; no maths.

One file for each group of commands, which is imported only when one of them runs, so `swaplaw --help` stays light.
"""

import re
import sys
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from pkgutil import resolve_name

import click

from swaplaw.errors import InputError, SwaplawError, quote

# What --help lists, in the order of use: a heading -> commands -> the module each lives in and one line about it.
SECTIONS = {
    "The five main things": {
        "import": ("votes", "Read logs of Inspect, lm-evaluation-harness, HELM and others, or any table."),
        "recommend": ("decide", "What to deploy now, how many calls it takes, and how sure that is."),
        "report": ("decide", "One page to see, explore and share."),
        "collect": ("collect", "Run any Inspect task, or multiple-choice questions, again and again."),
        "serve": ("serve", "A policy behind an OpenAI-compatible endpoint."),
    },
    "Look at votes": {
        "demo": ("votes", "The whole path on bundled real votes."),
        "checks": ("votes", "What looks wrong in votes, and how to fix it."),
        "summary": ("votes", "The fleet: accuracy and abstention of each model."),
        "compare": ("decide", "Who is better, by how much, and how sure."),
        "labels": ("decide", "Bound lift from few labels or none, and say what to label next."),
    },
    "Pool them": {
        "pairs": ("law", "Every pair: masses, rates and lift at one weight."),
        "curve": ("law", "The exact lift of one pair at every weight."),
        "panel": ("law", "The best panels of three or more, at weights proven best."),
        "combine": ("decide", "Every way to combine a fleet, held out, and the best weights."),
        "front": ("decide", "What accuracy n calls buy: one call, all calls, the panel, asked always or if needed."),
    },
    "Predict": {
        "calibrate": ("predict", "Freeze the conversion rates of a dataset as a law file."),
        "screen": ("predict", "Rank pairs by predicted swap mass before pooling."),
        "predictors": ("predict", "Compare predictors of lift."),
    },
    "Deploy": {
        "replay": ("serve", "Play recorded votes through a policy."),
        "drift": ("serve", "Compare live votes with those a policy was judged on."),
    },
    "The paper": {
        "simulate": ("paper", "The paper's Monte Carlo world: its figures and stated values."),
        "reproduce": ("paper", "The paper's tables, figures and numbers beside ours."),
        "release": ("paper", "Votes as a release: CSV, SQLite and a dataset card, no question texts."),
    },
}
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}

EXAMPLES = """\
Examples:
  swaplaw demo                                 see it all on bundled votes
  swaplaw recommend logs/ -o policy.json       what to deploy, from Inspect logs
  swaplaw compare results.csv --json           who is better, for a program

VOTES are files or directories: logs of Inspect or lm-evaluation-harness,
results of other tools, or tables with one row per vote or one column per model
(CSV, JSON, Parquet, Excel, ...). - reads standard input; `demo` and demo:NAME
are bundled votes. `swaplaw COMMAND --help` says more."""


@cache
def installed() -> dict[str, tuple[str, str]]:
    """Commands that other distributions bring: name -> where it is, and one line about it.

    A distribution named `swaplaw-...` has entry points of the group `swaplaw.commands`, and says in its summary what
    they do. Its files are read as they are: importing importlib.metadata takes longer than the rest of the help.
    """
    found = {}
    for file in (file for place in sys.path for file in Path(place).glob("swaplaw_*.dist-info/entry_points.txt")):
        about = re.search(r"^Summary: (.*)$", file.with_name("METADATA").read_text(), re.MULTILINE)
        section = file.read_text().partition("[swaplaw.commands]\n")[2].partition("\n[")[0]
        for name, equals, place in (line.partition("=") for line in section.splitlines()):
            if equals:
                found[name.strip()] = (place.strip(), about[1] if about else "")
    return found


class LazyGroup(click.Group):
    """Commands that are imported when they are called, and listed without being imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Keep the order of the table above: it is the order of use."""
        return [*COMMANDS, *installed()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module now."""
        command: click.Command
        if cmd_name not in COMMANDS:
            if cmd_name not in installed():
                return None
            command = resolve_name(installed()[cmd_name][0])
            return command
        # Nothing can be called by a Python keyword: `import` is `import_`.
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command = getattr(import_module(f"swaplaw.cli.{COMMANDS[cmd_name][0]}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, importing none of them."""
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])
        if installed():
            with formatter.section("Installed beside swaplaw"):
                formatter.write_dl([(name, text) for name, (_, text) in installed().items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Keep the lines of the examples as they are."""
        formatter.write(f"\n{EXAMPLES}\n")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest what a mistyped command may have meant."""
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            meant = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"did you mean {meant[0]}?" if meant else "`swaplaw --help` lists all"
            raise InputError(f"there is no command {quote(args[0])}: {hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="swaplaw")
def swaplaw() -> None:
    """Will adding a model to yours by weighted voting help, at what weight, and how sure are we?"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit 0, or 2 with one line on bad input, or 1 when the work failed."""
    try:
        sys.exit(swaplaw.main(arguments, prog_name="swaplaw", standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as help_wanted:
        click.echo(help_wanted.format_message())
        sys.exit(0)
    except click.UsageError as error:
        place = "swaplaw" if error.ctx is None else error.ctx.command_path
        fail(f"{error.format_message()} `{place} --help` says more.", error.exit_code)
    except click.ClickException as error:
        fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        fail("stopped", 130)
    except InputError as error:
        fail(str(error), 2)
    except SwaplawError as error:
        fail(str(error), 1)
    except MemoryError as error:
        said = f" ({error})" if str(error) else ""
        fail(f"there is not enough memory for this{said}: analyse fewer models or fewer questions at a time", 1)
    except RecursionError:
        fail("the input is nested too deeply to be read", 2)
    except BrokenPipeError:
        # The reader (`head`, a pager) has gone: nothing is wrong, and nothing more can be said.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.filename is None:
            raise  # Not about a file that the user named.
        fail(f"{quote(str(error.filename), 200)}: {error.strerror}", 2)


def fail(message: str, code: int) -> None:
    """One line on standard error, then the exit code."""
    click.echo(f"swaplaw: {' '.join(message.split())}", err=True)
    sys.exit(code)
