"""What a seeded challenge is made of: the evidence, and the answers that only grading may see."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from swaplaw.errors import InputError, listing, quote
from swaplaw.forensic.challenges.manifest import Challenge

BUILDERS = {
    "synthetic-disk": "swaplaw.forensic.synthetic.disk",
    "synthetic-capture": "swaplaw.forensic.synthetic.capture",
}


@dataclass(frozen=True)
class Case:
    """Evidence files by name, and gold tables by question (the layout of a gold file's `answers`)."""

    files: dict[str, bytes]
    answers: dict[str, dict[str, Any]]


def build_case(challenge: Challenge) -> Case:
    """Build a synthetic challenge in memory: the same bytes for the same seed, everywhere."""
    if challenge.id not in BUILDERS or challenge.seed is None:
        known = listing(list(BUILDERS))
        raise InputError(f"challenge {quote(challenge.id)} is called synthetic, but only {known} can be built")
    case: Case = import_module(BUILDERS[challenge.id]).build(challenge.seed)
    return case
