"""What the names of one function body stand for, and what is said of names without a value."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from difflib import get_close_matches

from bayesdp.programs.language_names import SURFACE, TYPES
from bayesdp.programs.source.drafts.values import (
    Dictionary,
    Items,
    LoweredValue,
    PersonRows,
    RecordVariable,
    Scalar,
)
from bayesdp.programs.source.syntax.diagnostics import ProgramError, refuse
from bayesdp.programs.source.syntax.suggestions import INSTEAD, WAYS_OUT


class FunctionScope:
    """The values of the names of one function body; `gone` says why a name has no value."""

    def __init__(self, names: dict[str, LoweredValue], gone: dict[str, str] | None = None) -> None:
        self.names = names
        self.gone: dict[str, str] = dict(gone or {})

    def look_up(self, node: ast.Name) -> LoweredValue:
        """The value of a name, or a diagnostic with the nearest known name."""
        if node.id in self.names:
            return self.names[node.id]
        raise self.unknown(node)

    def unknown(self, node: ast.Name) -> ProgramError:
        """The diagnostic for a name without a value: why it has none."""
        name = node.id
        if name in self.gone:
            return refuse("name", node, f"'{name}' {self.gone[name]}")
        if name in WAYS_OUT:
            return refuse(
                "effect",
                node,
                f"{name} is a way out for private values, or into Python's own workings.",
                "What a program says is what it returns: release it and return it.",
            )
        if name in INSTEAD:
            return refuse("name", node, f"Programs have no {name}.", INSTEAD[name])
        if name in TYPES:
            return refuse("type", node, f"{name} is a type, and types stand in annotations.", "")
        if name in SURFACE:
            return refuse(
                "name",
                node,
                f"'{name}' is not imported.",
                f"Write `from bayesdp.programs import {name}`.",
            )
        close = get_close_matches(name, self.names, n=1, cutoff=0.6)
        return refuse(
            "name",
            node,
            f"'{name}' is not known here.",
            f"Did you mean '{close[0]}'?"
            if close
            else "Names are parameters, values assigned before, and what the file imports.",
        )

    def bind(self, name: str, value: LoweredValue) -> None:
        """Give a name a value."""
        self.names[name] = value
        self.gone.pop(name, None)

    def lose(self, name: str, why: str) -> None:
        """Take a name's value away; `why` is for messages."""
        self.names.pop(name, None)
        self.gone[name] = why

    def ended(self, target: ast.AST, why: str) -> None:
        """Take away the values of names that had one inside an expression only."""
        for part in ast.walk(target):
            name = part.id if isinstance(part, ast.Name) else getattr(part, "arg", None)
            if name is not None and name not in self.names:
                self.gone[name] = why

    def copied(self) -> FunctionScope:
        """A scope with the same names; what is bound in it is not bound in this one."""
        return FunctionScope(dict(self.names), self.gone)

    def inside_rows(self, more: Mapping[str, LoweredValue]) -> FunctionScope:
        """The scope inside a generator: rows of another generator can't be reached.

        Both would be called by their columns alone, and so taken for one record.
        """
        inner = self.copied()
        for name, value in self.names.items():
            if _of_row(value):
                inner.lose(
                    name,
                    "is a row of another generator: pairs of records have no bound. Write one "
                    "`for` over the data.",
                )
        for name, value in more.items():
            inner.bind(name, value)
        return inner


def _of_row(value: LoweredValue) -> bool:
    if isinstance(value, Items):
        return any(_of_row(entry) for entry in value.items)
    if isinstance(value, Dictionary):
        return any(_of_row(entry) for entry in value.values)
    return isinstance(value, RecordVariable | PersonRows) or (
        isinstance(value, Scalar) and value.level == "row"
    )
