"""What is promised, as numbers: from a certificate, a study or a table of levels.

A `Promise` is what `explain` puts into words. Everything in it comes from parts of a certificate
that the kernel has re-derived, except what other people wrote: names and sources.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.errors import BayesdpError, UnsupportedError
from bayesdp.notions import ADVERSARIES, Adversary, ColumnCost, Cost
from bayesdp.numbers import UpperBound, float_below
from bayesdp.populations import Population, parse
from bayesdp.release.certificates.certify import (
    assumptions,
    data_set_state,
    declarations,
)
from bayesdp.release.certificates.derivation import derive, plain_details
from bayesdp.release.price.plan import Plan
from bayesdp.release.study import Study
from bayesdp.report.reach import (
    LevelAtDelta,
    about_intervals,
    covers_vague_knowledge,
    joint_level,
    level_outside,
    no_lower,
)
from bayesdp.report.secret_places import SecretPlace, places_of_conversion, places_of_release
from bayesdp.theorems import (
    ApproximateReport,
    LeakageReport,
    Question,
)
from bayesdp.theorems.with_delta import dp_bounds, report_with_delta
from bayesdp.verification import check

Subject = Literal["release", "conversion", "study", "leakage"]


@dataclass(frozen=True, slots=True)
class PromiseStatus:
    """Whether the promise holds: the kernel's verdict, or the state of a study or a level.

    `verdict` is the kernel's, or `BEFORE RELEASE`, `REFUSED` (a study over budget), `COMPUTED` (a
    level without a certificate). `repeats` says of a study that it was released before, and what
    another release would cost.
    """

    verdict: str
    step: str = ""
    reason: str = ""
    repeats: str = ""

    @property
    def holds(self) -> bool:
        """Whether the promise is neither refused nor refuted nor unchecked."""
        return self.verdict not in ("INVALID", "UNKNOWN", "REFUSED")


@dataclass(frozen=True, slots=True)
class Promise:
    """Everything that an explanation says, before it is put into words.

    What is promised, to whom:

    - `subject`, `status`: what the promise is about, and whether it holds.
    - `notion`, `adversary`: what is bounded, and against whom.
    - `level`: what all releases of the data set so far have together; `own`: this release alone.
    - `places`: where secret values lie, if the level is about those inside intervals; `outside`:
      the level for all others.
    - `group`: how many records may be related to each other; `joint`: the level for facts about
      all of them at once.
    - `vague`: whether it is proved for people with vague knowledge of single other records, too.

    What was spent:

    - `cost`: the DP level of all releases so far.
    - `limit`: what the ledger allows in total; `counted`: the level that the ledger compares with
      it, `None` where a certificate can't tell.
    - `earlier`: how many queries were released before, from all data sets of the `people` where
      there are some.

    What the data are:

    - `dataset`, `people`: the names of the data set, and of those whom it shares with others.
    - `n`, `unit`: how many records there are, and what a record is.
    - `rows_per_unit`, `max_rows`, `balanced`: how many rows of a record there are, or count.
    - `parts`: how many parts a row has, if a record is one of them.
    - `columns`: what is declared of each column.

    What it rests on: the `population`, the `assumptions` in words, and the `theorem`.
    """

    subject: Subject
    status: PromiseStatus
    notion: str
    level: LevelAtDelta
    own: LevelAtDelta
    cost: LevelAtDelta
    adversary: Adversary
    population: Mapping[str, Any] | None = None
    places: tuple[SecretPlace, ...] = ()
    outside: LevelAtDelta | None = None
    group: int | None = None
    joint: LevelAtDelta | None = None
    limit: LevelAtDelta | None = None
    counted: UpperBound | None = None
    earlier: int = 0
    dataset: str = ""
    people: str = ""
    n: int | None = None
    unit: str = "row"
    rows_per_unit: int | None = None
    max_rows: int | None = None
    balanced: bool = False
    parts: int | None = None
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    theorem: str = ""
    vague: bool = False


def of_document(document: Mapping[str, Any], status: PromiseStatus) -> Promise:
    """The promise of a certificate, given as plain data.

    Malformed documents raise what reading them raises. Raises `UnsupportedError` for a certificate
    of another kind of claim.
    """
    rule = document["derivation"]["rule"]
    if document["claim"]["notion"] not in ("dp", "bdp") or rule == "program":
        raise UnsupportedError(
            "explain",
            rule,
            expected="a certificate of a release, or of a level of DP or BDP",
            remedy="`bayesdp verify` says whether it holds, and what it rests on.",
        )
    if rule == "release":
        return _of_release(document, status, "release")
    return _of_conversion(document, status)


def of_study(study: Study) -> Promise:
    """The promise of a study before its release: what its certificate would say. Reads no data."""
    check = study.check()
    plan, preview = check.plan, check.preview
    before = study.spends()
    derivation = derive(plan, before)
    parts = declarations(plan)
    parts["claim"] |= {"epsilon": derivation.conclusion["epsilon"]}
    document = parts | {
        "data_set": data_set_state(plan, before, derivation),
        "assumptions": assumptions(plan),
        "derivation": derivation.to_dict(),
    }
    status = PromiseStatus("BEFORE RELEASE", repeats=check.repeat)
    if preview.refusal is not None:
        status = PromiseStatus("REFUSED", "budget", preview.refusal, check.repeat)
    return _of_release(plain_details(document), status, "study")


def of_leakage(table: LeakageReport | ApproximateReport, population: Population | None) -> Promise:
    """The promise of the best level of a table of levels. Such a level has no certificate."""
    spec = _spec(population)
    if isinstance(table, ApproximateReport):
        level = LevelAtDelta(UpperBound(math.inf))
        if table.bounds:
            level = LevelAtDelta(table.best.epsilon, table.best.delta)
        cost = LevelAtDelta(UpperBound(table.dp_epsilon), table.dp_delta)
        theorem, restricted = (table.best.theorem if table.bounds else ""), False
        evidence: Mapping[str, Any] = {}
    else:
        level, cost = LevelAtDelta(table.best.epsilon, table.best.delta), _cost_of(table)
        theorem, evidence = table.best.theorem, table.best.evidence
        restricted = about_intervals(theorem, evidence.get("members", ()))
        restricted = restricted and table.adversary != "informed"
    return Promise(
        "leakage",
        PromiseStatus("COMPUTED"),
        "bdp",
        level,
        level,
        cost,
        table.adversary,
        population=spec,
        places=places_of_conversion(spec) if restricted else (),
        outside=level_outside(spec, table.adversary, cost) if restricted else None,
        theorem=theorem,
        vague=covers_vague_knowledge(
            level, table.adversary, (theorem, evidence.get("members", ()))
        ),
    )


def _cost_of(table: LeakageReport) -> LevelAtDelta:
    """The DP level of a report's costs, at its delta where there is Gaussian noise."""
    if table.cost.rho > 0.0:
        bounds = dp_bounds(table.cost, table.delta)
        return LevelAtDelta(min(bound.epsilon for bound in bounds), table.delta)
    proof = table.best.proof
    delta = float(proof["dp_delta"]) if proof.get("way") == "stated" else 0.0
    return LevelAtDelta(UpperBound(table.cost.dp_epsilon), delta)


def of_declarations(document: Mapping[str, Any]) -> Promise:
    """The promise about a record and about groups, from what a study declares and what it costs.

    `document` is a release's certificate, or what `planned` gives before there is a certificate.
    Levels of single records are those that it states; nothing is derived again.
    """
    claim, state = document["claim"], document["data_set"]
    notion, delta = claim["notion"], _delta(claim, state)
    cost = _paid(claim, state, delta)
    group, joint = joint_level(document["population"], cost) if notion == "bdp" else (None, None)
    level = LevelAtDelta(
        UpperBound(max(float(state.get("level", 0.0)), float(claim["epsilon"]))), delta
    )
    return Promise(
        "release",
        PromiseStatus("BEFORE RELEASE"),
        notion,
        level,
        LevelAtDelta(UpperBound(float(claim["epsilon"])), delta),
        cost,
        _adversary(claim, notion),
        group=group,
        joint=no_lower(joint, level),
        unit=str(document["unit"]),
        rows_per_unit=document["rows_per_unit"],
        max_rows=document.get("max_rows"),
        balanced="balanced" in document,
        parts=(document.get("parts") or {}).get("number"),
        columns=document["columns"],
    )


def planned(plan: Plan, before: Sequence[Spend]) -> dict[str, Any]:
    """A study's declarations and its cost with earlier spends, as a certificate has them."""
    spent = total_cost([*before, *plan.spends])
    state: dict[str, Any] = {
        "dp_epsilon": spent.dp_epsilon,
        "total": plan.reading.total,
        "earlier_spends": [spend.to_dict() for spend in before],
    }
    if spent.rho > 0.0:
        state |= {"dp_rho": spent.rho, "delta": plan.reading.delta}
    if spent.dp_delta > 0.0:
        state |= {"dp_delta": spent.dp_delta}
    return plain_details(declarations(plan) | {"data_set": state})


# -- certificates -----------------------------------------------------------------------


def _of_release(document: Mapping[str, Any], status: PromiseStatus, subject: Subject) -> Promise:
    claim, state = document["claim"], document["data_set"]
    notion, population = claim["notion"], document["population"]
    steps = [document["derivation"], *document["derivation"]["premises"]]
    conclusion = steps[-1]["conclusion"]
    delta = _delta(claim, *(step["conclusion"] for step in steps), state)
    limit, cost = state.get("total"), _paid(claim, state, delta)
    adversary = _adversary(claim, notion)
    columns = document["columns"]
    places = places_of_release(state["secrets"], columns, population) if notion == "bdp" else ()
    group, joint = joint_level(population, cost) if notion == "bdp" else (None, None)
    level = LevelAtDelta(
        UpperBound(max(float(state["level"]), float(conclusion["epsilon"]))), delta
    )
    return Promise(
        subject,
        status,
        notion,
        level,
        LevelAtDelta(UpperBound(float(claim["epsilon"])), delta),
        cost,
        adversary,
        population=population if notion == "bdp" else None,
        places=places,
        outside=level_outside(population, adversary, cost) if places else None,
        group=group,
        joint=no_lower(joint, level),
        limit=None
        if limit is None
        else LevelAtDelta(UpperBound(float(limit)), max(delta, _delta(steps[0]["evidence"]))),
        counted=_counted(document, level, limit),
        earlier=len(state["earlier_spends"]),
        dataset=str(document["dataset"]),
        people=str(document.get("people") or ""),
        n=document["n"],
        unit=str(document["unit"]),
        rows_per_unit=document["rows_per_unit"],
        max_rows=document.get("max_rows"),
        balanced="balanced" in document,
        parts=(document.get("parts") or {}).get("number"),
        columns=columns,
        assumptions=tuple(document["assumptions"]),
        theorem=steps[1]["rule"] if notion == "bdp" else "",
        vague=covers_vague_knowledge(
            LevelAtDelta(UpperBound(0.0), delta),
            adversary,
            *((step["rule"], step["premises"]) for step in steps[1:]),
        ),
    )


def _counted(
    document: Mapping[str, Any], level: LevelAtDelta, total: float | None
) -> UpperBound | None:
    """The level of all releases by the ledger's count, `None` where it isn't known from here.

    With a delta a first release's own level is lower than that: its costs were fixed beforehand,
    those of a ledger may depend on earlier answers (theory 2.6).
    """
    state, step = document["data_set"], document["derivation"]
    if level.delta == 0.0 or state["earlier_spends"]:
        return level.epsilon
    delta = float(step["evidence"].get("delta") or 0.0)
    if delta == 0.0 or total is None or float(state["dp_epsilon"]) > 0.0:
        return None  # how pure spends were counted as zCDP, one by one, isn't known
    if document["claim"]["notion"] == "dp":
        paid = _dp_cost(state, delta, float(total))
        return None if paid is None else paid.epsilon
    evidence = step["premises"][0]["evidence"]
    if "cost" not in evidence or "secrets" not in evidence:
        return None
    columns = tuple(ColumnCost(**column) for column in evidence["cost"].get("by_column", ()))
    cost = Cost(**(evidence["cost"] | {"by_column": columns}))
    adversary = _adversary(document["claim"], "bdp")
    try:
        question = Question(parse(document["population"]), adversary, evidence["secrets"])
        best = report_with_delta(question, cost, delta, zcdp_cost=cost, total=float(total)).best
    except BayesdpError:
        return None
    return best.epsilon


def _of_conversion(document: Mapping[str, Any], status: PromiseStatus) -> Promise:
    claim, step, population = document["claim"], document["derivation"], document["population"]
    level = LevelAtDelta(UpperBound(float(claim["epsilon"])), _delta(claim, step["conclusion"]))
    cost = _dp_cost(claim, level.delta) or LevelAtDelta(
        UpperBound(float(claim["dp_epsilon"])), _cost_delta(claim)
    )
    adversary = _adversary(claim, claim["notion"])
    restricted = adversary != "informed" and about_intervals(step["rule"], step["premises"])
    return Promise(
        "conversion",
        status,
        claim["notion"],
        level,
        level,
        cost,
        adversary,
        population=population,
        places=places_of_conversion(population) if restricted else (),
        outside=level_outside(population, adversary, cost) if restricted else None,
        assumptions=tuple(document["assumptions"]),
        theorem=step["rule"],
        vague=covers_vague_knowledge(level, adversary, (step["rule"], step["premises"])),
    )


def _adversary(claim: Mapping[str, Any], notion: str) -> Adversary:
    """Whom the level holds against: if it is a DP level, only who knows all the other records."""
    if notion == "dp":
        return "informed"
    return ADVERSARIES[ADVERSARIES.index(claim["adversary"])]


def _delta(*parts: Mapping[str, Any]) -> float:
    """The largest delta that any of the claims states."""
    return max(float(part.get("delta") or 0.0) for part in parts)


def _dp_cost(
    spent: Mapping[str, Any], delta: float, total: float | None = None
) -> LevelAtDelta | None:
    """The DP level of everything where there is Gaussian noise in it; `None` where there is none.

    `total` is what a ledger keeps to, where costs may depend on earlier answers.
    """
    rho = float(spent.get("dp_rho") or 0.0)
    if rho == 0.0:
        return None
    rest = float_below(Fraction(delta) - Fraction(_cost_delta(spent)))
    bounds = dp_bounds(Cost.of(float(spent["dp_epsilon"]), rho=rho), rest, total=total)
    return LevelAtDelta(min(bound.epsilon for bound in bounds), delta)


def _paid(claim: Mapping[str, Any], state: Mapping[str, Any], delta: float) -> LevelAtDelta:
    """The DP level of everything that was released from a data set."""
    adaptive = state.get("total") if state["earlier_spends"] else None
    pure = LevelAtDelta(UpperBound(float(state["dp_epsilon"])), _cost_delta(claim, state))
    return _dp_cost(state, delta, adaptive) or pure


def _cost_delta(*parts: Mapping[str, Any]) -> float:
    return max(float(part.get("dp_delta") or 0.0) for part in parts)


def _spec(population: Population | None) -> dict[str, Any] | None:
    if population is None:
        return None
    try:
        return population.spec()
    except BayesdpError:  # a large matrix in memory has no spec
        return {"model": population.model, "covers": list(population.covers)}


def status_of(document: object) -> PromiseStatus:
    """The kernel's verdict on a certificate."""
    verification = check(document)
    return PromiseStatus(verification.verdict, verification.step, verification.reason)
