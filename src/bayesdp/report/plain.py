"""Documents for programs: what the command line prints with `--json`."""

from __future__ import annotations

from typing import Any

from bayesdp.release.certify import assumptions, claim
from bayesdp.release.plan import CONFIDENCE, Plan, PlannedQuery, describe_query
from bayesdp.release.study import Check


def check_document(check: Check) -> dict[str, Any]:
    """The price list of a study."""
    plan = check.plan
    return {
        "dataset": plan.study.data.dataset,
        "claim": claim(plan),
        "queries": [_query(plan, query) for query in plan.queries],
        "leakage": plan.report.to_dict() if plan.report is not None else None,
        "budget": {
            "spend": plan.target,
            "readings": check.preview.readings,
            "fits": check.preview.refusal is None,
            "refusal": check.preview.refusal,
        },
        "assumptions": assumptions(plan),
    }


def _query(plan: Plan, query: PlannedQuery) -> dict[str, Any]:
    """`error` is `None` where it depends on sizes that only the data tell."""
    rows = None if query.shape.spec.by else plan.n
    return describe_query(query) | {
        "dp_epsilon": query.dp_epsilon,
        "mechanism_kind": query.shape.kind,
        "noise": {
            "distribution": "discrete-laplace",
            "scale": query.noise.scale,
            "step": float(query.step),
        },
        "error": {"confidence": CONFIDENCE, "value": query.error(CONFIDENCE, rows)},
    }
