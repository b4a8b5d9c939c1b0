"""A program as the rules read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.reading import as_invalid
from bayesdp.statements.program import (
    ONE,
    SIZE,
    TRUE,
    Branch,
    Command,
    Constant,
    Derive,
    Parts,
    Release,
    columns_of,
    const,
    flat,
    pieces,
)
from bayesdp.statements.program import Expr as Node
from bayesdp.statements.program_documents import (
    MOST_ENTRIES,
    ColumnType,
    PersonsDocument,
    ProgramDocument,
    commands_of,
    exact_number,
    read_document,
)


def number(raw: object, what: str = "a number") -> Fraction:
    """A text "p" or "p/q" in lowest terms; `InvalidError` for anything else."""
    try:
        return exact_number(raw)
    except ValueError as error:
        raise InvalidError(f"{what}: {error}") from None


# -- programs ------------------------------------------------------------------------------


class Values(Protocol):
    """What a column may hold; a front end's own types will do."""

    @property
    def kind(self) -> str:
        """bool, int, real or category."""
        raise NotImplementedError

    @property
    def low(self) -> Fraction | None:
        """The lower end."""
        raise NotImplementedError

    @property
    def high(self) -> Fraction | None:
        """The upper end."""
        raise NotImplementedError

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of a category."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Program:
    """What costs are derived from."""

    adjacency: str
    columns: Mapping[str, ColumnType]
    requires: tuple[Node, ...]
    body: tuple[Command, ...]
    returns: tuple[Node, ...]
    epsilon: Fraction | None
    delta: Fraction | None
    source: str
    name: str
    parameters: Mapping[str, Constant]
    return_types: tuple[str, ...]
    persons: PersonsDocument | None = None

    @property
    def public(self) -> frozenset[str]:
        """The columns that a neighbouring database shares."""
        if self.adjacency != "replace-one":
            return frozenset()
        return frozenset(name for name, column in self.columns.items() if column.public)


def program_of(stated: ProgramDocument) -> Program:
    """The program that a document states."""
    return Program(
        stated.adjacency,
        dict(stated.record),
        stated.requires,
        commands_of(stated.body),
        stated.returns,
        *stated.declared,
        stated.source,
        stated.name,
        {name: value for name, _, value in stated.parameters},
        stated.return_types,
        stated.persons,
    )


def read_program(plain: object) -> Program:
    """The program; `InvalidError` or `UnknownError` where it is none."""
    with as_invalid():
        return program_of(read_document(plain))


__all__ = [
    "MOST_ENTRIES",
    "ONE",
    "SIZE",
    "TRUE",
    "Branch",
    "ColumnType",
    "Command",
    "Constant",
    "Derive",
    "Node",
    "Parts",
    "Program",
    "Release",
    "Values",
    "columns_of",
    "const",
    "flat",
    "number",
    "pieces",
    "program_of",
    "read_program",
]
