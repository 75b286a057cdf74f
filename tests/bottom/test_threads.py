"""One thread means one thread of every library, also of those that are loaded later."""

from __future__ import annotations

import subprocess
import sys

CODE = """
from swaplaw._parallel import one_thread
with one_thread():
    pass
import scipy.linalg
from threadpoolctl import threadpool_info
with one_thread():
    print(sorted({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}))
"""


def test_libraries_that_come_later_keep_to_one_thread_too() -> None:
    told = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "[1]"
