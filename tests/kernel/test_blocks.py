"""Blocks in the kernel: what one record pays, and whether a query stays within its block."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bayesdp.accounting import Block, Reading, Spend, total_cost
from bayesdp.accounting.costs.blocks import cell as ledger_cell
from bayesdp.accounting.costs.composition import cost_for
from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.costs.blocks import cell, check_block
from bayesdp.kernel.costs.composition import close, compose, spent
from bayesdp.statements import StatementError, read_columns, read_population
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from tests.effort import runs
from tests.kernel.statements import read_spend

COLUMNS: dict[str, Any] = {
    "region": {"states": ["north", "south", "west"], "public": True},
    "year": {"states": [1, 2, 3.5], "public": True},
    "flag": {"states": [True, False], "public": True},
    "part": {"role": "member", "states": ["child", "father"]},
    "ill": {"states": ["yes", "no"]},
    "x": {"bounds": [0, 10]},
}
WHERES = [
    "region == 'north'",
    "region == 'north' and x > 3",
    "x > 3 and (region == 'north' or region == 'south')",
    "region in ['north', 'west'] and not (region == 'west')",
    "not (region != 'north' or x > 3)",
    "not (region in ['south', 'west']) and ill == 'yes'",
    "'north' == region and ill == 'yes'",
    "1 < year and year <= 3.5 and x > 1",
    "1 < year <= 2",
    "year == +1 or year == 2.0",
    "-1 < year < 1.5",
    "flag == True and ill == 'yes'",
    "flag != True or ill == 'yes'",
    "part == 'child' and x < 2",
    "(region == 'north' and x > 1) or (region == 'south' and x > 2)",
    "region == 'north' or ill == 'yes'",
    "region == 'north' and year == 1 and x > 2",
    "region == 'north' and region == 'south'",
]


READ = read_columns(COLUMNS)


def block(name: str, values: Any) -> Any:
    """The block of a spend, as the kernel reads it."""
    return of_spend({"column": name, "values": list(values)})


def of_spend(stated: Any, **other: Any) -> Any:
    made = Spend("d", "row", "q", "any", 1.0, reads=("x",)).to_dict()
    return read_spend(made | {"block": stated} | other).block


def possible(where: str, name: str) -> set[Any]:
    """By going through all rows."""
    columns = parse_columns(COLUMNS)
    predicate = Predicate.parse(where, columns)
    values = {n: c.get("states", [0.0, 1.2, 1.8, 2.5, 3.5, 5.0]) for n, c in COLUMNS.items()}
    names = sorted(predicate.columns | {name})
    rows = (
        dict(zip(names, row, strict=True)) for row in itertools.product(*map(values.get, names))
    )
    return {(type(row[name]), row[name]) for row in rows if predicate.holds(row)}


@pytest.mark.parametrize("where", WHERES)
@pytest.mark.parametrize("name", ["region", "year", "flag", "part"])
def test_a_block_holds_every_value_that_the_query_can_read(where: str, name: str) -> None:
    states = COLUMNS[name]["states"]
    predicate = Predicate.parse(where, parse_columns(COLUMNS))
    derived = predicate.possible(name, states)
    truly = possible(where, name)
    assert truly <= {(type(step), step) for step in derived}
    if where != WHERES[-1]:  # a contradiction is not looked through
        assert truly == {(type(step), step) for step in derived}
    if not derived:
        return
    check_block(block(name, derived), where, READ, "q")
    for left_out in derived:
        rest = [step for step in derived if step is not left_out]
        if rest:
            with pytest.raises(InvalidError, match="reads"):
                check_block(block(name, rest), where, READ, "q")


DIVIDES = "region == 'north'"


@pytest.mark.parametrize(
    ("name", "value", "where", "changed"),
    [
        ("zone", "north", "zone == 'north'", {}),
        ("ill", "yes", "ill == 'yes'", {}),
        ("region", "north", None, {}),
        ("region", "north", DIVIDES, {"public": False}),
        ("region", "north", DIVIDES, {"missing": {"impute": "north"}}),
        ("region", "north", DIVIDES, {"states": None}),
        ("x", 1, "x == 1", {}),
        (
            "region",
            "2024-01-02",
            "region == '2024-01-02'",
            {
                "public": None,
                "role": "order",
                "step": "1 day",
                "states": ["2024-01-02", "2024-02-01"],
                "format": "%d/%m/%Y",
            },
        ),
    ],
)
def test_columns_that_divide_no_records(
    name: str, value: Any, where: str | None, changed: dict[str, Any]
) -> None:
    region = COLUMNS["region"] | changed
    columns = read_columns(
        COLUMNS | {"region": {key: part for key, part in region.items() if part is not None}}
    )
    check_block(block("region", ["north"]), DIVIDES, READ, "q")
    with pytest.raises(InvalidError):
        check_block(block(name, [value]), where, columns, "q")


def test_texts_that_some_engine_takes_for_one_are_in_a_block() -> None:
    where = "region == 'South'"
    check_block(block("region", ["south"]), where, READ, "q")
    with pytest.raises(InvalidError):
        check_block(block("region", ["west"]), where, READ, "q")
    with pytest.raises(StatementError, match="several rows"):
        of_spend({"column": "region", "values": ["north"]}, unit="person")


@pytest.mark.parametrize(
    "block",
    [
        {},
        {"column": "region"},
        {"column": "region", "values": []},
        {"column": "region", "values": "north"},
        {"column": "region", "values": [None]},
        {"column": "region", "values": [float("nan")]},
        {"column": "region", "values": [["north"]]},
        {"column": "", "values": ["north"]},
        {"column": 3, "values": ["north"]},
        {"column": "region", "values": ["north"], "more": 1},
    ],
)
def test_malformed_blocks(block: Any) -> None:
    with pytest.raises(StatementError):
        of_spend(block)


def test_the_kernel_and_the_ledger_find_the_same_cost() -> None:
    rng = np.random.default_rng(3)
    pair = {"model": "gaussian", "covariance": [[1.0, 0.1], [0.1, 1.0]]}
    moved = {"kind": "lipschitz", "column": "x", "interval": (0.0, 1.0)}
    saved = 0
    for _ in range(runs(2000)):
        spends = []
        for _ in range(int(rng.integers(1, 6))):
            values = [["north"], ["NORTH", "south"], ["west"], [1, 2], [2], [True]]
            which = int(rng.choice(6, p=[0.33, 0.3, 0.33, 0.02, 0.01, 0.01]))
            block = Block(str(rng.choice(["region", "sex"])), values[which])
            made: dict[str, Any] = {"kind": "any"} if rng.random() < 0.5 else moved
            cost: dict[str, Any] = {"dp_epsilon": float(rng.uniform(0.1, 1))}
            if rng.random() < 0.3:
                cost = {"dp_epsilon": 0.0, "rho": float(rng.uniform(0.1, 1))}
            spends.append(
                Spend(
                    dataset="d",
                    unit="row",
                    query="q",
                    reads=("x",),
                    mechanism="some",
                    block=block if rng.random() < 0.8 else None,
                    slack=0.0 if made["kind"] == "any" else 0.01,
                    **made,
                    **cost,
                )
            )
        plain = spent(read_spend(spend.to_dict()) for spend in spends)
        total = total_cost(spends)
        chain, _ = compose(plain, None, ["x"])
        assert float(chain.total) == pytest.approx(total.dp_epsilon, rel=1e-12)
        assert float(chain.rho_any) == pytest.approx(total.rho, rel=1e-12)
        saved += chain.total < sum(spend.dp_epsilon for spend in spends) * (1 - 1e-9)
        reading = Reading("bdp", 9.0, pair, covers=("x",), interval=(0.0, 1.0), delta=1e-6)
        ours = cost_for(reading, spends)
        kernel, _ = compose(plain, read_population(pair), ["x"], (Fraction(0), Fraction(1)))
        for name in ("any", "lipschitz", "slack", "rho_any", "rho_lipschitz", "rho_slack"):
            assert float(getattr(kernel, name)) == pytest.approx(getattr(ours, name), rel=1e-12)
    assert saved > runs(2000) // 20


def test_cells() -> None:
    both = (cell, ledger_cell)
    days = ["2026-02-01", "2026-02-02", "2026-02-01 08:15:00"]
    others = ["2026-02-01 00:00:00", "2026/02/01", "1 Feb 2026", "2026-02-01T08:15:00", "2026-2-1"]
    for cell_of in both:
        assert {cell_of(day)[0] for day in days} == {"time"}
        assert {cell_of(other)[0] for other in others} == {"text"}
        assert len({cell_of(day) for day in days}) == 3
    for value in [*days, *others, "North ", 1, 2.5, True]:
        assert cell(value) == ledger_cell(value)
    assert cell("North ") == cell("nörth") != cell("south")
    assert cell(1) == cell(1.0) != cell(True) != cell("1")


@pytest.mark.parametrize("due", [Fraction(0), Fraction(1, 3), Fraction(1e-300), Fraction(10**9)])
def test_a_stated_sum_is_hardly_more_and_never_clearly_less(due: Fraction) -> None:
    tiny = Fraction(1, 2**1070)
    for factor in (1, 1 - Fraction(1, 10**12), 1 + Fraction(1, 10**9)):
        assert close(due * factor, due)
    assert close(due + tiny, due)
    assert not close(due * (1 + Fraction(1, 10**9)) + 2 * tiny, due)
    assert not close(due * (1 - Fraction(2, 10**12)) - tiny, due)
    assert not close(-due - tiny, -due - tiny)
