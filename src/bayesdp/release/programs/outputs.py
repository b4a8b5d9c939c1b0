"""What a program's outputs are called, and in which units they come: read off the program alone.

An output that is made in one piece of a `partition` bears the piece's labels. A unit is carried by
whatever keeps it: clipping, sums, sums over a number of records, noise, and the posterior of a
normal mean. Scaling by a number may mean another unit, so it loses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from bayesdp.kernel.programs.rows import labels_of
from bayesdp.kernel.programs.transitions import transition_names
from bayesdp.programs.ir import AFTER, Branch, Command, Derive, Expr, Parts, Program, Release, nodes

OutputUnit = str | None
"""None: a pure number. "": not known."""


def output_labels(program: Program) -> tuple[str, ...]:
    """The labels of the piece that each output is made in; "" for no piece, or several."""
    return tuple(_label(output, _labels_around(program.body)) for output in program.returns)


def output_cells(program: Program) -> tuple[tuple[str, ...], ...]:
    """For each output the labels of its entries; none where it is not a table of counts."""
    made = {
        command.name: command for command in _commands(program.body) if isinstance(command, Release)
    }
    return tuple(_cells(output, made, program) for output in program.returns)


def output_units(program: Program, units: Mapping[str, str]) -> tuple[str, ...]:
    """The unit of each output, from those of the record's fields; "" where it isn't known."""
    known: dict[str, OutputUnit] = {}
    for command in _commands(program.body):
        if isinstance(command, Release):
            unit = _of_release(command, units, known)
        else:
            unit = _of_derived(command.value, units, known)
        # Both sides of a branch give a value to one name.
        known[command.name] = unit if known.get(command.name, unit) == unit else ""
    return tuple(_unit(output, units, known) or "" for output in program.returns)


def _commands(body: Iterable[Command]) -> Iterable[Release | Derive]:
    for command in body:
        if isinstance(command, Release | Derive):
            yield command
        elif isinstance(command, Branch):
            yield from _commands((*command.then, *command.otherwise))
        else:
            for _, part in command.parts:
                yield from _commands(part)


def _labels_around(
    body: Iterable[Command], path: tuple[str, ...] = ()
) -> dict[str, tuple[str, ...]]:
    """For each name the labels of the pieces around it, the outermost first."""
    labels: dict[str, tuple[str, ...]] = {}
    for command in body:
        if isinstance(command, Release | Derive):
            labels[command.name] = path
        elif isinstance(command, Branch):
            labels |= _labels_around((*command.then, *command.otherwise), path)
        else:
            assert isinstance(command, Parts)
            for label, part in command.parts:
                labels |= _labels_around(part, (*path, label))
    return labels


def _label(expr: Expr, made: Mapping[str, tuple[str, ...]]) -> str:
    names = [str(node.data[0]) for node in nodes(expr) if node.op == "public"]
    paths = {made[name] for name in names if name in made}
    return ", ".join(paths.pop()) if len(paths) == 1 else ""


def _cells(expr: Expr, made: Mapping[str, Release], program: Program) -> tuple[str, ...]:
    release = made.get(str(expr.data[0])) if expr.op == "public" else None
    if release is not None and release.args[0].op == "transitions":
        return transition_names(release.args[0], dict(program.record))
    if release is None or release.args[0].op != "sum":
        return ()
    row = release.args[0].args[0].args[1]
    return labels_of(row.args[0], dict(program.record)) if row.op == "onehot" else ()


def _of_release(
    release: Release, units: Mapping[str, str], known: Mapping[str, OutputUnit]
) -> OutputUnit:
    first = release.args[0]
    if release.op in ("laplace", "gaussian"):
        return _unit(first, units, known)
    model = first.args[0].args[0] if first.op == "hellinger" else first
    if model.op == "observe" and model.args[1].data[0] == "normal":
        return _unit(model.args[0].args[1], units, known)
    return ""


def _of_derived(
    value: Expr, units: Mapping[str, str], known: Mapping[str, OutputUnit]
) -> OutputUnit:
    if value.op not in AFTER:
        return _unit(value, units, known)
    if value.op in ("law", "draws"):
        return _unit(value.args[0], units, known)
    model = value.args[-1]
    if value.op == "predictive" and model.args[1].data[0] == "normal":
        return _unit(model.args[2], units, known)
    if model.op != "observe" or model.args[1].data[0] != "normal":
        return ""
    noisy = value.args[0]
    return _unit(noisy.args[0] if noisy.op == "observe" else noisy, units, known)


def _unit(expr: Expr, units: Mapping[str, str], known: Mapping[str, OutputUnit]) -> OutputUnit:
    op = expr.op
    if op in ("const", "count", "transitions"):
        return None
    if op == "field":
        return units.get(str(expr.data[0]), "")
    if op == "public":
        return known.get(str(expr.data[0]), None if expr.data[0] == "db.size" else "")
    if op == "sum":
        return _unit(expr.args[0].args[1], units, known)
    parts = [_unit(part, units, known) for part in expr.args]
    if op in ("add", "sub", "neg", "abs", "min", "max", "clip", "item"):
        return _common_unit(parts)
    if op == "tuple":  # the sum, and in how many records, of a normal model
        return parts[0]
    if op == "if":
        return _common_unit(parts[1:])
    scaled = any(part.op == "const" and part.data[0] != Fraction(1) for part in expr.args)
    if (op == "mul" and None in parts) or (op == "div" and parts[1] is None):
        return "" if scaled and any(parts) else _common_unit(parts)
    return ""


def _common_unit(parts: Iterable[OutputUnit]) -> OutputUnit:
    """The unit of all parts that have a unit; "" where they differ, None where no part has any."""
    units = {unit for unit in parts if unit is not None}
    return units.pop() if len(units) == 1 else "" if units else None
