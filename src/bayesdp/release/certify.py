"""The certificate of a release, from its plan and its results."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

import bayesdp
from bayesdp import kernel, theorems
from bayesdp.accounting.composition import (
    PATIENCE,
    SECONDS,
    SecretsInterval,
    converted,
    dp_bound,
    population_of,
    secrets_needed,
    zcdp_cost,
)
from bayesdp.accounting.spend import Reading, Spend, total_cost
from bayesdp.certificate import Certificate, Step
from bayesdp.errors import Refusal
from bayesdp.notions import Cost
from bayesdp.numbers import largest
from bayesdp.populations import Family, Population
from bayesdp.release.noise import kind_of
from bayesdp.release.plan import Plan, PlannedQuery, describe_query, make_plan
from bayesdp.release.programs import PlannedProgram
from bayesdp.release.spec import StudySpec, describe_column
from bayesdp.theorems import Bound, LeakageReport, Question, Refused, delta_at
from bayesdp.theorems.with_delta import report_with_delta


def certify(
    plan: Plan,
    results: Sequence[dict[str, Any]],
    *,
    release: str,
    time: str,
    before: Sequence[Spend],
) -> Certificate:
    """The certificate. `before` are the data set's earlier spends."""
    derivation = derive(plan, before)
    declared = declarations(plan, before) | {"results": list(results)}
    declared["claim"] |= {"epsilon": derivation.conclusion["epsilon"]}
    body: dict[str, Any] = {
        "software": f"bayesdp {bayesdp.__version__}",
        "rounding": kernel.ROUNDING,
        "release": release,
        "time": time,
        **declared,
        "data_set": data_set_state(plan, before, derivation),
        "not_protected": list(kernel.NOT_PROTECTED),
    }
    plain = plain_details(body | {"derivation": {"evidence": derivation.evidence}})
    assuming = kernel.assumptions(plain)
    return Certificate(plain_details(body | {"assumptions": assuming}), derivation)


def data_set_state(plan: Plan, before: Sequence[Spend], derivation: Step) -> dict[str, Any]:
    """What the data set has spent together with a study, as its certificate says it."""
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
        "total": plan.reading.total,
        "secrets": secrets_words(secrets),
        "earlier_spends": [spend.to_dict() for spend in before],
    }


def declarations(plan: Plan, before: Sequence[Spend] = ()) -> dict[str, Any]:
    """What a study declares and claims, as a certificate holds it."""
    study = plan.study
    of_bdp = study.budget.notion == "bdp"
    blocks = {spend.block.column for spend in (*before, *plan.spends) if spend.block is not None}
    return {
        "dataset": study.data.dataset,
        "unit": study.data.unit,
        "rows_per_unit": study.data.rows_per_unit,
        "n": plan.n,
        "columns": {name: describe_column(column) for name, column in study.columns.items()},
        "claim": claim(plan),
        **({"public_blocks": sorted(blocks)} if blocks else {}),
        **({"programs": [describe_program(one) for one in plan.programs]} if plan.programs else {}),
        "population": study.population.spec() if study.population and of_bdp else None,
    }


def describe_program(program: PlannedProgram) -> dict[str, Any]:
    """What a certificate says of a program: its text's digest, and what its cost rests on."""
    return {
        "query": program.spec.name,
        "program": program.shown,
        "source": program.core.source_hash,
        "assuming": list(program.assuming),
    }


def assumptions(plan: Plan) -> list[str]:
    """Everything that the level rests on and that nobody checked."""
    allowed = {
        "results": [],
        "data_set": {"total": plan.reading.total},
        "derivation": {"evidence": _budget(plan)},
    }
    return kernel.assumptions(plain_details(declarations(plan) | allowed))


def _budget(plan: Plan) -> dict[str, float]:
    """What the study may spend."""
    return {"total": plan.target} | ({"delta": plan.reading.delta} if plan.reading.delta else {})


def conversion_certificate(population: Population, report: LeakageReport) -> Certificate:
    """A certificate of a conversion alone: of any mechanism with the report's DP cost and kind.

    It proves the best level of the report that the kernel proves, with a delta only where pure
    costs are counted as such. Errors: `InputError` for a population that its spec can't hold.
    """
    stated = [one for one in report.bounds if one.proof.get("counted") != "zcdp"]
    report = replace(report, bounds=tuple(stated), zcdp_cost=None)
    spec = population.spec()
    declared = {key: value for key, value in spec.items() if key not in ("source", "covers")}
    reading = Reading(
        "bdp",
        max(report.best.epsilon, 1e-300),
        population=declared,
        adversary=report.adversary,
        secrets=report.secrets,
        covers=population.covers,
        delta=report.delta,
    )
    step = _conversion(reading, report, ())
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
    """What the release promises, in the terms of its notion."""
    reading = plan.reading
    stated: dict[str, Any] = {
        "notion": reading.notion,
        "epsilon": plan.level,
        "delta": plan.delta,
        "dp_epsilon": plan.dp_epsilon,
    }
    if plan.dp_rho > 0.0:
        stated["dp_rho"] = plan.dp_rho
    if reading.notion == "bdp":
        stated |= {
            "adversary": reading.adversary,
            "scope": "the declared population",
            "secrets": secrets_words(plan.secrets_interval),
        }
    return stated


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


def provable_plan(study: StudySpec, n: int | None = None) -> Plan:
    """The price of a study, with the level that the kernel proves, within its budget.

    The kernel's level may lie above the fast one, by a rounding or where its rule is simpler (large
    Gaussian fields and graphs): the study then spends that much less. The plan's level and the best
    one of its report are the kernel's, so they are what a certificate claims.
    """
    within, chosen = None, None
    for _ in range(4):
        plan = make_plan(study, n, within=within, noise=chosen.noise if chosen else None)
        chosen = chosen or plan
        step = _own_step(plan, ())
        proved = step.conclusion["epsilon"]
        if proved <= plan.target:
            report = plan.report and _as_proved(plan.report, step)
            unproved = _certified(_asked(step))[1] if report is not None else ""
            return replace(
                plan, choice=chosen.choice, level=proved, report=report, unproved=unproved
            )
        within = (within or plan.target) * plan.target / proved * (1.0 - 1e-9)
    raise Refusal(
        f"The kernel proves no level within the budget of {plan.target:g}: nothing was spent."
    )


def derive(plan: Plan, before: Sequence[Spend] = ()) -> Step:
    """The derivation tree: release <- conversion <- composition <- one step for each query.

    With earlier spends a second conversion stands beside the first: of the data set's whole sum.
    Levels are the kernel's: proved in balls, rounded up. Raises `Refusal` where the proved level
    does not fit the budget that the fast route fitted, which would be a mistake of ours.
    """
    rho = {"rho": plan.dp_rho} if plan.dp_rho > 0.0 else {}
    composition = Step(
        "sequential-composition",
        {"notion": "dp", "epsilon": plan.dp_epsilon} | rho,
        {"adjacency": "replace one record"},
        (
            *(_query_step(query) for query in plan.queries),
            *(_program_step(program) for program in plan.programs),
        ),
    )
    premises = [_own_step(plan, (composition,))]
    if before:
        together = [*before, *plan.spends]
        premises.append(_data_set(plan.reading, together, plan.study.budget.seconds))
    reached = premises[0].conclusion["epsilon"]
    if not reached <= plan.target:
        raise Refusal(
            f"The level proved in ball arithmetic, {reached!r}, is above the budget of "
            f"{plan.target!r}. Nothing was spent. This is a mistake of bayesdp: please report it."
        )
    delta = {"delta": plan.delta} if plan.delta > 0.0 else {}
    return Step(
        "release",
        {"notion": plan.reading.notion, "epsilon": reached} | delta,
        _budget(plan),
        tuple(premises),
    )


def _own_step(plan: Plan, premises: tuple[Step, ...]) -> Step:
    """What the study's own spends mean: a conversion, or for the notion DP its composition."""
    if plan.report is not None:
        seconds = plan.study.budget.seconds
        return _conversion(plan.reading, plan.report, premises, seconds=seconds)
    found = dp_bound(plan.reading, plan.spends, fixed=True)
    if found.delta == 0.0:
        return premises[0] if premises else _pure_dp(plan.spends)
    return _approximate_dp(plan.reading, found, plan.spends, premises)


def _data_set(reading: Reading, spends: Sequence[Spend], seconds: float) -> Step:
    """The reading over all spends of the data set."""
    if reading.notion == "dp":
        found = dp_bound(reading, spends)
        if found.delta == 0.0:
            return _pure_dp(spends)
        return _approximate_dp(reading, found, spends, ())
    report = converted(reading, spends, seconds=seconds)
    return _conversion(reading, report, (), total=reading.total, seconds=seconds)


def _as_proved(report: LeakageReport, step: Step) -> LeakageReport:
    """The report with the step's level as its best; lower ones that nothing proves are refused."""
    place = next(i for i, bound in enumerate(report.bounds) if _names(bound, step))
    best = replace(report.bounds[place], epsilon=step.conclusion["epsilon"])
    unproved = tuple(Refused(bound.theorem, UNPROVED) for bound in report.bounds[:place])
    return replace(
        report,
        bounds=(best, *report.bounds[place + 1 :]),
        refused=(*report.refused, *unproved),
    )


UNPROVED = "the kernel does not prove its level, so no certificate can claim it"


def _names(bound: Bound, step: Step) -> bool:
    """Whether the step is the conversion made from this bound."""
    delta = _delta_evidence(bound) if bound.delta > 0.0 and bound.proof else None
    same_delta = (bound.delta > 0.0) == ("delta" in step.conclusion)
    return bound.theorem == step.rule and same_delta and delta == step.evidence.get("delta")


def _pure_dp(spends: Sequence[Spend]) -> Step:
    return Step("data-set", {"notion": "dp", "epsilon": total_cost(spends).dp_epsilon})


def _approximate_dp(
    reading: Reading, found: Bound, spends: Sequence[Spend], premises: tuple[Step, ...]
) -> Step:
    """The DP level of costs at a delta."""
    counted = found.proof["counted"] == "zcdp"
    cost = zcdp_cost(spends) if counted else total_cost(spends)
    conclusion = {"notion": "dp", "epsilon": found.epsilon, "delta": reading.delta}
    evidence = {"cost": _cost_evidence(cost, True), "delta": _delta_evidence(found)}
    step = Step(found.theorem, conclusion, evidence, premises)
    level = certified(step, found.epsilon)
    if level is None:
        raise Refusal("The kernel doesn't prove the level. Please report this mistake of ours.")
    return Step(step.rule, conclusion | {"epsilon": level}, evidence, premises)


def _cost_evidence(cost: Cost, with_rho: bool) -> dict[str, Any]:
    parts = ("any", "lipschitz", "slack")
    more = ("rho_any", "rho_lipschitz", "rho_slack") if with_rho else ()
    columns = [asdict(spent) for spent in cost.by_column]
    if not with_rho:
        kept = ("column", "width", "dp_epsilon", "slack")
        columns = [{name: spent[name] for name in kept} for spent in columns]
    return {name: getattr(cost, name) for name in (*parts, *more)} | {"by_column": columns}


def _delta_evidence(bound: Bound) -> dict[str, Any]:
    """How a level follows at a delta, with the Rényi order as an exact fraction."""
    alpha = bound.proof.get("alpha")
    order = None if alpha is None else list(float(alpha).as_integer_ratio())
    return dict(bound.proof) | {"alpha": order}


def _conversion(
    reading: Reading,
    report: LeakageReport,
    premises: tuple[Step, ...],
    *,
    total: float | None = None,
    seconds: float = SECONDS,
) -> Step:
    """The step of the best theorem whose level the kernel proves.

    `total` is what a ledger keeps to, where a level at a delta was read with it.
    """
    about: dict[str, Any] = {
        "population": reading.population,
        "covers": list(reading.covers),
        "independent": list(reading.independent),
        "secrets": reading.secrets,
    }
    if reading.interval is not None:
        about["interval"] = list(reading.interval)
    for bound in report.bounds:
        read = kernel.DETAILS.get(bound.theorem, frozenset())
        kept = {name: value for name, value in bound.evidence.items() if name in read}
        pure_cost = float(bound.proof.get("dp_epsilon", report.cost.dp_epsilon))
        details = plain_details(kept) | _proofs(reading, bound.theorem, pure_cost)
        conclusion = {"notion": "bdp", "epsilon": bound.epsilon, "adversary": reading.adversary}
        counted = bound.proof.get("counted") == "zcdp"
        cost = report.zcdp_cost if counted and report.zcdp_cost is not None else report.cost
        evidence = about | {"cost": _cost_evidence(cost, bound.delta > 0.0), "details": details}
        under = premises
        if bound.theorem == "family":
            with_delta = bound.delta > 0.0 and not bound.proof
            under = (*premises, *_members(reading, report, total, with_delta, seconds))
        if bound.proof.get("way") == "stated":
            pure = certified(Step(bound.theorem, conclusion, evidence, under), bound.epsilon)
            if pure is None:
                continue
            conclusion["delta"] = largest(bound.delta, _stated_delta(reading, bound, pure))
        elif bound.delta > 0.0:
            conclusion["delta"] = reading.delta
        if bound.proof:
            evidence["delta"] = _delta_evidence(bound)
        step = Step(bound.theorem, conclusion, evidence, under)
        level = certified(step, bound.epsilon)
        if level is not None:
            return Step(step.rule, conclusion | {"epsilon": level}, step.evidence, under)
    raise Refusal("The kernel proves none of the levels. Please report this mistake of ours.")


def _proofs(reading: Reading, theorem: str, dp_epsilon: float) -> dict[str, Any]:
    """Evidence that only a certificate needs: the flows behind a finite law's level."""
    if theorem != "finite-law" or reading.adversary == "informed":
        return {}
    from bayesdp.theorems.finite_law import dual_certificates

    flows = dual_certificates(population_of(reading), dp_epsilon, reading.adversary)
    return {"proofs": flows}


def _stated_delta(reading: Reading, bound: Bound, level: float) -> float:
    """The delta of a stated pair at the level that the kernel proves, a hair above the bound's."""
    question = Question(population_of(reading), reading.adversary)
    return delta_at(question, level, bound.proof["dp_epsilon"], bound.proof["dp_delta"])


def _members(
    reading: Reading,
    report: LeakageReport,
    total: float | None,
    with_delta: bool,
    seconds: float,
) -> list[Step]:
    """For a family, the same conversion for each member."""
    family = population_of(reading)
    assert isinstance(family, Family)
    steps = []
    for member in family.members:
        about = replace(reading, population=member.spec())
        question = Question(
            member, reading.adversary, reading.secrets, seconds, stop_after=PATIENCE * seconds
        )
        found = (
            report_with_delta(
                question, report.cost, report.delta, zcdp_cost=report.zcdp_cost, total=total
            )
            if with_delta
            else theorems.report(question, report.cost)
        )
        steps.append(_conversion(about, found, ()))
    return steps


def certified(step: Step, claimed: float) -> float | None:
    """The claim, or the kernel's level where rounding put it above; `None` where it isn't proved.

    A rule that the kernel doesn't have (or a file that it doesn't read) keeps the claim: such a
    certificate verifies as UNKNOWN.
    """
    level, _ = _certified(_asked(step))
    return None if level is None else largest(claimed, level)


def _asked(step: Step) -> str:
    """What the kernel is asked about a step: whatever level it proves."""
    under = step.premises if step.rule == "family" else ()
    conclusion = {name: value for name, value in step.conclusion.items() if name != "epsilon"}
    about = Step(step.rule, conclusion, step.evidence, under)
    return json.dumps(plain_details(about.to_dict()))


@lru_cache(maxsize=32)
def _certified(step: str) -> tuple[float | None, str]:
    """The kernel's level of a step. It is asked once, and not again at the release.

    `None` where it isn't proved (in the time that a verdict may take). Where the kernel has no say,
    nothing at all (`-inf`) and why.
    """
    try:
        return kernel.certified_level(json.loads(step)), ""
    except kernel.TooSlowError:
        return None, ""
    except kernel.UnknownError as unknown:
        return -math.inf, unknown.reason
    except kernel.InvalidError:
        return None, ""


def plain_details(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data, as it comes back from JSON: arrays and tuples as lists."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(evidence), default=_listed))
    return plain


def _listed(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else list(value)


def _query_step(query: PlannedQuery) -> Step:
    grid = query.grid
    kind = kind_of(query.noise)
    gaussian = kind.name == "gaussian"
    evidence: dict[str, Any] = {
        "query": describe_query(query),
        "sensitivity_squared" if gaussian else "sensitivity": query.sensitivity,
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
    conclusion = {"notion": "dp", "epsilon": query.dp_epsilon, "kind": query.shape.kind}
    rho = {"rho": query.dp_rho} if gaussian else {}
    return Step(kind.distribution, conclusion | rho, evidence)


def _program_step(program: PlannedProgram) -> Step:
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
