# Fill a sample's stage, then hold it until standard input closes.
# Arguments: bounds of the tmpfs, owner, ro|rw, evidence directory (or empty), then the evidence files to show.
# `cd` before /tmp is covered: the evidence may lie under the host's /tmp.
set -eu
bounds=$1 owner=$2 mode=$3 evidence=$4; shift 4
if [ -n "$evidence" ]; then cd -- "$evidence"; fi
mount -t tmpfs -o "${bounds}mode=0755,nosuid,nodev" swaplaw /tmp
umask 022
mkdir /tmp/work /tmp/tmp /tmp/shm /tmp/etc /tmp/evidence
chmod 1777 /tmp/tmp /tmp/shm
chown "$owner:$owner" /tmp/work /tmp/tmp /tmp/shm
echo 'agent:x:1000:1000:agent:/home/agent:/bin/sh' >/tmp/etc/passwd
echo 'agent:x:1000:' >/tmp/etc/group
echo '127.0.0.1 localhost sandbox' >/tmp/etc/hosts
printf 'passwd: files\ngroup: files\nhosts: files\n' >/tmp/etc/nsswitch.conf
: >/tmp/etc/resolv.conf
if [ "$owner" != 0 ]; then  # Apptainer wants to know who calls it
    { cat /etc/passwd; echo "agent:x:$owner:$owner:agent:/nonexistent:/bin/sh"; } >/tmp/etc/callers
    { cat /etc/group; echo "agent:x:$owner:"; } >/tmp/etc/groups
    mount --bind /tmp/etc/callers /etc/passwd
    mount --bind /tmp/etc/groups /etc/group
fi
bind() { mount --no-canonicalize -o "bind,$mode" "$1" "$2"; }
if [ -n "$evidence" ] && [ $# = 0 ]; then bind . /tmp/evidence; fi
for file; do
    mkdir -p -- "/tmp/evidence/$(dirname -- "./$file")"
    : >"/tmp/evidence/$file"
    bind "./$file" "/tmp/evidence/$file"
done
echo ready
trap '' CHLD  # the holder adopts orphans: the kernel reaps them for a process that does not care
exec cat
