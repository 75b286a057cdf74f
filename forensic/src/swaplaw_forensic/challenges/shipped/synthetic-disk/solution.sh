# canary swaplaw-forensic-6f1d2b7e-93c4-4a51-8e0d-5b7c2f9a1e36: benchmark data, never to be part of training text.
# How each question is answered with sleuthkit, foremost, unzip and a shell: one function a topic, called with the text
# of the question, whose names stand in quotes. Run with the evidence in $EVIDENCE (default /evidence).

IMAGE="$(ls "${EVIDENCE:-/evidence}"/*)"

quoted() { printf '%s\n' "$1" | sed -n 's/[^"]*"\([^"]*\)".*/\1/p'; }
deleted() { # the address of a deleted file
  fls -r -p -d "$IMAGE" | sed -n "s#^r/r \* \([0-9]*\):\t$1\$#\1#p"
}
live() { # the address of a live file
  fls -r -p -u "$IMAGE" | sed -n "s#^r/r \([0-9]*\):\t$1\$#\1#p"
}
words_of() { icat -r "$IMAGE" "$1" | sed -n 's/.*song\. [A-Za-z ]*: //p'; }

variant() { fsstat "$IMAGE" | sed -n 's/^File System Type: //p'; }
serial() { fsstat "$IMAGE" | sed -n 's/^Volume ID: 0x//p'; }
label() { fsstat "$IMAGE" | sed -n 's/^Volume Label (Root Directory): *//p' | xargs; }
deleted-paths() { fls -r -p -F -d "$IMAGE" | grep -v OrphanFiles | sed -n 's/^r\/r \* [0-9]*:\t//p'; }
note-md5() { icat -r "$IMAGE" "$(deleted "$(quoted "$1")")" | md5sum | cut -d' ' -f1; }
password() { words_of "$(deleted "$(quoted "$1")")"; }
account() { # the note is the deleted text that speaks of a song
  icat "$IMAGE" "$(live "$(quoted "$1")")" > archive.zip
  for address in $(fls -r -p -d "$IMAGE" | sed -n 's/^r\/r \* \([0-9]*\):.*/\1/p'); do
    word="$(words_of "$address")"
    [ -n "$word" ] && unzip -p -P "$word" archive.zip | sed -n 's/.*account //p' && return
  done
}
sum() { icat -r "$IMAGE" "$(deleted "$(quoted "$1")")" | awk -F, 'NR > 1 { sum += $3 } END { printf "%.2f EUR\n", sum }'; }
file-type() { icat "$IMAGE" "$(live "$(quoted "$1")")" | file -b - | cut -d' ' -f1; }
author() { icat -r "$IMAGE" "$(deleted "$(quoted "$1")")" | grep -a -o '/Author ([^)]*)' | sed 's/.*(\(.*\))/\1/'; }
carved() {
  rm -rf carved recovered
  foremost -q -t png -i "$IMAGE" -o carved > foremost.log 2>&1
  tsk_recover -e "$IMAGE" recovered > recover.log 2>&1
  comm -23 <(sha256sum carved/png/*.png | cut -d' ' -f1 | sort -u) \
    <(find recovered -type f -exec sha256sum {} + | cut -d' ' -f1 | sort -u)
}
modified() { TZ=UTC fls -r -p -d -l "$IMAGE" | grep -F "$(quoted "$1")" | cut -f3 | sed 's/ (UTC)/ UTC/'; }
slack() { icat -s "$IMAGE" "$(live "$(quoted "$1")")" | tr '\0' '\n' | grep -a -v '^$' | tail -1; }
