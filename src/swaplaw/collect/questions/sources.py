"""Where questions are read from: files, the Hugging Face hub, Inspect tasks, and the bundled ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from swaplaw.collect.questions import tables
from swaplaw.collect.questions.inspect_tasks import from_task
from swaplaw.collect.questions.question import DEMO, Questions
from swaplaw.importers import hub


def read_questions(
    source: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    strata: Sequence[str] = (),
    name: str | None = None,
    skip_invalid: bool = False,
    unlabelled: bool = False,
) -> Questions:
    """Read questions from a file (CSV, JSONL, Parquet), the Hugging Face hub, an Inspect task, or the bundled ones.

    `source` is a path; `demo`; `supergpqa`, `mmlu-pro` or `gpqa-diamond`; `hf:OWNER/NAME[@REVISION][:FILES]`; or
    `inspect:PACKAGE/TASK`. `columns` says which column each part of a question is in where it cannot be guessed,
    `strata` which further columns to keep, `name` what to call the dataset. With `skip_invalid`, rows that break the
    contract are left out, and a note says how many. With `unlabelled`, questions may lack an answer.
    """
    given = str(source)
    if given.startswith("inspect:"):
        return from_task(given.removeprefix("inspect:"), name=name, skip_invalid=skip_invalid, unlabelled=unlabelled)
    declared, kept = dict(columns or {}), tuple(strata)
    if given == DEMO:
        with as_file(files("swaplaw") / "data" / "questions.jsonl") as file:
            return tables.read([file], name or "questions", columns=declared, strata=kept, source=DEMO)
    called, paths = Path(given).stem, [Path(given)]
    if hub.is_hub(given) and not Path(given).exists():
        called, paths = hub.download(given)
    return tables.read(
        paths,
        name or called,
        columns=declared,
        strata=kept,
        skip_invalid=skip_invalid,
        unlabelled=unlabelled,
        source=given,
    )
