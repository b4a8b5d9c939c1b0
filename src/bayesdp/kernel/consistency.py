"""Whether the parts of what a certificate declares can all be so.

They are held against each other: the unit, the roles of columns, the states that a population has,
and how many records it can describe.
"""

from __future__ import annotations

import math
from datetime import datetime
from fractions import Fraction

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, require
from bayesdp.kernel.models.populations import group_size, records_described
from bayesdp.kernel.reading import as_invalid, check_condition, members_of
from bayesdp.statements import (
    chains,
    column_sets,
    columns,
    graphs,
    networks,
    panels,
    populations,
    queries,
    tables,
    times,
)
from bayesdp.statements.certificates import ReleaseCertificate
from bayesdp.statements.columns import Columns
from bayesdp.statements.populations import Population, Single
from bayesdp.statements.queries import Query

OF_ANY_LAW = ("independent", "clusters", "unknown")
"""Models that say nothing of a record's values: it may be several rows."""


def check_query(query: Query, declared: Columns) -> None:
    """`InvalidError` unless the query is of columns that are declared."""
    if not isinstance(query, queries.ProgramQuery):
        for name in query.columns:
            require(name in declared, f"column {name!r} is not declared", query.name)
    if isinstance(query, queries.TableQuery | queries.FoundGroupsQuery):
        if query.where is not None:
            operands = {name: column_sets.operand(column) for name, column in declared.items()}
            check_condition(query.where, operands, query.name)
        if isinstance(query, queries.TableQuery) and query.bins is not None:
            binned = declared[queries.column_names(query.column)[0]]
            require(
                isinstance(binned, columns.Numeric),
                "its bins are of a column that has no bounds",
                query.name,
            )
            assert isinstance(binned, columns.Numeric)
            low, high = binned.bounds
            reached = low < query.bins[-1] and query.bins[0] <= high
            require(reached, "no value between the bounds reaches its bins", query.name)


def check_together(
    stated: ReleaseCertificate, population: Population | None, declared: Columns
) -> None:
    """`InvalidError` unless unit, roles, columns, population and number of records go together."""
    unit = stated.unit
    if unit != "row":
        known = unit in declared and not declared[unit].is_private
        require(known, "a record's column is not a declared public one", "unit")
        states = declared[unit].levels
        room = states is None or stated.n <= len(states)
        require(room, "there are more records than its column has values", "unit")
    if stated.people is not None:
        roles = {getattr(column, "role", None) for column in declared.values()}
        events = unit == "row" and not roles.isdisjoint(("series", "order"))
        require(not events, "records are rows of series, but people have one record each", "people")
    if population is None:
        return
    if stated.people is not None:
        of_all = population.model in populations.OF_PEOPLE
        require(of_all, "the population is of one table, but people are in several", "people")
    if stated.rows_per_record > 1 or stated.max_rows is not None:
        several = all(member.model in OF_ANY_LAW for member in members_of(population))
        reason = "the model has one value for each record, but records have several rows"
        require(several, reason, "unit")
    _check_covers(population, declared)
    _check_roles(population, declared)
    _check_size(stated, population, declared)


def _check_covers(population: Population, declared: Columns) -> None:
    """A population covers private columns, of as many states together as its records have."""
    for name in population.covers:
        require(name in declared, f"column {name!r} is not declared", "covers")
        plain = declared[name].is_private and not declared[name].independent
        require(plain, f"{name!r} is public, or independent of the others", "covers")
    if not population.covers:
        return
    if any(member.model in ("gaussian", "autoregressive") for member in members_of(population)):
        numbers = all(isinstance(declared[name], columns.Numeric) for name in population.covers)
        require(numbers, "the law is Gaussian, but a column that it covers has no bounds", "covers")
    covered = math.prod(len(declared[name].levels or ()) for name in population.covers)
    for member in members_of(population):
        values = _values(member)
        require(values in (None, covered), "they have states that the model doesn't have", "covers")
        if values is not None:
            with as_invalid():
                column_sets.check_law(population.covers, declared, "covers")


def _values(population: Single) -> int | None:
    """How many values each record has, at least 1; `None` where the model declares no law of them.

    `InvalidError` where records differ: one column's states are the same for all.
    """
    if isinstance(population, chains.MarkovIntervals):
        return len(population.transition_lower)
    if isinstance(population, chains.MarkovChain):
        return len(population.transition)
    if isinstance(population, graphs.Finite):
        sizes = set(tables.shape(population.probabilities))
    elif isinstance(population, networks.NetworkFile):
        raise UnknownError("the network is in a file that the kernel does not read", "covers")
    elif isinstance(population, networks.Tree | networks.NetworkNodes):
        sizes = {node.values for node in population.nodes}
    elif isinstance(population, graphs.GraphFactors):
        states = population.states
        sizes = {states} if isinstance(states, int) else set(states)
    elif isinstance(population, graphs.GraphEdges | graphs.GraphGrid):
        sizes = {len(population.table)}
    else:
        return None
    reason = "records have different numbers of states, but a column has the same for all"
    require(len(sizes) == 1, reason, "covers")
    return sizes.pop()


def _check_roles(population: Population, declared: Columns) -> None:
    """The columns that say who is in which cluster or series, and which record is which."""
    roles = column_sets.roles_of(declared)
    structure = populations.structure(population)
    if structure == "series":
        require("order" in roles, "no column says in which order records come", "columns")
    if structure == "panels":
        placed = {"cluster", "series", "order"} <= roles.keys()
        reason = "columns don't say which cluster, series and place in its order a record has"
        require(placed, reason, "columns")
    lists = (getattr(member, "roles", None) for member in members_of(population))
    named = [set(names) for names in lists if names]
    require(not named or "member" in roles, "no column says which record is which", "columns")
    if "member" in roles:
        require(
            bool(named),
            "a column says which record is which, and the population names none",
            "columns",
        )
        require(
            all(names == named[0] for names in named),
            "the members of the family name different records",
            "population",
        )
        states = set(roles["member"].states or ())
        require(
            states <= named[0],
            "a column has a record that isn't named in the population",
            "columns",
        )


def _check_size(stated: ReleaseCertificate, population: Population, declared: Columns) -> None:
    """Not more records than the population has room for, in the groups that the table has."""
    n = stated.n
    roles = column_sets.roles_of(declared)
    series = [member for member in members_of(population) if isinstance(member, chains.Chain)]
    complete = [member for member in series if member.complete]
    for member in complete:
        one_series = n == member.length and stated.unit == "row" and "series" not in roles
        require(one_series, "the table is not one complete series of this length", "population")
    order, within = roles.get("order"), roles.get("member")
    assert order is None or isinstance(order, columns.Position)
    assert within is None or isinstance(within, columns.Member)
    if complete and order is not None and order.states is not None:
        as_many = len(order.states) == complete[0].length
        require(as_many, "the complete series has another length than its order", "columns")
    structure = populations.structure(population)
    if structure == "none":
        return
    members = members_of(population)
    if structure == "all records":
        require(
            n <= max(map(records_described, members)),
            "there are more records than the population describes",
            "n",
        )
        return
    positions = _positions(order)
    size = max(
        member.series * min(member.length, positions)
        if isinstance(member, panels.Panel)
        else group_size(member)
        for member in members
    )
    several = structure != "series" and "series" in roles  # a cluster has a record of each, then
    most = min(size, _places(within), math.inf if several else positions)
    groups = roles.get("series" if structure == "series" else "cluster")
    if groups is None and structure == "clusters":
        require(size == 1, "no column says who is in which cluster", "columns")
    elif groups is None:
        require(
            n <= most,
            "there are more records than one series has, but no column says which series",
            "n",
        )
    elif groups.states is not None:
        require(
            n <= most * len(groups.states),
            "there are more records than the groups have room for",
            "n",
        )


def _places(member: columns.Member | None) -> float:
    """How many records of a cluster there are names for."""
    return math.inf if member is None else len(member.states)


def _positions(order: columns.Position | None) -> float:
    """How many records of a series there are positions for, whole steps apart.

    They may be further apart than a series is long: some are then without records, or series begin
    at different ones.
    """
    if order is None or order.states is None:
        return math.inf
    if isinstance(order.step, str):
        step = times.step_of(order.step)
        at = [step.place(_moment(str(state))) for state in order.states]
    else:
        at = [Fraction(state) / Fraction(order.step) for state in order.states]
    steps = [place - min(at) for place in at]
    tolerance = Fraction(1, 10**6)
    on_steps = all(abs(number - round(number)) <= tolerance for number in steps)
    require(on_steps, "the order's positions are not whole steps apart", "columns")
    return len(set(map(round, steps)))


def _moment(state: str) -> datetime:
    try:
        return datetime.fromisoformat(state)
    except ValueError:
        raise InvalidError("one of the positions is not a date or time", "columns") from None
