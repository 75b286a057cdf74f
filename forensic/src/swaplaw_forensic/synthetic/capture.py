"""The courier case: a seeded capture of a small office in which one Windows client gets infected."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from swaplaw_forensic.synthetic.case import Asked, Case, choose
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.formats import protocols
from swaplaw_forensic.synthetic.formats.packets import BROADCAST, Capture, Host
from swaplaw_forensic.synthetic.words import FIRST_NAMES, LAST_NAMES

SECOND = 1_000_000
AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/124.0 Safari/537.36"
BAD_ENDINGS = ("top", "xyz", "icu", "cyou")
LURES = ("invoice_viewer", "parcel_label", "codec_pack", "zoom_update", "font_fix", "tax_form", "driver_kit")
GATES = ("gate", "panel", "collect", "sync", "status", "api", "report", "ping")
SERIES = ("DESKTOP", "LAPTOP", "WIN", "OFFICE", "PC")


@dataclass(frozen=True)
class Client(Host):
    """A Windows client with the person who uses it."""

    name: str
    account: str
    person: str


class Office:
    """The network and its quiet traffic."""

    def __init__(self, dice: Dice) -> None:
        self.dice, self.capture = dice, Capture()
        self.net = f"10.{dice.between(1, 250)}.{dice.between(1, 250)}"
        self.domain = f"{dice.word(6, 'abcdefghiklmnoprstuw')}.local"
        self.controller = Host(self._mac(), f"{self.net}.4")
        self.gateway = Host(self._mac(), f"{self.net}.1")
        count = dice.between(3, 5)
        numbers = dice.pick_some(range(20, 230), count)
        people = zip(dice.pick_some(FIRST_NAMES, count), dice.pick_some(LAST_NAMES, count), strict=True)
        self.clients = [self._client(*person, number) for person, number in zip(people, numbers, strict=True)]
        self._port = 49_200

    def _mac(self) -> str:
        return ":".join(f"{byte:02x}" for byte in (0x00, 0x1B, 0x21, *self.dice.bytes(3)))

    def _client(self, first: str, last: str, number: int) -> Client:
        name = f"{self.dice.pick(SERIES)}-{self.dice.word(7, 'ABCDEFGHJKLMNPQRSTUVWXYZ0123456789')}"
        return Client(self._mac(), f"{self.net}.{number}", name, f"{first[0]}{last}".lower(), f"{first} {last}")

    def port(self) -> int:
        """Return a client port that was not used before."""
        self._port += self.dice.between(1, 9)
        return self._port

    def outside(self, address: str) -> Host:
        """Return a host beyond the gateway: its frames carry the gateway's MAC."""
        return Host(self.gateway.mac, address)

    def start_up(self, client: Client, when: int) -> None:
        """Add what a client does when it is switched on: address, log-on, the user's name."""
        dice, transaction = self.dice, self.dice.bytes(4)
        everyone, nobody = Host(BROADCAST, "255.255.255.255"), Host(client.mac, "0.0.0.0")
        self.capture.udp(when, nobody, everyone, (68, 67), protocols.dhcp_request(client, client.name, transaction))
        answer = protocols.dhcp_acknowledgement(client, self.controller.ip, transaction)
        self.capture.udp(when + 4000, self.controller, client, (67, 68), answer)
        self.resolve(client, f"dc.{self.domain}", self.controller.ip, when + SECOND)
        ticket = protocols.kerberos_request(client.account, self.domain.upper(), dice.below(2**31))
        self.capture.udp(when + 2 * SECOND, client, self.controller, (self.port(), 88), ticket)
        base = ",".join(f"DC={part}" for part in self.domain.split("."))
        search = protocols.ldap_search(7, base, client.account)
        result = protocols.ldap_result(7, f"CN={client.person},CN=Users,{base}", client.person)
        turns = [(True, search), (False, result)]
        self.capture.tcp(when + 3 * SECOND, client, self.controller, (self.port(), 389), turns)

    def resolve(self, client: Host, name: str, address: str, when: int) -> None:
        """Add a DNS question and its answer."""
        number, port = self.dice.below(65536), self.port()
        self.capture.udp(when, client, self.controller, (port, 53), protocols.dns_query(number, name))
        reply = protocols.dns_answer(number, name, address)
        self.capture.udp(when + 9000, self.controller, client, (53, port), reply)

    def fetch(self, client: Host, name: str, address: str, when: int, request: bytes, response: bytes) -> None:
        """Add a DNS look-up and an HTTP exchange."""
        self.resolve(client, name, address, when - SECOND // 5)
        turns = [(True, request), (False, response)]
        self.capture.tcp(when, client, self.outside(address), (self.port(), 80), turns)

    def browse(self, client: Client, when: int) -> None:
        """Add harmless traffic: pages, and now and then a form or an encrypted site."""
        for step in range(self.dice.between(3, 6)):
            moment = when + step * self.dice.between(20, 90) * SECOND
            site = self.dice.pick(("weather", "news", "recipes", "trains")) + ".example"
            address = f"198.51.100.{self.dice.between(10, 200)}"
            request = protocols.http_get(site, f"/{self.dice.word(6)}.html", AGENT)
            if step == 1:
                request = protocols.http_post(site, "/search", AGENT, f"q={self.dice.word(5)}".encode())
            page = protocols.http_response(f"<html>{self.dice.word(200)}</html>".encode(), "text/html")
            self.fetch(client, site, address, moment, request, page)
        hello = protocols.client_hello("mail.example", self.dice.bytes(32))
        turns = [(True, hello)]
        self.capture.tcp(when + SECOND, client, self.outside("198.51.100.7"), (self.port(), 443), turns)


def build(dice: Dice) -> Case:
    """Build the capture and its questions."""
    office = Office(dice)
    day = datetime(2026, dice.between(1, 9), dice.between(1, 28), dice.between(7, 15), tzinfo=UTC)
    start = int(day.timestamp()) * SECOND + dice.below(SECOND)
    for order, client in enumerate(office.clients):
        office.start_up(client, start + (order * 40 + dice.between(0, 30)) * SECOND)
        office.browse(client, start + (order * 50 + 150) * SECOND)
    victim = dice.pick(office.clients)
    infection = start + dice.between(400, 900) * SECOND + dice.below(SECOND)
    pool = _download(office, victim, infection) + _beacons(office, victim, infection + 20 * SECOND)
    pool += [
        Asked("ip", "What is the IP address of the infected Windows client?", "text", "exact", {"accept": [victim.ip]}),
        Asked("mac", "What is the MAC address of the infected client?", "text", "normalised", {"accept": [victim.mac]}),
        Asked(
            "host-name",
            "What is the host name of the infected client?",
            "text",
            "normalised",
            {"accept": [victim.name, f"{victim.name}.{office.domain}"]},
            level=2,
            builds_on="mac",
        ),
        Asked(
            "user",
            "What is the Windows user account name on the infected client?",
            "text",
            "normalised",
            {"accept": [victim.account, f"{victim.account}@{office.domain}"]},
            level=2,
            builds_on="ip",
        ),
        Asked(
            "person",
            "What is the full name of the user of the infected client?",
            "text",
            "normalised",
            {"accept": [victim.person]},
            level=3,
            builds_on="user",
        ),
    ]
    file = f"{dice.word(8)}.pcap"
    prompt = (
        f"/evidence/{file} is a capture of a small Windows office. One client downloaded a program and has been "
        "reporting to a command-and-control server over HTTP since. Find out what happened."
    )
    return Case({file: office.capture.pcap()}, prompt, choose(dice, pool, leave_out=2))


def _download(office: Office, victim: Client, when: int) -> list[Asked]:
    """Add the download of the program, then the encrypted call home."""
    dice = office.dice
    program = b"MZ\x90\0\3\0\0\0" + dice.bytes(dice.between(20_000, 40_000))
    site = f"{dice.word(8)}-{dice.pick(('cdn', 'files', 'static', 'get'))}.{dice.pick(BAD_ENDINGS)}"
    path = f"/{dice.word(4)}/{dice.pick(LURES)}_{dice.between(10, 99)}.exe"
    request = protocols.http_get(site, path, AGENT)
    response = protocols.http_response(program, "application/octet-stream")
    office.fetch(victim, site, f"203.0.113.{dice.between(2, 120)}", when, request, response)
    home, address = f"{dice.word(9)}.{dice.pick(BAD_ENDINGS)}", f"203.0.113.{dice.between(121, 180)}"
    office.resolve(victim, home, address, when + 8 * SECOND)
    turns = [(True, protocols.client_hello(home, dice.bytes(32)))]
    office.capture.tcp(when + 9 * SECOND, victim, office.outside(address), (office.port(), 443), turns)
    return [
        Asked(
            "program",
            "What is the SHA-256 of the executable that was downloaded?",
            "text",
            "normalised",
            {"accept": [hashlib.sha256(program).hexdigest()]},
            level=2,
        ),
        Asked(
            "url",
            "From which URL was the executable downloaded?",
            "text",
            "normalised",
            {"accept": [f"http://{site}{path}", f"{site}{path}"]},
        ),
        Asked(
            "tls",
            "Which server name is in the first TLS ClientHello that the infected client sent after the download?",
            "text",
            "normalised",
            {"accept": [home]},
            level=3,
            builds_on="url",
        ),
    ]


def _beacons(office: Office, victim: Client, first: int) -> list[Asked]:
    """Add the regular reports to the command-and-control server."""
    dice = office.dice
    domain, address = f"{dice.word(7)}.{dice.pick(BAD_ENDINGS)}", f"203.0.113.{dice.between(181, 250)}"
    agent = f"{dice.pick(('Updater', 'Courier', 'Sync', 'Agent', 'Helper'))}/{dice.between(1, 9)}.{dice.between(0, 9)}"
    bot, gate = dice.bytes(8).hex(), f"/{dice.pick(GATES)}.{dice.pick(('php', 'asp', 'cgi'))}"
    count, interval = dice.between(12, 30), dice.between(25, 95)
    name = dice.pick(("id", "uid", "bot", "guid", "node"))
    office.resolve(victim, domain, address, first - SECOND)
    for number in range(count):
        body = f"{name}={bot.upper()}&n={number}&s={dice.word(12)}".encode()
        turns = [
            (True, protocols.http_post(domain, gate, agent, body)),
            (False, protocols.http_response(b"ok", "text/plain")),
        ]
        office.capture.tcp(
            first + number * interval * SECOND, victim, office.outside(address), (office.port(), 80), turns
        )
    moment = datetime.fromtimestamp(first // SECOND, UTC)
    return [
        Asked(
            "domain",
            "What is the domain of the command-and-control server that is polled over HTTP?",
            "text",
            "normalised",
            {"accept": [domain]},
        ),
        Asked(
            "count",
            "How many beacons (POST requests) did the infected client send to the command-and-control server?",
            "number",
            "number",
            {"accept": [str(count)]},
        ),
        Asked("agent", "What is the User-Agent of the beacons?", "text", "exact", {"accept": [agent]}),
        Asked("bot", "Which bot identifier is sent in the beacons?", "text", "normalised", {"accept": [bot]}, level=2),
        Asked(
            "first",
            "When was the first beacon sent (UTC)?",
            "time",
            "time",
            {"accept": [f"{moment:%Y-%m-%dT%H:%M:%S}Z"], "tolerance": 2},
        ),
        Asked(
            "interval",
            "What is the interval between beacons, in seconds?",
            "number",
            "number",
            {"accept": [str(interval)], "tolerance": "0.5", "unit": "s"},
            level=2,
        ),
    ]
