"""The example notebook runs from top to bottom."""

from __future__ import annotations

import nbformat
from nbclient import NotebookClient

from support.pages import ROOT


def test_the_notebook_runs() -> None:
    notebook = nbformat.read(ROOT / "examples" / "notebook.ipynb", as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    printed = [out.get("text", "") for cell in notebook.cells for out in cell.get("outputs", [])]
    assert any("best single model" in text for text in printed)
