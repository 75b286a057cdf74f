"""The example notebook runs from top to bottom."""

from __future__ import annotations

from nbclient import NotebookClient
from nbformat import reads

from support.pages import ROOT


def test_the_notebook_runs() -> None:
    source = (ROOT / "examples" / "notebook.ipynb").read_text()
    notebook = reads(source, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    printed = [out.get("text", "") for cell in notebook.cells for out in cell.get("outputs", [])]
    assert any("best single model" in text for text in printed)
