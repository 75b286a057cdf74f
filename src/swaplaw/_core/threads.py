"""How many threads a matrix product may take: one, wherever products are many and small, or threads are ours."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """While in this context, BLAS uses one thread.

    Several threads on a product of a few thousand numbers wait for each other longer than they work, and several
    products at a time, each on all cores, do nothing else.
    """
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _controller() -> Any:
    """Find the libraries once: that takes longer than many a product."""
    import numpy.linalg  # noqa: F401  What is not loaded yet would not be found.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
