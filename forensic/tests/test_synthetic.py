"""Seeded evidence: the same bytes for a seed, other bytes for another, and well-formed for the tools that read it."""

import hashlib
import re
import shutil
import subprocess
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import pytest

from swaplaw_forensic.challenges.gold import load_gold
from swaplaw_forensic.challenges.manifest import load
from swaplaw_forensic.grading.grade import grade
from swaplaw_forensic.synthetic.case import KINDS, Case, build_case
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.formats.evtx import Event, log
from swaplaw_forensic.synthetic.key import VARIABLE

from testbed.solvers import PATH, SOLVERS

SEEDS = (1, 2, 3)
TOOLS = ("fls", "icat", "tshark", "evtxexport", "dumpe2fs")


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [name for name in programs if not shutil.which(name, path=PATH)]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def bytes_of(case: Case) -> str:
    return hashlib.sha256(b"".join(name.encode() + data for name, data in case.files.items())).hexdigest()


@needs("mkfs.ext4", "debugfs")
@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize("name", KINDS)
def test_the_same_key_and_seed_give_the_same_bytes_and_questions(name: str, level: int) -> None:
    module = import_module(f"swaplaw_forensic.synthetic.{name.partition('-')[2]}")
    first, second = (module.build(Dice(name, 5, b"pinned"), level) for _ in range(2))
    assert (first.names, first.prompt, first.asked) == (second.names, second.prompt, second.asked)
    assert bytes_of(first) == bytes_of(second)
    assert len(first.names) == (2 if level == 3 else 1)
    assert sum(map(len, first.files.values())) < 300 << 20


@needs(*TOOLS)
@pytest.mark.parametrize("level", [3, *(pytest.param(level, marks=pytest.mark.slow) for level in (1, 2))])
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4, 5))])
@pytest.mark.parametrize("name", KINDS)
def test_who_is_told_the_procedure_can_answer_every_question(name: str, seed: int, level: int, tmp_path: Path) -> None:
    case = build_case(name, seed, level)
    files = [tmp_path / file for file in case.names]
    for file in files:
        file.write_bytes(case.files[file.name])
    found, challenge = SOLVERS[name](files, case.procedure), load(f"{name}@{seed}:{level}")
    golds = load_gold(challenge)
    graded = {q.topic: (found.get(q.topic), grade(golds[q.id], found.get(q.topic))) for q in challenge.questions}
    assert {topic: told for topic, told in graded.items() if told[1].outcome != "correct"} == {}


@pytest.mark.parametrize("name", KINDS)
def test_procedures_differ_from_seed_to_seed(name: str) -> None:
    done = [tuple(build_case(name, seed, 2).procedure.values()) for seed in range(12)]
    assert len(set(done)) >= 3
    assert max(done.count(one) for one in done) <= 8


@pytest.mark.parametrize("name", KINDS)
def test_key_and_seed_change_evidence_names_questions_order_and_answers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [build_case(name, seed) for seed in range(6)]
    monkeypatch.setenv(VARIABLE, "another key")
    cases += [build_case(name, seed) for seed in range(6)]
    assert len({bytes_of(case) for case in cases}) == len(cases)
    assert len({tuple(case.files) for case in cases}) == len(cases)
    assert len({tuple(asked.topic for asked in case.asked) for case in cases}) == len(cases)
    assert len({frozenset(asked.topic for asked in case.asked) for case in cases}) > 3
    for topic in {asked.topic for case in cases for asked in case.asked}:
        golds = {str(asked.gold) for case in cases for asked in case.asked if asked.topic == topic}
        assert len(golds) > 1, f"{topic} could be learnt by heart"


@pytest.mark.parametrize("name", KINDS)
def test_questions_have_golds_levels_and_partial_progress(name: str) -> None:
    levels: set[int] = set()
    steps = 0
    for level in (1, 2, 3):
        challenge = load(f"{name}@5:{level}")
        assert tuple(load_gold(challenge)) == challenge.question_ids
        levels |= {question.level for question in challenge.questions}
        steps += sum(question.builds_on in challenge.question_ids for question in challenge.questions)
    assert {2, 3} <= levels <= {1, 2, 3}
    assert steps > 0


def test_a_challenge_without_seed_is_a_new_case_each_time() -> None:
    first, second = load("synthetic-host"), load("synthetic-host")
    assert first.ref != second.ref
    assert first.evidence != second.evidence
    assert first.place != second.place


@pytest.mark.parametrize("name", KINDS)
def test_places_and_files_tell_nothing(name: str) -> None:
    challenge = load(f"{name}@987654")
    shown = " ".join([challenge.place, challenge.prompt, *(item.file for item in challenge.evidence)])
    assert "987654" not in shown
    assert name not in challenge.place


def test_dice_are_pinned_and_fair_enough() -> None:
    dice = Dice("test", 1)
    assert dice.bytes(4) == Dice("test", 1).bytes(4) != Dice("test", 2).bytes(4)
    counts = [0] * 6
    for _ in range(6000):
        counts[dice.below(6)] += 1
    assert min(counts) > 850
    assert sorted(dice.pick_some(range(9), 9)) == list(range(9))


@needs("e2fsck", "mkfs.ext4", "debugfs")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_disk_is_a_clean_ext4(seed: int, tmp_path: Path) -> None:
    (content,) = build_case("synthetic-disk", seed).files.values()
    (tmp_path / "image").write_bytes(content)
    command = ["e2fsck", "-f", "-n", str(tmp_path / "image")]
    checked = subprocess.run(command, capture_output=True, text=True, env={"PATH": PATH})
    assert checked.returncode == 0, checked.stdout


@needs("evtxinfo")
def test_an_event_log_is_whole_over_several_chunks(tmp_path: Path) -> None:
    when = datetime(2026, 3, 5, tzinfo=UTC)
    events = [Event(number, when, 4624, {"TargetUserName": "edda", "Empty": ""}) for number in range(7, 250)]
    (tmp_path / "log.evtx").write_bytes(log(events, "WS-1"))
    said = subprocess.run(["evtxinfo", str(tmp_path / "log.evtx")], capture_output=True, text=True, check=True).stdout
    assert re.search(r"Number of records\s*: 243\n", said)
    assert "corrupted" not in said


def test_what_is_coded_does_not_lie_about_in_the_open() -> None:
    for seed in SEEDS:
        for name, topic in (("synthetic-host", "callback"), ("synthetic-eventlog", "url")):
            case = build_case(name, seed, 3)
            (gold,) = [asked.gold["accept"][0] for asked in case.asked if asked.topic == topic] or [None]
            held = b"".join(case.files.values())
            assert gold is None or (gold.encode() not in held and gold.encode("utf-16-le") not in held)


@needs("tshark")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_capture_has_no_malformed_frame_and_right_checksums(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "incident.pcap"
    (content,) = build_case("synthetic-capture", seed).files.values()
    file.write_bytes(content)
    strict = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    # A program that calls itself a picture is no well-formed picture.
    bad = (
        '!image-jfif && !(http.content_type contains "image/")'
        " && (_ws.malformed || tcp.analysis.flags || _ws.expert.severity >= 0x600000)"
    )
    odd = subprocess.run(["tshark", "-r", str(file), *strict, "-Y", bad], capture_output=True, text=True, check=True)
    assert odd.stdout == ""
