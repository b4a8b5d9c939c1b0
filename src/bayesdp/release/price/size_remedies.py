"""What to do where an error is wanted of an average, and it isn't known of how many rows."""

from __future__ import annotations

from bayesdp.errors import toml_key
from bayesdp.release.queries.asked_query import AskedQuery
from bayesdp.release.queries.crossed_columns import place_text
from bayesdp.statements.queries import OF_MATCHING


def _of_the_total(asked: AskedQuery) -> str:
    """What the error of a sum is, beside that of a mean."""
    unit = (asked.column.unit or "") if asked.column is not None else ""
    return (
        f"{f'in {unit} ' if unit else ''}of the total, so as many times that of the mean as there "
        "are rows"
    )


def size_remedy(asked: AskedQuery) -> str:
    """How to say how many rows an average is over."""
    by, where = asked.spec.by, asked.spec.where
    squares = asked.spec.kind in ("variance", "covariance")
    if by is not None:
        each = ", ".join(f"{toml_key(place_text(key))} = ..." for key in asked.keys or ())
        share = asked.spec.kind == "proportion"
        stated = (
            f"If the sizes of the groups are public, state them: group_sizes = {{ {each} }}; the "
            "error is then kept in the smallest one. Else use weight"
        )
        if squares:
            return f"{stated}."
        instead = (
            'kind = "count", whose error can be wanted: in records, and not as a share'
            if share
            else f'kind = "sum", whose error can be wanted: {_of_the_total(asked)}'
        )
        return f"{stated}, or write {instead}."
    if where is not None and asked.spec.kind in OF_MATCHING:
        weight = (
            "Use weight: 'bayesdp check STUDY' shows the error, to be divided by the rows that "
            "match."
        )
        if squares:
            return weight
        return f'{weight} Or write kind = "sum", whose error can be wanted: {_of_the_total(asked)}.'
    stated = (
        "Write in the place of its line below [data] how many records there are: n = ..., or use "
        "weight."
    )
    if squares:
        return stated
    stated += " Or write kind = "
    if asked.spec.kind == "proportion":
        return f'{stated}"count", whose error can be wanted: in records, and not as a share.'
    return f'{stated}"sum", whose error can be wanted: {_of_the_total(asked)}.'
