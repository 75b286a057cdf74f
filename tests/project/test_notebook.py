"""The example notebook runs from top to bottom."""

from __future__ import annotations

import json

from nbclient import NotebookClient
from nbformat import from_dict

from support.pages import ROOT


def test_the_notebook_runs() -> None:
    notebook = from_dict(  # type: ignore[no-untyped-call]
        json.loads((ROOT / "examples" / "notebook.ipynb").read_text())
    )
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    printed = [out.get("text", "") for cell in notebook.cells for out in cell.get("outputs", [])]
    assert any("best single model" in text for text in printed)
