"""What a check says of a study, before any data are read."""

from __future__ import annotations

from dataclasses import dataclass

from bayesdp import notebook
from bayesdp.accounting.accounts.account import Preview
from bayesdp.accounting.costs.rounded import up_words
from bayesdp.numbers import float_above, shortest
from bayesdp.populations import Family, Population
from bayesdp.populations.base import NO_ALLOWANCE
from bayesdp.release.checking.usefulness import inaccurate, useless
from bayesdp.release.drawing.repeats import Released, repeat_words
from bayesdp.release.price.plan import Plan, PlannedQuery
from bayesdp.release.queries.asked_query import cells_sentences
from bayesdp.release.queries.collected import PlannedCollected
from bayesdp.release.reading.wide_tables import wide_warnings
from bayesdp.release.results.found_groups import found_sentence
from bayesdp.release.words import confidence_words, cost_words
from bayesdp.statements.base import exact_text
from bayesdp.tables.refusals import counted
from bayesdp.theorems.zeros import zeros_hint


@dataclass(frozen=True, slots=True)
class Check:
    """The answer of `Study.check`: the priced plan, and what a release would do to the budget."""

    plan: Plan
    preview: Preview
    released: tuple[Released, ...] = ()
    """Earlier releases of the same study, oldest first; none in a sweep."""

    def __repr__(self) -> str:
        count = len(self.plan.queries) + len(self.plan.collected) + len(self.plan.programs)
        return f"Check({counted(count, 'query', 'queries')}, {self._together()})"

    def __str__(self) -> str:
        queries = map(self._query, self.plan.queries)
        programs = map(str, (*self.plan.collected, *self.plan.programs))
        shown = [*queries, *self.groups_and_cells(), *programs, self._together()]
        return "\n".join([*filter(None, [self.repeat]), *shown, *self._remarks()])

    def _repr_html_(self) -> str:
        """What a notebook shows: the price list, and what it comes to."""
        rows: list[tuple[str, ...]] = [self._row(query) for query in self.plan.queries]
        rows += [_collected(query, self.plan.n) for query in self.plan.collected]
        rows += [(program.spec.name, "", program.cost_words()) for program in self.plan.programs]
        prices = notebook.table("Before the release", ("query", "error", "cost"), rows)
        said = [*self.groups_and_cells(), self._together(), *self._remarks()]
        said += filter(None, [self.repeat])
        return prices + "".join(map(notebook.paragraph, said))

    def groups_and_cells(self) -> list[str]:
        """Sentences about queries: sizes of groups, cells, ranks, and what is derived from them."""
        queries = self.plan.queries
        errors = [
            sentence
            for query in queries
            for sentence in (_by_group(query), _as_share(query, self.plan.n))
            if sentence
        ]
        derived = [
            f"{spec.name}: {spec.words()}, at no cost ({spec.kind})."
            for spec in self.plan.study.derived
        ]
        thresholds = filter(None, map(found_sentence, queries))
        return [*errors, *cells_sentences(query.asked for query in queries), *thresholds, *derived]

    @property
    def repeat(self) -> str:
        """That this very study was released before, and what a repeat costs; else empty."""
        return repeat_words(self.released, self.plan)

    @property
    def warnings(self) -> list[str]:
        """Warnings about what the study's author may not have meant."""
        return plan_warnings(self.plan)

    @property
    def inaccurate(self) -> list[str]:
        """The queries whose error is large for what they can answer: more than a tenth of it."""
        return inaccurate(self.plan)

    def _remarks(self) -> list[str]:
        return [*self.plan.remarks, *self.warnings]

    def _query(self, query: PlannedQuery) -> str:
        return f"{self._row(query)[0]}: {', '.join(self._row(query)[1:])}"

    def _row(self, query: PlannedQuery) -> tuple[str, str, str]:
        """The name of a query, its error and its cost."""
        cost = cost_words(query.dp_epsilon, query.dp_rho)
        error = f"+- {self.error(query)} ({confidence_words(query.confidence)})"
        return query.asked.spec.name, error, cost

    def error(self, query: PlannedQuery) -> str:
        """The error of one number of a query at its confidence, rounded up, with its unit.

        It is divided by the number of rows where only the data tell that, and that of the smallest
        group where groups have sizes.
        """
        error = query.wanted_error(self.plan.n)
        if query.asked.choice is not None:
            return f"{up_words(error or 0.0)} ranks"
        of_one = query.error(query.confidence, 1)
        shown = (
            "?"
            if of_one is None
            else f"{up_words(of_one)} / rows"
            if error is None
            else up_words(error)
        )
        return f"{shown} {query.asked.unit}".rstrip()

    def _together(self) -> str:
        plan = self.plan
        level = f"{plan.reading.notion.upper()} level {up_words(plan.level)}"
        level += f" of {exact_text(plan.target)}"
        delta = f" at delta {exact_text(plan.delta)}" if plan.delta > 0.0 else ""
        fits = "it fits" if self.preview.refusal is None else "it does not fit"
        return f"{cost_words(plan.dp_epsilon, plan.dp_rho)}, {level}{delta}: {fits}"


def _collected(query: PlannedCollected, n: int | None) -> tuple[str, str, str]:
    """The name of a query of perturbed answers, about its error, and its cost."""
    error = query.error(n)
    shown = "" if error is None else f"about +- {up_words(error)}"
    return query.spec.name, shown, f"{cost_words(query.dp_epsilon, 0.0)}, at collection"


def plan_warnings(plan: Plan) -> list[str]:
    """Warnings about what the study's author may not have meant, at a check and at a release."""
    study = plan.study
    warnings = [*wide_warnings(study), *_about_estimates(study.population)]
    best = plan.report.best.theorem if plan.report is not None else "none"
    warnings += filter(None, [zeros_hint(study.population, best)])
    return [*warnings, *useless(plan)]


def _by_group(query: PlannedQuery) -> str:
    """The error in each group of known size."""
    if query.asked.group_rows is None:
        return ""
    errors = ", ".join(
        f"{group} {up_words(error)}"
        for group, error in query.group_errors(query.confidence).items()
        if error is not None
    )
    unit = f" {query.asked.unit}" if query.asked.unit else ""
    return f"{query.name}, error in each group: {errors}{unit}."


def _as_share(query: PlannedQuery, n: int | None) -> str:
    """The error of a quantile's rank as a share of the rows, where their number is public."""
    spec, rows = query.asked.spec, query.asked.rows(n)
    every_row = spec.where is None and spec.by is None
    if query.asked.choice is None or rows is None or not every_row or query.asked.masked:
        return ""
    exact = query.noise.quantile(query.confidence) * query.step / rows
    nearest = float(exact)  # the decimal that it is shown as may be the share itself
    if exact >= query.asked.choice.largest_error:
        return ""
    share = nearest if shortest(nearest) >= exact else float_above(exact)
    return (
        f"{query.name}: the rank is off by at most {up_words(share)} of all rows "
        f"({confidence_words(query.confidence)})."
    )


def _about_estimates(population: Population | None) -> list[str]:
    """A warning where a population that was fitted holds no more than the estimate."""
    members = population.members if isinstance(population, Family) else ()
    if not any(p is not None and NO_ALLOWANCE in p.source for p in (population, *members)):
        return []
    return [
        f"The population is an estimate {NO_ALLOWANCE}, as its source says: the level is about the "
        "estimate, and the law that the data came from may have a higher one."
    ]
