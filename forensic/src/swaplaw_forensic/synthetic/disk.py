"""The clerk's disk: an ext4 image with thousands of files of several people, one of whom prepared to leave.

By the seed, papers were packed and disguised as a picture, appended to one, or deleted after they had been sent; a file
was dated back; notes were deleted. At the hardest level an inventory from the week before shows what was altered.
"""

import hashlib
from datetime import UTC, datetime, timedelta

from swaplaw_forensic.synthetic.case import DAYS, Asked, Case, choose, counted, said, timed, working_days
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.formats.ext4 import Stored, image
from swaplaw_forensic.synthetic.words import FIRST_NAMES, FOLDERS, STEMS, bad_host, called, filler, packed

HIDINGS, NOTES = ("renamed", "appended", "deleted"), ("read_once", "quiet", "last_word", "between_us", "do_not_keep")
FILES_A_DAY = {1: 500, 2: 350, 3: 300}
MEGABYTES = 48
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"


def build(dice: Dice, level: int) -> Case:
    """Tell the story and its questions."""
    start = datetime(2026, dice.between(1, 8), dice.between(1, 20), tzinfo=UTC)
    night = start + timedelta(days=DAYS[level] - 1, seconds=dice.between(19 * 3600, 22 * 3600))
    people = [name.lower() for name in dice.pick_some(FIRST_NAMES, 5)]
    owners = dict(zip(people, dice.pick_some(range(1000, 1060), 5), strict=True))
    files = _office(dice, owners, start, DAYS[level], FILES_A_DAY[level])
    hiding = dice.pick(HIDINGS)
    culprit = people[0]
    planted, pool = _packed(dice, hiding, culprit, owners[culprit], night)
    more, asked = _covered(dice, culprit, owners, night)
    planted, pool = planted + more, pool + asked
    uuid = "-".join(dice.word(n, "0123456789abcdef") for n in (8, 4, 4, 4, 12))
    # The Sleuth Kit prints it from the last byte to the first.
    turned = bytes.fromhex(uuid.replace("-", ""))[::-1].hex()
    pool.append(said("uuid", "What is the UUID of the file system?", uuid, turned))
    names = called(dice, level, "img", "dd", "raw")
    prompt = (
        f"/evidence/{names[0]} is the image of a shared disk (ext4) of an office with {len(people)} users. One of them "
        f"took papers away in the evening of {night:%Y-%m-%d} and tidied up. Give times in UTC and paths from the root."
    )
    everything = [*files, *planted]
    inventory = b""
    if level == 3:
        prompt += f" /evidence/{names[1]} is an inventory (path, SHA-256) from the day before."
        place = dice.between(0, len(files) // 2)
        altered = files[place]
        flipped = bytearray(altered.content)
        at = len(flipped) // 2
        flipped[at : at + 6] = dice.word(6).encode()
        everything[place] = Stored(altered.path, bytes(flipped), altered.modified, night, altered.owner)
        inventory = "".join(f"/{f.path},{hashlib.sha256(f.content).hexdigest()}\n" for f in files).encode()
        pool += [
            said("altered", "One file was altered although size and modification time stayed. Give its full path.",
                 f"/{altered.path}", level=3),
            timed("altered-when", "When was that file really changed, by its inode (UTC)?", night, 3, "altered"),
        ]  # fmt: skip

    def make() -> tuple[bytes, ...]:
        return image(everything, start, uuid, "office", MEGABYTES), inventory

    return Case(names, prompt, choose(dice, pool), make, {"hiding": hiding})


def _office(dice: Dice, owners: dict[str, int], start: datetime, days: int, number: int) -> list[Stored]:
    """Return what people wrote on these days; some of it they deleted for no reason that matters."""
    files = []
    for count, when in enumerate(working_days(dice, start, days, number)):
        person = dice.pick(list(owners))
        kind = dice.pick(("txt", "csv", "jpg", "log", "md"))
        content = (JPEG if kind == "jpg" else b"") + filler(dice, 300, 9000)
        path = f"home/{person}/{dice.pick(FOLDERS)}/{dice.pick(STEMS)}{count}.{kind}"
        gone = when + timedelta(minutes=dice.between(5, 300)) if dice.below(90) == 0 else None
        files.append(Stored(path, content, when, when, owners[person], gone))
    return files


def _packed(dice: Dice, hiding: str, culprit: str, owner: int, night: datetime) -> tuple[list[Stored], list[Asked]]:
    """Pack papers, and hide the archive."""
    account, sum_ = f"{dice.pick(('DE', 'NL', 'AT'))}{dice.word(16, '0123456789')}", dice.between(10_000, 99_999)
    ledger = f"{dice.pick(STEMS)}_{dice.word(4)}.csv"
    content = f"what,sum\nconsulting,{sum_}\nto account,{account}\n".encode()
    archive, name = packed({ledger: content}, night), f"{dice.pick(STEMS)}_{dice.word(5)}"
    folder = f"home/{culprit}/{dice.pick(FOLDERS)}"
    later = night + timedelta(minutes=dice.between(20, 50))
    path = f"{folder}/{name}.{'tar' if hiding == 'deleted' else 'jpg'}"
    picture = JPEG + filler(dice, 4000, 9000) + b"\xff\xd9"
    content = picture + archive if hiding == "appended" else archive
    file = Stored(path, content, night, night, owner, later if hiding == "deleted" else None)
    return [file], [
        said("archive", "Which file, deleted or not, holds the packed papers? Give its full path.", f"/{path}",
             level=2),
        said("ledger", "What is the name of the file inside that archive?", ledger, level=2, on="archive"),
        said("bank", "To which account does the packed paper say that money went?", account, level=3, on="ledger"),
        counted("sum", "Which sum does the packed paper state?", sum_, 3, "ledger"),
    ]  # fmt: skip


def _covered(dice: Dice, culprit: str, owners: dict[str, int], night: datetime) -> tuple[list[Stored], list[Asked]]:
    """Delete a note, and date a file back."""
    target, word = bad_host(dice), dice.word(10)
    note = f"send it to drop@{target}\nthe word is {word}\n".encode()
    owner, when = owners[culprit], night + timedelta(minutes=dice.between(55, 90))
    path = f"home/{culprit}/{dice.pick(FOLDERS)}/{dice.pick(NOTES)}_{dice.word(3)}.txt"
    back = night - timedelta(days=dice.between(200, 900))
    dated = f"home/{culprit}/{dice.pick(FOLDERS)}/{dice.pick(STEMS)}_{dice.word(4)}.txt"
    decoy = f"home/{list(owners)[1]}/{dice.pick(FOLDERS)}/{dice.pick(NOTES)}_{dice.word(3)}.txt"
    files = [
        Stored(path, note, night, night, owner, when),
        Stored(decoy, b"buy bread\n" + filler(dice, 100, 300), night, night, list(owners.values())[1], when),
        Stored(dated, filler(dice, 500, 3000), back, night + timedelta(minutes=3), owner),
    ]
    return files, [
        said("user", "What is the number (uid) of the user who took the papers?", str(owner), level=2),
        said("host", "To which host were the papers to be sent, by a deleted note?", target, level=2),
        said("word", "Which word does that note give?", word, level=2, on="host", keep_case=True),
        timed("note-gone", "When was that note deleted (UTC)?", when, 2, "host"),
        said("dated", "Which file was dated back by months? Give its full path.", f"/{dated}", level=2),
    ]
