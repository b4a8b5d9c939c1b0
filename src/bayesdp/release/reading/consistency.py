"""Whether the parts of a study go together: unit, roles, covered columns, sizes, what is stated."""

from __future__ import annotations

import math

from bayesdp import kernel
from bayesdp.accounting.costs.readings import SMALLEST_DELTA
from bayesdp.errors import (
    InputError,
    UnsupportedError,
    closest,
    did_you_mean,
    first_names,
    toml_key,
    toml_text,
)
from bayesdp.populations import (
    Autoregressive,
    Clusters,
    Family,
    Finite,
    Gaussian,
    Graph,
    Independent,
    MarkovChain,
    Network,
    Population,
    Tree,
    Unknown,
)
from bayesdp.release.queries.found_groups import check_found
from bayesdp.release.reading.people import check_people
from bayesdp.release.reading.table_sources import check_sources
from bayesdp.release.spec.parts import BudgetSpec
from bayesdp.release.spec.study import StressSpec, StudySpec, describe_column
from bayesdp.statements import StatementError, read_columns
from bayesdp.statements.base import exact_text
from bayesdp.statements.column_sets import check_law


def _with_delta(study: StudySpec) -> None:
    """Gaussian noise needs a delta, and features of pure DP can't have a delta."""
    budget = study.budget
    _set_aside(budget)
    if budget.delta == 0.0:
        if budget.noise == "gaussian":
            raise InputError(
                "budget.noise",
                budget.noise,
                expected='"laplace", or a delta: Gaussian noise has no level without one',
                remedy="Write below [budget], for example: delta = 1e-6.",
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
                f"{study.query_key(position)}.tightness",
                query.tightness,
                expected='"dp" in a study with a delta: what one mechanism leaks is known without '
                "one only",
                remedy="Leave out budget.delta, or tightness.",
            )


def _set_aside(budget: BudgetSpec) -> None:
    """A part of delta is set aside for mechanisms with a delta of their own, under DP alone."""
    aside, key = budget.mechanism_delta, "budget.mechanism_delta"
    if aside == 0.0:
        return
    if budget.notion != "dp":
        raise UnsupportedError(
            key,
            aside,
            expected='only with notion = "dp": no theorem says what costs with deltas of '
            "their own, chosen after earlier answers, mean under a population",
            remedy='Leave it out, or write notion = "dp".',
        )
    if aside > budget.delta:
        raise InputError(
            key,
            aside,
            expected=f"at most budget.delta = {exact_text(budget.delta)}, of which it is a part",
            remedy="Write below [budget] a delta that is larger, such as twice mechanism_delta.",
        )
    rest = budget.delta - aside
    if aside < SMALLEST_DELTA or 0.0 < rest < SMALLEST_DELTA:
        raise InputError(
            key,
            aside,
            expected=f"at least {SMALLEST_DELTA:g}, and all of budget.delta or so much that at "
            f"least {SMALLEST_DELTA:g} is left",
            remedy="Half of budget.delta leaves as much for Gaussian noise.",
        )


def consistent(study: StudySpec) -> StudySpec:
    """The study, whose parts go together. Raises `InputError` for parts that don't."""
    budget, data = study.budget, study.data
    _with_delta(study)
    if budget.spend is not None and budget.spend > budget.epsilon:
        raise InputError(
            "budget.spend",
            budget.spend,
            expected=f"at most budget.epsilon = {exact_text(budget.epsilon)}",
            remedy="Spend less: budget.epsilon is the total of the data set.",
        )
    if data.unit != "row" and data.unit not in study.columns:
        raise InputError(
            "data.unit",
            data.unit,
            expected='"row", or a declared column whose rows together form one record',
            remedy=f"Write below [data.columns]: {_public(data.unit)}.",
        )
    if data.unit != "row" and study.columns[data.unit].is_private:
        raise InputError(
            "data.unit",
            data.unit,
            expected="a public column or one with a role: who has which rows is not protected",
            remedy=f"Write in the place of its line below [data.columns]: {_public(data.unit)}.",
        )
    roles = [name for name, column in study.columns.items() if column.role is not None]
    for role in ("cluster", "member", "series", "order"):
        named = [name for name in roles if study.columns[name].role == role]
        if len(named) > 1:
            raise InputError(
                "data.columns",
                named,
                expected=f'at most one column of role "{role}"',
                remedy="Leave the role out of all other columns.",
            )
    check_sources(study)
    check_people(study)
    _covered_columns(study)
    _structure(study)
    _room(study)
    _one_value_each(study)
    _can_be_stated(study)
    check_found(study)
    for position, stress in enumerate(study.stress):
        _stress(study, stress, f"stress[{position}].population")
    return study


def _public(name: str) -> str:
    """The line that declares a public column."""
    return f"{toml_key(name)} = {{ public = true }}"


def _stress(study: StudySpec, stress: StressSpec, place: str) -> None:
    """A stress population could be that of the study's table, as far as the study says."""
    population, declared, n = stress.population, study.population, study.data.n
    assert declared is not None
    instead = study.model_copy(update={"population": population})
    try:
        for check in (_covered_columns, _room, _one_value_each, _can_be_stated):
            check(instead)
    except InputError as error:
        if error.key.startswith("population"):
            raise error.at(place + error.key.removeprefix("population")) from None
        expected = f"a population that this study could have ({error.key}: {error.expected})"
        raise InputError(place, population.model, expected=expected) from None
    same = population.structure == declared.structure
    least = declared.group_size if same and population.structure != "all" else 0
    if population.group_size < least:
        raise InputError(
            place,
            f"groups of {population.group_size}",
            expected=f"groups of at least {least}, as the study declares",
            remedy="A table with larger groups is not of this population.",
        )
    if population.structure == "all" and isinstance(n, int) and population.table_size < n:
        raise InputError(
            place,
            f"{population.table_size} records",
            expected=f"at least data.n = {n} records",
            remedy="It must be about all records of the table.",
        )


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


def _one_value_each(study: StudySpec) -> None:
    """Where a record has several rows, the model must not be one of single values."""
    population, data = study.population, study.data
    several = data.rows_per_record > 1 or data.max_rows is not None
    if population is None:
        return
    members = population.members if isinstance(population, Family) else (population,)
    silent = all(isinstance(member, Independent | Clusters | Unknown) for member in members)
    if several and not silent:
        raise InputError(
            "data.rows_per_unit" if data.max_rows is None else "data.max_rows",
            data.rows_per_unit or data.max_rows,
            expected=f"{'1' if data.max_rows is None else 'no max_rows'}, or a population of model "
            "independent, clusters or unknown",
            remedy="Other models describe one value of each record, and not its several rows.",
        )
    numbers = all(study.columns[name].kind == "numeric" for name in population.covers)
    if any(isinstance(member, Gaussian | Autoregressive) for member in members) and not numbers:
        raise InputError(
            "population.covers",
            list(population.covers),
            expected="columns with bounds: a Gaussian law is about numbers",
            remedy="A condition such as height > 180 may be asked of a column of numbers.",
        )


def _can_be_stated(study: StudySpec) -> None:
    """What a study declares is read again as its certificate states it, before anything is paid.

    The population by the kernel, which keeps what it has read for the proofs of levels.
    """
    columns = {name: describe_column(column) for name, column in study.columns.items()}
    try:
        read_columns(columns, "data.columns")
        if study.population is not None:
            kernel.stated_population(study.population.spec())
    except StatementError as error:
        raise _not_stated(error.place, error.reason) from None
    except kernel.UnknownError:
        return  # no rule is about it: levels are then not proved, and certificates say so
    except kernel.InvalidError as error:
        raise _not_stated(error.step, error.reason) from None


def _not_stated(place: str, reason: str) -> InputError:
    return InputError(
        place,
        expected="a declaration that a certificate can repeat",
        remedy=f"It says: {reason}.",
        shown=False,
    )


def _covered_columns(study: StudySpec) -> None:
    population = study.population
    if population is None:
        return
    for position, name in enumerate(population.covers):
        key = f"population.covers[{position}]"
        if name not in study.columns:
            private = [name for name, known in study.columns.items() if known.is_private]
            raise InputError(
                key,
                name,
                expected="a declared private column",
                remedy=did_you_mean(name, private),
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
    """Discrete models speak of columns with states, not of the values that states are made from."""
    states = population.states if isinstance(population, MarkovChain) else population.common_states
    sizes = [len(study.columns[name].levels or ()) for name in covers]
    if math.prod(sizes) == states:
        _possible_states(study, covers)
        return
    raise InputError(
        "population.covers",
        list(covers),
        expected="columns whose states are those of the population: "
        + (f"{states}" if states is not None else "which differ from record to record here"),
        remedy="Declare the states, or derive them from a column of numbers, below [data.columns] "
        'as in: active = { from = "steps", cuts = [0.5] }, and cover that column; the numbers '
        "behind a state may be declared independent if they are so given the states (theory 7).",
    )


def _possible_states(study: StudySpec, covers: tuple[str, ...]) -> None:
    """A law gives no probability to states that the columns' definitions exclude."""
    columns = {name: describe_column(column) for name, column in study.columns.items()}
    try:
        check_law(covers, read_columns(columns), "population.covers")
    except StatementError as error:
        raise InputError(
            error.place,
            list(covers),
            expected=f"states that records can have: {error.reason}",
            remedy="Cover one column that has all the states, such as one with more cuts, each "
            "within the bounds.",
        ) from None


_ROLES_OF_PANELS = {
    "cluster": ("which records belong together", 'household = { role = "cluster" }'),
    "series": ("whose record of its cluster a row is", 'person = { role = "series" }'),
    "order": ("at which step it was made", 'day = { role = "order", step = 1 }'),
}
"""What each column of a panel says, and how it is declared."""

LONG_FORM = (
    "A wide table has no such column: [data.wide] makes it, with a record for each person of a row "
    "(docs/study-files.md, 'Wide and long tables')."
)
"""The remedy where a table may have several records in a row."""


def _structure(study: StudySpec) -> None:
    """Who depends on whom is read from columns with a role: they must be declared."""
    population = study.population
    if population is None:
        return
    roles = {column.role for column in study.columns.values()}
    if population.structure == "cluster" and "cluster" not in roles and population.group_size > 1:
        raise InputError(
            "data.columns",
            expected='a column of role "cluster" that says which records belong together',
            remedy="Write below [data.columns], with the name of yours: family = "
            f'{{ role = "cluster" }}. {LONG_FORM}',
            shown=False,
        )
    if population.structure == "panel":
        for role, (says, example) in _ROLES_OF_PANELS.items():
            if role not in roles:
                raise InputError(
                    "data.columns",
                    expected=f'a column of role "{role}" that says {says}',
                    remedy=f"Write below [data.columns], with the name of yours: {example}.",
                    shown=False,
                )
    _members(study, population)
    _complete(study, population)
    if population.structure == "series" and "order" not in roles:
        raise InputError(
            "data.columns",
            expected='a column of role "order" with its step, and one of role "series" if the '
            "table holds several series",
            remedy="Write below [data.columns], with the name and the step of yours: day = "
            '{ role = "order", step = 1 }.',
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
    all_named = [
        member.roles for member in members if isinstance(member, Gaussian | Finite) and member.roles
    ]
    named = all_named[0] if all_named else None
    for other in all_named[1:]:
        if set(other) != set(named or ()):
            raise InputError(
                "population.members",
                list(other),
                expected=f"the same roles in all members: {first_names(named or ())}",
                remedy="One column says which record of its cluster a row is.",
            )
    columns = [column for column in study.columns.values() if column.role == "member"]
    if named is not None and not columns:
        raise InputError(
            "data.columns",
            expected='a column of role "member" that says which of population.roles a record is',
            remedy="Write below [data.columns], with the name of yours: who = { role = "
            f'"member", states = [{", ".join(map(toml_text, named))}] }}. {LONG_FORM}',
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
                    expected=f"one of population.roles: {first_names(named)}",
                    remedy=closest(str(state), named),
                )
