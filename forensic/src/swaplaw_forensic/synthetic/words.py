"""Names for stories, and text to fill files with. None of the names belongs to a real case."""

import base64
import hashlib
import io
import tarfile
import tomllib
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


def coded(dice: Dice, command: str, level: int) -> tuple[str, str]:
    """Hide a shell command: plain at level 1, then in a code that varies. Return how, and the line that runs it."""
    way = "plain" if level == 1 else dice.pick(("base64", "hex", "reversed") if level == 3 else ("base64", "hex"))
    text = base64.b64encode(command.encode()).decode()
    lines = {
        "plain": command,
        "base64": f"echo {text} | base64 -d | sh",
        "hex": f"echo {command.encode().hex()} | xxd -r -p | sh",
        "reversed": f"echo {text[::-1]} | rev | base64 -d | sh",
    }
    return way, lines[way]


def packed(files: dict[str, bytes], when: datetime) -> bytes:
    """Return a tar archive whose bytes depend on nothing but its arguments."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(files[name]), int(when.timestamp()), 0o644
            archive.addfile(member, io.BytesIO(files[name]))
    return out.getvalue()
