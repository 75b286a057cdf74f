"""Where the tests' data, the pages and the repository are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "forensic" / "tests" / "data"
DOCS = ROOT / "forensic" / "docs"
