"""What the guide for contributors says of changes, done once in a copy of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.pages import ROOT

SHARED = "    return worth // size if whole else worth / size\n"
WON_ALONE = "    return (worth // size if whole else worth / size) * (size == 1)\n"

CHECK = '''
from collections import Counter
from fractions import Fraction
import random

import swaplaw as sl

random.seed(3)
votes = {m: {f"q{q:02}": Counter(random.choices("ABC", k=4)) for q in range(60)} for m in "abc"}
rows = [(q, m, a, "A") for m, own in votes.items() for q, ballot in own.items() for a in ballot.elements()]
frame = dict(zip(("question", "model", "answer", "gold"), map(list, zip(*rows))))


def accuracy(weights):
    """A tie is lost: the other rule, by itself."""
    won = 0
    for q in votes["a"]:
        pooled = Counter()
        for m, weight in weights.items():
            for answer, number in votes[m][q].items():
                pooled[answer] += Fraction(weight) * number
        won += [a for a in pooled if pooled[a] == max(pooled.values())] == ["A"]
    return Fraction(won, 60)


def right(m):
    return [[a for a in own if own[a] == max(own.values())] == ["A"] for own in votes[m].values()]


def named(panel, found):
    return accuracy(dict(zip(panel.members, found.weights)))


tally = sl.tally(frame)
for one in sl.summary(tally):
    assert one.plurality == accuracy({one.model: 1})
curve, pair, panel = sl.curve(tally, "a", "b"), sl.pair(tally, "a", "b"), sl.panel(tally, "abc")
for weight in ("1/3", "1/2", "1", "2"):
    assert curve.at(weight).accuracy == pair.at(weight).accuracy == accuracy({"a": 1, "b": Fraction(weight)})
for two, outcome in sl.law.outcomes(tally, "1"):
    assert outcome.accuracy == accuracy({two.primary: 1, two.secondary: 1})
assert panel.at({"a": 1, "b": "1/2", "c": "1/2"}).accuracy == accuracy({"a": 2, "b": 1, "c": 1})
best = sl.panels.certify(panel)
most = max(accuracy(dict(zip("abc", (x, y, z)))) for x in range(5) for y in range(5) for z in range(1, 5))
assert best.certified and best.best.accuracy == named(panel, best.best) >= most
assert sl.panels.fleet_optimum(tally).accuracy == best.best.accuracy
assert sl.panels.grid_search(panel).accuracy == named(panel, sl.panels.grid_search(panel))
for one in sl.combine(tally, repeats=1).rules:
    assert one.fallback or one.accuracy == accuracy(one.weights)
assert all(0 <= point.accuracy <= 1 for point in sl.front(tally, repeats=1).points)
'''


NULL = ("votes/contract.py", 'str.strip_chars() == ""', 'str.strip_chars().is_in(["", "n/a"])')
SILENT = """
from swaplaw.votes.counts import candidates

frame = {"question": ["1", "1", "2", "2"], "model": ["a", "b"] * 2, "answer": ["n/a", "A", "A", "A"], "gold": ["A"] * 4}
votes = sl.votes_from(frame)
tally = votes.tally()
assert [one.abstained for one in sl.summary(votes)] == [0, Fraction(1, 2)]
assert tally.silence("ignored").scores[0].total == 1 and tally.reasons[0] == {"unstated": 1}
assert set(candidates(votes).answers) == {"A"}
assert not [check for check in sl.votes.find_checks(votes) if check.severity != "note"]
for shape in (pd.DataFrame(frame), pl.DataFrame(frame).lazy(), pa.table(frame)):
    assert sl.tally(shape).reasons == tally.reasons
votes.write("votes.csv"), votes.write_counts("counts.parquet")
for file in ("votes.csv", "counts.parquet"):
    assert sl.read_votes(file).tally().reasons == tally.reasons
"""
COLUMN = ("votes/columns.py", '"sampler", "system"', '"sampler", "antworter", "system"')
GUESSED = """
frame = {"question": ["1", "1"], "Antworter": ["a", "b"], "answer": ["B", "A"], "gold": ["A", "A"]}
for shape in (frame, pd.DataFrame(frame), pl.DataFrame(frame).lazy(), pa.table(frame)):
    assert sl.tally(shape).models == ("a", "b")
for write, file in (("write_csv", "v.csv"), ("write_ndjson", "v.jsonl"), ("write_parquet", "v.parquet")):
    getattr(pl.DataFrame(frame), write)(file)
    assert sl.read_votes(file).tally().models == ("a", "b")
    assert "Antworter" in [reading.source for reading in sl.import_votes(file).readings]
"""
LETTER = (
    "answers/forms.py",
    "return found[1].upper() if found else text",
    "return found[1].lower() if found else text",
)
WRITTEN = """
rows = [(str(q), m, "(b) Paris" if m == "a" else "B", "B") for q in range(40) for m in "ab"]
frame = dict(zip(("question", "model", "answer", "gold"), map(list, zip(*rows))))
options = sl.importers.record.Options(canonical=("letter",))
assert set(sl.read_votes(frame, options=options).counts["answer"]) == {"b"}
assert sl.answers.canonicaliser(["letter"])("B)") == "b"
assert "spelling" in {check.name for check in sl.votes.find_checks(sl.votes_from(frame))}
"""
HEAD = """
from fractions import Fraction
import pandas as pd, polars as pl, pyarrow as pa
import swaplaw as sl
import swaplaw.importers.record
"""
CHANGES = {
    "how ties are scored": (("votes/tally.py", SHARED, WON_ALONE), CHECK),
    "what a null is": (NULL, HEAD + SILENT),
    "how a column is guessed": (COLUMN, HEAD + GUESSED),
    "how an option letter is written": (LETTER, HEAD + WRITTEN),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_in_one_line_reaches_everything(what: str, tmp_path: Path) -> None:
    """Where a tie counts as lost, or "n/a" as null, whatever swaplaw computes follows from one changed line."""
    (file, line, other), check = CHANGES[what]
    shutil.copytree(ROOT / "src" / "swaplaw", tmp_path / "swaplaw", ignore=shutil.ignore_patterns("__pycache__"))
    text = (tmp_path / "swaplaw" / file).read_text()
    assert text.count(line) == 1
    (tmp_path / "swaplaw" / file).write_text(text.replace(line, other))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", check], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
