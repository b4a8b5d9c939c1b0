"""What commands cost together, in exact fractions.

Sequences add, branches take the dearer side, parts of a partition the dearest, or two of them where
a record may change its piece (theory 8.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from bayesdp.kernel.arithmetic import InvalidError, require
from bayesdp.kernel.programs.levels import NOWHERE, NUMBER, OTHER, TRUTH, Kind, Scope
from bayesdp.kernel.programs.ranges import ANY, Range
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
from bayesdp.kernel.programs.refusals import RefusedError, allow
from bayesdp.kernel.programs.releases import NONE, Pair, Setting, kind_of_value, release_cost

Kinds = list[tuple[str, str | None, tuple[Fraction, Fraction] | None]]


@dataclass(frozen=True)
class Spent:
    """The cost of commands, and where a record only enters or leaves; the names that they add.

    `node` is their part of the derivation.
    """

    cost: Pair
    entering: Pair | None
    names: Mapping[str, Kind]
    node: object


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
    """Goes through the commands and the derivation side by side.

    A derivation that is `None` is made on the way: `proposed` says what a release's step states.
    """

    setting: Setting
    kinds: Kinds = field(default_factory=list)
    places: dict[str, tuple[Range, ...]] = field(default_factory=dict)
    """Where released and derived values lie."""
    making: bool = False
    """Whether steps may be missing, since they are made on the way."""

    def proposed(self, release: Release, setting: Setting) -> object:
        """The step of a release, where the derivation has none."""
        raise InvalidError("a release without a step", f"release {release.name}")

    def steps(self, node: object, key: str, many: int) -> list[object]:
        """The derivation's steps under this key; `None` for each that is to be made."""
        if node is None and self.making:
            return [None] * many
        nodes = items(keys(node, frozenset({key}), f"a {key}")[key], key)
        require(len(nodes) == many, "not one step for each command", "derivation")
        return nodes

    def sequence(
        self, commands: Sequence[Command], node: object, names: Mapping[str, Kind]
    ) -> Spent:
        """One after the other."""
        nodes = self.steps(node, "sequence", len(commands))
        new: dict[str, Kind] = {}
        spent, known_names = [], dict(names)
        for command, step in zip(commands, nodes, strict=True):
            done = self.command(command, step, known_names)
            require(not any(name in known_names for name in done.names), "a name twice", "name")
            new |= done.names
            known_names |= done.names
            spent.append(done)
        known = _known(spent)
        entering = None if known is None else added(known)
        made = {"sequence": [one.node for one in spent]}
        return Spent(added([one.cost for one in spent]), entering, new, made)

    def scope(self, names: Mapping[str, Kind]) -> Scope:
        """What may be read where these names have values."""
        world = replace(self.setting.world, variables=self.places)
        return replace(self.setting.scope, names=names, world=world)

    def command(self, command: Command, node: object, names: Mapping[str, Kind]) -> Spent:
        """One command."""
        require(node is not None or self.making, "a step is missing", "derivation")
        scope = self.scope(names)
        if isinstance(command, Release):
            setting = replace(self.setting, scope=scope)
            step = self.proposed(command, setting) if node is None else node
            cost = release_cost(command, step, setting)
            self.kinds.append(cost.kind)
            kind = self._kind(command, scope)
            self._note(command.name, (ANY,) * kind.size)
            return Spent(cost.cost, cost.entering, {command.name: kind}, step)
        if isinstance(command, Derive):
            step = {"derive": command.name}
            require(node in (None, step), "another command", "derivation")
            kind = scope.after(command.value)
            numeric = kind.name in ("truth", "number", "vector")
            self._note(command.name, scope.world.ranges(command.value) if numeric else (ANY,))
            return Spent(NONE, NONE, {command.name: kind}, step)
        if isinstance(command, Branch):
            return self.branch(command, node, names)
        return self.parts(command, node, names)

    def _note(self, name: str, places: tuple[Range, ...]) -> None:
        """A name that both sides of a branch give lies where either puts it."""
        before = self.places.get(name, places)
        if len(before) == len(places):
            places = tuple(one.hull(other) for one, other in zip(before, places, strict=True))
        self.places[name] = places

    def _kind(self, release: Release, scope: Scope) -> Kind:
        if release.op in ("laplace", "gaussian"):
            return kind_of_value(release, scope)
        numeric = release.op == "posterior-sample" or release.args[0].op == "score"
        return NUMBER if numeric else OTHER

    def branch(self, command: Branch, node: object, names: Mapping[str, Kind]) -> Spent:
        """The dearer of both sides."""
        is_truth = self.scope(names).public(command.test) == TRUTH
        require(is_truth, "a condition is true or false", "branch")
        steps = self.steps(node, "branch", 2)
        spent = [
            self.side(command, holds, step, names)
            for holds, step in zip((True, False), steps, strict=True)
        ]
        known = _known(spent)
        entering = None if known is None else dearest(known)
        made = {"branch": [one.node for one in spent]}
        return Spent(dearest([one.cost for one in spent]), entering, _either(spent), made)

    def side(self, command: Branch, holds: bool, node: object, names: Mapping[str, Kind]) -> Spent:
        """The commands of a branch where its test holds, or where it doesn't."""
        return self.sequence(command.sides[0 if holds else 1], node, names)

    def parts(self, command: Parts, node: object, names: Mapping[str, Kind]) -> Spent:
        """Pieces of a partition, in parallel if each part reads its own piece only."""
        column = self.setting.world.program.columns.get(command.column)
        told = f"a partition by no column {command.column!r}"
        allow(column is not None, "partition", told, command, "parts")
        assert column is not None
        labels = [label for label, _ in command.parts]
        known_labels = set(labels) <= set(column.labels) and len(set(labels)) == len(labels)
        told = "a piece that there isn't, or a piece twice"
        allow(known_labels, "labels", told, command, "parts")
        known_public = command.public is column.public
        allow(known_public, "public-parts", "public or not", command, "parts")
        confined = all(_confined(part, command.column, label) for label, part in command.parts)
        made = {"column": command.column, "public": command.public, "confined": confined}
        nodes: list[object] = [None] * len(command.parts)
        if node is not None:
            stated = keys(node, frozenset({"parts"}), "parts")["parts"]
            stated = keys(stated, frozenset({"column", "public", "confined", "of"}), "parts")
            require(stated["column"] == command.column, "another column", "parts")
            require(stated["public"] is command.public, "public or not", "parts")
            read = "whether each part reads its piece only"
            require(stated["confined"] is confined, read, "parts")
            nodes = items(stated["of"], "parts")
            require(len(nodes) == len(command.parts), "not one step for each piece", "derivation")
        spent: list[Spent] = []
        new: dict[str, Kind] = {}
        for (_, part), step in zip(command.parts, nodes, strict=True):
            spent.append(self.sequence(part, step, {**names, **new}))
            new |= spent[-1].names
        tree = {"parts": {**made, "of": [one.node for one in spent]}}
        cost, entering = self._together(spent, confined, command)
        return Spent(cost, entering, new, tree)

    def _together(
        self, spent: list[Spent], confined: bool, command: Parts
    ) -> tuple[Pair, Pair | None]:
        known, costs = _known(spent), [one.cost for one in spent]
        if not confined:
            return added(costs), None if known is None else added(known)
        entering = None if known is None else dearest(known)
        if command.public or self.setting.world.adjacency == "add-remove":
            return dearest(costs), entering
        if known is None:
            told = "a record that changes its piece has no known cost"
            raise RefusedError("moving", told, command, "parts")
        two = [
            sum(sorted((one[i] for one in known), reverse=True)[:2], Fraction(0)) for i in (0, 1)
        ]
        return dearest([*costs, (two[0], two[1])]), entering


def _either(spent: Sequence[Spent]) -> Mapping[str, Kind]:
    """Names after a branch: of both sides alike, or something that is no plain number."""
    first, second = spent[0].names, spent[1].names
    found = dict.fromkeys((*first, *second), NOWHERE)
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
            for _, part in one.parts:
                yield from _read(part)
