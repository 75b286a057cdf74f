"""Tables for people: what they rest on, how they are rounded, and the forms that they come in."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from swaplaw.cli import COMMANDS, LazyGroup, main
from swaplaw.cli import swaplaw as group
from swaplaw.cli.render import at_joints

from support.commands import Finished, Run

PAIR = ("--primary", "claude-3-opus-20240229", "--secondary", "gemini-1.5-pro-preview-0409")
QUICK = ("--replicates", "100")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A law and a policy."""
    from swaplaw import calibrate, demo_votes, recommend

    made = tmp_path_factory.mktemp("tables")
    tally = demo_votes().tally()
    calibrate(tally, replicates=100).write(made / "law.json")
    recommend(tally, folds=2, repeats=1).policy.write(made / "policy.json")
    return made


FROM_VOTES = {
    "summary": ("summary", "demo"),
    "pairs": ("pairs", "demo"),
    "curve": ("curve", "demo", *PAIR),
    "panel": ("panel", "demo", "--top", "2", "--folds", "0"),
    "one panel": ("panel", "demo", "--members", "gpt-4,mistral-large,gpt-35-turbo", "--folds", "0"),
    "calibrate": ("calibrate", "demo", *QUICK),
    "screen": ("screen", "demo", "--law", "{folder}/law.json"),
    "predictors": ("predictors", "demo", *QUICK),
    "front": ("front", "demo", *PAIR, "--repeats", "1"),
    "recommend": ("recommend", "demo", "--folds", "2", "--repeats", "1"),
    "replay": ("replay", "demo", "{folder}/policy.json"),
}
"""Commands that print tables from votes."""


def run_one(swaplaw: Run, name: str, folder: Path, *more: str) -> Finished:
    finished = swaplaw(*(word.format(folder=folder) for word in FROM_VOTES[name]), *more)
    assert finished.code == 0, finished.err
    return finished


@pytest.mark.filterwarnings("ignore::swaplaw.errors.StatisticalWarning")
@pytest.mark.parametrize("name", FROM_VOTES)
def test_one_line_says_what_tables_rest_on(swaplaw: Run, folder: Path, name: str) -> None:
    """First of all, once: models, questions, votes of each, abstention, tie rule; plain where there is no terminal."""
    shown = run_one(swaplaw, name, folder).out
    first = shown.splitlines()[0]
    assert first.startswith("renze-temperature: ")
    for part in (" model", "100 questions", " per model and question", "% abstained", "ties share credit"):
        assert part in first
    assert shown.count("ties share credit") == 1
    assert "\x1b" not in shown
    assert not set("─━│┃") & set(shown)


@pytest.mark.filterwarnings("ignore::swaplaw.errors.StatisticalWarning")
@pytest.mark.parametrize("name", FROM_VOTES)
def test_every_table_comes_as_csv_and_markdown(swaplaw: Run, folder: Path, name: str) -> None:
    finished = run_one(swaplaw, name, folder, "--format", "csv")
    assert "ties share credit" in finished.err
    for block in finished.out.strip().split("\n\n"):
        rows = list(csv.reader(block.splitlines()))
        assert len({len(row) for row in rows}) == 1, block
        assert "▲" not in block
    text = run_one(swaplaw, name, folder, "--format", "md").out
    assert "| ---: |" in text


def every_command(found: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(found, click.Group):
        for one in found.commands if not isinstance(found, LazyGroup) else COMMANDS:
            below = found.get_command(click.Context(found), one)
            assert below is not None
            yield from every_command(below, f"{name} {one}".strip())
    else:
        yield name, found


def test_every_command_with_tables_takes_both_options() -> None:
    """Whatever prints JSON instead of tables takes --format, too; the report is a page, and serving prints none."""
    without = set()
    for name, found in every_command(group, ""):
        options = {option for parameter in found.params for option in parameter.opts}
        if not {"--format", "--json"} <= options:
            without.add(name)
    assert without == {"report", "serve"}


def test_demo_in_every_form(swaplaw: Run) -> None:
    """The demo, too: CSV holds nothing but tables."""
    finished = swaplaw("demo", "--format", "csv")
    tables = finished.out.strip().split("\n\n")
    assert len(tables) == 3
    assert "Verdict" in finished.err
    assert "**gpqa-diamond: 6 models" in swaplaw("demo", "--format", "md").out


def test_lifts_are_rounded_by_their_intervals(swaplaw: Run) -> None:
    """With 100 questions points have one decimal, an arrow stands only beside what excludes zero, and JSON is whole."""
    pairs = json.loads(swaplaw("pairs", "demo", "--json").out)["pairs"]
    rows = list(csv.DictReader(swaplaw("pairs", "demo", "--format", "csv").out.splitlines()))
    plain = swaplaw("pairs", "demo").out.splitlines()
    by_names = {(pair["primary"], pair["secondary"]): pair for pair in pairs}
    marks = 0
    for row in rows:
        pair = by_names[row["Primary"], row["Secondary"]]
        low, high = pair["lift_interval"]
        places = 0 if high - low >= 0.2 else 1
        assert float(row["Lift pp"]) == pytest.approx(100 * pair["lift"], abs=0.5 * 10**-places + 1e-9)
        assert len(row["Lift pp"].partition(".")[2]) == len(row["±"].partition(".")[2]) == places
        line = next(line for line in plain if line.startswith(row["Primary"]) and f" {row['Secondary']} " in line)
        assert ("▲" in line, "▼" in line) == (low > 0, high < 0)
        marks += "▼" in line
    assert marks > 0


def test_notes_cannot_move_the_cursor(swaplaw: Run, tmp_path: Path) -> None:
    """Names in the lines around a table are shown as text, too."""
    names = ("evil\x1b[2J", "b")
    rows = [f"q{q},{name},{'AB'[(q + s) % 2]},A,{s}" for q in range(8) for name in names for s in range(3)]
    (tmp_path / "v.csv").write_text("\n".join(["question,model,answer,gold,sample", *rows]))
    finished = swaplaw("front", tmp_path / "v.csv", "--primary", names[0], "--secondary", "b", "--all")
    assert finished.code == 0
    assert "\x1b" not in finished.out
    assert "evil\\x1b[2J" in finished.out


@pytest.mark.parametrize(("width", "fits"), [(200, True), (84, False)])
def test_a_narrow_terminal_gets_what_matters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int, fits: bool
) -> None:
    """Names and lifts keep their room; what is left out is named."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    with pytest.raises(SystemExit):
        main(["pairs", "demo"])
    head, _, rest = capsys.readouterr().out.partition("───")
    assert ("gamma" in head) == fits
    assert ("There is no room for" in rest) != fits
    assert "Lift" in head
    assert "claude-3-opus-20240229" in rest


@pytest.mark.parametrize("command", [["pairs", "demo"], ["labels", "demo"], ["compare", "demo"]])
def test_eighty_columns_are_enough(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """No line is longer, and no name is broken inside a word."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    with pytest.raises(SystemExit):
        main(command)
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert max(map(len, out.splitlines())) <= 80
    assert set(re.findall(r"[a-z]*pre[a-z]*", out)) <= {"preview"}
    assert set(re.findall(r"\bclaude[-\w]*", out)) <= {"claude-3-opus-20240229", "claude-3-opus-", "claude-3-"}


def test_names_break_at_their_joints() -> None:
    assert at_joints("gemini-1.5-pro-preview-0409", 20) == "gemini-1.5-pro-\npreview-0409"
    assert at_joints("openai/gpt-4o-mini", 12) == "openai/gpt-\n4o-mini"
    assert at_joints("short", 12) == "short"
    assert at_joints("W" * 30, 12) == "W" * 30  # the table folds it
