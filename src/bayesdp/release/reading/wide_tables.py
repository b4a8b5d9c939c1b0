"""Wide tables: a row that holds several records, one in each column.

Nothing in a study is wrong with them: a record is then the whole row, and the population relates
rows. Its author may have meant the values in a row to be the records, so a check warns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, takewhile

from bayesdp.errors import toml_key, toml_text
from bayesdp.populations import (
    Autoregressive,
    Clusters,
    Family,
    Gaussian,
    Population,
    Unknown,
)
from bayesdp.release.spec.study import StudySpec
from bayesdp.tables.checks.findings import largest_cluster
from bayesdp.tables.checks.structure import Structure
from bayesdp.tables.columns.column import Column
from bayesdp.tables.source import Table

WHERE = "docs/study-files.md, 'Wide and long tables'"
"""Where it is explained."""


def wide_warnings(study: StudySpec) -> list[str]:
    """A warning where covered columns look like the same quantity of several records."""
    population = study.population
    if population is None or study.data.unit != "row" or not _is_about_one_value(population):
        return []
    if study.data.wide is not None:  # what it makes records of, its author has said
        return []
    columns = [study.columns[name] for name in population.covers]
    alike = [pair for pair in combinations(columns, 2) if _look_alike(*pair)]
    names = list(dict.fromkeys(column.name for pair in alike for column in pair))
    if not names:
        return []
    quoted = [f"'{name}'" for name in names]
    listed = f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    lines, made = _wide_lines(alike)
    return [
        f"The columns {listed} look alike. If they are the same thing of different people (a wide "
        "table, with both members of a pair in a row, say), a record is here the whole row, and "
        f"the population relates up to {population.group_size} rows. That is safe but dear: the "
        "level holds for all people of a row together, at the price of related rows. To make each "
        f"person a record, write [data.wide] with the lines {lines}, let n count records, and "
        f"declare and cover {made} in their place ({WHERE}); or, if different rows are not "
        "related, declare them independent."
    ]


def _wide_lines(alike: Sequence[tuple[Column, Column]]) -> tuple[str, str]:
    """The two lines of `[data.wide]` that make records of columns, and the new columns' names.

    Columns that look alike are made into one. Where groups of them have different numbers of
    columns, the lines have the first.
    """
    groups: list[list[str]] = []
    for pair in alike:
        cells = [column.source or column.name for column in pair]
        group = next((g for g in groups if set(g) & set(cells)), None)
        if group is None:
            groups.append(group := [])
        group += [cell for cell in cells if cell not in group]
    groups = [group for group in groups if len(group) == len(groups[0])]
    stems = [_common_start(group).rstrip(" _-.0123456789") for group in groups]
    names = [stem or f"value{i or ''}" for i, stem in enumerate(stems)]
    if len(set(names)) < len(names):
        names = [f"value{i or ''}" for i in range(len(groups))]
    records = ", ".join(
        f"{toml_key(name)} = [{', '.join(map(toml_text, group))}]"
        for name, group in zip(names, groups, strict=True)
    )
    values = ", ".join(map(toml_text, groups[0]))
    lines = f'records = {{ {records} }} and position = {{ name = "member", values = [{values}] }}'
    return lines, " and ".join(f"'{name}'" for name in names)


def _common_start(names: Sequence[str]) -> str:
    """The letters with which all names begin."""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in alike)


def clusters_of_one(study: StudySpec, table: Table, structure: Structure) -> list[str]:
    """A hint where each cluster of the table has one record though the population's have more.

    The rows may be the clusters. It is private: for the curator only. The `table` is as `study`
    declares it, in the arrangement `structure`.
    """
    population = study.population
    if population is None or study.data.unit != "row" or study.data.wide is not None:
        return []
    if population.structure != "cluster" or population.group_size < 2:
        return []
    if largest_cluster(table, study.columns, structure) != 1:
        return []
    (name,) = (column.name for column in study.columns.values() if column.role == "cluster")
    return [
        f"Each '{name}' has one record in the table, and the population relates up to "
        f"{population.group_size}. If a row holds all people of a '{name}', a record is here the "
        f"whole row: [data.wide] makes a record of each person in it ({WHERE}). "
        "If the others are not in the table, all is as it should be."
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
