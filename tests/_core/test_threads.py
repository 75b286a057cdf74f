"""One thread means one thread of every library, also of those that are loaded later."""

from __future__ import annotations

import subprocess
import sys

CODE = """
from swaplaw._core.threads import one_thread
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


NO_ROOM = """
import resource, threading
from swaplaw._core.threads import in_threads
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
threading.stack_size(4 << 30)
print(in_threads(str, range(3), threads=2))
"""


def test_work_is_done_where_no_thread_can_start() -> None:
    told = subprocess.run([sys.executable, "-c", NO_ROOM], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "['0', '1', '2']"
