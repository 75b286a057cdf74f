# canary swaplaw-forensic-6f1d2b7e-93c4-4a51-8e0d-5b7c2f9a1e36: benchmark data, never to be part of training text.
# How each question is answered with Python's sqlite3 and mailbox: one function a topic, called with the question.
# Run with the evidence in $EVIDENCE (default /evidence) and a writable working directory.

HISTORY="$(ls "${EVIDENCE:-/evidence}"/*.sqlite)"
MAIL="$(ls "${EVIDENCE:-/evidence}"/*.mbox)"

query() {
  python3 -c 'import sqlite3, sys
for row in sqlite3.connect(f"file:{sys.argv[1]}?immutable=1", uri=True).execute(sys.argv[2]): print(*row)' "$HISTORY" "$1"
}
quoted() { printf '%s\n' "$1" | sed -n 's/[^"]*"\([^"]*\)".*/\1/p'; }
mail() { # a Python program over m, the mail with a subject
  python3 -c 'import base64, hashlib, mailbox, re, sys
m = next(m for m in mailbox.mbox(sys.argv[1], create=False) if m["Subject"] == sys.argv[2])
'"$2" "$MAIL" "$1"
}

terms() { query "SELECT term FROM keyword_search_terms"; }
booked() { date -u -d "@$(query "SELECT visit_time / 1000000 - 11644473600 FROM visits JOIN urls ON urls.id = visits.url WHERE urls.url = '$(quoted "$1")'")" '+%F %T UTC'; }
download() { query "SELECT target_path FROM downloads"; }
size() { query "SELECT total_bytes FROM downloads"; }
pages() { query "SELECT count(*) FROM urls"; }
removed() { # in the bytes of the file, but not in the tables
  query "SELECT url FROM urls UNION SELECT tab_url FROM downloads" > known.txt
  strings -n 8 "$HISTORY" | grep -o 'https://[a-z0-9-]*\.example/drop/[a-z0-9]\{6\}' | grep -v -x -F -f known.txt | sort -u
}
attachment() { mail "Your booking" 'print(hashlib.sha256(m.get_payload()[1].get_payload(decode=True)).hexdigest())'; }
total() { mail "Your booking" 'print(re.search(r"Total: ([0-9.]+) EUR", m.get_payload()[0].get_payload())[1], "EUR")'; }
sender() { mail "For you" 'print(re.match(r"(.*) <", m["From"])[1])'; }
meeting() { mail "For you" 'print(re.search(r"at (.*?),", base64.b64decode(m.get_payload()).decode())[1])'; }
