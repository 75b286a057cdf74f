"""Manifests and golds: what ships, what is refused and how, and that the agent's side sees no gold."""

import subprocess
import sys
from pathlib import Path

import pytest

from swaplaw.errors import InputError
from swaplaw_forensic.challenges.gold import load_gold
from swaplaw_forensic.challenges.manifest import load, shipped
from swaplaw_forensic.synthetic.case import KINDS

PAPER = {"cfreds-data-leakage": 60, "mvs2025-ios": 19, "rhino-hunt": 8, "mta-lumma": 6, "mta-easy-as-123": 5}

MANIFEST = """
id = "mine"
title = "Mine"
kind = "real"
licence = "mine"
obtain = "Ask me."
prompt = "Look."
[[evidence]]
file = "a.bin"
sha256 = "{hash}"
[[questions]]
id = "q1"
text = "What?"
type = "text"
tier = "normalised"
""".replace("{hash}", "0" * 64)
GOLD = 'challenge = "mine"\n[answers.q1]\naccept = ["this"]\n'


def write(folder: Path, manifest: str = MANIFEST, gold: str | None = GOLD) -> str:
    (folder / "challenge.toml").write_text(manifest)
    if gold is not None:
        (folder / "gold.toml").write_text(gold)
    return str(folder)


def test_the_five_challenges_of_the_paper_hold_its_98_questions() -> None:
    assert {name: len(load(name).questions) for name in PAPER} == PAPER
    assert sum(PAPER.values()) == 98
    assert set(shipped()) == set(PAPER) | set(KINDS)


def test_question_ids_are_unique_across_challenges() -> None:
    ids = [question for name in shipped() for question in load(name).question_ids]
    assert len(ids) == len(set(ids))


def test_every_question_has_a_gold_or_says_why_not() -> None:
    golds = {name: load_gold(load(name)) for name in shipped()}
    without = {gold.question for table in golds.values() for gold in table.values() if gold.ungradeable}
    assert without == {"dlc-15", "dlc-44", "dlc-46", "dlc-58", "dlc-60", "ios-18"}


def test_manifests_say_what_is_not_known_and_never_print_an_answer() -> None:
    for name in PAPER:
        challenge = load(name)
        assert challenge.unknown
        seen = challenge.prompt + "".join(question.text for question in challenge.questions)
        for gold in load_gold(challenge).values():
            told = [answer for answer in gold.accept if len(answer) > 3 and answer in seen]
            # NIST's own question 50 speaks of Outlook.
            assert not told or gold.question == "dlc-18", (gold.question, told)


def test_seeds() -> None:
    assert load("synthetic-disk@7").ref == "synthetic-disk@7"
    assert load("synthetic-disk").ref != load("synthetic-disk").ref
    assert load("synthetic-disk@7").vote_id("disk-01") == "disk-01@7"
    for ref in (
        "synthetic-disk@",
        "synthetic-disk@x",
        "synthetic-disk@-1",
        "synthetic-disk@" + "9" * 30,
        "rhino-hunt@3",
    ):
        with pytest.raises(InputError, match="seed"):
            load(ref)


def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    challenge = load(write(tmp_path))
    assert challenge.id == "mine"
    assert load_gold(challenge)["q1"].accept == ("this",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "Mine"', "", "title: Field required"),
        ('kind = "real"', 'kind = "odd"', "'real' or 'synthetic', not 'odd'"),
        ('tier = "normalised"', 'tier = "fuzzy"', "questions 1 tier: .* not 'fuzzy'"),
        ('type = "text"', 'type = "essay"', "questions 1 type: .* not 'essay'"),
        ('licence = "mine"', 'licence = "mine"\nlicense = "x"', "license: Unexpected"),
        ('file = "a.bin"', 'file = "../a.bin"', "plain relative path"),
        ('file = "a.bin"', 'file = "/etc/passwd"', "plain relative path"),
        ("0" * 64, "0" * 63, "evidence 1 sha256: .*64"),
        ('id = "q1"', 'id = "Q 1"', "questions 1 id: .* not 'Q 1'"),
        ('id = "mine"', 'id = "../mine"', "id: .* not '../mine'"),
        ('title = "Mine"', "title = 3", "title: .*valid string, not 3"),
        ('title = "Mine"', 'title = "Mine', "not valid TOML"),
        ("[[questions]]", "[questions]", "questions: .*valid tuple"),
    ],
)
def test_a_broken_manifest_is_one_clear_message(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in MANIFEST
    folder = write(tmp_path, MANIFEST.replace(old, new))
    with pytest.raises(InputError, match=message) as caught:
        load(folder)
    assert str(tmp_path) in str(caught.value)


def test_duplicate_questions_are_refused(tmp_path: Path) -> None:
    twice = MANIFEST + MANIFEST[MANIFEST.index("[[questions]]") :]
    with pytest.raises(InputError, match="'q1' is given twice"):
        load(write(tmp_path, twice))


def test_an_unknown_challenge_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="rhino-hunt"):
        load("no-such")


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        (None, "has no gold file"),
        ('challenge = "mine"\n[answers]\n', "lacks a gold answer for 'q1'"),
        ('challenge = "other"\n[answers.q1]\naccept = ["x"]\n', "is for challenge 'other'"),
        (GOLD + '[answers.q2]\naccept = ["x"]\n', "questions that the manifest does not ask"),
        ('challenge = "mine"\n[answers.q1]\nnote = "x"\n', "needs 'accept'"),
        ('challenge = "mine"\n[answers.q1]\naccept = ["x"]\nzones = ["Mars"]\n', "not a zone"),
        ('challenge = "mine"\n[answers.q1]\naccept = ["x"]\nthreshold = 2\n', "threshold"),
        ('challenge = "mine"\n[answers.q1]\naccept = ["x"]\nmeasure = "f2"\n', "'f1' or 'recall', not 'f2'"),
    ],
)
def test_a_broken_gold_is_one_clear_message(tmp_path: Path, gold: str | None, message: str) -> None:
    challenge = load(write(tmp_path, gold=gold))
    with pytest.raises(InputError, match=message):
        load_gold(challenge)


def test_the_agents_side_never_opens_a_gold() -> None:
    """Create the task in a fresh process that reports every file it opens and every module it imports."""
    code = """
import sys, tempfile
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from swaplaw_forensic.task import forensic
with tempfile.TemporaryDirectory() as evidence:
    forensic("synthetic-disk@3,synthetic-capture@3", evidence=evidence)
assert any(name.endswith("challenge.toml") for name in opened)
assert not [name for name in opened if name.endswith("gold.toml") or name.endswith("challenges/gold.py")]
assert "swaplaw_forensic.challenges.gold" not in sys.modules and "swaplaw_forensic.grading.grade" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
