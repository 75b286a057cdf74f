"""The courier's client: hours of the traffic of a Windows office in which one client gets infected.

By the seed, the program comes as what it is or as a picture; reports home by POST, in a cookie or in names that are
looked up; and an archive leaves by POST or by FTP. Other clients poll, download and send, too, for good reasons. At the
hardest level the capture shows addresses only, and who had which address when stands in a second file.
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from swaplaw_forensic.synthetic.case import Asked, Case, choose, counted, said, timed
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.formats import protocols
from swaplaw_forensic.synthetic.formats.packets import BROADCAST, Capture, Host
from swaplaw_forensic.synthetic.words import ENDINGS, FIRST_NAMES, LAST_NAMES, STEMS, called, dated, filler

SECOND = 1_000_000
AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/124.0 Safari/537.36"
LURES = ("invoice_viewer", "parcel_label", "codec_pack", "zoom_update", "font_fix", "tax_form", "driver_kit")
GATES = ("gate", "panel", "collect", "sync", "status", "api", "report", "ping")
DELIVERIES, BEACONS, THEFTS = ("exe", "picture"), ("post", "cookie", "names"), ("post", "ftp")
CLIENTS, HOURS = {1: 6, 2: 10, 3: 12}, {1: 3, 2: 6, 3: 9}
OK = protocols.http_response(b"ok", "text/plain")
SITES = ("weather", "news", "recipes", "trains", "shop")
SERIES = ("DESKTOP", "LAPTOP", "WIN", "OFFICE", "PC")


@dataclass(frozen=True)
class Client(Host):
    """A Windows client with the person who uses it."""

    name: str
    account: str
    person: str

    def lease(self, address: str) -> str:
        """Return who this is, as the log of leases has it."""
        return f"{address},{self.mac},{self.name},{self.account},{self.person}"


class Office:
    """The network and its quiet traffic."""

    def __init__(self, dice: Dice, count: int) -> None:
        self.dice, self.capture = dice, Capture()
        self.leases: list[tuple[int, str]] = []
        self.net = f"10.{dice.between(1, 250)}.{dice.between(1, 250)}"
        self.domain = f"{dice.word(6, 'abcdefghiklmnoprstuw')}.local"
        self.controller = Host(self._mac(), f"{self.net}.4")
        self.gateway = Host(self._mac(), f"{self.net}.1")
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

    def start_up(self, client: Client, when: int, named: bool) -> None:
        """Add what a client does when it is switched on, unless the capture begins later: address, log-on, name."""
        self.leases.append((when, client.lease(client.ip)))
        if not named:
            return
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
        self.exchange(client, self.controller, when + 3 * SECOND, 389, search, result)

    def resolve(self, client: Host, name: str, address: str, when: int) -> None:
        """Add a DNS question and its answer."""
        number, port = self.dice.below(65536), self.port()
        self.capture.udp(when, client, self.controller, (port, 53), protocols.dns_query(number, name))
        reply = protocols.dns_answer(number, name, address)
        self.capture.udp(when + 9000, self.controller, client, (53, port), reply)

    def fetch(self, client: Host, name: str, address: str, when: int, request: bytes, response: bytes) -> None:
        """Add a DNS look-up and an HTTP exchange."""
        self.resolve(client, name, address, when - SECOND // 5)
        self.exchange(client, self.outside(address), when, 80, request, response)

    def exchange(self, client: Host, server: Host, when: int, service: int, request: bytes, response: bytes) -> None:
        """Add a connection with a request and, where there is one, its response."""
        turns = [(True, request), *([(False, response)] if response else [])]
        self.capture.tcp(when, client, server, (self.port(), service), turns)

    def browse(self, client: Client, when: int) -> None:
        """Add harmless traffic: pages, and now and then a form or an encrypted site."""
        for step in range(self.dice.between(3, 8)):
            moment = when + step * self.dice.between(20, 90) * SECOND
            site = f"{self.dice.pick(SITES)}{self.dice.between(1, 9)}.example"
            address = f"198.51.100.{self.dice.between(10, 200)}"
            request = protocols.http_get(site, f"/{self.dice.word(6)}.html", AGENT)
            if step == 1:
                request = protocols.http_post(site, "/search", AGENT, f"q={self.dice.word(5)}".encode())
            page = protocols.http_response(filler(self.dice, 500, 6000), "text/html")
            self.fetch(client, site, address, moment, request, page)
        hello = protocols.client_hello("mail.example", self.dice.bytes(32))
        self.exchange(client, self.outside("198.51.100.7"), when + SECOND, 443, hello, b"")

    def send(self, client: Client, name: str, address: str, when: int, file: str, content: bytes) -> None:
        """Add an upload by FTP: its commands, and the connection that carries the file."""
        self.resolve(client, name, address, when - SECOND)
        server, port = self.outside(address), self.dice.between(40_000, 60_000)
        passive = f"227 Entering Passive Mode ({address.replace('.', ',')},{port >> 8},{port & 255})."
        talk = [(False, "220 ready"), (True, f"USER {client.account}"), (False, "331 password"), (True, "PASS letmein"),
                (False, "230 in"), (True, "PASV"), (False, passive), (True, f"STOR {file}"), (False, "150 go"),
                (False, "226 done"), (True, "QUIT")]  # fmt: skip
        turns = [(speaks, f"{line}\r\n".encode()) for speaks, line in talk]
        self.capture.tcp(when, client, server, (self.port(), 21), turns)
        self.capture.tcp(when + SECOND // 100, client, server, (self.port(), port), [(True, content)])


def build(dice: Dice, level: int) -> Case:
    """Tell the story and its questions."""
    office = Office(dice, CLIENTS[level])
    day = datetime(2026, dice.between(1, 9), dice.between(1, 28), dice.between(7, 9), tzinfo=UTC)
    start = int(day.timestamp()) * SECOND + dice.below(SECOND)
    for order, client in enumerate(office.clients):
        office.start_up(client, start + (order * 40 + dice.between(0, 30)) * SECOND, level < 3)
        for hour in range(HOURS[level]):
            office.browse(client, start + (hour * 3600 + order * 50 + dice.between(600, 2400)) * SECOND)
    victim, *others = dice.pick_some(office.clients, CLIENTS[level])
    if level == 3:
        # The address was somebody else's before: only the time tells whose it was.
        office.leases.append((start - dice.between(2, 6) * 3600 * SECOND, others[0].lease(victim.ip)))
        office.leases.append((start + HOURS[3] * 3600 * SECOND, others[1].lease(victim.ip)))
    infection = start + dice.between(2400, HOURS[level] * 3600 - 3000) * SECOND + dice.below(SECOND)
    delivery, beacon, theft = dice.pick(DELIVERIES), dice.pick(BEACONS), dice.pick(THEFTS)
    _decoys(office, others, start, HOURS[level])
    pool = _download(office, victim, infection, delivery)
    pool += _beacons(office, victim, infection + 20 * SECOND, beacon)
    pool += _theft(office, victim, infection + dice.between(700, 1500) * SECOND, theft)
    hard = 3 if level == 3 else 2
    pool += [
        said("ip", "What is the IP address of the infected client?", victim.ip, tier="exact", level=2),
        said("mac", "What is the MAC address of the infected client?", victim.mac, level=2, on="ip"),
        said("host-name", "What is the host name of the infected client?", victim.name,
             f"{victim.name}.{office.domain}", level=hard, on="ip"),
        said("user", "What is the user account name on the infected client?", victim.account,
             f"{victim.account}@{office.domain}", level=hard, on="ip"),
        said("person", "What is the full name of the user of the infected client?", victim.person, level=3, on="user"),
    ]  # fmt: skip
    names = called(dice, level, "pcap")
    prompt = (
        f"/evidence/{names[0]} is a capture of a small Windows office. One client downloaded a malicious program, "
        "reported to a command-and-control server since, and sent an archive away. Give times in UTC."
    )
    if level == 3:
        prompt += (
            f" The capture holds no log-ons; /evidence/{names[1]} is the office's log of leases (time, address, MAC "
            "address, host name, account, full name)."
        )
    leases = dated((_utc(when), text) for when, text in sorted(office.leases))
    procedure = {"delivery": delivery, "beacon": beacon, "theft": theft}
    return Case(names, prompt, choose(dice, pool), lambda: (office.capture.pcap(), leases), procedure)


def _utc(when: int) -> datetime:
    return datetime.fromtimestamp(when // SECOND, UTC)


def _decoys(office: Office, others: list[Client], start: int, hours: int) -> None:
    """Let others do what looks alike: a vendor's update, reports at even intervals, an upload, names never seen."""
    dice, (updater, sender, *_) = office.dice, others
    update = protocols.http_get("updates.vendor.example", "/agent/setup_7.exe", AGENT)
    body = protocols.http_response(b"MZ\x90\0\3\0\0\0" + dice.bytes(20_000), "application/octet-stream")
    office.fetch(updater, "updates.vendor.example", "198.51.100.250", start + 900 * SECOND, update, body)
    for number in range(hours * 20):
        when = start + (1000 + number * 170) * SECOND
        report = protocols.http_post("telemetry.vendor.example", "/v1/status", "Vendor/7.1", f"n={number}".encode())
        office.exchange(updater, office.outside("198.51.100.251"), when, 80, report, OK)
    photos = f"{dice.pick(STEMS)}_{dice.word(4)}.zip"
    album = filler(dice, 9000, 30_000)
    office.send(sender, "ftp.printer.example", "198.51.100.252", start + 1900 * SECOND, photos, album)


def _download(office: Office, victim: Client, when: int, delivery: str) -> list[Asked]:
    """Add the download of the program, then the encrypted call home."""
    dice = office.dice
    program = b"MZ\x90\0\3\0\0\0" + dice.bytes(dice.between(20_000, 40_000))
    site = f"{dice.word(8)}-{dice.pick(('cdn', 'files', 'static', 'get'))}.{dice.pick(ENDINGS)}"
    ending, kind = ("exe", "application/octet-stream") if delivery == "exe" else ("jpg", "image/jpeg")
    path = f"/{dice.word(4)}/{dice.pick(LURES)}_{dice.between(10, 99)}.{ending}"
    request, response = protocols.http_get(site, path, AGENT), protocols.http_response(program, kind)
    office.fetch(victim, site, f"203.0.113.{dice.between(2, 120)}", when, request, response)
    home, address = f"{dice.word(9)}.{dice.pick(ENDINGS)}", f"203.0.113.{dice.between(121, 150)}"
    office.resolve(victim, home, address, when + 8 * SECOND)
    hello = protocols.client_hello(home, dice.bytes(32))
    office.exchange(victim, office.outside(address), when + 9 * SECOND, 443, hello, b"")
    return [
        said("program", "What is the SHA-256 of the malicious program that was downloaded?",
             hashlib.sha256(program).hexdigest(), level=2, on="url"),
        said("url", "From which URL was the malicious program downloaded?", f"http://{site}{path}", f"{site}{path}",
             level=2),
        said("tls", "Which server name is in the infected client's first TLS ClientHello after the download?", home,
             level=3, on="url"),
    ]  # fmt: skip


def _beacons(office: Office, victim: Client, first: int, beacon: str) -> list[Asked]:
    """Add the regular reports to the command-and-control server."""
    dice = office.dice
    domain, address = f"{dice.word(7)}.{dice.pick(ENDINGS)}", f"203.0.113.{dice.between(151, 200)}"
    agent = f"{dice.pick(('Updater', 'Courier', 'Sync', 'Agent', 'Helper'))}/{dice.between(1, 9)}.{dice.between(0, 9)}"
    bot, gate = dice.bytes(8).hex(), f"/{dice.pick(GATES)}.{dice.pick(('php', 'asp', 'cgi'))}"
    count, interval = dice.between(40, 90), dice.between(25, 95)
    if beacon != "names":
        office.resolve(victim, domain, address, first - SECOND)
    for number in range(count):
        when = first + number * interval * SECOND
        if beacon == "names":
            # Only the question and its answer: what is looked up is the report.
            office.resolve(victim, f"{bot}.{number:04x}{dice.word(4)}.{domain}", address, when)
            continue
        request = protocols.http_post(domain, gate, agent, f"id={bot}&n={number}&s={dice.word(12)}".encode())
        if beacon == "cookie":
            request = protocols.http_get(domain, gate, agent, f"Cookie: sid={bot}; t={dice.word(6)}\r\n")
        office.exchange(victim, office.outside(address), when, 80, request, OK)
    pool = [
        said("domain", "What is the domain of the command-and-control server to which the program reports regularly?",
             domain, level=2),
        counted("count", "How many reports did it send there?", count, 2, "domain"),
        said("bot", "Which identifier of the infected client do the reports carry?", bot, level=3, on="domain"),
        timed("first", "When was the first report sent (UTC)?", _utc(first), 2, "domain"),
        counted("interval", "What is the interval between reports, in seconds?", interval, 2, "domain", tolerance="0.5",
                unit="s"),
    ]  # fmt: skip
    if beacon != "names":
        pool.append(said("agent", "What is the User-Agent of the reports?", agent, tier="exact", level=2, on="domain"))
    return pool


def _theft(office: Office, victim: Client, when: int, theft: str) -> list[Asked]:
    """Send an archive away."""
    dice = office.dice
    target, address = f"{dice.word(8)}.{dice.pick(ENDINGS)}", f"203.0.113.{dice.between(201, 250)}"
    archive = f"{dice.pick(STEMS)}_{dice.word(4)}.7z"
    content = b"7z\xbc\xaf\x27\x1c" + dice.bytes(dice.between(9000, 30_000))
    if theft == "ftp":
        office.send(victim, target, address, when, archive, content)
    else:
        office.resolve(victim, target, address, when - SECOND)
        request = protocols.http_post(target, f"/in/{archive}", AGENT, content)
        office.exchange(victim, office.outside(address), when, 80, request, OK)
    return [
        said("archive", "What is the file name of the archive that was sent away?", archive, level=2),
        counted("size", "How many bytes has that archive?", len(content), 3, "archive"),
        said("target", "To which host was it sent?", target, level=2, on="archive"),
    ]
