"""The messages inside the frames: DHCP, DNS, Kerberos, LDAP, TLS and HTTP, as small as dissectors accept."""

import struct
from ipaddress import IPv4Address

from swaplaw_forensic.synthetic.formats.packets import Host, hardware


def dhcp_request(host: Host, name: str, transaction: bytes) -> bytes:
    """Return a DHCP request that names its client."""
    options = b"\x35\x01\x03" + b"\x3d\x07\x01" + hardware(host)
    options += b"\x32\x04" + IPv4Address(host.ip).packed
    options += bytes([12, len(name)]) + name.encode() + b"\x3c\x08MSFT 5.0" + b"\xff"
    return _bootp(1, host, b"\0" * 4, transaction) + options


def dhcp_acknowledgement(host: Host, server: str, transaction: bytes) -> bytes:
    """Return the server's consent."""
    options = b"\x35\x01\x05" + b"\x36\x04" + IPv4Address(server).packed + b"\x33\x04\x00\x01\x51\x80\xff"
    return _bootp(2, host, IPv4Address(host.ip).packed, transaction) + options


def _bootp(operation: int, host: Host, given: bytes, transaction: bytes) -> bytes:
    head = struct.pack(">BBBB4sHH", operation, 1, 6, 0, transaction, 0, 0)
    return head + b"\0" * 4 + given + b"\0" * 8 + hardware(host).ljust(16, b"\0") + b"\0" * 192 + b"\x63\x82\x53\x63"


def dns_query(number: int, name: str) -> bytes:
    """Return a question for an address."""
    return struct.pack(">HHHHHH", number, 0x0100, 1, 0, 0, 0) + _dns_name(name) + b"\0\1\0\1"


def dns_answer(number: int, name: str, address: str) -> bytes:
    """Return the answer to `dns_query`."""
    record = b"\xc0\x0c\0\1\0\1" + struct.pack(">IH", 300, 4) + IPv4Address(address).packed
    return struct.pack(">HHHHHH", number, 0x8180, 1, 1, 0, 0) + _dns_name(name) + b"\0\1\0\1" + record


def _dns_name(name: str) -> bytes:
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


def kerberos_request(user: str, realm: str, nonce: int) -> bytes:
    """Return an AS-REQ (RFC 4120) for a ticket-granting ticket."""
    client = _der(0x30, _tag(0, _integer(1)) + _tag(1, _der(0x30, _string(user))))
    service = _der(0x30, _tag(0, _integer(2)) + _tag(1, _der(0x30, _string("krbtgt") + _string(realm))))
    body = _tag(0, _der(0x03, b"\0\x40\x81\0\x10")) + _tag(1, client) + _tag(2, _string(realm)) + _tag(3, service)
    body += _tag(5, _der(0x18, b"20370913024805Z")) + _tag(7, _integer(nonce)) + _tag(8, _der(0x30, _integer(18)))
    request = _tag(1, _integer(5)) + _tag(2, _integer(10)) + _tag(4, _der(0x30, body))
    return _der(0x6A, _der(0x30, request))


def ldap_search(message: int, base: str, user: str) -> bytes:
    """Return a search for the names of one account."""
    equals = _der(0xA3, _der(0x04, b"sAMAccountName") + _der(0x04, user.encode()))
    wanted = _der(0x30, _der(0x04, b"displayName"))
    limits = _der(0x0A, b"\2") + _der(0x0A, b"\0") + _integer(0) + _integer(0) + _der(0x01, b"\0")
    return _der(0x30, _integer(message) + _der(0x63, _der(0x04, base.encode()) + limits + equals + wanted))


def ldap_result(message: int, entry: str, display_name: str) -> bytes:
    """Return the entry found, and the end of the search."""
    values = _der(0x31, _der(0x04, display_name.encode()))
    attributes = _der(0x30, _der(0x30, _der(0x04, b"displayName") + values))
    found = _der(0x30, _integer(message) + _der(0x64, _der(0x04, entry.encode()) + attributes))
    done = _der(0x30, _integer(message) + _der(0x65, _der(0x0A, b"\0") + _der(0x04, b"") + _der(0x04, b"")))
    return found + done


def client_hello(server_name: str, random: bytes) -> bytes:
    """Return a TLS 1.2 ClientHello that names its server."""
    name = server_name.encode()
    listed = struct.pack(">HBH", len(name) + 3, 0, len(name)) + name
    extension = struct.pack(">HH", 0, len(listed)) + listed
    ciphers = b"\xc0\x2f\xc0\x30"
    body = b"\x03\x03" + random + b"\0" + struct.pack(">H", len(ciphers)) + ciphers + b"\1\0"
    body += struct.pack(">H", len(extension)) + extension
    message = b"\1" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x01" + struct.pack(">H", len(message)) + message


def http_get(host: str, path: str, agent: str, more: str = "") -> bytes:
    """Return a GET request."""
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\nAccept: */*\r\n{more}\r\n".encode()


def http_post(host: str, path: str, agent: str, body: bytes) -> bytes:
    """Return a POST request of a form."""
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\n"
    head += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def http_response(body: bytes, kind: str) -> bytes:
    """Return a 200 response."""
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def _der(tag: int, body: bytes) -> bytes:
    if len(body) < 0x80:
        return bytes([tag, len(body)]) + body
    length = len(body).to_bytes(2, "big")
    return bytes([tag, 0x82]) + length + body


def _tag(number: int, body: bytes) -> bytes:
    return _der(0xA0 + number, body)


def _integer(value: int) -> bytes:
    return _der(0x02, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _string(text: str) -> bytes:
    return _der(0x1B, text.encode())
