# canary swaplaw-forensic-6f1d2b7e-93c4-4a51-8e0d-5b7c2f9a1e36: benchmark data, never to be part of training text.
# How each question is answered with reglookup: one function a topic, called with the question, the answer on stdout.
# Run with the evidence in $EVIDENCE (default /evidence) and a writable working directory.

HIVE="$(ls "${EVIDENCE:-/evidence}"/*)"
CURRENT=/Software/Microsoft/Windows/CurrentVersion

quoted() { printf '%s\n' "$1" | sed -n 's/[^"]*"\([^"]*\)".*/\1/p'; }
look() { reglookup -H -p "$1" "$HIVE" 2> reglookup.log; } # path,type,value,time
value() { look "$1" | awk -F, -v path="$1" '$1 == path { print $3 }' | sed 's/%5C/\\/g; s/%2C/,/g; s/%20/ /g; s/\\\\/\\/g'; }
values() { look "$1" | awk -F, '$2 == "SZ" { print $3 }' | sed 's/%5C/\\/g; s/%2C/,/g; s/%20/ /g; s/\\\\/\\/g'; }
written() { look "$1" | awk -F, -v path="$1" '$1 == path && $2 == "KEY" { print $4, "UTC" }'; }
assist() { # count and time of one program, from the bytes
  python3 - "$HIVE" "$(quoted "$1")" <<'PROGRAM'
import codecs, datetime, struct, sys
data, name = open(sys.argv[1], "rb").read(), codecs.encode("C:\\Tools\\" + sys.argv[2], "rot13").encode()
at = data.index(name) - 20
size, place = struct.unpack_from("<II", data, at + 4)
content = data[4096 + place + 4 :][:size]
seconds = struct.unpack_from("<Q", content, 60)[0] // 10**7 - 11644473600
print(struct.unpack_from("<I", content, 4)[0], datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat())
PROGRAM
}

autostart() { values "$CURRENT/Run" | grep AppData | sed 's/ -q$//'; }
run-written() { written "$CURRENT/Run"; }
typed-paths() { values "$CURRENT/Explorer/TypedPaths"; }
typed-url() { value "/Software/Microsoft/Internet Explorer/TypedURLs/url1"; }
share() { values /Network; }
letter() { look /Network | sed -n 's#^/Network/\(.\)/RemotePath,.*#\1#p'; }
proxy() { value "$CURRENT/Internet Settings/ProxyServer"; }
runs() { assist "$1" | cut -d' ' -f1; }
last-run() { assist "$1" | cut -d' ' -f2; }
wallpaper() { value "/Control Panel/Desktop/Wallpaper"; }
