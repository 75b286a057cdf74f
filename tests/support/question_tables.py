"""Small tables of questions in the layouts of public datasets."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

SUPERGPQA = {
    "uuid": "be3f1a",
    "question": "Which gas is the lightest?",
    "options": ["helium", "hydrogen", "neon", "argon", "xenon"],
    "answer": "hydrogen",
    "answer_letter": "B",
    "discipline": "Science",
    "field": "Chemistry",
    "subfield": "Inorganic Chemistry",
    "difficulty": "easy",
    "is_calculation": False,
}
MMLU_PRO = {
    "question_id": 70,
    "question": "Which gas is the lightest?",
    "options": ["helium", "hydrogen", "neon", "N/A", "N/A"],
    "answer": "B",
    "answer_index": 1,
    "cot_content": "",
    "category": "chemistry",
    "src": "test",
}
GPQA = {
    "Pre-Revision Question": "…",
    "Question": 'Which gas is the "lightest",\nat rest?',
    "Correct Answer": "hydrogen\n",
    "Incorrect Answer 1": "helium",
    "Incorrect Answer 2": "neon",
    "Incorrect Answer 3": "argon",
    "Explanation": "It has one proton.",
    "Subdomain": "Chemistry (general)",
    "High-level domain": "Chemistry",
    "Record ID": "rec06",
}
PLAIN = {"id": "q1", "question": "Which gas is the lightest?", "options": ["helium", "hydrogen", "neon"], "answer": "B"}


def written(folder: Path, *rows: Mapping[str, Any], name: str = "questions.jsonl") -> Path:
    file = folder / name
    if file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif file.suffix == ".parquet":
        pl.DataFrame(list(rows), strict=False).write_parquet(file)
    else:
        with file.open("w", newline="", encoding="utf-8") as handle:
            writer = csv.DictWriter(handle, list(rows[0]))
            writer.writeheader()
            writer.writerows({k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows)
    return file
