"""Documents for programs: what the command line prints with `--json`."""

from __future__ import annotations

from typing import Any

from bayesdp.numbers import plain_number
from bayesdp.release.certificates.certify import assumptions, claim
from bayesdp.release.checking.check import Check
from bayesdp.release.checking.proposals import Proposals
from bayesdp.release.checking.stress import Stress
from bayesdp.release.checking.sweep import Sweep, SweepRow
from bayesdp.release.price.noise import distribution_of
from bayesdp.release.price.plan import Plan, PlannedQuery, describe_query
from bayesdp.release.queries.collected import PlannedCollected
from bayesdp.release.queries.crossed_columns import place_text
from bayesdp.report.programs import plain_program


def check_document(check: Check) -> dict[str, Any]:
    """The price list of a study, as `bayesdp check --json` prints it."""
    plan = check.plan
    return {
        "dataset": plan.study.data.dataset,
        "claim": claim(plan),
        "queries": [_query(plan, query) for query in plan.queries],
        **(
            {"collected": [_collected(plan, collected) for collected in plan.collected]}
            if plan.collected
            else {}
        ),
        **(
            {"programs": [plain_program(program) for program in plan.programs]}
            if plan.programs
            else {}
        ),
        **({"derived": _derived(plan)} if plan.study.derived else {}),
        "leakage": plan.report.to_dict() if plan.report is not None else None,
        "refused": [refusal.to_dict() for refusal in plan.left_out],
        "noise": _noise(plan),
        "budget": {
            "spend": plan.target,
            "counted": check.preview.counted,
            "readings": check.preview.readings,
            "fits": check.preview.refusal is None,
            "refusal": check.preview.refusal,
        },
        "released": [release.to_dict() for release in check.released],
        "assumptions": assumptions(plan),
    }


def _derived(plan: Plan) -> list[dict[str, Any]]:
    """What will be computed from released numbers, at no cost."""
    return [
        {"name": spec.name, "kind": spec.kind, "from": list(spec.sources), "dp_epsilon": 0.0}
        for spec in plan.study.derived
    ]


def proposals_document(proposals: Proposals) -> list[dict[str, Any]]:
    """What would help a study: each change with the errors at 95 % before and after."""
    return [
        {
            "name": row.name,
            "change": row.change,
            "condition": row.condition,
            "errors": [
                {"query": name, "before": before, "after": after}
                for name, (before, after) in row.errors.items()
            ],
        }
        for row in proposals
    ]


def sweep_document(dataset: str, sweep: Sweep) -> dict[str, Any]:
    """A study at several levels; `None` for a study without a price, and `refusal` says why."""
    return {"dataset": dataset, "targets": [_target(row) for row in sweep]}


def stress_document(dataset: str, stress: Stress) -> dict[str, Any]:
    """A stress test. `level` is `None` where it is infinite, and where it is not known.

    In the latter case `theorem` and `within` are `None` too.
    """
    return {
        "dataset": dataset,
        "target": stress.target,
        "delta": stress.delta,
        "cost": {"dp_epsilon": stress.dp_epsilon, "dp_rho": stress.dp_rho},
        "rows": [
            {
                "name": row.name,
                "own": row.is_own,
                "change": row.change,
                "level": None if row.level is None else plain_number(row.level),
                "theorem": row.theorem,
                "within": row.within,
                "reason": row.reason or None,
            }
            for row in stress
        ],
    }


def _target(row: SweepRow) -> dict[str, Any]:
    document: dict[str, Any] = {
        "target": row.target,
        "claim": None,
        "queries": None,
        "noise": None,
        "fits": not row.refusal,
        "refusal": row.refusal or None,
    }
    if row.check is None:
        return document
    plan = row.check.plan
    document |= {"claim": claim(plan), "queries": [_query(plan, query) for query in plan.queries]}
    if plan.collected:
        document["collected"] = [_collected(plan, collected) for collected in plan.collected]
    if plan.programs:
        document["programs"] = [plain_program(program) for program in plan.programs]
    return document | {"noise": _noise(plan)}


def _noise(plan: Plan) -> dict[str, Any]:
    """Which noise was chosen; in a study with a delta also what the other one would give."""
    document: dict[str, Any] = {"chosen": plan.noise}
    if plan.choice is None:
        return document
    names = [query.asked.spec.name for query in plan.queries]
    others = plan.choice.other_errors
    return document | {
        "error_ratio": plan.choice.ratio,
        "refusal": plan.choice.refusal,
        "other_errors": dict(zip(names, others, strict=True)) if others else None,
        "words": plan.choice.words(),
    }


def _query(plan: Plan, query: PlannedQuery) -> dict[str, Any]:
    """`error` is `None` where it depends on sizes that only the data tell.

    Where the sizes of groups are declared it is that of the smallest, and `errors` has them all.
    """
    sizes, confidence = query.asked.group_rows or {}, query.confidence
    errors = {place_text(group): query.error(confidence, size) for group, size in sizes.items()}
    cost = {"dp_rho": query.dp_rho} if query.dp_rho > 0.0 else {"dp_epsilon": query.dp_epsilon}
    return describe_query(query) | {
        **cost,
        "mechanism_kind": query.asked.kind,
        "noise": {
            "distribution": distribution_of(query.noise),
            "scale": query.noise.scale,
            "step": float(query.step),
        },
        **_error(query, plan.n),
        **({"errors": errors} if errors else {}),
    }


def _collected(plan: Plan, asked: PlannedCollected) -> dict[str, Any]:
    """A query of perturbed answers; `about_error`, in records, is `None` without a number of them.

    The error is that of a normal law: a release shows intervals that the kernel proves.
    """
    return asked.describe() | {
        "dp_epsilon": asked.dp_epsilon,
        "confidence": asked.spec.confidence,
        "about_error": asked.error(plan.n),
    }


def _error(query: PlannedQuery, n: int | None) -> dict[str, Any]:
    """The error of the numbers, or that of a quantile's rank in rows."""
    confidence, error = query.confidence, query.wanted_error(n)
    if query.asked.choice is not None:
        return {"rank_error": {"confidence": confidence, "rows": error}}
    return {"error": {"confidence": confidence, "value": error}}
