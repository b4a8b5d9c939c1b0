"""What would help a study whose answers are too inaccurate, or whose wanted errors cost too much.

Each proposal is a change of the study file, or of how records are collected, that applies to this
study's population and queries. Its price is computed: the changed study is priced as any other.
Only changes that make an error smaller (or make possible what was refused) are proposed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from bayesdp import notebook
from bayesdp.accounting.costs.rounded import up_words
from bayesdp.errors import InputError, Refusal
from bayesdp.mechanisms import RandomizedResponse
from bayesdp.release.checking.ideas import Idea, ideas
from bayesdp.release.price.plan import CONFIDENCE, Plan, make_plan
from bayesdp.release.queries.from_spec import asked_query
from bayesdp.release.reading.consistency import consistent
from bayesdp.release.spec.column_labels import label
from bayesdp.release.spec.parts import NO_NOISE
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.queries import AVERAGES

WORTH = 0.98
"""A proposal leaves at most this share of some error."""

_SHOWN_QUERIES = 3


@dataclass(frozen=True, slots=True)
class Proposal:
    """One change, what it rests on, and its price.

    `change` says what would have to be changed, in the study file or before; `condition` what must
    be true, or what is given up. `errors` has the errors at 95 % that change, by the query's name:
    the one of the study as it is (`None` where it is refused) and the one with the change, each of
    one number, in the query's unit and rounded up; `units` says by name what they are of, such as
    `cm of the mean`.
    """

    name: str
    change: str
    condition: str
    errors: dict[str, tuple[float | None, float]]
    units: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}: {self.price()}; {self.change}; {self.condition}"

    def price(self) -> str:
        """The errors before and after, in words; of many queries, those of the first three."""
        words = [
            f"{name} +- {up_words(after)}"
            + (f" instead of {up_words(before)}" if before is not None else "")
            + (f" ({self.units[name]})" if name in self.units else "")
            for name, (before, after) in self.errors.items()
        ]
        return _listed(words)


def _listed(words: Iterable[str]) -> str:
    """The first three entries, and how many more there are."""
    listed = list(words)
    more = len(listed) - _SHOWN_QUERIES
    return "; ".join([*listed[:_SHOWN_QUERIES], *([f"and {more} more"] if more > 0 else [])])


@dataclass(frozen=True, slots=True)
class Proposals(notebook.Listing[Proposal]):
    """What would help, each change on its own; empty where nothing that bayesdp knows would."""

    rows: tuple[Proposal, ...]

    def _repr_html_(self) -> str:
        """What a notebook shows: a row for each proposal."""
        columns = ("what would help", "errors at 95 %", "what to change", "what it rests on")
        rows = [(row.name, row.price(), row.change, row.condition) for row in self.rows]
        return notebook.table("What would help, each change on its own", columns, rows)


def proposals(study: StudySpec, plan: Plan | None) -> Proposals:
    """Changes that would help, each priced on its own, without a look at the data.

    `plan` is the study's price, `None` where it is refused. The order is that of the module's list.
    """
    if study.population is None or study.budget.notion == "dp":
        return Proposals(())
    before = _errors(plan) if plan is not None else {}
    rows = [_priced(before, plan, idea) for idea in ideas(study)]
    if plan is not None:
        rows.append(_at_collection(plan, before))
    units = {
        query.name: asked_query(study, position).unit_words()
        for position, query in enumerate(study.queries)
        if query.kind not in NO_NOISE
    }
    return Proposals(tuple(replace(row, units=units) for row in rows if row is not None))


def _priced(before: dict[str, float], plan: Plan | None, idea: Idea) -> Proposal | None:
    """The proposal with its price; `None` where it has none, or doesn't help."""
    try:
        changed = consistent(idea.make())
        after = _errors_of(changed, plan)
    except (InputError, Refusal):
        return None
    idea = _with_fewest(idea, plan, set(before) or set(after))
    if plan is None:
        errors: dict[str, tuple[float | None, float]] = {
            name: (None, error) for name, error in after.items()
        }
        return Proposal(idea.name, idea.change, idea.condition, errors) if errors else None
    less = {
        name: (before[name], error)
        for name, error in after.items()
        if name in before and error != before[name]
    }
    shares = {
        query.name: 1.0 if query.kind in AVERAGES else idea.share for query in changed.queries
    }
    helps = any(error <= WORTH * old * shares[name] for name, (old, error) in less.items())
    return Proposal(idea.name, idea.change, idea.condition, dict(less)) if helps else None


def _errors_of(changed: StudySpec, plan: Plan | None) -> dict[str, float]:
    """The errors of a changed study; an `InputError` or a `Refusal` where it has no price."""
    for position, query in enumerate(changed.queries):
        if query.kind not in NO_NOISE:
            asked_query(changed, position)
    return _errors(make_plan(changed, noise=plan.noise if plan is not None else None))


def _with_fewest(idea: Idea, plan: Plan | None, names: set[str]) -> Idea:
    """The idea whose condition has the errors if it keeps as few records as can be."""
    if idea.fewest is None:
        return idea
    try:
        errors = _errors_of(consistent(idea.fewest()), plan)
    except (InputError, Refusal):
        words = "that can't be priced"
    else:
        words = _listed(f"{name} +- {up_words(errors[name])}" for name in errors if name in names)
    return replace(idea, condition=f"{idea.condition}; {idea.when}: {words}")


def _errors(plan: Plan) -> dict[str, float]:
    """The error of one number of each query, where the data are not needed to tell it."""
    known = {
        query.asked.spec.name: query.error(CONFIDENCE, query.asked.rows(plan.n))
        for query in plan.queries
    }
    return {name: error for name, error in known.items() if error is not None}


def _at_collection(plan: Plan, before: dict[str, float]) -> Proposal | None:
    """Randomized response on one column of two states, in place of noise on each count of it.

    Its cost is that of all queries together, since one set of answers serves them all. The error is
    1.96 standard deviations of the estimate, at the state for which it is larger.
    """
    study, n = plan.study, plan.n
    queries = [query.asked for query in plan.queries]
    reads = {label for query in queries for label in query.reads}
    counts = all(
        query.spec.kind in ("count", "proportion") and query.spec.tightness == "dp"
        for query in queries
    )
    if plan.programs or plan.noise != "laplace" or n is None or len(reads) != 1 or not counts:
        return None
    (column,) = [column for column in study.columns.values() if label(column) in reads]
    if len(column.levels or ()) != 2 or study.data.unit != "row":
        return None
    mechanism = RandomizedResponse.for_cost(tuple(column.levels or ()), plan.dp_epsilon)
    kept, other = 1.0 - mechanism.flip, mechanism.flip
    if kept <= other:
        return None
    deviation = math.sqrt(n * kept * other) / (kept - other)
    error = math.nextafter(1.96 * deviation, math.inf)
    errors: dict[str, tuple[float | None, float]] = {}
    for query in queries:
        name = query.spec.name
        after = error / n if query.spec.kind == "proportion" else error
        if name not in before or after >= WORTH * before[name]:
            return None
        errors[name] = (before[name], after)
    return Proposal(
        "randomized response at collection",
        f"ask each record for '{column.name}' with RandomizedResponse({list(column.levels or ())}, "
        f"flip = {mechanism.flip:.4g}), and publish the answers instead of these queries",
        "every answer is perturbed before anybody sees it, so nobody need be trusted with the "
        "table; the error is about that of the estimate from all answers",
        errors,
    )
