"""Files, lines and fan-in of each package, as docs/architecture.md shows them: `python -m benchmarks.sizes [SOURCE]`.

SOURCE is a folder that holds `swaplaw`; by default this repository's. Fan-in is the number of modules elsewhere that
import something from the package.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
FLAT = "(flat)"


def imported(text: str) -> Iterator[str]:
    """Everything that a module could be importing, by its full name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def sizes(source: Path) -> dict[str, tuple[int, int, int]]:
    """Files, lines and fan-in of each package; modules that lie beside the packages are counted together."""
    root = source / "swaplaw"
    packages = {folder.name for folder in root.iterdir() if folder.is_dir() and any(folder.rglob("*.py"))}
    flat = {file.stem for file in root.glob("*.py") if not file.stem.startswith("__")}
    files, lines, users = defaultdict[str, int](int), defaultdict[str, int](int), defaultdict[str, set[Path]](set)
    for file in root.rglob("*.py"):
        parts = file.relative_to(root).parts
        own = parts[0] if len(parts) > 1 else FLAT
        text = file.read_text()
        files[own] += 1
        lines[own] += len(text.splitlines())
        for name in imported(text):
            top, _, rest = name.partition(".")
            part = rest.split(".")[0]
            used = part if part in packages else FLAT if part in flat else own
            if top == "swaplaw" and used != own:
                users[used].add(file)
    return {name: (files[name], lines[name], len(users[name])) for name in sorted(files)}


def main() -> None:
    """Print the table."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE
    print("| package | files | lines | imported by |\n|---|--:|--:|--:|")
    for name, numbers in sizes(source).items():
        print(f"| {name if name == FLAT else f'`{name}`'} | {' | '.join(f'{number:,}' for number in numbers)} |")


if __name__ == "__main__":
    main()
