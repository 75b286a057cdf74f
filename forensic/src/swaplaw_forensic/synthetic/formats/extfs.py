"""An ext4 volume written byte by byte: one block group, extents, times of creation and deletion, no journal.

Formatters draw identifiers and times of their own; here every field is set, so the bytes depend on the arguments only.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

BLOCK, INODES, INODE_SIZE = 1024, 256, 256
BLOCK_BITMAP, INODE_BITMAP, INODE_TABLE = 3, 4, 5
FIRST_DATA = INODE_TABLE + INODES * INODE_SIZE // BLOCK
ROOT, LOST_AND_FOUND, FIRST_FREE = 2, 11, 12
DIRECTORY, REGULAR, SYMLINK = 0o040000, 0o100000, 0o120000
_ENTRY_TYPE = {REGULAR: 1, DIRECTORY: 2, SYMLINK: 7}
_EXTENTS = 0x80000


@dataclass
class Node:
    """What an inode holds."""

    kind: int
    mode: int
    uid: int
    created: datetime
    modified: datetime
    content: bytes = b""
    links: int = 1
    deleted: datetime | None = None
    first: int = 0
    """First block of its content, which lies in one piece."""
    names: "list[tuple[str, int, bool]]" = field(default_factory=list)
    """Of a directory: name, inode, and whether it was deleted."""

    @property
    def blocks(self) -> int:
        """Return how many blocks the content takes."""
        return -(-len(self.content) // BLOCK)


class ExtVolume:
    """A volume in memory: make directories, write, link, delete, hide, then take its `image`."""

    def __init__(self, *, blocks: int, label: str, uuid: bytes, mounted_on: str, made: datetime) -> None:
        self.blocks, self.label, self.uuid, self.mounted_on, self.made = blocks, label, uuid, mounted_on, made
        self.last = made
        self._data = bytearray(blocks * BLOCK)
        self._next = FIRST_DATA
        self._free: list[range] = []
        self._nodes = {
            ROOT: Node(DIRECTORY, 0o755, 0, made, made, links=3),
            LOST_AND_FOUND: Node(DIRECTORY, 0o700, 0, made, made, links=2),
        }
        self._nodes[ROOT].names.append(("lost+found", LOST_AND_FOUND, False))
        self._inode = FIRST_FREE

    def make_directory(self, path: str, uid: int, when: datetime) -> None:
        """Add a directory."""
        self._add(path, Node(DIRECTORY, 0o755, uid, when, when, links=2))
        self._nodes[self._folder(path)].links += 1

    def write(
        self, path: str, data: bytes, uid: int, when: datetime, *, modified: datetime | None = None, mode: int = 0o644
    ) -> None:
        """Add a file that was created at one moment and modified at the same or another."""
        node = Node(REGULAR, mode, uid, when, modified or when, data)
        node.first = self._store(data)
        self._add(path, node)

    def link(self, path: str, existing: str) -> None:
        """Give a file a second name."""
        number = self._find(existing)
        self._nodes[number].links += 1
        self._nodes[self._folder(path)].names.append((path.rsplit("/", 1)[-1], number, False))

    def symlink(self, path: str, target: str, uid: int, when: datetime) -> None:
        """Add a symbolic link (short: its target stands in the inode)."""
        self._add(path, Node(SYMLINK, 0o777, uid, when, when, target.encode()))

    def delete(self, path: str, when: datetime) -> None:
        """Delete as Linux does: the name stays in its directory's block, the content in place, the extents do not."""
        number, folder = self._find(path), self._nodes[self._folder(path)]
        name = path.rsplit("/", 1)[-1]
        folder.names = [(one, inode, gone or one == name) for one, inode, gone in folder.names]
        node = self._nodes[number]
        node.deleted, node.links, node.modified = when, 0, when
        self._free.append(range(node.first, node.first + node.blocks))
        self.last = max(self.last, when)

    def hide(self, data: bytes) -> None:
        """Put bytes into blocks that nothing names: only carving finds them."""
        first = self._store(data)
        self._free.append(range(first, self._next))

    def image(self) -> bytes:
        """Return the whole volume."""
        for number, node in self._nodes.items():
            if node.kind == DIRECTORY:
                node.content = self._directory(number, node)
                node.first = node.first or self._store(node.content)
                self._put(node.first, node.content)
        for number, node in self._nodes.items():
            self._data[self._place(number) : self._place(number) + INODE_SIZE] = _inode(node, self.made)
        self._bitmaps()
        self._put(1, self._superblock())
        self._put(2, self._group())
        return bytes(self._data)

    def _add(self, path: str, node: Node) -> None:
        self._nodes[self._inode] = node
        self._nodes[self._folder(path)].names.append((path.rsplit("/", 1)[-1], self._inode, False))
        self._inode += 1

    def _find(self, path: str) -> int:
        number = ROOT
        for part in path.split("/"):
            number = next(inode for name, inode, gone in self._nodes[number].names if name == part and not gone)
        return number

    def _folder(self, path: str) -> int:
        return self._find(path.rsplit("/", 1)[0]) if "/" in path else ROOT

    def _store(self, data: bytes) -> int:
        first = self._next
        self._next += -(-len(data) // BLOCK)
        if self._next > self.blocks:
            raise ValueError("the volume is full")
        self._put(first, data)
        return first

    def _put(self, block: int, data: bytes) -> None:
        self._data[block * BLOCK : block * BLOCK + len(data)] = data

    def _place(self, number: int) -> int:
        return INODE_TABLE * BLOCK + (number - 1) * INODE_SIZE

    def _directory(self, number: int, node: Node) -> bytes:
        parent = next((one for one, other in self._nodes.items() if _names(other, number)), ROOT)
        rows = [(".", number, False), ("..", parent, False), *node.names]
        out = b""
        while rows:
            # A deleted name lies in the room of the last name before it that was kept.
            gone = 1
            while gone < len(rows) and rows[gone][2]:
                gone += 1
            kept, hidden = rows[0], rows[1:gone]
            rows = rows[gone:]
            used = _room(kept[0]) + sum(_room(name) for name, _, _ in hidden)
            room = used if rows else BLOCK - len(out)
            out += self._entry(kept, room) + self._slack(hidden, room - _room(kept[0]))
        return out.ljust(BLOCK, b"\0")

    def _entry(self, row: tuple[str, int, bool], room: int) -> bytes:
        name, inode, _ = row
        head = struct.pack("<IHBB", inode, room, len(name), _ENTRY_TYPE[self._nodes[inode].kind])
        return (head + name.encode()).ljust(_room(name), b"\0")

    def _slack(self, rows: Iterable[tuple[str, int, bool]], room: int) -> bytes:
        out = b""
        for row in rows:
            out += self._entry(row, room - len(out))
        return out

    def _bitmaps(self) -> None:
        unused = {block for piece in self._free for block in piece}
        taken = [block < self._next and block not in unused for block in range(1, self.blocks)]
        self._put(BLOCK_BITMAP, _bits([*taken, *([True] * (8 * BLOCK - len(taken)))]))
        self._put(INODE_BITMAP, _bits([*self._inodes_taken(), *([True] * (8 * BLOCK - INODES))]))
        self._free_blocks = taken.count(False)

    def _inodes_taken(self) -> list[bool]:
        live = {number for number, node in self._nodes.items() if node.deleted is None}
        return [number < LOST_AND_FOUND or number in live for number in range(1, INODES + 1)]

    def _superblock(self) -> bytes:
        made, last = (int(when.timestamp()) for when in (self.made, self.last))
        head = struct.pack(
            "<11I", INODES, self.blocks, 0, self._free_blocks, self._inodes_taken().count(False),
            1, 0, 0, 8 * BLOCK, 8 * BLOCK, INODES,
        )  # fmt: skip
        head += struct.pack("<IIHHHHHHIIIIHH", last, last, 7, 0xFFFF, 0xEF53, 1, 1, 0, made, 0, 0, 1, 0, 0)
        # File types in directories and extents; large files and inodes with room for the time of creation.
        head += struct.pack("<IHHIII", LOST_AND_FOUND, INODE_SIZE, 0, 0, 0x2 | 0x40, 0x1 | 0x2 | 0x40)
        head += self.uuid + self.label.encode().ljust(16, b"\0") + self.mounted_on.encode().ljust(64, b"\0")
        head = head.ljust(264, b"\0") + struct.pack("<I", made)
        return head.ljust(348, b"\0") + struct.pack("<HHI", 32, 32, 1)

    def _group(self) -> bytes:
        directories = sum(node.kind == DIRECTORY for node in self._nodes.values())
        free = self._inodes_taken().count(False)
        return struct.pack("<IIIHHH", BLOCK_BITMAP, INODE_BITMAP, INODE_TABLE, self._free_blocks, free, directories)


def _names(node: Node, number: int) -> bool:
    return node.kind == DIRECTORY and any(inode == number for _, inode, _ in node.names)


def _room(name: str) -> int:
    """Return the bytes of one directory entry."""
    return 8 + -(-len(name) // 4) * 4


def _bits(taken: Iterable[bool]) -> bytes:
    return sum(1 << place for place, bit in enumerate(taken) if bit).to_bytes(BLOCK, "little")


def _inode(node: Node, made: datetime) -> bytes:
    created, modified = int(node.created.timestamp()), int(node.modified.timestamp())
    deleted = int(node.deleted.timestamp()) if node.deleted else 0
    changed = max(created, modified, deleted)
    size, blocks = (0, 0) if deleted else (len(node.content), node.blocks)
    short = node.kind == SYMLINK
    where = node.content.ljust(60, b"\0") if short else _extent(node.first, blocks)
    head = struct.pack(
        "<HHIIIIIHHIII", node.kind | node.mode, node.uid, size, max(created, modified), changed, modified, deleted,
        node.uid, node.links, 0 if short else blocks * BLOCK // 512, 0 if short else _EXTENTS, 0,
    )  # fmt: skip
    return (head + where).ljust(128, b"\0") + struct.pack("<HHIIIII", 32, 0, 0, 0, 0, created, 0).ljust(128, b"\0")


def _extent(first: int, blocks: int) -> bytes:
    head = struct.pack("<HHHHI", 0xF30A, int(blocks > 0), 4, 0, 0)
    return (head + (struct.pack("<IHHI", 0, blocks, 0, first) if blocks else b"")).ljust(60, b"\0")
