"""Precision matrices (inverse covariances), dense and sparse, and the vector that proves bounds.

The comparison matrix `Qc` of a precision matrix `Q` keeps the diagonal and holds `-|Q_jk|` beside
it. A positive vector `s` with `Qc s >= 1` in every row proves that `Qc` is a nonsingular M-matrix:
then `Qc` and `Q` are positive definite, `|Q^-1| <= Qc^-1` entry by entry, and the row sums of
`Qc^-1` are at most `s` (theory 3.8 c). Whoever has the vector can check it in one pass.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.numbers import LowerBound
from bayesdp.populations.base import require_numbers
from bayesdp.populations.files import NamedFile, named_file
from bayesdp.populations.matrix_market import read_matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

LARGEST_DENSE = 2000
"""Up to this many records dense matrices are formed, and the spec holds the numbers themselves."""

MOST_WRITTEN = 20_000
"""A vector of at most so many entries is written on certificates, as a witness."""

_KEY = "population.precision"
_SYMMETRY = 1e-9
_WIDEST_BAND = 16
_MOST_STEPS = 5000
_UNIT = 2.0**-53


class Precision:
    """A symmetric matrix with a positive diagonal, one row a record. Made by `read_precision`.

    `sha256` is over the file's bytes, or over the entries if it was given in memory. `file` is the
    name under which the spec holds it, `None` where it was given in memory. Don't change it.
    """

    def __init__(self, matrix: csr_array, sha256: str, file: str | None = None) -> None:
        self.matrix = matrix
        self.sha256 = sha256
        self.file = file

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Precision) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    @property
    def records(self) -> int:
        """The number of rows."""
        return int(self.matrix.shape[0])

    def to_spec(self) -> Any:
        """Plain data that reads back as this matrix: the file and its digest, or all rows.

        Raises `UnsupportedError` for a large matrix that was given in memory.
        """
        if self.file is not None:
            return {"file": self.file, "sha256": self.sha256}
        if self.records > LARGEST_DENSE:
            raise UnsupportedError(
                _KEY,
                f"a matrix of {self.records} rows in memory",
                expected=f"a file where there are more than {LARGEST_DENSE} records, since "
                "studies, ledgers and certificates keep the population as plain data",
                remedy="Save it with scipy.io.mmwrite and give the path.",
            )
        return self.matrix.toarray().tolist()

    @cached_property
    def comparison(self) -> csr_array:
        """The comparison matrix; where `Q_jk` and `Q_kj` differ by rounding, the larger counts.

        Stored zeros are dropped.
        """
        import numpy as np

        size = abs(self.matrix)
        lower = -size.maximum(size.T)
        lower.setdiag(np.asarray(self.matrix.diagonal()))
        lower.eliminate_zeros()
        lower.sort_indices()
        return lower

    @cached_property
    def vector(self) -> NDArray[np.float64] | None:
        """A positive `s` with `Qc s >= 1`, outward rounding included; `None` if none was found."""
        return dominating_vector(self.comparison)

    def is_positive_definite(self) -> bool | None:
        """Whether it is positive definite; `None` where nothing can tell.

        Shown by the vector, else up to 2000 records by eigenvalues.
        """
        import numpy as np

        if self.records > LARGEST_DENSE:
            return True if self.vector is not None else None
        scale = np.sqrt(self.matrix.diagonal())
        dense = self.matrix.toarray() / np.outer(scale, scale)
        return bool(np.linalg.eigvalsh(dense)[0] > 1e-12)


def dominating_vector(comparison: csr_array) -> NDArray[np.float64] | None:
    """A positive vector `s` with `comparison @ s >= 1`, or `None` where the search fails.

    Found in floating point (dense, banded, or conjugate gradients with the diagonal as
    preconditioner), then checked with outward rounding: only the check counts.
    """
    import numpy as np

    vector = _solve(comparison)
    if vector is None or not (np.all(np.isfinite(vector)) and np.all(vector > 0.0)):
        return None
    least = least_row(comparison, vector)
    if not least > 0.0:
        return None
    if least < 1.0:
        vector = vector * ((1.0 / least) * (1.0 + 1e-14))
        if not least_row(comparison, vector) >= 1.0:
            vector = vector * (1.0 + 1e-9)
    return vector if least_row(comparison, vector) >= 1.0 else None


def least_row(comparison: csr_array, vector: NDArray[np.float64]) -> LowerBound:
    """The least entry of `comparison @ vector`, rounded down. The vector is positive."""
    import numpy as np

    entries = int(np.max(np.diff(comparison.indptr)))
    total = comparison @ vector
    size = abs(comparison) @ vector
    # A sum of k rounded products errs by at most k units of the sum of sizes, in any order.
    return LowerBound(float(np.min(total - 2.0 * (entries + 4) * _UNIT * size)) - 1e-290)


def _solve(comparison: csr_array) -> NDArray[np.float64] | None:
    import numpy as np
    from scipy.linalg import LinAlgError, solveh_banded
    from scipy.sparse.linalg import LinearOperator, cg

    n = int(comparison.shape[0])
    ones = np.ones(n)
    diagonal = np.asarray(comparison.diagonal())
    rows = np.repeat(np.arange(n), np.diff(comparison.indptr))
    band = int(np.max(np.abs(rows - comparison.indices)))
    try:
        if n <= LARGEST_DENSE:
            return np.linalg.solve(comparison.toarray(), ones)
        if band <= _WIDEST_BAND:
            banded = np.zeros((band + 1, n))
            for offset in range(band + 1):
                banded[offset, : n - offset] = comparison.diagonal(-offset)
            solved: NDArray[np.float64] = solveh_banded(banded, ones, lower=True)
            return solved
    except LinAlgError:
        return None
    inverse = 1.0 / diagonal
    jacobi = LinearOperator((n, n), matvec=lambda x: inverse * x.ravel(), dtype=float)
    # Exact where all rows have the same sum; elsewhere a good start.
    total = comparison @ ones
    start = 1.0 / total if float(np.min(total)) > 0.0 else inverse
    # Vectors that are written on certificates are as good as the kernel's check of them.
    rtol = 1e-12 if n <= MOST_WRITTEN else 1e-8
    solution, _ = cg(comparison, ones, x0=start, rtol=rtol, atol=0.0, maxiter=_MOST_STEPS, M=jacobi)
    return np.asarray(solution)


# ------------------------------------------------------------------------------- reading


def read_precision(raw: object) -> Precision:
    """A precision matrix from what a spec or a caller may give; `InputError` for others.

    A nested array of at most 2000 rows; the path of a Matrix Market file, or `{ file, sha256 }`,
    where the content must have that digest; in Python a SciPy sparse matrix or a NumPy array too.
    Checked: square, finite, symmetric, a positive diagonal. Positive definiteness is not.
    """
    from scipy.sparse import issparse

    if isinstance(raw, Precision):
        return raw
    file = named_file(raw, _KEY, "a Matrix Market file")
    if file is not None:
        return _from_file(file)
    if issparse(raw):
        return _checked(raw, None, None)
    return _checked(_dense(raw), None, None)


def _dense(raw: object) -> Any:
    import numpy as np

    expected = "a nested array, one row a record, or the path of a Matrix Market file"
    require_numbers(raw, _KEY)
    try:
        matrix = np.array(raw, dtype=float)
    except (TypeError, ValueError):
        raise InputError(_KEY, raw, expected=expected) from None
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(_KEY, raw, expected=expected)
    if len(matrix) > LARGEST_DENSE:
        raise InputError(
            _KEY,
            f"an array of {len(matrix)} rows",
            expected=f"at most {LARGEST_DENSE} rows in an array",
            remedy="Save it as a Matrix Market file (scipy.io.mmwrite) and give the path.",
        )
    return matrix


def _from_file(file: NamedFile) -> Precision:
    matrix = read_matrix(file.content, file.name, _KEY)
    _require_each_entry_once(matrix, file.name)
    return _checked(matrix, file.sha256, file.name)


def _require_each_entry_once(matrix: Any, name: str) -> None:
    """Refuse entries that occur twice: readers would add them up, which may not be meant."""
    import numpy as np
    from scipy.sparse import issparse

    if not issparse(matrix) or not matrix.nnz:
        return
    listed = matrix.tocoo()
    places = listed.row.astype(np.int64) * listed.shape[1] + listed.col
    values, times = np.unique(places, return_counts=True)
    if times.max() > 1:
        row, column = divmod(int(values[np.argmax(times > 1)]), listed.shape[1])
        raise InputError(
            _KEY,
            name,
            expected=f"each entry once: that of row {row + 1} and column {column + 1} stands there "
            "more than once",
        )


def _checked(raw: Any, digest: str | None, file: str | None) -> Precision:
    import numpy as np
    from scipy.sparse import csr_array

    if np.iscomplexobj(raw.data if hasattr(raw, "data") else raw):
        raise InputError(_KEY, "a complex matrix", expected="real numbers")
    matrix = csr_array(raw, dtype=float)
    if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InputError(_KEY, f"a matrix of shape {raw.shape}", expected="as many rows as columns")
    matrix.sum_duplicates()
    if not np.all(np.isfinite(matrix.data)):
        raise InputError(_KEY, expected="finite numbers", shown=False)
    diagonal = np.asarray(matrix.diagonal())
    if not np.all(diagonal > 0.0):
        at = int(np.argmin(diagonal))
        raise InputError(f"{_KEY}[{at}][{at}]", float(diagonal[at]), expected="a number above 0")
    _require_symmetric(matrix, diagonal)
    if digest is None:
        content = hashlib.sha256(str(matrix.shape).encode())
        for part in (matrix.indptr.astype("<i8"), matrix.indices.astype("<i8")):
            content.update(part.tobytes())
        content.update(matrix.data.astype("<f8").tobytes())
        digest = content.hexdigest()
    return Precision(matrix, digest, file)


def _require_symmetric(matrix: csr_array, diagonal: NDArray[np.float64]) -> None:
    import numpy as np

    odd = (matrix - matrix.T).tocoo()
    allowed = _SYMMETRY * np.sqrt(diagonal[odd.row]) * np.sqrt(diagonal[odd.col])
    wrong = np.flatnonzero(np.abs(odd.data) > allowed)
    if wrong.size:
        i, j = int(odd.row[wrong[0]]), int(odd.col[wrong[0]])
        raise InputError(
            f"{_KEY}[{i}][{j}]",
            float(matrix[i, j]),
            expected=f"{float(matrix[j, i])!r}, as in precision[{j}][{i}]: it is symmetric",
        )
