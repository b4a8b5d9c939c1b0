"""Value labels: texts that a file has for the codes of a column.

A labelled column reads as its labels where the study declares texts, and as its codes where it
declares numbers.

Public names: `ValueLabels`, `label_of`, `require_distinct`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesdp.errors import TableError
from bayesdp.tables.literals import literal

ValueLabels = Mapping[float | str, str]
"""The labels of a column by the codes that they stand for."""


def label_of(raw: Any, labels: ValueLabels) -> Any:
    """The label of a cell's code, as an expression; NULL for a code without one."""
    import ibis

    code = raw.strip() if raw.type().is_string() else raw
    return ibis.cases(*((code == literal(known), label) for known, label in labels.items()))


def require_distinct(labels: ValueLabels, key: str) -> None:
    """Raises `TableError` at `key` where two codes have the same label."""
    if len(set(labels.values())) < len(labels):
        raise TableError(
            key,
            expected="value labels that tell the column's codes apart",
            remedy="Declare the codes as states, or rename labels in the file.",
            shown=False,
        )
