"""All declared columns of a study together: parsed, and each `from` checked against the others.

Public name: `parse_columns`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from bayesdp.errors import InputError, explain_validation, require_shown
from bayesdp.statements.columns import DEFINED_AS
from bayesdp.tables.columns.checks import known_keys
from bayesdp.tables.columns.column import Column
from bayesdp.tables.columns.keys import refuse
from bayesdp.tables.columns.predicates import Predicate


def parse_columns(raw: Mapping[str, Any]) -> dict[str, Column]:
    """The columns of a study's `[data.columns]`, by name, in the order declared.

    Raises `InputError` with the key `data.columns.NAME.KEY`.
    """
    if not isinstance(raw, Mapping):
        raise InputError("data.columns", raw, expected="a table of column declarations")
    columns: dict[str, Column] = {}
    for name, spec in raw.items():
        if isinstance(spec, Column):
            columns[name] = spec
            continue
        if not isinstance(spec, Mapping):
            raise InputError(
                f"data.columns.{name}",
                spec,
                expected="a table of keys such as { bounds = [0, 10] } or { public = true }",
            )
        if "source" in spec:
            refuse(name, "source", spec["source"], "no key of this name", "Write 'from' instead.")
        if "name" in spec:
            refuse(name, "name", spec["name"], "no key of this name", known_keys("name"))
        require_shown(str(name), "data.columns")
        if not name or DEFINED_AS in name:
            raise InputError(
                "data.columns",
                name,
                expected=f"a name, without '{DEFINED_AS}' in it",
                remedy="Budgets remember derived columns as 'name = definition': rename this one.",
            )
        columns[name] = _build(name, spec)
    return _resolve_derived(columns)


def _build(name: str, spec: Mapping[str, Any]) -> Column:
    try:
        return Column.model_validate({"name": name, **spec})
    except ValidationError as error:
        raise explain_validation(error, Column, spec, f"data.columns.{name}") from None


def _resolve_derived(columns: dict[str, Column]) -> dict[str, Column]:
    """Check each `from` against the others; a column derived from a public one is public."""
    resolved = dict(columns)
    for name, column in columns.items():
        for part in column.parts or ():
            _check_part(name, part, columns)
        if column.source is None:
            continue
        if column.source == name:
            refuse(
                name, "from", column.source, "another column", "Give the derived one a new name."
            )
        origin = columns.get(column.source)
        if origin is not None:
            if origin.is_derived:
                refuse(name, "from", column.source, "a column of the table, not a derived one")
            if column.missing != "refuse":
                refuse(
                    name, "missing", column.missing, f"to be declared on '{column.source}' instead"
                )
            if origin.is_public and not column.is_public:
                resolved[name] = column.model_copy(update={"public": True})
            if origin.is_private and column.public:
                refuse(name, "public", True, f"false, since '{column.source}' is private")
            if column.cuts is not None and origin.reads in ("text", "boolean"):
                refuse(name, "cuts", column.cuts, f"numbers in '{column.source}' to cut")
        if column.where is not None:
            readable = {column.source: origin or Column(name=column.source, public=True)}
            predicate = Predicate.parse(column.where, readable, key=f"data.columns.{name}.where")
            resolved[name] = resolved[name].model_copy(update={"where": predicate.text})
    for name, column in columns.items():
        if column.source is not None:
            _hold_together(name, column, columns)
    return resolved


def _check_part(name: str, part: str, columns: Mapping[str, Column]) -> None:
    """A date is put together from public columns of the table."""
    readers = [other for other in columns.values() if part in other.cells and other.name != name]
    if any(reader.is_private for reader in readers):
        refuse(name, "from", part, "a public column, and this one is declared private")
    if part in columns and part not in columns[part].cells:
        refuse(name, "from", part, "a column of the table, not a derived one")


def _hold_together(name: str, column: Column, columns: Mapping[str, Column]) -> None:
    """Columns computed from the same column agree on `public`, and their definitions differ."""
    for other, neighbour in columns.items():
        alike = neighbour.source != column.source or neighbour.public == column.public
        definitions = [
            (derived.source, derived.cuts, derived.where) for derived in (column, neighbour)
        ]
        if other != name and definitions[0] == definitions[1]:
            refuse(name, "from", column.source, f"another definition than that of '{other}'")
        if column.source not in columns and not alike:
            expected = f"as for '{other}', which is computed from '{column.source}' too"
            refuse(name, "public", column.public, expected, f"Or declare '{column.source}' itself.")
