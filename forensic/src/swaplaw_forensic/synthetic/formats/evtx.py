"""A Windows event log (EVTX) written byte by byte: chunks, records and their binary XML, with all checksums."""

import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from xml.etree.ElementTree import Element, SubElement

CHUNK, HEADER, RECORDS_AT = 0x10000, 0x1000, 0x200
_EVENTS = "http://schemas.microsoft.com/win/2004/08/events/event"
_PROVIDER = "Microsoft-Windows-Security-Auditing"
_END, _CLOSE, _CLOSE_EMPTY, _END_ELEMENT, _VALUE = 0, 2, 3, 4, 5
_STRING = 1


def filetime(moment: datetime) -> int:
    """Return steps of 100 nanoseconds since 1601."""
    return (moment - datetime(1601, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 10


@dataclass(frozen=True)
class Event:
    """One record of a log."""

    number: int
    """Its record identifier: a gap between two shows that one was removed."""
    when: datetime
    event: int
    data: Mapping[str, str]


def log(events: Iterable[Event], computer: str) -> bytes:
    """Return the file that holds these events."""
    chunks: list[list[tuple[int, bytes]]] = [[]]
    at = RECORDS_AT
    for event in events:
        record = _record(event, computer, at)
        if chunks[-1] and at + len(record) > CHUNK:
            chunks.append([])
            at = RECORDS_AT
            record = _record(event, computer, at)
        chunks[-1].append((event.number, record))
        at += len(record)
    count, following = len(chunks), event.number + 1
    head = struct.pack("<8sQQQIHHHH", b"ElfFile\0", 0, count - 1, following, 128, 1, 3, HEADER, count)
    head = head.ljust(120, b"\0")
    return (head + struct.pack("<II", 0, zlib.crc32(head))).ljust(HEADER, b"\0") + b"".join(map(_chunk, chunks))


def _chunk(numbered: list[tuple[int, bytes]]) -> bytes:
    records = b"".join(record for _, record in numbered)
    first, (final, record) = numbered[0][0], numbered[-1]
    last = RECORDS_AT + len(records) - len(record)
    head = struct.pack(
        "<8sQQQQIIII", b"ElfChnk\0", first, final, first, final, 128, last, RECORDS_AT + len(records),
        zlib.crc32(records),
    ).ljust(120, b"\0")  # fmt: skip
    # Names stand where they are used: the tables of shared names and templates stay empty.
    tables = bytes(RECORDS_AT - 128)
    head += struct.pack("<II", 0, zlib.crc32(tables, zlib.crc32(head)))
    return (head + tables + records).ljust(CHUNK, b"\0")


def _record(event: Event, computer: str, at: int) -> bytes:
    body = b"\x0f\x01\x01\0"
    body += _element(_event(event, computer), at + 24 + len(body)) + bytes([_END])
    body += bytes(-len(body) % 8)
    size = 28 + len(body)
    return struct.pack("<IIQQ", 0x2A2A, size, event.number, filetime(event.when)) + body + struct.pack("<I", size)


def _event(event: Event, computer: str) -> Element:
    root = Element("Event", xmlns=_EVENTS)
    system, data = SubElement(root, "System"), SubElement(root, "EventData")
    SubElement(system, "Provider", Name=_PROVIDER)
    SubElement(system, "EventID").text = str(event.event)
    SubElement(system, "Level").text = "0"
    SubElement(system, "TimeCreated", SystemTime=f"{event.when:%Y-%m-%dT%H:%M:%S}.0000000Z")
    SubElement(system, "EventRecordID").text = str(event.number)
    SubElement(system, "Channel").text = "Security"
    SubElement(system, "Computer").text = computer
    for name, value in event.data.items():
        SubElement(data, "Data", Name=name).text = value
    return root


def _element(element: Element, at: int) -> bytes:
    """Write an element that starts at an offset of its chunk: names are found by such offsets."""
    start = 11 + len(_name(element.tag)) + (4 if element.attrib else 0)
    attributes = b""
    for number, (name, value) in enumerate(element.items(), start=1):
        token = 0x46 if number < len(element.attrib) else 0x06
        place = at + start + len(attributes)
        attributes += struct.pack("<BI", token, place + 5) + _name(name) + _value(value)
    body = b""
    if element.text or len(element):
        body += bytes([_CLOSE]) + (_value(element.text) if element.text else b"")
        for child in element:
            body += _element(child, at + start + len(attributes) + len(body))
        body += bytes([_END_ELEMENT])
    else:
        body += bytes([_CLOSE_EMPTY])
    listed = struct.pack("<I", len(attributes)) + attributes if element.attrib else b""
    rest = _name(element.tag) + listed + body
    token = 0x41 if element.attrib else 0x01
    return struct.pack("<BHII", token, 0xFFFF, len(rest) + 4, at + 11) + rest


def _name(name: str) -> bytes:
    code = 0
    for letter in name:
        code = code * 65599 + ord(letter) & 0xFFFFFFFF
    return struct.pack("<IHH", 0, code & 0xFFFF, len(name)) + name.encode("utf-16-le") + b"\0\0"


def _value(text: str) -> bytes:
    return struct.pack("<BBH", _VALUE, _STRING, len(text)) + text.encode("utf-16-le")
