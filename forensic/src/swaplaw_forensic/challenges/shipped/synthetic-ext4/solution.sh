# canary swaplaw-forensic-6f1d2b7e-93c4-4a51-8e0d-5b7c2f9a1e36: benchmark data, never to be part of training text.
# How each question is answered with sleuthkit, foremost and a shell: one function a topic, called with the text of the
# question, whose names stand in quotes. Run with the evidence in $EVIDENCE (default /evidence).

IMAGE="$(ls "${EVIDENCE:-/evidence}"/*)"
export TZ=UTC

quoted() { printf '%s\n' "$1" | sed -n 's/[^"]*"\([^"]*\)".*/\1/p'; }
named() { # address and path of every name that is not deleted
  fls -r -p -u "$IMAGE" | grep -v OrphanFiles | sed -n 's#^\(.\)/. \([0-9]*\):\t\(.*\)$#\1 \2 \3#p'
}
live() { named | awk -v path="$1" '$3 == path { print $2 }'; }
gone() { fls -r -p -d "$IMAGE" | grep -v OrphanFiles | sed -n "s#^r/r \* \([0-9]*\)[^:]*:\t$1\$#\1#p"; }
moment() { # one time of an inode: Deleted, File Created, File Modified
  istat "$IMAGE" "$1" | sed -n "s/^$2:[[:space:]]*\([-0-9]* [0-9:]*\)[^(]*(UTC)\$/\1 UTC/p" | head -1
}
files() { named | awk '$1 == "r" { print $2, $3 }'; }
body() { # every file that is not deleted, with mode, owner and times: hash|path|inode|mode|uid|gid|size|a|m|c|created
  fls -r -u -m "" "$IMAGE" | awk -F'|' '$4 ~ /^r\// { sub("^/", "", $2); print }' OFS='|'
}

label() { fsstat "$IMAGE" | sed -n 's/^Volume Name: //p'; }
uuid() { file "$IMAGE" | sed -n 's/.*UUID=\([-0-9a-f]*\).*/\1/p'; }
mounted() { fsstat "$IMAGE" | sed -n 's/^Last mounted on: //p'; }
owned() { body | awk -F'|' -v user="$(printf '%s\n' "$1" | grep -o '[0-9]*')" '$5 == user { n++ } END { print n + 0 }'; }
backdated() { body | awk -F'|' '$9 < $11 { print $2 }'; }
really-created() { moment "$(live "$(backdated)")" 'File Created'; }
setuid() { body | awk -F'|' '$4 ~ /rws/ { print $2 }'; }
setuid-sha256() { icat "$IMAGE" "$(live "$(setuid)")" | sha256sum | cut -d' ' -f1; }
twin() { files | awk -v address="$(live "$(quoted "$1")")" -v path="$(quoted "$1")" '$1 == address && $2 != path { print $2 }'; }
pointer() { istat "$IMAGE" "$(live "$(quoted "$1")")" | sed -n 's/^symbolic link to: //p'; }
deleted() { fls -r -p -d "$IMAGE" | grep -v OrphanFiles | sed -n 's/^r\/[r-] \* [0-9]*[^:]*:\t//p'; }
deleted-when() { moment "$(gone "$(quoted "$1")")" Deleted; }
created() { moment "$(gone "$(quoted "$1")")" 'File Created'; }
password() { blkls "$IMAGE" | strings | sed -n 's/.*the safe opens with \([^ ]*\)\. .*/\1/p'; }
carved() {
  rm -rf carved
  blkls "$IMAGE" > unallocated.raw
  foremost -q -t png -i unallocated.raw -o carved > foremost.log 2>&1
  sha256sum carved/png/*.png | cut -d' ' -f1
}
