"""Singular values and least squares come out on every processor and for every finite matrix."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.baseline.coded_columns import Floats
from tabcontam.baseline.solving import inverse_of, thin_svd, weights_of

DESIGN = Path(__file__).parent / "data" / "svd_design.npz"  # of Titanic: 574 x 400, 34 of its columns constant
KERNELS = ("Haswell", "Zen", "Sandybridge", "Nehalem", "Prescott", "SkylakeX")
SOLVED = """
import sys
import numpy as np
from tabcontam.baseline.solving import thin_svd, weights_of
design = np.load(sys.argv[1])["design"]
left, sizes, right = thin_svd(design)
y = np.arange(len(design)) % 7.0
print(np.abs((left * sizes) @ right - design).max(), np.abs(design.T @ (y - design @ weights_of(design, y))).max())
"""


def design() -> Floats:
    """The matrix on which LAPACK's gesdd fails with some kernels."""
    return np.asarray(np.load(DESIGN)["design"])


def check_decomposed(matrix: Floats) -> None:
    """The three parts make the matrix again."""
    left, sizes, right = thin_svd(matrix)
    assert np.allclose((left * sizes) @ right, matrix, atol=1e-9)
    assert right.shape[1] == matrix.shape[1]


@pytest.mark.slow
def test_the_design_is_solved_under_each_kernel_that_this_processor_runs() -> None:
    solved = []
    for kernel in KERNELS:
        environment = os.environ | {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run([sys.executable, "-c", SOLVED, DESIGN], capture_output=True, text=True, env=environment)
        if done.returncode < 0:  # an instruction that this processor does not have
            continue
        assert not done.returncode, f"{kernel}: {done.stderr}"
        apart, left = map(float, done.stdout.split())
        assert apart < 1e-9, kernel
        assert left < 1e-6, kernel  # what least squares leaves is orthogonal to every column
        solved.append(kernel)
    assert solved


def test_constant_columns_are_dropped() -> None:
    matrix = design()
    constant = np.abs(matrix).max(axis=0) < 1e-9
    _, sizes, right = thin_svd(matrix)
    assert constant.sum() == 34
    assert len(sizes) == (~constant).sum()
    assert not right[:, constant].any()


def test_another_driver_decomposes_what_the_first_one_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object, **options: object) -> None:
        raise np.linalg.LinAlgError("SVD did not converge")

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    square, expected = x.T @ x, np.linalg.lstsq(x, y)[0]
    monkeypatch.setattr(np.linalg, "svd", fails)
    monkeypatch.setattr(np.linalg, "lstsq", fails)
    check_decomposed(x)
    assert np.allclose(weights_of(x, y), expected)
    assert np.allclose(inverse_of(square, 1e-12) @ square, np.eye(4))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_weights_are_those_of_numpy(rows: int, columns: int, seed: int, equal: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    x[:, :equal] = x[:, :1]  # columns that are equal, and with one row constant
    check_decomposed(x)
    assert np.allclose(weights_of(x, y), scipy.linalg.pinv(x) @ y)


@pytest.mark.parametrize("matrix", [np.zeros((5, 3)), np.zeros((4, 0)), np.ones((1, 1))])
def test_a_matrix_without_anything_to_learn_is_no_error(matrix: Floats) -> None:
    check_decomposed(matrix)
    assert weights_of(matrix, np.zeros(len(matrix))).shape == (matrix.shape[1],)


def test_a_matrix_that_is_not_finite_is_an_error() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        thin_svd(np.array([[1.0, np.nan]]))
