# canary swaplaw-forensic-6f1d2b7e-93c4-4a51-8e0d-5b7c2f9a1e36: benchmark data, never to be part of training text.
# How each question is answered with evtxexport: one function a topic, the answer on stdout.
# Run with the evidence in $EVIDENCE (default /evidence) and a writable working directory.

LOG="$(ls "${EVIDENCE:-/evidence}"/*)"

# One line an event: record number, event id, time, then name=value of its data.
[ -s events.txt ] || evtxexport -f xml "$LOG" 2> evtxexport.log | python3 -c '
import re, sys
for event in re.findall(r"<Event .*?</Event>", sys.stdin.read(), re.S):
    one = lambda pattern: re.search(pattern, event)[1]
    data = re.findall("<Data Name=\"(.*?)\">(.*?)</Data>", event, re.S)
    print(one("<EventRecordID>(.*?)<"), one("<EventID>(.*?)<"), one("SystemTime=\"(.*?)\""), *(f"{n}={v}" for n, v in data), sep="\t")
' > events.txt

of() { awk -F'\t' -v event="$1" '$2 == event' events.txt; }
field() { grep -o "$1=[^	]*" | cut -d= -f2-; }
in_by_desktop() { of 4624 | grep -F 'LogonType=10'; }

origin() { in_by_desktop | field IpAddress; }
entered-as() { in_by_desktop | field TargetUserName; }
entered() { in_by_desktop | cut -f3; }
failures() { of 4625 | grep -c -F "IpAddress=$(origin)"; }
account() { of 4720 | field TargetUserName; }
account-when() { of 4720 | cut -f3; }
group() { of 4732 | grep -F "MemberName=$(account)" | field TargetUserName; }
installed() { of 4697 | grep -F "SubjectUserName=$(entered-as)"; }
service() { installed | field ServiceName; }
service-file() { installed | field ServiceFileName; }
url() { of 4688 | sed -n 's/.*-enc \([A-Za-z0-9+/=]*\).*/\1/p' | base64 -d | iconv -f utf-16le -t utf-8 | grep -o "http[^']*"; }
missing() { awk -F'\t' 'NR > 1 { for (n = last + 1; n < $1; n++) print n } { last = $1 }' events.txt; }
