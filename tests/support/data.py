"""The real data that tests use: all of it in the repository."""

from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"


def real_votes(name: str = "") -> Path:
    """A real vote table, or the folder of them."""
    found = DATA / "votes" / name
    if not found.exists():
        raise FileNotFoundError(found)
    return found
