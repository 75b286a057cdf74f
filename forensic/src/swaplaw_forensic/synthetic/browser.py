"""The travel plans: a browser's history (SQLite) and a mailbox."""

import base64
import hashlib
import sqlite3
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from swaplaw_forensic.synthetic.case import Asked, Case, choose
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.formats.containers import pdf
from swaplaw_forensic.synthetic.words import FIRST_NAMES, LAST_NAMES

FIRST_MOMENT = datetime(1601, 1, 1, tzinfo=UTC)
TOWNS = ("Porto", "Bergen", "Trieste", "Gdansk", "Malmo", "Split", "Vilnius", "Turku", "Nantes", "Cadiz")
TERMS = (
    "night train to {}", "storage locker {}", "{} ferry timetable", "rent a van {}", "cash exchange {}",
    "cheap rooms {}", "how to ship a crate to {}", "{} consulate hours",
)  # fmt: skip
SCHEMA = """
CREATE TABLE urls(
  id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR, visit_count INTEGER, last_visit_time INTEGER
);
CREATE TABLE visits(id INTEGER PRIMARY KEY, url INTEGER NOT NULL, visit_time INTEGER NOT NULL);
CREATE TABLE keyword_search_terms(keyword_id INTEGER, url_id INTEGER, term LONGVARCHAR);
CREATE TABLE downloads(
  id INTEGER PRIMARY KEY, target_path LONGVARCHAR, start_time INTEGER, total_bytes INTEGER, tab_url VARCHAR
);
"""


class History:
    """A history in the making; times run forward."""

    def __init__(self, dice: Dice, database: sqlite3.Connection, clock: datetime) -> None:
        self.dice, self.database, self.clock, self.count = dice, database, clock, 0

    def visit(self, url: str, title: str) -> datetime:
        """Add a page and one visit to it."""
        self.clock += timedelta(seconds=self.dice.between(30, 900), microseconds=self.dice.below(1_000_000))
        self.count += 1
        self.database.execute("INSERT INTO urls VALUES (?, ?, ?, 1, ?)", (self.count, url, title, webkit(self.clock)))
        self.database.execute("INSERT INTO visits VALUES (?, ?, ?)", (self.count, self.count, webkit(self.clock)))
        return self.clock


def webkit(moment: datetime) -> int:
    """Return microseconds since 1601."""
    return (moment - FIRST_MOMENT) // timedelta(microseconds=1)


def build(dice: Dice) -> Case:
    """Build history and mailbox and their questions."""
    town, start = dice.pick(TOWNS), datetime(2026, dice.between(1, 9), dice.between(1, 28), 8, tzinfo=UTC)
    people = [
        f"{first} {last}"
        for first, last in zip(dice.pick_some(FIRST_NAMES, 3), dice.pick_some(LAST_NAMES, 3), strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "History"
        pool = _history(dice, file, town, start)
        history = bytearray(file.read_bytes())
    # The library writes its own version here.
    history[92:96], history[96:100] = history[24:28], (3_040_001).to_bytes(4, "big")
    mailbox, asked = _mail(dice, people, town, start)
    names = (f"{dice.word(7)}.sqlite", f"{dice.word(7)}.mbox")
    prompt = (
        f"/evidence/{names[0]} is the history of a Chromium browser, /evidence/{names[1]} the mailbox of its user, "
        "who was planning a journey. Find out what was planned. Give times in UTC."
    )
    return Case({names[0]: bytes(history), names[1]: mailbox}, prompt, choose(dice, pool + asked, leave_out=2))


def _history(dice: Dice, file: Path, town: str, start: datetime) -> list[Asked]:
    database = sqlite3.connect(file, isolation_level=None)
    for setting in ("page_size=4096", "journal_mode=OFF", "secure_delete=OFF", "auto_vacuum=NONE"):
        database.execute(f"PRAGMA {setting}")
    database.executescript(SCHEMA)
    history = History(dice, database, start)
    terms = [term.format(town) for term in dice.pick_some(TERMS, dice.between(3, 5))]
    engine = dice.pick(("search.example", "find.example", "lookup.example"))
    for number, term in enumerate(terms):
        history.visit(f"https://{engine}/?q={term.replace(' ', '+')}", f"{term} - Search")
        database.execute("INSERT INTO keyword_search_terms VALUES (2, ?, ?)", (history.count, term))
        for _ in range(dice.between(1, 3)):
            history.visit(f"https://{dice.word(6)}.example/{dice.word(5)}/{number}", dice.word(9).title())
    booking = f"https://{dice.word(7)}-travel.example/book/{dice.between(10_000, 99_999)}"
    booked = history.visit(booking, f"Your journey to {town}")
    secret = f"https://{dice.word(9)}.example/drop/{dice.word(6)}"
    history.visit(secret, "Delivery")
    removed = history.count
    for _ in range(dice.between(4, 8)):
        history.visit(f"https://{dice.word(6)}.example/{dice.word(8)}", dice.word(9).title())
    target = f"C:\\Users\\{dice.word(5)}\\Downloads\\{dice.pick(('ticket', 'voucher', 'plan'))}_{dice.word(4)}.pdf"
    size = dice.between(20_000, 900_000)
    database.execute("INSERT INTO downloads VALUES (1, ?, ?, ?, ?)", (target, webkit(history.clock), size, booking))
    database.execute("DELETE FROM visits WHERE url = ?", (removed,))
    database.execute("DELETE FROM urls WHERE id = ?", (removed,))
    database.close()
    return [
        Asked("terms", "Which terms were searched for? One a line.", "list", "set", {"items": terms}, level=2),
        Asked(
            "booked",
            f'When was the page "{booking}" visited (UTC)?',
            "time",
            "time",
            {"accept": [f"{booked:%Y-%m-%dT%H:%M:%S}Z"], "tolerance": 1},
            level=2,
        ),
        Asked(
            "download",
            "What is the full path of the file that was downloaded?",
            "text",
            "normalised",
            {"accept": [target]},
        ),
        Asked(
            "size",
            "How large is the file that was downloaded, in bytes?",
            "number",
            "number",
            {"accept": [str(size)], "unit": "bytes"},
        ),
        Asked(
            "pages",
            "How many pages are in the history's table of addresses?",
            "number",
            "number",
            {"accept": [str(history.count - 1)]},
        ),
        Asked(
            "removed",
            "One address was deleted from the history, but its text is still in the file. Which address?",
            "text",
            "normalised",
            {"accept": [secret]},
            level=3,
        ),
    ]


def _mail(dice: Dice, people: list[str], town: str, start: datetime) -> tuple[bytes, list[Asked]]:
    clock, mails = start, []
    reference, cents = dice.word(7, "ABCDEFGHKLMNPRSTUVW23456789"), dice.between(10_000, 90_000)
    ticket = pdf(people[0], f"Ticket {reference}", [f"To {town}", f"Seat {dice.between(1, 90)}"])
    place, hour = f"{dice.pick(('platform', 'gate', 'pier'))} {dice.between(1, 20)}", dice.between(1, 12)
    meeting = f"Meet me at {place}, {hour} o'clock. Bring the {dice.pick(('blue', 'red', 'grey'))} case."
    bodies = [
        (people[0], "Your booking", f"Reference {reference}. Total: {cents // 100}.{cents % 100:02d} EUR.", ticket),
        (people[1], "Re: Sunday", f"Lunch is at my place, {dice.word(5)} street.", None),
        (people[2], "For you", base64.b64encode(meeting.encode()).decode(), None),
    ]
    for sender, subject, body, attached in dice.shuffled(bodies):
        clock += timedelta(seconds=dice.between(900, 40_000))
        mails.append(_message(dice, sender, subject, body, attached, clock))
    return b"".join(mails), [
        Asked(
            "attachment",
            "What is the SHA-256 of the attachment of the mail about the booking?",
            "text",
            "normalised",
            {"accept": [hashlib.sha256(ticket).hexdigest()]},
            level=2,
        ),
        Asked(
            "total",
            "What was the total of the booking, in EUR?",
            "number",
            "number",
            {"accept": [f"{cents // 100}.{cents % 100:02d}"], "tolerance": "0.005", "unit": "EUR"},
        ),
        Asked(
            "sender",
            'Who sent the mail with the subject "For you"? Give the full name.',
            "text",
            "normalised",
            {"accept": [people[2]]},
        ),
        Asked(
            "meeting",
            "Where is the meeting that an encoded mail arranges (such as dock 3)?",
            "text",
            "normalised",
            {"accept": [place]},
            level=3,
            builds_on="sender",
        ),
    ]


def _message(dice: Dice, sender: str, subject: str, body: str, attached: bytes | None, when: datetime) -> bytes:
    address = f"{sender.lower().replace(' ', '.')}@{dice.word(5)}.example"
    head = f"From {address} {when:%a %b %d %H:%M:%S %Y}\nFrom: {sender} <{address}>\nSubject: {subject}\n"
    head += f"Date: {when:%a, %d %b %Y %H:%M:%S} +0000\nMIME-Version: 1.0\n"
    if attached is None:
        return f"{head}Content-Type: text/plain\n\n{body}\n\n".encode()
    mark = dice.word(16)
    coded = base64.b64encode(attached).decode()
    lines = "\n".join(coded[start : start + 76] for start in range(0, len(coded), 76))
    return (
        f'{head}Content-Type: multipart/mixed; boundary="{mark}"\n\n--{mark}\nContent-Type: text/plain\n\n{body}\n\n'
        f'--{mark}\nContent-Type: application/pdf; name="ticket.pdf"\nContent-Transfer-Encoding: base64\n'
        f'Content-Disposition: attachment; filename="ticket.pdf"\n\n{lines}\n--{mark}--\n\n'
    ).encode()
