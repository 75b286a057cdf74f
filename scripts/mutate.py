"""Change a module in small ways, one at a time, and say which changes its tests do not notice.

    python scripts/mutate.py src/swaplaw/votes/tally.py
    python scripts/mutate.py src/swaplaw/law/pair.py --tests tests/law tests/panels --number 40 --seed 1

Comparisons, arithmetic, conditions, whole numbers, truth values, minima and maxima are changed at random places; each
changed module runs in a copy of the sources, with the tests of its package (or those named), which stop at the first
failure. A change that survives is printed with its line: a test is missing, or the code can go. Exits 1 if any does.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAIRS = [
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot),
    (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.FloorDiv, ast.Mod), (ast.And, ast.Or), (ast.BitAnd, ast.BitOr),
]  # fmt: skip
SWAPS: dict[Any, Any] = dict([*PAIRS, *(pair[::-1] for pair in PAIRS)])
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}


def places(tree: ast.Module) -> Iterator[Any]:
    """What can be changed: no annotations, and nothing that only type checkers read."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                waiting += [
                    each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST)
                ]
        number = isinstance(node, ast.Constant) and isinstance(node.value, bool | int)
        operator = getattr(node, "op", None) or (node.ops[0] if isinstance(node, ast.Compare) else None)
        name = getattr(node, "id", getattr(node, "attr", ""))
        if number or type(operator) in SWAPS or name in NAMES or isinstance(node, ast.If | ast.IfExp):
            yield node


def change(node: Any) -> None:
    """Change one place."""
    kind: type[Any] = type(node)
    if kind is ast.Constant:
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif kind is ast.Compare:
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif kind in (ast.If, ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif kind is ast.Name:
        node.id = NAMES[node.id]
    elif kind is ast.Attribute:
        node.attr = NAMES[node.attr]
    else:
        node.op = SWAPS[type(node.op)]()


def survives(module: Path, source: str, tests: list[str], seconds: float) -> bool:
    """Whether the tests pass with this source in the module's place; what never ends is noticed, too."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / module.relative_to(ROOT / "src")).write_text(source, encoding="utf-8")
        paths = os.pathsep.join([str(copy), str(ROOT / "forensic" / "src")])
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        try:
            ran = subprocess.run(
                command, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return False
        return ran.returncode == 0


def main() -> int:
    """Try some changes of a module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", type=Path)
    parser.add_argument("--tests", nargs="+", help="by default those of the module's package")
    parser.add_argument("--number", type=int, default=20, help="how many changes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600, help="the longest that tests may take")
    given = parser.parse_args()
    module = given.module.resolve()
    tests = given.tests or [f"tests/{module.relative_to(ROOT / 'src' / 'swaplaw').parts[0]}"]
    text = module.read_text(encoding="utf-8")
    if not survives(module, text, tests, given.seconds):
        print("the tests fail, or take too long, without any change")
        return 2
    number = len(list(places(ast.parse(text))))
    chosen = sorted(random.Random(given.seed).sample(range(number), min(given.number, number)))
    survivors = 0
    for place in chosen:
        tree = ast.parse(text)
        node = list(places(tree))[place]
        line, before = node.lineno, ast.unparse(node)
        change(node)
        lives = survives(module, ast.unparse(ast.fix_missing_locations(tree)), tests, given.seconds)
        survivors += lives
        print(
            f"{'SURVIVED' if lives else 'noticed '} line {line}: {before[:80]}  ->  {ast.unparse(node)[:80]}",
            flush=True,
        )
    print(f"{survivors} of {len(chosen)} changes survived (of {number} places)")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
