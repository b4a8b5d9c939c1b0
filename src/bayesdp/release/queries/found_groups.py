"""Counts by groups that nobody declares: what they need, and above which threshold they are shown.

A column with `groups = "from data"` is private, and so are its groups: that a shop is in the table
tells that somebody went there. So its count gets noise like any other, and the group is shown where
that reaches a threshold, which the groups of a single record hardly ever do (theory 4, "Groups that
are found in the data").
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bayesdp.accounting.readings import SMALLEST_DELTA
from bayesdp.errors import InputError, UnsupportedError, toml_key
from bayesdp.mechanisms import DiscreteLaplace
from bayesdp.numbers import float_below
from bayesdp.release.spec.parts import QuerySpec, refuse_keys
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.base import exact_text
from bayesdp.statements.queries import column_names
from bayesdp.tables.queries.query import Cap


@dataclass(frozen=True, slots=True)
class FoundGroups:
    """What a count by groups of a `column` asks, where the groups are found in the data.

    With a probability of at most `delta` any group is shown that one record is alone in. At most
    `rows` of its rows count, in at most `groups` groups and at most `rows_in_group` in each.
    """

    column: str
    delta: float
    rows: int
    rows_in_group: int
    groups: int

    @classmethod
    def of(cls, column: str, delta: float, rows: int, cap: Cap | None) -> FoundGroups:
        """What is asked where a record has at most `rows` rows, and a `cap` may leave some out."""
        cap = cap or Cap()
        each = min(rows, cap.rows_in_group or rows)
        most = min(rows, cap.rows or rows, (cap.groups or rows) * each)
        return cls(column, delta, most, min(each, most), min(cap.groups or most, most))

    def threshold(self, noise: DiscreteLaplace) -> int:
        """The least noisy count that is shown. A group of one record hardly ever reaches it.

        It is the least integer above `rows_in_group` that this number of rows with noise reaches
        with a probability of at most `delta / groups`.
        """
        return noise.threshold(self.rows_in_group, Fraction(self.delta) / self.groups)


def is_found(study: StudySpec, query: QuerySpec) -> bool:
    """Whether a query is by groups that are found in the data, alone or with others."""
    named = (study.columns.get(name) for name in column_names(query.by))
    return any(column is not None and column.groups is not None for column in named)


def check_found(study: StudySpec) -> None:
    """What counts by groups that are found in the data need of a study, and what they can't have.

    Raises `InputError` for keys, and `UnsupportedError` for Bayesian DP.
    """
    asked = []
    for position, query in enumerate(study.queries):
        key = study.query_key(position)
        if is_found(study, query):
            asked.append((query, key))
            _check_query(study, query, key)
            continue
        refuse_keys(
            query,
            ("delta",),
            key,
            expected='only on a count by a column with groups = "from data"',
            remedy="Leave it out: below [budget] delta is that of the study.",
        )
    if asked:
        _check_budget(study, asked[0][1])
        _check_deltas(study, asked)


def _check_query(study: StudySpec, query: QuerySpec, key: str) -> None:
    """A count by one column, of which only groups above a threshold are shown."""
    if query.kind != "count":
        raise InputError(
            f"{key}.kind",
            query.kind,
            expected="a count: nothing else is released by groups from the data",
            remedy="Declare the states of the column that by names, and that it is public; or "
            'write kind = "count".',
        )
    if isinstance(query.by, tuple):
        raise InputError(
            f"{key}.by",
            list(query.by),
            expected="one column, where groups are found in the data",
            remedy="Write a column that holds both into the table, and name that.",
        )
    expected = f"nothing on a {query.kind}, which counts the rows that match where"
    refuse_keys(query, ("column", "bins", "weighted_by"), key, expected)


def _check_budget(study: StudySpec, key: str) -> None:
    """A DP budget with a delta, a part of which is set aside, and Laplace noise."""
    budget, place = study.budget, f"{key}.by"
    if budget.notion != "dp":
        raise UnsupportedError(
            place,
            _by(study),
            expected='a column with declared groups, unless notion = "dp": no theorem says what '
            "thresholds mean under a population",
            remedy="Declare its states, and that it is public; or keep the counts under a DP "
            "budget, on a data set of its own.",
        )
    if budget.delta == 0.0 or budget.mechanism_delta == 0.0:
        delta = budget.delta or 1e-6
        lines = [f"mechanism_delta = {exact_text(delta / 2)}"]
        if budget.delta == 0.0:
            lines.insert(0, f"delta = {exact_text(delta)}")
        name = toml_key(_by(study))
        raise InputError(
            place,
            _by(study),
            expected="a column with declared groups, in a budget that sets no delta aside: a group "
            "that one record is alone in is shown with a probability that is not 0",
            remedy=f"Write below [budget], for example: {', '.join(lines)}. Or declare in the "
            f"place of its line below [data.columns]: {name} = {{ public = true, states = [...] }}",
        )
    if budget.noise == "gaussian":
        raise InputError(
            "budget.noise",
            budget.noise,
            expected='"laplace" in a study with groups from data, whose threshold is one of '
            "Laplace noise",
            remedy="Leave noise out, or ask the other queries in a study of their own.",
        )


def _check_deltas(study: StudySpec, asked: list[tuple[QuerySpec, str]]) -> None:
    """The queries' deltas add up to no more than what the budget sets aside."""
    aside = study.budget.mechanism_delta
    together = Fraction(0)
    for query, key in asked:
        delta = delta_of(study, query)
        together += Fraction(delta)
        if delta < SMALLEST_DELTA:
            raise InputError(
                f"{key}.delta",
                query.delta,
                shown=query.delta is not None,
                expected=f"a probability of at least {SMALLEST_DELTA:g}",
                remedy="Set more of budget.delta aside, as budget.mechanism_delta.",
            )
        if together > Fraction(aside):
            raise InputError(
                f"{key}.delta",
                delta,
                expected=f"deltas that add up to at most budget.mechanism_delta = "
                f"{exact_text(aside)}",
                remedy="Leave delta out of all queries: they then have equal parts of it.",
            )


def delta_of(study: StudySpec, query: QuerySpec) -> float:
    """The delta of a count by found groups: its own, or an equal part of what is set aside."""
    if query.delta is not None:
        return query.delta
    many = sum(is_found(study, other) for other in study.queries)
    return float(float_below(Fraction(study.budget.mechanism_delta) / many))


def found_groups(study: StudySpec, query: QuerySpec, cap: Cap | None) -> FoundGroups | None:
    """What a query asks of groups that are found in the data; `None` for every other query.

    The `study` is one that `check_found` accepts, and the `cap` is the query's.
    """
    if not is_found(study, query):
        return None
    (column,) = column_names(query.by)
    return FoundGroups.of(column, delta_of(study, query), study.data.rows_per_record, cap)


def _by(study: StudySpec) -> str:
    """The first column of a query whose groups are found in the data."""
    return next(
        name
        for query in study.queries
        for name in column_names(query.by)
        if name in study.columns and study.columns[name].groups is not None
    )
