"""Build the distributions into `dist/` and check them: `python scripts/build.py` (after `scripts/test.py --install`).

The wheel of swaplaw stays small enough to be installed anywhere in seconds, and holds nothing of the forensic testbed.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from test import BIN, ROOT

DIST = ROOT / "dist"
MOST_BYTES = 1_500_000


def run(*command: str | Path) -> None:
    """Run a command in the repository, and stop where it fails."""
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True)


if __name__ == "__main__":
    shutil.rmtree(DIST, ignore_errors=True)
    run(BIN / "uv", "build", "--quiet", "--all-packages", "--out-dir", DIST)
    files = sorted(file for file in DIST.iterdir() if file.suffix in (".whl", ".gz"))
    run(BIN / "uvx", "--quiet", "twine", "check", "--strict", *files)
    [wheel] = DIST.glob("swaplaw-*.whl")
    with ZipFile(wheel) as inside:
        strange = [name for name in inside.namelist() if not name.startswith(("swaplaw/", "swaplaw-"))]
    if strange or wheel.stat().st_size > MOST_BYTES:
        sys.exit(f"{wheel.name}: {wheel.stat().st_size:,} bytes of at most {MOST_BYTES:,}; strange files: {strange}")
