"""Steps of a derivation that state the DP cost of one query, or of a program."""

from __future__ import annotations

from typing import Any

from bayesdp.certificate import Step
from bayesdp.release.price.noise import distribution_of
from bayesdp.release.price.plan import PlannedQuery, describe_query
from bayesdp.release.programs.planned import PlannedProgram
from bayesdp.release.queries.collected import PlannedCollected
from bayesdp.statements.costs import PERTURBED
from bayesdp.statements.spends import THRESHOLDED, ZCDP
from bayesdp.tables.queries.grid import Grid
from bayesdp.tables.queries.grids import Grids


def query_step(query: PlannedQuery) -> Step:
    """A query's step: what is asked, the noise that it gets, and what that costs."""
    grid = query.grid
    if query.asked.from_data is not None:
        return _found_step(query)
    rule = distribution_of(query.noise)
    zcdp = rule in ZCDP
    evidence: dict[str, Any] = {
        "query": describe_query(query),
        "sensitivity_squared" if zcdp else "sensitivity": query.sensitivity,
        "scale": query.noise.scale,
        "step": [query.step.numerator, query.step.denominator],
        "spend": query.spend.to_dict(),
    }
    if isinstance(grid, Grids):
        evidence["grids"] = [_plain_grid(part) for part in grid.parts]
    elif grid is not None:
        evidence["grid"] = _plain_grid(grid)
    conclusion = {"notion": "dp", "epsilon": query.dp_epsilon, "kind": query.asked.kind}
    rho = {"rho": query.dp_rho} if zcdp else {}
    return Step(rule, conclusion | rho, evidence)


def _found_step(query: PlannedQuery) -> Step:
    """The step of a count by groups that are found in the data, with its threshold."""
    evidence = {
        "query": describe_query(query),
        "sensitivity": query.sensitivity,
        "scale": query.noise.scale,
        "threshold": query.threshold,
        "spend": query.spend.to_dict(),
    }
    conclusion = {"notion": "dp", "epsilon": query.dp_epsilon, "kind": query.asked.kind}
    return Step(THRESHOLDED, conclusion | {"delta": query.spend.dp_delta}, evidence)


def collected_step(query: PlannedCollected) -> Step:
    """The step of perturbed answers: their collection's cost, which is all that they cost."""
    conclusion = {"notion": "dp", "epsilon": query.dp_epsilon, "kind": query.spend.kind}
    return Step(PERTURBED, conclusion, {"query": query.describe(), "spend": query.spend.to_dict()})


def _plain_grid(grid: Grid) -> dict[str, Any]:
    return {
        "lo": grid.lo,
        "hi": grid.hi,
        "bits": grid.bits,
        "masked": grid.masked,
        "slack": grid.slack,
    }


def program_step(program: PlannedProgram) -> Step:
    """A program's query: its spend, over the derivation of the program's own certificate."""
    evidence = {
        "query": program.describe(),
        "fields": dict(program.fields),
        "spends": [spend.to_dict() for spend in program.spends],
    }
    conclusion = {"notion": "dp", "epsilon": program.dp_epsilon, "kind": program.kind}
    if program.gaussian:
        evidence["gaussian"] = {name: str(rho) for name, rho in program.gaussian.items()}
        conclusion["rho"] = program.dp_rho
    return Step("program", conclusion, evidence, (program.derivation,))
