"""A real Apptainer for the sandbox tests: `python scripts/apptainer.py [pytest arguments]`, as root, on Debian.

Debian stable has no Apptainer package, Debian sid has. So a sid root with Apptainer, and a root with the tools of
`forensic.def` as the image, are unpacked by mmdebstrap (about a minute and 700 MB, once) into a folder that is kept:
$SWAPLAW_APPTAINER_ROOT, or /var/tmp/swaplaw-apptainer. A program named `apptainer` runs the one in the sid root.
`arrange()` makes what is missing, and `scripts/test.py` calls it; this script then runs the sandbox tests.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFINITION = ROOT / "forensic" / "src" / "swaplaw_forensic" / "sandbox" / "forensic.def"
MIRROR = "http://deb.debian.org/debian"
# Unpacking alone installs no essential packages: those that programs here use are named.
BASE = "bash,coreutils,dash,diffutils,findutils,grep,gzip,mawk,sed,tar,util-linux"
APPTAINER = f"apptainer,squashfs-tools,squashfuse,{BASE}"
EMPTY = ("etc/passwd", "etc/group", "etc/hosts", "etc/resolv.conf")
WRAPPER = """#!/bin/sh
# The sample's private files (/tmp), its user and the image stay what they are; the rest is the sid root.
exec bwrap --die-with-parent --bind {sid} / --dev-bind /dev /dev --bind /proc /proc --bind /sys /sys \\
    --bind /tmp /tmp --bind /etc/passwd /etc/passwd --bind /etc/group /etc/group --bind {image} {image} \\
    --chdir / /usr/bin/env PATH=/usr/bin:/bin /usr/bin/apptainer "$@"
"""


def cache() -> Path:
    """Return the folder that is kept between runs."""
    return Path(os.environ.get("SWAPLAW_APPTAINER_ROOT", "/var/tmp/swaplaw-apptainer")).absolute()


def why_not() -> str | None:
    """Return why Apptainer cannot be arranged here."""
    if os.name != "posix" or os.geteuid() != 0:
        return "only root can unpack a Debian root"
    missing = [name for name in ("mmdebstrap", "bwrap") if not shutil.which(name)]
    return f"not installed: {' '.join(missing)}" if missing else None


def image_packages() -> str:
    """Return the packages that `forensic.def` installs."""
    script = DEFINITION.read_text().partition("--no-install-recommends \\")[2].partition("apt-get clean")[0]
    return ",".join(dict.fromkeys(re.findall(r"[a-z0-9][a-z0-9+.-]+", script)))


def unpack(suite: str, packages: str, target: Path) -> None:
    """Unpack a Debian root once; one that is half made, or has other packages, is made again."""
    mark = target.with_suffix(".complete")
    if mark.is_file() and mark.read_text() == packages:
        return
    mark.unlink(missing_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Mirrors and snapshots may serve lists past their date; the signatures are checked all the same.
    stale = '--aptopt=Acquire::Check-Valid-Until "false"'
    command = ["mmdebstrap", "--variant=extract", "--quiet", stale, f"--include={packages}", suite, str(target), MIRROR]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"mmdebstrap {suite} failed: {done.stderr.strip()[-400:]}")
    finish(target)
    mark.write_text(packages)


def finish(root: Path) -> None:
    """Do what no maintainer script did: the links of a merged /usr, files that must exist, mount points."""
    for name in ("bin", "sbin", "lib", "lib64"):
        old = root / name
        if old.is_dir() and not old.is_symlink():
            (root / "usr" / name).mkdir(exist_ok=True)
            subprocess.run(["cp", "-a", f"{old}/.", str(root / "usr" / name)], check=True)
            shutil.rmtree(old)
        if not old.is_symlink():
            old.symlink_to(f"usr/{name}")
    for name in EMPTY:
        (root / name).touch()
    for name, program in (("awk", "mawk"), ("sh", "dash")):
        link = root / "usr" / "bin" / name
        if not link.is_symlink() and not link.exists():
            link.symlink_to(program)
    for mount_point in ("home/agent", "evidence", "proc", "sys", "dev", "tmp"):
        (root / mount_point).mkdir(parents=True, exist_ok=True)


def arrange(directory: Path | None = None) -> dict[str, str]:
    """Make everything that is missing; return the environment in which the tests find it, empty if they cannot."""
    reason = why_not()
    if reason:
        print(f"no Apptainer ({reason}): the tests that need it will be skipped")
        return {}
    folder = directory or cache()
    sid, image, programs = folder / "sid", folder / "image", folder / "bin"
    try:
        unpack("sid", APPTAINER, sid)
        unpack("bookworm", f"{BASE},{image_packages()}", image)
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        print(f"no Apptainer ({error}): the tests that need it will be skipped")
        return {}
    for place in (sid / str(image).lstrip("/"), programs):
        place.mkdir(parents=True, exist_ok=True)
    wrapper = programs / "apptainer"
    wrapper.write_text(WRAPPER.format(sid=sid, image=image))
    wrapper.chmod(0o755)
    return {"PATH": f"{programs}:{os.environ['PATH']}", "SWAPLAW_APPTAINER_IMAGE": str(image)}


if __name__ == "__main__":
    found = arrange()
    if not found:
        sys.exit(1)
    tests = [sys.executable, "-m", "pytest", *(sys.argv[1:] or ["forensic/tests", "-k", "apptainer"])]
    sys.exit(subprocess.run(tests, cwd=ROOT, env={**os.environ, **found}).returncode)
