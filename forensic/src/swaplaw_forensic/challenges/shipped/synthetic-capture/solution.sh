# canary swaplaw-forensic-6f1d2b7e-93c4-4a51-8e0d-5b7c2f9a1e36: benchmark data, never to be part of training text.
# How each question is answered with tshark and awk: one function a topic, the answer on stdout.
# Run with the evidence in $EVIDENCE (default /evidence) and a writable working directory.

PCAP="$(ls "${EVIDENCE:-/evidence}"/*)"
FIELDS="frame.time_epoch eth.src ip.src ip.dst http.request.method http.host http.request.full_uri http.user_agent
  urlencoded-form.value dhcp.option.hostname kerberos.CNameString ldap.AttributeValue
  tls.handshake.extensions_server_name"

packets() { # one line a packet with these fields, worked out once
  [ -s packets.tsv ] || tshark -r "$PCAP" -T fields -E header=y -E occurrence=f $(printf -- '-e %s ' $FIELDS) \
    > packets.tsv 2> tshark.log
}
look() { # an awk program over the packets; c["ip.src"] is the number of that column
  packets
  awk -F'\t' -v victim="$victim" -v server="$server" -v mac="$mac" \
    'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } '"$1" packets.tsv
}
beaconing() { # the client that posts to one host again and again: sets victim and server
  read -r _ victim server < <(look '$c["http.request.method"] == "POST" { print $c["ip.src"], $c["http.host"] }' \
    | sort | uniq -c | sort -rn)
}
posts() { # one field of the beacons
  beaconing
  look '$c["http.request.method"] == "POST" && $c["ip.src"] == victim && $c["http.host"] == server { print $c["'"$1"'"] }'
}

ip() { beaconing; echo "$victim"; }
mac() { posts eth.src | sort -u; }
host-name() {
  mac="$(mac)"
  look '$c["dhcp.option.hostname"] != "" && $c["eth.src"] == mac { print $c["dhcp.option.hostname"]; exit }'
}
user() {
  beaconing
  look '$c["kerberos.CNameString"] != "" && $c["ip.src"] == victim { print $c["kerberos.CNameString"]; exit }'
}
person() {
  beaconing
  look '$c["ldap.AttributeValue"] != "" && $c["ip.dst"] == victim { print $c["ldap.AttributeValue"]; exit }' | xxd -r -p
  echo
}
domain() { beaconing; echo "$server"; }
count() { posts http.host | wc -l; }
program() {
  rm -rf objects && mkdir objects
  tshark -r "$PCAP" -q --export-objects http,objects > export.log 2>&1
  sha256sum objects/*.exe | cut -d' ' -f1
}
url() {
  beaconing
  look '$c["http.request.full_uri"] ~ /\.exe$/ && $c["ip.src"] == victim { print $c["http.request.full_uri"]; exit }'
}
tls() { # the first encrypted connection after the download
  beaconing
  look '$c["http.request.full_uri"] ~ /\.exe$/ && $c["ip.src"] == victim { down = 1 }
    down && $c["tls.handshake.extensions_server_name"] != "" && $c["ip.src"] == victim {
      print $c["tls.handshake.extensions_server_name"]; exit }'
}
agent() { posts http.user_agent | sort -u; }
bot() { posts urlencoded-form.value | sort -u; }
first() { date -u -d "@$(posts frame.time_epoch | head -1 | cut -d. -f1)" '+%F %T UTC'; }
interval() {
  posts frame.time_epoch | awk 'NR > 1 { printf "%d\n", $1 - before + 0.5 } { before = $1 }' | sort | uniq -c | sort -rn \
    | awk 'NR == 1 { print $2 }'
}
