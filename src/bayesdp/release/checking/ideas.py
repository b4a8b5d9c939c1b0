"""The ideas behind proposals: each a change of the study, what it costs people, what it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from bayesdp.errors import first_names, toml_key, toml_text
from bayesdp.populations import (
    Autoregressive,
    Clusters,
    Gaussian,
    MarkovChain,
    Population,
    Tree,
    Unknown,
    parse,
)
from bayesdp.populations.gaussian import MOST_EQUAL
from bayesdp.release.queries.from_spec import asked_query
from bayesdp.release.spec.parts import NO_NOISE
from bayesdp.release.spec.study import FROM_DATA, StudySpec
from bayesdp.statements.base import exact_text
from bayesdp.statements.queries import SUMMED
from bayesdp.theorems.advice import ASSUMED_CLUSTER, ASSUMED_CORRELATION, middle

_SHOWN_STATES = 3


@dataclass(frozen=True, slots=True)
class Idea:
    """A changed study, in words and as it would be priced.

    `share` is the share of the records that it keeps: a count or sum of half of the records has to
    have half of the error to tell as much. Where it may keep fewer, `fewest` is the study with as
    few as can be, and `when` says in words when that is so.
    """

    name: str
    change: str
    condition: str
    make: Callable[[], StudySpec]
    share: float = 1.0
    fewest: Callable[[], StudySpec] | None = None
    when: str = ""


def ideas(study: StudySpec) -> Iterator[Idea]:
    """The changes that apply to the study's population and queries."""
    population = study.population
    assert population is not None
    yield from _coarser_periods(study, population)
    yield from _capped_clusters(study, population)
    yield from _narrower_bounds(study)
    yield from _smooth_alone(study, population)
    yield from _public_sample(study, population)
    yield from _weaker_adversary(study, population)


def _with(study: StudySpec, population: Population, n: int | str | None = None) -> StudySpec:
    """The study about another population, covering the same columns, and so many records.

    Groups whose sizes are declared keep the same share of their rows as all records do.
    """
    assert study.population is not None
    covering = population.model_copy(update={"covers": study.population.covers})
    data, queries = study.data, study.queries
    if isinstance(n, int) and isinstance(data.n, int):
        sizes = [_shared(query.group_sizes, n, data.n) for query in queries]
        queries = tuple(
            query.model_copy(update={"group_sizes": kept})
            for query, kept in zip(queries, sizes, strict=True)
        )
        data = data.model_copy(update={"n": n})
    return study.model_copy(
        update={"population": covering, "data": data, "queries": queries, "stress": ()}
    )


def _shared(sizes: dict[str, int] | None, n: int, records: int) -> dict[str, int] | None:
    """The sizes of groups of `n` records, in the proportions of those of `records`."""
    if sizes is None:
        return None
    total = sum(sizes.values()) * n // records
    kept = {name: size * n // records for name, size in sizes.items()}
    left = total - sum(kept.values())
    largest = sorted(sizes, key=lambda name: sizes[name] * n % records, reverse=True)
    return {name: size + (name in largest[:left]) for name, size in kept.items()}


def _records_kept(study: StudySpec, part: int, whole: int) -> int | None:
    """The least number of records that are left of `whole` in each group when `part` are kept."""
    n = study.data.n
    return None if n == FROM_DATA else -(-int(n) * part // whole)


def _kept_words(study: StudySpec, priced: str) -> str:
    """What has to be declared of the records that are kept, and for how many it is priced."""
    if study.data.n == FROM_DATA:
        return ""
    sizes = any(query.group_sizes is not None for query in study.queries)
    return f", data.n{' and group_sizes' * sizes} = the records that are kept ({priced})"


_OF_THE_KEPT = "counts and sums are then of the records that are kept"


def _coarser_periods(study: StudySpec, population: Population) -> Iterator[Idea]:
    """Every second record of each series: what lies between is summed out."""
    if not isinstance(population, MarkovChain | Autoregressive) or population.length < 2:
        return
    length, n = -(-population.length // 2), _records_kept(study, 1, 2)
    if isinstance(population, Autoregressive):
        coefficient = population.coefficient**2
        law = f"population.coefficient = {coefficient:.12g}"

        def coarser() -> Population:
            return Autoregressive(coefficient=coefficient, length=length)

    elif population.order == 1 and population.transition is not None:
        import numpy as np

        square = np.linalg.matrix_power(np.asarray(population.transition), 2)
        rows = np.round(square, 6).tolist()
        shown = rows if len(rows) <= _SHOWN_STATES else "the square of the declared matrix"
        law = f"population.transition = {shown}"
        initial, complete = population.initial, population.complete

        def coarser() -> Population:  # none where every second record never changes
            return MarkovChain(transition=square, initial=initial, length=length, complete=complete)

    else:
        return
    yield Idea(
        "coarser periods",
        f"keep every second record of each series: twice the step of the order column, {law}, "
        f"population.length = {length}{_kept_words(study, f'priced for the least, {n}')}",
        f"the records in between are not counted; {_OF_THE_KEPT}",
        lambda: _with(study, coarser(), n),
        0.5,
    )


def _capped_clusters(study: StudySpec, population: Population) -> Iterator[Idea]:
    by_bound = isinstance(population, Gaussian) and (
        population.max_correlation is not None or population.max_regression_sum is not None
    )
    if not (isinstance(population, Clusters) or by_bound) or population.group_size < 3:
        return  # capped to one record, nothing of a cluster is left
    size = population.group_size
    most = -(-size // 2)
    fewest, n = _records_kept(study, most, size), study.data.n
    kept = n
    if n != FROM_DATA and fewest is not None:
        # A cap that removes nothing would be a smaller declared size: one cluster at least is full.
        kept = min(max(fewest, int(n) - (size - most)), _clusters(study) * most)
    smaller: Population = Clusters(size=most)
    if isinstance(population, Gaussian):
        smaller = population.model_copy(update={"size": most})
    declared = _kept_words(study, f"at least {fewest}; priced for the most, {kept}")
    yield Idea(
        "capped clusters",
        f"keep at most {most} records of each cluster: population.size = {most}{declared}",
        "it pays where few clusters are larger (where none is, declare the smaller size instead), "
        "and gains less with every record that goes; which ones are kept must not depend on their "
        f"private values; {_OF_THE_KEPT}",
        lambda: _with(study, smaller, kept),
        1.0 if n == FROM_DATA else int(kept) / int(n),
        None if fewest is None else lambda: _with(study, smaller, fewest),
        "if all clusters are full",
    )


def _clusters(study: StudySpec) -> int:
    """How many clusters there can be: the values of their column, or else one for each record."""
    named = [column.levels for column in study.columns.values() if column.role == "cluster"]
    return len(named[0]) if named and named[0] else int(study.data.n)


def _narrower_bounds(study: StudySpec) -> Iterator[Idea]:
    """The middle half of the bounds of each column that is summed or averaged."""
    summed = [query.column for query in study.queries if query.kind in SUMMED]
    for name in dict.fromkeys(summed):
        column = study.columns.get(name) if isinstance(name, str) else None
        if column is None or column.bounds is None or column.is_derived:
            continue
        low, high = column.bounds
        if column.is_date or column.is_duration:  # whose bounds are texts
            continue
        declared = f"[{exact_text(low)}, {exact_text(high)}]"
        bounds = (low + (high - low) / 4.0, high - (high - low) / 4.0)
        narrower = column.model_copy(update={"bounds": bounds})
        columns = study.columns | {column.name: narrower}
        yield Idea(
            "a narrower secrets interval",
            f"data.columns.{toml_key(name)}.bounds = [{exact_text(bounds[0])}, "
            f"{exact_text(bounds[1])}] instead of {declared}",
            "values outside are clipped, which shifts the answer if there are many of them; a "
            "level that rests on bounded secrets then speaks of values in the narrower interval",
            partial(study.model_copy, update={"columns": columns, "stress": ()}),
        )


def _smooth_alone(study: StudySpec, population: Population) -> Iterator[Idea]:
    """Sums and means of a Gaussian law without the queries that jump, which cost far more."""
    if not isinstance(population, Gaussian | Autoregressive):
        return
    smooth = {
        position
        for position, query in enumerate(study.queries)
        if query.kind not in NO_NOISE and asked_query(study, position).kind == "lipschitz"
    }
    others = [q.name for position, q in enumerate(study.queries) if position not in smooth]
    if not smooth or not others:
        return
    kept = tuple(study.queries[position] for position in sorted(smooth))
    named = first_names([f"'{name}'" for name in others])
    yield Idea(
        "sums and means alone",
        f"leave {named} out of this study",
        "they jump where a value moves, and cost as if nothing but the size of groups were known; "
        "released before or after, they count in the same total of the data set",
        lambda: study.model_copy(update={"queries": kept, "stress": ()}),
    )


def _declared(study: StudySpec, keys: str) -> str:
    """A population with these keys that covers what the study's covers, as a line of TOML."""
    assert study.population is not None
    covers = ", ".join(map(toml_text, study.population.covers))
    return (
        "at the top of the file, in the place of [population]: population = "
        f"{{ {keys}, covers = [{covers}] }}"
    )


def _equal_correlations(study: StudySpec, size: int, rho: float) -> Idea:
    declared = {"model": "gaussian", "size": size, "correlation": rho}
    return Idea(
        "one correlation for all",
        _declared(study, f'model = "gaussian", size = {size}, correlation = {rho:.12g}'),
        "only if the records of a cluster have equal variances, and each two of them exactly this "
        "correlation",
        lambda: _with(study, parse(declared)),
    )


def _public_sample(study: StudySpec, population: Population) -> Iterator[Idea]:
    """A law that a public or past sample may show, for those that leave much open."""
    name = "a public sample to learn the correlation"
    condition = "only if a public or past sample of such records shows it"
    if isinstance(population, Unknown) and population.records > ASSUMED_CLUSTER:
        yield Idea(
            "knowing who depends on whom",
            _declared(study, f'model = "clusters", size = {ASSUMED_CLUSTER}')
            + ', and a column of role "cluster"',
            f"only if records depend on each other in clusters of at most {ASSUMED_CLUSTER}",
            lambda: _in_clusters(study),
        )
    elif isinstance(population, Clusters) and population.size > 1:
        size, rho = population.size, ASSUMED_CORRELATION
        yield Idea(
            name,
            _declared(study, f'model = "gaussian", size = {size}, max_correlation = {rho:g}'),
            f"{condition}: jointly Gaussian with equal variances, no correlation above {rho:g}",
            lambda: _with(study, Gaussian(size=size, max_correlation=rho)),
        )
    elif isinstance(population, Gaussian) and population.max_correlation:
        size, rho = population.group_size, population.max_correlation
        if 2 <= size <= MOST_EQUAL:
            yield _equal_correlations(study, size, rho)
        rho /= 2.0
        yield Idea(
            name,
            f"population.max_correlation = {rho:.12g} instead of {population.max_correlation:.12g}",
            f"{condition}: no correlation above {rho:.12g}",
            lambda: _with(study, Gaussian(size=size, max_correlation=rho)),
        )
    elif isinstance(population, MarkovChain) and population.transition is None:
        chain = population
        yield Idea(
            "a public sample to learn the transitions",
            "population.transition in place of its bounds (priced for their middle)",
            f"{condition}",
            lambda: _with(study, middle(chain)),
        )


def _in_clusters(study: StudySpec) -> StudySpec:
    """The study with clusters, and a column that says who is in which, if it has none."""
    changed = _with(study, Clusters(size=ASSUMED_CLUSTER))
    if any(column.role == "cluster" for column in study.columns.values()):
        return changed
    from bayesdp.tables.columns.declarations import parse_columns

    name = "cluster"
    while name in study.columns:
        name += " of records"
    columns = study.columns | parse_columns({name: {"role": "cluster"}})
    return changed.model_copy(update={"columns": columns})


def _weaker_adversary(study: StudySpec, population: Population) -> Iterator[Idea]:
    """Only where the theorems treat this class on its own, and never the informed one.

    Against an informed adversary the level is the DP cost, whatever is declared: to name that class
    would hide the dependence and not lessen what is learned.
    """
    if study.budget.adversary != "any" or not isinstance(population, MarkovChain | Tree):
        return
    budget = study.budget.model_copy(update={"adversary": "uninformed"})
    yield Idea(
        "a weaker adversary class",
        'budget.adversary = "uninformed" instead of "any"',
        "only if nobody who may attack knows any of the other records; relatives, and people about "
        "their own other records, do",
        lambda: study.model_copy(update={"budget": budget, "stress": ()}),
    )
