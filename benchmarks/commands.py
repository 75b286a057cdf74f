"""Whole commands, from a cold start to the printed table: what people wait for, in processor seconds and memory.

Five fleets: d (10 models x 3,000 questions x 24 samples), e (50 x 10,000 x 8) and f (200 x 2,000 x 1) are synthetic, b
(mmlu-pro, 29 x 12,000 x 1) and r (reasoning-gym) are real votes. `python -m benchmarks.commands` prints every command
on every fleet as JSON; `--fleets`, `--commands` and `--source` (another copy of the package) choose.
`benchmarks.before` runs the same commands on two copies of the package, in turns.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from benchmarks.growth import write
from benchmarks.harness import Row
from benchmarks.kernels import synthetic

ROOT = Path(__file__).resolve().parents[1]
SIZES = {"d": (10, 3_000, 24), "e": (50, 10_000, 8), "f": (200, 2_000, 1)}
VOTES = ROOT / "tests" / "data" / "votes"
REAL = {"b": VOTES / "mmlu-pro.parquet", "r": VOTES / "reasoning-gym.parquet"}
NAMES = {
    "d": "10 x 3,000 x 24",
    "e": "50 x 10,000 x 8",
    "f": "200 x 2,000 x 1",
    "b": "mmlu-pro, 29 x 11,993 x 1",
    "r": "reasoning-gym, 10 x 4,302 x 1 to 3",
}
DEMO = ("claude-3-opus-20240229", "gpt-4")
"""Two models of the bundled votes."""
COMMANDS: dict[str, tuple[str, ...]] = {
    "pairs": ("pairs", "VOTES", "--json"),
    "checks": ("checks", "VOTES", "--json"),
    "recommend": ("recommend", "VOTES", "--json"),
    "calibrate": ("calibrate", "VOTES", "--json"),
    "predictors": ("predictors", "VOTES", "--json"),
    "front": ("front", "VOTES", "--json"),
    "report": ("report", "VOTES", "-o", "PAGE"),
    "panel": ("panel", "VOTES", "--json", "--size", "3"),
    "quartets": ("panel", "VOTES", "--json", "--size", "4"),
    "help": ("--help",),
}
LIMITS = {
    ("recommend", "e"): (60.0, 1536.0),
    ("calibrate", "e"): (60.0, 1536.0),
    ("predictors", "e"): (60.0, 1536.0),
    ("calibrate", "f"): (None, 4096.0),
    ("report", "d"): (8.0, None),
}
"""Processor seconds and megabytes that a command may take on a fleet."""


@dataclass(frozen=True)
class Run:
    """One command that was run."""

    command: str
    fleet: str
    seconds: float
    """Processor time, user and system, of all its threads."""
    megabytes: float
    code: int
    said: str = ""
    """The last line on standard error, where the command failed."""

    @property
    def unknown(self) -> bool:
        """Whether the package that was run has no such command or option."""
        return self.code == 2 and "No such" in self.said

    @property
    def timed_out(self) -> bool:
        """Whether it was stopped for taking too long."""
        return self.code in (-signal.SIGXCPU, -signal.SIGKILL)


@dataclass(frozen=True)
class Bound:
    """What a command may take before it is stopped."""

    seconds: int
    gigabytes: int

    @property
    def wider(self) -> Bound:
        """The same with several times as much processor time."""
        return Bound(5 * self.seconds, self.gigabytes)


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        files = make(Path(folder), list(SIZES))
        ran = {
            (command, fleet): run(command, fleet, files[fleet])
            for command, fleet in [*LIMITS, ("pairs", "d"), ("recommend", "d")]
        }
        for (command, fleet), (seconds, megabytes) in LIMITS.items():
            found = ran[command, fleet]
            name = f"`swaplaw {command}`, {NAMES[fleet]}"
            if seconds is not None:
                yield Row(name, found.seconds, seconds, f"{seconds:g} s", 1, "CPU s", note="synthetic votes")
            if megabytes is not None:
                limit = f"{megabytes / 1024:g} GB"
                yield Row(f"{name}: memory", found.megabytes, megabytes, limit, 1, "MB", note="synthetic votes")
        name = f"`swaplaw recommend`, {NAMES['d']}"
        ours, theirs = ran["recommend", "d"].seconds, ran["pairs", "d"].seconds
        yield Row(name, ours, theirs, "`swaplaw pairs`", 1 / 6, "CPU s", note="synthetic votes")


def make(folder: Path, fleets: Sequence[str]) -> dict[str, Path]:
    """Write the votes of some fleets."""
    files = dict(REAL)
    for name in fleets:
        if name in SIZES:
            files[name] = folder / f"{name}.parquet"
            if not files[name].exists():
                write(synthetic(*SIZES[name]), files[name])
    return files


def run(command: str, fleet: str, votes: Path, source: Path = ROOT / "src", bound: Bound | None = None) -> Run:
    """Run a command as a process of its own, and see what it took; stop it where it takes more than a bound.

    Its modules have been compiled before, as those of an installed package have.
    """
    import polars as pl

    _compiled(command, source)
    first, second = pl.scan_parquet(votes).select("model").unique().sort("model").collect()["model"][:2]
    with tempfile.TemporaryDirectory() as folder:
        words = {"VOTES": str(votes), "FIRST": first, "SECOND": second, "PAGE": str(Path(folder) / "page.html")}
        arguments = [words.get(word, word) for word in COMMANDS[command]]
        said = Path(folder) / "stderr"
        asked = [sys.executable, "-m", "swaplaw", *arguments]
        limits = json.dumps(None if bound is None else [bound.seconds, bound.gigabytes * 2**30])
        with said.open("wb") as stderr:
            # From a small process: the peak that is told of a command is never below that of whoever starts it.
            started = subprocess.run(
                [sys.executable, "-S", "-c", START, limits, *asked],
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=_environment(source),
                check=True,
            )
        seconds, kilobytes, code = json.loads(started.stdout)
        last = said.read_text(errors="replace").strip().splitlines()[-1:] if code else []
    return Run(command, fleet, seconds, kilobytes / 1024, code, " ".join(last)[:200])


@cache
def _compiled(command: str, source: Path) -> None:
    """Run a command once on bundled votes, for its modules to be compiled; what it says does not matter."""
    with tempfile.TemporaryDirectory() as folder:
        words = {"VOTES": "demo", "FIRST": DEMO[0], "SECOND": DEMO[1], "PAGE": str(Path(folder) / "page.html")}
        asked = [sys.executable, "-m", "swaplaw", *(words.get(word, word) for word in COMMANDS[command])]
        subprocess.run(asked, capture_output=True, env=_environment(source), check=False)


def _environment(source: Path) -> dict[str, str]:
    """The environment that commands run in, with a package and a place for compiled modules that may be written to."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": str(source), "PYTHONPYCACHEPREFIX": _bytecode()}


@cache
def _bytecode() -> str:
    folder = tempfile.mkdtemp(prefix="swaplaw-bytecode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


START = """
import json, os, resource, sys
limits, words = json.loads(sys.argv[1]), sys.argv[2:]
child = os.fork()
if not child:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if limits:
        resource.setrlimit(resource.RLIMIT_CPU, (limits[0], limits[0] + 2))
        resource.setrlimit(resource.RLIMIT_AS, (limits[1], limits[1]))
    os.execv(words[0], words)
_, status, used = os.wait4(child, 0)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss, os.waitstatus_to_exitcode(status)]))
"""
"""Starts a command within its limits, and tells processor time, peak memory and exit code."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.commands", description=__doc__)
    parser.add_argument("--fleets", default="d,b,e,f", help="which fleets")
    parser.add_argument("--commands", default=",".join(COMMANDS), help="which commands")
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="the package to run")
    parser.add_argument("--folder", type=Path, help="keep the votes here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fleets = chosen.fleets.split(",")
        files = make(chosen.folder or Path(folder), fleets)
        for fleet in fleets:
            for command in chosen.commands.split(","):
                print(json.dumps(asdict(run(command, fleet, files[fleet], chosen.source))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
