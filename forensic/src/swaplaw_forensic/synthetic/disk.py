"""The found stick: a seeded FAT image with deleted, carved, slack and encrypted content."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from swaplaw_forensic.synthetic.case import Asked, Case, choose
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.formats.containers import encrypted_zip, pdf, png
from swaplaw_forensic.synthetic.formats.fat import FatVolume
from swaplaw_forensic.synthetic.words import (
    FIRST_NAMES,
    FOLDERS,
    GOODS,
    HIDING_PLACES,
    LAST_NAMES,
    MONTHS,
    NOTES,
    PLACES,
    STEMS,
)

SONGS = ("shanty", "waltz", "polka", "ballad", "nocturne", "tango", "march", "lullaby")
VIEWS = ("sunset", "pier", "garden", "skyline", "bridge", "meadow", "harvest", "window")


@dataclass(frozen=True)
class Layout:
    """The names of one stick."""

    texts: str
    music: str
    photos: str
    note: str
    archive: str
    disguised: str
    readme: str
    invoice: str
    month: str
    other_month: str

    @classmethod
    def drawn(cls, dice: Dice) -> "Layout":
        """Draw all names."""
        texts, music, photos = dice.pick_some(FOLDERS, 3)
        song, view = dice.pick(SONGS), dice.pick(VIEWS)
        month, other = dice.pick_some(MONTHS, 2)
        return cls(
            *(texts, music, photos),
            note=f"{dice.pick(NOTES)}_{dice.word(3)}.txt",
            archive=f"{music}/{song}.mp3",
            disguised=f"{photos}/{view}.jpg",
            readme=dice.pick(("README.TXT", "ABOUT.TXT", "LABEL.TXT", "OWNER.TXT")),
            invoice=f"{texts}/{dice.pick(('invoice', 'offer', 'receipt', 'contract'))}_{dice.word(3)}.pdf",
            month=month,
            other_month=other,
        )

    @property
    def ledger(self) -> str:
        """Return the path of the deleted table of payments."""
        return f"{self.texts}/payments_{self.month.lower()}.csv"


def build(dice: Dice) -> Case:
    """Build the image and its questions."""
    names, bits, place = Layout.drawn(dice), dice.pick((12, 16)), dice.pick(PLACES)
    label = f"{dice.word(6, 'ABCDEFGHKLMNPRSTUVW')}{dice.between(10, 99)}"
    volume = FatVolume(
        bits=bits,
        clusters=dice.between(2400, 2900) if bits == 12 else dice.between(4200, 4700),
        sectors_per_cluster=4,
        label=label,
        serial=int.from_bytes(dice.bytes(4), "big"),
    )
    tick = _clock(dice)
    for folder in (names.texts, names.music, names.photos):
        volume.make_directory(folder, tick())
    pool = [
        Asked(
            "variant",
            "Which FAT variant does the file system use?",
            "text",
            "normalised",
            {"accept": [f"FAT{bits}", f"FAT {bits}"]},
        ),
        Asked(
            "serial",
            "What is the volume serial number (hexadecimal)?",
            "text",
            "normalised",
            {"accept": [f"{volume.serial:08x}", f"{volume.serial >> 16:04x}-{volume.serial & 0xFFFF:04x}"]},
        ),
        Asked("label", "What is the volume label?", "text", "exact", {"accept": [label]}),
        _readme(volume, dice, names, tick()),
    ]
    _live_files(volume, dice, names, tick)
    pool.append(_disguise(volume, dice, names, tick()))
    steps: list[Callable[[], list[Asked]]] = [
        lambda: _secret(volume, dice, names, tick),
        lambda: _payments(volume, dice, names, tick),
        lambda: _papers(volume, dice, names, tick),
        lambda: _carved(volume, dice),
    ]
    for step in dice.shuffled(steps):
        pool += step()
    deleted = [names.note, names.ledger, names.invoice]
    for number in range(dice.between(1, 4)):
        path = f"{dice.pick((names.texts, names.photos, names.music))}/{dice.pick(STEMS)}_{number}.txt"
        volume.write(path, f"{path} {dice.word(40)}\n".encode(), tick())
        deleted.append(path)
    for path in deleted:
        volume.delete(path)
    pool.append(
        Asked(
            "deleted-paths",
            "List the full paths of all deleted files that still have a directory entry.",
            "list",
            "set",
            {"items": [[path, f"/{path}"] for path in deleted]},
            level=2,
        )
    )
    file = f"{dice.word(8)}.{dice.pick(('dd', 'img', 'raw'))}"
    prompt = (
        f"A USB stick was found in a {place}. /evidence/{file} is its raw image. Some files were deleted, one is "
        "encrypted, and something is hidden. Find out what the stick held."
    )
    return Case({file: volume.image()}, prompt, choose(dice, pool, leave_out=2))


def _clock(dice: Dice) -> Callable[[], datetime]:
    clock = datetime(2025, dice.between(1, 12), dice.between(1, 28), dice.between(6, 20), dice.between(0, 59))

    def tick() -> datetime:
        nonlocal clock
        clock += timedelta(seconds=2 * dice.between(30, 2000))
        return clock

    return tick


def _readme(volume: FatVolume, dice: Dice, names: Layout, when: datetime) -> Asked:
    """Write a live text with a line in its slack."""
    secret = f"{dice.pick(HIDING_PLACES)} {dice.between(11, 98)} code {dice.word(6)}"
    text = f"Stick no {dice.between(100, 999)}. Return to the office if found.\r\n".encode()
    volume.write(names.readme, text, when, slack=b"\0" * dice.between(40, 300) + secret.encode())
    question = f'What text is hidden in the slack of "{names.readme}"?'
    return Asked("slack", question, "text", "normalised", {"accept": [secret]}, level=3)


def _live_files(volume: FatVolume, dice: Dice, names: Layout, tick: Callable[[], datetime]) -> None:
    """Write what an honest stick holds, including passwords, names and pictures that answer nothing."""
    volume.write("reminder.txt", f"The office wifi opens with: {dice.word(9)}\n".encode(), tick())
    volume.write(f"{names.texts}/payments_{names.other_month.lower()}.csv", _table(dice, names.other_month)[0], tick())
    volume.write(f"{names.texts}/draft_{dice.word(3)}.pdf", _paper(dice, f"{dice.pick(FIRST_NAMES)} Office"), tick())
    tune = b"ID3\x03\0\0\0\0\0\x21" + b"TIT2\0\0\0\x06\0\0\0Waltz" + dice.bytes(9000)
    volume.write(f"{names.music}/{dice.word(5)}.mp3", tune, tick())
    for _ in range(dice.between(1, 3)):
        volume.write(f"{names.photos}/{dice.word(5)}.png", png(dice, 48, 40), tick())


def _disguise(volume: FatVolume, dice: Dice, names: Layout, when: datetime) -> Asked:
    """Write a file whose name lies about its type."""
    kind = dice.pick(("PNG", "PDF", "ZIP"))
    contents = {
        "PNG": png(dice, 30, 30),
        "PDF": pdf("Office", "Notice", ["Works start on Monday."]),
        "ZIP": encrypted_zip(dice, f"{dice.word(5)}.raw", dice.bytes(700), dice.word(8), when),
    }
    volume.write(names.disguised, contents[kind], when)
    long_names = {"PNG": "PNG image", "PDF": "PDF document", "ZIP": "ZIP archive"}
    accept = [kind, long_names[kind], f"{kind} file", f"{long_names[kind]} data"]
    question = f'What is the true file type of "{names.disguised}"?'
    return Asked("file-type", question, "text", "normalised", {"accept": accept})


def _secret(volume: FatVolume, dice: Dice, names: Layout, tick: Callable[[], datetime]) -> list[Asked]:
    """Write a note with a password, and the archive that it opens."""
    password = f"{dice.word(5)}-{dice.word(6)}"
    account = f"NL{dice.between(10, 99)}{dice.word(4, 'ABCDEFGHKLMNPRSTUVW')}{dice.between(10**9, 10**10 - 1)}"
    opening = dice.pick(("It opens with", "The word is", "Use this", "Key"))
    note = (
        f"{dice.pick(FIRST_NAMES)},\nthe song is not a song. {opening}: {password}\n"
        f"Burn this. {dice.pick(LAST_NAMES)} must not see it.\n"
    ).encode()
    volume.write(names.note, note, tick())
    deal = f"Settled in full.\nPaid to account {account}\n".encode()
    when = tick()
    volume.write(names.archive, encrypted_zip(dice, f"{dice.word(4)}.txt", deal, password, when), when)
    return [
        Asked(
            "note-md5",
            f'What is the MD5 of the recovered content of the deleted note "{names.note}"?',
            "text",
            "normalised",
            {"accept": [hashlib.md5(note).hexdigest()]},
            level=2,
        ),
        Asked(
            "password",
            f'Which password does the deleted note "{names.note}" give?',
            "text",
            "exact",
            {"accept": [password]},
            level=2,
        ),
        Asked(
            "account",
            f'To which account was the deal paid, according to the encrypted archive "{names.archive}"?',
            "text",
            "exact",
            {"accept": [account]},
            level=3,
            builds_on="password",
        ),
    ]


def _payments(volume: FatVolume, dice: Dice, names: Layout, tick: Callable[[], datetime]) -> list[Asked]:
    table, total = _table(dice, names.month)
    when = tick()
    volume.write(names.ledger, table, when)
    return [
        Asked(
            "sum",
            f'What is the sum of the amounts in the deleted table "{names.ledger}", in EUR?',
            "number",
            "number",
            {"accept": [f"{total // 100}.{total % 100:02d}"], "tolerance": "0.005", "unit": "EUR"},
            level=2,
        ),
        Asked(
            "modified",
            f'When was the deleted table "{names.ledger}" last modified? Read the file system\'s times as UTC.',
            "time",
            "time",
            {"accept": [f"{when:%Y-%m-%dT%H:%M:%S}Z"], "tolerance": 2},
        ),
    ]


def _papers(volume: FatVolume, dice: Dice, names: Layout, tick: Callable[[], datetime]) -> list[Asked]:
    author = f"{dice.pick(FIRST_NAMES)} {dice.pick(LAST_NAMES)}"
    volume.write(names.invoice, _paper(dice, author), tick())
    question = f'Who is the author recorded in the metadata of the deleted "{names.invoice}"?'
    return [Asked("author", question, "text", "normalised", {"accept": [author]}, level=2)]


def _carved(volume: FatVolume, dice: Dice) -> list[Asked]:
    picture = png(dice, dice.between(60, 90), dice.between(50, 70))
    volume.hide(picture)
    question = "One picture has no directory entry at all. What is the SHA-256 of the carved picture?"
    return [Asked("carved", question, "text", "normalised", {"accept": [hashlib.sha256(picture).hexdigest()]}, level=3)]


def _table(dice: Dice, month: str) -> tuple[bytes, int]:
    """Return a table of payments and their sum in cents."""
    amounts = [dice.between(1_000, 900_000) for _ in range(dice.between(9, 16))]
    rows = [
        f"{day + 1},{month} {dice.pick(GOODS)},{cents // 100}.{cents % 100:02d}" for day, cents in enumerate(amounts)
    ]
    return ("day,item,amount_eur\n" + "\n".join(rows) + "\n").encode(), sum(amounts)


def _paper(dice: Dice, author: str) -> bytes:
    lines = [f"{dice.pick(GOODS)}: {dice.between(1, 20)} units" for _ in range(4)]
    return pdf(author, f"Paper {dice.between(1000, 9999)}", lines)
