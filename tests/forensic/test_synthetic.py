"""Seeded evidence: the same bytes for a seed, other bytes for another, and well-formed for the tools that read it."""

import hashlib
import io
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from swaplaw.forensic.challenges.gold import load_gold
from swaplaw.forensic.challenges.manifest import load
from swaplaw.forensic.synthetic import capture, containers, disk
from swaplaw.forensic.synthetic.case import build_case
from swaplaw.forensic.synthetic.dice import Dice

SEEDS = (1, 2, 3)
# These must never change: votes collected on a seed are graded by building it again.
PINNED = {
    "synthetic-disk@1": "43380d49fda856533ce6862a4b106ace01c3b65bf5f8819ffcafd1f994efaefe",
    "synthetic-disk@2": "1d7d1fff7d07b922733dba77fc3018b01fa77ae8e8ebadd78cec1fff0fd14110",
    "synthetic-disk@3": "bef5513cc4df383207aa66afe8d30accbb56b70245b594158d46c924c0949e0c",
    "synthetic-capture@1": "2a0a36959c4eaba907dd2acf5b92ed7f832a0fa7f9eb1ad31263ebea8f927b64",
    "synthetic-capture@2": "75a4440788dc04ce61eee52d165010412ba71f4b4500ece74f77a15b1ec83333",
    "synthetic-capture@3": "2809be15c5de7b40a459b01423df6c34bee5f945f0f036033c5e1b7d1da75e43",
}


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


@pytest.mark.parametrize("ref", PINNED)
def test_the_same_seed_gives_the_same_bytes_for_ever(ref: str) -> None:
    first, second = build_case(load(ref)), build_case(load(ref))
    assert first == second
    (content,) = first.files.values()
    assert hashlib.sha256(content).hexdigest() == PINNED[ref]


@pytest.mark.parametrize("build", [disk.build, capture.build])
def test_another_seed_gives_other_evidence_and_other_answers(build: object) -> None:
    assert callable(build)
    cases = [build(seed) for seed in range(30)]
    assert len({hashlib.sha256(next(iter(case.files.values()))).digest() for case in cases}) == len(cases)
    for question in cases[0].answers:
        assert len({str(case.answers[question]) for case in cases}) > 1, f"{question} could be learnt by heart"


@pytest.mark.parametrize("ref", ["synthetic-disk@5", "synthetic-capture@5"])
def test_every_question_gets_a_gold(ref: str) -> None:
    challenge = load(ref)
    assert tuple(load_gold(challenge)) == challenge.question_ids


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
    image.write_bytes(disk.build(seed).files[disk.IMAGE])
    checked = subprocess.run(["fsck.fat", "-n", str(image)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_both_fat_variants_occur() -> None:
    assert {disk.build(seed).answers["disk-01"]["accept"][0] for seed in range(8)} == {"FAT12", "FAT16"}


def test_the_encrypted_archive_opens_with_its_password_only() -> None:
    from datetime import datetime

    data = containers.encrypted_zip(Dice("zip", 1), "deal.txt", b"paid", "pass-word", datetime(2025, 5, 4, 3, 2, 2))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.read("deal.txt", b"pass-word") == b"paid"
        with pytest.raises(RuntimeError):
            archive.read("deal.txt", b"password")
        with pytest.raises(RuntimeError):
            archive.read("deal.txt")


def test_secrets_do_not_lie_about_in_the_open() -> None:
    case = disk.build(9)
    image = case.files[disk.IMAGE]
    assert case.answers["disk-07"]["accept"][0].encode() not in image  # encrypted
    assert case.answers["disk-13"]["accept"][0].encode() in image  # slack


@needs("tshark")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_capture_has_no_malformed_frame_and_right_checksums(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "incident.pcap"
    file.write_bytes(capture.build(seed).files[capture.FILE])
    strict = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    bad = "_ws.malformed || tcp.analysis.flags || _ws.expert.severity >= 0x600000"
    odd = subprocess.run(["tshark", "-r", str(file), *strict, "-Y", bad], capture_output=True, text=True, check=True)
    assert odd.stdout == ""
