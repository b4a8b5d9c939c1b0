"""Peaks of a density that is known up to a constant: where walkers begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from bayesdp.arrays import Floats


def climbed(
    log_density: Callable[[Floats], Floats],
    start: Floats,
    method: Literal["BFGS", "Nelder-Mead"],
    steps: int,
) -> Any:
    """SciPy's result of a way uphill: at `x` the height is minus `fun`.

    `log_density` takes a row for each point. The way begins at the point `start`, and takes at most
    so many `steps` of SciPy's `method`.
    """
    from scipy.optimize import minimize

    def depth(at: Floats) -> float:
        value = float(log_density(at[None])[0])
        return -value if np.isfinite(value) else 1e12

    return minimize(depth, start, method=method, options={"maxiter": steps})
