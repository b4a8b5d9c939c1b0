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
from bayesdp.programs.run.public import Values


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
One = Spread | None
Found = One | tuple[One, ...]


def spreads(program: Program, values: Values, added: Mapping[str, Spread]) -> tuple[Found, ...]:
    """The noise on each returned value of a program that has run.

    `added` is what each release by `laplace` or `gaussian` added to every entry. None: not known,
    or no number.
    """
    names: dict[str, Found] = dict.fromkeys(("db.size", *(p[0] for p in program.parameters)), EXACT)
    walk = _Walk(values, names)
    walk.commands(program.body, added)
    return tuple(walk.noise(one) for one in program.returns)


class _Walk:
    def __init__(self, values: Values, names: dict[str, Found]) -> None:
        self.values, self.names = values, names

    def commands(self, body: Sequence[Command], added: Mapping[str, Spread]) -> None:
        for one in body:
            if isinstance(one, Release):
                if one.name in self.values.names:
                    self.names[one.name] = self._each(one.name, added.get(one.name))
            elif isinstance(one, Derive):
                if one.name in self.values.names:
                    self.names[one.name] = self.noise(one.value)
            elif isinstance(one, Branch):
                self.commands(one.then if self.values.value(one.test) else one.otherwise, added)
            else:
                assert isinstance(one, Parts)
                for _, part in one.parts:
                    self.commands(part, added)

    def _each(self, name: str, one: One) -> Found:
        value = self.values.names[name]
        return (one,) * len(value) if isinstance(value, tuple) else one

    def noise(self, expr: Expr) -> Found:
        """The noise on a public expression's value."""
        op = expr.op
        if op in ("const", "sum", "count"):
            return EXACT
        if op == "public":
            return self.names.get(str(expr.data[0]))
        if op == "if":
            test, taken = expr.args[0], expr.args[1 if self.values.value(expr.args[0]) else 2]
            found = self.noise(taken)
            if self.noise(test) == EXACT:
                return found
            # Which side is taken is noisy: only another release's noise is what it was.
            return found if found != EXACT and not names_of(test) & names_of(taken) else None
        if op == "item":
            whole, index = self.noise(expr.args[0]), expr.data[0]
            assert isinstance(index, int | Fraction)
            return whole[int(index)] if isinstance(whole, tuple) else None
        parts = [self.noise(one) for one in expr.args]
        if op == "tuple":
            return tuple(None if isinstance(one, tuple) else one for one in parts)
        longest = max((len(one) for one in parts if isinstance(one, tuple)), default=0)
        if not longest:
            return self._combined(expr, parts, None)
        return tuple(
            self._combined(expr, [p[i] if isinstance(p, tuple) else p for p in parts], i)
            for i in range(longest)
        )

    def _combined(self, expr: Expr, parts: Sequence[Any], entry: int | None) -> One:
        noisy = [i for i, one in enumerate(parts) if one != EXACT]
        if not noisy:
            return EXACT
        (first, *more), op = noisy, expr.op
        one: One = parts[first]
        if more or one is None:
            return None
        if op in ("add", "sub", "neg", "abs", "min", "max") or (op == "clip" and first == 0):
            return one
        if op == "mul" or (op == "div" and first == 0):
            other = self.values.value(expr.args[1 - first])
            factor = abs(Fraction(other[entry or 0] if isinstance(other, tuple) else other))
            if op == "div":
                return replace(one, unit=one.unit / factor) if factor else None
            return replace(one, unit=one.unit * factor)
        return None
