# canary swaplaw-forensic-6f1d2b7e-93c4-4a51-8e0d-5b7c2f9a1e36: benchmark data, never to be part of training text.
# How each question is answered with sleuthkit, foremost, tshark and unzip: one function a question, the answer on stdout.
# Run with the evidence in $EVIDENCE (default /evidence) and a writable working directory.

EVIDENCE="${EVIDENCE:-/evidence}"

carve() { # pictures and documents from the key, once
  [ -d carved ] || foremost -q -t jpg,gif,ole -i "$EVIDENCE/RHINOUSB.dd" -o carved > foremost.log 2>&1
}
export_objects() { # the files sent in one trace, once
  [ -d "$1" ] && return
  mkdir "$1"
  tshark -r "$EVIDENCE/$1.log" -q --export-objects "http,$1" --export-objects "ftp-data,$1" > "$1.txt" 2>&1
}
diary() { carve; tr '\r' '\n' < carved/ole/00335017.ole | tr -cd '\n -~'; }

rhino-00() { # the other carved JPEGs show alligators
  carve
  for trace in rhino rhino2; do export_objects "$trace"; done
  unzip -o -q -P monkey rhino/contraband.zip rhino2.jpg > unzip.log 2>&1
  md5sum rhino/rhino[13].jpg rhino2.jpg rhino2/rhino4.jpg rhino2/rhino5.gif carved/jpg/00106393.jpg \
    carved/jpg/00106409.jpg carved/gif/*.gif | cut -d' ' -f1 | sort -u
}
rhino-01() { diary | grep -o 'account that [A-Z][a-z]* gave me' | cut -d' ' -f3; }
rhino-02() {
  tshark -r "$EVIDENCE/rhino.log" -Y 'ftp.request.command == "USER" || ftp.request.command == "PASS"' \
    -T fields -e ftp.request.arg 2> tshark.log | sort -u
}
rhino-03() {
  tshark -r "$EVIDENCE/rhino.log" -Y 'ftp.request.command == "STOR"' -T fields -e ftp.request.arg 2> tshark.log | sort -u
  for trace in rhino2 rhino3; do export_objects "$trace"; done
  ls rhino2 rhino3 | grep -E '^rhino[0-9]?\.(jpg|gif|exe)$'
}
rhino-04() { diary | grep -o 'I zapped the hard drive[^.]*\.'; }
rhino-05() {
  echo "It was reformatted: the diary announces it, and the new $(fsstat -t "$EVIDENCE/RHINOUSB.dd") file system" \
    "names only $(fls "$EVIDENCE/RHINOUSB.dd" | sed -n 's/^r\/r [0-9]*:\t//p' | xargs)."
}
rhino-06() {
  carve
  echo "Two live recipes (gumbo1.txt, gumbo2.txt); carved: $(ls carved/jpg | wc -l) JPEG pictures (alligators, two" \
    "rhinoceroses), $(ls carved/gif | wc -l) GIF pictures of rhinoceroses, and a diary, a Word document with MD5" \
    "$(md5sum carved/ole/00335017.ole | cut -d' ' -f1). Two alligators hide further pictures (jphide)."
}
rhino-07() {
  rhino-00 > pictures.txt
  echo "rhino2.jpg from contraband.zip in rhino.log has MD5 $(md5sum < rhino2.jpg | cut -d' ' -f1), the carved" \
    "00106409.jpg has $(md5sum < carved/jpg/00106409.jpg | cut -d' ' -f1): the same file. The diary on the key names" \
    "the gnome account that the traces use."
}
