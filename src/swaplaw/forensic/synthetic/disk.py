"""The harbour case: a seeded FAT image with deleted, carved, slack and encrypted content."""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta

from swaplaw.forensic.synthetic.case import Case
from swaplaw.forensic.synthetic.containers import encrypted_zip, pdf, png
from swaplaw.forensic.synthetic.dice import Dice
from swaplaw.forensic.synthetic.fat import FatVolume

IMAGE = "harbor_usb.dd"
FIRST_NAMES = ("Mara", "Jonas", "Edda", "Piet", "Ilse", "Ruben", "Tove", "Anton", "Greta", "Milan", "Nora")
LAST_NAMES = ("Veldkamp", "Brandt", "Okafor", "Lindqvist", "Marchetti", "Dubois", "Kowalski", "Harlow")
GOODS = ("copper wire", "diesel pump", "crane hire", "rope", "pilot fee", "paint", "ice", "night watch")
BYSTANDERS = (
    "docs/tide_table.txt", "docs/crew_rota.txt", "docs/customs_form.txt", "photos/buoy.txt",
    "docs/fuel_card.txt", "docs/berth_plan.txt", "music/playlist.txt", "photos/captions.txt",
)  # fmt: skip
PLACES = ("pier", "locker", "berth", "container", "shed", "slip")


def build(seed: int) -> Case:
    """Build the image and its answers."""
    dice = Dice("harbour", seed)
    bits = dice.pick((12, 16))
    label = f"HARBOR{dice.between(10, 99)}"
    volume = FatVolume(
        bits=bits,
        clusters=dice.between(2400, 2900) if bits == 12 else dice.between(4200, 4700),
        sectors_per_cluster=4,
        label=label,
        serial=int.from_bytes(dice.bytes(4), "big"),
    )
    clock = datetime(2025, dice.between(1, 12), dice.between(1, 28), dice.between(6, 20), dice.between(0, 59))

    def tick() -> datetime:
        nonlocal clock
        clock += timedelta(seconds=2 * dice.between(30, 2000))
        return clock

    for folder in ("docs", "music", "photos"):
        volume.make_directory(folder, tick())
    answers: dict[str, dict[str, object]] = {
        "disk-01": {"accept": [f"FAT{bits}", f"FAT {bits}"]},
        "disk-02": {"accept": [f"{volume.serial:08x}", f"{volume.serial >> 16:04x}-{volume.serial & 0xFFFF:04x}"]},
        "disk-03": {"accept": [label]},
    }
    secret = _readme(volume, dice, tick())
    _live_files(volume, dice, tick)
    answers["disk-09"] = {"accept": _disguise(volume, dice, tick())}
    password, account = (
        f"{dice.word(5)}-{dice.word(6)}",
        f"NL{dice.between(10, 99)}HRBR{dice.between(10**9, 10**10 - 1)}",
    )
    note = _note(dice, password)
    volume.write("burn_after_reading.txt", note, tick())
    deal = f"Settled in full.\nPaid to account {account}\n".encode()
    volume.write("music/shanty.mp3", encrypted_zip(dice, "deal.txt", deal, password, clock), tick())
    ledger, total = _ledger(dice, "January")
    volume.write("docs/ledger_january.csv", ledger, tick())
    ledger_time = clock
    author = f"{dice.pick(FIRST_NAMES)} {dice.pick(LAST_NAMES)}"
    volume.write("docs/invoice_final.pdf", _invoice(dice, author), tick())
    carved = png(dice, dice.between(60, 90), dice.between(50, 70))
    volume.hide(carved)
    deleted = ["burn_after_reading.txt", "docs/ledger_january.csv", "docs/invoice_final.pdf"]
    for path in dice.pick_some(BYSTANDERS, dice.between(1, 4)):
        volume.write(path, f"{path} {dice.word(40)}\n".encode(), tick())
        deleted.append(path)
    for path in deleted:
        volume.delete(path)
    answers |= {
        "disk-04": {"items": [[path, f"/{path}"] for path in deleted], "threshold": 1.0},
        "disk-05": {"accept": [hashlib.md5(note).hexdigest()]},
        "disk-06": {"accept": [password]},
        "disk-07": {"accept": [account]},
        "disk-08": {"accept": [f"{total // 100}.{total % 100:02d}"], "tolerance": "0.005"},
        "disk-10": {"accept": [author]},
        "disk-11": {"accept": [hashlib.sha256(carved).hexdigest()]},
        "disk-12": {"accept": [f"{ledger_time:%Y-%m-%dT%H:%M:%S}Z"], "zones": ["UTC"], "tolerance": 2},
        "disk-13": {"accept": [secret]},
    }
    return Case({IMAGE: volume.image()}, answers)


def _readme(volume: FatVolume, dice: Dice, when: datetime) -> str:
    """Write the live README.TXT with a line in its slack; return that line."""
    secret = f"{dice.pick(PLACES)} {dice.between(11, 98)} code {dice.word(6)}"
    text = f"Harbour office stick no {dice.between(100, 999)}. Return to the office if found.\r\n".encode()
    volume.write("README.TXT", text, when, slack=b"\0" * dice.between(40, 300) + secret.encode())
    return secret


def _live_files(volume: FatVolume, dice: Dice, tick: Callable[[], datetime]) -> None:
    """Write what an honest stick holds, including passwords, names and pictures that answer nothing."""
    volume.write("reminder.txt", f"The office wifi opens with: {dice.word(9)}\n".encode(), tick())
    volume.write("docs/ledger_february.csv", _ledger(dice, "February")[0], tick())
    volume.write("docs/invoice_draft.pdf", _invoice(dice, f"{dice.pick(FIRST_NAMES)} Office"), tick())
    volume.write("music/waltz.mp3", b"ID3\x03\0\0\0\0\0\x21" + b"TIT2\0\0\0\x06\0\0\0Waltz" + dice.bytes(9000), tick())
    for name in ("pier", "crane"):
        volume.write(f"photos/{name}.png", png(dice, 48, 40), tick())


def _disguise(volume: FatVolume, dice: Dice, when: datetime) -> list[str]:
    """Write a file whose name lies about its type; return the names of its true type."""
    kind = dice.pick(("PNG", "PDF", "ZIP"))
    contents = {
        "PNG": png(dice, 30, 30),
        "PDF": pdf("Harbour Office", "Notice", ["Dredging starts on Monday."]),
        "ZIP": encrypted_zip(dice, "sunset.raw", dice.bytes(700), dice.word(8), when),
    }
    volume.write("photos/sunset.jpg", contents[kind], when)
    long_names = {"PNG": "PNG image", "PDF": "PDF document", "ZIP": "ZIP archive"}
    return [kind, long_names[kind], f"{kind} file", f"{long_names[kind]} data"]


def _note(dice: Dice, password: str) -> bytes:
    return (
        f"{dice.pick(FIRST_NAMES)},\nthe song is not a song. It opens with: {password}\n"
        f"Burn this. {dice.pick(LAST_NAMES)} must not see it.\n"
    ).encode()


def _ledger(dice: Dice, month: str) -> tuple[bytes, int]:
    """Return a table of payments and their sum in cents."""
    amounts = [dice.between(1_000, 900_000) for _ in range(dice.between(9, 16))]
    rows = [
        f"{day + 1},{month} {dice.pick(GOODS)},{cents // 100}.{cents % 100:02d}" for day, cents in enumerate(amounts)
    ]
    return ("day,item,amount_eur\n" + "\n".join(rows) + "\n").encode(), sum(amounts)


def _invoice(dice: Dice, author: str) -> bytes:
    lines = [f"{dice.pick(GOODS)}: {dice.between(1, 20)} units" for _ in range(4)]
    return pdf(author, f"Invoice {dice.between(1000, 9999)}", lines)
