"""How many rows of a record count, where a record is several rows, and which are left out.

**Records of several rows.** Let at most `m` rows of a record count for a query, at most `g` of them
in one group of `by` or cell of a histogram: `m = g = r` where a record has at most r rows. Let `s`
be the sensitivity of one row. Replacing a record moves the query by at most `m s`, and by `2 m s`
in l1 where its rows may lie in any groups or cells; the square of the move in l2 is then at most `2
m g s^2`. *Proof.* Let `u` and `v` be the record's numbers of rows in each group before and after:
numbers from 0 to `g` that add up to at most `m`. A group's number moves by at most `s max(u_i,
v_i)`: pair rows that leave with rows that enter, each pair moves it by at most `s`, and so does a
row without a partner. So the l1 move is at most `s (|u| + |v|) <= 2 m s`, and the square at most
`s^2 (sum u_i^2 + sum v_i^2) <= s^2 g (sum u_i + sum v_i) <= 2 m g s^2`. ∎ *Of a quantile* with
probability a / b, in steps of 1/b row, with `t = max(a, b - a)`: a group's scores move by at most
`b min(u_i, v_i) + t |u_i - v_i| <= t (u_i + v_i)`, and the squares add up to at most `m g max(b^2,
2 t^2)`. *Proof of the latter:* on the triangle `0 <= y <= x <= g` the function `(b y + t (x -
y))^2` is convex, and `c g (x + y) / 2` with `c = max(b^2, 2 t^2)` is linear and no smaller at the
corners, so nowhere. ∎

*Which rows count.* Rows that are left out (`max_rows`) are chosen by a function of the record's own
rows, the same for all tables. So the query is one of the table in which each record has its chosen
rows only, and replacing a record of the given table replaces one of that table: a DP cost there is
a DP cost here, for records of any number of rows. The choice must not depend on anything else, the
order of a file or an engine's ties among them: if a tie were broken differently in two runs, the
rows of *other* records would move too.
"""

from __future__ import annotations

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.release.spec.parts import CAPS, QuerySpec, refuse_keys
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.base import exact_text
from bayesdp.statements.columns import CellKey
from bayesdp.statements.queries import OF_MATCHING, PRODUCTS
from bayesdp.tables.columns.column import Column
from bayesdp.tables.queries.query import Cap


def require_public_rows(study: StudySpec, query: QuerySpec, key: str) -> None:
    """Refuse an average over records of several rows, unless how many rows it is over is public.

    `query` stands at `key` of the `study`. Raises `UnsupportedError`, and `InputError` where it has
    groups, a condition or caps.
    """
    expected = "sum, count, histogram or quantile where a record has several rows"
    if not study.data.balanced:
        raise UnsupportedError(
            f"{key}.kind",
            query.kind,
            expected=expected,
            remedy=average_remedy(study, query),
        )
    narrowed = next((name for name in ("by", *CAPS) if getattr(query, name) is not None), None)
    if narrowed is None and query.kind in OF_MATCHING and query.where is not None:
        narrowed = "where"
    if narrowed is not None:
        what = "sum" if query.kind == "mean" else "count"
        raise UnsupportedError(
            f"{key}.{narrowed}",
            getattr(query, narrowed),
            expected=f"a {query.kind} over all rows: records may differ in how many rows match",
            remedy=f"Leave {narrowed} out."
            if query.kind in ("variance", *PRODUCTS)
            else f'Write kind = "{what}", and divide by the number of rows, if that is public.',
        )


def average_remedy(study: StudySpec, query: QuerySpec) -> str:
    """The remedy for an average over records whose numbers of rows may differ."""
    unit, most, capped = (
        study.data.unit,
        study.data.rows_per_record,
        study.data.max_rows is not None,
    )
    exactly = (
        f"at least {most} rows, so that exactly {most} count" if capped else f"exactly {most} rows"
    )
    balanced = f"If each {unit} has {exactly}, write below [data]: balanced = true. Otherwise"
    what = "sum" if query.kind == "mean" else "count"
    if query.kind == "variance":
        return f"{balanced} quantiles, or a histogram, show how far values spread."
    if query.kind in PRODUCTS:
        return (
            f"{balanced} a histogram of both columns, cut into states, shows how they go together."
        )
    if capped:
        return (
            f'{balanced} write kind = "{what}", and a second [[query]] of kind = "count" with a '
            "condition that always holds: the average is about their ratio."
        )
    return (
        f'{balanced} write kind = "{what}" and divide it by the number of rows, which n is not: n '
        "counts records. The number may be published, because who has which rows is not protected."
    )


def cap_of(study: StudySpec, query: QuerySpec, key: str) -> Cap | None:
    """How many of a record's rows count for the `query` at `key` of the `study`; `None` for all.

    Raises `InputError` for keys that don't go together.
    """
    if study.data.unit == "row":
        expected = 'nothing where unit is "row"'
        remedy = "Leave it out, or name the column whose rows form one record as data.unit."
        refuse_keys(query, CAPS, key, expected, remedy)
    if query.by is None:
        expected = "nothing on a query without groups"
        remedy = "Name the column of the groups as by, or write max_rows for all rows that match."
        refuse_keys(query, ("max_groups", "max_rows_per_group"), key, expected, remedy)
    if query.max_rows_per_group is not None:
        expected = "nothing beside max_rows_per_group"
        refuse_keys(query, ("max_rows",), key, expected)
    elif query.max_groups is not None:
        raise InputError(
            f"{key}.max_groups",
            query.max_groups,
            expected="to stand with max_rows_per_group, the most rows that count in each group",
            remedy="Without it all rows of a record may be in one group, and nothing is cheaper.",
        )
    cap = Cap(query.max_rows, query.max_groups, query.max_rows_per_group, query.total_bounds)
    return None if cap == Cap() else cap


def check_totals(query: QuerySpec, column: Column | None, rows: int, key: str) -> None:
    """`InputError` for bounds of totals that a query can't have: of a sum without groups.

    At most so many `rows` of a record count, with values of the `column`.
    """
    if query.total_bounds is None:
        return
    key, bounds = f"{key}.total_bounds", list(query.total_bounds)
    if query.kind != "sum" or query.by is not None or column is None or column.interval is None:
        raise InputError(
            key,
            bounds,
            expected="only on a sum without by",
            remedy="Leave total_bounds out, or ask for a sum for each group, with its where.",
        )
    low, high = query.total_bounds
    least, most = (
        rows * end for end in (min(0.0, column.interval[0]), max(0.0, column.interval[1]))
    )
    if not least <= low < high <= most:
        raise InputError(
            key,
            bounds,
            expected=f"[lower, upper] between {exact_text(least)} and {exact_text(most)}, which is "
            f"what {rows} rows of '{column.name}' can add up to",
            remedy="Totals outside are clipped: choose bounds that few are outside of.",
        )


def rows_that_count(
    rows: int, cap: Cap | None, keys: tuple[CellKey, ...] | None
) -> tuple[int, int]:
    """Of a record's at most so many `rows`: how many count, and how many in one group."""
    if cap is None:
        return rows, rows
    if cap.rows_in_group is None:
        most = min(rows, cap.rows or rows)
        return most, most
    groups, in_group = len(keys or (None,)), min(rows, cap.rows_in_group)
    return min(rows, min(groups, cap.groups or groups) * in_group), in_group
