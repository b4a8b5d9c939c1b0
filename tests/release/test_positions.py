"""One number for each day or each person of a table of series: positions are public."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp.certificate import content_of, digest
from bayesdp.errors import InputError, TableMismatchError
from bayesdp.kernel import check
from bayesdp.release import Study
from bayesdp.release.price.plan import declared_columns

DAYS = ["2026-02-01", "2026-02-02", "2026-02-03"]
PEOPLE = ["ada", "bob"]
TABLE = pd.DataFrame(
    [
        {"person": p, "date": d, "ill": (i * j) % 2}
        for i, p in enumerate(PEOPLE)
        for j, d in enumerate(DAYS)
    ]
)
ILL = {"kind": "count", "where": "ill == 1"}


def study(folder: Path, *queries: dict[str, Any], table: Any = TABLE, **columns: Any) -> Study:
    return Study(
        table,
        dataset="days",
        n=6,
        columns={
            "person": {"role": "series", "states": PEOPLE},
            "date": {"role": "order", "step": "1 day", "states": DAYS},
            "ill": {"states": [0, 1]},
        }
        | columns,
        population={
            "model": "markov",
            "transition": [[0.9, 0.1], [0.3, 0.7]],
            "length": 3,
            "covers": ["ill"],
        },
        budget={"epsilon": 1.0},
        queries=[{"name": f"q{i}", **query} for i, query in enumerate(queries)],
        ledger=str(folder / "ledger.db"),
    )


def document(made: Study) -> dict[str, Any]:
    read_back: dict[str, Any] = json.loads(made.release().certificate.to_json())
    return read_back


def verdict(document: dict[str, Any]) -> str:
    return check(document | {"digest": digest(content_of(document))}).verdict


@pytest.mark.parametrize(("by", "keys"), [("date", DAYS), ("person", PEOPLE)])
def test_a_number_for_each(by: str, keys: list[str], tmp_path: Path) -> None:
    made = study(tmp_path, ILL | {"by": by})
    whole = study(tmp_path, ILL)
    assert made.check().plan.dp_epsilon == whole.check().plan.dp_epsilon
    shown = document(made)
    assert [result["group"] for result in shown["results"]] == keys
    assert verdict(shown) == "VALID ASSUMING"
    assert "not protected, because declared public: person, date" in shown["assumptions"]


def test_days_apart_cost_the_dearest(tmp_path: Path) -> None:
    """Each record is of one day, whatever its values: theory 2.3 a."""
    apart = study(tmp_path, *(ILL | {"where": f"ill == 1 and date == '{day}'"} for day in DAYS))
    whole = study(tmp_path, ILL)
    assert apart.check().plan.dp_epsilon == pytest.approx(whole.check().plan.dp_epsilon, rel=1e-6)
    shown = document(apart)
    assert verdict(shown) == "VALID ASSUMING"
    assert shown["public_blocks"] == ["date"]
    wider = copy.deepcopy(shown)
    asked = wider["derivation"]["premises"][0]["premises"][0]["premises"][0]["evidence"]["query"]
    asked["where"] = "ill == 1"
    assert verdict(wider) == "INVALID"


def test_an_order_of_dates_makes_no_block(tmp_path: Path) -> None:
    """The kernel knows no order of texts: such queries add up, and verify."""
    halves = study(
        tmp_path,
        ILL | {"where": "ill == 1 and date < '2026-02-02'"},
        ILL | {"where": "ill == 1 and date >= '2026-02-02'"},
    )
    plan = halves.check().plan
    assert plan.dp_epsilon == pytest.approx(sum(s.dp_epsilon for s in plan.spends))
    assert verdict(document(halves)) == "VALID ASSUMING"


def test_the_kernel_refuses_groups_that_are_not_declared(tmp_path: Path) -> None:
    shown = document(study(tmp_path, ILL | {"by": "date"}))
    for change in (
        lambda d: d["columns"]["date"].pop("states"),
        lambda d: d["columns"]["date"]["states"].pop(),
        lambda d: d["columns"]["date"].pop("role"),
        lambda d: d["results"][0].update(group="2026-02-04"),
    ):
        changed = copy.deepcopy(shown)
        change(changed)
        assert verdict(changed) == "INVALID"


def test_a_day_that_is_not_there_counts_0_and_one_that_is_not_declared_is_refused(
    tmp_path: Path,
) -> None:
    more: dict[str, Any] = {"role": "order", "step": "1 day", "states": [*DAYS, "2026-02-04"]}
    with pytest.raises(TableMismatchError):
        study(tmp_path, ILL | {"by": "date"}, date=more | {"states": DAYS[:2]}).release()
    made = study(tmp_path, ILL | {"by": "date"}, date=more)
    assert made.inspect() == []
    shown = document(made)
    assert [result["group"] for result in shown["results"]] == more["states"]
    assert verdict(shown) == "VALID ASSUMING"


def test_series_that_begin_on_different_days(tmp_path: Path) -> None:
    """The days of the table may be further apart than a series is long."""
    days = [*DAYS, "2026-02-04"]
    later = TABLE.assign(date=[*DAYS, *days[1:]])
    column = {"role": "order", "step": "1 day", "states": days}
    shown = document(study(tmp_path, ILL | {"by": "date"}, table=later, date=column))
    assert verdict(shown) == "VALID ASSUMING"


def test_a_number_for_each_quarter(tmp_path: Path) -> None:
    table = TABLE.assign(year=[2025, 2026, 2026] * 2, quarter=[4, 1, 2] * 2)
    quarters = ["2025-10-01", "2026-01-01", "2026-04-01"]
    step = {"step": "1 quarter", "from": ["year", "quarter"], "format": "%Y %q"}
    made = study(
        tmp_path,
        ILL | {"by": "date"},
        table=table.drop(columns="date"),
        date={"role": "order", **step, "states": quarters},
    )
    assert made.inspect() == []
    assert declared_columns(made.spec)["public"] == ["person", "quarter", "year"]
    shown = document(made)
    assert [result["group"] for result in shown["results"]] == quarters
    assert shown["columns"]["date"] == {"role": "order", **step, "states": quarters}
    assert verdict(shown) == "VALID ASSUMING"
    shown["columns"]["year"] = {"bounds": [2000, 2100]}
    assert verdict(shown) == "INVALID"


def test_positions_without_states_say_what_to_declare(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'role = "order", step = "1 day", states = \[\.\.\.\]'):
        study(tmp_path, ILL | {"by": "date"}, date={"role": "order", "step": "1 day"})
