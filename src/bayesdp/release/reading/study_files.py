"""Reads a study from TOML or plain data. Every key is checked; unknown ones are refused.

Errors are `InputError` with the dotted path of the key, its value, what was expected, and the
remedy.
"""

from __future__ import annotations

import math
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bayesdp.accounting.accounts.analysts import checked_analyst
from bayesdp.accounting.sharing.people import check_people_name
from bayesdp.errors import (
    InputError,
    did_you_mean,
    explain_validation,
    first_names,
    require_shown,
    text_of_file,
    toml_key,
    toml_text,
    whole_number,
)
from bayesdp.populations import Population, parse
from bayesdp.populations.files import parse_toml, search_in
from bayesdp.populations.registry import parse_below
from bayesdp.release.queries.collected import check_collected_keys
from bayesdp.release.queries.crossed_columns import crossed
from bayesdp.release.queries.products import check_product_keys
from bayesdp.release.queries.quantile_lists import in_order, one_each
from bayesdp.release.queries.weighted import by_weights, ratios
from bayesdp.release.reading.consistency import consistent
from bayesdp.release.spec.derived import parse_derived
from bayesdp.release.spec.parts import BudgetSpec, DataSpec, QuerySpec
from bayesdp.release.spec.program_files import check_program_keys, named, read_programs
from bayesdp.release.spec.study import FROM_DATA, MOST_RECORDS, StressSpec, StudySpec
from bayesdp.statements.conditions import Comparison, text_of
from bayesdp.statements.queries import AVERAGES
from bayesdp.tables.cells.joins import parse_joins
from bayesdp.tables.cells.wide import parse_wide
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.files.csv_dialect import CsvDialect


def read_toml(path: Path) -> dict[str, Any]:
    """The contents of a TOML file as plain data. Files that it names are found beside it.

    Raises `InputError` for a file that can't be read or is not TOML.
    """
    readable = "a study file that can be read"
    text = text_of_file(path, "STUDY", expected=readable)
    try:
        raw = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(path), expected=f"a TOML file: {error}", shown=False) from None
    except ValueError as error:
        raise InputError("STUDY", str(path), expected=readable, remedy=f"{error}.") from None
    except RecursionError:
        raise InputError("STUDY", str(path), expected="TOML of sensible depth") from None
    search_in(path.parent)
    return raw


def parse_study(raw: Mapping[str, Any], folder: Path | None = None) -> StudySpec:
    """A study from plain data, as read from TOML or built in Python.

    Program files are looked for relative to `folder`, and read now. Raises `InputError` naming the
    first key that is wrong.
    """
    known = {"data", "population", "budget", "query", "stress", "derived"}
    for key in raw:
        if key not in known:
            raise InputError(
                str(key),
                expected="a known table",
                remedy=did_you_mean(str(key), known),
                shown=False,
            )
    for key in ("data", "budget"):
        if not isinstance(raw.get(key), Mapping):
            raise InputError(key, expected="a table", remedy="It is missing.", shown=False)
    data = dict(raw["data"])
    columns = parse_columns(data.pop("columns", {}))
    budget: BudgetSpec = _part(BudgetSpec, raw["budget"], "budget")
    if budget.analyst is not None:
        checked_analyst(budget.analyst)
    queries = _queries(raw.get("query"))
    population = _population(raw.get("population"), budget)
    return consistent(
        StudySpec(
            data=_data(data),
            columns=columns,
            population=population,
            budget=budget,
            queries=_names_once(
                part
                for i, query in enumerate(queries)
                for whole in one_each(_in_numbers(crossed(_median(query, i), i), i, columns), i)
                for part in by_weights(whole, i, columns)
            ),
            programs=read_programs(queries, folder or Path()),
            stress=_stress(raw.get("stress", ()), population, budget),
            derived=(
                *in_order(queries),
                *ratios(queries),
                *parse_derived(raw.get("derived", ()), queries),
            ),
        )
    )


def _names_once(queries: Iterable[QuerySpec]) -> tuple[QuerySpec, ...]:
    """The queries; `InputError` where a quantile of several has the name of another query."""
    read = tuple(queries)
    names = [query.name for query in read]
    for query in read:
        if names.count(query.name) > 1:
            raise InputError(
                "query.name",
                query.name,
                expected="names that no quantile of several has, as this one",
                remedy="Give the other query another name.",
            )
    return read


def _in_numbers(query: QuerySpec, position: int, columns: Mapping[str, Column]) -> QuerySpec:
    """The query, whose condition compares dates that are numbers with numbers: as certificates."""
    if query.where is None or not any(column.is_date for column in columns.values()):
        return query
    predicate = Predicate.parse(query.where, columns, key=f"query[{position}].where")
    return query.model_copy(update={"where": predicate.text})


def _median(query: QuerySpec, position: int) -> QuerySpec:
    """The query; a median is the quantile of probability 0.5."""
    if query.kind != "median":
        return query
    if query.probability not in (None, 0.5):
        raise InputError(
            f"query[{position}].probability",
            query.probability,
            expected="0.5, which a median has, or nothing",
            remedy='Write kind = "quantile" for another probability.',
        )
    return query.model_copy(update={"kind": "quantile", "probability": 0.5})


def _data(raw: dict[str, Any]) -> DataSpec:
    n = raw.get("n")
    if n is None:
        raise InputError(
            "data.n",
            expected=f'the public number of records, or "{FROM_DATA}"',
            remedy=f'"{FROM_DATA}" declares that the number may be published.',
            shown=False,
        )
    for key in ("n", "rows_per_unit", "max_rows"):
        if isinstance(raw.get(key), Integral) and not isinstance(raw[key], bool):
            raw = raw | {key: int(raw[key])}  # NumPy's too
    if "csv" in raw:
        raw = raw | {"csv": CsvDialect.of(raw["csv"])}
    n = raw["n"]
    if n != FROM_DATA:
        whole_number("data.n", n, expected=f'a whole number above 0, or "{FROM_DATA}"')
    if isinstance(n, int) and n > MOST_RECORDS:
        raise InputError(
            "data.n",
            n,
            expected="at most 2^40 records",
            remedy="Write the number of records of the table.",
        )
    readers = {"wide": parse_wide, "join": parse_joins}
    raw = raw | {key: read(raw[key]) for key, read in readers.items() if key in raw}
    data: DataSpec = _part(DataSpec, _one_name(raw), "data")
    _rows_of_a_record(data)
    if data.balanced and data.unit == "row":
        raise InputError(
            "data.balanced",
            True,
            expected='nothing where unit is "row"',
            remedy="It says that each record has exactly rows_per_unit rows: leave it out.",
        )
    require_shown(data.unit, "data.unit")
    if data.people is not None:
        check_people_name(data.people)
    return data


def _rows_of_a_record(data: DataSpec) -> None:
    """Exactly one of `rows_per_unit` and `max_rows` where a record is several rows, else none."""
    given = [key for key in ("rows_per_unit", "max_rows") if getattr(data, key) is not None]
    if data.unit == "row" and given:
        raise InputError(
            f"data.{given[0]}",
            getattr(data, given[0]),
            expected='nothing where unit is "row"',
            remedy="Leave it out, or name the column whose rows form one record as unit.",
        )
    if data.unit != "row" and not given:
        raise InputError(
            "data.rows_per_unit",
            expected=f"the most rows that one {data.unit} may have",
            remedy="Costs are multiplied by it, and the table is held against it. Where some have "
            "more, write max_rows instead: so many of their rows count.",
            shown=False,
        )
    if len(given) > 1:
        raise InputError(
            "data.max_rows",
            data.max_rows,
            expected="nothing beside rows_per_unit",
            remedy=f"Leave rows_per_unit out if some {data.unit} may have more rows, of which "
            "max_rows count. Leave max_rows out if a table with more rows is to be refused.",
        )


def _one_name(raw: dict[str, Any]) -> dict[str, Any]:
    """One data set has one name, however it is written: names that look the same are the same."""
    name = raw.get("dataset")
    if not isinstance(name, str):
        return raw
    if name != name.strip() or not name.isprintable():
        raise InputError(
            "data.dataset",
            name,
            expected="a name of visible letters, without spaces around it",
            remedy="Two names are two budgets.",
        )
    return raw | {"dataset": unicodedata.normalize("NFC", name)}


def _population(raw: object, budget: BudgetSpec) -> Population | None:
    if raw is None:
        if budget.notion == "dp":
            return None
        raise InputError(
            "population",
            expected="a table that says who depends on whom",
            remedy='For independent records write model = "independent".',
            shown=False,
        )
    if isinstance(raw, Population):
        return raw
    if not isinstance(raw, Mapping):
        raise InputError("population", raw, expected="a table")
    return parse(raw)


def _stress(raw: object, declared: Population | None, budget: BudgetSpec) -> tuple[StressSpec, ...]:
    """The populations of `[[stress]]`, each about the columns that the declared one covers."""
    if not isinstance(raw, list | tuple):
        raise InputError("stress", raw, expected="a list of tables: [[stress]]")
    if raw and (declared is None or budget.notion == "dp"):
        raise InputError(
            "stress",
            expected="nothing in a study of the notion dp, which is about no population",
            remedy='Leave it out, or write notion = "bdp" and a population.',
            shown=False,
        )
    assert not raw or declared is not None
    read = [_stressed(entry, f"stress[{i}]", declared) for i, entry in enumerate(raw) if declared]
    for i, entry in enumerate(read):
        if entry.name in [earlier.name for earlier in read[:i]]:
            raise InputError(f"stress[{i}].name", entry.name, expected="a name used once")
    return tuple(read)


def _stressed(raw: object, key: str, declared: Population) -> StressSpec:
    if isinstance(raw, StressSpec):
        raw = dict(raw)
    if not isinstance(raw, Mapping):
        raise InputError(key, raw, expected="a table with a name and a population")
    for name in raw:
        if name not in StressSpec.model_fields:
            raise InputError(
                f"{key}.{name}",
                expected="a known key",
                remedy=did_you_mean(str(name), StressSpec.model_fields)
                + f" The keys of a population stand below it: {key}.population.",
                shown=False,
            )
    name, population = raw.get("name"), raw.get("population")
    if not isinstance(name, str) or not name:
        raise InputError(f"{key}.name", name, expected="a name", remedy="The table shows it.")
    require_shown(name, f"{key}.name")
    place = f"{key}.population"
    if isinstance(population, Mapping):
        population = parse_below({"covers": declared.covers, **population}, place)
    if not isinstance(population, Population):
        raise InputError(
            place, population, expected='a table such as { model = "clusters", size = 4 }'
        )
    if population.covers not in ((), declared.covers):
        raise InputError(
            f"{place}.covers",
            list(population.covers),
            expected="nothing here, or what population.covers says: "
            f"{first_names(declared.covers)}",
        )
    covering = population.model_copy(update={"covers": declared.covers})
    return StressSpec(name=name, population=covering)


def _queries(raw: object) -> tuple[QuerySpec, ...]:
    if not isinstance(raw, list | tuple) or not raw:
        raise InputError("query", expected="at least one [[query]]", shown=False)
    queries = tuple(
        entry
        if isinstance(entry, QuerySpec)
        else _part(QuerySpec, _one_error(named(entry), f"query[{position}]"), f"query[{position}]")
        for position, entry in enumerate(raw)
    )
    seen: set[str] = set()
    for position, query in enumerate(queries):
        if query.name in seen:
            raise InputError(
                f"query[{position}].name",
                query.name,
                expected="a name used once",
                remedy="Give each query a name of its own.",
            )
        seen.add(query.name)
        require_shown(query.name, f"query[{position}].name")
        check_program_keys(query, f"query[{position}]")
        check_collected_keys(query, f"query[{position}]")
        check_product_keys(query, f"query[{position}]")
        if query.weight is not None and query.error is not None:
            raise InputError(
                f"query[{position}]",
                expected="a weight or a wanted error, not both",
                remedy="A wanted error fixes the cost; a weight shares what is left.",
                shown=False,
            )
    return queries


def _one_error(entry: Any, key: str) -> Any:
    """The query. `InputError` for one with an error for each group: their noise is one."""
    if isinstance(entry, Mapping) and isinstance(entry.get("weight"), str):
        raise InputError(
            f"{key}.weight",
            entry["weight"],
            expected="a number: the share of the budget",
            remedy="For a column of survey weights write weighted_by = "
            f"{toml_text(entry['weight'])} in its place.",
        )
    error = entry.get("error") if isinstance(entry, Mapping) else None
    if isinstance(error, Mapping):
        raise InputError(
            f"{key}.error",
            dict(error),
            expected="one number: the groups of a query have the same noise",
            remedy=_one_error_remedy(entry),
        )
    return entry


def _one_error_remedy(entry: Mapping[Any, Any]) -> str:
    """How to ask for the errors of groups: by the kind of the query, since errors mean others."""
    least = min((e for e in entry["error"].values() if isinstance(e, int | float)), default=None)
    number = "" if least is None else f": error = {least!r} in the place of the table"
    if entry.get("kind") in AVERAGES:
        return (
            f"Write the number that every group needs{number}, and the public size of each: "
            f"group_sizes = {{ {', '.join(f'{toml_key(group)} = ...' for group in entry['error'])} "
            f"}}. A {entry['kind']}'s error is larger in smaller groups: it is kept in the "
            "smallest, and 'bayesdp check' shows all."
        )
    group = str(next(iter(entry["error"]), "child"))
    number_like = group.lstrip("-").replace(".", "", 1).isdigit()
    literal = (float(group) if "." in group else int(group)) if number_like else group
    by = entry.get("by", "role")
    column = by if isinstance(by, str) else "role"
    condition = text_of(Comparison(column, "==", (literal,)))
    return (
        f"Write the number that every group needs{number}; it is the same in all groups. Groups "
        "that need different noise are queries of their own, with a where in the place of by, such "
        f"as where = {toml_text(condition)}; keep a condition that is there, and join both by and."
    )


def _part(model: type[Any], raw: object, key: str) -> Any:
    if not isinstance(raw, Mapping):
        raise InputError(key, raw, expected="a table")
    for name, value in raw.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{key}.{name}", value, expected="a finite number")
    try:
        return model.model_validate(dict(raw))
    except ValidationError as error:
        raise explain_validation(error, model, raw, key) from None
