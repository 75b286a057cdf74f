"""Answers and golds across tiers: correct, incorrect, abstained; real golds with their errata."""

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw_forensic.challenges.gold import Gold, load_gold, parse_gold
from swaplaw_forensic.challenges.manifest import Question, Tier, load
from swaplaw_forensic.grading.grade import gold_free_category, grade, wrong_category

from testbed.grading import TABLE

YES, NO, NULL = "correct", "incorrect", "abstained"


def gold(tier: str, **row: object) -> Gold:
    return parse_gold(Question("q", "?", "text", cast("Tier", tier)), row, "test")


NAME = gold("normalised", accept=["Gabriel Wyatt"])


ERRATA = [
    # the key says that partition 2 is bootable, the disk says 1: neither is graded
    ("dlc-02", "1: NTFS, start 2048, 204800 sectors, bootable\n2: NTFS, start 206848, 41734144 sectors", YES),
    ("dlc-02", "1: NTFS, start 2048, 204800 sectors\n2: bootable, start 206848, 41734144 sectors", YES),
    ("dlc-02", "1: NTFS, start 2048, 204800 sectors\n2: bootable, start 206849, 41734144 sectors", NO),
    # the key prints UTC-5; daylight time and UTC are accepted as well, and the wrong hour is not
    (
        "dlc-06",
        "informant 10 2015-03-25 09:45:59\nadmin11 2 2015-03-22 10:57:02\nITechTeam 0\ntemporary 1 2015-03-22 10:55:57",
        YES,
    ),
    (
        "dlc-06",
        "informant, 10, 2015-03-25 10:45:59 EDT\nadmin11, 2, 2015-03-22 11:57:02 EDT\nITechTeam, 0, never\n"
        "temporary, 1, 2015-03-22 11:55:57 EDT",
        YES,
    ),
    (
        "dlc-06",
        "informant 10 2015-03-25 14:45:59 UTC\nadmin11 2 2015-03-22 15:57:02 UTC\nITechTeam 0\n"
        "temporary 1 2015-03-22 15:55:57 UTC",
        YES,
    ),
    (
        "dlc-06",
        "informant 10 2015-03-25 09:45:59 UTC\nadmin11 2 2015-03-22 10:57:02 UTC\nITechTeam 0\n"
        "temporary 1 2015-03-22 10:55:57 UTC",
        NO,
    ),
    # names count, times do not
    (
        "dlc-10",
        "Microsoft Office Professional Plus 2013 (2015-03-22 15:04:14)\nGoogle Chrome 41.0.2272.101\n"
        "Google Update Helper\nApple Application Support\nBonjour\nApple Software Update\n"
        "Google Drive 1.20.8672.3137\nMicrosoft .NET Framework 4\nEraser 6.2.2962 (2015-03-25 09:57:31)",
        YES,
    ),
    ("dlc-10", "Microsoft Office\nGoogle Chrome\nWinRAR\nSteam", NO),
    # an event that the log does not hold is neither needed nor held against an answer
    (
        "dlc-12",
        "2015-03-22 10:51:14 start\n2015-03-22 12:00:09 shutdown\n2015-03-23 13:24:23 start\n"
        "2015-03-23 17:02:59 shutdown\n2015-03-24 09:21:29 start\n2015-03-24 17:07:26 shutdown\n"
        "2015-03-25 09:05:41 start\n2015-03-25 10:45:59 logoff (4637)\n2015-03-25 11:31:00 shutdown",
        YES,
    ),
    (
        "dlc-12",
        "2015-03-22 14:51:14 UTC\n2015-03-22 16:00:09 UTC\n2015-03-23 17:24:23 UTC\n2015-03-23 21:02:59 UTC\n"
        "2015-03-24 13:21:29 UTC\n2015-03-24 21:07:26 UTC\n2015-03-25 13:05:41 UTC\n2015-03-25 15:31:00 UTC",
        YES,
    ),
    ("dlc-12", "2015-03-25 10:45:59 logoff (4637)", NO),
    # two directories, one of them a slip of the key: both
    ("dlc-19", "C:\\Users\\informant\\AppData\\Local\\Microsoft\\Outlook\\iaman.informant@nist.gov.ost", YES),
    ("dlc-19", "\\Users\\informant\\AppData\\Local\\Microsoft\\Office\\iaman.informant@nist.gov.ost", YES),
    ("dlc-19", "C:\\Users\\informant\\AppData\\Local\\Microsoft\\Outlook\\admin11@nist.gov.ost", NO),
    # the key swaps the times
    (
        "dlc-30",
        "happy_holiday.jpg 2015-01-29 15:35:14\ndo_u_wanna_build_a_snow_man.mp3 2015-01-30 11:49:20",
        YES,
    ),
    ("dlc-30", "happy_holiday.jpg\ndo_u_wanna_build_a_snow_man.mp3", YES),
    (
        "dlc-30",
        "happy_holiday.jpg 2015-01-30 11:49:20\ndo_u_wanna_build_a_snow_man.mp3 2015-01-29 15:35:14",
        "unsure",
    ),
    (
        "dlc-30",
        "happy_holiday.jpg, 2015-01-30 11:49:20, do_u_wanna_build_a_snow_man.mp3, 2015-01-29 15:35:14",
        "unsure",
    ),
    # an address that is in no packet
    ("lumma-01", "10.1.21.58", YES),
    ("lumma-01", "10.1.28.58", NO),
]


@pytest.mark.parametrize(("question", "answer", "outcome"), ERRATA)
def test_errata_are_honoured(question: str, answer: str, outcome: str) -> None:
    challenge = "mta-lumma" if question.startswith("lumma") else "cfreds-data-leakage"
    key = load_gold(load(challenge))[question]
    assert key.erratum
    assert grade(key, answer).outcome == outcome, grade(key, answer).why


def test_all_seven_errata_are_tested() -> None:
    challenges = ("cfreds-data-leakage", "mta-lumma", "mta-easy-as-123", "mvs2025-ios", "rhino-hunt")
    known = {gold.question for name in challenges for gold in load_gold(load(name)).values() if gold.erratum}
    assert len(known) == 7
    assert known == {question for question, _, _ in ERRATA}


def test_the_printed_error_is_named() -> None:
    key = load_gold(load("mta-lumma"))["lumma-01"]
    assert "in no packet" in grade(key, "10.1.28.58").why


REAL = [
    ("cfreds-data-leakage", "dlc-04", "(UTC-05:00) Eastern Time (US & Canada)", YES),
    ("cfreds-data-leakage", "dlc-04", "UTC", NO),
    ("cfreds-data-leakage", "dlc-08", "2015-03-25 11:31:05 EDT", YES),
    ("cfreds-data-leakage", "dlc-09", "10.11.11.129\n255.255.255.0\n10.11.11.2\n10.11.11.254\nlocaldomain", YES),
    ("cfreds-data-leakage", "dlc-13", "Internet Explorer 11 and Google Chrome 41", YES),
    ("cfreds-data-leakage", "dlc-13", "Google Chrome", NO),
    ("cfreds-data-leakage", "dlc-26", "winter_weather_advisory.zip", NO),
    ("cfreds-data-leakage", "dlc-38", "C:\\Users\\informant\\AppData\\Local\\Microsoft\\Windows\\Explorer", YES),
    ("cfreds-data-leakage", "dlc-38", "C:\\Windows\\Explorer", NO),
    ("cfreds-data-leakage", "dlc-42", "enabled\nC:\\ProgramData\\Microsoft\\Search\\Data\\Windows.edb", YES),
    ("rhino-hunt", "rhino-01", "jeremy", YES),
    ("rhino-hunt", "rhino-02", "gnome / gnome123", YES),
    ("rhino-hunt", "rhino-03", "rhino1.jpg\nrhino3.jpg\ncontraband.zip\nrhino4.jpg\nrhino5.gif\nrhino.exe", YES),
    ("mvs2025-ios", "ios-02", "+1 802-495-9063", YES),
    ("mvs2025-ios", "ios-04", "0", YES),
    ("mvs2025-ios", "ios-06", "2:15", YES),
    ("mvs2025-ios", "ios-14", "2024-11-12 22:11:09 UTC", YES),
    ("mvs2025-ios", "ios-18", "https://example.com", "ungradeable"),
    ("cfreds-data-leakage", "dlc-60", "a drawing", "ungradeable"),
    ("rhino-hunt", "rhino-04", "It is in the river", "needs_judge"),
    ("rhino-hunt", "rhino-04", "unknown", NULL),
]  # fmt: skip


@pytest.mark.parametrize(("challenge", "question", "answer", "outcome"), REAL)
def test_real_golds(challenge: str, question: str, answer: str, outcome: str) -> None:
    key = load_gold(load(challenge))[question]
    assert grade(key, answer).outcome == outcome, grade(key, answer).why


@pytest.mark.parametrize(
    "challenge", ["cfreds-data-leakage", "mta-lumma", "mta-easy-as-123", "mvs2025-ios", "rhino-hunt"]
)
def test_every_gold_accepts_its_own_answer(challenge: str) -> None:
    """A gold that its own grader rejects would fail every model."""
    for key in load_gold(load(challenge)).values():
        if key.tier in ("exact", "normalised", "number"):
            for answer in key.accept:
                assert grade(key, answer).outcome == YES, (key.question, answer)
        if key.tier == "set" and not key.ungradeable:
            rows = [" ".join([*item.names[:1], *(part[0] for part in item.has), *item.when[:1]]) for item in key.items]
            assert grade(key, "\n".join(rows)).outcome == YES, key.question


@given(st.text(max_size=300), st.sampled_from([key for _, key, _, _ in TABLE]))
def test_no_answer_breaks_the_grader(answer: str, key: Gold) -> None:
    result = grade(key, answer)
    assert result.outcome in (YES, NO, NULL)
    if result.outcome == NO:
        assert wrong_category(key, answer) != key.category
    for kind in ("text", "number", "time", "list"):
        assert isinstance(gold_free_category(kind, "?", answer), str)


def test_long_answers_are_refused_unread() -> None:
    assert grade(NAME, "a" * 4001).outcome == NO


def test_a_wrong_form_never_lands_in_the_gold_category() -> None:
    key = gold("exact", accept=["abc"])
    assert grade(key, "ABC").outcome == NO
    assert wrong_category(key, "ABC") != "abc"


def test_gold_free_categories_join_forms_without_gold() -> None:
    assert gold_free_category("number", "?", "31,956.19 EUR") == gold_free_category("number", "?", "31956.19")
    assert gold_free_category("time", "?", "2015-03-25 11:31:05 EDT") == gold_free_category(
        "time", "?", "2015-03-25T15:31:05Z"
    )
    assert gold_free_category("list", "?", "b\na") == gold_free_category("list", "?", "A, B")
    assert gold_free_category("text", "?", "WhitePepper[.]su") == gold_free_category("text", "?", "whitepepper.su")
    assert gold_free_category("text", "?", "Jeremy S.") != gold_free_category("text", "?", "Jeremy")
