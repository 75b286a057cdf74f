"""Every command that reads votes, from a cold start to its document: processor seconds and memory, held to a budget.

A command may take 10 times the processor time of counting the votes (1.5 seconds where that is more) and three times
its memory, or what `REASONS` grants it and why. Three tables: d (10 models x 3,000 questions x 24 samples), e (50 x
10,000 x 8) and t (12 x 1,500, free text, none to 16 samples). `python -m benchmarks commands` measures all of them;
`python -m benchmarks.commands d,t pairs,panel` prints some as JSON (`--source` takes another copy of the package).
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.harness import Row, guarding
from benchmarks.kernels import synthetic, write

ROOT = Path(__file__).resolve().parents[1]
SIZES = {"d": (10, 3_000, 24), "e": (50, 10_000, 8)}
NAMES = {"d": "10 x 3,000 x 24", "e": "50 x 10,000 x 8", "t": "free text, 12 x 1,500 x 0 to 16"}
COMMANDS: dict[str, tuple[str, ...]] = {
    "counting": ("-c", "import sys, swaplaw; swaplaw.read_votes(sys.argv[1]).counts", "VOTES"),
    "import": ("import", "VOTES", "-o", "PAGE.parquet"),
    "checks": ("checks", "VOTES", "--json"),
    "summary": ("summary", "VOTES", "--json"),
    "compare": ("compare", "VOTES", "--json"),
    "pairs": ("pairs", "VOTES", "--json"),
    "curve": ("curve", "VOTES", "--primary", "FIRST", "--secondary", "SECOND", "--json"),
    "screen": ("screen", "VOTES", "--rule", "margin", "--json"),
    "calibrate": ("calibrate", "VOTES", "--json"),
    "predictors": ("predictors", "VOTES", "--json"),
    "front": ("front", "VOTES", "--json"),
    "recommend": ("recommend", "VOTES", "--json", "-o", "POLICY"),
    "replay": ("replay", "VOTES", "POLICY", "--json"),
    "combine": ("combine", "VOTES", "--json"),
    "panel": ("panel", "VOTES", "--json"),
    "quartets": ("panel", "VOTES", "--size", "4", "--json"),
    "labels": ("labels", "VOTES", "--json"),
    "report": ("report", "VOTES", "-o", "PAGE.html"),
    "release": ("release", "VOTES", "-o", "PAGE"),
}
REASONS: dict[str, tuple[float, float, str]] = {
    "combine": (25, 3, "cross-fits every rule"),
    "front": (40, 3, "every rule on 30 folds, at every number of samples"),
    "recommend": (50, 3, "every rule on 30 folds, at every number of samples"),
    "report": (60, 3, "all the other analyses"),
    "quartets": (25, 3, "weights of hundreds of panels, proven"),
    "labels": (10, 4, "bounds of every pair"),
}
"""Times counting that a command may take in seconds and in memory where it is more, and why."""
SECONDS, MEGABYTES, LEAST = 10.0, 3.0, 1.5
BOUND = 300
"""Processor seconds after which a command is stopped."""


@dataclass(frozen=True)
class Run:
    """One command that was run."""

    command: str
    fleet: str
    seconds: float
    """Processor time, user and system, of all its threads."""
    megabytes: float
    code: int


def measure() -> Iterator[Row]:
    """Every command on every table, as the share of its budget that it takes; guarded: on the small one alone."""
    with tempfile.TemporaryDirectory() as folder:
        for fleet in ["t"] if guarding() else list(NAMES):
            file = make(Path(folder), fleet)
            counting = run("counting", fleet, file)
            for command in list(COMMANDS)[1:]:
                yield _row(run(command, fleet, file), counting)


def _row(found: Run, counting: Run) -> Row:
    seconds, megabytes, reason = REASONS.get(found.command, (SECONDS, MEGABYTES, ""))
    budget = max(LEAST, seconds * counting.seconds), megabytes * counting.megabytes
    share = max(found.seconds / budget[0], found.megabytes / budget[1]) if not found.code else np.inf
    note = f"{found.seconds:.1f} s of {budget[0]:.1f}" + (f"; {reason}" if reason else "")
    name = f"`{found.command}`, {NAMES[found.fleet]}"
    return Row(name, share, 1.0, "its budget", 1, "budgets", (found.megabytes, budget[1]), note, found.fleet == "t")


def make(folder: Path, fleet: str) -> Path:
    """Write the votes of a fleet."""
    file = folder / f"{fleet}.parquet"
    if not file.exists():
        if fleet in SIZES:
            write(synthetic(*SIZES[fleet]), file)
        else:
            write_text(file)
    return file


def write_text(file: Path, models: int = 12, questions: int = 1_500) -> None:
    """Free-text votes, ragged: dozens of wrong answers to a question, none to 16 samples of each model."""
    import polars as pl

    rng = np.random.default_rng(0)
    shape = (models, questions)
    samples = rng.integers(0, 17, shape)
    model, question = (np.repeat(each.ravel(), samples.ravel()) for each in np.indices(shape))
    leaning = np.linspace(1, -0.5, models)[:, None] - rng.normal(0, 1.2, questions) + rng.normal(0, 1, shape)
    right = rng.random(len(model)) < 1 / (1 + np.exp(-2 * leaning[model, question]))
    said = 1_000 * question + np.where(right, 0, rng.geometric(0.05, len(model)))
    answers = [f"it is {number}" for number in said.tolist()]
    frame = {"model": [f"model-{each:02d}" for each in model], "question": [f"q{each:04d}" for each in question]}
    gold = [f"it is {1_000 * each}" for each in question]
    pl.DataFrame(frame | {"answer": answers, "gold": gold}).write_parquet(file)


def run(command: str, fleet: str, votes: Path, source: Path = ROOT / "src") -> Run:
    """Run a command as a process of its own, and see what it took; its modules have been compiled before."""
    import polars as pl

    _compiled(source)
    first, second = pl.scan_parquet(votes).select("model").unique().sort("model").collect()["model"][:2]
    policy = votes.with_suffix(".policy.json")
    with tempfile.TemporaryDirectory() as folder:
        words = {"VOTES": str(votes), "FIRST": first, "SECOND": second, "POLICY": str(policy)}
        arguments = [words.get(word, word.replace("PAGE", f"{folder}/page")) for word in COMMANDS[command]]
        asked = [sys.executable, *(arguments if command == "counting" else ["-m", "swaplaw", *arguments])]
        # From a small process: the peak that is told of a command is never below that of whoever starts it.
        started = [sys.executable, "-S", "-c", START, str(BOUND), *asked]
        found = subprocess.run(started, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment(source))
    seconds, kilobytes, code = json.loads(found.stdout)
    return Run(command, fleet, seconds, kilobytes / 1024, code)


@cache
def _compiled(source: Path) -> None:
    """Compile the package's modules once: those of an installed package are."""
    compiled = [sys.executable, "-m", "compileall", "-q", str(source)]
    subprocess.run(compiled, capture_output=True, env=_environment(source), check=False)


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
limit, words = int(sys.argv[1]), sys.argv[2:]
child = os.fork()
if not child:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 2))
    os.execv(words[0], words)
_, status, used = os.wait4(child, 0)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss, os.waitstatus_to_exitcode(status)]))
"""
"""Starts a command within its limit, and tells processor time, peak memory and exit code."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.commands", description=__doc__)
    parser.add_argument("fleets", nargs="?", default=",".join(NAMES), help="which tables")
    parser.add_argument("commands", nargs="?", default=",".join(COMMANDS), help="which commands")
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="the package to run")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        for fleet in chosen.fleets.split(","):
            file = make(Path(folder), fleet)
            for command in chosen.commands.split(","):
                print(json.dumps(asdict(run(command, fleet, file, chosen.source))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
