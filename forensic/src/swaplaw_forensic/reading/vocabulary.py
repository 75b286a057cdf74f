"""The words that the grader knows, from words.toml beside this file."""

import tomllib
from pathlib import Path

WORDS: dict[str, str] = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


def vocabulary(name: str) -> frozenset[str]:
    """Return one list of words.

    >>> "gateway" in vocabulary("roles")
    True
    """
    return frozenset(WORDS[name].split())
