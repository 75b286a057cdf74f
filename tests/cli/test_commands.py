"""The commands as people and programs meet them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import click
import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.cli import COMMANDS
from swaplaw.cli import swaplaw as group
from swaplaw.cli.options import Command

from support.commands import Run

VOTES = """dataset,question,model,answer,gold,reason
d,q1,a,A,A,
d,q1,b,B,A,
d,q2,a,B,A,
d,q2,b,A,A,
d,q3,b,,A,refused
e,q1,b,A,A,
e,q1,c,A,A,
"""


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    file = tmp_path / "votes.csv"
    file.write_text(VOTES)
    return file


def test_summary_as_json(swaplaw: Run, votes: Path) -> None:
    models = json.loads(swaplaw("summary", votes, "--json").out)["models"]
    assert [(row["dataset"], row["model"]) for row in models] == [("d", "a"), ("d", "b"), ("e", "b"), ("e", "c")]
    assert models[1] == {
        "dataset": "d",
        "model": "b",
        "questions": 3,
        "missing": 0,
        "votes": 3,
        "single": pytest.approx(1 / 3),
        "plurality": pytest.approx(1 / 3),
        "tied": 0,
        "abstained": pytest.approx(1 / 3),
        "reasons": {"refused": pytest.approx(1 / 3)},
        "interval": [0.0, 1.0],
    }


def test_pairs_as_json(swaplaw: Run, votes: Path) -> None:
    document = json.loads(swaplaw("pairs", votes, "--dataset", "d", "--weight", "1", "--json").out)
    assert document["weight"] == "1"
    (pair,) = document["pairs"]
    assert (pair["primary"], pair["secondary"], pair["n"], pair["of"]) == ("a", "b", 2, 3)
    assert (pair["p"], pair["q"], pair["rescue"], pair["damage"]) == (0.5, 0.5, 0.5, 0.5)
    assert pair["lift"] == pair["swap"] + pair["residual"]
    assert pair["kappa"] is None, "no question is right for both, so its rate is undefined"
    assert set(pair) >= {"collective", "both_right", "both_wrong", "phi", "phi_max", "phi_adj", "ceiling", "beta"}


def test_curve_as_json_tiles_the_half_line(swaplaw: Run, votes: Path) -> None:
    document = json.loads(swaplaw("curve", votes, "--primary", "a", "--secondary", "b", "--at", "1", "--json").out)
    pieces = document["pieces"]
    assert (pieces[0]["lo"], pieces[0]["hi"], pieces[-1]["hi"]) == ("0", "0", "inf")
    assert all(one["hi"] == two["lo"] for one, two in pairwise(pieces))
    for best in ("best_lift", "best_swap", "best_plateau"):
        assert set(document[best]) >= {"weight", "lo", "hi", "lift"}
    kinds = {(change["question"], change["kind"]): change["credit"] for change in document["at"]["changes"]}
    assert kinds == {("q1", "damaged"): -0.5, ("q2", "rescued"): 0.5}


@pytest.mark.parametrize("command", ["summary", "pairs"])
def test_tables_for_people(swaplaw: Run, votes: Path, command: str) -> None:
    finished = swaplaw(command, votes)
    assert finished.code == 0
    assert "d: " in finished.out
    assert "e: " in finished.out
    assert finished.err == ""


def test_missing_votes_are_counted_and_shown(swaplaw: Run, votes: Path) -> None:
    assert "1 model-question pairs have no votes" in swaplaw("summary", votes, "--dataset", "d").out
    assert "2 of 3" in swaplaw("pairs", votes, "--dataset", "d").out


def test_pairs_without_common_questions_are_not_dropped_in_silence(swaplaw: Run, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(STRANGERS + "q1,c,A,A\n")
    assert "2 more pairs of models have no question in common" in swaplaw("pairs", tmp_path / "v.csv").out
    assert json.loads(swaplaw("pairs", tmp_path / "v.csv", "--json").out)["disjoint"] == 2


def test_demo_tells_the_whole_story(swaplaw: Run) -> None:
    out = swaplaw("demo").out
    for part in (
        "6 models, 198 questions",
        "of 15 pairs",
        "Best plateau",
        "Nothing is proven yet",
        "swaplaw labels demo:gpqa-diamond",
    ):
        assert part in out
    document = json.loads(swaplaw("demo", "exams", "--json").out)
    assert len(document["pairs"]) == 36
    assert document["verdict"] == "cannot_tell"
    assert set(document["now"]) >= {"members", "fallback", "calls", "accuracy", "gain", "probability"}


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (["demo:mmlu-pro"], "deploy_panel"),
        (["demo:math500"], "deploy_single"),
        (["demo:gpqa-diamond"], "cannot_tell"),
    ],
)
def test_the_bundled_votes_show_a_verdict_of_each_kind(swaplaw: Run, given: list[str], verdict: str) -> None:
    assert json.loads(swaplaw("recommend", *given, "--json").out)["verdict"] == verdict


def test_an_unknown_name_of_bundled_votes_is_told_the_known_ones(swaplaw: Run) -> None:
    done = swaplaw("summary", "demo:gpqa")
    assert (done.code, "there are exams, gpqa-diamond, math500, mmlu-pro" in done.err) == (2, True)


def test_the_word_demo_stands_for_the_bundled_votes(swaplaw: Run) -> None:
    assert len(json.loads(swaplaw("pairs", "demo", "--json").out)["pairs"]) == 36


def test_the_real_votes_give_the_known_figures(swaplaw: Run) -> None:
    """Computed independently of this package."""
    pairs = json.loads(swaplaw("pairs", "demo", "--weight", "2/3", "--json").out)["pairs"]
    lift, swap = (np.array([pair[name] for pair in pairs]) for name in ("lift", "swap"))
    defined = {name: [pair[name] for pair in pairs if pair[name] is not None] for name in ("alpha", "gamma")}
    assert {name: round(float(np.mean(rates)), 3) for name, rates in defined.items()} == {
        "alpha": 0.335,
        "gamma": 0.138,
    }
    assert int((lift > 0).sum()) == 11
    assert round(float(np.corrcoef(lift, swap)[0, 1] ** 2), 2) == 0.99


def test_help_imports_nothing_heavy() -> None:
    code = "import sys, swaplaw.cli; sys.exit(any(m in sys.modules for m in ('polars', 'narwhals', 'rich', 'pandas')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(swaplaw: Run, name: str) -> None:
    finished = swaplaw(name, "--help")
    assert finished.code == 0
    assert "Usage: swaplaw" in finished.out


def test_own_options_come_before_shared_ones(swaplaw: Run) -> None:
    out = swaplaw("recommend", "--help").out
    places = [out.index(words) for words in ("--min-gain", "How VOTES are read:", "--scorer", "Workers:", "Output:")]
    assert places == sorted(places)
    assert "Example:\n  swaplaw recommend demo -o policy.json\n" in out


def paths() -> Iterator[tuple[str, ...]]:
    """Every command and subcommand."""
    for name in COMMANDS:
        yield (name,)
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from ((name, each) for each in command.commands)


def commands() -> Iterator[click.Command]:
    """All of them."""
    for path in paths():
        found: click.Command = group
        for name in path:
            assert isinstance(found, click.Group)
            step = found.get_command(click.Context(found), name)
            assert step is not None
            found = step
        yield found


@pytest.mark.parametrize("path", list(paths()), ids=" ".join)
def test_help_has_an_example_that_parses_and_fits_a_terminal(
    swaplaw: Run, path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 80 columns: no line is longer, and none in a list of commands is cut. Every option of the example is there."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = swaplaw(*path, "--help").out
    _, *below = shown.splitlines()
    assert [line for line in below if len(line) > 80 or line.endswith("...")] == []
    program, *words = shlex.split(shown.split("Example:\n")[1].replace("\\\n", ""))
    assert (program, words[0]) == ("swaplaw", path[0])
    command: click.Command | None = group
    while isinstance(command, click.Group):
        _, command, words = command.resolve_command(click.Context(command), words)
    assert command is not None
    assert command.make_context(path[-1], words)


def test_examples_of_help_are_in_the_documentation() -> None:
    """The pages' commands are run by tests; so what --help shows works, too."""
    from support.pages import DOCS, ROOT, blocks

    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    shown = {
        line.split(" #")[0].strip()
        for page in pages
        for kind in ("sh", "bash", "shell", "console")
        for block in blocks(page, kind)
        for line in block.splitlines()
    }
    examples = {command.example for command in commands() if isinstance(command, Command)}
    assert [line for line in sorted(examples) if line not in shown and f"$ {line}" not in shown] == []


def test_shell_completion(tmp_path: Path) -> None:
    call = [sys.executable, "-m", "swaplaw"]
    said = subprocess.run(call, env=os.environ | {"_SWAPLAW_COMPLETE": "bash_source"}, capture_output=True, text=True)
    assert "_swaplaw_completion" in said.stdout
    asked = {"_SWAPLAW_COMPLETE": "bash_complete", "COMP_WORDS": "swaplaw reco", "COMP_CWORD": "1"}
    done = subprocess.run(call, env=os.environ | asked, capture_output=True, text=True)
    assert done.stdout == "plain,recommend\n"


def test_mistyped_options_and_models_are_told_what_was_meant(swaplaw: Run) -> None:
    assert "Did you mean '--weight'?" in swaplaw("pairs", "demo", "--wieght", "1").err
    assert "`swaplaw pairs --help`" in swaplaw("pairs").err
    done = swaplaw("curve", "demo", "--primary", "GPT4", "--secondary", "mistral-large")
    assert (done.code, "did you mean 'gpt-4'?" in done.err) == (2, True)


def test_bare_call_and_version(swaplaw: Run) -> None:
    out = swaplaw().out
    assert all(f"\n  {name} " in out for name in COMMANDS)
    assert "demo:NAME" in out
    assert swaplaw("--version").code == 0


def test_a_mistyped_command_is_told_what_it_may_have_meant(swaplaw: Run) -> None:
    done = swaplaw("recomend", "demo")
    assert (done.code, done.err) == (2, "swaplaw: there is no command 'recomend': did you mean recommend?\n")
    assert "--help" in swaplaw("xyzzy").err


ONE_MODEL = "question,model,answer,gold\nq,a,A,A\n"
STRANGERS = "question,model,answer,gold\nq1,a,A,A\nq2,b,A,A\n"
BAD = {
    "only one model": (ONE_MODEL, ["pairs", "{}"], "only one model"),
    "no question in common": (STRANGERS, ["pairs", "{}"], "have a question in common"),
    "no question in common, by name": (STRANGERS, ["curve", "{}", "--primary", "a", "--secondary", "b"], "no question"),
    "unknown dataset": (VOTES, ["summary", "{}", "--dataset", "f"], "no dataset 'f'"),
    "unknown model": (VOTES, ["curve", "{}", "--primary", "z", "--secondary", "b"], "no model 'z'"),
    "same model twice": (VOTES, ["curve", "{}", "--primary", "b", "--secondary", "b", "--dataset", "d"], "both 'b'"),
    "ambiguous dataset": (
        VOTES.replace(",c,", ",a,"),
        ["curve", "{}", "--primary", "a", "--secondary", "b"],
        "--dataset",
    ),
    **{
        f"weight {weight}": (VOTES, ["pairs", "{}", "--weight", weight], "weight")
        for weight in ("-1", "-1/2", "inf", "nan", "1/0", "two", "", "1e999999999")
    },
    "no votes named": (VOTES, ["pairs"], "VOTES"),
    "no such file": (VOTES, ["pairs", "nowhere.parquet"], "no such file"),
    "unknown command": (VOTES, ["pears", "{}"], "pears"),
    "unknown option": (VOTES, ["pairs", "{}", "--wait", "1"], "--wait"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_exit_2_and_one_clear_line(swaplaw: Run, tmp_path: Path, name: str) -> None:
    text, arguments, expected = BAD[name]
    file = tmp_path / "votes.csv"
    file.write_text(text)
    finished = swaplaw(
        *(argument.replace("{}", str(file)) for argument in arguments), *(["--json"] if "{}" in arguments else [])
    )
    assert finished.code == 2
    assert finished.out == ""
    assert expected in finished.err
    # Ids that no model shares are a check, too, which shows some of them first.
    assert finished.err.count("\n") == 1 + finished.err.startswith("error: 'b' shares no question")


def test_names_from_files_cannot_steer_the_terminal(swaplaw: Run, tmp_path: Path) -> None:
    evil = "\x1b[31m[bold]m\u202e"
    frame = pl.DataFrame({"question": ["q", "q"], "model": [evil, "b"], "answer": ["A", "B"], "gold": ["A", "A"]})
    frame.write_parquet(tmp_path / "v.parquet")
    for command in ("summary", "pairs"):
        out = swaplaw(command, tmp_path / "v.parquet").out
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert "[bold]" in out


def test_a_negative_gap_is_pointed_out(swaplaw: Run) -> None:
    finished = swaplaw("curve", "demo", "--primary", "mistral-large", "--secondary", "gpt-4", "--json")
    assert finished.code == 0
    assert "more accurate" in finished.err
    assert json.loads(finished.out)["primary"] == "mistral-large"


def test_published_screening_values() -> None:
    """Table top_pairs: S-hat from p, q and phi_adj at the paper's calibrated rates, within rounding."""
    alpha, gamma = sl.law.as_weight("0.338"), sl.law.as_weight("0.165")
    rows = """47.4 46.7 0.51 1.96|54.9 53.2 0.56 1.55|49.5 47.4 0.50 1.75|49.5 46.7 0.54 1.44
              54.9 47.4 0.48 0.68|69.0 67.9 0.66 1.09|54.9 49.5 0.58 0.73|53.2 47.4 0.49 1.02"""
    for row in rows.replace("\n", "|").split("|"):
        p, q, phi_adj, expected = (sl.law.as_weight(value) for value in row.split())
        p, q = p / 100, q / 100
        masses = sl.law.Masses(p, q, q - q * (1 - p) * (1 - phi_adj))
        assert masses.phi_adj == phi_adj
        # The table's inputs are rounded, and so is what it prints.
        assert abs(round(100 * masses.predicted_swap(alpha, gamma), 2) - expected) <= sl.law.as_weight("0.03")


def test_published_threshold() -> None:
    """Section cyberlift: r = 2.6 pp and a gap of 8.7 pp on 98 questions are 2.5 and 8.5 of them: 1 + gap/r = 4.4."""
    p, r, gap = Fraction(61, 196), Fraction(5, 196), Fraction(17, 196)
    assert (f"{float(100 * p):.1f}", f"{float(100 * r):.1f}", f"{float(100 * gap):.1f}") == ("31.1", "2.6", "8.7")
    masses = sl.law.Masses(p, p - gap, p - gap - r)
    assert (masses.rescue, masses.gap, masses.threshold) == (r, gap, Fraction(22, 5))


@pytest.mark.parametrize("command", [("summary",), ("screen", "demo", "--law"), ("replay", "demo"), ("drift",)])
def test_a_name_that_is_too_long_is_one_line(swaplaw: Run, command: tuple[str, ...]) -> None:
    more = ["demo"] if command == ("drift",) else []
    done = swaplaw(*command, "x" * 5000, *more)
    assert (done.code, done.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("option", ["law", "groups"])
def test_json_that_is_nested_too_deeply_is_one_line(swaplaw: Run, option: str, votes: Path, tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 20_000)
    done = swaplaw("screen", votes, f"--{option}", tmp_path / "deep.json")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "nested too deeply" in done.err


def test_the_best_single_model_has_no_gain_over_itself(swaplaw: Run) -> None:
    shown = swaplaw("combine", "demo:mmlu-pro", "--rules", "best_single,equal", "--format", "csv").out
    rows = [line.split(",") for line in shown.splitlines()]
    place = rows[0].index("Gain")
    gains = {row[0]: row[place] for row in rows[1:] if len(row) == len(rows[0])}
    assert float(gains["best_single"]) == 0
    assert float(gains["equal (no labels)"].split()[0]) > 0


def test_footnotes_suit_what_is_shown(swaplaw: Run, tmp_path: Path) -> None:
    assert "Without labels nobody knows" not in swaplaw("labels", "demo").out
    (tmp_path / "one.csv").write_text("question,model,answer,gold\nq,a,A,A\n")
    assert "1 vote of 1 model on" in swaplaw("import", tmp_path / "one.csv", "--explain").out


def test_options_that_bundled_votes_cannot_obey_are_refused(swaplaw: Run) -> None:
    refused = swaplaw("summary", "demo", "--groups", "groups.json", "--canonical", "text")
    assert refused.code == 2
    assert "'demo' stands for votes that have been read already: leave out '--canonical', '--groups'" in refused.err


PAIR = ("--primary", "gpt-4", "--secondary", "mistral-large")


@pytest.mark.parametrize(
    "command",
    [
        ("pairs", "demo"),
        ("curve", "demo", *PAIR),
        ("compare", "demo"),
        ("combine", "demo", "--rules", "equal", "--repeats", "1"),
    ],
    ids=lambda command: command[0],
)
def test_intervals_from_few_clusters_are_noted(swaplaw: Run, command: tuple[str, ...]) -> None:
    finished = swaplaw(*command)
    assert finished.code == 0
    assert "on changes in too few clusters" in finished.err
    assert "Warning" not in finished.err


def test_the_verdict_notes_an_interval_from_few_clusters(swaplaw: Run) -> None:
    notes = json.loads(swaplaw("recommend", "demo", "--repeats", "1", "--json").out)["notes"]
    assert any(note.startswith("The interval rests on changes in too few clusters") for note in notes)
