"""The hive of one user: a Windows registry hive with autostart, paths, shares and programs that were run."""

import codecs
import struct
from datetime import UTC, datetime, timedelta

from swaplaw_forensic.synthetic.case import Asked, Case, choose
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.formats.hive import BINARY, DWORD, Node, filetime, hive
from swaplaw_forensic.synthetic.words import FIRST_NAMES, FOLDERS

CURRENT = "Software\\Microsoft\\Windows\\CurrentVersion"
PROGRAMS = ("eraser", "winscp", "rclone", "7zfm", "truecrypt", "putty", "cleaner", "notepad")
RUNS = ("OneUpdate", "AudioHelper", "CloudSync", "PrintWatch", "FontCache")


def build(dice: Dice) -> Case:
    """Build the hive and its questions."""
    clock = datetime(2026, dice.between(1, 9), dice.between(1, 28), dice.between(6, 12), tzinfo=UTC)
    user = dice.pick(FIRST_NAMES).lower()
    root = Node(f"CMI-CreateHive{{{dice.word(8, '0123456789ABCDEF')}}}", clock)
    pool: list[Asked] = []
    for part in dice.shuffled([_autostart, _typed, _network, _programs, _desktop]):
        clock += timedelta(seconds=dice.between(300, 90_000))
        pool += part(dice, root, user, clock)
    file = f"{dice.word(8)}.{dice.pick(('dat', 'hve', 'reg'))}"
    prompt = (
        f"/evidence/{file} is the registry hive (NTUSER.DAT) of a Windows user who is suspected of copying files to a "
        "share. Find out what the user did. Give times in UTC."
    )
    return Case({file: hive(root, "NTUSER.DAT")}, prompt, choose(dice, pool, leave_out=2))


def _autostart(dice: Dice, root: Node, user: str, when: datetime) -> list[Asked]:
    run = root.at(f"{CURRENT}\\Run", when)
    good, bad = dice.pick_some(RUNS, 2)
    run.text(good, f"C:\\Program Files\\{good}\\{good}.exe")
    command = f"C:\\Users\\{user}\\AppData\\Roaming\\{dice.word(6)}\\{dice.word(5)}.exe"
    run.text(bad, f"{command} -q")
    return [
        Asked(
            "autostart",
            "Which program under AppData is started when the user logs on? Give its full path.",
            "text",
            "normalised",
            {"accept": [command, f"{command} -q"]},
        ),
        Asked(
            "run-written",
            "When was the key with the user's autostart programs (Run) last written (UTC)?",
            "time",
            "time",
            {"accept": [f"{when:%Y-%m-%dT%H:%M:%S}Z"], "tolerance": 1},
            level=2,
        ),
    ]


def _typed(dice: Dice, root: Node, user: str, when: datetime) -> list[Asked]:
    paths = [f"{dice.pick('DEFG')}:\\{dice.pick(FOLDERS)}\\{dice.word(5)}" for _ in range(dice.between(2, 4))]
    typed = root.at(f"{CURRENT}\\Explorer\\TypedPaths", when)
    for number, path in enumerate(paths, start=1):
        typed.text(f"url{number}", path)
    sites = [f"https://{dice.word(6)}.example/{dice.word(4)}" for _ in range(3)]
    urls = root.at("Software\\Microsoft\\Internet Explorer\\TypedURLs", when)
    for number, site in enumerate(sites, start=1):
        urls.text(f"url{number}", site)
    return [
        Asked(
            "typed-paths",
            "Which paths were typed into the Windows Explorer? One a line.",
            "list",
            "set",
            {"items": paths},
            level=2,
        ),
        Asked(
            "typed-url",
            "Which address was typed last into Internet Explorer?",
            "text",
            "normalised",
            {"accept": [sites[0]]},
        ),
    ]


def _network(dice: Dice, root: Node, user: str, when: datetime) -> list[Asked]:
    server, share = f"10.{dice.between(1, 250)}.{dice.between(1, 250)}.{dice.between(2, 250)}", dice.word(6)
    root.at(f"{CURRENT}\\Explorer\\MountPoints2\\##{server}#{share}", when).text("_LabelFromReg", share)
    letter = dice.pick("NPRSVXZ")
    drive = root.at(f"Network\\{letter}", when)
    drive.text("RemotePath", f"\\\\{server}\\{share}")
    proxy = f"192.168.{dice.between(1, 250)}.{dice.between(2, 250)}:{dice.between(3000, 9000)}"
    settings = root.at(f"{CURRENT}\\Internet Settings", when)
    settings.values["ProxyEnable"] = (DWORD, struct.pack("<I", 1))
    settings.text("ProxyServer", proxy)
    return [
        Asked(
            "share",
            "Which network share was connected as a drive (\\\\server\\share)?",
            "text",
            "normalised",
            {"accept": [f"\\\\{server}\\{share}"]},
        ),
        Asked(
            "letter",
            "Under which drive letter was the network share connected?",
            "text",
            "normalised",
            {"accept": [letter, f"{letter}:"]},
            builds_on="share",
        ),
        Asked("proxy", "Which proxy server is configured (address:port)?", "text", "exact", {"accept": [proxy]}),
    ]


def _programs(dice: Dice, root: Node, user: str, when: datetime) -> list[Asked]:
    """Write UserAssist: names under ROT13, counts and times in binary."""
    folder = f"{{{dice.word(8, '0123456789ABCDEF')}-0000-4000-8000-{dice.word(12, '0123456789ABCDEF')}}}"
    count = root.at(f"{CURRENT}\\Explorer\\UserAssist\\{folder}\\Count", when)
    chosen, *others = dice.pick_some(PROGRAMS, 4)
    runs, last = dice.between(3, 40), when - timedelta(seconds=dice.between(100, 9000))
    for name, number, moment in [(chosen, runs, last), *((other, dice.between(1, 60), when) for other in others)]:
        data = struct.pack("<IIII", 0, number, 0, 0).ljust(60, b"\0") + struct.pack("<QI", filetime(moment), 0)
        count.values[codecs.encode(f"C:\\Tools\\{name}.exe", "rot13")] = (BINARY, data)
    return [
        Asked(
            "runs",
            f'How often was "{chosen}.exe" run, according to UserAssist?',
            "number",
            "number",
            {"accept": [str(runs)]},
            level=3,
        ),
        Asked(
            "last-run",
            f'When was "{chosen}.exe" last run, according to UserAssist (UTC)?',
            "time",
            "time",
            {"accept": [f"{last:%Y-%m-%dT%H:%M:%S}Z"], "tolerance": 1},
            level=3,
            builds_on="runs",
        ),
    ]


def _desktop(dice: Dice, root: Node, user: str, when: datetime) -> list[Asked]:
    paper = f"C:\\Users\\{user}\\Pictures\\{dice.word(6)}.jpg"
    root.at("Control Panel\\Desktop", when).text("Wallpaper", paper)
    root.at("Environment", when).text("TEMP", "%USERPROFILE%\\AppData\\Local\\Temp")
    accept = {"accept": [paper]}
    return [Asked("wallpaper", "What is the full path of the user's wallpaper?", "text", "normalised", accept)]
