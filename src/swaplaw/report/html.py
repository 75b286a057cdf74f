"""The page: one HTML file with its style, its script and its data inside, and nothing fetched from anywhere.

Names and answers come from other people's files. They travel as JSON in a data block with every character escaped that
HTML could read as markup, and the script puts them on the page as text only. A content security policy names the one
script and the one style by their hashes: whatever else got in would not run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from swaplaw._files import write_text
from swaplaw.errors import printable

SCRIPTS = (
    "numbers.js",
    "law.js",
    "drawing.js",
    "sections.js",
    "pairs.js",
    "comparing.js",
    "combining.js",
    "predictions.js",
    "labels.js",
    "explorer.js",
    "start.js",
)
"""In this order: each builds on those before it."""

# What could end the data block or start another, and two line ends that JavaScript knows and JSON does not.
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def page(document: dict[str, Any]) -> str:
    """Turn a report's document into its page.

    Parameters
    ----------
    document : dict
        What `document` gathered.

    Returns
    -------
    str
        One HTML file that fetches nothing.

    Examples
    --------
    >>> page({"dataset": "<exams>"}).splitlines()[0]
    '<!doctype html>'
    >>> "<title>&lt;exams&gt;" in page({"dataset": "<exams>"})
    True
    """
    style = _part("style.css")
    script = "'use strict';\n(() => {\n" + "\n".join(map(_part, SCRIPTS)) + "\n})();\n"
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    fill = {
        "POLICY": policy,
        "TITLE": escape(printable(str(document["dataset"]))),
        "STYLE": style,
        "DATA": embedded(document),
        "SCRIPT": script,
    }
    # One pass over the template: what is filled in is never searched for places again.
    pieces = _part("page.html").split("{{")
    return pieces[0] + "".join(fill[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces[1:]))


def embedded(document: dict[str, Any]) -> str:
    """JSON that HTML cannot mistake for markup; null, never NaN."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Lone surrogates cannot be written as UTF-8; JSON can say them in ASCII.
    text = "".join(f"\\u{ord(c):04x}" if 0xD800 <= ord(c) < 0xE000 else c for c in text) if not _is_utf8(text) else text
    return text.translate(_ESCAPES)


def write_page(text: str, path: str | Path) -> None:
    """Write a page.

    Parameters
    ----------
    text : str
        What `page` made.
    path : str or Path
        The file to write.

    Raises
    ------
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_page(page({"dataset": "exams"}), f"{folder}/report.html")
    """
    write_text(path, text)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _part(name: str) -> str:
    return resources.files("swaplaw.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The name of an inline script or style in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
