"""Chains of several orders: a family of what each order's fit declares."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayesdp.errors import InputError
from bayesdp.fitting import fit_chain, fit_orders


def order_two(count: int) -> pd.DataFrame:
    rng, states = np.random.default_rng(1), [0, 0]
    for _ in range(count):
        chance = 0.2 + 0.3 * states[-1] + 0.3 * states[-2]
        states.append(int(rng.random() < chance))
    return pd.DataFrame({"x": states})


def test_a_family_of_what_each_order_declares() -> None:
    table, options = order_two(800), {"states": [0, 1], "length": 50}
    for confidence in (0.95, None):
        fitted = fit_orders(table, "x", (1, 2), confidence=confidence, **options)
        alone = [fit_chain(table, "x", order=k, confidence=confidence, **options) for k in (1, 2)]
        assert fitted.population.spec()["members"] == [f.population.spec() for f in alone]
        levels = [f.population.leakage(0.2).best.epsilon for f in alone]
        assert fitted.population.leakage(0.2).best.epsilon == max(levels)
    assert "of which the true one has one" in fitted.population.source
    assert [order["order"] for order in fitted.estimated()["orders"]] == [1, 2]


def test_a_next_order_that_is_a_member_is_not_amiss() -> None:
    table = order_two(3000)
    first = fit_chain(table, "x", states=[0, 1], length=50).diagnostics[0]
    assert (first.name, first.fits) == ("order 2 against 1", False)
    fitted = fit_orders(table, "x", (1, 2), states=[0, 1], length=50)
    checks = {check.name: check for check in fitted.diagnostics}
    assert checks["order 2 against 1"].fits
    assert checks["order 2 against 1"].sentence.endswith("; the family has both.")
    assert "order 3 against 2" in checks


@pytest.mark.parametrize("orders", [(1,), (1, 3), (2, 1), (1, "auto"), (3, 4), (True, 2)])
def test_orders_follow_each_other(orders: tuple[object, ...]) -> None:
    with pytest.raises(InputError, match="order"):
        fit_orders(order_two(50), "x", orders, states=[0, 1], length=5)
