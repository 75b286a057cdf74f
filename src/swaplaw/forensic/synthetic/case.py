"""What a seeded challenge is made of: the evidence, and the answers that only grading may see."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """Evidence files by name, and gold tables by question (the layout of a gold file's `answers`)."""

    files: dict[str, bytes]
    answers: dict[str, dict[str, Any]]
