"""Frames written byte by byte: Ethernet, IPv4, UDP, TCP, and a capture file of them."""

import struct
from dataclasses import dataclass, field
from ipaddress import IPv4Address

BROADCAST = "ff:ff:ff:ff:ff:ff"
SYN, ACK, PUSH_ACK, SYN_ACK, FIN_ACK = 0x02, 0x10, 0x18, 0x12, 0x11
SEGMENT = 1400


@dataclass(frozen=True)
class Host:
    """One end of a conversation."""

    mac: str
    ip: str


@dataclass
class Capture:
    """Frames with their times in microseconds since 1970; written in order of time."""

    frames: list[tuple[int, bytes]] = field(default_factory=list)
    _identification: int = 0

    def udp(self, when: int, source: Host, target: Host, ports: tuple[int, int], body: bytes) -> None:
        """Add one datagram."""
        length = 8 + len(body)
        head = struct.pack(">HHHH", *ports, length, 0)
        check = checksum(_pseudo_header(source.ip, target.ip, 17, length) + head + body) or 0xFFFF
        self._ip(when, source, target, 17, head[:6] + check.to_bytes(2, "big") + body)

    def tcp(
        self, when: int, client: Host, server: Host, ports: tuple[int, int], turns: list[tuple[bool, bytes]]
    ) -> None:
        """Add a whole connection: handshake, the turns (True: the client speaks), close."""
        clock = when
        numbers = {True: 1000 + ports[0], False: 5000 + ports[0]}

        def send(from_client: bool, flags: int, body: bytes = b"") -> None:
            nonlocal clock
            source, target = (client, server) if from_client else (server, client)
            pair = ports if from_client else ports[::-1]
            acknowledged = 0 if flags == SYN else numbers[not from_client]
            head = struct.pack(">HHIIBBHHH", *pair, numbers[from_client], acknowledged, 5 << 4, flags, 64240, 0, 0)
            pseudo = _pseudo_header(source.ip, target.ip, 6, len(head) + len(body))
            check = checksum(pseudo + head + body)
            self._ip(clock, source, target, 6, head[:16] + check.to_bytes(2, "big") + head[18:] + body)
            numbers[from_client] += len(body) + (flags in (SYN, SYN_ACK, FIN_ACK))
            clock += 900

        send(True, SYN)
        send(False, SYN_ACK)
        send(True, ACK)
        for from_client, body in turns:
            for start in range(0, len(body), SEGMENT):
                send(from_client, PUSH_ACK, body[start : start + SEGMENT])
            send(not from_client, ACK)
        send(True, FIN_ACK)
        send(False, FIN_ACK)
        send(True, ACK)

    def _ip(self, when: int, source: Host, target: Host, protocol: int, body: bytes) -> None:
        self._identification = (self._identification + 1) % 0x10000
        fields = (0x45, 0, 20 + len(body), self._identification, 0x4000, 128, protocol)
        addresses = IPv4Address(source.ip).packed + IPv4Address(target.ip).packed
        head = struct.pack(">BBHHHBB", *fields)
        check = checksum(head + b"\0\0" + addresses)
        frame = hardware(target) + hardware(source) + b"\x08\0" + head + check.to_bytes(2, "big") + addresses + body
        self.frames.append((when, frame.ljust(60, b"\0")))  # the least length that a wire carries

    def pcap(self) -> bytes:
        """Return a classic capture file with microseconds."""
        out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
        for when, frame in sorted(self.frames, key=lambda item: item[0]):
            out.append(struct.pack("<IIII", *divmod(when, 1_000_000), len(frame), len(frame)) + frame)
        return b"".join(out)


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071)."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def _pseudo_header(source: str, target: str, protocol: int, length: int) -> bytes:
    return IPv4Address(source).packed + IPv4Address(target).packed + struct.pack(">BBH", 0, protocol, length)


def hardware(host: Host) -> bytes:
    """Return the MAC address as frames have it."""
    return bytes.fromhex(host.mac.replace(":", ""))
