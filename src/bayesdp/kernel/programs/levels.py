"""The types of expressions: values of one row, private or public; and where each may stand.

The rules about costs read an expression as what its place makes it. So an operation out of place is
refused: a comparison of private sums, a row outside its data, a private value that is not released.

### 8.1 The language and the judgement

A program ([the language](programs.md)) is read into a list of commands: *releases*, *derived*
values, *branches* and *parts* (one list of commands for each label of a column). Every expression
has a level: *static* (a literal), *public* (made of literals, public arguments, the public size,
sums that read public columns only, and results of commands before it), *row* (a value of one
record) or *private* (made of sums over records). The judgement is `program : (epsilon, delta,
kind)` under one adjacency: for neighbouring tables that meet the preconditions, the laws of all
results together satisfy (epsilon, delta).

**Statement.** Which command runs next, and every number that it uses besides the private value that
it releases, is a function of public values and of results so far. So a program is an adaptive
sequence of releases, and what costs is the releases only.

**Proof.** By induction over the commands. (1) *Control.* A condition of a branch, and the length of
a loop, have level static or public: a comparison with a private value is private, and no condition,
loop, precondition or choice takes a private truth value. Conditions on rows stand inside one row's
value, where both sides are evaluated to one number. (2) *No other exit.* A function has one return,
its last line; nothing raises: bounds are clamped and missing values refused on load, divisors
inside rows and of private values are proved not to be 0 whatever the data, clips are proved
ordered, and sums of exact numbers don't overflow. (3) *Parameters.* Costs, noise scales,
candidates, grids and priors have level static or public. (4) *Names.* A private value has no name:
it is substituted where it is used, so a copy costs nothing and releasing it twice costs twice. A
name that a branch gives on both sides becomes a derived value; one that would stand for different
private values has no value after it. A row's name has no value outside its generator, nor inside
another one, where its columns would be taken for those of the other record. A piece of a partition
ends with its loop. (5) *Results.* What is returned is public. ∎

The other half is that the commands mean what the text says. Helpers are written out where they are
called (they know their parameters and the file's constants only, and don't recur), static loops are
unrolled (after `if test: break` the rest of the loop stands on the other side of the condition: a
loop that may stop is a branch in a branch), entries of dictionaries become choices, and literals
are the decimals that are written. This is tested, not proved: each accepted program of the corpus
is also run as Python, on random tables, with functions that note what each release is given, and
the notes must equal the exact values of the representation (`tests/programs/test_meaning.py`); the
same for programs with expressions exchanged at random, as far as they are accepted
(`tests/programs/test_mutants.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from bayesdp.kernel.arithmetic import UnknownError, require
from bayesdp.kernel.programs.functions import FUNCTIONS
from bayesdp.kernel.programs.ranges import AdjacencyContext
from bayesdp.kernel.programs.reading import (
    MOST_ENTRIES,
    SIZE,
    ColumnType,
    Node,
    pieces,
)
from bayesdp.kernel.programs.refusals import allow
from bayesdp.kernel.programs.transitions import check_transitions
from bayesdp.statements.program_models import (
    ANYWHERE,
    AT_LEAST,
    LIKELIHOODS,
    PRIORS,
    ParameterPlaces,
)


@dataclass(frozen=True, slots=True)
class ValueKind:
    """truth, number, label (with its `labels`), vector (with its `size`), or other."""

    name: str
    size: int = 1
    labels: tuple[str, ...] = ()


TRUTH, NUMBER, OTHER = ValueKind("truth"), ValueKind("number"), ValueKind("other")
NOWHERE = ValueKind("nowhere")
"""The kind of a name that only one side of a branch gives: it has no value afterwards."""

AFTER = ("plug-in", "noise-aware", "nuts", "law", "draws", "predictive")
"""What is made of released values and models of them. It is free, since it reads nothing else."""

NONE = ParameterPlaces()
_COMPARISONS = ("lt", "le", "gt", "ge")
_ARITHMETIC = ("add", "sub", "mul", "div", "neg", "abs", "min", "max", "clip")


@dataclass(frozen=True)
class Scope:
    """The kinds of public names, and whether this is a step of a fold."""

    context: AdjacencyContext
    names: Mapping[str, ValueKind]
    step: bool = False

    def with_name(self, name: str, kind: ValueKind) -> Scope:
        """This scope with one more public name."""
        return replace(self, names={**self.names, name: kind})

    # -- rows --------------------------------------------------------------------------------

    def row(self, node: Node) -> ValueKind:
        """The kind of a value of one row."""
        if node.op == "field":
            column = self._column(node.data[0], node)
            if column.kind == "bool":
                return TRUTH
            return ValueKind("label", 1, column.labels) if column.kind == "category" else NUMBER
        if node.op == "acc":
            allow(self.step, "row-op", "'acc' outside a step of a fold", node)
            return NUMBER
        allow(node.op not in ("sum", "count"), "row-op", "a sum inside of a row", node)
        if node.op == "public":
            return self.public(node)
        if node.op == "onehot":
            return self._onehot(node)
        if node.op == "cross":
            labels: tuple[str, ...] = ("",)
            for i, part in enumerate(node.args):
                words = _words(self.row(part))
                require(
                    len(labels) * len(words) <= MOST_ENTRIES,
                    f"a cross of more than {MOST_ENTRIES} cells",
                )
                labels = tuple(f"{a}|{b}" if i else b for a in labels for b in words)
            distinct = len(set(labels)) == len(labels)
            allow(distinct, "cross", "two cells of a cross have one name", node)
            return ValueKind("label", 1, labels)
        if node.op == "moments":
            entries = self.row(node.args[0])
            require(
                entries.name == "vector" and node.args[0].op == "tuple",
                "moments are not of a tuple",
            )
            size = entries.size * (entries.size + 1) // 2
            require(size <= MOST_ENTRIES, f"moments of more than {MOST_ENTRIES} entries")
            return ValueKind("vector", size)
        return self._operation(node, [self.row(arg) for arg in node.args])

    def _column(self, name: object, at: Node) -> ColumnType:
        allow(name in self.context.program.columns, "column", f"no column {name!r}", at)
        return self.context.program.columns[str(name)]

    def _onehot(self, node: Node) -> ValueKind:
        kind, size = self.row(node.args[0]), node.data[0]
        assert isinstance(size, Fraction)
        if kind.name == "number":
            place = self.context.range(node.args[0])
            allow(
                whole_row(node.args[0], self.context),
                "cell",
                "the number of a cell is not whole",
                node,
            )
            inside = place.low >= 0 and place.high < size
            allow(
                inside,
                "cells",
                f"the number of a cell may lie outside of 0 to {int(size) - 1}",
                node,
            )
        else:
            require(
                _places(kind) == size,
                f"a one-hot vector of {size} entries, of a category of {_places(kind)} labels",
            )
        return ValueKind("vector", int(size))

    def data(self, node: Node) -> ValueKind:
        """The kind of the rows of a `data` node."""
        require(node.op == "data", "this is not data: the database, a piece or a part of it")
        for column, label in pieces(node):
            known = label in self._column(column, node).parts
            require(known, f"no piece {label!r} of {column!r}")
        require(self.row(node.args[0]).name == "truth", "a filter is true or false")
        self.exact_divisors(node)
        return self.row(node.args[1])

    def exact_divisors(self, node: Node) -> None:
        """No division by 0, and no clip with its ends in the wrong order, whatever the row."""
        for part in node.walk():
            if part.op == "div":
                nonzero = self.context.range(part.args[1]).nonzero
                allow(nonzero, "row-divisor", "a divisor may be 0", part.args[1])
            if part.op == "clip":
                low, high = (self.context.range(end) for end in part.args[1:])
                ordered = low.high <= high.low
                allow(ordered, "clip", "the ends of a clip may be in the wrong order", part)

    # -- private numbers -----------------------------------------------------------------------

    def private(self, node: Node) -> ValueKind:
        """The kind of a value that may move with a record."""
        if node.op in ("sum", "count"):
            kind = self.data(node.args[0])
            require(
                kind.name in ("truth", "number", "vector") or node.op == "count",
                "a sum is neither of numbers nor of vectors",
            )
            return NUMBER if node.op == "count" or kind.name != "vector" else kind
        if node.op == "fold":
            self.data(node.args[0])
            inner = replace(self, step=True)
            require(inner.row(node.args[1]).name in ("number", "truth"), "a step is a number")
            inner.exact_divisors(node.args[1])
            return NUMBER
        if node.op == "transitions":
            check_transitions(node, self.context)
            return ValueKind("vector", self.data(node.args[0]).size ** 2)
        if not self.context.moved(node):
            return self.public(node)
        require(
            node.op in (*_ARITHMETIC, "tuple", "item"), f"'{node.op}' of values that are private"
        )
        return self._operation(node, [self.private(arg) for arg in node.args])

    # -- public values -------------------------------------------------------------------------

    def public(self, node: Node) -> ValueKind:
        """The kind of a value that no record moves."""
        if node.op == "public":
            name = str(node.data[0])
            if node == SIZE:
                is_public = self.context.adjacency == "replace-one"
                allow(is_public, "name", "the number of records is private", node)
                return NUMBER
            known = self.names.get(name, NOWHERE) != NOWHERE
            allow(known, "name", f"{name!r} is not released before it is used", node)
            return self.names[name]
        if node.op in ("sum", "count"):
            is_public = not self.context.moved(node)
            allow(is_public, "unreleased", "a private value is used without a release", node)
            return self.private(node)
        is_public = node.op not in ("field", "acc", "data", "fold")
        allow(is_public, "unreleased", "a private value is used without a release", node)
        return self._operation(node, [self.public(arg) for arg in node.args])

    def after(self, node: Node) -> ValueKind:
        """The kind of what is computed from released values."""
        if node.op not in AFTER:
            return self.public(node)
        require(1 <= len(node.args) <= 2, f"'{node.op}' of {len(node.args)} parts")
        for part in node.args:
            if part.op == "observe":
                data = part.args[0]
                require(data.op in ("nothing", "public"), "a model of unreleased data")
                if data.op == "public":
                    self.public(data)
                self.likelihood(part)
            else:
                require(part.op == "public", f"'{part.op}' stands where a released value is due")
                self.public(part)
        return OTHER

    def likelihood(self, model: Node) -> str:
        """The family of a model, with public parameters and a prior that fits."""
        require(model.op == "observe", "this is not a model: observe(data, likelihood, prior)")
        likelihood, prior = model.args[1:]
        require(likelihood.op == "likelihood", "this is not a likelihood that is known here")
        family = str(likelihood.data[0])
        prior_family, parameters = LIKELIHOODS.get(family, ("", NONE))
        places = parameters.of(len(likelihood.args))
        known = prior_family != "" and places is not None
        require(known, "this is not a likelihood that is known here")
        for parameter, place in zip(likelihood.args, places or (), strict=True):
            is_number = self.public(parameter).name in ("number", "truth")
            require(is_number, "a likelihood's parameter is not a number")
            self._lies(parameter, place)
        if prior.op == "public":
            self.public(prior)
            return family
        require(
            prior.op == "prior" and prior.data[0] == prior_family,
            "the prior is not of the likelihood's family",
        )
        places = PRIORS[prior_family].of(len(prior.args))
        due = places is not None
        require(due, f"a prior of {len(prior.args)} parameters, which the likelihood does not have")
        for parameter, place in zip(prior.args, places or (), strict=True):
            is_number = self.public(parameter).name in ("number", "truth", "vector")
            require(is_number, "a prior's parameter is neither a number nor a vector")
            self._lies(parameter, place)
        return family

    def _lies(self, parameter: Node, place: str) -> None:
        """`InvalidError` unless it is above 0, or at least 0: no law exists otherwise."""
        for lies in self.context.ranges(parameter):
            fits = place == ANYWHERE or lies.low > 0 or (place == AT_LEAST and lies.low == 0)
            require(fits, "a parameter may be 0 or less")

    def observed(self, model: Node) -> str:
        """The family of a model of private rows, which must fit it."""
        family = self.likelihood(model)
        rows = self.data(model.args[0])
        wanted = {
            "bernoulli": ("truth",), "categorical": ("label", "truth"), "normal": ("number",),
            "poisson": ("number",), "linear_model": ("vector",),
        }.get(family, ())  # fmt: skip
        require(
            rows.name in wanted,
            f"{family} is about rows of kind {' or '.join(wanted)}, not {rows.name}",
        )
        if family == "categorical" and model.args[2].op == "prior":
            require(len(model.args[2].args) == _places(rows), "not one prior number for each label")
        return family

    # -- operations that all levels have ---------------------------------------------------------

    def _operation(self, node: Node, kinds: list[ValueKind]) -> ValueKind:
        """The kind of an operation that all levels have, from the kinds of its arguments."""
        op = node.op
        if op == "const":
            value = node.data[0]
            if isinstance(value, str):
                return ValueKind("text")
            return TRUTH if isinstance(value, bool) else NUMBER
        if op in ("and", "or", "not"):
            reason = f"'{op}' of a value that is neither true nor false"
            require(all(kind.name == "truth" for kind in kinds), reason)
            return TRUTH
        if op in ("eq", "ne"):
            words = [kind.name in ("label", "text") for kind in kinds]
            require(
                all(words) or all(kind in (TRUTH, NUMBER) for kind in kinds),
                "the two sides can't be compared",
            )
            return TRUTH
        if op == "if":
            require(kinds[0].name == "truth", "a condition is true or false")
            require(
                all(kind in (TRUTH, NUMBER) for kind in kinds[1:]),
                "a choice is not between numbers",
            )
            return TRUTH if kinds[1] == kinds[2] == TRUTH else NUMBER
        if op == "tuple":
            require(
                all(kind in (TRUTH, NUMBER) for kind in kinds),
                "a vector has an entry that is not a number",
            )
            return ValueKind("vector", len(kinds))
        if op == "item":
            place = node.data[0]
            assert isinstance(place, Fraction)
            known = kinds[0].name == "vector" and place < kinds[0].size
            allow(known, "entry", "the vector has no such entry", node)
            return NUMBER
        if op in _COMPARISONS:
            require(
                all(kind in (TRUTH, NUMBER) for kind in kinds),
                "a comparison by size is not between numbers",
            )
            return TRUTH
        if op == "summary":
            of_released = kinds == [OTHER] and node.args[0].op == "public"
            require(of_released, "a summary of what is not a released posterior")
            return NUMBER
        if op in FUNCTIONS:
            one_number = all(kind in (TRUTH, NUMBER) for kind in kinds)
            require(one_number, f"'{op}' of what is not one number")
            self.context.range(node)  # refused where it may have no value
            return NUMBER
        if op not in _ARITHMETIC:
            raise UnknownError(f"no rule for '{op}' here", "program")
        return _combined(node, kinds)


def _combined(node: Node, kinds: list[ValueKind]) -> ValueKind:
    op = node.op
    vectors = {kind.size for kind in kinds if kind.name == "vector"}
    require(
        all(kind.name in ("truth", "number", "vector") for kind in kinds),
        f"'{op}' of what is neither a number nor a vector",
    )
    allow(len(vectors) <= 1, "lengths", "vectors of different lengths", node)
    if not vectors:
        return NUMBER
    require(op in ("add", "sub", "mul", "div", "neg"), f"'{op}' of a vector")
    return ValueKind("vector", vectors.pop())


def whole_row(node: Node, context: AdjacencyContext) -> bool:
    """Whether a row's value is always a whole number; a truth value is 0 or 1."""
    if node.op == "field":
        column = context.program.columns.get(str(node.data[0]))
        return column is not None and column.kind in ("int", "bool")
    if node.op == "const":
        value = node.data[0]
        return isinstance(value, bool | Fraction) and Fraction(value).denominator == 1
    if node.op in ("eq", "ne", *_COMPARISONS, "and", "or", "not", "onehot", "floor"):
        return True
    args = node.args[1:] if node.op == "if" else node.args
    closed = node.op in ("if", *_ARITHMETIC) and node.op != "div"
    return closed and all(whole_row(arg, context) for arg in args)


def _words(kind: ValueKind) -> tuple[str, ...]:
    require(kind.name in ("label", "truth"), "this is not a category")
    return ("False", "True") if kind == TRUTH else kind.labels


def _places(kind: ValueKind) -> int:
    return len(_words(kind))
