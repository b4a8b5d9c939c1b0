"""From a program's syntax tree to the intermediate representation.

Statements are run once, with names standing for what they mean: private values are substituted,
helpers inlined, static loops unrolled, static conditions decided. What is left is a list of
commands. Nothing of the program's own code is ever executed on data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from bayesdp.errors import InputError
from bayesdp.programs.ir import (
    Adjacency,
    Constant,
    Expr,
    Program,
    Type,
    nodes,
)
from bayesdp.programs.source.annotations import (
    RESULTS,
    check_annotation,
    read_results,
    read_type,
)
from bayesdp.programs.source.calls import POSTERIOR, bind
from bayesdp.programs.source.diagnostics import ProgramError, refuse, written
from bayesdp.programs.source.flow import Flow
from bayesdp.programs.source.literals import Literal, literal
from bayesdp.programs.source.module import SourceFile
from bayesdp.programs.source.results import returns
from bayesdp.programs.source.scope import Scope
from bayesdp.programs.source.syntax import check_syntax
from bayesdp.programs.source.values import (
    TRUE,
    Data,
    Items,
    Named,
    Row,
    Scalar,
    Thing,
    Value,
    static,
)
from bayesdp.programs.surface_names import BUILTINS

MOST_DEPTH = 40
SIGNATURE = "def name(people: Database[Person], *, level: Public[Real[0, 1]] = 0.5) -> ..."


def lower(
    source: SourceFile, name: str, parameters: Mapping[str, Literal] | None = None
) -> Program:
    """The program as IR. `parameters` fixes its public arguments. Raises `ProgramError`."""
    try:
        return _Lowering(source, name, dict(parameters or {})).program()
    except ProgramError as error:
        raise source.located(error) from None
    except RecursionError:
        found = refuse("size", source.programs[name], "This program is nested too deeply.")
        raise source.located(found) from None


class _Lowering(Flow):
    def __init__(self, source: SourceFile, name: str, given: dict[str, Literal]) -> None:
        super().__init__()
        self.source = source
        self.function = source.programs[name]
        self.given = given
        options = source.options.get(name, {})
        adjacency = options.get("adjacency", "replace-one")
        self.adjacency: Adjacency = "add-remove" if adjacency == "add-remove" else "replace-one"
        self.epsilon_declared = options.get("epsilon")
        self.delta_declared = options.get("delta")
        self.requires: list[Expr] = []
        self.stack: list[str] = []
        self.seen: set[str] = set()
        self.public_columns: frozenset[str] = frozenset()

    def program(self) -> Program:
        database, fields, is_scalar = self._database()
        self.database = database
        self.public_columns = frozenset(one for one, kind in fields if kind.public)
        names = self._globals()
        parameters = self._parameters(names)
        row: Row | Scalar = Row(fields)
        if is_scalar:
            row = Scalar("row", Expr("field", (), ("",)), fields[0][1])
        names[database] = Data((), TRUE, row)
        results = read_results(self.function.returns, self.function, self.source.surface)
        check_syntax(self.function, self.source.surface)
        returned = self._body(self.function, Scope(names, self.adjacency))
        found, types = returns(returned, results, self.function)
        return Program(
            self.function.name,
            self.adjacency,
            database,
            fields,
            is_scalar,
            parameters,
            tuple(self.requires),
            tuple(self.commands),
            found,
            types,
            _fraction(self.epsilon_declared),
            _fraction(self.delta_declared),
            self.source.digest,
            ast.get_docstring(self.function) or "",
        )

    # -- signature ---------------------------------------------------------------------------

    def _database(self) -> tuple[str, tuple[tuple[str, Type], ...], bool]:
        given = self.function.args
        if given.vararg or given.kwarg or given.posonlyargs or given.defaults:
            raise refuse(
                "signature",
                self.function if not given.defaults else given.defaults[0],
                "A program takes one Database, without a default, and public arguments by keyword.",
                SIGNATURE,
            )
        if len(given.args) != 1:
            raise refuse(
                "signature",
                given.args[1] if len(given.args) > 1 else self.function,
                "A program takes exactly one Database, and public arguments by keyword.",
                SIGNATURE,
            )
        argument = given.args[0]
        node = argument.annotation
        if (
            not isinstance(node, ast.Subscript)
            or not isinstance(node.value, ast.Name)
            or node.value.id != "Database"
            or "Database" not in self.source.surface
        ):
            raise refuse(
                "signature",
                node or argument,
                f"'{argument.arg}' is not declared as Database[...].",
                "Its records are a @record class or a type: Database[Person], Database[Bool].",
            )
        if isinstance(node.slice, ast.Name) and node.slice.id in self.source.records:
            return argument.arg, self.source.records[node.slice.id], False
        kind = self._type(node.slice)
        return argument.arg, (("", kind),), True

    def _globals(self) -> dict[str, Value]:
        names: dict[str, Value] = {
            one: Named("surface", one) for one in self.source.surface if not one[:1].isupper()
        }
        names |= {one: Named("builtin", one) for one in BUILTINS}
        names |= {one: Named("helper", one) for one in self.source.helpers}
        names |= {one: static(value) for one, value in self.source.constants.items()}
        return names

    def _parameters(self, names: dict[str, Value]) -> tuple[tuple[str, Type, Constant], ...]:
        found: list[tuple[str, Type, Constant]] = []
        given = self.function.args
        known = [one.arg for one in given.kwonlyargs]
        for name in self.given:
            if name not in known:
                raise InputError(
                    name,
                    expected=f"a public argument of {self.function.name}",
                    remedy=f"It has {', '.join(known) or 'none'}.",
                    shown=False,
                )
        for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
            kind = self._public_type(argument)
            if argument.arg in self.given:
                value = self.given[argument.arg]
                if not admitted(value, kind):
                    raise InputError(
                        argument.arg, _plain(value), expected=f"a value of {_declared(kind)}"
                    )
            elif default is not None:
                value = literal(default, self.source.constants)
            else:
                raise refuse(
                    "arguments",
                    argument,
                    f"'{argument.arg}' has no value.",
                    "Give it a default, or a value when the program is checked.",
                )
            if not admitted(value, kind):
                raise refuse(
                    "bounds",
                    default or argument,
                    f"{_plain(value)} is no value of {_declared(kind)}.",
                    "Change the default, or the declared type.",
                )
            assert not isinstance(value, tuple)
            found.append((argument.arg, kind, value))
            names[argument.arg] = static(value, argument)
        return tuple(found)

    def _type(self, node: ast.expr) -> Type:
        file = self.source
        return read_type(node, file.surface, file.types, file.constants)

    def _public_type(self, argument: ast.arg) -> Type:
        node = argument.annotation
        kind = self._type(node) if node is not None else None
        if kind is None or not kind.public:
            raise refuse(
                "signature",
                argument,
                f"'{argument.arg}' is not declared as Public[...].",
                "Only the database is private: Public[Real[0, 1]], for example.",
            )
        return kind

    # -- statements --------------------------------------------------------------------------

    def _body(self, function: ast.FunctionDef, scope: Scope) -> Value:
        """Run a function's statements; its one return stands last."""
        body = list(function.body)
        if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
            raise refuse(
                "return",
                body[-1] if body else function,
                "The last statement is the return of a value.",
                "Programs and helpers end with `return ...`.",
            )
        self.run(body[:-1], scope)
        last = body[-1]
        assert last.value is not None
        return self.value(last.value, scope)

    def run(self, statements: Iterable[ast.stmt], scope: Scope) -> None:
        for statement in statements:
            self.tick(statement)
            self._statement(statement, scope)

    def _statement(self, statement: ast.stmt, scope: Scope) -> None:
        if isinstance(statement, ast.Assign):
            found = self.value(statement.value, scope)
            for target in statement.targets:
                self.assign(target, found, scope)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            found = self.value(statement.value, scope)
            self._announced(statement, found)
            self.assign(statement.target, found, scope)
        elif isinstance(statement, ast.AugAssign):
            self._augmented(statement, scope)
        elif isinstance(statement, ast.For):
            self._loop(statement, scope)
        elif isinstance(statement, ast.If):
            self._condition(statement, scope)
        elif isinstance(statement, ast.Expr):
            self._expression(statement, scope)
        elif isinstance(statement, ast.Return):
            raise refuse(
                "return",
                statement,
                "A return before the end would tell which way the program went.",
                "Assign the value, and return it on the last line.",
            )
        elif not isinstance(statement, ast.Pass):
            raise refuse("construct", statement, "This statement is not part of the language.")

    def _augmented(self, statement: ast.AugAssign, scope: Scope) -> None:
        """X += 1 is x = x + 1, of numbers: a Python list would change under its other names."""
        target = statement.target
        if not isinstance(target, ast.Name):
            raise refuse(
                "effect",
                statement,
                "Only a name is changed by += and the like.",
                "Give the new value a name.",
            )
        before = scope.look_up(_loaded(target))
        if isinstance(before, Items) and before.changes:
            raise refuse(
                "effect",
                statement,
                "A list would change under all its names.",
                f"Write {target.id} = {target.id} + [...], or use tuples.",
            )
        both = ast.copy_location(
            ast.BinOp(_loaded(target), statement.op, statement.value), statement
        )
        self.assign(target, self.value(both, scope), scope)

    def _announced(self, statement: ast.AnnAssign, found: Value) -> None:
        """An annotation inside a function clamps nothing, so it must be true as it stands."""
        node = statement.annotation
        if isinstance(node, ast.Name) and isinstance(found, Scalar) and found.level != "row":
            fits = {"Bool": ("bool",), "Int": ("int", "bool"), "Real": ("real", "int", "bool")}
            if found.type.kind in fits.get(node.id, ()):
                return
        if (
            isinstance(node, ast.Name)
            and isinstance(found, Thing)
            and found.released
            and POSTERIOR.get(found.family) == node.id
        ):
            return
        raise refuse(
            "annotation",
            node,
            f"Nothing makes this value {written(node)}: an annotation inside a program "
            "clamps nothing.",
            "Leave it out; clip(value, low, high) gives bounds.",
        )

    def _expression(self, statement: ast.Expr, scope: Scope) -> None:
        node = statement.value
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "require"
        ):
            self._require(node, scope)
            return
        self.value(node, scope)  # what is wrong with it is said first
        raise refuse("construct", statement, "This value is not used.", "Assign or return it.")

    def call_require(self, node: ast.Call, scope: Scope) -> Value:
        """require(...) has no value."""
        raise refuse("construct", node, "require(...) stands on a line of its own.", "")

    def _require(self, node: ast.Call, scope: Scope) -> None:
        """require(condition on public values)."""
        scope.look_up(ast.copy_location(ast.Name("require", ast.Load()), node))
        bound = bind(node, ["condition"], needed=1)
        found = self._stated(bound.given["condition"], scope)
        if found.level not in ("static", "public") or found.released:
            raise refuse(
                "private-control",
                node,
                "A precondition is about public values only: failing it would tell about others.",
                "require(db.size >= 10)",
            )
        if self.branches:
            raise refuse(
                "construct",
                node,
                "This precondition stands in a branch, and holds whichever way is taken.",
                "Write it before the `if`: require(...) of both conditions, joined by `or`.",
            )
        if self.commands:
            raise refuse("construct", node, "Preconditions stand before the first release.")
        for one in nodes(found.expr):
            if one.op in ("sum", "count"):
                raise refuse(
                    "static",
                    one.where or node,
                    "A precondition holds numbers, public arguments and db.size: a sum of public "
                    "columns, as the size of a public piece, is known with the table only.",
                    "Leave it out, and divide by max(part.size, 1); what must not be released for "
                    "an empty piece stands inside `if part.size > 0:`.",
                )
        self.requires.append(found.expr)

    def _stated(self, node: ast.expr, scope: Scope) -> Scalar:
        try:
            return self.truth(node, scope)
        except ProgramError as error:
            found = error.diagnostic
            if found.code != "private-control":
                raise
            raise refuse(
                "private-control",
                found.where,
                "Only public values stand in a precondition: whether a private one holds would "
                "tell about the data.",
                "require(db.size >= 10), where the number of records is public.",
            ) from None

    # -- helpers -----------------------------------------------------------------------------

    def inline(self, name: str, node: ast.Call, scope: Scope) -> Value:
        """A helper's body in place of its call."""
        function = self._helper(name)
        given = function.args
        plain = [one.arg for one in given.args]
        named = [one.arg for one in given.kwonlyargs]
        bound = bind(node, plain, needed=0, keyword=named)
        values = {key: self.value(one, scope) for key, one in bound.given.items()}
        defaults: list[tuple[str, ast.expr | None]] = [
            *zip(plain[len(plain) - len(given.defaults) :], given.defaults, strict=True),
            *zip(named, given.kw_defaults, strict=True),
        ]
        for one, default in defaults:
            if default is not None:
                values.setdefault(one, static(literal(default, self.source.constants), default))
        missing = [one for one in (*plain, *named) if one not in values]
        if missing:
            raise refuse("arguments", node, f"{name} needs {', '.join(missing)}.")
        return self._inlined(function, values, node)

    def _helper(self, name: str) -> ast.FunctionDef:
        """A helper, checked when it is first called."""
        function = self.source.helpers[name]
        if name not in self.seen:
            given = function.args
            check_syntax(function, self.source.surface)
            for one in (*given.args, *given.kwonlyargs):
                check_annotation(one.annotation, self.source)
            check_annotation(function.returns, self.source)
            for default in (*given.defaults, *given.kw_defaults):
                if isinstance(default, ast.List | ast.Dict | ast.Set):
                    raise refuse("static", default, "A default that can change.", "Use a tuple.")
            self.seen.add(name)
        return function

    def apply(self, helper: str, values: Sequence[Value], node: ast.AST) -> Value:
        """A helper applied to values."""
        function = self._helper(helper)
        known = [one.arg for one in function.args.args]
        if len(known) != len(values):
            raise refuse("arguments", node, f"{helper} takes {len(known)} arguments.")
        before = len(self.commands)
        found = self._inlined(function, dict(zip(known, values, strict=True)), node)
        if len(self.commands) != before:
            raise refuse("construct", node, "A step of fold releases nothing.")
        return found

    def _inlined(self, function: ast.FunctionDef, values: dict[str, Value], node: ast.AST) -> Value:
        if function.name in self.stack or len(self.stack) > MOST_DEPTH:
            raise refuse(
                "recursion",
                node,
                f"'{function.name}' ends up calling itself.",
                "Helpers are written out where they are called: use a loop of known length.",
            )
        self.tick(node)
        for value in values.values():
            self.weigh(value, node)
        self.stack.append(function.name)
        outer = (self.database, *(one.arg for one in self.function.args.kwonlyargs))
        gone = dict.fromkeys(outer, "belongs to the program: hand it to the helper as an argument.")
        names = {**self._globals(), **values}
        for name in names:
            gone.pop(name, None)
        found = self._body(function, Scope(names, self.adjacency, gone))
        self.stack.pop()
        self.weigh(found, node)
        return found


def admitted(value: Literal, kind: Type) -> bool:
    """Whether a public argument's value is of its declared type."""
    if kind.kind == "bool":
        return isinstance(value, bool)
    if kind.kind == "category":
        return isinstance(value, str) and value in kind.labels
    assert kind.low is not None
    assert kind.high is not None
    return (
        isinstance(value, Fraction)
        and kind.low <= value <= kind.high
        and (kind.kind == "real" or value.denominator == 1)
    )


def _plain(value: Literal) -> object:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def _declared(kind: Type) -> str:
    if kind.kind == "category":
        return f"Category[{', '.join(repr(one) for one in kind.labels)}]"
    if kind.kind == "bool":
        return "Bool (true or false)"
    assert kind.low is not None
    assert kind.high is not None
    return f"{kind.kind.capitalize()}[{float(kind.low):g}, {float(kind.high):g}]"


def _loaded(name: ast.Name) -> ast.Name:
    return ast.copy_location(ast.Name(name.id, ast.Load()), name)


def _fraction(value: Literal | None) -> Fraction | None:
    return value if isinstance(value, Fraction) else None


__all__ = ["RESULTS", "lower"]
