"""The files inside the evidence, written without a compressor: its bytes differ between zlib versions."""

import struct
import zlib
from datetime import datetime

from swaplaw_forensic.synthetic.dice import Dice


def png(dice: Dice, width: int, height: int) -> bytes:
    """Return a picture of random pixels, stored uncompressed."""
    rows = b"".join(b"\0" + dice.bytes(width * 3) for _ in range(height))
    body = b"\x78\x01"
    for start in range(0, len(rows), 0xFFFF):
        block = rows[start : start + 0xFFFF]
        last = start + 0xFFFF >= len(rows)
        body += struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block
    body += zlib.adler32(rows).to_bytes(4, "big")
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def pdf(author: str, title: str, lines: list[str]) -> bytes:
    """Return a one-page document with an author in its metadata."""
    text = "".join(f"({line}) Tj 0 -16 Td " for line in lines)
    stream = f"BT /F1 11 Tf 60 760 Td {text}ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        f"<< /Author ({author}) /Title ({title}) /Producer (ScanStation 4) >>",
    ]
    body, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    start = len(body)
    body += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    body += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{start}\n%%EOF\n"
    return body.encode("ascii")


def encrypted_zip(dice: Dice, name: str, data: bytes, password: str, when: datetime) -> bytes:
    """Return an archive of one stored file under the traditional ZIP encryption, which every unzip opens."""
    checksum = zlib.crc32(data)
    keys = _Keys(password.encode())
    secret = keys.encrypt(dice.bytes(11) + bytes([checksum >> 24]) + data)
    time = when.hour << 11 | when.minute << 5 | when.second // 2
    date = (when.year - 1980) << 9 | when.month << 5 | when.day
    shared = struct.pack("<HHHHHIIIHH", 20, 1, 0, time, date, checksum, len(secret), len(data), len(name), 0)
    local = b"PK\x03\x04" + shared + name.encode() + secret
    central = b"PK\x01\x02" + struct.pack("<H", 20) + shared + struct.pack("<HHHII", 0, 0, 0, 0, 0)
    central += name.encode()
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end


class _Keys:
    """The three running keys of traditional ZIP encryption (PKWARE APPNOTE 6.1)."""

    def __init__(self, password: bytes) -> None:
        self.first, self.second, self.third = 0x12345678, 0x23456789, 0x34567890
        for byte in password:
            self._update(byte)

    def encrypt(self, data: bytes) -> bytes:
        out = bytearray()
        for byte in data:
            mask = self.third | 2
            out.append(byte ^ (mask * (mask ^ 1) >> 8 & 0xFF))
            self._update(byte)
        return bytes(out)

    def _update(self, byte: int) -> None:
        self.first = _step(self.first, byte)
        self.second = (self.second + (self.first & 0xFF)) * 134775813 + 1 & 0xFFFFFFFF
        self.third = _step(self.third, self.second >> 24)


def _step(key: int, byte: int) -> int:
    """Return the CRC-32 of one more byte, without the inversions of `zlib.crc32`."""
    return zlib.crc32(bytes([byte]), key ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
