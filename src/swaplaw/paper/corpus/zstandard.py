"""Zstandard streams, by the package `zstandard`: Python has none of its own before 3.14."""

from __future__ import annotations

import io
from typing import IO, Any

from swaplaw.errors import InputError

CHUNK = 2**18


class _Unpacking(io.RawIOBase):
    """Frames one after another; a file that ends inside a frame is cut off."""

    def __init__(self, stream: IO[bytes], package: Any) -> None:
        self.stream, self.package = stream, package
        self.frame: Any = None
        self.ready = self.packed = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.ready:
            self.packed = self.packed or self.stream.read(CHUNK)
            if not self.packed:
                if self.frame is not None:
                    raise EOFError("the file ends in the middle of its data")
                return 0
            self.frame = self.frame or self.package.ZstdDecompressor().decompressobj()
            self.ready, self.packed = self.frame.decompress(self.packed), b""
            if self.frame.eof:
                self.packed, self.frame = self.frame.unused_data, None
        size = min(len(buffer), len(self.ready))
        buffer[:size], self.ready = self.ready[:size], self.ready[size:]
        return size


def unpack_zstandard(stream: IO[bytes], mode: str = "rb") -> IO[bytes]:
    """Open a compressed stream for reading, as `gzip.open` does.

    Raises
    ------
    InputError
        Where the package is not installed.
    """
    assert mode == "rb"
    try:
        import zstandard
    except ImportError:
        raise InputError("reading .zst takes a package: pip install zstandard, or unpack the file") from None
    return io.BufferedReader(_Unpacking(stream, zstandard), CHUNK)
