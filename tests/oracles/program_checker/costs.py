"""What commands cost together: sequences, branches and partitions. Exact fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bayesdp.programs.ir import AFTER, Branch, Command, Derive, Expr, Parts, Release, flat
from tests.oracles.program_checker.divisors import facts
from tests.oracles.program_checker.intervals import Bounds, Interval, bounds, column_type
from tests.oracles.program_checker.prices import Pair, Price, Prices
from tests.oracles.program_checker.refusals import Rejected
from tests.oracles.program_checker.sensitivity import pieces_of

NOTHING: Pair = (Fraction(0), Fraction(0))


class Costs(Prices):
    """Prices every command of a program."""

    # -- commands ------------------------------------------------------------------------------

    def sequence(self, commands: Sequence[Command]) -> Price:
        """Costs of commands one after the other add up."""
        prices = [self.command(command) for command in commands]
        cost = _added([price.cost for price in prices])
        entering = [price.entering for price in prices]
        known = [edge for edge in entering if edge is not None]
        both = _added(known) if len(known) == len(entering) else None
        return Price(cost, both, {"sequence": [price.node for price in prices]})

    def command(self, command: Command) -> Price:
        """The price of one command."""
        if isinstance(command, Release):
            price = self.release(command)
            self.world = self.world.knowing(command.name, self._released(command))
            return price
        if isinstance(command, Derive):
            self.after(command.value)
            self.world = self.world.knowing(command.name, self._derived(command.value))
            return Price(NOTHING, NOTHING, {"derive": command.name})
        if isinstance(command, Branch):
            self.after(command.test)
            sides = self._sides(command)
            cost = _dearest([side.cost for side in sides])
            entering = [side.entering for side in sides]
            known = [edge for edge in entering if edge is not None]
            both = _dearest(known) if len(known) == 2 else None
            return Price(cost, both, {"branch": [side.node for side in sides]})
        return self.parts(command)

    def _sides(self, command: Branch) -> list[Price]:
        """Both sides, each with its own names; afterwards there are those that both gave."""
        before, outside, prices, names = self.world, self.facts, [], []
        for side, holds in ((command.then, True), (command.otherwise, False)):
            self.world = before
            self.facts = (*outside, *facts(command.test, holds))
            prices.append(self.sequence(side))
            names.append(self.world.context.public)
        self.world, self.facts = before, outside
        for name in names[0]:
            if name in names[1] and name not in before.context.public:
                joined, same = _either(names[0][name], names[1][name])
                self.world = self.world.knowing(name, joined) if same else self.world
        return prices

    def _released(self, release: Release) -> Bounds | None:
        """What is known of a result: noise has no bounds, but a vector keeps its length."""
        if release.op in ("laplace", "gaussian"):
            value = bounds(release.args[0], self.world.context)
            return (Interval(),) * len(value) if isinstance(value, tuple) else Interval()
        item = release.op == "posterior-sample" or (
            release.op == "exponential" and release.args[0].op == "score"
        )
        return Interval() if item else None

    def _derived(self, value: Expr) -> Bounds | None:
        if value.op in AFTER:
            return None
        if value.op == "public":
            return self.world.context.public[str(value.data[0])]
        return bounds(value, self.world.context)

    def parts(self, command: Parts) -> Price:
        """Pieces of a partition: in parallel if each part reads its own piece only."""
        self._pieces(command)
        prices = [self.sequence(commands) for _, commands in command.parts]
        node: dict[str, Any] = {
            "parts": {
                "column": command.column,
                "public": command.public,
                "confined": all(
                    _confined(commands, command.column, label) for label, commands in command.parts
                ),
                "of": [price.node for price in prices],
            }
        }
        cost = self._of_parts([price.cost for price in prices], prices, command, node)
        entering = [price.entering for price in prices]
        known = [edge for edge in entering if edge is not None]
        if len(known) != len(entering):
            return Price(cost, None, node)
        both = _dearest(known) if node["parts"]["confined"] else _added(known)
        return Price(cost, both, node)

    def _pieces(self, command: Parts) -> None:
        """Pieces are of one column, each label once, and public only if the column is."""
        column = Expr("field", (), (command.column,), command.where)
        kind = column_type(column, self.world.context)
        listed = [label for label, _ in command.parts]
        known = kind.labels or ("False", "True")
        if len(set(listed)) != len(listed) or not set(listed) <= set(known):
            raise Rejected("type", "A partition has each label once.", command.where)
        if command.public != kind.public:
            reason = (
                f"The partition and the column disagree about whether '{command.column}' is public."
            )
            raise Rejected("type", reason, command.where)

    def _of_parts(
        self, costs: list[Pair], prices: list[Price], command: Parts, node: Mapping[str, Any]
    ) -> Pair:
        if not node["parts"]["confined"]:
            return _added(costs)
        if command.public or self.world.adjacency == "add-remove":
            return _dearest(costs)
        moving = [price.entering for price in prices]
        if any(item is None for item in moving):
            raise Rejected(
                "type",
                f"'{command.column}' is private: a record that changes it leaves one piece and "
                "enters another, and what that costs here is not known.",
                command.where,
                "Declare the column Public[...], or release counts and sums of each piece.",
            )
        a = [item for item in moving if item is not None]
        pairs = [_added([x, y]) for i, x in enumerate(a) for y in a[i + 1 :]]
        return _dearest([*costs, *pairs])


def _confined(commands: Sequence[Command], column: str, label: str) -> bool:
    """Whether all private data that commands read lies in one piece."""
    released = (item for item in flat(commands) if isinstance(item, Release))
    return all(_inside(arg, column, label) for item in released for arg in item.args)


def _inside(expr: Expr, column: str, label: str) -> bool:
    if expr.op == "data":
        return (column, label) in pieces_of(expr)
    return all(_inside(argument, column, label) for argument in expr.args)


def _either(a: Bounds | None, b: Bounds | None) -> tuple[Bounds | None, bool]:
    """What is known of a value that is one of two, and whether they are alike at all."""
    if a is None or b is None:
        return None, a is b
    if isinstance(a, Interval) and isinstance(b, Interval):
        return _hull(a, b), True
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(_hull(x, y) for x, y in zip(a, b, strict=True)), True
    return None, False


def _hull(a: Interval, b: Interval) -> Interval:
    low = None if a.low is None or b.low is None else min(a.low, b.low)
    high = None if a.high is None or b.high is None else max(a.high, b.high)
    return Interval(low, high)


def _added(costs: Sequence[Pair]) -> Pair:
    return (sum((e for e, _ in costs), Fraction(0)), sum((d for _, d in costs), Fraction(0)))


def _dearest(costs: Sequence[Pair]) -> Pair:
    return (
        max((e for e, _ in costs), default=Fraction(0)),
        max((d for _, d in costs), default=Fraction(0)),
    )
