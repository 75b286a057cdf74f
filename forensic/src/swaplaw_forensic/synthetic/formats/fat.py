"""A FAT12/FAT16 volume written byte by byte, so that it can hold what formatters never leave.

Deleted entries, text in file slack and clusters that no directory names are the point of a forensic image,
and no library writes them. Every field is set here, so the bytes depend on nothing but the arguments.
"""

import struct
from dataclasses import dataclass, field
from datetime import datetime

SECTOR = 512
ROOT_ENTRIES = 512
END_OF_CHAIN = {12: 0xFFF, 16: 0xFFFF}
ATTRIBUTE_DIRECTORY, ATTRIBUTE_ARCHIVE, ATTRIBUTE_LABEL, ATTRIBUTE_LONG_NAME = 0x10, 0x20, 0x08, 0x0F
DELETED = 0xE5


@dataclass
class Entry:
    """One name in a directory."""

    name: str
    attribute: int
    cluster: int
    size: int
    when: datetime
    deleted: bool = False
    children: "list[Entry]" = field(default_factory=list)


class FatVolume:
    """A volume in memory: write, delete, hide, then take its `image`."""

    def __init__(self, *, bits: int, clusters: int, sectors_per_cluster: int, label: str, serial: int) -> None:
        self.bits, self.clusters, self.sectors_per_cluster = bits, clusters, sectors_per_cluster
        self.label, self.serial = label, serial
        self.cluster_bytes = sectors_per_cluster * SECTOR
        self._fat = [0xFF8 if bits == 12 else 0xFFF8, END_OF_CHAIN[bits]] + [0] * clusters
        self._data = bytearray(clusters * self.cluster_bytes)
        self._next = 2
        self._root: list[Entry] = []

    def make_directory(self, name: str, when: datetime) -> None:
        """Add a directory under the root."""
        cluster = self._store(b"\0" * self.cluster_bytes)
        self._root.append(Entry(name, ATTRIBUTE_DIRECTORY, cluster, 0, when))

    def write(self, path: str, data: bytes, when: datetime, slack: bytes = b"") -> None:
        """Add a file (`name` or `directory/name`), with `slack` behind its last byte in its last cluster."""
        room = -len(data) % self.cluster_bytes
        if len(slack) > room:
            raise ValueError(f"{len(slack)} bytes of slack do not fit into {room}")
        cluster = self._store(data + slack)
        self._folder(path).append(Entry(path.rsplit("/", 1)[-1], ATTRIBUTE_ARCHIVE, cluster, len(data), when))

    def delete(self, path: str) -> None:
        """Delete as an operating system does: mark the entry, free the clusters, leave the bytes."""
        name = path.rsplit("/", 1)[-1]
        entry = next(entry for entry in self._folder(path) if entry.name == name)
        entry.deleted = True
        self._free(entry.cluster)

    def hide(self, data: bytes) -> None:
        """Put bytes into clusters that no directory names: only carving finds them."""
        self._free(self._store(data))

    def image(self) -> bytes:
        """Return the whole volume."""
        for folder in [entry for entry in self._root if entry.attribute == ATTRIBUTE_DIRECTORY]:
            self._put(folder.cluster, self._directory(folder.children, folder))
        table = self._table()
        root = self._directory(self._root, None).ljust(ROOT_ENTRIES * 32, b"\0")
        return b"".join([self._boot_sector(len(table) // SECTOR), table, table, root, bytes(self._data)])

    def _folder(self, path: str) -> list[Entry]:
        if "/" not in path:
            return self._root
        name = path.split("/", 1)[0]
        return next(entry for entry in self._root if entry.name == name).children

    def _store(self, data: bytes) -> int:
        first = self._next
        count = max(1, -(-len(data) // self.cluster_bytes))
        if first + count > self.clusters + 2:
            raise ValueError("the volume is full")
        for cluster in range(first, first + count):
            self._fat[cluster] = cluster + 1
        self._fat[first + count - 1] = END_OF_CHAIN[self.bits]
        self._next += count
        self._put(first, data)
        return first

    def _put(self, cluster: int, data: bytes) -> None:
        start = (cluster - 2) * self.cluster_bytes
        self._data[start : start + len(data)] = data

    def _free(self, cluster: int) -> None:
        while cluster != END_OF_CHAIN[self.bits]:
            self._fat[cluster], cluster = 0, self._fat[cluster]

    def _table(self) -> bytes:
        if self.bits == 16:
            packed = struct.pack(f"<{len(self._fat)}H", *self._fat)
        else:  # two 12-bit numbers in three bytes
            pairs = self._fat + [0] * (len(self._fat) % 2)
            packed = b"".join(
                (low | high << 12).to_bytes(3, "little") for low, high in zip(pairs[::2], pairs[1::2], strict=True)
            )
        return packed + b"\0" * (-len(packed) % SECTOR)

    def _boot_sector(self, table_sectors: int) -> bytes:
        total = 1 + 2 * table_sectors + ROOT_ENTRIES * 32 // SECTOR + self.clusters * self.sectors_per_cluster
        small, large = (total, 0) if total < 0x10000 else (0, total)
        head = struct.pack(
            "<3s8sHBHBHHBHHHII",
            b"\xeb\x3c\x90", b"MSDOS5.0", SECTOR, self.sectors_per_cluster, 1, 2, ROOT_ENTRIES,
            small, 0xF8, table_sectors, 32, 64, 0, large,
        )  # fmt: skip
        kind = f"FAT{self.bits}".ljust(8).encode()
        head += struct.pack("<BBBI11s8s", 0x80, 0, 0x29, self.serial, self.label.ljust(11).encode(), kind)
        return head.ljust(510, b"\0") + b"\x55\xaa"

    def _directory(self, entries: list[Entry], parent: Entry | None) -> bytes:
        if parent is None:
            first = datetime(2024, 1, 1)
            rows = [_record(self.label.ljust(11).encode(), ATTRIBUTE_LABEL, 0, 0, first)]
        else:
            dots = [(b".".ljust(11), parent.cluster), (b"..".ljust(11), 0)]
            rows = [_record(name, ATTRIBUTE_DIRECTORY, cluster, 0, parent.when) for name, cluster in dots]
        for number, entry in enumerate(entries, start=1):
            rows += _named(entry, number)
        return b"".join(rows)


def _named(entry: Entry, number: int) -> list[bytes]:
    """Return the long-name records and the short record of one entry."""
    stem, _, suffix = entry.name.upper().rpartition(".") if "." in entry.name else (entry.name.upper(), "", "")
    letters = "".join(letter for letter in stem if letter.isalnum())
    plain = letters == stem and len(stem) <= 8 and len(suffix) <= 3 and entry.name == entry.name.upper()
    base = stem if plain else f"{letters[:5]}~{number}"
    short = base.ljust(8).encode() + suffix[:3].ljust(3).encode()
    rows = [] if plain else _long_name(entry.name, short)
    rows.append(_record(short, entry.attribute, entry.cluster, entry.size, entry.when))
    return [bytes([DELETED]) + row[1:] for row in rows] if entry.deleted else rows


def _long_name(name: str, short: bytes) -> list[bytes]:
    """Return the VFAT records of a long name, last part first."""
    checksum = 0
    for byte in short:
        checksum = ((checksum & 1) << 7 | checksum >> 1) + byte & 0xFF
    text = name.encode("utf-16-le")
    text = (text + (b"\0\0" if len(name) % 13 else b"")).ljust(-(-len(name) // 13) * 26, b"\xff")
    rows = []
    for part in range(len(text) // 26):
        piece = text[part * 26 : part * 26 + 26]
        order = part + 1 | (0x40 if (part + 1) * 26 == len(text) else 0)
        fixed = struct.pack("<B10sBBB", order, piece[:10], ATTRIBUTE_LONG_NAME, 0, checksum)
        rows.append(fixed + piece[10:22] + b"\0\0" + piece[22:])
    return rows[::-1]


def _record(short: bytes, attribute: int, cluster: int, size: int, when: datetime) -> bytes:
    """Return one 32-byte directory record; all times are `when` (FAT counts in steps of two seconds)."""
    time = when.hour << 11 | when.minute << 5 | when.second // 2
    date = (when.year - 1980) << 9 | when.month << 5 | when.day
    return struct.pack("<11sBBBHHHHHHHI", short, attribute, 0, 0, time, date, date, 0, time, date, cluster, size)
