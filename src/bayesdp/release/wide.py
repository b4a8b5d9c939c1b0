"""Wide tables: a row that holds several records, one in each column.

Nothing in a study is wrong with them: a record is then the whole row, and the population relates
rows. Its author may have meant the values in a row to be the records, so a check warns.
"""

from __future__ import annotations

from itertools import combinations

from bayesdp.populations import (
    Autoregressive,
    Clusters,
    Family,
    Gaussian,
    Population,
    Unknown,
)
from bayesdp.release.spec import StudySpec
from bayesdp.tables.checks import Structure, largest_cluster
from bayesdp.tables.columns import Column
from bayesdp.tables.source import Table


def wide_warnings(study: StudySpec) -> list[str]:
    """A warning where covered columns look like the same quantity of several records."""
    population = study.population
    if population is None or study.data.unit != "row" or not _is_about_one_value(population):
        return []
    columns = [study.columns[name] for name in population.covers]
    alike = [pair for pair in combinations(columns, 2) if _look_alike(*pair)]
    names = list(dict.fromkeys(column.name for pair in alike for column in pair))
    if not names:
        return []
    quoted = [f"'{name}'" for name in names]
    listed = f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    return [
        f"The columns {listed} look alike. If they are the same thing of different people (a wide "
        "table, with both members of a pair in a row, say), a record is here the whole row, and "
        f"the population relates up to {population.group_size} rows. That is safe but dear: the "
        "level holds for all people of a row together, at the price of related rows. Give each "
        "person a row, with pandas.melt for example (docs/study-files.md, 'Wide and long tables'); "
        "or, if different rows are not related, declare them independent."
    ]


def clusters_of_one(study: StudySpec, table: Table, structure: Structure) -> list[str]:
    """A hint where each cluster of the table has one record though the population's have more.

    The rows may be the clusters. It is private: for the curator only. The `table` is as `study`
    declares it, in the arrangement `structure`.
    """
    population = study.population
    if population is None or study.data.unit != "row":
        return []
    if population.structure != "cluster" or population.group_size < 2:
        return []
    if largest_cluster(table, study.columns, structure) != 1:
        return []
    (name,) = (column.name for column in study.columns.values() if column.role == "cluster")
    return [
        f"Each '{name}' has one record in the table, and the population relates up to "
        f"{population.group_size}. If a row holds all people of a '{name}', a record is here the "
        "whole row: give each person a row, with pandas.melt for example (docs/study-files.md, "
        "'Wide and long tables'). If the others are not in the table, all is as it should be."
    ]


def _is_about_one_value(population: Population) -> bool:
    """Whether several records are related, and nothing in their law says how many columns each has.

    Laws of states hold for the covered columns together, and those of vectors name them.
    """
    if population.group_size < 2:
        return False
    members = population.members if isinstance(population, Family) else (population,)
    return any(
        isinstance(member, Clusters | Unknown | Autoregressive)
        or (isinstance(member, Gaussian) and member.columns is None)
        for member in members
    )


def _look_alike(first: Column, second: Column) -> bool:
    """Whether two columns have the same unit, bounds or states, and come from different columns."""
    sources = {first.source or first.name, second.source or second.name}
    if len(sources) < 2 or first.kind != second.kind:
        return False
    if first.unit and second.unit:
        return first.unit == second.unit
    if first.bounds is not None and first.bounds == second.bounds:
        return True
    return first.levels is not None and set(first.levels) == set(second.levels or ())
