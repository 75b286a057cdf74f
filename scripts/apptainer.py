"""Run the sandbox tests with a real Apptainer: `python scripts/apptainer.py [directory]`, as root, on Debian.

Debian stable has no Apptainer package, Debian sid has. So a sid root with Apptainer and an image with the
packages of `forensic.def` are made by debootstrap (a few minutes and 1 GB, once), and a program named
`apptainer` that runs the one in the sid root. Then the tests of the sandboxes run with both.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What the tests use; the image that users build has all that `forensic.def` names.
IMAGE_PACKAGES = "python3,util-linux,procps,sleuthkit,file,xxd"
WRAPPER = """#!/bin/sh
# The sample's private files (/tmp), its user and the image stay what they are; the rest is the sid root.
exec bwrap --die-with-parent --bind {sid} / --dev-bind /dev /dev --bind /proc /proc --bind /sys /sys \\
    --bind /tmp /tmp --bind /etc/passwd /etc/passwd --bind /etc/group /etc/group --bind {image} {image} \\
    --chdir / /usr/bin/env PATH=/usr/bin:/bin /usr/bin/apptainer "$@"
"""


def debootstrap(suite: str, packages: str, target: Path) -> None:
    """Make a Debian root once; a half-made one has no mark and is made again."""
    mark = target / ".complete"
    if not mark.exists():
        command = ["debootstrap", "--variant=minbase", f"--include={packages}", suite, str(target)]
        subprocess.run(command, check=True)
        mark.touch()


def arrange(directory: Path) -> dict[str, str]:
    """Make everything that is missing; return the environment in which the tests find it."""
    sid, image, programs = directory / "sid", directory / "image", directory / "bin"
    debootstrap("sid", "apptainer,squashfs-tools,squashfuse,util-linux", sid)
    debootstrap("bookworm", IMAGE_PACKAGES, image)
    for mount_point in (image / "home/agent", image / "evidence", sid / str(image).lstrip("/"), programs):
        mount_point.mkdir(parents=True, exist_ok=True)
    (sid / "etc/hosts").touch()
    wrapper = programs / "apptainer"
    wrapper.write_text(WRAPPER.format(sid=sid, image=image))
    wrapper.chmod(0o755)
    return {"PATH": f"{programs}:{os.environ['PATH']}", "SWAPLAW_APPTAINER_IMAGE": str(image)}


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("debootstrap needs root")
    found = arrange(Path(sys.argv[1] if len(sys.argv) > 1 else "/var/tmp/swaplaw-apptainer").absolute())
    tests = [sys.executable, "-m", "pytest", "tests/forensic/sandbox", "-k", "apptainer"]
    sys.exit(subprocess.run(tests, cwd=ROOT, env={**os.environ, **found}).returncode)
