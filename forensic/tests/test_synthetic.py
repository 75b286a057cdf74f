"""Seeded evidence: the same bytes for a seed, other bytes for another, and well-formed for the tools that read it."""

import hashlib
import io
import re
import shutil
import subprocess
import zipfile
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import pytest

from swaplaw_forensic.challenges.gold import load_gold
from swaplaw_forensic.challenges.manifest import load
from swaplaw_forensic.synthetic.case import BUILDERS, Case, build_case
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.formats import containers
from swaplaw_forensic.synthetic.formats.evtx import Event, log
from swaplaw_forensic.synthetic.key import VARIABLE

from testbed.examiners import tools_missing
from testbed.solving import unsolved

SEEDS = (1, 2, 3)
TOOLS = ("fls", "icat", "foremost", "tshark", "unzip", "file", "xxd", "reglookup", "strings", "evtxexport")
KINDS = sorted(BUILDERS)
# These must never change: votes collected on a seed are graded by building it again with the same key.
PINNED = {
    "synthetic-browser": "4b95f8659e985cb60ae9f275626107e20acb4570687c7d829cadd9877a258f74",
    "synthetic-capture": "d31f953171400431b7800c5276954590b0dd3c17d22d172f7912ddb8be5f84e1",
    "synthetic-disk": "40a44c66818905d7055f4f54d0b6889d7ac68a0da6fdac631f36c0806b94e916",
    "synthetic-eventlog": "071c8085371d02620ab424b2386dfb0afca32342d49393cfb55940ed0351ccd2",
    "synthetic-ext4": "8f8cc5050259a2a9030997c012cfb3af47ae1e6a9851b278371477334391a14a",
    "synthetic-host": "9709c8a9f3633c442c3533e0fe77e86dbed0e56570e22ef0f9769c199bae0960",
    "synthetic-registry": "4d7eb9a9ebada824686ab57d6b6514dcaa8018ce35dada6c371b0352573ff393",
}


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def bytes_of(case: Case) -> str:
    return hashlib.sha256(b"".join(name.encode() + data for name, data in case.files.items())).hexdigest()


def gold_of(case: Case, topic: str) -> str:
    return str(next(asked for asked in case.asked if asked.topic == topic).gold["accept"][0])


def seeds_with(name: str, *topics: str) -> list[int]:
    """Return seeds whose case asks all these topics."""
    return [seed for seed in range(30) if set(topics) <= {asked.topic for asked in build_case(name, seed).asked}]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("seed", range(1, 6))
def test_the_same_key_and_seed_give_the_same_bytes_for_ever(name: str, seed: int) -> None:
    module = import_module(BUILDERS[name])
    first, second = (module.build(Dice(name, seed, b"pinned")) for _ in range(2))
    assert first == second
    if seed == 1:
        assert bytes_of(first) == PINNED[name]


@pytest.mark.skipif(tools_missing(*TOOLS) != [], reason=f"not installed: {', '.join(tools_missing(*TOOLS))}")
@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (3, 4, 5))])
@pytest.mark.parametrize("name", KINDS)
def test_the_solutions_answer_every_question(name: str, seed: int, tmp_path: Path) -> None:
    assert unsolved(name, seed, tmp_path) == []


@pytest.mark.parametrize("name", KINDS)
def test_key_and_seed_change_evidence_names_questions_order_and_answers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [build_case(name, seed) for seed in range(12)]
    monkeypatch.setenv(VARIABLE, "another key")
    cases += [build_case(name, seed) for seed in range(12)]
    assert len({bytes_of(case) for case in cases}) == len(cases)
    assert len({tuple(case.files) for case in cases}) == len(cases)
    assert len({tuple(asked.topic for asked in case.asked) for case in cases}) == len(cases)
    assert len({frozenset(asked.topic for asked in case.asked) for case in cases}) > 4
    for topic in {asked.topic for case in cases for asked in case.asked}:
        golds = {str(asked.gold) for case in cases for asked in case.asked if asked.topic == topic}
        assert len(golds) > 1, f"{topic} could be learnt by heart"


@pytest.mark.parametrize("name", KINDS)
def test_questions_have_golds_levels_and_partial_progress(name: str) -> None:
    levels: set[int] = set()
    steps = 0
    for seed in range(1, 6):
        challenge = load(f"{name}@{seed}")
        assert tuple(load_gold(challenge)) == challenge.question_ids
        levels |= {question.level for question in challenge.questions}
        steps += sum(question.builds_on in challenge.question_ids for question in challenge.questions)
    assert levels == {1, 2, 3}
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


@needs("fsck.fat")
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 6])
def test_the_image_is_a_clean_file_system(seed: int, tmp_path: Path) -> None:
    image = tmp_path / "image.dd"
    (content,) = build_case("synthetic-disk", seed).files.values()
    image.write_bytes(content)
    checked = subprocess.run(["fsck.fat", "-n", str(image)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


@needs("e2fsck")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_partition_is_a_clean_ext4(seed: int, tmp_path: Path) -> None:
    image = tmp_path / "image.dd"
    (content,) = build_case("synthetic-ext4", seed).files.values()
    image.write_bytes(content)
    checked = subprocess.run(["e2fsck", "-f", "-n", str(image)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


@needs("evtxinfo")
def test_an_event_log_is_whole_over_several_chunks(tmp_path: Path) -> None:
    when = datetime(2026, 3, 5, tzinfo=UTC)
    events = [Event(number, 4624, when, {"TargetUserName": "edda", "Empty": ""}) for number in range(7, 250)]
    (tmp_path / "log.evtx").write_bytes(log(events, "WS-1"))
    said = subprocess.run(["evtxinfo", str(tmp_path / "log.evtx")], capture_output=True, text=True, check=True).stdout
    assert re.search(r"Number of records\s*: 243\n", said)
    assert "corrupted" not in said


def test_both_fat_variants_occur() -> None:
    found = {gold_of(build_case("synthetic-disk", seed), "variant") for seed in seeds_with("synthetic-disk", "variant")}
    assert found == {"FAT12", "FAT16"}


def test_the_encrypted_archive_opens_with_its_password_only() -> None:
    data = containers.encrypted_zip(Dice("zip", 1), "deal.txt", b"paid", "pass-word", datetime(2025, 5, 4, 3, 2, 2))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.read("deal.txt", b"pass-word") == b"paid"
        with pytest.raises(RuntimeError):
            archive.read("deal.txt", b"password")
        with pytest.raises(RuntimeError):
            archive.read("deal.txt")


def test_secrets_do_not_lie_about_in_the_open() -> None:
    case = build_case("synthetic-disk", seeds_with("synthetic-disk", "account", "slack")[0])
    (image,) = case.files.values()
    assert gold_of(case, "account").encode() not in image  # encrypted
    assert gold_of(case, "slack").encode() in image
    host = build_case("synthetic-host", seeds_with("synthetic-host", "callback")[0])
    assert gold_of(host, "callback").encode() not in b"".join(host.files.values())  # encoded


@needs("reglookup")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_hive_is_read_without_complaint(seed: int, tmp_path: Path) -> None:
    (content,) = build_case("synthetic-registry", seed).files.values()
    (tmp_path / "hive").write_bytes(content)
    read = subprocess.run(["reglookup", str(tmp_path / "hive")], capture_output=True, text=True, check=True)
    assert read.stderr == ""
    assert "/Software/Microsoft/Windows/CurrentVersion/Run" in read.stdout


@needs("tshark")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_capture_has_no_malformed_frame_and_right_checksums(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "incident.pcap"
    (content,) = build_case("synthetic-capture", seed).files.values()
    file.write_bytes(content)
    strict = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    bad = "_ws.malformed || tcp.analysis.flags || _ws.expert.severity >= 0x600000"
    odd = subprocess.run(["tshark", "-r", str(file), *strict, "-Y", bad], capture_output=True, text=True, check=True)
    assert odd.stdout == ""
