"""Sample summaries of an Inspect log, one at a time.

Inspect's own `read_eval_log_sample_summaries` gives all of them at once: about 9 kB of memory each, most of a gigabyte
for a log of 100,000 samples. This reads the same parts of the log into the same objects, and holds one.
Their longest texts, input and explanations, no vote needs: they are left empty, because Inspect takes longer to shorten
them (again) than for all the rest.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaplaw.importers.documents import elements

if TYPE_CHECKING:
    from inspect_ai.log import EvalSampleSummary

WHOLE = "summaries.json"
"""Where a finished log has all summaries."""
JOURNAL = "_journal/summaries/"
"""Where one that was cut short has them, in numbered parts."""


def summaries(file: Path) -> Iterator[EvalSampleSummary]:
    """Read a log's summaries; of a sample that was run again, the last one, as Inspect itself does."""
    from inspect_ai.log import EvalSampleSummary

    last = {_key(item): place for place, item in enumerate(_items(file))}
    for place, item in enumerate(_items(file)):
        if last[_key(item)] == place:
            yield EvalSampleSummary.model_validate(_without_long_texts(item))


def _without_long_texts(item: dict[str, Any]) -> dict[str, Any]:
    scores = item.get("scores") or {}
    return {**item, "input": "", "scores": {name: {**scores[name], "explanation": None} for name in scores}}


def _key(item: dict[str, Any]) -> tuple[str, int]:
    return str(item["id"]), int(item["epoch"])


def _items(file: Path) -> Iterator[dict[str, Any]]:
    with zipfile.ZipFile(file) as archive:
        for part in _parts(archive.namelist()):
            with archive.open(part) as handle:
                yield from elements(handle, part)


def _parts(names: list[str]) -> list[str]:
    if WHOLE in names:
        return [WHOLE]
    parts = {name for name in names if name.startswith(JOURNAL) and name.endswith(".json")}
    return sorted(parts, key=lambda name: int(name.removeprefix(JOURNAL).removesuffix(".json")))
