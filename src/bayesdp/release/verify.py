"""Re-derive a certificate: every number again, from the evidence alone, without the data.

The verdict is VALID ASSUMING (with the list of assumptions), INVALID (with the step that fails), or
UNKNOWN (a rule that this version does not know). Levels are recomputed by the same conversions that
made them, in double precision; a certificate may claim more than what comes out, never less.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from bayesdp.accounting.composition import cost_for, level, population_of
from bayesdp.accounting.spend import Reading, Spend, total_cost
from bayesdp.certificate import Certificate, Step
from bayesdp.errors import BayesdpError
from bayesdp.mechanisms.laplace import DiscreteLaplace
from bayesdp.tables.grid import Grid
from bayesdp.theorems import REGISTRY, Question, report

Verdict = Literal["VALID", "VALID ASSUMING", "INVALID", "UNKNOWN"]

_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict, what it assumes, and the step that failed (empty where none did)."""

    verdict: Verdict
    assuming: tuple[str, ...] = ()
    step: str = ""
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp verify --json` prints it."""
        plain: dict[str, Any] = {
            "verdict": self.verdict,
            "assuming": list(self.assuming),
            "step": self.step,
        }
        return plain | ({"reason": self.reason} if self.reason else {})


class _InvalidError(Exception):
    def __init__(self, step: str, reason: str) -> None:
        super().__init__(reason)
        self.step = step
        self.reason = reason


class _UnknownError(_InvalidError):
    pass


def verify(certificate: Certificate, *, intact: bool = True) -> Verification:
    """Re-derive a certificate. `intact` says whether its digest agreed."""
    try:
        if not intact:
            raise _InvalidError("digest", "the content does not agree with the digest")
        _release(certificate)
    except _UnknownError as found:
        return Verification("UNKNOWN", (), found.step, found.reason)
    except _InvalidError as found:
        return Verification("INVALID", (), found.step, found.reason)
    except (BayesdpError, KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        # Malformed content of any kind makes a certificate invalid, never the verifier fail.
        return Verification("INVALID", (), "content", f"malformed: {error!r}")
    assuming = certificate.body.get("assumptions", [])
    return Verification("VALID ASSUMING", tuple(str(one) for one in assuming))


def _require(holds: bool, step: str, reason: str) -> None:
    if not holds:
        raise _InvalidError(step, reason)


def _release(certificate: Certificate) -> None:
    root, claim = certificate.derivation, certificate.body["claim"]
    _require(
        root.rule == "release" and len(root.premises) == 1, "release", "no release at the root"
    )
    top = root.premises[0]
    notion = claim["notion"]
    _require(notion in ("dp", "bdp"), "claim", f"unknown notion {notion!r}")
    _require(root.conclusion["notion"] == notion, "release", "another notion than the claim")
    composition = top if notion == "dp" else _only(top)
    spends = _composition(composition, certificate.body)
    reached = spends_level = total_cost(spends).dp_epsilon
    _at_least(claim["dp_epsilon"], reached, "claim", "dp_epsilon")
    if notion == "bdp":
        reading = _reading(top, certificate.body)
        spends_level = _conversion(top, reading, spends, claim)
        _agree_on_population(certificate.body, top)
    else:
        reading = Reading("dp", _number(certificate.body["data_set"]["total"]))
    _at_least(root.conclusion["epsilon"], spends_level, "release", "epsilon")
    _at_least(claim["epsilon"], spends_level, "claim", "epsilon")
    _require(
        _number(claim["epsilon"]) <= _number(root.evidence["total"]),
        "release",
        "the level is above the study's budget",
    )
    _require(claim["delta"] == 0.0, "claim", "delta is not 0")
    _data_set(certificate.body, reading, spends)
    _results(certificate.body["results"], composition, certificate.body["n"])


def _only(step: Step) -> Step:
    _require(len(step.premises) == 1, step.rule, "a conversion has one premise")
    return step.premises[0]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _InvalidError("content", f"{value!r} is no finite number")
    return float(value)


def _at_least(claimed: object, derived: float, step: str, what: str) -> None:
    """A claim may be weaker than what is derived, not stronger."""
    number = _number(claimed)
    _require(
        number >= derived * (1.0 - _TOLERANCE),
        step,
        f"{what} {number:.12g} is claimed, and {derived:.12g} is what follows",
    )


# -- one rule each ----------------------------------------------------------------------


def _composition(step: Step, body: Mapping[str, Any]) -> list[Spend]:
    _require(step.rule == "sequential-composition", step.rule, "DP costs must be composed first")
    _require(bool(step.premises), step.rule, "nothing is composed")
    spends = [_query(premise, body) for premise in step.premises]
    _at_least(step.conclusion["epsilon"], total_cost(spends).dp_epsilon, step.rule, "epsilon")
    return spends


def _query(step: Step, body: Mapping[str, Any]) -> Spend:
    if step.rule != "discrete-laplace":
        raise _UnknownError(step.rule, "no rule of this name")
    evidence = step.evidence
    spend = Spend.from_dict(evidence["spend"])
    query = evidence["query"]
    where = f"discrete-laplace: {query['name']}"
    _require(query["name"] == spend.query, where, "the spend is another query's")
    _require(spend.dataset == body["dataset"], where, "the spend is another data set's")
    _require(spend.unit == body["unit"], where, "the spend protects another unit")
    sensitivity = evidence["sensitivity"]
    _require(isinstance(sensitivity, int), where, "the sensitivity is no integer")
    needed, step_length, slack = _shape_of(query, evidence, spend, where)
    _require(sensitivity >= needed, where, f"sensitivity {sensitivity} is claimed, {needed} is due")
    _require(Fraction(*evidence["step"]) == step_length, where, "the step is not the grid's")
    _at_least(spend.slack, slack, where, "slack")
    cost = DiscreteLaplace(_number(evidence["scale"])).cost(sensitivity)
    _at_least(spend.dp_epsilon, cost, where, "dp_epsilon of the spend")
    _at_least(step.conclusion["epsilon"], cost, where, "epsilon")
    _require(step.conclusion["kind"] == spend.kind, where, "the kind is not the spend's")
    return spend


def _shape_of(
    query: Mapping[str, Any], evidence: Mapping[str, Any], spend: Spend, where: str
) -> tuple[int, Fraction, float]:
    """The least sensitivity for such a query, the length of a step, and the least grid slack."""
    kind = query["kind"]
    if kind in ("sum", "mean"):
        plain = evidence["grid"]
        grid = Grid(
            _number(plain["lo"]), _number(plain["hi"]), int(plain["bits"]), bool(plain["masked"])
        )
        _require(0 <= grid.bits <= 62 and grid.lo < grid.hi, where, "no such grid")
        if spend.kind == "lipschitz":
            _require(not grid.masked, where, "a masked sum is not Lipschitz in the values")
            _require(spend.interval == (grid.lo, grid.hi), where, "the interval is not the grid's")
        needed_slack = spend.dp_epsilon * grid.slack if spend.kind == "lipschitz" else 0.0
        return grid.sensitivity, grid.step, needed_slack
    _require(kind in ("count", "proportion", "histogram"), where, f"unknown query kind {kind!r}")
    _require(spend.kind == "any", where, "a count is not Lipschitz in the values")
    return (2 if kind == "histogram" else 1), Fraction(1), 0.0


def _reading(step: Step, body: Mapping[str, Any]) -> Reading:
    evidence = step.evidence
    return Reading(
        "bdp",
        _number(body["data_set"]["total"]),
        population=evidence["population"],
        adversary=step.conclusion["adversary"],
        secrets=evidence["secrets"],
        covers=tuple(evidence["covers"]),
        independent=tuple(evidence["independent"]),
    )


def _conversion(
    step: Step, reading: Reading, spends: Sequence[Spend], claim: Mapping[str, Any]
) -> float:
    theorem = next((one for one in REGISTRY if one.name == step.rule), None)
    if theorem is None:
        raise _UnknownError(step.rule, "no theorem of this name")
    _require(claim["adversary"] == reading.adversary, "claim", "another adversary than derived")
    level(reading, spends)  # refuses columns that the reading does not speak about
    population = population_of(reading)
    question = Question(population, reading.adversary, reading.secrets)
    cost = cost_for(reading, spends)
    _require(theorem.concerns(population), step.rule, "the theorem is not about this population")
    refusal = theorem.refusal(question, cost)
    _require(refusal is None, step.rule, f"a hypothesis fails: {refusal}")
    derived = max(theorem.bound(question, cost).epsilon, cost.dp_epsilon)
    _at_least(step.conclusion["epsilon"], derived, step.rule, "epsilon")
    _secrets(claim, spends, reading, uses_interval=cost.lipschitz > 0.0)
    return derived


def _secrets(
    claim: Mapping[str, Any], spends: Sequence[Spend], reading: Reading, *, uses_interval: bool
) -> None:
    """Where a theorem needs bounded secrets, the claim must name no wider an interval."""
    from bayesdp.accounting.composition import secrets_interval

    best = report(
        Question(population_of(reading), reading.adversary, reading.secrets),
        cost_for(reading, spends),
    ).best
    if not uses_interval or "factor" not in best.evidence:
        return
    interval = secrets_interval(spends)
    stated = claim["secrets"]
    _require(
        interval is not None
        and stated.get("kind") == "bounded"
        and interval[0] <= _number(stated["interval"][0])
        and _number(stated["interval"][1]) <= interval[1],
        "claim",
        "the secrets interval is wider than the theorem allows",
    )


def _agree_on_population(body: Mapping[str, Any], step: Step) -> None:
    shown = {k: v for k, v in body["population"].items() if k not in ("source", "covers")}
    _require(shown == dict(step.evidence["population"]), "population", "two populations are named")


def _data_set(body: Mapping[str, Any], reading: Reading, spends: Sequence[Spend]) -> None:
    state = body["data_set"]
    earlier = [Spend.from_dict(one) for one in state["earlier_spends"]]
    reached = level(reading, [*earlier, *spends])
    _at_least(state["level"], reached, "data_set", "level")
    _require(
        reached <= _number(state["total"]) * (1.0 + _TOLERANCE),
        "data_set",
        "the data set's total is exceeded",
    )


def _results(results: Sequence[Mapping[str, Any]], composition: Step, n: object) -> None:
    """Each released number was noised as the derivation says, and its error is not understated."""
    queries = {step.evidence["query"]["name"]: step for step in composition.premises}
    _require(len(queries) == len(composition.premises), "results", "two queries of one name")
    for result in results:
        step = queries.get(result["query"])
        _require(step is not None, "results", f"no derivation for {result['query']!r}")
        assert step is not None
        where = f"result: {result['query']}"
        noise = result["noise"]
        _require(noise["distribution"] == "discrete-laplace", where, "another distribution")
        _require(noise["scale"] == step.evidence["scale"], where, "another noise scale")
        length = Fraction(*step.evidence["step"])
        kind = step.evidence["query"]["kind"]
        averaged = kind in ("mean", "proportion") and not (
            "by" in step.evidence["query"] or (kind == "mean" and "where" in step.evidence["query"])
        )
        if averaged and isinstance(n, int):
            length /= n
        if averaged or kind not in ("mean", "proportion"):
            _require(
                math.isclose(noise["step"], float(length), rel_tol=1e-12), where, "another step"
            )
        error = result["error"]
        due = DiscreteLaplace(noise["scale"]).quantile(error["confidence"]) * noise["step"]
        _at_least(error["value"], due, where, "error")
        _number(result["value"])
