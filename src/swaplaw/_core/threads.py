"""How many threads a matrix product may take: one, wherever products are many and small, or threads are ours."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """While in this context, BLAS uses one thread.

    Several threads on a product of a few thousand numbers wait for each other longer than they work, and several
    products at a time, each on all cores, do nothing else.
    """
    # SciPy brings a library of its own, which is there once its linear algebra is.
    limit: AbstractContextManager[Any] = _controller("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=2)
def _controller(scipy: bool) -> Any:
    """Find the libraries once, with SciPy's and without: that takes longer than many a product."""
    import numpy.linalg  # noqa: F401  What is not loaded yet would not be found.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
