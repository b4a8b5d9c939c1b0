"""Random studies with tables that are as they declare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesdp.release import Study

GROUPS = 4


def population(rng: np.random.Generator) -> tuple[dict[str, Any], int, str]:
    """A population, the size of its groups, and which of the columns `x` and `s` it covers."""
    size = int(rng.integers(1, 5))
    model = rng.choice(["independent", "clusters", "unknown", "markov", "cov", "corr", "ar"])
    if model == "independent":
        return {"model": "independent"}, 1, "both"
    if model == "clusters":
        return {"model": "clusters", "size": size}, size, "both"
    if model == "unknown":
        return {"model": "unknown", "records": 20}, 1, "both"
    if model == "markov":
        up, down = rng.uniform(0.05, 0.95, 2)
        chain = {"model": "markov", "transition": [[1 - up, up], [down, 1 - down]], "length": size}
        if rng.random() < 0.3:
            chain["initial"] = [0.25, 0.75]
        return chain, size, "s"
    if model == "cov":
        factor = rng.normal(size=(size, size + 2))
        cov = factor @ factor.T
        return {"model": "gaussian", "covariance": ((cov + cov.T) / 2).tolist()}, size, "x"
    if model == "corr":
        rho = float(rng.uniform(0.05, 0.6))
        return {"model": "gaussian", "size": size, "max_correlation": rho}, size, "x"
    phi = float(rng.uniform(-0.8, 0.8))
    return {"model": "autoregressive", "coefficient": phi, "length": size}, size, "x"


def query(rng: np.random.Generator, covers: str, name: str, many_rows: bool) -> dict[str, Any]:
    low, high = (-5.0, 20.0)
    private = {
        "x": [f"x > {rng.integers(-4, 15)}", f"x > 0 and g == '{rng.choice(['a', 'b'])}'"],
        "s": ["s == 1", "s == 0 and g != 'b'"],
        "z": ["z < 3"],
    }
    readable = {"both": ["x", "s", "z"], "x": ["x", "z"], "s": ["s", "z"]}[covers]
    kinds = ["sum", "count", "histogram", "quantile"] + (
        [] if many_rows else ["mean", "variance", "covariance", "regression", "proportion"]
    )
    kind = str(rng.choice(kinds))
    made: dict[str, Any] = {"name": name, "kind": kind}
    if kind in ("count", "proportion"):
        made["where"] = str(rng.choice(private[str(rng.choice(readable))]))
    elif kind == "histogram":
        made["column"] = str(rng.choice(readable))
        if made["column"] != "s":
            made["bins"] = [low, 0.0, 2.0, high]
    elif kind == "quantile":
        made["column"] = str(rng.choice(readable))
        made["probability"] = float(rng.choice([0.5, 0.9, 0.123]))
        if made["column"] != "s":
            made["step"] = 0.5
        if rng.random() < 0.4:
            made["where"] = str(rng.choice(private[str(rng.choice(readable))]))
    else:
        made |= _of_columns(rng, kind, readable)
        if rng.random() < 0.4:
            made["where"] = "g == 'a'"
            if kind == "sum" and rng.random() < 0.5:
                made["where"] = str(rng.choice(private[str(rng.choice(readable))]))
    if rng.random() < 0.25:
        made["by"] = "h" if rng.random() < 0.6 else ["h", "g"]
    if (
        made.get("column") == "s"
        and kind == "histogram"
        and covers == "both"
        and rng.random() < 0.4
    ):
        made["column"] = ["s", "deep"]
    if rng.random() < 0.5:
        made["weight"] = float(np.round(rng.uniform(0.1, 5), 2))
    elif rng.random() < 0.4 and kind in ("count", "histogram", "sum"):
        made |= {"error": float(rng.uniform(500, 5000)), "confidence": 0.9}
    return made


def _of_columns(rng: np.random.Generator, kind: str, readable: list[str]) -> dict[str, Any]:
    """The columns of a sum or of an average, or of products: two different ones of them."""
    first = str(rng.choice(readable))
    other = next(name for name in readable if name != first)
    if kind == "covariance":
        return {"column": [first, other]}
    return {"outcome": first, "on": [other]} if kind == "regression" else {"column": first}


def random_study(
    rng: np.random.Generator, ledger: Path, number: int = 0, **with_delta: Any
) -> Study:
    """`with_delta` are further keys of the budget."""
    spec, size, covers = population(rng)
    notion = "dp" if rng.random() < 0.1 else "bdp"
    many_rows = spec["model"] in ("independent", "clusters") and rng.random() < 0.4
    times = 3 if many_rows else 1
    records = GROUPS * size
    group = np.repeat(np.arange(GROUPS), size).repeat(times)
    rows = records * times
    frame = pd.DataFrame(
        {
            "person": np.arange(records).repeat(times),
            "group": group,
            "t": np.tile(np.arange(size), GROUPS).repeat(times),
            "x": rng.normal(3, 6, rows),
            "s": rng.integers(0, 2, rows),
            "z": rng.normal(3, 6, rows),
            "g": np.resize(["a", "b"], rows),
            "h": np.resize([1, 2, 1], rows),
        }
    )
    columns: dict[str, Any] = {
        "x": {"bounds": [-5.0, 20.0], "unit": "kg"},
        "s": {"states": [0, 1]},
        "z": {"bounds": [-1.0, 7.5], "independent": True},
        "deep": {"from": "x", "cuts": [0.0, 4.0]},
        "g": {"public": True, "states": ["a", "b"]},
        "h": {"public": True, "states": [1, 2]},
    }
    if rng.random() < 0.2:
        columns["x"]["missing"] = {"impute": 1.5}
    if spec["model"] in ("clusters", "gaussian"):
        columns["group"] = {"role": "cluster"}
    if spec["model"] in ("markov", "autoregressive"):
        columns |= {"group": {"role": "series"}, "t": {"role": "order", "step": 1}}
    spec["covers"] = {"both": ["x", "s"], "x": ["x"], "s": ["s"]}[covers]
    spec["source"] = "made up"
    total = float(10 ** rng.uniform(-1, 1))
    budget: dict[str, Any] = {"notion": notion, "epsilon": total}
    if notion == "bdp":
        budget["adversary"] = str(rng.choice(["any", "uninformed", "informed"]))
        budget["secrets"] = str(rng.choice(["bounded", "bounded", "unbounded"]))
    budget["spend"] = total * 0.4
    budget |= with_delta
    queries = [query(rng, covers, f"q{i}", many_rows) for i in range(rng.integers(1, 5))]
    unit = {"unit": "person", "rows_per_unit": 3} if many_rows else {}
    if many_rows:
        columns["person"] = {"public": True}
    return Study(
        frame,
        dataset="made-up",
        n="from data" if rng.random() < 0.2 else records,
        columns=columns,
        population=spec,
        budget=budget,
        queries=queries,
        ledger=str(ledger),
        **unit,
    )
