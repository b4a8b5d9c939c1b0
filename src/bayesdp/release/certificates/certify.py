"""The certificate of a release, from its plan and its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bayesdp
from bayesdp import kernel
from bayesdp.accounting.costs.composition import SecretsInterval, secrets_needed
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.accounting.log.entries import Head
from bayesdp.certificate import Certificate, Step
from bayesdp.populations import Population
from bayesdp.release.certificates.derivation import (
    allowed,
    conversion_step,
    derive,
    plain_details,
    within_total,
)
from bayesdp.release.price.plan import Plan, describe_query
from bayesdp.release.programs.planned import PlannedProgram
from bayesdp.release.spec.parts import DataSpec
from bayesdp.release.spec.study import describe_column
from bayesdp.statements.populations import law_of
from bayesdp.theorems import LeakageReport


def certify(
    plan: Plan,
    results: Sequence[dict[str, Any]],
    *,
    release: str,
    entry: Head,
    time: str,
    before: Sequence[Spend],
) -> Certificate:
    """The certificate of a release, from its plan and its results.

    `entry` is that of its debit, `before` are the data set's earlier spends.
    """
    derivation = within_total(plan, derive(plan, before))
    declared = declarations(plan, before) | {"results": list(results)}
    declared["claim"] |= {"epsilon": derivation.conclusion["epsilon"]}
    body: dict[str, Any] = {
        "software": f"bayesdp {bayesdp.__version__}",
        "rounding": kernel.ROUNDING,
        "release": release,
        "ledger": {"sequence": entry.sequence, "head": entry.hash},
        "time": time,
        **declared,
        "data_set": data_set_state(plan, before, derivation),
        "not_protected": list(kernel.NOT_PROTECTED),
    }
    population = body["population"]  # plain data already, and long where it is a large network
    plain = plain_details(body | {"population": None}) | {"population": population}
    allowance = {"derivation": {"evidence": plain_details(derivation.evidence)}}
    assuming = kernel.assumptions(plain | allowance)
    return Certificate(plain | {"assumptions": assuming}, derivation)


def data_set_state(plan: Plan, before: Sequence[Spend], derivation: Step) -> dict[str, Any]:
    """What the data set has spent with this study included, as the study's certificate says it.

    `before` are the data set's earlier spends, `derivation` is the study's.
    """
    together = [*before, *plan.spends]
    spent, state = total_cost(together), derivation.premises[-1].conclusion
    secrets = plan.secrets_interval
    if before:
        seconds = plan.study.budget.seconds
        secrets = secrets_needed(plan.reading, together, seconds=seconds)
    return {
        "level": state["epsilon"],
        **({"delta": state["delta"]} if "delta" in state else {}),
        "dp_epsilon": spent.dp_epsilon,
        **({"dp_rho": spent.rho} if spent.rho > 0.0 else {}),
        **({"dp_delta": spent.dp_delta} if spent.dp_delta > 0.0 else {}),
        "total": plan.reading.total,
        "secrets": secrets_words(secrets),
        "earlier_spends": [spend.to_dict() for spend in before],
    }


def declarations(plan: Plan, before: Sequence[Spend] = ()) -> dict[str, Any]:
    """The part of a certificate that says what a study declares and claims."""
    study = plan.study
    of_bdp = study.budget.notion == "bdp"
    blocks = {spend.block.column for spend in (*before, *plan.spends) if spend.block is not None}
    return {
        "dataset": study.data.dataset,
        **({"people": study.data.people} if study.data.people is not None else {}),
        "unit": study.data.unit,
        "rows_per_unit": study.data.rows_per_unit,
        **({"max_rows": study.data.max_rows} if study.data.max_rows is not None else {}),
        **({"balanced": True} if study.data.balanced else {}),
        **_sources(study.data),
        "n": plan.n,
        "columns": {name: describe_column(column) for name, column in study.columns.items()},
        "claim": claim(plan),
        **({"public_blocks": sorted(blocks)} if blocks else {}),
        **_collected(plan),
        **(
            {"programs": [describe_program(program) for program in plan.programs]}
            if plan.programs
            else {}
        ),
        "population": study.population.spec() if study.population and of_bdp else None,
    }


def _collected(plan: Plan) -> dict[str, Any]:
    """The columns of answers, each with the epsilon with which they were perturbed."""
    asked = {query.column.name: query.dp_epsilon for query in plan.collected}
    described = [{"column": name, "epsilon": asked[name]} for name in sorted(asked)]
    return {"collected": described} if asked else {}


def _sources(data: DataSpec) -> dict[str, Any]:
    """How the records were made of tables: parts of rows, and columns of public tables."""
    wide, joins = data.wide, data.join
    parts = None if wide is None else {"position": wide.position, "number": wide.parts}
    joined = [{"table": Path(j.table).name, "by": j.left, "columns": j.columns} for j in joins]
    return {**({"parts": parts} if parts else {}), **({"joined": joined} if joined else {})}


def describe_program(program: PlannedProgram) -> dict[str, Any]:
    """A program as a certificate describes it: its text's digest, and what its cost rests on."""
    return {
        "query": program.spec.name,
        "program": program.shown,
        "source": program.core.source_hash,
        "assuming": list(program.assuming),
    }


def assumptions(plan: Plan) -> list[str]:
    """Everything that the level rests on and that nobody checked."""
    stated = {
        "results": [{"kind": describe_query(query)["kind"]} for query in plan.queries]
        + [query.describe() for query in plan.collected],
        "data_set": {"total": plan.reading.total},
        "derivation": {"evidence": allowed(plan)},
    }
    return kernel.assumptions(plain_details(declarations(plan) | stated))


def conversion_certificate(population: Population, report: LeakageReport) -> Certificate:
    """A certificate of a conversion alone: of any mechanism with the report's DP cost and kind.

    It proves the best level of the report that the kernel proves, with a delta only where pure
    costs are counted as such. Raises `InputError` for a population that its spec can't hold.
    """
    stated = [bound for bound in report.bounds if bound.proof.get("counted") != "zcdp"]
    report = replace(report, bounds=tuple(stated), zcdp_cost=None)
    spec = population.spec()
    reading = Reading(
        "bdp",
        max(report.best.epsilon, 1e-300),
        population=law_of(spec),
        adversary=report.adversary,
        secrets=report.secrets,
        covers=population.covers,
        delta=report.delta,
    )
    step = conversion_step(reading, report)
    dp_delta = step.evidence.get("delta", {}).get("dp_delta") if report.cost.rho == 0.0 else None
    claimed = {
        "notion": "bdp",
        "epsilon": step.conclusion["epsilon"],
        "delta": step.conclusion.get("delta", 0.0),
        "dp_epsilon": report.cost.dp_epsilon,
        **({"dp_rho": report.cost.rho} if report.cost.rho > 0.0 else {}),
        **({"dp_delta": dp_delta} if dp_delta is not None else {}),
        "cost": step.evidence["cost"],
        "adversary": report.adversary,
        "secrets": report.secrets,
        "scope": "the declared population",
    }
    body = plain_details(
        {
            "software": f"bayesdp {bayesdp.__version__}",
            "rounding": kernel.ROUNDING,
            "claim": claimed,
            "population": spec,
        }
    )
    return Certificate(body | {"assumptions": kernel.assumptions(body)}, step)


def claim(plan: Plan) -> dict[str, Any]:
    """The level that the release promises, in the terms of its notion."""
    reading = plan.reading
    stated: dict[str, Any] = {
        "notion": reading.notion,
        "epsilon": plan.level,
        "delta": plan.delta,
        "dp_epsilon": plan.dp_epsilon,
    }
    if plan.dp_rho > 0.0:
        stated["dp_rho"] = plan.dp_rho
    if plan.dp_delta > 0.0:
        stated["dp_delta"] = plan.dp_delta
    if reading.notion == "bdp":
        stated |= {
            "adversary": reading.adversary,
            "scope": "the declared population",
            "secrets": secrets_words(plan.secrets_interval),
        }
    return stated


def secrets_words(interval: SecretsInterval | None) -> dict[str, Any]:
    """For which secret values a level holds, in words."""
    if interval is None:
        return {"kind": "any values that the population gives a positive probability"}
    if isinstance(interval, Mapping):
        return {
            "kind": "bounded",
            "intervals": {name: list(ends) for name, ends in interval.items()},
        }
    return {"kind": "bounded", "interval": list(interval)}
