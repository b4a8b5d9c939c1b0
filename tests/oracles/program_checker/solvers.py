"""Refinements: obligations about numbers, put to z3, and to cvc5 where it is installed.

An obligation holds if its negation is unsatisfiable. Denominators are cleared: a divisor gets the
side condition that it is not 0, proved by bounds before. Every solver that is present must say
`unsat`; one `unknown`, a time-out or a disagreement means that nothing was proved.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from bayesdp.programs.ir import Expr, Type
from tests.oracles.program_checker.intervals import Bounds, Interval, of_type
from tests.oracles.program_checker.refusals import Unknown

MILLISECONDS = 4000
KNOWN = ("z3", "cvc5")
ANYTHING = Interval()


@dataclass(frozen=True)
class Answer:
    """Whether the assertions can't all hold, and which solvers said so."""

    holds: bool
    solvers: tuple[str, ...]
    reason: str = ""
    refuted: bool = False
    """Whether every solver said the opposite: not so, rather than not known."""


def solvers_present() -> tuple[str, ...]:
    """The solvers that are installed."""
    return tuple(item for item in KNOWN if importlib.util.find_spec(item) is not None)


class Problem:
    """Assertions over named reals, in SMT-LIB: one text for all solvers."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.sorts: dict[str, str] = {}
        self.assertions: list[str] = []

    def real(self, name: str, interval: Interval = ANYTHING, *, whole: bool = False) -> str:
        """A variable inside an interval."""
        symbol = f"v{len(self.names)}"
        if name in self.names:
            known = self.names[name]
            return f"(to_real {known})" if whole else known
        self.names[name] = symbol
        self.sorts[symbol] = "Int" if whole else "Real"
        if interval.low is not None:
            self.say(f"(>= {symbol} {numeral(interval.low)})")
        if interval.high is not None:
            self.say(f"(<= {symbol} {numeral(interval.high)})")
        return f"(to_real {symbol})" if whole else symbol

    def say(self, text: str) -> None:
        """Add an assertion."""
        self.assertions.append(text)

    def text(self) -> str:
        """The whole problem."""
        declared = [f"(declare-const {s} {sort})" for s, sort in self.sorts.items()]
        return "\n".join([*declared, *(f"(assert {assertion})" for assertion in self.assertions)])

    def unsatisfiable(self) -> Answer:
        """Whether every solver present says unsat."""
        return ask(self.text(), "unsat")

    def satisfiable(self) -> Answer:
        """Whether every solver present says sat."""
        return ask(self.text(), "sat")


def numeral(value: Fraction) -> str:
    """An exact number in SMT-LIB."""
    top = f"{abs(value.numerator)}.0"
    shown = top if value.denominator == 1 else f"(/ {top} {value.denominator}.0)"
    return f"(- {shown})" if value < 0 else shown


def answers(text: str) -> dict[str, str]:
    """What each solver that is present says: sat, unsat, unknown, or an error."""
    return {item: _ASK[item](text) for item in solvers_present()}


def ask(text: str, wanted: str) -> Answer:
    """Put a problem to every solver present."""
    said = answers(text)
    if not said:
        return Answer(False, (), "no solver is installed (the extra 'programs' brings z3 and cvc5)")
    wrong = [f"{item} says {word}" for item, word in said.items() if word != wanted]
    opposite = {"unsat": "sat", "sat": "unsat"}[wanted]
    refuted = all(word == opposite for word in said.values())
    return Answer(not wrong, tuple(said), "; ".join(wrong), refuted)


def _z3(text: str) -> str:
    try:
        import z3
    except ImportError as error:
        return f"an error ({error})"
    solver = z3.Solver()
    solver.set("timeout", MILLISECONDS)
    try:
        solver.from_string(text)
        return str(solver.check())
    except z3.Z3Exception as error:
        return f"an error ({error})"


def _cvc5(text: str) -> str:
    try:
        import cvc5
    except ImportError as error:
        return f"an error ({error})"
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(MILLISECONDS))
    solver.setLogic("ALL")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    symbols = parser.getSymbolManager()
    try:
        while True:
            command = parser.nextCommand()
            if command.isNull():
                break
            command.invoke(solver, symbols)
        actual = solver.checkSat()
    except RuntimeError as error:
        return f"an error ({error})"
    return "unsat" if actual.isUnsat() else "sat" if actual.isSat() else "unknown"


_ASK: Mapping[str, Callable[[str], str]] = {"z3": _z3, "cvc5": _cvc5}


class Encoder:
    """Row and public expressions as SMT-LIB terms."""

    def __init__(
        self, problem: Problem, kinds: Mapping[str, Type], public: Mapping[str, Bounds | None]
    ) -> None:
        self.problem, self.kinds, self.public = problem, kinds, public

    def term(self, expr: Expr, row: str, so_far: str = "") -> str:
        """The term of an expression; `row` tells the columns of several rows apart."""
        op = expr.op
        if op == "const":
            return self._constant(expr)
        if op == "acc":
            return so_far
        if op in ("sum", "count"):
            raise Unknown(
                "unproved",
                "Preconditions and sensitivities are proved from numbers, public arguments and "
                "db.size only; this is a sum over a public column.",
                expr,
            )
        if op == "field":
            return self._column(str(expr.data[0]), row)
        if op == "public":
            name = str(expr.data[0])
            known = self.public.get(name, Interval())
            if not isinstance(known, Interval):
                raise Unknown("unproved", "Solvers are not asked about vectors.", expr)
            return self.problem.real(f"public {name}", known, whole=name == "db.size")
        if op in ("eq", "ne") and self._labelled(expr):
            args = self._labels(expr, row, so_far)
        else:
            args = [self.term(argument, row, so_far) for argument in expr.args]
        return _TERMS(op, args, expr)

    def _constant(self, expr: Expr) -> str:
        value = expr.data[0]
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            raise Unknown("unproved", "A label stands where no column says its place.", expr)
        assert isinstance(value, int | Fraction)
        return numeral(Fraction(value))

    def _column(self, name: str, row: str) -> str:
        kind = self.kinds[name]
        # A public column is the same in two rows that are neighbours.
        key = f"column {name}" if kind.public else f"column {name} of {row}"
        known = key in self.problem.names
        term = self.problem.real(key, of_type(kind))
        symbol = self.problem.names[key]
        if kind.kind in ("bool", "category", "int") and not known:
            self.problem.say(f"(is_int {symbol})")
        return f"(= {symbol} 1.0)" if kind.kind == "bool" else term

    def _labelled(self, expr: Expr) -> bool:
        return any(
            argument.op == "const" and isinstance(argument.data[0], str) for argument in expr.args
        ) or any(
            argument.op == "field" and self.kinds[str(argument.data[0])].kind == "category"
            for argument in expr.args
        )

    def _labels(self, expr: Expr, row: str, so_far: str) -> list[str]:
        lists = [self.kinds[str(item.data[0])].labels for item in expr.args if item.op == "field"]
        words = [item for item in expr.args if item.op == "const" and isinstance(item.data[0], str)]
        # Places are compared, so two columns must have the same labels in the same order.
        if len(set(lists)) != 1 or not lists[0] or len(lists) + len(words) != len(expr.args):
            raise Unknown("unproved", "Labels are compared that have no common places.", expr)
        actual = []
        for argument in expr.args:
            if argument.op == "const":
                label = str(argument.data[0])
                place = lists[0].index(label) if label in lists[0] else -1
                actual.append(numeral(Fraction(place)))
            else:
                actual.append(self.term(argument, row, so_far))
        return actual


def _TERMS(op: str, args: list[str], expr: Expr) -> str:
    plain = {
        "add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "gt": ">",
        "ge": ">=", "eq": "=", "and": "and", "or": "or", "not": "not", "if": "ite", "neg": "-",
    }  # fmt: skip
    numbers = [_as_number(item, arg) for item, arg in zip(expr.args, args, strict=True)]
    if op in ("and", "or", "not"):
        return f"({plain[op]} {' '.join(args)})"
    if op == "if":
        return f"(ite {args[0]} {numbers[1]} {numbers[2]})"
    if op == "ne":
        return f"(not (= {numbers[0]} {numbers[1]}))"
    if op in plain:
        return f"({plain[op]} {' '.join(numbers)})"
    if op == "abs":
        return f"(ite (>= {numbers[0]} 0.0) {numbers[0]} (- {numbers[0]}))"
    if op in ("min", "max"):
        return _extreme(op, numbers)
    if op == "clip":
        return _extreme("min", [_extreme("max", numbers[:2]), numbers[2]])
    raise Unknown("unproved", f"Solvers are not asked about '{op}'.", expr)


_TRUTHS = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"))


def _as_number(expr: Expr, term: str) -> str:
    truth = expr.op in _TRUTHS or term in ("true", "false") or term.startswith("(= v")
    return f"(ite {term} 1.0 0.0)" if truth else term


def _extreme(op: str, terms: list[str]) -> str:
    actual = terms[0]
    compare = "<=" if op == "min" else ">="
    for term in terms[1:]:
        actual = f"(ite ({compare} {actual} {term}) {actual} {term})"
    return actual
