"""Logs of Inspect AI."""

import re
from pathlib import Path

from swaplaw.importers.inspect.logs import read
from swaplaw.importers.registry import Format, head


def _recognises(file: Path) -> bool:
    if file.suffix.lower() == ".eval":
        return True
    if file.suffix.lower() != ".json":
        return False
    # The order in which Inspect writes a log. Its directory listings hold the same words, but begin with a file's name.
    start = head(file)
    return bool(re.match(rb'\s*{\s*"version"', start)) and b'"eval"' in start


FORMATS = (Format("inspect", _recognises, read),)
