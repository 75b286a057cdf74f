"""Seeds drawn by chance, kept beside the logs, so that a run that was stopped goes on with the same cases."""

import json
from collections.abc import Sequence
from pathlib import Path

from swaplaw.errors import InputError, SwaplawError
from swaplaw_forensic.challenges.manifest import load

NAME = "seeds.json"


def remembered(challenges: Sequence[str], logs: Path) -> list[str]:
    """Return the challenges with their seeds: those of an earlier run into the same logs, or new ones, then kept."""
    file = logs / NAME
    try:
        kept: dict[str, str] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        kept = {str(name): str(ref) for name, ref in kept.items()}
    except (ValueError, AttributeError) as error:
        raise InputError(f"{file} is not a list of seeds: {error}; move it away to draw new ones") from None
    for name in challenges:
        named = name.partition("@")[2].partition(":")[0]
        if name not in kept and not named and (drawn := load(name)).seed is not None:
            kept[name] = drawn.ref
    if kept:
        try:
            logs.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise SwaplawError(f"the seeds cannot be kept in {file}: {error.strerror}") from None
    return [kept.get(name, name) for name in challenges]
