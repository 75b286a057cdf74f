"""How often a newcomer changes file who follows votes from a Parquet file to the verdict: `python -m benchmarks.path`.

Every function is read once, when it is first called, as by somebody who reads the program in the order it runs in.
Comprehensions and lambdas are read with the function that they stand in (from 3.12 on, Python itself does not call
comprehensions any more).
Another version is measured with its own package in front: `PYTHONPATH=other/src python -m benchmarks.path`.
"""

import contextlib
import importlib
import io
import json
import pkgutil
import sys
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

VOTES = Path(__file__).parent.parent / "tests" / "data" / "votes" / "renze-temperature.parquet"
MODELS = "gpt-4,claude-3-opus-20240229,mistral-large"
ELSEWHERE = ("collect", "forensic", "serve", "_inspect", "__main__", "provider")


def first_calls(arguments: list[str]) -> list[tuple[str, str]]:
    """File and name of every function of the package, in the order of their first calls by a command."""
    package = importlib.import_module("swaplaw")
    root = str(Path(str(package.__file__)).parent)
    # What is imported while the command runs would count the bodies of classes as calls.
    for module in pkgutil.walk_packages(package.__path__, "swaplaw."):
        if not any(part in module.name for part in ELSEWHERE):
            importlib.import_module(module.name)
    called: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and not code.co_name.startswith("<"):
            called.setdefault((code.co_filename, code.co_qualname))

    sys.argv = ["swaplaw", *arguments]
    main = importlib.import_module("swaplaw.cli").main
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        sys.setprofile(note)
        try:
            main()
        finally:
            sys.setprofile(None)
    return list(called)


def path() -> dict[str, int]:
    """Files, functions and changes of file on the way to the verdict."""
    functions = first_calls(["recommend", str(VOTES), "--models", MODELS, "--json"])
    files = [file for file, _ in functions]
    return {
        "files": len(set(files)),
        "functions": len(functions),
        "changes of file": sum(before != after for before, after in pairwise(files)),
    }


if __name__ == "__main__":
    print(json.dumps(path()))
