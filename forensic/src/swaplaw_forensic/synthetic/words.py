"""Names for stories, and text to fill files with. None of the names belongs to a real case."""

import base64
import hashlib
import io
import tarfile
import tomllib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from swaplaw_forensic.synthetic.dice import Dice

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FIRST_NAMES, LAST_NAMES, STEMS, FOLDERS, ENDINGS, TOOLS = (
    tuple(_WORDS[name].split()) for name in ("first_names", "last_names", "stems", "folders", "endings", "tools")
)


def filler(dice: Dice, low: int, high: int) -> bytes:
    """Return text of some length that means nothing, quickly however long it is."""
    length = dice.between(low, high)
    return base64.encodebytes(hashlib.shake_256(dice.bytes(16)).digest(length * 3 // 4))[:length]


def bad_host(dice: Dice) -> str:
    """Return a name of a server that nobody knows."""
    return f"{dice.word(7)}.{dice.pick(ENDINGS)}"


def called(dice: Dice, level: int, *endings: str) -> tuple[str, ...]:
    """Return names for the evidence: of one file, and of the second source that the hardest level has."""
    first = f"{dice.word(8)}.{dice.pick(endings) if len(endings) > 1 else endings[0]}"
    return (first, f"{dice.word(8)}.csv") if level == 3 else (first,)


def dated(rows: Iterable[tuple[datetime, str]]) -> bytes:
    """Return the lines of such a source, each with its time."""
    return "".join(f"{when:%Y-%m-%dT%H:%M:%SZ},{text}\n" for when, text in rows).encode()


def packed(files: dict[str, bytes], when: datetime) -> bytes:
    """Return a tar archive whose bytes depend on nothing but its arguments."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(files[name]), int(when.timestamp()), 0o644
            archive.addfile(member, io.BytesIO(files[name]))
    return out.getvalue()
