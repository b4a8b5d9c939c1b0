"""What commands cost together, in exact fractions.

Sequences add, branches take the dearer side, parts of a partition the dearest, or two of them where
a record may change its piece (theory 8.2).

### 8.2 Costs

**One after the other.** Costs add, epsilons and deltas separately (2.6, 2.8): what is released next
is a function of public values and of results so far.

**A branch** costs the larger epsilon with the larger delta of its two sides: given the results so
far one side runs, and which one is known. What isn't used is not given back.

**Parts.** A part is *confined* if every sum in it reads rows of its own piece only; public sums
over all rows don't count as confined. If some part isn't, costs add. Else let part `j` cost `r_j`
when a record of its piece is replaced by another one, and `a_j` when a record only enters or leaves
its piece, with the noise as it is.

* *Public column, or add-remove*: the largest `r_j`. The record that differs is in one piece, the
  same in both tables.
* *Private column, replace-one*: `max(max_j r_j, max_(i < j) (a_i + a_j))`.

**Proof.** Fix two neighbouring tables and the results so far. A release of a part whose piece is
the same in both has the same law in both, so only the parts whose piece differs count, and they
compose as a sequence does. A replaced record either stays in piece `j` (its other columns may
change): then that is the only one, and its cost `r_j`. Or it goes from `i` to `j`: piece `i` has
lost a row and piece `j` has gained one, and the number of rows of the whole table, which is public,
is what it was. ∎

*Entering.* `a` of a sequence is the sum, of a branch the larger one, of parts the largest if they
are confined, else the sum. For one release it is in 8.5; where no bound is known, a partition by a
private column is refused. `a` may be above `r`: a sum of values in [2, 8] moves by 6 if one is
replaced, and by 8 if one leaves. So parallel composition at the price of replacing is wrong even
for one piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import InvalidError, require
from bayesdp.kernel.programs.levels import NOWHERE, NUMBER, OTHER, TRUTH, Scope, ValueKind
from bayesdp.kernel.programs.ranges import ANY, Range
from bayesdp.kernel.programs.reading import (
    Branch,
    Command,
    Derive,
    Parts,
    Release,
    pieces,
)
from bayesdp.kernel.programs.reading import Node as Expression
from bayesdp.kernel.programs.refusals import RefusedError, allow
from bayesdp.kernel.programs.releases import kind_of_value, release_cost
from bayesdp.kernel.programs.setting import NONE, FractionPair, Setting
from bayesdp.kernel.reading import as_invalid
from bayesdp.statements.program_steps import (
    BranchNode,
    DeriveNode,
    Node,
    PartsNode,
    Pieces,
    ReleaseNode,
    SequenceNode,
    read_node,
)

NODES = {Release: ReleaseNode, Derive: DeriveNode, Branch: BranchNode, Parts: PartsNode}
"""Which node a command has in the derivation."""

Kinds = list[tuple[str, str | None, tuple[Fraction, Fraction] | None]]


@dataclass(frozen=True)
class CommandsCost:
    """The cost of commands, and where a record only enters or leaves; the names that they add.

    `node` is their part of the derivation as plain data; of a release `None` where it was read.
    """

    cost: FractionPair
    entering: FractionPair | None
    names: Mapping[str, ValueKind]
    node: dict[str, Any] | None


def added(pairs: Sequence[FractionPair]) -> FractionPair:
    """The sum of the epsilons, and of the deltas."""
    return sum((e for e, _ in pairs), Fraction(0)), sum((d for _, d in pairs), Fraction(0))


def dearest(pairs: Sequence[FractionPair]) -> FractionPair:
    """The largest epsilon with the largest delta."""
    return max([e for e, _ in pairs], default=Fraction(0)), max(
        [d for _, d in pairs], default=Fraction(0)
    )


def _known_costs(spent: Sequence[CommandsCost]) -> list[FractionPair] | None:
    known = [spend.entering for spend in spent if spend.entering is not None]
    return known if len(known) == len(spent) else None


@dataclass
class Walk:
    """Goes through the commands and the derivation side by side.

    A derivation that is `None` is made on the way: `proposed` says what a release's node states.
    """

    setting: Setting
    kinds: Kinds = field(default_factory=list)
    places: dict[str, tuple[Range, ...]] = field(default_factory=dict)
    """Where released and derived values lie."""
    making: bool = False
    """Whether nodes may be missing, since they are made on the way."""

    def proposed(self, release: Release, setting: Setting) -> dict[str, Any]:
        """The node of a release as plain data, where the derivation has none."""
        raise InvalidError("the derivation has no step for this release", f"release {release.name}")

    def sequence(
        self, commands: Sequence[Command], node: SequenceNode | None, names: Mapping[str, ValueKind]
    ) -> CommandsCost:
        """The cost of commands in sequence: the sum of their costs."""
        nodes = [None] * len(commands) if node is None else node.sequence
        require(len(nodes) == len(commands), "not one step for each command", "derivation")
        new: dict[str, ValueKind] = {}
        spent, known_names = [], dict(names)
        for command, under in zip(commands, nodes, strict=True):
            done = self.command(command, under, known_names)
            require(
                not any(name in known_names for name in done.names),
                "two commands give one name a value",
                "name",
            )
            new |= done.names
            known_names |= done.names
            spent.append(done)
        known = _known_costs(spent)
        entering = None if known is None else added(known)
        plain = {"sequence": [spend.node for spend in spent]}
        return CommandsCost(added([spend.cost for spend in spent]), entering, new, plain)

    def scope(self, names: Mapping[str, ValueKind]) -> Scope:
        """What may be read where these names have values."""
        context = replace(self.setting.context, variables=self.places)
        return replace(self.setting.scope, names=names, context=context)

    def command(
        self, command: Command, node: Node | None, names: Mapping[str, ValueKind]
    ) -> CommandsCost:
        """The cost of a command, by the rule for its kind."""
        require(node is not None or self.making, "a step is missing", "derivation")
        of_its_kind = node is None or isinstance(node, NODES[type(command)])
        require(of_its_kind, "the step is not that of the command", "derivation")
        scope = self.scope(names)
        if isinstance(command, Release):
            assert node is None or isinstance(node, ReleaseNode)
            return self.release(command, node, scope)
        if isinstance(command, Derive):
            same = not isinstance(node, DeriveNode) or node.derive == command.name
            require(same, "the step is not that of the command", "derivation")
            kind = scope.after(command.value)
            numeric = kind.name in ("truth", "number", "vector")
            self._note(command.name, scope.context.ranges(command.value) if numeric else (ANY,))
            return CommandsCost(NONE, NONE, {command.name: kind}, {"derive": command.name})
        if isinstance(command, Branch):
            assert node is None or isinstance(node, BranchNode)
            return self.branch(command, node, names)
        assert node is None or isinstance(node, PartsNode)
        return self.parts(command, None if node is None else node.parts, names)

    def release(self, release: Release, node: ReleaseNode | None, scope: Scope) -> CommandsCost:
        """The cost of a release. A proposed node is read in the way of a certificate's."""
        setting, plain = replace(self.setting, scope=scope), None
        if node is None:
            plain = self.proposed(release, setting)
            with as_invalid():
                node = read_node(plain)
        cost = release_cost(release, node, setting)
        self.kinds.append(cost.kind)
        kind = self._kind(release, scope)
        self._note(release.name, (ANY,) * kind.size)
        return CommandsCost(cost.cost, cost.entering, {release.name: kind}, plain)

    def _note(self, name: str, places: tuple[Range, ...]) -> None:
        """Note where a value lies: in the hull of both, if both sides of a branch give its name."""
        before = self.places.get(name, places)
        if len(before) == len(places):
            places = tuple(
                earlier.hull(later) for earlier, later in zip(before, places, strict=True)
            )
        self.places[name] = places

    def _kind(self, release: Release, scope: Scope) -> ValueKind:
        if release.op in ("laplace", "gaussian"):
            return kind_of_value(release, scope)
        numeric = release.op in ("posterior-sample", "above-threshold")
        numeric = numeric or release.args[0].op == "score"
        return NUMBER if numeric else OTHER

    def branch(
        self, command: Branch, node: BranchNode | None, names: Mapping[str, ValueKind]
    ) -> CommandsCost:
        """The cost of a branch: that of its dearer side."""
        is_truth = self.scope(names).public(command.test) == TRUTH
        require(is_truth, "a condition is true or false", "branch")
        nodes = (None, None) if node is None else node.branch
        spent = [
            self.side(command, holds, under, names)
            for holds, under in zip((True, False), nodes, strict=True)
        ]
        known = _known_costs(spent)
        entering = None if known is None else dearest(known)
        plain = {"branch": [spend.node for spend in spent]}
        return CommandsCost(
            dearest([spend.cost for spend in spent]), entering, _either(spent), plain
        )

    def side(
        self,
        command: Branch,
        holds: bool,
        node: SequenceNode | None,
        names: Mapping[str, ValueKind],
    ) -> CommandsCost:
        """The commands of a branch where its test holds, or where it doesn't."""
        return self.sequence(command.sides[0 if holds else 1], node, names)

    def parts(
        self, command: Parts, stated: Pieces | None, names: Mapping[str, ValueKind]
    ) -> CommandsCost:
        """The cost of a partition: in parallel if each part reads its piece only, else the sum."""
        column = self.setting.context.program.columns.get(command.column)
        reason = f"a partition by no column {command.column!r}"
        allow(column is not None, "partition", reason, command, "parts")
        assert column is not None
        labels = [label for label, _ in command.parts]
        known_labels = set(labels) <= set(column.parts) and len(set(labels)) == len(labels)
        reason = "a piece that there isn't, or a piece twice"
        allow(known_labels, "labels", reason, command, "parts")
        known_public = command.public is column.public
        disagree = "the partition is public, and its column is not, or the other way round"
        allow(known_public, "public-parts", disagree, command, "parts")
        confined = all(_confined(part, command.column, label) for label, part in command.parts)
        plain = {"column": command.column, "public": command.public, "confined": confined}
        nodes: Sequence[SequenceNode | None] = [None] * len(command.parts)
        if stated is not None:
            require(
                stated.column == command.column,
                "the partition is by another column than the step states",
                "parts",
            )
            disagree = (
                "the partition is public here and private in the step, or the other way round"
            )
            require(stated.public is command.public, disagree, "parts")
            read = "whether each part reads its piece only"
            require(stated.confined is confined, read, "parts")
            nodes = stated.of
            require(len(nodes) == len(command.parts), "not one step for each piece", "derivation")
        spent: list[CommandsCost] = []
        new: dict[str, ValueKind] = {}
        for (_, part), under in zip(command.parts, nodes, strict=True):
            spent.append(self.sequence(part, under, {**names, **new}))
            new |= spent[-1].names
        tree = {"parts": {**plain, "of": [spend.node for spend in spent]}}
        cost, entering = self._together(spent, confined, command)
        return CommandsCost(cost, entering, new, tree)

    def _together(
        self, spent: list[CommandsCost], confined: bool, command: Parts
    ) -> tuple[FractionPair, FractionPair | None]:
        known, costs = _known_costs(spent), [spend.cost for spend in spent]
        if not confined:
            return added(costs), None if known is None else added(known)
        entering = None if known is None else dearest(known)
        if command.public or self.setting.context.adjacency == "add-remove":
            return dearest(costs), entering
        if known is None:
            reason = "a record that changes its piece has no known cost"
            raise RefusedError("moving", reason, command, "parts")
        two = [
            sum(sorted((pair[i] for pair in known), reverse=True)[:2], Fraction(0)) for i in (0, 1)
        ]
        return dearest([*costs, (two[0], two[1])]), entering


def _either(spent: Sequence[CommandsCost]) -> Mapping[str, ValueKind]:
    """The kinds of names after a branch; a name that only one side gives has no value there."""
    first, second = spent[0].names, spent[1].names
    kinds = dict.fromkeys((*first, *second), NOWHERE)
    for name in set(first) & set(second):
        same = first[name] == second[name]
        numeric = {first[name], second[name]} <= {NUMBER, TRUTH}
        kinds[name] = first[name] if same else NUMBER if numeric else OTHER
    return kinds


def _confined(commands: Sequence[Command], column: str, label: str) -> bool:
    """Whether all rows that these commands read lie in this piece."""
    return all(
        (column, label) in pieces(node)
        for expression in _read(commands)
        for node in expression.walk()
        if node.op == "data"
    )


def _read(commands: Sequence[Command]) -> Iterator[Expression]:
    for command in commands:
        if isinstance(command, Release):
            yield from command.args
        elif isinstance(command, Branch):
            for side in command.sides:
                yield from _read(side)
        elif isinstance(command, Parts):
            for _, part in command.parts:
                yield from _read(part)
