"""Solvers of synthetic cases: told what the intruder did (the procedure), never an answer."""

import base64
import csv
import hashlib
import io
import re
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

Answers = dict[str, str]
Told = dict[str, str]


def tool(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, env={"PATH": PATH, "TZ": "UTC"})
    return done.stdout.decode("utf-8", "replace")


PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def first(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    assert found, pattern
    return found[1]


def host(files: list[Path], told: Told) -> Answers:
    with tarfile.open(files[0]) as archive:
        held = {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}  # type: ignore[union-attr]
    login, web = (held[f"var/log/{name}"].decode().splitlines() for name in ("auth.log", "nginx/access.log"))
    flows = list(csv.reader(files[1].read_text().splitlines())) if len(files) > 1 else []
    history, line = next(
        (name, text)
        for name, body in held.items()
        if name.endswith(".bash_history") and b"tar czf" in body
        for text in body.decode().splitlines()
        if "tar czf" in text
    )
    found = {"archive": first(r"tar czf \S*/(\S+\.tgz)", line)}
    folder = {"cron": "etc/cron.d/", "systemd": "etc/systemd/system/", "profile": "etc/profile.d/"}[told["stay"]]
    starter, command = next(
        (name, text)
        for name, body in held.items()
        if name.startswith(folder) and "--connect" in (text := decoded(body.decode(), told["code"]))
    )
    program = first(r"/(\S+) --connect", command).lstrip("/")
    found |= {
        "starter": f"/{starter}",
        "callback": first(r"--connect (\S+)", command),
        "program": hashlib.sha256(held[program]).hexdigest(),
    }
    if told["entry"] == "upload":
        shell = Counter(re.findall(r"GET (\S+\.php)\?c=\S+ HTTP/1.1\" 200", "\n".join(web))).most_common(1)[0]
        upload = next(row for row in web if '" 201 ' in row)
        found |= {"shell": shell[0], "commands": str(shell[1]), "address": upload.split()[0]}
        day, month, rest = first(r"\[([^ ]+) ", upload).split("/")
        number = "JanFebMarAprMayJunJulAugSepOctNovDec".index(month) // 3 + 1
        at = found["entered"] = f"{rest[:4]}-{number:02d}-{day}T{rest[5:]}Z"
    else:
        victim = history.split("/")[1]
        seen = r"(203\.0\.113\.\d+|10\.0\.0\.1)"
        way = "password" if told["entry"] == "guess" else "publickey"
        entered = next(row for row in login if re.search(rf"Accepted {way} for {victim} from {seen} ", row))
        address = first(rf"from {seen} ", entered)
        failed = [row for row in login if f"Failed password for {victim} from {address} " in row]
        found |= {"account": victim, "address": address, "failures": str(len(failed)), "entered": entered.split()[0]}
        at = entered[:19] + "Z"
    if flows:
        found["address"] = next(row[1] for row in flows if row[0] == at and row[2] == "10.0.0.1")
    if told["theft"] == "web":
        found["bytes"] = next(row.split()[-1] for row in web if f"/static/{found['archive']} " in row)
    else:
        found["target"] = first(r"drop@([^:]+):" if told["theft"] == "scp" else r"https://([^/]+)/", line)
        found["bytes"] = next((row[5] for row in flows if row[1] == found["target"]), "")
    return found


def decoded(text: str, way: str) -> str:
    if way == "plain":
        return text
    coded = re.search(r"echo (\S+) \|", text)
    if not coded:
        return ""
    try:
        if way == "hex":
            return bytes.fromhex(coded[1]).decode()
        return base64.b64decode(coded[1][::-1] if way == "reversed" else coded[1]).decode()
    except ValueError:
        return ""


def eventlog(files: list[Path], told: Told) -> Answers:
    text = tool("evtxexport", "-f", "xml", files[0])
    events = []
    for part in re.findall(r"<Event .*?</Event>", text, re.DOTALL):
        root = ElementTree.fromstring(re.sub(' xmlns="[^"]+"', "", part))
        data: dict[str, Any] = {row.get("Name", ""): row.text or "" for row in root.iter("Data")}
        created = root.find(".//TimeCreated")
        assert created is not None
        data |= {name: root.findtext(f".//{name}") or "" for name in ("EventID", "EventRecordID")}
        events.append(data | {"when": created.get("SystemTime", "")[:19] + "Z"})
    command = next(e for e in events if "-nop -w hidden" in e.get("CommandLine", ""))
    victim = command["SubjectUserName"]
    script = base64.b64decode(command["CommandLine"].split()[-1]).decode("utf-16-le")
    sent = next(e["CommandLine"] for e in events if "C:\\Users\\Public\\" in e.get("CommandLine", ""))
    kind = "3" if told["entry"] == "sideways" else "10"
    outside, leases = r"203\.0\.113\.", []
    if len(files) > 1:
        leases = [row for row in csv.reader(files[1].read_text().splitlines()) if row[2].startswith("203.0.113.")]
        outside = re.escape(leases[0][1]) + "$"
    logons = [e for e in events if e.get("TargetUserName") == victim and re.match(outside, e.get("IpAddress", ""))]
    start = leases[0][0] if leases else ""
    came = next(e for e in logons if e["EventID"] == "4624" and e["LogonType"] == kind and e["when"] >= start)
    failed = [e for e in logons if e["EventID"] == "4625" and start <= e["when"] < came["when"]]
    found = {
        "account": victim,
        "address": leases[0][2] if leases else came["IpAddress"],
        "entered": came["when"],
        "type": kind,
        "failures": str(len(failed)),
        "url": first(r"(http://[^']+)", script if "http:" in script else script[::-1]),
        "target": first(r"(?:https://|\.txt |--sftp-host )([\w.]+)", sent),
        "archive": first(r"Public\\(\S+?\.7z)", sent),
    }
    mine = [e for e in events if e.get("SubjectUserName") == victim]
    wanted = ("4697", "4698", "4720", "4732", "1102")
    by = {number: next((e for e in mine if e["EventID"] == number), {}) for number in wanted}
    numbers = [int(e["EventRecordID"]) for e in events]
    found |= {
        "service": by["4697"].get("ServiceName", ""),
        "task": by["4698"].get("TaskName", ""),
        "path": by["4697"].get("ServiceFileName") or by["4698"].get("TaskContent", ""),
        "created": by["4720"].get("TargetUserName", ""),
        "group": by["4732"].get("TargetUserName", ""),
        "cleared": by["1102"].get("when", ""),
        "missing": str(next(iter(set(range(min(numbers), max(numbers))) - set(numbers)), "")),
    }
    return found


def fields(capture: Path, shown: str, *names: str) -> list[list[str]]:
    wanted = [part for name in names for part in ("-e", name)]
    lines = tool("tshark", "-r", capture, "-Y", shown, "-T", "fields", *wanted).splitlines()
    return [line.split("\t") for line in lines]


def plain(text: str) -> str:
    """What versions of tshark print as text or as hexadecimal digits."""
    return bytes.fromhex(text.replace(":", "")).decode() if re.fullmatch(r"(?:[0-9a-f]{2}:?)+", text) else text


def capture(files: list[Path], told: Told) -> Answers:
    trace, outside = files[0], "ip.dst==203.0.113.0/24"
    came = fields(trace, "http.response && ip.src==203.0.113.0/24", "http.response_for.uri", "ip.dst")
    with tempfile.TemporaryDirectory() as folder:
        tool("tshark", "-r", trace, "-q", "--export-objects", f"http,{folder}")
        held = {file.name: file.read_bytes() for file in Path(folder).iterdir()}
    url, victim = next(row for row in came if held.get(row[0].rsplit("/", 1)[-1], b"").startswith(b"MZ"))
    found = {"ip": victim, "url": url, "program": hashlib.sha256(held[url.rsplit("/", 1)[-1]]).hexdigest()}
    found["mac"] = fields(trace, f"ip.src=={victim} && http.request", "eth.src")[0][0]
    hello = f"tls.handshake.extensions_server_name && ip.src=={victim} && {outside}"
    found["tls"] = fields(trace, hello, "tls.handshake.extensions_server_name")[0][0]
    if told["beacon"] == "names":
        rows = fields(trace, f"dns.flags.response==0 && ip.src=={victim}", "frame.time_epoch", "dns.qry.name")
        rows = [row for row in rows if re.match(r"[0-9a-f]{16}\.", row[1])]
        found |= {"domain": rows[0][1].split(".", 2)[2], "bot": rows[0][1].split(".")[0], "agent": ""}
        times = [float(row[0]) for row in rows]
    else:
        data = "http.cookie" if told["beacon"] == "cookie" else "http.file_data"
        method = "GET" if told["beacon"] == "cookie" else "POST"
        rows = fields(trace, f"http.request.method=={method} && ip.src=={victim} && {outside}",
                      "frame.time_epoch", "http.host", "http.user_agent", data)  # fmt: skip
        domain = Counter(row[1] for row in rows).most_common(1)[0][0]
        rows = [row for row in rows if row[1] == domain]
        found |= {"domain": domain, "agent": rows[0][2], "bot": first(r"=([0-9a-f]{16})", plain(rows[0][3]))}
        times = [float(row[0]) for row in rows]
    found |= {"count": str(len(rows)), "interval": f"{times[1] - times[0]:.0f}", "first": f"@{int(times[0])}"}
    if told["theft"] == "ftp":
        stored = fields(trace, f"ftp.request.command==STOR && ip.src=={victim}", "ftp.request.arg", "ip.dst")[0]
        sent = fields(trace, f"ip.src=={victim} && ip.dst=={stored[1]} && tcp.dstport>30000", "tcp.len")
        names = fields(trace, f"dns.a=={stored[1]}", "dns.qry.name")
        found |= {"archive": stored[0], "target": names[0][0], "size": str(sum(int(row[0]) for row in sent))}
    else:
        posts = fields(trace, f"http.request.method==POST && ip.src=={victim}", "http.request.uri", "http.host",
                       "http.content_length_header")  # fmt: skip
        uri, target, size = next(row for row in posts if row[0].startswith("/in/"))
        found |= {"archive": uri[4:], "target": target, "size": size}
    if len(files) > 1:
        rows = [row for row in csv.reader(files[1].read_text().splitlines()) if row[1:3] == [victim, found["mac"]]]
        found |= {"host-name": rows[0][3], "user": rows[0][4], "person": rows[0][5]}
    else:
        named = fields(trace, f"dhcp.option.hostname && eth.src=={found['mac']}", "dhcp.option.hostname")
        found["host-name"] = named[0][0]
        found["user"] = fields(trace, f"kerberos.CNameString && ip.src=={victim}", "kerberos.CNameString")[0][0]
        people = fields(trace, f"ldap.AttributeValue && ip.dst=={victim}", "ldap.AttributeValue")
        found["person"] = plain(people[0][0].split(",")[0])
    return found


def disk(files: list[Path], told: Told) -> Answers:
    image = files[0]
    listed = [
        (row[1] is not None, int(row[2]), row[3])
        for line in tool("fls", "-r", "-p", image).splitlines()
        if (row := re.match(r"r/r (\* )?(\d+)(?:\(realloc\))?:\t(.+)", line))
    ]

    def content(inode: int) -> bytes:
        return subprocess.run(["icat", image, str(inode)], capture_output=True).stdout

    def times(inode: int) -> dict[str, str]:
        told = tool("istat", image, str(inode))
        return dict(re.findall(r"^(\w[\w ]+):\s+(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", told, re.M))

    deleted = [(inode, path) for gone, inode, path in listed if gone]
    note, text = next((inode, body) for inode, _ in deleted if b"drop@" in (body := content(inode)))
    found = {
        "host": first(r"drop@(\S+)", text.decode()),
        "word": first(r"the word is (\S+)", text.decode()),
        "note-gone": times(note)["Deleted"] + " UTC",
        "user": first(r"uid / gid: (\d+)", tool("istat", image, str(note))),
        "uuid": first(r"UUID:\s+(\S+)", tool("dumpe2fs", "-h", image)),
    }
    pictures = [(inode, path) for gone, inode, path in listed if path.endswith(".jpg") and not gone]
    wanted = deleted if told["hiding"] == "deleted" else pictures
    inode, path = next((inode, path) for inode, path in wanted if b"ustar" in content(inode))
    body = content(inode)
    body = body[body.index(b"ustar") - 257 :]
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        member = archive.getmembers()[0]
        ledger = archive.extractfile(member).read().decode()  # type: ignore[union-attr]
    found |= {"archive": f"/{path}", "ledger": member.name, "bank": first(r"to account,(\w+)", ledger)}
    found["sum"] = first(r"consulting,(\d+)", ledger)
    home = first(r"(home/\w+)/", dict(deleted)[note])
    live = {path: inode for gone, inode, path in listed if not gone}
    stamps = {path: times(inode) for path, inode in live.items() if path.startswith(home)}
    found["dated"] = "/" + next(p for p, t in stamps.items() if t["File Modified"][:7] < t["File Created"][:4])
    if len(files) > 1:
        known = dict(line.rsplit(",", 1) for line in files[1].read_text().splitlines())
        altered = next(
            path
            for path, inode in live.items()
            if f"/{path}" in known and hashlib.sha256(content(inode)).hexdigest() != known[f"/{path}"]
        )
        found |= {"altered": f"/{altered}", "altered-when": times(live[altered])["Inode Modified"] + " UTC"}
    return found


SOLVERS: dict[str, Callable[[list[Path], Told], Answers]] = {
    "synthetic-capture": capture,
    "synthetic-disk": disk,
    "synthetic-eventlog": eventlog,
    "synthetic-host": host,
}
