"""The golds of the real challenges hold together: each with its own question, and with those that share a fact."""

import re
from datetime import UTC, datetime

import pytest

from swaplaw_forensic.challenges.gold import Gold, load_gold
from swaplaw_forensic.challenges.manifest import load
from swaplaw_forensic.grading.grade import grade
from swaplaw_forensic.reading.spans import instant

REAL = ("cfreds-data-leakage", "mta-easy-as-123", "mta-lumma", "mvs2025-ios", "rhino-hunt")
CFREDS = load_gold(load("cfreds-data-leakage"))


def names(key: Gold) -> set[str]:
    return {name for item in key.items for name in item.names}


@pytest.mark.parametrize("challenge", REAL)
def test_types_and_tiers_go_together_and_sources_are_named(challenge: str) -> None:
    fitting = {"number": {"number"}, "time": {"time"}, "list": {"set"}, "report": {"rubric"}}
    for question in load(challenge).questions:
        assert question.tier in fitting.get(question.type, {"exact", "normalised", "regex"}), question.id
    for key in load_gold(load(challenge)).values():
        assert key.source.startswith("https://"), key.question


def test_files_that_were_copied_agree_over_questions() -> None:
    """What was copied to the stick can be recovered from it, and is among what was copied to the disc."""
    assert names(CFREDS["dlc-53"]) == names(CFREDS["dlc-55"])
    assert names(CFREDS["dlc-53"]) < names(CFREDS["dlc-34"])
    assert names(CFREDS["dlc-35"]) < names(CFREDS["dlc-34"])
    assert CFREDS["dlc-26"].accept[0] in names(CFREDS["dlc-53"])
    renamed = {parts[0] for item in CFREDS["dlc-23"].items for parts in item.has[1:]}
    assert names(CFREDS["dlc-53"]) < renamed


def test_deleted_cloud_files_have_one_time_each() -> None:
    times = {
        question: {item.has[0][0]: instant(item.when[0]) for item in CFREDS[question].items}
        for question in ("dlc-30", "dlc-49")
    }
    assert times["dlc-30"] == times["dlc-49"]


def test_paths_and_devices_agree() -> None:
    assert all(path.startswith("E:\\Secret Project Data") for path in names(CFREDS["dlc-25"]))
    assert CFREDS["dlc-26"].accept[1].rsplit("\\", 1)[0] in names(CFREDS["dlc-25"])
    assert CFREDS["dlc-24"].accept[0].rsplit(".", 1)[0] == CFREDS["dlc-09"].items[1].has[0][0].rsplit(".", 1)[0]
    assert CFREDS["dlc-05"].accept[0].casefold().startswith(CFREDS["dlc-07"].accept[0])
    assert CFREDS["dlc-20"].accept[0] in CFREDS["dlc-19"].accept[0]


def test_every_time_of_the_case_lies_within_it() -> None:
    first, last = datetime(2015, 1, 1, tzinfo=UTC), datetime(2015, 3, 26, tzinfo=UTC)
    for key in CFREDS.values():
        moments = [*(key.accept if key.tier == "time" else ()), *(when for item in key.items for when in item.when)]
        assert all(first < instant(moment) < last for moment in moments), key.question


def test_shutdowns_agree_within_a_minute() -> None:
    listed = [instant(item.when[0]) for item in CFREDS["dlc-12"].items]
    assert listed == sorted(listed)
    assert abs((instant(CFREDS["dlc-08"].accept[0]) - listed[-1]).total_seconds()) <= 60


def test_hashes_have_the_length_of_their_kind() -> None:
    for key in (CFREDS["dlc-01"], load_gold(load("rhino-hunt"))["rhino-00"]):
        assert {len(name) for name in names(key)} <= {32, 40}
        assert all(re.fullmatch("[0-9A-Fa-f]+", name) for name in names(key))


@pytest.mark.parametrize(("challenge", "prefix"), [("mta-easy-as-123", "easy"), ("mta-lumma", "lumma")])
def test_traffic_cases_are_consistent(challenge: str, prefix: str) -> None:
    """The account is made of the user's name, the client's address is private, and the MAC is one."""
    key = load_gold(load(challenge))
    account, person = key[f"{prefix}-04"].accept[0], key[f"{prefix}-05"].accept[0]
    first, last = person.lower().split()
    assert account == first[0] + last
    assert key[f"{prefix}-01"].accept[0].startswith("10.")
    assert re.fullmatch(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", key[f"{prefix}-02"].accept[0])
    assert key[f"{prefix}-03"].accept[0].startswith("DESKTOP-")
    for gold in key.values():
        others = [other.accept[0] for other in key.values() if other is not gold]
        assert not [answer for answer in others if grade(gold, answer).outcome == "correct"], gold.question
