"""The types of arrays are those that engines make."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from bayesdp.arrays import Bools, Floats, Ints


@pytest.mark.parametrize(
    ("alias", "array"),
    [
        (Floats, np.zeros(2)),
        (Ints, np.zeros(2, dtype=np.int64)),
        (Bools, np.zeros(2) == 0.0),
    ],
)
def test_an_array_is_of_its_type(alias: object, array: np.ndarray) -> None:
    _, (scalar,) = (get_args(part) for part in (alias, get_args(alias)[1]))
    assert array.dtype == np.dtype(scalar)
