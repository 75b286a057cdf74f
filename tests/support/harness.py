"""Real runs of lm-evaluation-harness, offline, with its dummy model or one whose responses are scripted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPTED = Path(__file__).with_name("harness_scripted.py")


def run_harness(folder: Path, output: Path, *arguments: str, responses: Path | None = None) -> None:
    """Run the harness's own command line on the tasks in `folder / "tasks"`, and keep every sample in `output`."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
    command = [sys.executable, str(SCRIPTED), str(responses or "-"), *arguments]
    command += ["--include_path", str(folder / "tasks"), "--log_samples", "--output_path", str(output)]
    done = subprocess.run(command, env={**os.environ, **offline}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
