"""Attacks on the sandbox: each a short program that says ESCAPED when it got through, and what must stop it.

`HOST` tells the program where the host's things are, so that a failure is never a wrong address. Every
program is bounded in itself: with its guards taken away it succeeds, harms nothing and ends.
"""

from dataclasses import dataclass

from swaplaw_forensic.sandbox.protections import Protection

PRELUDE = """
import ctypes, json, os, socket, struct, sys, time
HOST = json.loads(os.environ["HOST"])
libc = ctypes.CDLL(None, use_errno=True)
print("ATTACKING", flush=True)
def escaped():
    print("ESCAPED", flush=True)
    os._exit(0)
def spawn(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid
"""


@dataclass(frozen=True)
class Attack:
    """A program and its guards: any one of them is enough to stop it."""

    name: str
    program: str
    guards: tuple[Protection, ...]


READ_GOLD = """
gold = HOST["gold"]
ways = [gold, "/proc/1/root" + gold, "/proc/self/root" + gold, "/proc/1/cwd/../.." + gold, "../../.." + gold,
        "/evidence/.." + gold, "/dev/fd/3/.." + gold, "/.." + gold]
for way in ways:
    try:
        if "GOLD" in open(way).read(): escaped()
    except OSError: pass
os.symlink(gold, "link")
try:
    if "GOLD" in open("link").read(): escaped()
except OSError: pass
"""

ATTACKS = (
    Attack(
        "connect",
        "s = socket.create_connection(('127.0.0.1', HOST['tcp']), 2)\nif s.recv(4) == b'host': escaped()",
        (Protection.NETWORK, Protection.SECCOMP),
    ),
    Attack(
        "dns",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2)\n"
        "q = struct.pack('>6H', 7, 256, 1, 0, 0, 0) + b'\\x04gold\\x07example\\0' + struct.pack('>2H', 16, 1)\n"
        "s.sendto(q, ('127.0.0.1', HOST['udp']))\nif s.recv(512): escaped()",
        (Protection.NETWORK, Protection.SECCOMP),
    ),
    Attack(
        "raw socket",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP); escaped()",
        (Protection.CAPABILITIES, Protection.SECCOMP, Protection.USER, Protection.OWN_UID),
    ),
    Attack(
        "packet socket",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0); escaped()",
        (Protection.CAPABILITIES, Protection.SECCOMP, Protection.USER, Protection.OWN_UID),
    ),
    Attack("netlink socket", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); escaped()", (Protection.SECCOMP,)),
    Attack(
        "abstract socket",
        "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + HOST['abstract'])\nif s.recv(4) == b'host': escaped()",
        (Protection.NETWORK,),
    ),
    Attack(
        "socket in a host directory",
        "s = socket.socket(socket.AF_UNIX); s.connect(HOST['socket'])\nif s.recv(4) == b'host': escaped()",
        (Protection.SYSTEM,),
    ),
    Attack("gold", READ_GOLD, (Protection.SYSTEM,)),
    Attack(
        "gold inside the system",
        "if os.listdir(HOST['package']): escaped()",
        (Protection.PACKAGE_HIDDEN,),
    ),
    Attack(
        "host home and system files",
        "for path in HOST['home'], '/sys/kernel', '/var/lib', '/etc/shadow', '/etc/hostname', '/run':\n"
        "    if os.path.lexists(path): escaped()",
        (Protection.SYSTEM,),
    ),
    Attack(
        "host environment",
        "if 'SWAPLAW_TEST_SECRET' in os.environ: escaped()\n"
        "for pid in os.listdir('/proc'):\n"
        "    try:\n"
        "        if b'SWAPLAW_TEST_SECRET' in open(f'/proc/{pid}/environ', 'rb').read(): escaped()\n"
        "    except OSError: pass",
        (Protection.ENVIRONMENT,),
    ),
    Attack("host name", "if socket.gethostname() == HOST['name']: escaped()", (Protection.HOSTNAME,)),
    Attack(
        "host processes",
        "if os.path.exists(f\"/proc/{HOST['pid']}/cmdline\"):\n"
        "    if HOST['marker'] in open(f\"/proc/{HOST['pid']}/cmdline\").read(): escaped()",
        (Protection.PROCESSES_HIDDEN, Protection.SAMPLE_PROCESSES),
    ),
    Attack("kernel files", "if open('/proc/cmdline').read(): escaped()", (Protection.KERNEL_FILES,)),
    Attack(
        "kernel settings",
        "if os.access('/proc/sys/kernel/core_pattern', os.W_OK): escaped()",
        (Protection.OWN_UID,),
    ),
    Attack(
        "real root",
        "if open('/proc/self/uid_map').read().split()[2] == '4294967295': escaped()",
        (Protection.USER, Protection.OWN_UID),
    ),
    Attack("terminal session", "if os.getsid(0) == 0: escaped()", (Protection.SESSION,)),
    Attack(
        "shared memory of the host",
        "if libc.shmget(HOST['shm'], 0, 0) >= 0: escaped()",
        (Protection.IPC, Protection.SECCOMP),
    ),
    Attack(
        "write evidence",
        "for work in (lambda: open('/evidence/image.dd', 'ab').write(b'x'),\n"
        "             lambda: open('/evidence/new', 'w'),\n"
        "             lambda: os.rename('/evidence/image.dd', '/evidence/other'),\n"
        "             lambda: open('/proc/self/cwd/../../evidence/image.dd', 'r+b').write(b'x')):\n"
        "    try: work()\n"
        "    except OSError: continue\n"
        "    escaped()",
        (Protection.EVIDENCE_READ_ONLY,),
    ),
    Attack(
        "mount",
        "if libc.mount(b'none', b'/home/agent', b'tmpfs', 0, None) == 0: escaped()",
        (Protection.CAPABILITIES, Protection.SECCOMP, Protection.USER, Protection.OWN_UID),
    ),
    Attack("new user namespace", "if libc.unshare(0x10000000) == 0: escaped()", (Protection.SECCOMP,)),
    Attack(
        "new user namespace by clone",
        "if libc.syscall(HOST['clone'], 0x10000000 | 17, 0, 0, 0, 0) == 0: os._exit(0)\n"
        "if ctypes.get_errno() == 0: escaped()",
        (Protection.SECCOMP,),
    ),
    Attack("memory without a process", "os.memfd_create('x'); escaped()", (Protection.SECCOMP,)),
    Attack(
        "memory of another process",
        "pid = spawn(lambda: time.sleep(2))\nif libc.ptrace(16, pid, 0, 0) == 0: escaped()",
        (Protection.SECCOMP,),
    ),
    Attack(
        "write outside the work directory",
        "for directory in '/', '/etc', '/dev', '/home', '/usr':\n"
        "    try: open(os.path.join(directory, 'filler'), 'w').write('x')\n"
        "    except OSError: continue\n"
        "    escaped()",
        (Protection.READ_ONLY_SYSTEM,),
    ),
    Attack(
        "fork bomb",
        "for _ in range(90):\n    spawn(lambda: time.sleep(1))\nescaped()",
        (Protection.PROCESSES,),
    ),
    Attack(
        # Its memory could be written, and it made to run anything: so it must be limited like the rest.
        "first process without limits",
        "for line in open('/proc/1/limits'):\n"
        "    if line.startswith('Max processes') and int(line.split()[2].replace('unlimited', '999')) > 40: escaped()",
        (Protection.PROCESSES,),
    ),
    Attack(
        "memory hog",
        "held = bytearray(b'x') * (300 << 20)\ntime.sleep(0.5)\nescaped()",
        (Protection.ADDRESS_SPACE, Protection.MEMORY),
    ),
    Attack(
        "memory hogs together",
        "def hog():\n"
        "    held = bytearray(b'x') * (60 << 20)\n"
        "    time.sleep(1)\n"
        "hogs = [spawn(hog) for _ in range(5)]\n"
        "if all(os.waitpid(pid, 0)[1] == 0 for pid in hogs): escaped()",
        (Protection.MEMORY,),
    ),
    Attack(
        "shared memory hogs",
        "import mmap\n"
        "def hog():\n"
        "    held = mmap.mmap(-1, 60 << 20)\n"
        "    held.write(b'x' * (60 << 20))\n"
        "    time.sleep(1)\n"
        "hogs = [spawn(hog) for _ in range(5)]\n"
        "if all(os.waitpid(pid, 0)[1] == 0 for pid in hogs): escaped()",
        (Protection.MEMORY,),
    ),
    Attack(
        "disk filler",
        "for directory in '/home/agent', '/tmp', '/dev/shm', '/home/agent':\n"
        "    with open(f'{directory}/filler{time.time()}', 'wb') as file:\n"
        "        for _ in range(8): file.write(b'x' * (1 << 20))\n"
        "escaped()",
        (Protection.DISK,),
    ),
    Attack(
        "many files",
        "for number in range(600): open(f'/tmp/{number}', 'w').close()\nescaped()",
        (Protection.DISK,),
    ),
    Attack(
        "large file",
        "import signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with open('large', 'wb') as file:\n"
        "    for _ in range(12): file.write(b'x' * (1 << 20))\n"
        "escaped()",
        (Protection.FILE_SIZE,),
    ),
    Attack(
        "processor hog",
        "end = time.process_time() + 3.5\nwhile time.process_time() < end: pass\nescaped()",
        (Protection.CPU_TIME,),
    ),
)
