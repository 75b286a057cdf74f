"""Install everything the tests need, then run them: `python scripts/test.py [--python VERSION] [pytest arguments]`.

Needs only Python 3.11+ and pip. The locked packages go into `.venv`; system packages that some tests
use are installed where that is allowed, and otherwise just those tests are skipped, with the reason shown.
With `--install` alone everything is installed and nothing is run.
With `--python 3.12` (or the path of an interpreter) another Python runs the tests, from `.venv-3.12`: one that uv finds
on this machine or downloads.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import apptainer

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PROGRAMS = "Scripts" if os.name == "nt" else "bin"
BIN = VENV / PROGRAMS

# Debian package -> the program whose absence means that it is not installed yet.
SYSTEM_PACKAGES: dict[str, str] = {
    "binutils": "strings",
    "bubblewrap": "bwrap",
    "chromium": "chromium",
    "chromium-driver": "chromedriver",
    "dosfstools": "fsck.fat",
    "file": "file",
    "foremost": "foremost",
    "libevtx-utils": "evtxexport",
    "mmdebstrap": "mmdebstrap",
    "reglookup": "reglookup",
    "sleuthkit": "fls",
    "tshark": "tshark",
    "unzip": "unzip",
    "xxd": "xxd",
}


def run(*command: str | Path) -> int:
    """Run a command in the repository and return its exit code."""
    return subprocess.run([str(part) for part in command], cwd=ROOT).returncode


def install_python_packages(version: str | None = None) -> Path:
    """Bring an environment to exactly what `uv.lock` says: `.venv`, or that of another Python. Return its folder."""
    if not (BIN / "python").exists():
        venv.create(VENV, with_pip=True)
    if not (BIN / "uv").exists() and run(BIN / "python", "-m", "pip", "install", "--quiet", "uv"):
        sys.exit("could not install uv with pip: check the network, then run this command again")
    chosen = VENV if version is None else ROOT / f".venv-{Path(version).name}"
    if version is not None and run(BIN / "uv", "venv", "--quiet", "--allow-existing", "--python", version, chosen):
        sys.exit(f"there is no Python {version} here that uv finds, and it could not download one: install it first")
    os.environ["VIRTUAL_ENV"] = str(chosen)
    if run(BIN / "uv", "sync", "--active", "--frozen", "--all-packages", "--all-extras", "--quiet"):
        sys.exit("could not install the locked packages: see the message above")
    return chosen


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
    given = sys.argv[1:]
    version, given = (given[1], given[2:]) if given[:1] == ["--python"] and len(given) > 1 else (None, given)
    # Many tests start Python, which would compile every module anew in each process.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    environment = install_python_packages(version)
    install_system_packages()
    os.environ.update(apptainer.arrange())
    if given == ["--install"]:
        sys.exit()
    arguments = given or ["-m", "not slow", "-n", "auto", "--dist", "loadgroup"]
    sys.exit(run(environment / PROGRAMS / "python", "-m", "pytest", *arguments))
