"""What the guide for contributors says of changes, done once in a copy of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

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


def test_how_ties_are_scored_is_said_in_one_file(tmp_path: Path) -> None:
    """With a tie that counts as lost, whatever swaplaw computes follows from one changed line."""
    shutil.copytree(ROOT / "src" / "swaplaw", tmp_path / "swaplaw", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "swaplaw" / "votes" / "tally.py"
    text = file.read_text()
    assert text.count(SHARED) == 1
    file.write_text(text.replace(SHARED, WON_ALONE))
    done = subprocess.run(
        [sys.executable, "-c", CHECK], env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
