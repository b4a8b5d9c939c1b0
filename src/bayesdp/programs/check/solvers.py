"""Puts texts in SMT-LIB to z3, and to cvc5 where it is installed.

An obligation holds if its negation is unsatisfiable. Every solver that is present must say `unsat`;
one `unknown`, a time-out or a disagreement means that nothing was proved.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MILLISECONDS = 4000
KNOWN = ("z3", "cvc5")


@dataclass(frozen=True)
class Answer:
    """What solvers say of assertions: whether they can't all hold, and who said so."""

    holds: bool
    solvers: tuple[str, ...]
    reason: str = ""
    refuted: bool = False
    """Whether every solver said the opposite: it is refuted, and not only unproved."""


def solvers_present() -> tuple[str, ...]:
    """The solvers that are installed."""
    return tuple(solver for solver in KNOWN if importlib.util.find_spec(solver) is not None)


def answers(text: str) -> dict[str, str]:
    """The answer of each solver that is present: sat, unsat, unknown, or an error."""
    return {solver: _ASK[solver](text) for solver in solvers_present()}


def ask(text: str, wanted: str) -> Answer:
    """Put a problem to every solver present."""
    answer_words = answers(text)
    if not answer_words:
        return Answer(False, (), "no solver is installed (the extra 'programs' brings z3 and cvc5)")
    wrong = [f"{solver} says {word}" for solver, word in answer_words.items() if word != wanted]
    opposite = {"unsat": "sat", "sat": "unsat"}[wanted]
    refuted = all(word == opposite for word in answer_words.values())
    return Answer(not wrong, tuple(answer_words), "; ".join(wrong), refuted)


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
        answer = solver.checkSat()
    except RuntimeError as error:
        return f"an error ({error})"
    return "unsat" if answer.isUnsat() else "sat" if answer.isSat() else "unknown"


_ASK: Mapping[str, Callable[[str], str]] = {"z3": _z3, "cvc5": _cvc5}
