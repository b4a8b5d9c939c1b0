"""What everybody may be told is wrong: a group of another size, an average over no rows.

Public columns alone decide which rows a group has, or an average is over, so their number is
public: both refusals say what they found. All others say the same whatever is wrong with a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayesdp.release.price.planned_query import PlannedQuery
from bayesdp.release.queries.crossed_columns import place_text, quoted
from bayesdp.statements.queries import OF_MATCHING
from bayesdp.statements.spends import is_one_row
from bayesdp.tables.columns.column import Column
from bayesdp.tables.refusals import Finding
from bayesdp.tables.sums.scan import Totals


def averages_of_nothing(
    queries: Sequence[PlannedQuery], totals: Totals, columns: Mapping[str, Column]
) -> list[str]:
    """For each average without rows, a sentence that names it and the remedy.

    `queries` are those of the study with their prices, `totals` their exact numbers, and `columns`
    the declared ones.
    """
    sentences = []
    for query in queries:
        spec = query.asked.spec
        if not _needs_rows(query):
            continue
        for group, rows in totals[spec.name].sizes.items():
            if rows == 0:
                words = "" if group is None else ", ".join(query.asked.group_words[group])
                shown = repr(words or group)
                inside = "" if spec.by is None else f" in the group {shown} of {quoted(spec.by)}"
                where = f" where {spec.where}" if spec.kind in PUBLIC_PART and spec.where else ""
                remedy = "Ask for a sum or a count, which is 0 of no rows"
                if inside and where:
                    remedy += ", or leave out by or where"
                elif inside and not isinstance(spec.by, str):
                    remedy += ", or name fewer columns in by"
                elif inside and words != str(group):
                    remedy += f", or cut '{spec.by}' where every group has rows"
                elif inside and columns[str(spec.by)].is_derived:
                    remedy += f", or leave out by = '{spec.by}'"
                elif inside:
                    remedy += f", or leave {shown} out of the states of '{spec.by}'"
                remedy += "."
                sentences.append(
                    f"Query '{spec.name}': there are no rows{inside}{where}, so there is no "
                    f"{spec.kind} of them. {remedy}"
                )
    return sentences


PUBLIC_PART = (*OF_MATCHING, "quantile")
"""Kinds of queries that are over the rows that match their condition on public columns."""


def _needs_rows(query: PlannedQuery) -> bool:
    """Whether no rows of a public part of the table have no such number, and everybody may know it.

    `Total.sizes` counts by public columns alone: a condition on private ones refuses nothing. Where
    a record is several rows, which groups they lie in is protected with them: of no rows a quantile
    is any candidate then.
    """
    return query.asked.averaged or (query.asked.choice is not None and is_one_row(query.spend.unit))


def other_group_sizes(queries: Sequence[PlannedQuery], totals: Totals) -> list[Finding]:
    """The groups whose sizes are not as the queries declare them."""
    return [
        Finding(
            "group-size",
            f"The query '{query.asked.spec.name}' declares {declared} rows of the group "
            f"'{place_text(group)}', and the table has {there}.",
        )
        for query in queries
        for group, declared in (query.asked.group_rows or {}).items()
        if (there := totals[query.asked.spec.name].sizes[group]) != declared
    ]
