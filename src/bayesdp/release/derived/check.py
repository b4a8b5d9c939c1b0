"""Whether what `[[derived]]` asks can be computed from the numbers of the study's queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from bayesdp.errors import InputError, did_you_mean, first_names
from bayesdp.release.derived.numbers import EXACT, RANKED
from bayesdp.release.derived.sampling import SAMPLED
from bayesdp.release.queries.asked_query import AskedQuery
from bayesdp.release.spec.derived import DerivedSpec, OwnDerivedSpec
from bayesdp.release.spec.parts import QuerySpec
from bayesdp.release.spec.study import StudySpec

_COUNTS = ("count", "histogram")


def check_derived(study: StudySpec, asked_queries: Sequence[AskedQuery]) -> None:
    """`InputError` for what can't be computed from the study's queries.

    `asked_queries` are those of its queries that are not programs.
    """
    derived, queries, unit = study.derived, study.queries, study.data.unit
    known = {asked.spec.name: asked for asked in asked_queries}
    made = [spec.name for spec in derived]
    own = sum(isinstance(spec, OwnDerivedSpec) for spec in derived)
    for position, spec in enumerate(derived):
        key = f"derived[{position - own}]"
        if spec.kind == "quantiles":
            _require_quantiles(spec, key, known)
            continue
        for name in ("numerator", "denominator", "query"):
            if getattr(spec, name) is not None:
                _require_numbers(f"{key}.{name}", getattr(spec, name), queries, known, made)
        if spec.kind == "ratio":
            _require_ratio(spec, key, known)
        elif spec.kind == "largest":
            _require_alike(spec, key, known[spec.sources[0]])
        elif spec.kind == "sampling":
            _require_sampling(spec, key, known, study)
        else:
            _require_counts(spec, key, known[spec.sources[0]], unit)


def _require_numbers(
    key: str,
    name: str,
    queries: Sequence[QuerySpec],
    known: Mapping[str, AskedQuery],
    made: Sequence[str],
) -> None:
    """A query of the study that releases numbers with noise of their own.

    `key` is where it is named, `made` are the names of what is derived.
    """
    if name in made:
        raise InputError(
            key,
            name,
            expected="the name of a query of this study",
            remedy="That is derived itself, and its numbers have no noise of their own.",
        )
    if name not in {query.name for query in queries}:
        raise InputError(
            key,
            name,
            expected="the name of a query of this study",
            remedy=did_you_mean(name, known),
        )
    if name in known and known[name].from_data is not None:
        raise InputError(
            key,
            name,
            expected="a query whose groups are declared",
            remedy=f"Which groups '{name}' shows depends on its noise: nothing is computed from "
            "them with an error that holds.",
        )
    if name not in known or known[name].choice is not None:
        what = "a program" if name not in known else "a quantile"
        able = [other for other, asked in known.items() if asked.choice is None]
        raise InputError(
            key,
            name,
            expected="a query whose numbers have noise added to them",
            remedy=f"'{name}' is {what}. "
            + (f"Queries that have: {first_names(able)}." if able else "This study has none."),
        )


def _require_quantiles(spec: DerivedSpec, key: str, known: Mapping[str, AskedQuery]) -> None:
    """Quantiles that differ in nothing but their probability, the lowest first."""
    asked_queries = []
    for name in spec.sources:
        asked = known.get(name)
        if asked is None or asked.choice is None:
            quantiles = [other for other, asked in known.items() if asked.choice is not None]
            raise InputError(
                f"{key}.queries",
                name,
                expected="the name of a quantile of this study",
                remedy=did_you_mean(name, quantiles) if quantiles else "It has none.",
            )
        asked_queries.append(asked)
    first = _all_but_probability(asked_queries[0])
    for asked, after in pairwise(asked_queries):
        assert asked.choice is not None
        assert after.choice is not None
        same = _all_but_probability(after) == first
        if not same or after.choice.probability <= asked.choice.probability:
            raise InputError(
                f"{key}.queries",
                after.spec.name,
                expected="quantiles of the same values, candidates and groups, of increasing "
                "probability",
                remedy="Others may well be in another order.",
            )


def _all_but_probability(asked: AskedQuery) -> tuple[object, ...]:
    assert asked.choice is not None
    spec = asked.spec
    return spec.column, spec.where, spec.by, asked.choice.candidates, asked.cap


def _require_sampling(
    spec: DerivedSpec, key: str, known: Mapping[str, AskedQuery], study: StudySpec
) -> None:
    """A count, proportion or mean over rows; with its variance, and what dependence does to it."""
    assert spec.query is not None
    query = known[spec.query].spec
    if query.kind not in SAMPLED or study.data.unit != "row":
        raise InputError(
            f"{key}.query",
            spec.query,
            expected=f"a query of kind {', '.join(SAMPLED)} in a study whose records are rows",
            remedy="The sampling error of others is not known from released numbers.",
        )
    over = known.get(spec.variance or "")
    same = over is not None and (over.spec.column, over.spec.where, over.spec.by) == (
        query.column,
        query.where,
        query.by,
    )
    needed = query.kind == "mean"
    if needed and not (over is not None and over.spec.kind == "variance" and same):
        raise InputError(
            f"{key}.variance",
            spec.variance,
            shown=spec.variance is not None,
            expected=f"a query of kind variance with the column, where and by of '{spec.query}'",
            remedy="The sampling error of a mean is estimated from it: add that [[query]].",
        )
    if not needed and spec.variance is not None:
        raise InputError(
            f"{key}.variance",
            spec.variance,
            expected=f"nothing for a {query.kind}, whose variance follows from itself",
            remedy="Leave variance out.",
        )
    dependent = study.population is not None and study.population.model != "independent"
    if dependent and spec.design_effect is None:
        raise InputError(
            f"{key}.design_effect",
            expected="how many times larger the variance is than that of independent rows, since "
            "the declared records depend on each other",
            remedy="For groups of at most m related rows it is at most m.",
            shown=False,
        )


def _require_ratio(spec: DerivedSpec, key: str, known: Mapping[str, AskedQuery]) -> None:
    assert spec.numerator is not None
    assert spec.denominator is not None
    for name, query in (("numerator", spec.numerator), ("denominator", spec.denominator)):
        if known[query].spec.kind not in EXACT:
            raise InputError(
                f"{key}.{name}",
                query,
                expected=f"a query of kind {', '.join(EXACT)}",
                remedy="A variance is at least 0, so that its noise is not added to it."
                if known[query].spec.kind == "variance"
                else f"Ratios of a {known[query].spec.kind} have no interval.",
            )
    if spec.numerator == spec.denominator:
        raise InputError(
            f"{key}.denominator",
            spec.denominator,
            expected="another query than the numerator",
            remedy="Shares of a histogram are of its total: ask for a count, or a proportion.",
        )
    over, under = known[spec.numerator], known[spec.denominator]
    if len(places(under)) > 1 and places(over) != places(under):
        raise InputError(
            f"{key}.denominator",
            spec.denominator,
            expected=f"one number, or one for each group and cell of '{spec.numerator}'",
            remedy="Write the same by and the same cells in both queries.",
        )


def places(asked: AskedQuery) -> list[tuple[object, object, object]]:
    """The groups and cells of a query's numbers, with the columns of its groups."""
    by = asked.spec.by if asked.keys is not None else None
    cells = (asked.spec.column, asked.cells) if asked.cells is not None else None
    return [
        (by, group, (cells, cell))
        for group in (asked.keys or (None,))
        for cell in (asked.cells or (None,))
    ]


def _require_alike(spec: DerivedSpec, key: str, asked: AskedQuery) -> None:
    """Several numbers with the same noise, and at least so many as are wanted."""
    if asked.spec.kind not in RANKED:
        raise InputError(
            f"{key}.query",
            spec.query,
            expected=f"a query of kind {', '.join(RANKED)}",
            remedy=f"The numbers of a {asked.spec.kind} have no noise of their own in one unit.",
        )
    numbers = len(places(asked))
    if numbers < 2:
        raise InputError(
            f"{key}.query",
            spec.query,
            expected="a query of several numbers: one with by, or a histogram",
            remedy="The largest of one number is that number.",
        )
    if spec.count is not None and spec.count > numbers:
        raise InputError(
            f"{key}.count",
            spec.count,
            expected=f"at most {numbers}, the numbers of '{spec.query}'",
            remedy="Ask for fewer.",
        )
    sizes = set((asked.group_rows or {}).values())
    if asked.averaged and asked.keys is not None and len(sizes) != 1:
        raise InputError(
            f"{key}.query",
            spec.query,
            expected="numbers that have the same noise",
            remedy="Averages over groups of different sizes have not: ask for counts or sums, or "
            "state group_sizes that are all the same.",
        )


def _require_counts(spec: DerivedSpec, key: str, asked: AskedQuery, unit: str) -> None:
    """Counts that have a public total; for running sums, cells in an order."""
    if asked.spec.kind not in _COUNTS or (spec.kind == "cumulative" and not _ordered(asked)):
        wanted = (
            "a histogram of one column in an order (bins, cuts, or states that are increasing "
            "numbers), without by"
            if spec.kind == "cumulative"
            else "a query of kind count or histogram"
        )
        counted = (
            spec.kind == "cumulative" and asked.spec.kind == "count" and asked.keys is not None
        )
        raise InputError(
            f"{key}.query",
            spec.query,
            expected=wanted,
            remedy="For counts of all periods so far of a public column, ask for a query of kind "
            "'series' in place of this count."
            if counted
            else "",
        )
    every_row = asked.spec.kind == "histogram" and asked.spec.where is None and unit == "row"
    if spec.total is None and not every_row:
        raise InputError(
            f"{key}.total",
            expected=f"what the numbers of '{spec.query}' add up to, if that is public",
            remedy="It is the number of records for a histogram of all of them only, where a "
            "record is a row.",
            shown=False,
        )


def _ordered(asked: AskedQuery) -> bool:
    if asked.keys is not None or asked.cells is None or asked.column is None:
        return False
    return asked.bins is not None or asked.column.cuts is not None or _increasing(asked.cells)


def _increasing(cells: Sequence[object]) -> bool:
    """Whether the cells are numbers, each above the one before."""
    numbers = [c for c in cells if isinstance(c, int | float) and not isinstance(c, bool)]
    return len(numbers) == len(cells) and all(a < b for a, b in pairwise(numbers))
