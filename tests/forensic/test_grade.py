"""Answers and golds across tiers: correct, incorrect, abstained; real golds with their errata."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.forensic.challenges.gold import Gold, load_gold, parse_gold
from swaplaw.forensic.challenges.manifest import TIERS, Question, load
from swaplaw.forensic.grading.grade import gold_free_category, grade, wrong_category

YES, NO, NULL = "correct", "incorrect", "abstained"


def gold(tier: str, **row: object) -> Gold:
    return parse_gold(Question("q", "?", "text", tier), row, "test")


EXACT = gold("exact", accept=["10.2.28.88"])
TOKEN = gold("exact", accept=["kXq-99", "unknown"])
NAME = gold("normalised", accept=["Gabriel Wyatt"])
HOST = gold("normalised", accept=["DESKTOP-TEYQ2NR"])
DOMAIN = gold("normalised", accept=["whitepepper.su"])
URL = gold("normalised", accept=["http://evil-cdn.top/a/Setup.exe"])
MAIL = gold("normalised", accept=["iaman.informant@nist.gov"])
MAC = gold("normalised", accept=["00:21:5d:c8:0e:f2"])
MD5 = gold("normalised", accept=["d5a83cde0131c3a034e5a0d3bd94b3c9"])
PATH = gold("normalised", accept=["\\Users\\informant\\AppData\\Roaming\\Microsoft\\Sticky Notes\\StickyNotes.snt"])
DRIVE = gold("normalised", accept=["E:\\Secret Project Data\\design"])
NOTE = gold("normalised", accept=["Tomorrow... Everything will be OK..."])
PHONE = gold("normalised", accept=["18024959063"])
COUNT = gold("number", accept=["51"])
ZERO = gold("number", accept=["0"])
SUM = gold("number", accept=["31956.19"], tolerance="0.005")
LATITUDE = gold("number", accept=["36.1660667"], tolerance="0.00005")
SHUTDOWN = gold("time", accept=["2015-03-25T15:31:05Z"], zones=["-04:00", "UTC"], tolerance=60)
POSTED = gold("time", accept=["2024-11-12T22:11:09Z"], tolerance=1)
PAIR = gold("set", items=["gnome", "gnome123"])
FILES = gold("set", items=["a.txt", "b.txt", "c, final.txt", "d.txt"], threshold=0.75)
HASHES = gold("set", items=["d5a83cde0131c3a034e5a0d3bd94b3c9"], optional=["ed870202082ea4fd8f5488533a561b35"])
RECALL = gold("set", items=[{"has": ["chrome"]}, {"has": ["eraser"]}], measure="recall", threshold=0.5)
CLOCK = gold("regex", patterns=[r"0?2[:.]15(?:\s*pm)?", r"14:15"])

TABLE: list[tuple[Gold, str | None, str]] = [
    # exact: nothing but blanks and one pair of quotes is forgiven
    (EXACT, "10.2.28.88", YES),
    (EXACT, "  10.2.28.88\n", YES),
    (EXACT, "`10.2.28.88`", YES),
    (EXACT, '"10.2.28.88"', YES),
    (EXACT, "10.1.28.88", NO),
    (EXACT, "10.2.28.8", NO),
    (EXACT, "10[.]2[.]28[.]88", NO),
    (EXACT, "10.2.28.88.", NO),
    (EXACT, "The address is 10.2.28.88", NO),
    (EXACT, None, NULL),
    (EXACT, "", NULL),
    (EXACT, "???", NULL),
    (EXACT, "Unknown", NULL),
    (EXACT, "I don't know.", NULL),
    (EXACT, "Unable to determine from the capture", NULL),
    (EXACT, "Unable to determine from the capture, so my best guess from the traffic is 10.2.28.8", NO),
    (TOKEN, "kXq-99", YES),
    (TOKEN, "kxq-99", NO),
    (TOKEN, "unknown", YES),  # an accepted answer is never an abstention
    # normalised: case, blanks, punctuation
    (NAME, "Gabriel Wyatt", YES),
    (NAME, "gabriel  WYATT.", YES),
    (NAME, "“Gabriel Wyatt”", YES),
    (NAME, "**Gabriel Wyatt**", YES),
    (NAME, "Gabriel\u200b Wyatt", YES),
    (NAME, "Ｇabriel Wyatt", YES),
    (NAME, "Gabriel\u00a0Wyatt", YES),
    (NAME, "Gabriel", NO),
    (NAME, "Wyatt, Gabriel", NO),
    (NAME, "Gabriel Wyatt or Becka Rolf", NO),
    (NAME, "N/A", NULL),
    (NAME, "not found", NULL),
    (HOST, "desktop-teyq2nr", YES),
    (HOST, "DESKTOP‑TEYQ2NR", YES),  # a typographic hyphen
    (HOST, "DESKTOP_TEYQ2NR", NO),
    (HOST, "DESKTOP-TEYQ2NR.local", NO),
    (NOTE, "tomorrow, everything will be ok", YES),
    (NOTE, "Tomorrow… Everything will be OK…", YES),
    (NOTE, "Everything will be OK", NO),
    # defanged names and addresses
    (DOMAIN, "whitepepper[.]su", YES),
    (DOMAIN, "WhitePepper(.)su", YES),
    (DOMAIN, "whitepepper[dot]su", YES),
    (DOMAIN, "whitepepper.su.", YES),
    (DOMAIN, "hxxp://whitepepper[.]su", NO),  # a URL is not the domain that was asked for
    (DOMAIN, "whitepepper.cc", NO),
    (DOMAIN, "holiday-forever.cc", NO),
    (URL, "hxxp://evil-cdn[.]top/a/Setup.exe", YES),
    (URL, "HTTP://EVIL-CDN.TOP/a/setup.exe", YES),
    (URL, "http[:]//evil-cdn.top/a/Setup.exe", YES),
    (URL, "https://evil-cdn.top/a/Setup.exe", NO),
    (URL, "http://evil-cdn.top/a/Setup2.exe", NO),
    (MAIL, "iaman.informant[@]nist[.]gov", YES),
    (MAIL, "Iaman.Informant@NIST.gov", YES),
    (MAIL, "informant@nist.gov", NO),
    # MAC, hash, path and telephone forms
    (MAC, "00:21:5D:C8:0E:F2", YES),
    (MAC, "00-21-5d-c8-0e-f2", YES),
    (MAC, "0021.5dc8.0ef2", YES),
    (MAC, "00215DC80EF2", YES),
    (MAC, "00:21:5d:c8:0e:f3", NO),
    (MAC, "00:21:5d:c8:0e", NO),
    (MD5, "D5A83CDE0131C3A034E5A0D3BD94B3C9", YES),
    (MD5, "MD5: d5a83cde0131c3a034e5a0d3bd94b3c9", YES),
    (MD5, "0xd5a83cde0131c3a034e5a0d3bd94b3c9", YES),
    (MD5, "d5a83cde 0131c3a0 34e5a0d3 bd94b3c9", YES),
    (MD5, "d5a83cde0131c3a034e5a0d3bd94b3c8", NO),
    (MD5, "d5a83cde0131c3a034e5a0d3bd94b3c", NO),
    (PATH, "C:\\Users\\informant\\AppData\\Roaming\\Microsoft\\Sticky Notes\\StickyNotes.snt", YES),
    (PATH, "/users/informant/appdata/roaming/microsoft/sticky notes/stickynotes.snt", YES),
    (PATH, "\\\\Users\\\\informant\\\\AppData\\\\Roaming\\\\Microsoft\\\\Sticky Notes\\\\StickyNotes.snt", YES),
    (PATH, "C:/Users/informant/AppData/Roaming/Microsoft/Sticky Notes/StickyNotes.snt", YES),
    (PATH, "D:\\Users\\informant\\AppData\\Roaming\\Microsoft\\Sticky Notes\\StickyNotes.snt", NO),
    (PATH, "StickyNotes.snt", NO),
    (DRIVE, "E:/secret project data/design/", YES),
    (DRIVE, "\\Secret Project Data\\design", YES),
    (DRIVE, "C:\\Secret Project Data\\design", NO),
    (PHONE, "+1 (802) 495-9063", YES),
    (PHONE, "1-802-495-9063", YES),
    (PHONE, "1-802-495-9064", NO),
    # numbers
    (COUNT, "51", YES),
    (COUNT, "51.0", YES),
    (COUNT, "51 words", YES),
    (COUNT, "fifty-one", NO),
    (COUNT, "50", NO),
    (COUNT, "51 or 52", NO),
    (COUNT, "-51", NO),
    (COUNT, "MD51", NO),
    (COUNT, "many", NO),
    (ZERO, "0", YES),
    (ZERO, "zero", YES),
    (ZERO, "None", NO),
    (SUM, "31956.19", YES),
    (SUM, "31,956.19 EUR", YES),
    (SUM, "€31 956,19", YES),
    (SUM, "31.956,19", YES),
    (SUM, "31956.194", YES),
    (SUM, "31956.2", NO),
    (SUM, "3.195619e4", YES),
    (SUM, "9" * 300, NO),
    (SUM, "1e999999999", NO),
    (LATITUDE, "36.16607° N", YES),
    (LATITUDE, "36.17", NO),
    # times, with tolerance and zone
    (SHUTDOWN, "2015-03-25 15:31:05 UTC", YES),
    (SHUTDOWN, "2015-03-25T15:31:05Z", YES),
    (SHUTDOWN, "2015-03-25 11:31:05 EDT", YES),
    (SHUTDOWN, "2015-03-25 11:31:05", YES),  # the machine's own zone
    (SHUTDOWN, "2015-03-25 11:31:05 -0400", YES),
    (SHUTDOWN, "2015-03-25 10:31:05 UTC-5", YES),
    (SHUTDOWN, "03/25/2015 11:31:05 AM", YES),
    (SHUTDOWN, "March 25, 2015 at 3:31 PM UTC", YES),
    (SHUTDOWN, "25 March 2015, 15:31:05 (UTC)", YES),
    (SHUTDOWN, "Wed 25-Mar-2015 15:31:05 GMT", YES),
    (SHUTDOWN, "1427297465", YES),
    (SHUTDOWN, "2015-03-25 15:31", YES),
    (SHUTDOWN, "2015-03-25 15:31:59 UTC", YES),
    (SHUTDOWN, "2015-03-25 11:31:05 EDT (2015-03-25 15:31:05 UTC)", YES),
    (SHUTDOWN, "2015-03-25 11:31:05 UTC", NO),
    (SHUTDOWN, "2015-03-25 15:33:05 UTC", NO),
    (SHUTDOWN, "2015-03-25 15:31:05 UTC or 2015-03-24 15:31:05 UTC", NO),
    (SHUTDOWN, "2015-03-25", NO),
    (SHUTDOWN, "2015-02-30 15:31:05", NO),
    (SHUTDOWN, "yesterday", NO),
    (POSTED, "2024-11-12 22:11:09", YES),
    (POSTED, "2024-11-12 22:11:10", YES),
    (POSTED, "2024-11-12 22:11:12", NO),
    (POSTED, "2024-11-12 10:11:09 PM UTC", YES),
    (POSTED, "2024-11-12 17:11:09 EST", YES),
    # sets: F1 with a threshold, optional members, recall
    (PAIR, "gnome\ngnome123", YES),
    (PAIR, "gnome123, gnome", YES),
    (PAIR, "gnome and gnome123", YES),
    (PAIR, "gnome / gnome123", YES),
    (PAIR, "gnome:gnome123", YES),
    (PAIR, "username: gnome; password: gnome123", YES),
    (PAIR, '["gnome", "gnome123"]', YES),
    (PAIR, "- `gnome`\n- `gnome123`", YES),
    (PAIR, "gnome", NO),
    (PAIR, "gnome\ngnome123\nroot", NO),
    (PAIR, "gnome124\ngnome", NO),
    (FILES, "a.txt\nb.txt\nc, final.txt\nd.txt", YES),
    (FILES, "1. a.txt\n2. b.txt\n3. d.txt", YES),
    (FILES, "a.txt\na.txt\nb.txt", NO),
    (FILES, "a.txt; b.txt; c, final.txt; d.txt; e.txt; f.txt", YES),
    (FILES, "\n".join(f"{letter}.txt" for letter in "abcdefghijklmnop"), NO),
    (HASHES, "d5a83cde0131c3a034e5a0d3bd94b3c9\ned870202082ea4fd8f5488533a561b35", YES),
    (HASHES, "ed870202082ea4fd8f5488533a561b35", NO),
    (RECALL, "Chrome.exe (14 times)\nnotepad.exe\ncalc.exe", YES),
    (RECALL, "chromed.exe", NO),
    # regular expressions match the whole answer
    (CLOCK, "2:15", YES),
    (CLOCK, "2:15 PM", YES),
    (CLOCK, "14:15", YES),
    (CLOCK, "12:15", NO),
    (CLOCK, "2:15 or 3:15", NO),
]


@pytest.mark.parametrize(("key", "answer", "outcome"), TABLE)
def test_table(key: Gold, answer: str | None, outcome: str) -> None:
    assert grade(key, answer).outcome == outcome, grade(key, answer).why


def test_table_is_large_and_covers_the_tiers() -> None:
    assert len(TABLE) >= 120
    for tier in set(TIERS) - {"rubric"}:
        outcomes = {outcome for key, _, outcome in TABLE if key.tier == tier}
        assert {YES, NO} <= outcomes, tier


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
        NO,
    ),
    ("dlc-30", "happy_holiday.jpg, 2015-01-30 11:49:20, do_u_wanna_build_a_snow_man.mp3, 2015-01-29 15:35:14", NO),
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


@given(st.text(max_size=300), st.sampled_from([key for key, _, _ in TABLE]))
def test_no_answer_breaks_the_grader(answer: str, key: Gold) -> None:
    result = grade(key, answer)
    assert result.outcome in (YES, NO, NULL)
    if result.outcome == NO:
        assert wrong_category(key, answer) != key.category
    for kind in ("text", "number", "time", "list"):
        assert isinstance(gold_free_category(kind, answer), str)


def test_long_answers_are_refused_unread() -> None:
    assert grade(NAME, "a" * 4001).outcome == NO


def test_a_wrong_form_never_lands_in_the_gold_category() -> None:
    key = gold("exact", accept=["abc"])
    assert grade(key, "ABC").outcome == NO
    assert wrong_category(key, "ABC") != "abc"


def test_gold_free_categories_join_forms_without_gold() -> None:
    assert gold_free_category("number", "31,956.19 EUR") == gold_free_category("number", "31956.19")
    assert gold_free_category("time", "2015-03-25 11:31:05 EDT") == gold_free_category("time", "2015-03-25T15:31:05Z")
    assert gold_free_category("list", "b\na") == gold_free_category("list", "A, B")
    assert gold_free_category("text", "WhitePepper[.]su") == gold_free_category("text", "whitepepper.su")
    assert gold_free_category("text", "Jeremy S.") != gold_free_category("text", "Jeremy")
