"""With --json, standard output is one document, whatever else is printed on the way."""

from __future__ import annotations

import json

import click
from click.testing import CliRunner

from swaplaw.cli.options import command
from swaplaw.cli.render import emit, wants_json


@command()
def chatty() -> None:
    """Print on the way."""
    print("a library greets")
    click.echo("and so does click")
    emit({"json": wants_json()})


def test_nothing_but_the_document_reaches_standard_output() -> None:
    done = CliRunner().invoke(chatty, ["--json"])
    assert json.loads(done.stdout) == {"json": True}
    assert done.stderr == "a library greets\nand so does click\n"


def test_without_it_everything_is_printed() -> None:
    assert CliRunner().invoke(chatty).stdout.startswith("a library greets\nand so does click\n{")
