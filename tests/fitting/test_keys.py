"""Spaces around the name of a cluster or series make no other one, in any fit."""

from __future__ import annotations

import itertools
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
    fit_tree,
)
from bayesdp.tables.cells import stored

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
SPACES = itertools.cycle([" ", "\u00a0", "\t\u200b", "\u3000"])
SPACED = TABLE.assign(
    group=[
        f"{space}{name}" if i % 2 else f"{name}{space}"
        for (i, name), space in zip(enumerate(GROUPS), SPACES, strict=False)
    ]
)


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


def test_all_that_python_takes_for_a_space_is_one() -> None:
    assert {c for c in map(chr, range(0x110000)) if c.isspace()} <= set(stored.SPACES)


def test_spaces_around_records_and_parents_of_a_tree() -> None:
    family = pd.DataFrame(
        {"name": ["a", "b ", "c"], "above": [None, "a\u00a0", " b"], "s": [0, 1, 1]}
    )
    plain = family.assign(name=["a", "b", "c"], above=[None, "a", "b"])
    spaced, same = (
        fit_tree(rows, "s", record="name", parent="above", states=[0, 1])
        for rows in (family, plain)
    )
    assert spaced.population == same.population
