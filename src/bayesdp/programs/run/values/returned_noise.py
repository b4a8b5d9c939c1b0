"""The noise on what a program returns: its law, where one release's noise is all that there is.

Scaling by exact values scales it, adding exact values leaves it, and clip, abs, min and max with
exact values never widen it. A number that is made of two noisy ones, or divided by a noisy one, has
no law here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bayesdp.numbers import float_above
from bayesdp.programs.ir import Branch, Command, Derive, Expr, Parts, Program, Release, names_of
from bayesdp.programs.run.values.public import PublicValues


@dataclass(frozen=True, slots=True)
class Spread:
    """Discrete noise, "laplace" or "gaussian", of this `scale` in steps of `unit`.

    A unit of 0 says that there is no noise.
    """

    kind: str
    scale: float
    unit: Fraction

    def error(self, confidence: float = 0.95) -> float:
        """The noise moves the number by more than this with probability at most 1 - confidence."""
        from bayesdp.mechanisms import DiscreteGaussian, DiscreteLaplace
        from bayesdp.mechanisms.laplace import allowed_failure

        allowed_failure(confidence)
        if not self.unit:
            return 0.0
        law = DiscreteLaplace if self.kind == "laplace" else DiscreteGaussian
        return float_above(law(self.scale).quantile(confidence) * self.unit)


EXACT = Spread("", 0.0, Fraction(0))
EntryNoise = Spread | None
ValueNoise = EntryNoise | tuple[EntryNoise, ...]


def spreads(
    program: Program, values: PublicValues, added: Mapping[str, Spread]
) -> tuple[ValueNoise, ...]:
    """The noise on each returned value of a program that has run.

    `added` is what each release by `laplace` or `gaussian` added to every entry. None where the
    noise is not known, or the value is not a number.
    """
    names: dict[str, ValueNoise] = dict.fromkeys(
        ("db.size", *(p[0] for p in program.parameters)), EXACT
    )
    walk = _Walk(values, names)
    walk.commands(program.body, added)
    return tuple(walk.returned(expr) for expr in program.returns)


class _Walk:
    def __init__(self, values: PublicValues, names: dict[str, ValueNoise]) -> None:
        self.values, self.names = values, names
        self.parts: dict[str, frozenset[str]] = {}
        """The releases whose noise each name's value is made of."""
        self.causes: dict[str, frozenset[str]] = {}
        """All releases that each name's value hangs on: also by what was asked, or whether."""

    def returned(self, expr: Expr) -> ValueNoise:
        """The noise on a returned value; None on a label or a truth value."""
        noise = self.noise(expr)
        no_number = noise is not None and isinstance(self.values.value(expr), bool | str)
        return None if no_number else noise

    def commands(
        self,
        body: Sequence[Command],
        added: Mapping[str, Spread],
        deciding: frozenset[str] | None = None,
    ) -> None:
        """Note the noise of what the commands name.

        `body` has been run, with the noise that was `added` to each release. `deciding` are the
        releases by which it was chosen, where it was chosen by noisy values.
        """
        for command in body:
            if isinstance(command, Release):
                if command.name in self.values.names:
                    self.names[command.name] = self._each(command.name, added.get(command.name))
                    self.parts[command.name] = own = frozenset({command.name})
                    expressions = [*command.args, *(option for _, option in command.options)]
                    by = [_among(self.causes, expr) for expr in expressions]
                    self.causes[command.name] = own.union(deciding or (), *by)
            elif isinstance(command, Derive):
                if command.name in self.values.names:
                    self.names[command.name] = self._chosen(command.value, deciding)
                    self.parts[command.name] = _among(self.parts, command.value)
                    causes = _among(self.causes, command.value)
                    self.causes[command.name] = causes.union(deciding or ())
            elif isinstance(command, Branch):
                taken = command.then if self.values.value(command.test) else command.otherwise
                together = deciding
                if self.noise(command.test) != EXACT:
                    together = _among(self.causes, command.test).union(deciding or ())
                self.commands(taken, added, together)
            else:
                assert isinstance(command, Parts)
                for _, part in command.parts:
                    self.commands(part, added, deciding)

    def _chosen(self, expr: Expr, deciding: frozenset[str] | None) -> ValueNoise:
        """The noise on a value that may have been chosen by noisy ones.

        Which value it is is noisy then: only another release's noise is what it was.
        """
        noise = self.noise(expr)
        if deciding is None:
            return noise
        apart = not deciding & _among(self.parts, expr)
        if isinstance(noise, tuple):
            return tuple(part if apart and part != EXACT else None for part in noise)
        return noise if apart and noise != EXACT else None

    def _each(self, name: str, noise: EntryNoise) -> ValueNoise:
        value = self.values.names[name]
        return (noise,) * len(value) if isinstance(value, tuple) else noise

    def noise(self, expr: Expr) -> ValueNoise:
        """The noise on a public expression's value."""
        op = expr.op
        if op in ("const", "sum", "count"):
            return EXACT
        if op == "public":
            return self.names.get(str(expr.data[0]))
        if op == "if":
            test, taken = expr.args[0], expr.args[1 if self.values.value(expr.args[0]) else 2]
            noise = self.noise(taken)
            if self.noise(test) == EXACT:
                return noise
            # Which side is taken is noisy: only another release's noise is what it was.
            apart = not _among(self.causes, test) & _among(self.parts, taken)
            return noise if noise != EXACT and apart else None
        if op == "item":
            whole, index = self.noise(expr.args[0]), expr.data[0]
            assert isinstance(index, int | Fraction)
            return whole[int(index)] if isinstance(whole, tuple) else None
        parts = [self.noise(arg) for arg in expr.args]
        if op == "tuple":
            return tuple(None if isinstance(part, tuple) else part for part in parts)
        longest = max((len(part) for part in parts if isinstance(part, tuple)), default=0)
        if not longest:
            return self._combined(expr, parts, None)
        return tuple(
            self._combined(expr, [p[i] if isinstance(p, tuple) else p for p in parts], i)
            for i in range(longest)
        )

    def _combined(self, expr: Expr, parts: Sequence[Any], entry: int | None) -> EntryNoise:
        noisy = [i for i, part in enumerate(parts) if part != EXACT]
        if not noisy:
            return EXACT
        (first, *more), op = noisy, expr.op
        noise: EntryNoise = parts[first]
        if more or noise is None:
            return None
        if op in ("add", "sub", "neg", "abs", "min", "max") or (op == "clip" and first == 0):
            return noise
        if op == "mul" or (op == "div" and first == 0):
            other = self.values.value(expr.args[1 - first])
            at_entry = other[entry or 0] if isinstance(other, tuple) else other
            assert isinstance(at_entry, int | Fraction)
            factor = abs(Fraction(at_entry))
            if op == "div":
                return replace(noise, unit=noise.unit / factor) if factor else None
            return replace(noise, unit=noise.unit * factor)
        return None


def _among(releases: Mapping[str, frozenset[str]], expr: Expr) -> frozenset[str]:
    """Those of the names that an expression reads, by name; exact names have none."""
    return frozenset().union(*(releases.get(name, ()) for name in names_of(expr)))
