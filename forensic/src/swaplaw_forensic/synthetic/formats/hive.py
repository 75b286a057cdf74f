"""A Windows registry hive (regf 1.3) written byte by byte."""

import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

BLOCK, NONE = 4096, 0xFFFFFFFF
SZ, BINARY, DWORD = 1, 3, 4
# Owner and group: the administrators; no access lists.
DESCRIPTOR = struct.pack("<BBHIIII", 1, 0, 0x8000, 20, 36, 0, 0) + 2 * struct.pack(
    "<BB6sII", 1, 2, b"\0\0\0\0\0\5", 32, 544
)


def filetime(moment: datetime) -> int:
    """Return steps of 100 nanoseconds since 1601."""
    return (moment - datetime(1601, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 10


@dataclass
class Node:
    """A key with its values and its keys below."""

    name: str
    when: datetime
    values: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    children: "dict[str, Node]" = field(default_factory=dict)

    def at(self, path: str, when: datetime) -> "Node":
        """Return the key at a path below, made where it is missing."""
        node = self
        for name in path.split("\\"):
            node = node.children.setdefault(name, Node(name, when))
        node.when = when
        return node

    def text(self, name: str, value: str) -> None:
        """Set a value of text."""
        self.values[name] = (SZ, value.encode("utf-16-le") + b"\0\0")


class _Cells:
    """The body of a hive: cells one after another."""

    def __init__(self) -> None:
        self.data = bytearray(32)

    def add(self, content: bytes) -> int:
        """Append an allocated cell and return its offset."""
        offset, size = len(self.data), -(-(len(content) + 4) // 8) * 8
        self.data += struct.pack("<i", -size) + content.ljust(size - 4, b"\0")
        return offset

    def set(self, offset: int, content: bytes) -> None:
        """Write into a cell that was added before."""
        self.data[offset + 4 : offset + 4 + len(content)] = content


def hive(root: Node, name: str) -> bytes:
    """Return the whole file."""
    cells = _Cells()
    # All keys share one security cell, which is linked to itself.
    security = cells.add(b"\0" * (20 + len(DESCRIPTOR)))
    count = _count(root)
    cells.set(security, struct.pack("<2sHIIII", b"sk", 0, security, security, count, len(DESCRIPTOR)) + DESCRIPTOR)
    top = _key(cells, root, NONE, security)
    room = -len(cells.data) % BLOCK
    if room:
        cells.data += struct.pack("<i", room).ljust(room, b"\0")  # what is left is one free cell
    stamp = filetime(root.when)
    cells.data[:32] = struct.pack("<4sIIQQI", b"hbin", 0, len(cells.data), 0, stamp, 0)
    head = struct.pack("<4sIIQIIIIIII", b"regf", 1, 1, stamp, 1, 3, 0, 1, top, len(cells.data), 1)
    head = (head + name.encode("utf-16-le")[:62].ljust(64, b"\0")).ljust(508, b"\0")
    check = 0
    for (word,) in struct.iter_unpack("<I", head):
        check ^= word
    return (head + struct.pack("<I", check)).ljust(BLOCK, b"\0") + bytes(cells.data)


def _count(node: Node) -> int:
    return 1 + sum(_count(child) for child in node.children.values())


def _key(cells: _Cells, node: Node, parent: int, security: int) -> int:
    name = node.name.encode("latin-1")
    own = cells.add(b"\0" * (76 + len(name)))
    values = [_value(cells, *item) for item in node.values.items()]
    listed = cells.add(struct.pack(f"<{len(values)}I", *values)) if values else NONE
    below = [
        (_key(cells, child, own, security), child)
        for child in sorted(node.children.values(), key=lambda c: c.name.upper())
    ]
    index = NONE
    if below:
        rows = b"".join(struct.pack("<I4s", place, child.name.encode("latin-1")[:4]) for place, child in below)
        index = cells.add(struct.pack("<2sH", b"lf", len(below)) + rows)
    flags = 0x2C if parent == NONE else 0x20
    fields = (b"nk", flags, filetime(node.when), 0, 0 if parent == NONE else parent, len(below), 0, index, NONE)
    record = struct.pack("<2sHQIIIIII", *fields) + struct.pack("<IIII", len(values), listed, security, NONE)
    longest = max((len(key) for key in node.values), default=0)
    largest = max((len(data) for _, data in node.values.values()), default=0)
    deepest = max((len(child.name) for _, child in below), default=0)
    record += struct.pack("<IIIIIHH", 2 * deepest, 0, 2 * longest, largest, 0, len(name), 0) + name
    cells.set(own, record)
    return own


def _value(cells: _Cells, name: str, content: tuple[int, bytes]) -> int:
    kind, data = content
    label = name.encode("latin-1")
    if len(data) <= 4:
        size, place = len(data) | 0x80000000, int.from_bytes(data.ljust(4, b"\0"), "little")
    else:
        size, place = len(data), cells.add(data)
    return cells.add(struct.pack("<2sHIIIHH", b"vk", len(label), size, place, kind, 1, 0) + label)
