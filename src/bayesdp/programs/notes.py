"""Notes on an accepted program: it is private, but may not compute what its author meant."""

from __future__ import annotations

from collections.abc import Iterator

from bayesdp.kernel.programs.ranges import folded
from bayesdp.programs.ir import Derive, Expr, Program, Release, flat, nodes
from bayesdp.programs.number_text import decimal

WITHOUT_STUDY = (
    'dependence="declared" counts on the population of a study: the program runs in one that '
    "declares how records depend on each other, and is checked here as if they didn't."
)
OF_A_CHAIN = (
    'dependence="declared" counts on the population of a study: the program runs in one that '
    "declares a chain of order 1."
)

PERSONS = (
    "A record is all rows with the same '{by}', of which at most {most} count. What is protected "
    "is all of them together."
)


def notes_on(program: Program) -> tuple[str, ...]:
    """The notes on a program in its order, each note once."""
    dependence_notes = {"missing": (WITHOUT_STUDY,), "chain": (OF_A_CHAIN,)}
    waits = dependence_notes.get(program.dependence, ())
    persons = program.persons
    grouped = () if persons is None else (PERSONS.format(by=persons.by, most=persons.most),)
    return (*grouped, *dict.fromkeys(_exposures(program)), *waits)


def _exposures(program: Program) -> Iterator[str]:
    """An exposure that doesn't grow with the table is probably meant for each record."""
    if program.adjacency != "replace-one":
        return  # the number of records is private there
    for part in _written(program):
        if part.op != "likelihood" or part.data[0] != "poisson":
            continue
        exposure = folded(part.args[0])
        if exposure is not None and exposure > 0:
            number = decimal(exposure)
            size = f"{program.database}.size"
            yield (
                f"exposure={number} is that of all records together, however many there are. If it "
                f"is that of each, write exposure={number if exposure != 1 else ''}"
                f"{' * ' if exposure != 1 else ''}{size}."
            )


def _written(program: Program) -> Iterator[Expr]:
    for command in flat(program.body):
        if isinstance(command, Release):
            for arg in command.args:
                yield from nodes(arg)
        elif isinstance(command, Derive) and command.value.op not in ("law", "predictive"):
            yield from nodes(command.value)
