"""The names by which spends and readings know columns, and which columns a population covers."""

from __future__ import annotations

from collections.abc import Mapping

from bayesdp.accounting.costs.composition import THREE_WAYS_OUT
from bayesdp.errors import InputError, toml_text
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.column_sets import name_in_spends
from bayesdp.tables.columns.column import Column


def label(column: Column) -> str:
    """The name by which spends and readings know a column: with its definition, if derived."""
    return name_in_spends(column.name, column.source, column.cuts, column.where)


def covered_labels(study: StudySpec) -> tuple[str, ...]:
    """The labels of the columns that the population covers."""
    return tuple(label(study.columns[name]) for name in covered(study))


def covered(study: StudySpec) -> tuple[str, ...]:
    """The columns that the population covers; none for the notion DP, which is about no law."""
    of_bdp = study.population is not None and study.budget.notion == "bdp"
    return study.population.covers if study.population is not None and of_bdp else ()


def independent_labels(study: StudySpec) -> tuple[str, ...]:
    """The labels of the columns that are declared independent of other records."""
    return tuple(
        label(column)
        for column in study.columns.values()
        if column.independent and column.is_private
    )


def labels(
    study: StudySpec, names: set[str], key: str, places: Mapping[str, str]
) -> tuple[str, ...]:
    """The labels of the private columns among `names`, all of which the population speaks about.

    `places` are the parts of the query, at `key`, that name them. A column derived from a covered
    or an independent one is a function of it, and is covered too. Raises `InputError` for a column
    that the population says nothing about (theory 7).

    **Covered, public or independent.** A level holds for the records *as the population describes
    them*. A query may read a column if

    * (a) the population **covers** it, or
    * (b) it is declared **public**: the population is meant conditional on it, or
    * (c) it is declared **independent** (below).

    Anything else is refused, with these three ways out.
    """
    labels = []
    covers = covered(study)
    for name in sorted(names):
        column = study.columns[name]
        if column.is_public:
            continue
        base = column
        source = study.columns.get(column.source or "")
        if name not in covers and not column.independent and source is not None:
            base = source
        if study.budget.notion == "bdp" and not covers and not base.independent:
            raise InputError(
                "population.covers",
                expected="the private columns that the population speaks about, and it is missing",
                remedy=f"{key} reads '{name}': write below [population]: covers = "
                f"[{toml_text(base.name)}], or declare the column public or independent.",
                shown=False,
            )
        if study.budget.notion == "bdp" and base.name not in covers and not base.independent:
            raise InputError(
                f"{key}.{places[name]}",
                name,
                expected="a query that reads only what the population speaks about",
                remedy=THREE_WAYS_OUT,
            )
        labels.append(label(base))
    return tuple(labels)
