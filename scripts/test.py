"""Install everything the tests need, then run them: `python scripts/test.py [pytest arguments]`.

Needs only Python 3.11+ and pip. The locked packages go into `.venv`; system packages that some tests
use are installed where that is allowed, and otherwise just those tests are skipped, with the reason shown.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")

# Debian package -> the program whose absence means that it is not installed yet.
SYSTEM_PACKAGES: dict[str, str] = {
    "bubblewrap": "bwrap",
    "chromium": "chromium",
    "chromium-driver": "chromedriver",
    "dosfstools": "fsck.fat",
    "file": "file",
    "foremost": "foremost",
    "sleuthkit": "fls",
    "tshark": "tshark",
    "unzip": "unzip",
    "xxd": "xxd",
}


def run(*command: str | Path) -> int:
    """Run a command in the repository and return its exit code."""
    return subprocess.run([str(part) for part in command], cwd=ROOT).returncode


def install_python_packages() -> None:
    """Bring `.venv` to exactly what `uv.lock` says."""
    if not (BIN / "python").exists():
        venv.create(VENV, with_pip=True)
    if not (BIN / "uv").exists() and run(BIN / "python", "-m", "pip", "install", "--quiet", "uv"):
        sys.exit("could not install uv with pip: check the network, then run this command again")
    os.environ["VIRTUAL_ENV"] = str(VENV)
    if run(BIN / "uv", "sync", "--active", "--frozen", "--all-extras", "--quiet"):
        sys.exit("could not install the locked packages: see the message above")


def install_system_packages() -> None:
    """Install what is missing where we may; tests say themselves what they skip without it."""
    missing = [package for package, program in SYSTEM_PACKAGES.items() if not shutil.which(program)]
    if not missing:
        return
    if os.name != "posix" or os.geteuid() != 0 or not shutil.which("apt-get"):
        print(f"not installed (no right to): {' '.join(missing)}; the tests that need them will be skipped")
        return
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    run("apt-get", "update", "-qq")
    run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing)


if __name__ == "__main__":
    install_python_packages()
    install_system_packages()
    arguments = sys.argv[1:] or ["-m", "not slow", "-n", "auto", "--dist", "loadgroup"]
    sys.exit(run(BIN / "python", "-m", "pytest", *arguments))
