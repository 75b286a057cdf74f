"""Products of whole numbers, full rows and sparse ones, against plain integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from swaplaw._core.exact_floats import GROUP, NEAR, ExactProduct, SparseProduct, exact_float


@given(st.integers(1, 12), st.integers(1, 40), st.integers(1, 200), st.integers(0, 2**32))
def test_products_are_those_of_integers(rows: int, units: int, draws: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = rng.integers(-50, 50, (rows, units)) * (rng.random((rows, units)) < rng.random((rows, 1)) ** 3)
    whole *= rng.choice([1, 2**17], (rows, 1))  # Some rows need more than 32 bits.
    counts = rng.integers(0, 5, (units, draws))
    product = ExactProduct.of(whole.astype(np.float64), int(counts.sum(axis=0).max()))
    assert (product(counts.astype(np.uint8)) == whole @ counts).all()


def test_small_numbers_are_multiplied_in_32_bits_as_long_as_sums_are_exact() -> None:
    row = np.arange(1.0, 5.0)
    assert [rows.dtype for _, rows in ExactProduct.of(row[None], 2**21).dense] == [np.float32]
    assert [rows.dtype for _, rows in ExactProduct.of(row[None], 2**22).dense] == [np.float64]


def test_floats_are_as_narrow_as_sums_allow() -> None:
    assert exact_float([1, 2**10], 2**13).dtype == np.float32
    assert exact_float([1, 2**10], 2**14).dtype == np.float64
    assert exact_float([], 10).dtype == np.float32


def test_sparse_rows_in_groups_are_the_dense_product() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.integers(-9, 10, (2 * GROUP + 7, 40)) * (rng.random((2 * GROUP + 7, 40)) < 0.05)
    counts = rng.integers(0, 5, (40, NEAR + 9)).astype(np.uint8)
    product = SparseProduct.of(csr_matrix(matrix.astype(np.float64)))(counts, np.float64)
    assert np.array_equal(product, matrix @ counts.astype(np.int64))
