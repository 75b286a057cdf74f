# How each question is answered with tshark and a shell: one function a question, the answer on stdout.
# Run with the evidence in $EVIDENCE (default /evidence) and a writable working directory.

PCAP="${EVIDENCE:-/evidence}/incident.pcap"

fields() { # a display filter, then the fields to print
  local filter="$1" wanted=() name
  shift
  for name in "$@"; do wanted+=(-e "$name"); done
  tshark -r "$PCAP" -Y "$filter" -T fields -E occurrence=f "${wanted[@]}" 2> tshark.log
}
beaconing() { # the client that posts to one host again and again: address and host; worked out once
  [ -s beaconing.txt ] || fields 'http.request.method == "POST"' ip.src http.host | sort | uniq -c | sort -rn \
    | awk 'NR == 1 { print $2, $3 }' > beaconing.txt
  cat beaconing.txt
}
victim() { beaconing | cut -d' ' -f1; }
server() { beaconing | cut -d' ' -f2; }
posts() { fields "http.request.method == \"POST\" && ip.src == $(victim) && http.host == \"$(server)\"" "$@"; }

capture-01() { victim; }
capture-02() { posts eth.src | sort -u; }
capture-03() { fields "dhcp.option.hostname && eth.src == $(capture-02)" dhcp.option.hostname | head -1; }
capture-04() { fields "kerberos.CNameString && ip.src == $(victim)" kerberos.CNameString | head -1; }
capture-05() { fields "ldap.AttributeValue && ip.dst == $(victim)" ldap.AttributeValue | head -1 | xxd -r -p; echo; }
capture-06() { server; }
capture-07() { posts frame.number | wc -l; }
capture-08() {
  rm -rf objects && mkdir objects
  tshark -r "$PCAP" -q --export-objects http,objects > export.log 2>&1
  sha256sum objects/*.exe | cut -d' ' -f1
}
capture-09() { fields "http.request.uri contains \".exe\" && ip.src == $(victim)" http.request.full_uri; }
capture-10() { # the first encrypted connection after the download
  local download
  download="$(fields "http.request.uri contains \".exe\" && ip.src == $(victim)" frame.number | head -1)"
  fields "tls.handshake.type == 1 && ip.src == $(victim) && frame.number > $download" tls.handshake.extensions_server_name \
    | head -1
}
capture-11() { posts http.user_agent | sort -u; }
capture-12() { posts urlencoded-form.value | sort -u; }
capture-13() { date -u -d "@$(posts frame.time_epoch | head -1 | cut -d. -f1)" '+%F %T UTC'; }
capture-14() {
  posts frame.time_epoch | awk 'NR > 1 { printf "%d\n", $1 - before + 0.5 } { before = $1 }' | sort | uniq -c | sort -rn \
    | awk 'NR == 1 { print $2 }'
}
