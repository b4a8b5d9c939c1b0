"""Counts by groups that nobody declares: what they need, and above which threshold they are shown.

A column with `groups = "from data"` is private, and so are its groups: that a shop is in the table
tells that somebody went there. So its count gets noise like any other, and the group is shown where
that reaches a threshold, which the groups of a single record hardly ever do (theory 4, "Groups that
are found in the data").

**Groups that are found in the data.** Nobody declares the groups of a column: that a group is there
at all tells that some record is in it. The count of every group in which rows count gets
independent discrete Laplace noise `Z` of scale `b`, and a group is shown, with its noisy count,
where that is at least `tau`. Let at most `M` rows of a record count, in at most `k` groups and at
most `m` of them in each (of a record that is a row all three are 1). *The release is `(2 M / b,
delta)`-DP if `k P[m + Z >= tau] <= delta`.*

*Proof.* Let `x` and `x'` differ in one record, and let `G` be the groups in which rows of other
records count: the same in both, because which rows of a record count is decided by its own rows.
The counts of `G` differ by at most `2 M` in l1 together, of rows that leave and of rows that enter,
so the laws `R` and `R'` of what is shown of them are within `e^(2 M / b)`. In any other group of
`x` or of `x'` nobody but the one record has rows: `x` has at most `k` of those, each with at most
`m` rows, and so has `x'`. Let `u` and `u'` be the probabilities that any of them is shown, from `x`
and from `x'`: both are at most `k P[m + Z >= tau]`. Take a set `S` of releases, and its part `S_0`
of those that show groups of `G` alone, and let `r = R(S_0)`. Noises are independent, so `P[S] <=
u + (1 - u) r` and `e^(2 M / b) P'[S] >= (1 - u') e^(2 M / b) R'(S_0) >= (1 - u') r`. The difference
is at most `u + (u' - u) r <= max(u, u')`. ∎

`tau` is the least whole number above `m` with `P[Z >= tau - m] = a^(tau - m) / (1 + a) <= delta /
k`, `a = e^(-1/b)`, decided in ball arithmetic; the kernel computes the same probability from what a
certificate declares. Whether a cell names a group is decided by the cell alone: a missing one, one
of more than 100 letters and one with letters that are not shown name none, and its row counts
nowhere. Groups of no rows that count are never shown, whatever else the table says of them: else a
record with rows that do not count would reach more than `k`. Which groups are shown, in which order
and how many is computed from noisy counts, and costs no more.

*Errors.* For each group, `P[shown, and off by more than e] <= P[|Z| > e]`. Nothing like it
holds *given* that a group is shown: of groups far below `tau` only those are shown whose noise was
large. So nothing is derived of all shown groups at once, such as an order of size. *Under a
population* no level follows (2.6b).

*Checked:* all neighbours over three groups, with rows that go to groups of nobody, of one other
record and of many, against the exact law: never above `delta`, and above it for a threshold that is
lower by one ([tests](../tests/release/test_found_groups.py)).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bayesdp.accounting.costs.readings import SMALLEST_DELTA
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
