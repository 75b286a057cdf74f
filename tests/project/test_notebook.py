"""The example notebook goes from Inspect's samples to a verdict, a picture and a policy."""

from __future__ import annotations

import shutil
from pathlib import Path

from nbclient import NotebookClient
from nbformat import reads

import swaplaw as sl

from support.pages import ROOT


def test_the_notebook_runs(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "inspect-logs", tmp_path / "inspect-logs")
    source = (ROOT / "examples" / "notebook.ipynb").read_text()
    notebook = reads(source, as_version=4)  # type: ignore[no-untyped-call]
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=where).execute()
    shown = [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", [])]
    found = sl.recommend(sl.read_votes(ROOT / "examples" / "inspect-logs"))
    assert any(data.get("text/plain") == found.sentence and "<table>" in data["text/html"] for data in shown)
    assert sum("vega" in data.get("text/html", "") for data in shown) == 2
    assert sl.decide.read_policy(tmp_path / "policy.json").models == found.policy.models
