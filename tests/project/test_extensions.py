"""What people add from outside the package stands beside what is built in: one of each kind of extension."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import swaplaw as sl
from swaplaw._arrays import Floats
from swaplaw.answers import forms
from swaplaw.decide import rules
from swaplaw.decide.crossfit import Choice, alone
from swaplaw.errors import InputError
from swaplaw.evidence.quantities import Quantities
from swaplaw.importers import registry
from swaplaw.importers.record import Findings, Options, Spool, schema
from swaplaw.predict import predictors
from swaplaw.votes.files import Source
from swaplaw.votes.tally import Tally

from support.commands import Run


def read_shorthand(files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Read lines such as `q1 gold=A: first B A, second A A`."""
    spool = Spool(files[0].name, schema())
    for line in (line for file in files for line in file.read_text().splitlines()):
        question, gold, ballots = line.replace("gold=", "").replace(":", "").split(" ", 2)
        for model, *answers in (ballot.split() for ballot in ballots.split(", ")):
            for sample, answer in enumerate(answers):
                vote = {"question": question, "model": model, "sample": sample, "answer": answer, "gold": gold}
                spool.add({**vote, "dataset": "shorthand", "correct": answer == gold, "run": files[0].name})
    return spool.source()


@pytest.fixture
def shorthand(tmp_path: Path) -> Iterator[Path]:
    """A file of a format that the package does not know, and a format registered for it."""
    mine = registry.register(registry.Format("shorthand", lambda file: file.suffix == ".short", read_shorthand))
    file = tmp_path / "votes.short"
    file.write_text("q1 gold=A: first B A A, second A A A\nq2 gold=C: first C C D, second D D C\n")
    yield file
    registry.ADDED.remove(mine)


def test_an_importer(shorthand: Path, swaplaw: Run) -> None:
    """Its files are recognised by the library and by every command."""
    assert sl.read_votes(shorthand).tally().models == ("first", "second")
    shown = swaplaw("summary", shorthand)
    assert shown.code == 0, shown.err
    assert "2 models, 2 questions" in shown.out


def by_name(tally: Tally) -> Choice:
    """Choose the first model in the alphabet."""
    return alone(min(range(len(tally.models)), key=lambda place: tally.models[place]))


def test_a_combining_rule() -> None:
    """It is listed with the others, and chooses from votes."""
    rules.rule("by_name", "the first model in the alphabet", needs_labels=False)(by_name)
    try:
        assert {"best_single", "by_name"} <= set(rules.RULES)
        assert rules.RULES["by_name"].on_all(sl.demo_votes().tally()) == alone(0, "ignored")
    finally:
        rules.RULES.unregister("by_name")


def test_a_canonical_form(tmp_path: Path, swaplaw: Run) -> None:
    """It can be named wherever forms are, alone and in a chain."""
    forms.register("first_word", lambda text: text.split(" ")[0])
    try:
        assert forms.canonicaliser(["case", "first_word"])("Paris , France") == "paris"
        file = tmp_path / "votes.csv"
        file.write_text("question,model,answer,gold\nq,m,Paris it is,Paris\nq,n,Rome,Paris\n")
        options = ("--canonical", "first_word", "-o", tmp_path / "votes.parquet")
        assert swaplaw("import", file, *options).code == 0
        tally = sl.read_votes(tmp_path / "votes.parquet").tally()
        assert [int(gold) for (gold,) in tally.gold] == [1, 0]
    finally:
        forms.CANONICALISERS.unregister("first_word")


def either_right(pairs: Quantities) -> Floats:
    found: Floats = pairs.rescue + pairs.p
    return found


def test_a_predictor(swaplaw: Run) -> None:
    """It stands in the table of the library and in that of the command, with the paper's."""
    sl.predict.register("either_right", either_right, "one of the two is right")
    try:
        found = sl.predictors(sl.demo_votes(), replicates=20)
        rows = {row.name: row for row in found.predictors}
        assert rows["either_right"].n == rows["rescue"].n == 36
        assert rows["either_right"].rho.value is not None
        shown = swaplaw("predictors", "demo", "--replicates", "20")
        assert shown.code == 0, shown.err
        assert "one of the two is right" in " ".join(shown.out.split())
    finally:
        predictors.MEASURES.unregister("either_right")


def test_names_are_taken_once() -> None:
    """A name that is taken is refused, and the error names it."""
    with pytest.raises(InputError, match="a canonicaliser 'case' already"):
        forms.register("case", str.upper)
    with pytest.raises(InputError, match="a predictor 'rescue' already"):
        predictors.register("rescue", either_right)
    with pytest.raises(InputError, match="a rule 'best_single' already"):
        rules.rule("best_single", "again")(by_name)
    with pytest.raises(InputError, match="a format 'helm' already"):
        registry.register(registry.formats()["helm"])
