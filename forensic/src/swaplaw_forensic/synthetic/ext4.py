"""The tidied partition: an ext4 image with deleted files, times that disagree, second names and unnamed content."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from swaplaw_forensic.synthetic.case import Asked, Case, choose
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.formats.containers import pdf, png
from swaplaw_forensic.synthetic.formats.extfs import ExtVolume
from swaplaw_forensic.synthetic.words import FIRST_NAMES, FOLDERS, GOODS, LAST_NAMES, NOTES, STEMS

HELPERS = ("mountd", "printq", "fixperm", "netup", "logview", "syncd", "keytool")


@dataclass
class Partition:
    """A partition in the making: its volume, its clock, its folders and its users."""

    dice: Dice
    volume: ExtVolume
    clock: datetime
    folders: list[str]
    users: list[int]

    def wait(self) -> datetime:
        """Let some time pass."""
        self.clock += timedelta(seconds=self.dice.between(60, 40_000))
        return self.clock

    def path(self, name: str) -> str:
        """Put a name into one of the folders."""
        return f"{self.dice.pick(self.folders)}/{name}"


def build(dice: Dice) -> Case:
    """Build the image and its questions."""
    made = datetime(2026, dice.between(1, 6), dice.between(1, 28), dice.between(0, 23), tzinfo=UTC)
    label, uuid = f"{dice.word(5)}{dice.between(10, 99)}", dice.bytes(16)
    mounted_on = f"/{dice.pick(('srv', 'mnt', 'data', 'media'))}/{dice.word(5)}"
    volume = ExtVolume(blocks=dice.between(3600, 5200), label=label, uuid=uuid, mounted_on=mounted_on, made=made)
    first = dice.between(1001, 1040)
    users = [first, first + dice.between(1, 9)]
    part = Partition(dice, volume, made, dice.pick_some(FOLDERS, 4), users)
    for folder in part.folders:
        volume.make_directory(folder, users[0], part.wait())
    pool = [
        Asked("label", "What is the volume name of the file system?", "text", "exact", {"accept": [label]}),
        Asked(
            "uuid", "What is the UUID of the file system?", "text", "normalised", {"accept": [str(UUID(bytes=uuid))]}
        ),
        Asked(
            "mounted",
            "Where was the file system mounted last (the path of the mount point)?",
            "text",
            "normalised",
            {"accept": [mounted_on]},
        ),
    ]
    steps: list[Callable[[Partition], list[Asked]]] = [_owned, _backdated, _setuid, _twin, _pointer]
    for step in dice.shuffled(steps):
        pool += step(part)
    pool += _deleted(part)
    file = f"{dice.word(8)}.{dice.pick(('dd', 'img', 'raw', 'bin'))}"
    prompt = (
        f"/evidence/{file} is the image of a data partition of a Linux machine. Before it was handed in, somebody "
        "deleted files and set a time back. Find out what was there. Give times in UTC."
    )
    return Case({file: volume.image()}, prompt, choose(dice, pool, leave_out=2))


def _text(dice: Dice) -> bytes:
    lines = [f"{dice.pick(GOODS)}: {dice.between(2, 90)} for {dice.pick(LAST_NAMES)}" for _ in range(6)]
    return ("\n".join(lines) + "\n").encode()


def _owned(part: Partition) -> list[Asked]:
    """Write the everyday files of two users."""
    dice, count = part.dice, part.dice.between(4, 9)
    for number in range(count + dice.between(3, 6)):
        owner = part.users[1] if number < count else part.users[0]
        part.volume.write(part.path(f"{dice.pick(STEMS)}_{number}_{dice.word(2)}.txt"), _text(dice), owner, part.wait())
    return [
        Asked(
            "owned",
            f"How many files that were not deleted belong to the user with the id {part.users[1]}?",
            "number",
            "number",
            {"accept": [str(count)]},
            level=2,
        )
    ]


def _backdated(part: Partition) -> list[Asked]:
    """Write a file whose time of modification lies long before its creation."""
    dice, when = part.dice, part.wait()
    path = part.path(f"contract_{dice.word(4)}.pdf")
    author = f"{dice.pick(FIRST_NAMES)} {dice.pick(LAST_NAMES)}"
    said = when - timedelta(days=dice.between(200, 900), seconds=dice.between(0, 80_000))
    content = pdf(author, "Contract", [f"{dice.pick(GOODS)}, signed {said:%d %B %Y}"])
    part.volume.write(path, content, part.users[0], when, modified=said)
    return [
        Asked(
            "backdated",
            "One file's time of modification was set back to long before the file was created. Give its path.",
            "text",
            "normalised",
            {"accept": [path, f"/{path}"]},
            level=3,
        ),
        Asked(
            "really-created",
            "When was the file whose time of modification was set back really created (UTC)?",
            "time",
            "time",
            {"accept": [_iso(when)], "tolerance": 1},
            level=3,
            builds_on="backdated",
        ),
    ]


def _setuid(part: Partition) -> list[Asked]:
    """Write a program that runs with the rights of root."""
    dice = part.dice
    path = part.path(f"{dice.pick(HELPERS)}{dice.between(2, 9)}")
    program = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + dice.bytes(dice.between(3000, 9000))
    part.volume.write(path, program, 0, part.wait(), mode=0o4755)
    return [
        Asked(
            "setuid",
            "Which file has its setuid bit set? Give its path.",
            "text",
            "normalised",
            {"accept": [path, f"/{path}"]},
            level=2,
        ),
        Asked(
            "setuid-sha256",
            "What is the SHA-256 of the content of the file with the setuid bit?",
            "text",
            "normalised",
            {"accept": [hashlib.sha256(program).hexdigest()]},
            level=2,
            builds_on="setuid",
        ),
    ]


def _twin(part: Partition) -> list[Asked]:
    """Give one file a second name in another folder."""
    dice = part.dice
    here, there = dice.pick_some(part.folders, 2)
    path, other = f"{here}/{dice.word(6)}.dat", f"{there}/.{dice.word(7)}"
    part.volume.write(path, dice.bytes(dice.between(1500, 5000)), part.users[0], part.wait())
    part.volume.link(other, path)
    question = f'Under which other path can the file "{path}" be reached (a hard link)?'
    return [Asked("twin", question, "text", "normalised", {"accept": [other, f"/{other}"]}, level=2)]


def _pointer(part: Partition) -> list[Asked]:
    dice = part.dice
    path, target = part.path(f"latest_{dice.word(3)}"), f"/{dice.pick(('opt', 'var', 'usr'))}/{dice.word(5)}/current"
    part.volume.symlink(path, target, part.users[0], part.wait())
    question = f'Where does the symbolic link "{path}" point?'
    return [Asked("pointer", question, "text", "normalised", {"accept": [target]})]


def _deleted(part: Partition) -> list[Asked]:
    """Delete a note with a password, other files, and leave a picture that no name leads to."""
    dice, volume = part.dice, part.volume
    note, password = part.path(f"{dice.pick(NOTES)}_{dice.word(3)}.txt"), f"{dice.word(4)}-{dice.word(7)}"
    text = f"{dice.pick(FIRST_NAMES)}, the safe opens with {password}. Destroy this.\n"
    created = part.wait()
    volume.write(note, text.encode(), part.users[1], created)
    paths = [note]
    for number in range(dice.between(2, 4)):
        paths.append(part.path(f"{dice.pick(STEMS)}_old{number}.csv"))
        volume.write(paths[-1], _text(dice), part.users[0], part.wait())
    volume.write(part.path(f"index_{dice.word(2)}.txt"), _text(dice), part.users[0], part.wait())
    picture = png(dice, dice.between(50, 90), dice.between(40, 70))
    volume.hide(picture)
    gone = {path: part.wait() for path in dice.shuffled(paths)}
    for path, when in gone.items():
        volume.delete(path, when)
    return [
        Asked(
            "deleted",
            "List the paths of the deleted files whose names are still in a directory, one a line.",
            "list",
            "set",
            {"items": [[path, f"/{path}"] for path in paths]},
            level=2,
        ),
        Asked(
            "deleted-when",
            f'When was "{note}" deleted (UTC)?',
            "time",
            "time",
            {"accept": [_iso(gone[note])], "tolerance": 1},
            level=2,
            builds_on="deleted",
        ),
        Asked(
            "created",
            f'When was the deleted file "{note}" created (UTC)?',
            "time",
            "time",
            {"accept": [_iso(created)], "tolerance": 1},
            level=2,
            builds_on="deleted",
        ),
        Asked(
            "password",
            "A deleted note tells what opens the safe. Which password is it?",
            "text",
            "exact",
            {"accept": [password]},
            level=3,
        ),
        Asked(
            "carved",
            "One picture lies in blocks that no file uses. What is its SHA-256?",
            "text",
            "normalised",
            {"accept": [hashlib.sha256(picture).hexdigest()]},
            level=3,
        ),
    ]


def _iso(when: datetime) -> str:
    return f"{when:%Y-%m-%dT%H:%M:%S}Z"
