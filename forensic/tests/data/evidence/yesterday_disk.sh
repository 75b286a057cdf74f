# How each question is answered with sleuthkit, foremost, unzip and a shell: one function a question, the answer on stdout.
# Run with the evidence in $EVIDENCE (default /evidence) and a writable working directory.

IMAGE="${EVIDENCE:-/evidence}/harbor_usb.dd"

deleted() { # the address of a deleted file
  fls -r -p -d "$IMAGE" | sed -n "s#^r/r \* \([0-9]*\):\t.*$1.*#\1#p"
}
live() { # the address of a live file
  fls -r -p -u "$IMAGE" | sed -n "s#^r/r \([0-9]*\):\t.*$1.*#\1#p"
}

disk-01() { fsstat "$IMAGE" | sed -n 's/^File System Type: //p'; }
disk-02() { fsstat "$IMAGE" | sed -n 's/^Volume ID: 0x//p'; }
disk-03() { fsstat "$IMAGE" | sed -n 's/^Volume Label (Root Directory): *//p' | xargs; }
disk-04() { fls -r -p -F -d "$IMAGE" | grep -v OrphanFiles | sed -n 's/^r\/r \* [0-9]*:\t//p'; }
disk-05() { icat -r "$IMAGE" "$(deleted burn_after)" | md5sum | cut -d' ' -f1; }
disk-06() { icat -r "$IMAGE" "$(deleted burn_after)" | sed -n 's/.*opens with: //p'; }
disk-07() {
  icat "$IMAGE" "$(live shanty.mp3)" > shanty.zip
  unzip -p -P "$(disk-06)" shanty.zip | sed -n 's/.*account //p'
}
disk-08() { icat -r "$IMAGE" "$(deleted ledger_january)" | awk -F, 'NR > 1 { sum += $3 } END { printf "%.2f\n", sum }'; }
disk-09() { icat "$IMAGE" "$(live sunset.jpg)" | file -b - | cut -d' ' -f1; }
disk-10() { icat -r "$IMAGE" "$(deleted invoice_final)" | grep -a -o '/Author ([^)]*)' | sed 's/.*(\(.*\))/\1/'; }
disk-11() {
  rm -rf carved recovered
  foremost -q -t png -i "$IMAGE" -o carved > foremost.log 2>&1
  tsk_recover -e "$IMAGE" recovered > recover.log 2>&1
  comm -23 <(sha256sum carved/png/*.png | cut -d' ' -f1 | sort -u) \
    <(find recovered -type f -exec sha256sum {} + | cut -d' ' -f1 | sort -u)
}
disk-12() { TZ=UTC fls -r -p -d -l "$IMAGE" | grep ledger_january | cut -f3 | sed 's/ (UTC)/ UTC/'; }
disk-13() { icat -s "$IMAGE" "$(live README.TXT)" | tr '\0' '\n' | grep -a -v '^$' | tail -1; }
