"""Which rows a query is about, how many of each record count, and the sizes of its groups."""

from __future__ import annotations

from dataclasses import dataclass

from bayesdp.errors import InputError, did_you_mean, first_names, toml_text
from bayesdp.release.queries.crossed_columns import place_text, quoted
from bayesdp.release.queries.found_groups import FoundGroups, found_groups
from bayesdp.release.queries.record_rows import cap_of, require_public_rows, rows_that_count
from bayesdp.release.queries.series import check_by
from bayesdp.release.spec.parts import QuerySpec
from bayesdp.release.spec.study import StudySpec
from bayesdp.statements.columns import CellKey
from bayesdp.statements.queries import AVERAGES, OF_MATCHING
from bayesdp.tables.columns.column import group_keys
from bayesdp.tables.columns.predicates import Predicate
from bayesdp.tables.queries.query import Cap


@dataclass(frozen=True, slots=True)
class AskedRows:
    """Which rows a query is about, and how many of each record.

    `where` is the condition that they match, `are_private` whether which ones match is private,
    `keys` are their declared groups, and `from_data` the groups that nobody declared. At most
    `that_count` rows of a record count, `in_group` in a group, of which `cap` says which.
    `as_many` says that all records have the same number of rows among them.
    """

    where: Predicate | None
    are_private: bool
    keys: tuple[CellKey, ...] | None
    from_data: FoundGroups | None
    cap: Cap | None
    that_count: int
    in_group: int
    as_many: bool

    @property
    def columns(self) -> frozenset[str]:
        """The columns that the condition reads."""
        return frozenset(self.where.columns if self.where is not None else ())


def asked_rows(study: StudySpec, query: QuerySpec, key: str) -> AskedRows:
    """Which rows the `query` at `key` of the `study` is about.

    Raises `InputError` for rows that it can't be about, and `UnsupportedError` for an average over
    records whose numbers of rows may differ.
    """
    where = _predicate(study, query, key)
    cap = cap_of(study, query, key)
    from_data = found_groups(study, query, cap)
    keys = _groups(study, query, key) if from_data is None else None
    averaged = query.kind in AVERAGES
    if study.data.unit != "row" and averaged:
        require_public_rows(study, query, key)
    that_count, in_group = rows_that_count(study.data.rows_per_record, cap, keys)
    if from_data is not None:
        that_count, in_group = from_data.rows, from_data.rows_in_group
    # Of the rows that count each record then has as many as any other: a proportion's condition
    # leaves none of them out, and other averages of such records have no condition.
    some = query.by is not None or cap is not None or (where is not None and not averaged)
    return AskedRows(
        where=where,
        are_private=where is not None
        and any(study.columns[name].is_private for name in where.columns),
        keys=keys,
        from_data=from_data,
        cap=cap,
        that_count=that_count,
        in_group=in_group,
        as_many=study.data.balanced and not some,
    )


def require_public_part(query: QuerySpec, key: str, rows: AskedRows) -> None:
    """`InputError` for an average over the rows that match, where which ones do is private.

    The `query` stands at `key` of the study, and `rows` are those that it is about.
    """
    if query.kind not in OF_MATCHING or not rows.are_private:
        return
    raise InputError(
        f"{key}.where",
        query.where,
        expected=f"a condition on public columns only, for a {query.kind}",
        remedy=f"How many rows match is private. Ask for the {query.kind} of all rows, or of those "
        "that a public condition names."
        if query.kind != "mean"
        else 'How many rows match is private. Write kind = "sum" instead, and a second [[query]] '
        f'with the same where = {toml_text(query.where or "")} and kind = "count"; the mean is '
        "about their ratio.",
    )


def _predicate(study: StudySpec, query: QuerySpec, key: str) -> Predicate | None:
    if query.where is None:
        return None
    return Predicate.parse(query.where, study.columns, key=f"{key}.where")


def _groups(study: StudySpec, query: QuerySpec, key: str) -> tuple[CellKey, ...] | None:
    if query.by is None:
        return None
    check_by(query, key)
    return group_keys(study.columns, query.by, key=f"{key}.by")


def group_rows(
    study: StudySpec, query: QuerySpec, keys: tuple[CellKey, ...] | None, key: str
) -> dict[CellKey, int] | None:
    """The declared size of each group; `None` where none is declared.

    The `query` stands at `key` of the `study`, and `keys` are its groups. Raises `InputError` for
    sizes that can't be.
    """
    sizes = query.group_sizes
    if sizes is None:
        return None
    key = f"{key}.group_sizes"
    if keys is None or query.kind not in AVERAGES:
        raise InputError(
            key,
            sizes,
            expected="only with by, on an average: a mean, proportion, variance, covariance "
            "or regression",
            remedy="Leave it out.",
        )
    names = {place_text(group): group for group in keys}
    if len(names) < len(keys):
        raise InputError(
            key,
            sizes,
            expected="nothing where two groups have the same name, as here",
            remedy="Rename states that hold a comma, or leave it out.",
        )
    for name, size in sizes.items():
        if name not in names:
            raise InputError(
                f"{key}.{name}",
                size,
                expected=f"a declared group of {quoted(query.by)}",
                remedy=did_you_mean(name, names),
            )
        if size < 1:
            raise InputError(f"{key}.{name}", size, expected="a number of rows, at least 1")
    missing = [name for name in names if name not in sizes]
    if missing:
        raise InputError(
            key, sizes, expected="the size of every group", remedy=f"Add {first_names(missing)}."
        )
    n, total = study.data.n, sum(sizes.values())
    some = query.kind in OF_MATCHING and query.where is not None
    if isinstance(n, int) and (total > n or (total < n and not some)):
        raise InputError(
            key,
            sizes,
            expected=f"sizes that add up to {'at most ' if some else ''}data.n = {n}",
            remedy=f"They add up to {total}.",
        )
    return {group: sizes[name] for name, group in names.items()}
