"""What every handler of the front end is given: the program under construction, and the scope."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bayesdp.programs.ir import Adjacency, Command, Expr, Release, Type
from bayesdp.programs.source.drafts.scope import FunctionScope
from bayesdp.programs.source.drafts.values import LoweredValue, ModelObject
from bayesdp.programs.source.drafts.written_sizes import PartCounts
from bayesdp.programs.source.syntax.diagnostics import ProgramError, place, refuse
from bayesdp.programs.source.syntax.literals import Literal
from bayesdp.programs.source.syntax.source_file import SourceFile
from bayesdp.programs.whole_numbers import releases_whole

if TYPE_CHECKING:
    from bayesdp.programs.source.drafts.grouping import RowGrouping

MOST_STEPS = 20_000
MOST_NODES = 20_000


@dataclass(frozen=True)
class Handlers:
    """The table of the language: what each kind of syntax, and each function, means."""

    expressions: Mapping[type[ast.expr], Callable[..., LoweredValue]]
    statements: Mapping[type[ast.stmt], Callable[..., None]]
    calls: Mapping[str, Callable[[ast.Call, Context], LoweredValue]]


@dataclass(frozen=True)
class ReleasedSum:
    """A noisy sum: of `labels` (how many: of one-hot vectors), truth, whole or real values.

    `transitions` are those of so many labels.

    `known_size`: the number of rows is public.
    """

    kind: str
    labels: int
    known_size: bool
    names: tuple[Literal, ...] = ()
    """The labels, or the numbers of the cells from 0."""


class Draft:
    """A program under construction: the commands so far, and what has been said about them."""

    def __init__(
        self,
        source: SourceFile,
        function: ast.FunctionDef,
        adjacency: Adjacency,
        database: str,
        columns: Mapping[str, Type],
        inflation: Fraction | None = None,
    ) -> None:
        self.source = source
        self.function = function
        self.adjacency = adjacency
        self.database = database
        """The parameter that is the database."""
        self.columns = dict(columns)
        self.public_columns = frozenset(name for name, kind in columns.items() if kind.public)
        self.inflation = Fraction(1) if inflation is None else inflation
        """The factor of a record's standard deviation where the population's dependence counts."""
        self.dependent = False
        """Whether a model counts on the population's dependence."""
        self.chained = False
        """Whether a model counts on the population being a chain."""
        self.apart_from_dependence = False
        """Whether a model takes records for independent."""
        self.grouping: RowGrouping | None = None
        """How rows are grouped, where a record is several rows."""
        self.commands: list[Command] = []
        self.requires: list[Expr] = []
        self.models: dict[str, ModelObject] = {}
        """The model whose noisy statistics stand under a name."""
        self.sums: dict[str, ReleasedSum] = {}
        """What is known of the noisy sums that stand under a name."""
        self.joined: set[str] = set()
        """Names for which a branch has chosen between two noisy statistics."""
        self.several: set[str] = set()
        """Released posteriors of several numbers, such as coefficients."""
        self.whole: set[str] = set()
        """Names that certainly stand for whole numbers."""
        self.branches = 0
        """How deep the statement stands in branches."""
        self.stack: list[str] = []
        """The helpers that are being written out, the outermost first."""
        self.checked_helpers: set[str] = set()
        self._steps = 0
        self._names = 0
        self._sizes = PartCounts()

    def add_column(self, name: str, kind: Type) -> None:
        """Have a column that is made of a person's rows."""
        self.columns[name] = kind
        self.public_columns |= {name} if kind.public else frozenset()

    def fresh(self, hint: str) -> str:
        """A name, made from the hint, that no other command has."""
        self._names += 1
        return f"{hint}_{self._names}"

    def emit(self, op: str, node: ast.Call, args: Sequence[Expr], options: dict[str, Expr]) -> Expr:
        """Append a release, and return the public name of its result."""
        name = self.fresh(op.replace("-", "_"))
        release = Release(name, op, tuple(args), tuple(sorted(options.items())), place(node))
        self.commands.append(release)
        if releases_whole(release, self.columns, self.whole):
            self.whole.add(name)
        return Expr("public", (), (name,), place(node))

    @contextmanager
    def apart(self, commands: list[Command] | None = None) -> Iterator[list[Command]]:
        """Lower what is inside into another list of commands, such as one side of a branch."""
        outer, self.commands = self.commands, [] if commands is None else commands
        yield self.commands
        self.commands = outer

    @contextmanager
    def branch(self) -> Iterator[list[Command]]:
        """Lower what is inside into the commands of one side of a branch."""
        self.branches += 1
        with self.apart() as commands:
            yield commands
        self.branches -= 1

    @contextmanager
    def without_release(self, node: ast.AST, message: str, accepted: str = "") -> Iterator[None]:
        """Refuse a release, or another command, that is lowered inside."""
        before = len(self.commands)
        yield
        if len(self.commands) != before:
            raise refuse("construct", node, message, accepted)

    def tick(self, node: ast.AST) -> None:
        """Count one step of unrolling, and refuse too many."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise refuse("size", node, f"The program unrolls to more than {MOST_STEPS} steps.")

    def weigh(self, value: LoweredValue, node: ast.AST) -> None:
        """Refuse expressions that grow without end when they are written out."""
        if self._sizes.of(value) > MOST_NODES:
            raise refuse(
                "size",
                node,
                f"Written out, this has more than {MOST_NODES} parts.",
                "Release parts of it, and use the released values.",
            )


@dataclass(frozen=True)
class Context:
    """The surroundings of a piece of syntax: its draft, and its names.

    Handlers call each other through it, so that no file of handlers need know all the others.
    Places are on the nodes (`place`), and what is refused is raised (`refuse`).
    """

    draft: Draft
    scope: FunctionScope
    handlers: Handlers

    def inside(self, scope: FunctionScope) -> Context:
        """The context with the same draft and other names."""
        return Context(self.draft, scope, self.handlers)

    def value(self, node: ast.expr) -> LoweredValue:
        """The value of an expression."""
        handler = self.handlers.expressions.get(type(node))
        if handler is None:
            raise refuse("construct", node, f"'{type(node).__name__}' is not part of the language.")
        return handler(node, self)

    def run(self, statements: Iterable[ast.stmt]) -> None:
        """Give statements their meaning, in order."""
        for statement in statements:
            self.draft.tick(statement)
            handler = self.handlers.statements.get(type(statement))
            if handler is None:
                raise not_a_statement(statement)
            handler(statement, self)


def not_a_statement(statement: ast.stmt) -> ProgramError:
    """The refusal of a statement that has no meaning."""
    return refuse("construct", statement, "This statement is not part of the language.")
