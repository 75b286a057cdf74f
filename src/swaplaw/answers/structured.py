"""Answers in a structure (JSON, tags, tables), rewritten as the plain line `ANSWER: …` that they stand for."""

from __future__ import annotations

import re

SEARCHED = 300

KEYS = (
    *("finalanswer", "answer", "correctanswer", "answerchoice", "answerletter", "choice", "finalchoice", "option"),
    *("selectedoption", "selectedanswer", "selectedchoice", "correctoption", "correctchoice", "selected", "selection"),
    *("letter", "answeroption", "prediction", "predictedanswer", "predictedoption", "label", "result", "final", "ans"),
    *("solution", "response", "output", "vote", "pick", "argmax", "decision", "verdict"),
)
"""Names of the field that holds the answer, the likeliest first; case, blanks and underscores aside."""
_TAGS = re.compile(
    rf"<(answer|ans|final_?answer|final|choice|option|result|response|output|solution|antwort|letter|selected|pick|vote|label|verdict)>(.{{0,{SEARCHED}}}?)(?:</\1>|\Z)"
    rf"|\[(answer|final_?answer)\](.{{0,{SEARCHED}}}?)\[/\3\]",
    re.IGNORECASE | re.DOTALL,
)
_FIELD = re.compile(
    r"""(?P<quote>["'])(?P<key>[A-Za-z][A-Za-z_ -]{2,24})(?P=quote)\s{0,3}:\s{0,3}"""
    r"""(?P<open>["'])(?P<value>[^"'\n]{0,200})(?P=open)"""
)


def as_lines(text: str) -> str:
    """Rewrite tags, tables and fields of JSON within a text as answer lines."""
    if "<" in text or "[" in text:
        text = _TAGS.sub(lambda tag: f"\nANSWER: {' '.join((tag[2] or tag[4] or '').split())}\n", text)
    if '"' in text or "'" in text:
        text = _FIELD.sub(_field_line, text)
    return _tables(text)


def _field_line(field: re.Match[str]) -> str:
    named = _key(field["key"])
    if named in KEYS:
        return f"\nANSWER: {field['value'].upper() if len(field['value']) == 1 else field['value']}\n"
    # Reasons quote options that they reject: they are not part of what is said.
    return "\n" if len(named) > 1 else field[0]


def _key(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _tables(text: str) -> str:
    """Read Markdown tables: a column or a row that is headed "Answer"."""
    if "|" not in text:
        return text
    lines: list[str] = []
    header: list[str] = []
    for line in text.split("\n"):
        if line.count("|") < 2 or len(line) > SEARCHED:
            header = []
            lines.append(line)
            continue
        cells = [cell.strip(" *_") for cell in line.strip().strip("|").split("|")]
        keys = [_key(cell) for cell in cells]
        if all(set(cell) <= set("-: ") for cell in cells):
            continue
        if len(cells) == 2 and keys[0] in KEYS and len(keys[1]) < 3:
            lines.append(f"ANSWER: {cells[1]}")
        elif header and len(header) == len(cells) and (place := _column(header)) is not None:
            lines.append(f"ANSWER: {cells[place]}")
        elif _column(keys) is not None:
            header = keys
        else:
            header = []
            lines.append(line)
    return "\n".join(lines)


def _column(keys: list[str]) -> int | None:
    return next((place for place, key in enumerate(keys) if key in ("answer", "finalanswer", "correctanswer")), None)
