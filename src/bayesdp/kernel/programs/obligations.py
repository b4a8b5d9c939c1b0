"""What solvers were to be asked about a fold, derived anew from the program.

`fold(data, start, step)` moves by at most c where a record is replaced if a step never widens a gap
between two values so far, and two rows that neighbours may have at one place open a gap of at most
c (theory 8.6). The negation of each is a text in SMT-LIB. That it can't be satisfied is what
solvers said; that it is the right text is what is checked here.

### 8.6 Refinements

Obligations that are about numbers are put to z3 and cvc5 as texts: the assertions of an obligation,
negated. It holds if every solver that is installed says `unsat`. One that says anything else, fails
or runs out of time leaves it unproved, and the program UNKNOWN; solvers that contradict each other
prove nothing, and refute nothing. With one solver the verdict says that it stood alone. Reals are
exact; a divisor has been shown not to be 0 before; labels count by their places, and only columns
with the same list have common ones.

**Folds.** `fold(data, start, step)` under replace-one moves by at most `c` if (1) for every row `z`
and any `a >= b`, `|step(a, z) - step(b, z)| <= a - b`, and (2) for every `a` and rows `z`, `z'`
that agree in their public columns, `|step(a, z) - step(a, z')| <= c`. A row that a filter leaves
out is a step that does nothing, and the filter is part of the step. **Proof.** Before the row that
differs both values are equal; after it they are at most `c` apart by (2); each later row is the
same for both, and (1) keeps the gap. ∎ The least `c` among the step's widths, constants, their
sums, products and quotients is searched for: if one holds so do all larger ones. Where a record
enters or leaves, the two folds are out of step, and no bound is derived.

**Assertions.** An asserted sensitivity that reads the number of records holds if it is not below
the derived one for every admitted number: preconditions and `1 <= n` are assumed.

**Preconditions** that can't be met would prove anything, so that they can be is checked, by
arithmetic where they compare the size with numbers, else by the solvers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from bayesdp.kernel.arithmetic import UnknownError, require
from bayesdp.kernel.programs.ranges import AdjacencyContext, Range
from bayesdp.kernel.programs.reading import SIZE, TRUE, Node, number, pieces
from bayesdp.kernel.programs.refusals import UnprovedError
from bayesdp.statements.program_steps import Obligation

FormulaTree = str | tuple["FormulaTree", ...]
_NAMES = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "eq": "=", "neg": "-",
}  # fmt: skip


def written(tree: FormulaTree) -> str:
    """A tree as SMT-LIB."""
    return tree if isinstance(tree, str) else f"({' '.join(written(part) for part in tree)})"


class Problem:
    """One negated obligation: variables with their sorts, and assertions."""

    def __init__(self, context: AdjacencyContext) -> None:
        self.context = context
        self.sorts: dict[str, str] = {}
        self.assertions: list[FormulaTree] = []
        self.variables: dict[tuple[str, ...], str] = {}

    def variable(self, key: tuple[str, ...], place: Range, sort: str = "Real") -> str:
        """The variable of this key, inside its range."""
        if key in self.variables:
            return self.variables[key]
        name = self.variables[key] = f"v{len(self.variables)}"
        self.sorts[name] = sort
        if isinstance(place.low, Fraction):
            self.assertions.append((">=", name, numeral(place.low)))
        if isinstance(place.high, Fraction):
            self.assertions.append(("<=", name, numeral(place.high)))
        return name

    def requires(self) -> None:
        """All preconditions of the program."""
        self.assertions += [
            self.term(precondition, "public", "") for precondition in self.context.program.requires
        ]

    def term(self, node: Node, row: str, so_far: FormulaTree) -> FormulaTree:
        """A row or public expression; `row` tells two rows apart, `so_far` stands for `acc`."""
        op = node.op
        if op == "const":
            value = node.data[0]
            if isinstance(value, bool):
                return "true" if value else "false"
            if not isinstance(value, Fraction):
                raise UnprovedError("solver-label", "a label stands where a number is due", node)
            return numeral(value)
        if op == "acc":
            return so_far
        if op in ("sum", "count", "fold"):
            raise UnprovedError("solver-op", f"solvers are not asked about '{op}'", node, "fold")
        if op == "field":
            return self._column(str(node.data[0]), row)
        if op == "public":
            name = str(node.data[0])
            if node == SIZE:
                return ("to_real", self.variable(("public", "db.size"), self.context.size, "Int"))
            places = self.context.variables.get(name, (Range(),))
            if len(places) != 1:
                raise UnprovedError("solver-vector", "solvers are not asked about vectors", node)
            return self.variable(("public", name), places[0])
        if op in ("eq", "ne") and (labels := self._labels(node)) is not None:
            args = [self._label(arg, row, labels) for arg in node.args]
        else:
            args = [self.term(arg, row, so_far) for arg in node.args]
        return self._operation(node, args)

    def _column(self, name: str, row: str) -> FormulaTree:
        column = self.context.program.columns[name]
        # Public columns are those of both neighbours.
        key = ("column", name) if name in self.context.public else ("column", name, row)
        new = key not in self.variables
        symbol = self.variable(key, Range(column.low, column.high))
        if new and column.kind != "real":
            self.assertions.append(("is_int", symbol))
        return ("=", symbol, "1.0") if column.kind == "bool" else symbol

    def _labels(self, node: Node) -> tuple[str, ...] | None:
        """The labels of the one category column that is compared."""
        fields = [
            self.context.program.columns[str(arg.data[0])].labels
            for arg in node.args
            if arg.op == "field" and self._is_category(arg)
        ]
        words = [arg for arg in node.args if arg.op == "const" and isinstance(arg.data[0], str)]
        if not fields and not words:
            return None
        # Places are compared, so two columns must have the same labels in the same order.
        if not fields or len(set(fields)) > 1 or len(fields) + len(words) < 2:
            reason = "a comparison of labels that have no common places"
            raise UnprovedError("solver-labels", reason, node, "fold")
        return fields[0]

    def _is_category(self, node: Node) -> bool:
        return self.context.program.columns[str(node.data[0])].kind == "category"

    def _label(self, node: Node, row: str, labels: tuple[str, ...]) -> FormulaTree:
        if node.op == "field":
            return self._column(str(node.data[0]), row)
        word = str(node.data[0])
        return numeral(Fraction(labels.index(word) if word in labels else -1))

    def _operation(self, node: Node, args: list[FormulaTree]) -> FormulaTree:
        op = node.op
        if op in ("and", "or", "not"):
            return (op, *args)
        numbers = [("ite", arg, "1.0", "0.0") if _is_truth(arg) else arg for arg in args]
        if op == "if":
            return ("ite", args[0], numbers[1], numbers[2])
        if op == "ne":
            return ("not", ("=", numbers[0], numbers[1]))
        if op in _NAMES:
            return (_NAMES[op], *numbers)
        if op == "abs":
            return ("ite", (">=", numbers[0], "0.0"), numbers[0], ("-", numbers[0]))
        if op in ("min", "max"):
            return _extreme("<=" if op == "min" else ">=", numbers)
        if op == "clip":
            return _extreme("<=", [_extreme(">=", numbers[:2]), numbers[2]])
        raise UnprovedError("solver-op", f"solvers are not asked about '{op}'", node, "fold")

    def tree(self) -> tuple[dict[str, str], frozenset[FormulaTree]]:
        """What is compared: the declarations, and the set of assertions."""
        return self.sorts, frozenset(self.assertions)

    def text(self) -> str:
        """The whole problem in SMT-LIB."""
        declared = [f"(declare-const {name} {sort})" for name, sort in self.sorts.items()]
        return "\n".join(
            [*declared, *(f"(assert {written(assertion)})" for assertion in self.assertions)]
        )


def _is_truth(tree: FormulaTree) -> bool:
    if isinstance(tree, str):
        return tree in ("true", "false")
    return tree[0] in ("<", "<=", ">", ">=", "=", "and", "or", "not")


def _extreme(relation: str, terms: list[FormulaTree]) -> FormulaTree:
    extreme = terms[0]
    for term in terms[1:]:
        extreme = ("ite", (relation, extreme, term), extreme, term)
    return extreme


def numeral(value: Fraction) -> FormulaTree:
    """An exact number."""
    top = f"{abs(value.numerator)}.0"
    shown: FormulaTree = top if value.denominator == 1 else ("/", top, f"{value.denominator}.0")
    return ("-", shown) if value < 0 else shown


# -- folds ---------------------------------------------------------------------------------------


def _step(fold: Node) -> Node:
    data, step = fold.args
    if pieces(data):
        raise UnprovedError("fold-piece", "a fold over a piece of a partition", fold, "fold")
    return step if data.args[0] == TRUE else Node("if", (data.args[0], step, Node("acc")))


def never_widens(fold: Node, context: AdjacencyContext) -> Problem:
    """What must be impossible: a row widens the gap between two values so far."""
    problem, step = Problem(context), _step(fold)
    problem.requires()
    a, b = problem.variable(("a",), Range()), problem.variable(("b",), Range())
    x, y = problem.term(step, "row", a), problem.term(step, "row", b)
    gap: FormulaTree = ("-", a, b)
    problem.assertions.append((">=", a, b))
    problem.assertions.append(("or", (">", ("-", x, y), gap), (">", ("-", y, x), gap)))
    return problem


def moves_at_most(fold: Node, bound: Fraction, context: AdjacencyContext) -> Problem:
    """What must be impossible: two rows open a gap above `bound` from one value so far."""
    problem, step = Problem(context), _step(fold)
    problem.requires()
    a = problem.variable(("a",), Range())
    x, y = problem.term(step, "row", a), problem.term(step, "other", a)
    problem.assertions.append((">", ("-", x, y), numeral(bound)))
    return problem


# -- reading SMT-LIB -----------------------------------------------------------------------------


def read_text(text: str) -> tuple[dict[str, str], frozenset[FormulaTree]]:
    """Declarations and assertions of a text; `InvalidError` for anything else in it."""
    sorts: dict[str, str] = {}
    assertions: set[FormulaTree] = set()
    for command in _trees(text):
        require(
            isinstance(command, tuple) and len(command) > 1,
            "an obligation has a command other than declarations and assertions",
        )
        if command[0] == "declare-const":
            require(
                len(command) == 3 and all(isinstance(word, str) for word in command),
                "a declaration is not a name with a sort",
            )
            require(command[1] not in sorts, "an obligation declares a name twice")
            sorts[str(command[1])] = str(command[2])
        else:
            require(command[0] == "assert" and len(command) == 2, "an obligation asserts nothing")
            assertions.add(command[1])
    return sorts, frozenset(assertions)


def _trees(text: str) -> Iterable[FormulaTree]:
    stack: list[list[FormulaTree]] = [[]]
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            require(len(stack) < 400, "an obligation is nested too deeply")
            stack.append([])
        elif token == ")":
            require(len(stack) > 1, "the brackets of an obligation do not match")
            done = stack.pop()
            stack[-1].append(tuple(done))
        else:
            stack[-1].append(token)
    require(len(stack) == 1, "the brackets of an obligation do not match")
    return stack[0]


class SolverObligations:
    """The obligations of a certificate: each must be one that the program needs."""

    def __init__(self, stated: Sequence[Obligation]) -> None:
        self.texts = [(asked.what, read_text(asked.text)) for asked in stated]
        self.used: set[int] = set()
        self.derived: dict[str, str] = {}
        """From the text of each obligation, derived here and not quoted, to what it is about."""

    def folds(self, context: AdjacencyContext) -> Mapping[Node, Fraction]:
        """How far each fold moves, looked up once for each."""
        return _Folds(self, context)

    def find(self, problem: Problem, what: str) -> bool:
        """Whether solvers were asked this, under this name."""
        tree = problem.tree()
        matches = [i for i, stated in enumerate(self.texts) if stated == (what, tree)]
        self.used.update(matches)
        if matches:
            self.derived.setdefault(problem.text(), what)
        return bool(matches)

    def finish(self) -> None:
        """Every obligation is one that the program needs."""
        require(
            len(self.used) == len(self.texts), "the program needs no such obligation", "obligations"
        )


WIDENS = "a step of the fold never widens a gap"
MOVES = "one record moves the fold by at most "


class _Folds(dict[Node, Fraction]):
    def __init__(self, discharged: SolverObligations, context: AdjacencyContext) -> None:
        super().__init__()
        self.discharged, self.context = discharged, context

    def __missing__(self, fold: Node) -> Fraction:
        if not self.discharged.find(never_widens(fold, self.context), WIDENS):
            raise UnknownError("no solver was asked whether a step widens a gap", "fold")
        for what, _ in self.discharged.texts:
            if what.startswith(MOVES):
                bound = _bound(what.removeprefix(MOVES))
                if self.discharged.find(moves_at_most(fold, bound, self.context), what):
                    self[fold] = bound
                    return bound
        raise UnknownError("no solver was asked how far one record moves the fold", "fold")


def _bound(words: str) -> Fraction:
    bound = number(words, "how far a fold moves")
    require(bound >= 0, "a fold moves by a negative number", "fold")
    return bound
