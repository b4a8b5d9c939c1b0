"""What a study may declare beside `data.people`, the people that its table shares with others.

A person must have at most one record in the table, and the population, if there is one, must be one
that may be about everything that the people have in all of their tables (theory 2.10).
"""

from __future__ import annotations

from bayesdp.accounting.sharing.people import check_model
from bayesdp.errors import InputError, toml_text
from bayesdp.release.spec.study import StudySpec


def check_people(study: StudySpec) -> None:
    """Raises `InputError` where a person of `data.people` has several records in the table.

    And `UnsupportedError` for a population that is a law of this table's records alone.
    """
    data = study.data
    if data.people is None:
        return
    events = [name for name, column in study.columns.items() if column.role in ("series", "order")]
    if data.unit == "row" and (events or data.wide is not None):
        what = f"the column {toml_text(events[0])} of series" if events else "rows of several parts"
        raise InputError(
            "data.unit",
            data.unit,
            expected=f"a person beside data.people: with {what} a person has several records",
            remedy="Write as unit the public column that tells persons apart, with rows_per_unit "
            "or max_rows, and leave out roles of series and order. Or leave data.people out, and "
            "keep all readings of these people as one data set.",
        )
    if study.population is not None and study.budget.notion == "bdp":
        check_model(study.population.model, "population.model")
