"""The derivation of a release: the price that the kernel proves, step by step.

A plan's level comes from the fast route. Here the kernel is asked for each step, and what it proves
is what a study is priced at, what its certificate claims and what `derive` puts under the claim.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from bayesdp import kernel, theorems
from bayesdp.accounting.costs.composition import (
    PATIENCE,
    SECONDS,
    converted,
    dp_bound,
    population_of,
    zcdp_cost,
)
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.certificate import Step
from bayesdp.errors import BudgetExceededError, Refusal
from bayesdp.notions import ApproxDP, Cost
from bayesdp.numbers import UpperBound, largest
from bayesdp.populations import Family
from bayesdp.release.certificates.dp_steps import collected_step, program_step, query_step
from bayesdp.release.price.plan import (
    Plan,
    TooSlow,
    error_ratio,
    make_plan,
    reading_of,
)
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.base import exact_text
from bayesdp.statements.steps import DATA_SET
from bayesdp.theorems import Bound, LeakageReport, Question, Refused, delta_at
from bayesdp.theorems.with_delta import report_with_delta

ROUNDS = 40
"""How often a study is priced anew until the level that the kernel proves is within its budget."""


def provable_plan(
    study: StudySpec, n: int | None = None, *, reading: Reading | None = None
) -> Plan:
    """The price of a study, with the level that the kernel proves, within its budget.

    `n` is the number of records where the study takes it from the data, and `reading` that of the
    study, where it is at hand.

    The kernel's level may lie above the fast one, by a rounding or where its rule is simpler (large
    Gaussian fields and graphs): the study then spends that much less. The plan's level and the best
    level of its report are the kernel's, so they are what a certificate claims. The plan's
    `too_slow` says what the kernel had no time to prove, and how much noise that costs. Raises as
    `make_plan` does, and `Refusal` where the kernel proves no level within the budget.
    """
    within, chosen, reading = None, None, reading or reading_of(study)
    late: tuple[str, ...] = ()
    for _ in range(ROUNDS):
        plan = make_plan(
            study, n, within=within, noise=chosen.noise if chosen else None, reading=reading
        )
        chosen = chosen or plan
        own = _own_step(plan, late)
        proved = UpperBound(own.step.conclusion["epsilon"])
        late = own.too_slow
        if proved <= plan.target:
            return replace(
                plan,
                choice=chosen.choice,
                level=proved,
                report=plan.report and _as_proved(plan.report, own.step),
                unproved=own.unproved,
                proof=own.step,
                too_slow=TooSlow(late, error_ratio(plan, chosen)) if late else None,
            )
        within = (within or plan.target) * plan.target / proved * (1.0 - 1e-9)
    raise Refusal(
        f"The kernel proves no level within the budget of {exact_text(plan.target)}: nothing was "
        "spent."
    )


def proved_report(study: StudySpec, spends: Sequence[Spend]) -> LeakageReport:
    """What these spends of a study mean under its population: the best level is the kernel's.

    Raises `Refusal` where they have no level, or none that the kernel proves in its time.
    """
    reading, seconds = reading_of(study), study.budget.seconds
    report = converted(reading, spends, fixed=True, seconds=seconds)
    return _as_proved(report, conversion_step(reading, report, seconds=seconds))


def derive(plan: Plan, before: Sequence[Spend] = ()) -> Step:
    """The derivation tree: release <- conversion <- composition <- one step for each query.

    With earlier spends a second conversion stands beside the first: of the data set's whole sum.
    Levels are the kernel's: proved in balls, rounded up. Raises `Refusal` where the proved level
    does not fit the budget that the fast route fitted, which would be a mistake of ours.
    """
    rho = {"rho": plan.dp_rho} if plan.dp_rho > 0.0 else {}
    composition = Step(
        "sequential-composition",
        {"notion": "dp", "epsilon": plan.dp_epsilon} | rho | _own_delta("delta", plan.dp_delta),
        {"adjacency": "replace one record"},
        (
            *(query_step(query) for query in plan.queries),
            *(collected_step(query) for query in plan.collected),
            *(program_step(program) for program in plan.programs),
        ),
    )
    premises = [_own_level(plan, composition)]
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
        allowed(plan),
        tuple(premises),
    )


def fits_total(plan: Plan, derivation: Step) -> bool:
    """Whether the data set's level in the derivation is within its total."""
    return bool(derivation.premises[-1].conclusion["epsilon"] <= plan.reading.total)


def within_total(plan: Plan, derivation: Step) -> Step:
    """The derivation, if the data set's level in it is within its total.

    Raises `BudgetExceededError` if it isn't: the kernel would refuse its certificate.
    """
    if not fits_total(plan, derivation):
        level, total = derivation.premises[-1].conclusion["epsilon"], plan.reading.total
        raise BudgetExceededError(
            f"With this release the data set's proved level would be {level!r}, above its total of "
            f"{total!r}: no certificate can claim it. Spend less: state a smaller budget.spend."
        )
    return derivation


def allowed(plan: Plan) -> dict[str, float]:
    """The level that the study may reach, with its delta where it has one, as steps state it."""
    return {"total": plan.target} | ({"delta": plan.reading.delta} if plan.reading.delta else {})


@dataclass(frozen=True, slots=True)
class ProvedStep:
    """A step with the level that the kernel proves.

    `too_slow` are the theorems with lower levels that the kernel had no time to prove. `unproved`
    says why it has no say about the level itself; it is empty where it proves it.
    """

    step: Step
    too_slow: tuple[str, ...] = ()
    unproved: str = ""


def _own_level(plan: Plan, composition: Step) -> Step:
    """The study's own level over its composition, which itself is a level of the notion DP."""
    proof = plan.proof or _own_step(plan).step
    if proof.rule == DATA_SET:
        return composition
    return replace(proof, premises=(composition, *proof.premises))


def _own_step(plan: Plan, too_slow: tuple[str, ...] = ()) -> ProvedStep:
    """The step of the study's own spends, without the composition under it."""
    if plan.report is not None:
        seconds = plan.study.budget.seconds
        return proved_step(plan.reading, plan.report, seconds=seconds, too_slow=too_slow)
    bound = dp_bound(plan.reading, plan.spends, fixed=True)
    return ProvedStep(_dp_step(plan.reading, bound, plan.spends))


def _data_set(reading: Reading, spends: Sequence[Spend], seconds: float) -> Step:
    """The reading over all spends of the data set."""
    if reading.notion == "dp":
        return _dp_step(reading, dp_bound(reading, spends), spends)
    report = converted(reading, spends, seconds=seconds)
    return conversion_step(reading, report, total=reading.total, seconds=seconds)


def _as_proved(report: LeakageReport, step: Step) -> LeakageReport:
    """The report with the step's level as its best; lower ones that nothing proves are refused."""
    place = next(i for i, bound in enumerate(report.bounds) if _names(bound, step))
    best = replace(report.bounds[place], epsilon=UpperBound(step.conclusion["epsilon"]))
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


def _dp_step(reading: Reading, bound: Bound, spends: Sequence[Spend]) -> Step:
    """The DP level of costs, at the reading's delta where the bound needs it.

    With deltas of the mechanisms' own, and nothing else, at the sum of these.
    """
    own = total_cost(spends).dp_delta
    if not bound.proof:
        epsilon = {"notion": "dp", "epsilon": total_cost(spends).dp_epsilon}
        return Step(DATA_SET, epsilon | _own_delta("delta", own))
    counted = bound.proof["counted"] == "zcdp"
    cost = zcdp_cost(spends) if counted else total_cost(spends)
    conclusion = {"notion": "dp", "epsilon": bound.epsilon, "delta": reading.delta}
    evidence: dict[str, Any] = {
        "cost": _cost_evidence(cost, True),
        "delta": _delta_evidence(bound),
    }
    evidence |= _own_delta("own_delta", own)
    step = Step(bound.theorem, conclusion, evidence)
    proved = certified(step)
    if proved.level is None:
        why = proved.reason or "please report this mistake of ours"
        raise Refusal(f"The kernel doesn't prove the DP level: {why}.")
    level = largest(bound.epsilon, proved.level)
    return replace(step, conclusion=conclusion | {"epsilon": level})


def _own_delta(key: str, delta: float) -> dict[str, float]:
    """The sum of the mechanisms' own deltas under this key, where they have any."""
    return {key: delta} if delta > 0.0 else {}


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


def conversion_step(
    reading: Reading,
    report: LeakageReport,
    *,
    total: float | None = None,
    seconds: float = SECONDS,
) -> Step:
    """The step of the best theorem whose level the kernel proves.

    `reading`, `report`, `total` and `seconds` as in `proved_step`.
    """
    return proved_step(reading, report, total=total, seconds=seconds).step


def proved_step(
    reading: Reading,
    report: LeakageReport,
    *,
    total: float | None = None,
    seconds: float = SECONDS,
    too_slow: tuple[str, ...] = (),
) -> ProvedStep:
    """The step of the best theorem whose level the kernel proves, and what it had no time for.

    `total` is what a ledger keeps to, where a level at a delta was read with it. The kernel isn't
    asked about the theorems `too_slow`, which are known to be: "member 2: markov-recursion" for one
    of a family's member. Raises `Refusal` where the kernel proves none of the levels, or can't in
    the time that a verdict may take.
    """
    about = _about(reading)
    slow = list(too_slow)
    for bound in report.bounds:
        if bound.theorem in too_slow:
            continue
        members: list[ProvedStep] = []
        if bound.theorem == "family":
            with_delta = bound.delta > 0.0 and not bound.proof
            members = _members(reading, report, total, with_delta, seconds, too_slow)
            slow += [
                f"{_MEMBER.format(i)}{theorem}"
                for i, member in enumerate(members)
                for theorem in member.too_slow
            ]
        conclusion = {"notion": "bdp", "epsilon": bound.epsilon, "adversary": reading.adversary}
        evidence = about | _evidence(reading, report, bound)
        under = tuple(member.step for member in members)
        if bound.proof.get("way") == "stated":
            pure = certified(
                Step(bound.theorem, conclusion, evidence, under), reading.population_text
            )
            if pure.level is None:
                slow += [bound.theorem] if pure.reason == TOO_SLOW else []
                continue
            least = largest(bound.epsilon, pure.level)
            conclusion["delta"] = largest(bound.delta, _stated_delta(reading, bound, least))
        elif bound.delta > 0.0:
            conclusion["delta"] = reading.delta
        if bound.proof:
            evidence["delta"] = _delta_evidence(bound)
        step = Step(bound.theorem, conclusion, evidence, under)
        proved = certified(step, reading.population_text)
        if proved.level is not None:
            level = largest(bound.epsilon, proved.level)
            own = replace(step, conclusion=conclusion | {"epsilon": level})
            return ProvedStep(own, tuple(dict.fromkeys(slow)), proved.reason)
        slow += [bound.theorem] if proved.reason == TOO_SLOW else []
    if slow:
        raise Refusal(
            "No level can be certified: to verify one would take longer than a verdict may. "
            "A smaller population, or one with a simpler structure, has a quicker proof."
        )
    raise Refusal("The kernel proves none of the levels. Please report this mistake of ours.")


def _about(reading: Reading) -> dict[str, Any]:
    """The part of a step's evidence that is the same for all theorems: what the reading is about.

    It shares nothing with the reading.
    """
    about: dict[str, Any] = {
        "population": json.loads(reading.population_text or "null"),
        "covers": list(reading.covers),
        "independent": list(reading.independent),
        "secrets": reading.secrets,
    }
    if reading.interval is not None:
        about["interval"] = list(reading.interval)
    return about


def _evidence(reading: Reading, report: LeakageReport, bound: Bound) -> dict[str, Any]:
    """The cost that a bound of the report converts, and the witnesses that its rule reads."""
    read = kernel.DETAILS.get(bound.theorem, frozenset())
    kept = {name: value for name, value in bound.evidence.items() if name in read}
    pure_cost = float(bound.proof.get("dp_epsilon", report.cost.dp_epsilon))
    counted = bound.proof.get("counted") == "zcdp"
    cost = report.zcdp_cost if counted and report.zcdp_cost is not None else report.cost
    return {
        "cost": _cost_evidence(cost, bound.delta > 0.0),
        "details": plain_details(kept) | _proofs(reading, bound.theorem, pure_cost),
    }


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
    return delta_at(question, level, ApproxDP(bound.proof["dp_epsilon"], bound.proof["dp_delta"]))


def _members(
    reading: Reading,
    report: LeakageReport,
    total: float | None,
    with_delta: bool,
    seconds: float,
    too_slow: tuple[str, ...],
) -> list[ProvedStep]:
    """For a family, the same conversion for each member."""
    family = population_of(reading)
    assert isinstance(family, Family)
    steps = []
    for i, member in enumerate(family.members):
        prefix = _MEMBER.format(i)
        late = tuple(name.removeprefix(prefix) for name in too_slow if name.startswith(prefix))
        about = replace(reading, population=member.spec())
        question = Question(
            member,
            reading.adversary,
            reading.secrets,
            seconds,
            stop_after=PATIENCE * seconds,
            has_other_values=bool(reading.independent),
        )
        answer = (
            report_with_delta(
                question, report.cost, report.delta, zcdp_cost=report.zcdp_cost, total=total
            )
            if with_delta
            else theorems.report(question, report.cost)
        )
        steps.append(proved_step(about, answer, too_slow=late))
    return steps


_MEMBER = "member {}: "


@dataclass(frozen=True, slots=True)
class Certified:
    """What the kernel says of a step: the level that it proves, in nats, or `None` and why not.

    Where it has no rule for the step, or doesn't read a file, the level is `-inf` with the reason:
    a certificate keeps what the theorem says, and verifies as UNKNOWN.
    """

    level: float | None
    reason: str = ""


TOO_SLOW = "its proof takes longer than a verdict may"


def certified(step: Step, population: str = "") -> Certified:
    """What level the kernel proves of a step, whatever level the step claims.

    `population` is that of the step's evidence as JSON, where it is at hand: it may be long.
    """
    under = step.premises if step.rule == "family" else ()
    conclusion = {name: value for name, value in step.conclusion.items() if name != "epsilon"}
    evidence = dict(step.evidence) | ({"population": None} if population else {})
    about = Step(step.rule, conclusion, evidence, under)
    try:
        return _certified(json.dumps(about.to_dict(), default=_listed), population)
    except kernel.TooSlowError:
        return Certified(None, TOO_SLOW)


@lru_cache(maxsize=256)
def _certified(step: str, population: str) -> Certified:
    """The kernel is asked once about a step, and not again at the release.

    `population` is that of the evidence, unless it is empty.
    That it had no time is not kept: it may have been a busy moment.
    """
    plain = json.loads(step)
    if population:
        plain["evidence"]["population"] = json.loads(population)
    try:
        return Certified(kernel.certified_level(plain))
    except kernel.TooSlowError:
        raise
    except kernel.UnknownError as unknown:
        return Certified(-math.inf, unknown.reason)
    except kernel.InvalidError:
        return Certified(None)


def plain_details(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Evidence as plain data, as it comes back from JSON: arrays and tuples become lists."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(evidence), default=_listed))
    return plain


def _listed(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else list(value)
