"""Spaces around the name of a cluster or series make no other one, in any fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.fitting import (
    fit_autoregressive,
    fit_chain,
    fit_exchangeable,
    fit_finite,
    fit_roles,
)

RNG = np.random.default_rng(4)
GROUPS = [f"g{i // 2}" for i in range(400)]
TABLE = pd.DataFrame(
    {
        "group": GROUPS,
        "t": [i % 2 for i in range(400)],
        "role": [("one", "two")[i % 2] for i in range(400)],
        "s": RNG.integers(0, 2, 400),
        "x": RNG.normal(size=400),
    }
)
SPACED = TABLE.assign(group=[f" {name}" if i % 2 else f"{name} " for i, name in enumerate(GROUPS)])


@pytest.mark.parametrize(
    "fit",
    [
        lambda rows: fit_chain(
            rows, "s", states=[0, 1], series="group", time="t", step=1, length=4
        ),
        lambda rows: fit_exchangeable(rows, "x", "group"),
        lambda rows: fit_roles(rows, "x", "group", "role"),
        lambda rows: fit_finite(rows, "s", "group", states=[0, 1]),
        lambda rows: fit_autoregressive(rows, "x", "t", series="group", step=1),
    ],
)
def test_spaces_around_keys(fit: Callable[[pd.DataFrame], Any]) -> None:
    assert fit(SPACED).population == fit(TABLE).population
