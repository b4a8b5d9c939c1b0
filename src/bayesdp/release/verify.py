"""Re-derive a certificate: every number again, from its declarations alone, without the data.

The study is rebuilt from what the certificate declares (columns, population, queries, budget) and
asked again what each query reads, how it may change, and what that costs; nothing that a step says
about itself is believed. The verdict is VALID ASSUMING (with the list of assumptions), INVALID
(with the step that fails), or UNKNOWN (a rule that this version does not know). Levels are
recomputed by the same conversions that made them, in double precision; a certificate may claim more
than what comes out, never less.

What can't be seen without the data and the ledger: whether the numbers are those that were
released, and whether spends were left out together with all that they add up to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal

from bayesdp.accounting.composition import converted, level, population_of, secrets_needed
from bayesdp.accounting.spend import Reading, Spend, canonical_json, total_cost
from bayesdp.certificate import Certificate, Step
from bayesdp.errors import BayesdpError
from bayesdp.mechanisms.laplace import DiscreteLaplace
from bayesdp.notions import ROUNDING
from bayesdp.release.certify import assumptions, secrets_words
from bayesdp.release.plan import reading_of
from bayesdp.release.queries import Shape, label, shape
from bayesdp.release.spec import StudySpec, parse_study
from bayesdp.tables.grid import Grid, check_room
from bayesdp.theorems import REGISTRY, Question

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
    except (
        BayesdpError,
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
    ) as error:
        # Malformed content of any kind makes a certificate invalid, never the verifier fail.
        return Verification("INVALID", (), "content", f"malformed: {error!r}")
    assuming = certificate.body["assumptions"]
    return Verification("VALID ASSUMING", tuple(str(one) for one in assuming))


def _require(holds: bool, step: str, reason: str) -> None:
    if not holds:
        raise _InvalidError(step, reason)


def _release(certificate: Certificate) -> None:
    root, body = certificate.derivation, certificate.body
    claim = body["claim"]
    _require(root.rule == "release", "release", "no release at the root")
    top = _only(root)
    notion = claim["notion"]
    _require(notion in ("dp", "bdp"), "claim", f"unknown notion {notion!r}")
    _require(root.conclusion["notion"] == notion, "release", "another notion than the claim")
    composition = top if notion == "dp" else _only(top)
    _require(
        composition.rule == "sequential-composition",
        composition.rule,
        "DP costs must be composed first",
    )
    study = _study(body, root, top, composition)
    spends = _composition(composition, study)
    cost = total_cost(spends).dp_epsilon
    _at_least(claim["dp_epsilon"], cost, "claim", "dp_epsilon")
    reading = reading_of(study)
    reached = cost if notion == "dp" else _conversion(top, reading, spends)
    _at_least(root.conclusion["epsilon"], reached, "release", "epsilon")
    _claim(body, root, study, reached, spends)
    _data_set(body["data_set"], reading, spends)
    _Results(body["results"], composition, study).check()


def _only(step: Step) -> Step:
    _require(len(step.premises) == 1, step.rule, "it must have one premise")
    return step.premises[0]


def _study(body: Mapping[str, Any], root: Step, top: Step, composition: Step) -> StudySpec:
    """The study that the certificate declares; everything is derived from it again."""
    claim = body["claim"]
    _require(isinstance(body["n"], int), "n", "the number of records is no integer")
    if body["rounding"] != ROUNDING:
        raise _UnknownError("rounding", "this version rounds in another way")
    data = {key: body[key] for key in ("dataset", "unit", "n", "columns")}
    if body["rows_per_unit"] is not None:
        data["rows_per_unit"] = body["rows_per_unit"]
    budget = {
        "notion": claim["notion"],
        "epsilon": body["data_set"]["total"],
        "spend": root.evidence["total"],
    }
    if claim["notion"] == "bdp":
        budget |= {"adversary": claim["adversary"], "secrets": top.evidence["secrets"]}
    queries = []
    for step in composition.premises:
        if step.rule != "discrete-laplace":
            raise _UnknownError(step.rule, "no rule of this name")
        queries.append(step.evidence["query"])
    raw = {"data": data, "budget": budget, "query": queries}
    if body["population"] is not None:
        raw["population"] = body["population"]
    try:
        return parse_study(raw)
    except BayesdpError as error:
        raise _InvalidError("study", str(error)) from None


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


def _equal(stated: object, derived: float, step: str, what: str) -> None:
    number = _number(stated)
    _require(
        math.isclose(number, derived, rel_tol=_TOLERANCE),
        step,
        f"{what} {number:.12g} is stated, and {derived:.12g} is what follows",
    )


# -- one rule each ----------------------------------------------------------------------


def _composition(step: Step, study: StudySpec) -> list[Spend]:
    population = study.population
    if population is not None and population.structure == "all":
        _require(
            isinstance(study.data.n, int) and study.data.n <= population.table_size,
            "population",
            "it describes fewer records than there are",
        )
    spends = []
    for position, premise in enumerate(step.premises):
        try:
            asked = shape(study, position)
        except BayesdpError as error:
            raise _InvalidError(premise.rule, str(error)) from None
        spends.append(_Query(premise, asked, study).spend())
    _at_least(step.conclusion["epsilon"], total_cost(spends).dp_epsilon, step.rule, "epsilon")
    _require(step.conclusion["notion"] == "dp", step.rule, "costs are composed under DP only")
    _require(
        step.evidence["adjacency"] == "replace one record", step.rule, "another adjacency than ours"
    )
    return spends


class _Query:
    """One noisy query: its sensitivity, grid and cost again, from its shape."""

    def __init__(self, step: Step, asked: Shape, study: StudySpec) -> None:
        self.step, self.shape, self.study = step, asked, study
        self.where = f"discrete-laplace: {asked.spec.name}"
        self.rows_per_record = study.data.rows_per_unit or 1
        assert isinstance(study.data.n, int)
        self.rows = study.data.n * self.rows_per_record

    def require(self, holds: bool, reason: str) -> None:
        _require(holds, self.where, reason)

    def spend(self) -> Spend:
        evidence, conclusion = self.step.evidence, self.step.conclusion
        spend = Spend.from_dict(evidence["spend"])
        grid = self.grid()
        sensitivity = evidence["sensitivity"]
        self.require(
            isinstance(sensitivity, int) and not isinstance(sensitivity, bool),
            "the sensitivity is no integer",
        )
        due = self.sensitivity(grid)
        self.require(sensitivity >= due, f"sensitivity {sensitivity} is claimed, {due} is due")
        step = grid.step if grid is not None else Fraction(1)
        self.require(Fraction(*evidence["step"]) == step, "the step is not the grid's")
        cost = DiscreteLaplace(_number(evidence["scale"])).cost(sensitivity)
        _at_least(spend.dp_epsilon, cost, self.where, "dp_epsilon of the spend")
        _at_least(conclusion["epsilon"], cost, self.where, "epsilon")
        self.require(conclusion["notion"] == "dp", "another notion than DP")
        self.require(conclusion["kind"] == self.shape.kind, "another kind of mechanism")
        self.agree(spend, grid)
        largest = 2**grid.bits * self.rows if grid is not None else self.rows
        check_room(largest, sensitivity, spend.dp_epsilon)
        return spend

    def agree(self, spend: Spend, grid: Grid | None) -> None:
        """What the ledger was told is what the query is."""
        column, data = self.shape.column, self.study.data
        lipschitz = self.shape.kind == "lipschitz"
        bounds = column.bounds if lipschitz and column is not None else None
        told = {
            "query": (spend.query, self.shape.spec.name),
            "data set": (spend.dataset, data.dataset),
            "protected unit": (spend.unit, data.unit),
            "kind": (spend.kind, self.shape.kind),
            "column": (spend.column, label(column) if column is not None else None),
            "interval": (spend.interval, bounds),
            "columns read": (spend.reads, tuple(sorted(set(self.shape.reads)))),
            "mechanism": (spend.mechanism, "discrete-laplace"),
        }
        for what, (stated, derived) in told.items():
            self.require(stated == derived, f"the spend's {what}: {stated!r}, not {derived!r}")
        if lipschitz and grid is not None:
            _at_least(spend.slack, spend.dp_epsilon * grid.slack, self.where, "slack")

    def grid(self) -> Grid | None:
        if self.shape.integer_valued:
            return None
        plain, column = self.step.evidence["grid"], self.shape.column
        bits, masked = plain["bits"], plain["masked"]
        self.require(
            isinstance(bits, int) and 0 <= bits <= 62 and isinstance(masked, bool), "no such grid"
        )
        grid = Grid(_number(plain["lo"]), _number(plain["hi"]), bits, masked)
        self.require(
            column is not None and column.bounds == (grid.lo, grid.hi),
            "the grid's bounds are not the column's",
        )
        self.require(masked == self.shape.masked, "the grid is anchored at the wrong place")
        return grid

    def sensitivity(self, grid: Grid | None) -> int:
        """The most that replacing one record moves the integers, in l1."""
        cells = 2 if self.shape.cells is not None else 1
        return self.rows_per_record * (grid.sensitivity if grid is not None else cells)


def _conversion(step: Step, reading: Reading, spends: Sequence[Spend]) -> float:
    theorem = next((one for one in REGISTRY if one.name == step.rule), None)
    if theorem is None:
        raise _UnknownError(step.rule, "no theorem of this name")
    evidence = step.evidence
    _require(step.conclusion["notion"] == "bdp", step.rule, "another notion than BDP")
    _require(
        step.conclusion["adversary"] == reading.adversary, step.rule, "another adversary than due"
    )
    told = {
        "population": (evidence["population"], reading.population),
        "covers": (sorted(evidence["covers"]), sorted(reading.covers)),
        "independent": (sorted(evidence["independent"]), sorted(reading.independent)),
    }
    for what, (stated, due) in told.items():
        _require(
            canonical_json(stated) == canonical_json(due),
            step.rule,
            f"{what} is not what the certificate declares",
        )
    found = converted(reading, spends)  # refuses columns that the reading does not speak about
    population = population_of(reading)
    question = Question(population, reading.adversary, reading.secrets)
    _require(theorem.concerns(population), step.rule, "the theorem is not about this population")
    refusal = theorem.refusal(question, found.cost)
    _require(refusal is None, step.rule, f"a hypothesis fails: {refusal}")
    bound = theorem.bound(question, found.cost)
    for part in ("any", "lipschitz", "slack"):
        _equal(evidence["cost"][part], getattr(found.cost, part), step.rule, f"cost: {part}")
    _require(
        list(evidence["cost"]["by_column"]) == [asdict(one) for one in found.cost.by_column],
        step.rule,
        "cost: by_column",
    )
    _require(
        (evidence["tight"], evidence["source"]) == (bound.tight, bound.source),
        step.rule,
        "not what this theorem says of itself",
    )
    derived = max(bound.epsilon, found.cost.dp_epsilon)
    _at_least(step.conclusion["epsilon"], derived, step.rule, "epsilon")
    return derived


def _claim(
    body: Mapping[str, Any], root: Step, study: StudySpec, reached: float, spends: Sequence[Spend]
) -> None:
    claim, reading = body["claim"], reading_of(study)
    _at_least(claim["epsilon"], reached, "claim", "epsilon")
    _require(
        _number(claim["epsilon"]) <= _number(root.evidence["total"]),
        "claim",
        "the level is above the study's budget",
    )
    _require(claim["delta"] == 0.0, "claim", "delta is not 0")
    interval = secrets_needed(reading, spends)
    if reading.notion == "bdp":
        _require(claim["scope"] == "the declared population", "claim", "another scope than proven")
        _require(
            claim["secrets"] == secrets_words(interval),
            "claim",
            "other secret values than those that the theorem speaks about",
        )
    missing = [
        said for said in assumptions(study, reading, interval) if said not in body["assumptions"]
    ]
    _require(not missing, "assumptions", f"not stated: {'; '.join(missing)}")


def _data_set(state: Mapping[str, Any], reading: Reading, spends: Sequence[Spend]) -> None:
    """What all releases of the data set add up to, as far as the certificate tells of them."""
    together = [*(Spend.from_dict(one) for one in state["earlier_spends"]), *spends]
    reached = level(reading, together)
    _equal(state["level"], reached, "data_set", "level")
    _equal(state["dp_epsilon"], total_cost(together).dp_epsilon, "data_set", "dp_epsilon")
    _require(
        state["secrets"] == secrets_words(secrets_needed(reading, together)),
        "data_set",
        "other secret values than those that the theorem speaks about",
    )
    _require(
        reached <= _number(state["total"]) * (1.0 + _TOLERANCE),
        "data_set",
        "the data set's total is exceeded",
    )


class _Results:
    """Each released number was noised as the derivation says; no error is understated."""

    def __init__(
        self, results: Sequence[Mapping[str, Any]], composition: Step, study: StudySpec
    ) -> None:
        self.results = results
        self.steps = composition.premises
        self.study = study

    def check(self) -> None:
        due = []
        for position, step in enumerate(self.steps):
            asked = shape(self.study, position)
            keys = asked.keys if asked.keys is not None else (None,)
            cells = asked.cells if asked.cells is not None else (None,)
            due += [(step, asked, key, cell) for key in keys for cell in cells]
        _require(len(due) == len(self.results), "results", "not as many as were asked for")
        sizes: dict[str, int] = {}
        for result, (step, asked, key, cell) in zip(self.results, due, strict=True):
            where = f"result: {asked.spec.name}"
            named = (asked.spec.name, asked.spec.kind, key, cell)
            found = tuple(result.get(name) for name in ("query", "kind", "group", "cell"))
            _require(found == named, where, f"{found!r} stands where {named!r} is due")
            _number(result["value"])
            _at_least(result["dp_epsilon"], step.conclusion["epsilon"], where, "dp_epsilon")
            self._noise(result, step, where)
            if "rows" in result:
                sizes[asked.spec.name] = sizes.get(asked.spec.name, 0) + result["rows"]
        for _, asked, _, _ in due:
            if asked.spec.name in sizes:
                self._sizes(asked, sizes[asked.spec.name])

    def _noise(self, result: Mapping[str, Any], step: Step, where: str) -> None:
        noise, error = result["noise"], result["error"]
        _require(noise["distribution"] == "discrete-laplace", where, "another distribution")
        _require(noise["scale"] == step.evidence["scale"], where, "another noise scale")
        length = Fraction(*step.evidence["step"])
        averaged = result["kind"] in ("mean", "proportion")
        _require(("rows" in result) == averaged, where, "rows belong to averages")
        if averaged:
            _require(isinstance(result["rows"], int), where, "rows are no integer")
            length /= result["rows"]
        _require(noise["step"] == float(length), where, "another step")
        due = DiscreteLaplace(noise["scale"]).quantile(error["confidence"]) * noise["step"]
        _at_least(error["value"], due, where, "error")

    def _sizes(self, asked: Shape, total: int) -> None:
        """The rows of an average: all of them, unless a public condition leaves some out."""
        n = self.study.data.n
        assert isinstance(n, int)
        some = asked.spec.kind == "mean" and asked.predicate is not None
        _require(
            0 < total <= n if some else total == n,
            f"result: {asked.spec.name}",
            f"averages over {total} rows of {n}",
        )
