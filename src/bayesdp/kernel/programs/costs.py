"""What commands cost together, in exact fractions.

Sequences add, branches take the dearer side, parts of a partition the dearest, or two of them where
a record may change its piece (theory 8.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from bayesdp.kernel.arithmetic import InvalidError, require
from bayesdp.kernel.programs.levels import NUMBER, OTHER, TRUTH, Kind
from bayesdp.kernel.programs.reading import (
    Branch,
    Command,
    Derive,
    Node,
    Parts,
    Release,
    items,
    keys,
    pieces,
)
from bayesdp.kernel.programs.releases import NONE, Pair, Setting, kind_of_value, release_cost

Kinds = list[tuple[str, str | None, tuple[Fraction, Fraction] | None]]


@dataclass(frozen=True)
class Spent:
    """The cost of commands, and where a record only enters or leaves; the names that they add."""

    cost: Pair
    entering: Pair | None
    names: Mapping[str, Kind] = field(default_factory=dict)


def added(pairs: Sequence[Pair]) -> Pair:
    """Sums."""
    return sum((e for e, _ in pairs), Fraction(0)), sum((d for _, d in pairs), Fraction(0))


def dearest(pairs: Sequence[Pair]) -> Pair:
    """The largest epsilon with the largest delta."""
    return max([e for e, _ in pairs], default=Fraction(0)), max(
        [d for _, d in pairs], default=Fraction(0)
    )


def _known(spent: Sequence[Spent]) -> list[Pair] | None:
    known = [one.entering for one in spent if one.entering is not None]
    return known if len(known) == len(spent) else None


@dataclass
class Walk:
    """Goes through the commands and the derivation side by side."""

    setting: Setting
    kinds: Kinds = field(default_factory=list)

    def sequence(
        self, commands: Sequence[Command], node: object, names: Mapping[str, Kind]
    ) -> Spent:
        """One after the other."""
        nodes = items(keys(node, frozenset({"sequence"}), "a sequence")["sequence"], "sequence")
        require(len(nodes) == len(commands), "not one step for each command", "derivation")
        new: dict[str, Kind] = {}
        spent, known_names = [], dict(names)
        for command, one in zip(commands, nodes, strict=True):
            done = self.command(command, one, known_names)
            require(not any(name in known_names for name in done.names), "a name twice", "name")
            new |= done.names
            known_names |= done.names
            spent.append(done)
        known = _known(spent)
        entering = None if known is None else added(known)
        return Spent(added([one.cost for one in spent]), entering, new)

    def command(self, command: Command, node: object, names: Mapping[str, Kind]) -> Spent:
        """One command."""
        scope = replace(self.setting.scope, names=names)
        if isinstance(command, Release):
            cost = release_cost(command, node, replace(self.setting, scope=scope))
            self.kinds.append(cost.kind)
            return Spent(cost.cost, cost.entering, {command.name: self._kind(command, names)})
        if isinstance(command, Derive):
            require(node == {"derive": command.name}, "another command", "derivation")
            return Spent(NONE, NONE, {command.name: scope.after(command.value)})
        if isinstance(command, Branch):
            require(scope.public(command.test) == TRUTH, "a condition is true or false", "branch")
            sides = items(keys(node, frozenset({"branch"}), "a branch")["branch"], "branch")
            require(len(sides) == 2, "a branch has two sides", "derivation")
            spent = [self.sequence(*both, names) for both in zip(command.sides, sides, strict=True)]
            known = _known(spent)
            entering = None if known is None else dearest(known)
            return Spent(dearest([one.cost for one in spent]), entering, _either(spent))
        return self.parts(command, node, names)

    def _kind(self, release: Release, names: Mapping[str, Kind]) -> Kind:
        if release.op in ("laplace", "gaussian"):
            return kind_of_value(release, replace(self.setting.scope, names=names))
        numeric = release.op == "posterior-sample" or release.args[0].op == "score"
        return NUMBER if numeric else OTHER

    def parts(self, command: Parts, node: object, names: Mapping[str, Kind]) -> Spent:
        """Pieces of a partition, in parallel if each part reads its own piece only."""
        known_keys = frozenset({"column", "public", "confined", "of"})
        stated = keys(keys(node, frozenset({"parts"}), "parts")["parts"], known_keys, "parts")
        column = self.setting.world.program.columns.get(command.column)
        require(column is not None, "a partition by no column", "parts")
        assert column is not None
        labels = [label for label, _ in command.of]
        require(set(labels) <= set(column.labels), "a piece that there isn't", "parts")
        require(len(set(labels)) == len(labels), "a piece twice", "parts")
        require(command.public is column.public, "public or not", "parts")
        confined = all(_confined(part, command.column, label) for label, part in command.of)
        require(stated["column"] == command.column, "another column", "parts")
        require(stated["public"] is command.public, "public or not", "parts")
        require(stated["confined"] is confined, "whether each part reads its piece only", "parts")
        nodes = items(stated["of"], "parts")
        require(len(nodes) == len(command.of), "not one step for each piece", "derivation")
        spent: list[Spent] = []
        new: dict[str, Kind] = {}
        for (_, part), one in zip(command.of, nodes, strict=True):
            spent.append(self.sequence(part, one, {**names, **new}))
            new |= spent[-1].names
        return self._together(spent, confined, command.public, new)

    def _together(
        self, spent: list[Spent], confined: bool, public: bool, new: Mapping[str, Kind]
    ) -> Spent:
        known, costs = _known(spent), [one.cost for one in spent]
        if not confined:
            return Spent(added(costs), None if known is None else added(known), new)
        entering = None if known is None else dearest(known)
        if public or self.setting.world.adjacency == "add-remove":
            return Spent(dearest(costs), entering, new)
        if known is None:
            raise InvalidError("a record that changes its piece has no known cost", "parts")
        two = [
            sum(sorted((one[i] for one in known), reverse=True)[:2], Fraction(0)) for i in (0, 1)
        ]
        return Spent(dearest([*costs, (two[0], two[1])]), entering, new)


def _either(spent: Sequence[Spent]) -> Mapping[str, Kind]:
    """Names after a branch: of both sides alike, or something that is no plain number."""
    first, second = spent[0].names, spent[1].names
    found = {**first, **second}
    for name in set(first) & set(second):
        same = first[name] == second[name]
        numeric = {first[name], second[name]} <= {NUMBER, TRUTH}
        found[name] = first[name] if same else NUMBER if numeric else OTHER
    return found


def _confined(commands: Sequence[Command], column: str, label: str) -> bool:
    """Whether all rows that these commands read lie in this piece."""
    return all(
        (column, label) in pieces(node)
        for expression in _read(commands)
        for node in expression.walk()
        if node.op == "data"
    )


def _read(commands: Sequence[Command]) -> Iterator[Node]:
    for one in commands:
        if isinstance(one, Release):
            yield from one.args
        elif isinstance(one, Branch):
            for side in one.sides:
                yield from _read(side)
        elif isinstance(one, Parts):
            for _, part in one.of:
                yield from _read(part)
