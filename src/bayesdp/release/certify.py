"""The certificate of a release, from its plan and its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import bayesdp
from bayesdp.accounting.composition import SecretsInterval, level, secrets_needed
from bayesdp.accounting.spend import Reading, Spend, total_cost
from bayesdp.certificate import Certificate, Step
from bayesdp.notions import ADVERSARY_MEANING, ROUNDING
from bayesdp.release.plan import Plan, PlannedQuery, describe_query
from bayesdp.release.spec import StudySpec
from bayesdp.tables.columns import Column

NOT_PROTECTED = (
    "that somebody's record is in the table, and how many records there are",
    "columns declared public, and who belongs to which cluster or series",
    "facts about the group or the population that would be learned without the record too",
)


def certify(
    plan: Plan,
    results: Sequence[dict[str, Any]],
    *,
    release: str,
    time: str,
    before: Sequence[Spend],
) -> Certificate:
    """The certificate. `before` are the data set's earlier spends."""
    derivation = derive(plan)
    study = plan.study
    together = [*before, *plan.spends]
    body: dict[str, Any] = {
        "software": f"bayesdp {bayesdp.__version__}",
        "rounding": ROUNDING,
        "release": release,
        "time": time,
        "dataset": study.data.dataset,
        "unit": study.data.unit,
        "rows_per_unit": study.data.rows_per_unit,
        "n": plan.n,
        "columns": {name: describe_column(column) for name, column in study.columns.items()},
        "claim": claim(plan),
        "data_set": {
            "level": level(plan.reading, together),
            "dp_epsilon": total_cost(together).dp_epsilon,
            "total": plan.reading.total,
            "secrets": secrets_words(secrets_needed(plan.reading, together)),
            "earlier_spends": [spend.to_dict() for spend in before],
        },
        "population": study.population.spec() if study.population is not None else None,
        "assumptions": assumptions(study, plan.reading, plan.secrets_interval),
        "not_protected": list(NOT_PROTECTED),
        "results": list(results),
    }
    return Certificate(body, derivation)


def claim(plan: Plan) -> dict[str, Any]:
    """What the release promises, in the terms of its notion."""
    reading = plan.reading
    stated: dict[str, Any] = {
        "notion": reading.notion,
        "epsilon": plan.level,
        "delta": 0.0,
        "dp_epsilon": plan.dp_epsilon,
    }
    if reading.notion == "bdp":
        stated |= {
            "adversary": reading.adversary,
            "scope": "the declared population",
            "secrets": secrets_words(plan.secrets_interval),
        }
    return stated


def describe_column(column: Column) -> dict[str, Any]:
    """A column's declaration as plain data, as in a study file."""
    plain = column.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
    del plain["name"]
    return plain


def secrets_words(interval: SecretsInterval | None) -> dict[str, Any]:
    """For which secret values a level holds."""
    if interval is None:
        return {"kind": "any values that the population gives a positive probability"}
    if isinstance(interval, Mapping):
        return {"kind": "bounded", "intervals": {name: list(one) for name, one in interval.items()}}
    return {"kind": "bounded", "interval": list(interval)}


def secrets_place(interval: SecretsInterval) -> str:
    """The same in words, to go with "secret values lie"."""
    if isinstance(interval, Mapping):
        each = (f"between {low:g} and {high:g} ({name})" for name, (low, high) in interval.items())
        return ", ".join(each)
    return f"between {interval[0]:g} and {interval[1]:g}"


def derive(plan: Plan) -> Step:
    """The derivation tree: release <- conversion <- composition <- one step for each query."""
    queries = tuple(_query_step(query) for query in plan.queries)
    composition = Step(
        "sequential-composition",
        {"notion": "dp", "epsilon": plan.dp_epsilon},
        {"adjacency": "replace one record"},
        queries,
    )
    top = composition
    reading, report = plan.reading, plan.report
    if report is not None:
        best = report.best
        top = Step(
            best.theorem,
            {"notion": "bdp", "epsilon": best.epsilon, "adversary": reading.adversary},
            {
                "population": reading.population,
                "covers": list(reading.covers),
                "independent": list(reading.independent),
                "secrets": reading.secrets,
                "cost": {
                    "any": report.cost.any,
                    "lipschitz": report.cost.lipschitz,
                    "slack": report.cost.slack,
                    "by_column": [asdict(spent) for spent in report.cost.by_column],
                },
                "tight": best.tight,
                "source": best.source,
                "details": dict(best.evidence),
            },
            (composition,),
        )
    return Step(
        "release",
        {"notion": reading.notion, "epsilon": plan.level},
        {"total": plan.target},
        (top,),
    )


def _query_step(query: PlannedQuery) -> Step:
    grid = query.grid
    evidence: dict[str, Any] = {
        "query": describe_query(query),
        "sensitivity": query.sensitivity,
        "scale": query.noise.scale,
        "step": [query.step.numerator, query.step.denominator],
        "spend": query.spend.to_dict(),
    }
    if grid is not None:
        evidence["grid"] = {
            "lo": grid.lo,
            "hi": grid.hi,
            "bits": grid.bits,
            "masked": grid.masked,
            "slack": grid.slack,
        }
    return Step(
        "discrete-laplace",
        {"notion": "dp", "epsilon": query.dp_epsilon, "kind": query.shape.kind},
        evidence,
    )


def assumptions(study: StudySpec, reading: Reading, interval: SecretsInterval | None) -> list[str]:
    """Everything that the level rests on and that nobody checked.

    `interval` is where secret values must lie, or `None`.
    """
    said = ["adjacency is: replace one record; the number of records and who is in are public"]
    unit = study.data.unit
    said.append(
        "a record is one row of the table"
        if unit == "row"
        else f"a record is all rows with the same {unit}, at most {study.data.rows_per_unit}"
    )
    public = [name for name, column in study.columns.items() if column.is_public]
    if public:
        said.append(f"not protected, because declared public: {', '.join(public)}")
    if reading.notion == "bdp" and study.population is not None:
        said += study.population.assumptions()
        said.append(
            f"the adversary is '{reading.adversary}': {ADVERSARY_MEANING[reading.adversary]}"
        )
        if interval is not None:
            said.append(
                f"secret values lie {secrets_place(interval)}; for values outside, "
                "the level is the size of the group times the DP cost"
            )
    said += [_independent(c) for c in study.columns.values() if c.independent and c.is_private]
    said.append("noise is drawn from OpenDP's discrete Laplace sampler")
    return said


def _independent(column: Column) -> str:
    return (
        f"column '{column.name}' is declared independent: given a record's own covered columns, it "
        "tells nothing about other records and they tell nothing about it"
    )
