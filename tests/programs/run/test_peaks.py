"""Where walks begin: the peak of a density, also beside points where it is nothing."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from bayesdp.programs.run.numerics.peaks import climbed


def log_density(at):
    """Highest at (1, -2), and nothing where the first number is below 0.5."""
    with np.errstate(invalid="ignore"):
        logs = -((at[:, 0] - 1.0) ** 2) - 3.0 * (at[:, 1] + 2.0) ** 2 + 7.0
    return np.where(at[:, 0] < 0.5, np.nan, logs)


@pytest.mark.parametrize("method", ["BFGS", "Nelder-Mead"])
def test_the_way_ends_at_the_peak(method: Literal["BFGS", "Nelder-Mead"]) -> None:
    peak = climbed(log_density, np.array([2.0, 0.0]), method, 400)
    assert peak.x == pytest.approx([1.0, -2.0], abs=1e-3)
    assert -peak.fun == pytest.approx(7.0, abs=1e-5)


def test_the_way_takes_no_more_steps_than_it_may() -> None:
    assert climbed(log_density, np.array([20.0, 5.0]), "Nelder-Mead", 3).nit == 3
