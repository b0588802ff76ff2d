"""Singular values and least squares that succeed for every finite matrix, whatever the processor.

LAPACK's divide-and-conquer routine, which numpy uses, fails on some finite matrices with some kernels of OpenBLAS, for
example on a centred design with constant columns. The slower QR iteration (`gesvd`) succeeds.
"""

import numpy as np

from tabcontam.baseline.coded_columns import Floats
from tabcontam.baseline.thresholds import ZERO_COLUMN


def thin_svd(matrix: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the thin singular value decomposition of a matrix of rows by columns.

    Columns of zeros are dropped first. The result is `left` (rows, rank), `sizes` (rank) and `right` (rank, columns),
    with zeros in `right` for dropped columns. Raises `LinAlgError` if the matrix is not finite.
    """
    if not np.isfinite(matrix).all():
        raise np.linalg.LinAlgError("the matrix is not finite")
    largest = np.abs(matrix).max(axis=0, initial=0.0)
    used = largest > ZERO_COLUMN * largest.max(initial=0.0)
    left, sizes, part = _svd(matrix[:, used])
    right = np.zeros((len(sizes), matrix.shape[1]))
    right[:, used] = part
    return left, sizes, right


def _svd(matrix: Floats) -> tuple[Floats, Floats, Floats]:
    from scipy.linalg import svd

    try:
        left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
        if np.isfinite(sizes).all():
            return left, sizes, right
    except np.linalg.LinAlgError:
        pass
    left, sizes, right = svd(matrix, full_matrices=False, lapack_driver="gesvd")
    return left, sizes, right


def weights_of(x: Floats, y: Floats, rcond: float | None = None) -> Floats:
    """Return the least-squares weights of the columns of `x` for `y`; of several solutions, the smallest.

    Singular values below `rcond` times the largest count as zero; the default is float precision times the larger side
    of `x`. Raises `LinAlgError` if `x` is not finite.
    """
    try:
        found = np.asarray(np.linalg.lstsq(x, y, rcond=rcond)[0])
        if np.isfinite(found).all():
            return found
    except np.linalg.LinAlgError:
        pass
    return np.asarray(inverse_of(x, np.finfo(np.float64).eps * max(x.shape) if rcond is None else rcond) @ y)


def inverse_of(matrix: Floats, rcond: float) -> Floats:
    """Return the pseudo-inverse of a matrix. Singular values below `rcond` times the largest count as zero."""
    left, sizes, right = thin_svd(matrix)
    inverse = np.where(sizes > rcond * sizes.max(initial=0.0), 1 / np.maximum(sizes, np.finfo(np.float64).tiny), 0.0)
    return np.asarray((right.T * inverse) @ left.T)
