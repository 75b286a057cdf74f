"""The arrays that everything computes on."""

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[Any]
"""Whole numbers: of 64 bits or fewer where they fit, Python's own (dtype object) where they do not."""
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.floating[Any]]
