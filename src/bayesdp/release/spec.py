"""The study file: what it may say. Every key is checked; unknown ones are refused.

The schema is stable; see docs/study-files.md. Errors are `InputError` with the dotted path of the
key, its value, what was expected, and the remedy.
"""

from __future__ import annotations

import math
import tomllib
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bayesdp.accounting.spend import SMALLEST_DELTA
from bayesdp.errors import InputError, UnsupportedError, did_you_mean, require_shown
from bayesdp.notions import Adversary, Notion, Secrets
from bayesdp.populations import (
    Family,
    Finite,
    Gaussian,
    Graph,
    MarkovChain,
    Network,
    Population,
    Tree,
    parse,
)
from bayesdp.populations.base import explain_validation
from bayesdp.populations.files import search_in
from bayesdp.release.program_files import ProgramFile, check_program_keys, named, read_programs
from bayesdp.statements import StatementError, read_columns, read_population
from bayesdp.tables.columns import Column, parse_columns

QueryKind = Literal["count", "sum", "mean", "proportion", "histogram", "program"]
NoiseChoice = Literal["auto", "laplace", "gaussian"]
FROM_DATA = "from data"
MOST_RECORDS = 2**40


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)


class DataSpec(_Part):
    """`[data]`: where the table is, under which name its budget is kept, what a record is."""

    source: str | None = None
    dataset: str = Field(min_length=1)
    n: int | Literal["from data"]
    unit: str = "row"
    rows_per_unit: int | None = Field(default=None, ge=1)


class BudgetSpec(_Part):
    """`[budget]`: the notion, its total for the data set, and what this study may spend of it.

    With a `delta` the total is an epsilon at this delta, and `noise` may be Gaussian.
    """

    notion: Notion = "bdp"
    epsilon: float = Field(gt=0, le=1e6)
    delta: float = Field(default=0.0, ge=0, lt=1)
    noise: NoiseChoice = "auto"
    adversary: Adversary = "any"
    secrets: Secrets = "bounded"
    ledger: str | None = None
    spend: float | None = Field(default=None, gt=0)


class QuerySpec(_Part):
    """`[[query]]`: one number, or one number for each declared group or cell; or a program.

    A program, as `"file.py:name"`, has public `parameters`, and `columns` of the table where its
    record's fields are named otherwise. Its cost is its own.
    """

    name: str = Field(min_length=1)
    kind: QueryKind
    column: str | None = None
    where: str | None = None
    by: str | None = None
    bins: tuple[float, ...] | None = Field(default=None, strict=False)
    weight: float | None = Field(default=None, gt=0)
    error: float | None = Field(default=None, gt=0)
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    tightness: Literal["dp", "mechanism"] = "dp"
    program: str | None = Field(default=None, min_length=1)
    parameters: dict[str, bool | int | float | str] = Field(default_factory=dict)
    columns: dict[str, str] = Field(default_factory=dict)


class StudySpec(BaseModel):
    """A whole study. `population` is `None` only where the notion is `dp`.

    `programs` are the program files that its queries name, as they were read when it was loaded.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    data: DataSpec
    columns: dict[str, Column]
    population: Population | None
    budget: BudgetSpec
    queries: tuple[QuerySpec, ...]
    programs: dict[str, ProgramFile] = Field(default_factory=dict)


def read_toml(path: Path) -> dict[str, Any]:
    """The contents of a TOML file as plain data. Files that it names are found beside it."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InputError("STUDY", str(path), expected="a text file in UTF-8") from None
    except (OSError, ValueError) as error:
        if isinstance(error, tomllib.TOMLDecodeError):
            raise InputError(str(path), expected=f"a TOML file: {error}", shown=False) from None
        raise InputError(
            "STUDY", str(path), expected="a study file that can be read", remedy=f"{error}."
        ) from None
    except RecursionError:
        raise InputError("STUDY", str(path), expected="TOML of sensible depth") from None
    search_in(path.parent)
    return raw


def parse_study(raw: Mapping[str, Any], folder: Path | None = None) -> StudySpec:
    """A study from plain data, as read from TOML or built in Python.

    Program files are looked for relative to `folder`, and read now.
    """
    known = {"data", "population", "budget", "query"}
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
    budget = _part(BudgetSpec, raw["budget"], "budget")
    queries = _queries(raw.get("query"))
    return _consistent(
        StudySpec(
            data=_data(data),
            columns=columns,
            population=_population(raw.get("population"), budget),
            budget=budget,
            queries=queries,
            programs=read_programs(queries, folder or Path()),
        )
    )


def _data(raw: dict[str, Any]) -> DataSpec:
    n = raw.get("n")
    if n is None:
        raise InputError(
            "data.n",
            expected=f'the public number of records, or "{FROM_DATA}"',
            remedy=f'"{FROM_DATA}" declares that the number may be published.',
            shown=False,
        )
    if n != FROM_DATA and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
        raise InputError("data.n", n, expected=f'a whole number above 0, or "{FROM_DATA}"')
    if isinstance(n, int) and n > MOST_RECORDS:
        raise InputError("data.n", n, expected="at most 2^40 records")
    data: DataSpec = _part(DataSpec, _one_name(raw), "data")
    if (data.unit != "row") != (data.rows_per_unit is not None):
        if data.unit == "row":
            raise InputError(
                "data.rows_per_unit", data.rows_per_unit, expected='nothing where unit is "row"'
            )
        raise InputError(
            "data.rows_per_unit",
            expected=f"the most rows that one {data.unit} may have",
            remedy="Costs are multiplied by it, and the table is held against it.",
            shown=False,
        )
    require_shown(data.unit, "data.unit")
    return data


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


def _queries(raw: object) -> tuple[QuerySpec, ...]:
    if not isinstance(raw, list | tuple) or not raw:
        raise InputError("query", expected="at least one [[query]]", shown=False)
    queries = tuple(
        one if isinstance(one, QuerySpec) else _part(QuerySpec, named(one), f"query[{position}]")
        for position, one in enumerate(raw)
    )
    seen: set[str] = set()
    for position, query in enumerate(queries):
        if query.name in seen:
            raise InputError(f"query[{position}].name", query.name, expected="a name used once")
        seen.add(query.name)
        require_shown(query.name, f"query[{position}].name")
        check_program_keys(query, f"query[{position}]")
        if query.weight is not None and query.error is not None:
            raise InputError(
                f"query[{position}]",
                expected="a weight or a wanted error, not both",
                shown=False,
            )
    return queries


def _part(model: type[Any], raw: object, key: str) -> Any:
    if not isinstance(raw, Mapping):
        raise InputError(key, raw, expected="a table")
    for name, value in raw.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{key}.{name}", value, expected="a finite number")
    try:
        return model.model_validate(dict(raw))
    except ValidationError as error:
        raise explain_validation(error, model.model_fields, key) from None


def _with_delta(study: StudySpec) -> None:
    """A delta and what goes with it: Gaussian noise needs one, pure-DP features can't have one."""
    budget = study.budget
    if budget.delta == 0.0:
        if budget.noise == "gaussian":
            raise InputError(
                "budget.noise",
                budget.noise,
                expected='"laplace", or a delta: Gaussian noise has no level without one',
                remedy="Add budget.delta, for example delta = 1e-6.",
            )
        return
    if budget.delta < SMALLEST_DELTA:
        raise InputError(
            "budget.delta",
            budget.delta,
            expected=f"0, or at least {SMALLEST_DELTA:g}",
            remedy="Leave delta out: the study then has a pure level and Laplace noise.",
        )
    for position, query in enumerate(study.queries):
        if query.tightness != "dp":
            raise UnsupportedError(
                f"query[{position}].tightness",
                query.tightness,
                expected='"dp" in a study with a delta: what one mechanism leaks is known without '
                "one only",
                remedy="Leave out budget.delta, or tightness.",
            )


def _consistent(study: StudySpec) -> StudySpec:
    budget, data = study.budget, study.data
    _with_delta(study)
    if budget.spend is not None and budget.spend > budget.epsilon:
        raise InputError(
            "budget.spend", budget.spend, expected=f"at most budget.epsilon = {budget.epsilon:g}"
        )
    if data.unit != "row" and data.unit not in study.columns:
        raise InputError(
            "data.unit",
            data.unit,
            expected='"row", or a declared column whose rows together form one record',
            remedy=f"Declare it: data.columns.{data.unit} = {{ public = true }}.",
        )
    if data.unit != "row" and study.columns[data.unit].is_private:
        raise InputError(
            "data.unit",
            data.unit,
            expected="a public column or one with a role: who has which rows is not protected",
            remedy=f"Declare it: data.columns.{data.unit} = {{ public = true }}.",
        )
    roles = [name for name, column in study.columns.items() if column.role is not None]
    for role in ("cluster", "member", "series", "order"):
        named = [name for name in roles if study.columns[name].role == role]
        if len(named) > 1:
            raise InputError("data.columns", named, expected=f'at most one column of role "{role}"')
    _covered_columns(study)
    _structure(study)
    _room(study)
    _can_be_stated(study)
    return study


def _room(study: StudySpec) -> None:
    """One series has room for the declared number of records, where no column tells series apart.

    Populations of the whole table are held to it with the plan, which knows `n` from the data too.
    """
    population, n = study.population, study.data.n
    if population is None or population.structure != "series" or not isinstance(n, int):
        return
    several = any(column.role == "series" for column in study.columns.values())
    if not several and n > population.group_size:
        raise InputError(
            "data.n",
            n,
            expected=f"at most {population.group_size}, the records of one series",
            remedy='Declare the column that tells series apart, with role = "series".',
        )


def _can_be_stated(study: StudySpec) -> None:
    """What a study declares is read again as its certificate states it, before anything is paid."""
    columns = {name: describe_column(column) for name, column in study.columns.items()}
    try:
        read_columns(columns, "data.columns")
        if study.population is not None:
            read_population(study.population.spec())
    except StatementError as error:
        raise InputError(
            error.place,
            expected="a declaration that a certificate can repeat",
            remedy=f"It says: {error.reason}.",
            shown=False,
        ) from None


def describe_column(column: Column) -> dict[str, Any]:
    """A column's declaration as plain data, as in a study file."""
    plain = column.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
    del plain["name"]
    return plain


def _covered_columns(study: StudySpec) -> None:
    population = study.population
    if population is None:
        return
    for position, name in enumerate(population.covers):
        key = f"population.covers[{position}]"
        if name not in study.columns:
            raise InputError(
                key, name, expected="a declared column", remedy=did_you_mean(name, study.columns)
            )
        if study.columns[name].is_public:
            raise InputError(
                key,
                name,
                expected="a private column",
                remedy="A public column is not protected, and the population is conditional on it.",
            )
        if study.columns[name].independent:
            raise InputError(
                key,
                name,
                expected="a column that is not declared independent too",
                remedy="Either the population describes it, or it is independent given what it "
                "describes.",
            )
    members = population.members if isinstance(population, Family) else (population,)
    for member in members:
        if isinstance(member, MarkovChain | Graph | Tree | Finite | Network) and population.covers:
            _states_covered(study, member, population.covers)


def _states_covered(
    study: StudySpec,
    population: MarkovChain | Graph | Tree | Finite | Network,
    covers: tuple[str, ...],
) -> None:
    """Discrete models speak of columns that are their states, not of the values behind them."""
    states = population.states if isinstance(population, MarkovChain) else population.common_states
    sizes = [len(study.columns[name].levels or ()) for name in covers]
    if math.prod(sizes) == states:
        return
    raise InputError(
        "population.covers",
        list(covers),
        expected="columns whose states are those of the population: "
        + (f"{states}" if states is not None else "which differ from record to record here"),
        remedy="Declare the states, or derive them from a column of numbers, as in active = "
        '{ from = "steps", cuts = [0.5] }; the numbers behind a state may be declared '
        "independent if they are so given the states (theory 7).",
    )


def _structure(study: StudySpec) -> None:
    """Who depends on whom is read off columns with a role: they must be there."""
    population = study.population
    if population is None:
        return
    roles = {column.role for column in study.columns.values()}
    if population.structure == "cluster" and "cluster" not in roles and population.group_size > 1:
        raise InputError(
            "data.columns",
            expected='a column of role "cluster" that says which records belong together',
            remedy='Declare it: family = { role = "cluster" }.',
            shown=False,
        )
    _members(study, population)
    _complete(study, population)
    if population.structure == "series" and "order" not in roles:
        raise InputError(
            "data.columns",
            expected='a column of role "order" with its step, and one of role "series" if the '
            "table holds several series",
            remedy='Declare it: day = { role = "order", step = 1 }.',
            shown=False,
        )


def _complete(study: StudySpec, population: Population) -> None:
    """One series without a gap: one order column, no series, and as many records as its length."""
    if not isinstance(population, MarkovChain) or not population.complete:
        return
    key = "population.complete"
    if any(column.role == "series" for column in study.columns.values()):
        raise InputError(
            key,
            True,
            expected='a table that is one series, without a column of role "series"',
            remedy="Leave complete out: the level is then that of any mechanism.",
        )
    if study.data.n != population.length or study.data.unit != "row":
        raise InputError(
            key,
            True,
            expected=f"data.n = {population.length}, the chain's length, and rows as records",
            remedy="State how many records there are; with fewer than the length there are gaps.",
        )


def _members(study: StudySpec, population: Population) -> None:
    """Named records of a cluster need a column that says which record is which, and no others."""
    members = population.members if isinstance(population, Family) else (population,)
    all_named = [one.roles for one in members if isinstance(one, Gaussian | Finite) and one.roles]
    named = all_named[0] if all_named else None
    for other in all_named[1:]:
        if set(other) != set(named or ()):
            raise InputError(
                "population.members",
                list(other),
                expected="the same roles in all members: " + ", ".join(named or ()),
                remedy="One column says which record of its cluster a row is.",
            )
    columns = [column for column in study.columns.values() if column.role == "member"]
    if named is not None and not columns:
        raise InputError(
            "data.columns",
            expected='a column of role "member" that says which of population.roles a record is',
            remedy=f'Declare it: who = {{ role = "member", states = {list(named)} }}.',
            shown=False,
        )
    for column in columns:
        if named is None:
            raise InputError(
                f"data.columns.{column.name}.role",
                "member",
                expected="a population whose records have names (population.roles)",
                remedy="Otherwise declare { public = true, states = [...] }.",
            )
        for state in column.states or ():
            if state not in named:
                raise InputError(
                    f"data.columns.{column.name}.states",
                    state,
                    expected="one of population.roles: " + ", ".join(named),
                    remedy=did_you_mean(str(state), named),
                )
