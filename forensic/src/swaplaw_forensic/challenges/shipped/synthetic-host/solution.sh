# canary swaplaw-forensic-6f1d2b7e-93c4-4a51-8e0d-5b7c2f9a1e36: benchmark data, never to be part of training text.
# How each question is answered with tar, grep and awk: one function a topic, the answer on stdout.
# Run with the evidence in $EVIDENCE (default /evidence) and a writable working directory.

[ -d host ] || { mkdir host && tar -xf "$(ls "${EVIDENCE:-/evidence}"/*)" -C host; }
LOGINS=host/var/log/auth.log
WEB="$(ls host/var/log/*/access.log)"

attacker() { sed -n 's/.*Accepted password for .* from \([0-9.]*\) .*/\1/p' "$LOGINS" | head -1; }
guessed() { sed -n 's/.*Accepted password for \([^ ]*\) from .*/\1/p' "$LOGINS" | head -1; }
failures() { grep 'Failed password' "$LOGINS" | grep -c -F " from $(attacker) "; }
tried() {
  grep 'password for' "$LOGINS" | grep -F " from $(attacker) " | sed 's/.*password for \(invalid user \)\?\([^ ]*\) from.*/\2/' \
    | sort -u
}
entered() { grep 'Accepted password' "$LOGINS" | head -1 | cut -d' ' -f1; }
account() { sed -n 's/.*new user: name=\([^,]*\),.*/\1/p' "$LOGINS"; }
fetched() { grep -h wget host/home/*/.bash_history; }
url() { fetched | grep -o 'http[^ ]*'; }
program() { sha256sum "host$(fetched | sed 's/.*-O //')" | cut -d' ' -f1; }
timer() { grep -l '@reboot' host/etc/cron.d/* | sed 's/^host//'; }
callback() { grep -h '@reboot' host/etc/cron.d/* | sed 's/.*echo \([^ ]*\) .*/\1/' | base64 -d | sed 's/.*--connect \([^ ]*\) .*/\1/'; }
shell() { grep -F "$(attacker) " "$WEB" | sed -n 's/.*"GET \([^?]*\)?c=.*/\1/p' | sort -u; }
commands() { grep -c -F "GET $(shell)?c=" "$WEB"; }
