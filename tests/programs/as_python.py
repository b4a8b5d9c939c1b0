"""A second reading of program files, for tests: run as Python on a small table.

Releases note the true value that they are given and answer with a number of their own, so that the
values can be held against those that the front end's representation has on the same table.
Generators become lists, because here a name stands for its rows however often it is used.
"""

from __future__ import annotations

import ast
import builtins
import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count as numbers
from types import SimpleNamespace
from typing import Any


class Rows(list):
    """A sequence of rows; `read` are the columns that decide which rows are in it."""

    read: frozenset[str] = frozenset()
    bare = False  # kept rows of a filter over single values: they are counted as rows

    @property
    def size(self) -> int:
        return len(self)

    def __getattr__(self, name: str) -> Any:
        """A column, where the rows have it."""
        if name == "labels" or name not in self.labels:
            raise AttributeError(name)
        rows = self.like(getattr(row, name) for row in self)
        rows.over = self  # type: ignore[attr-defined]
        return rows

    def __getitem__(self, at: Any) -> Any:
        return getattr(self, at) if isinstance(at, str) else super().__getitem__(at)

    def like(self, values: Any) -> Rows:
        """Other values of the same rows."""
        rows = Rows(values)
        rows.read, rows.labels = self.read, self.labels  # type: ignore[attr-defined]
        return rows


class Person(Rows):
    """The rows of one person, in their order; public columns are those of each."""

    def first(self, *, by: str) -> Any:
        return min(self, key=lambda row: getattr(row, by))

    def last(self, *, by: str) -> Any:
        return max(self, key=lambda row: getattr(row, by))

    def __getattr__(self, name: str) -> Any:
        if name == "labels" or name not in self.labels:
            raise AttributeError(name)
        return getattr(self[0], name)


class Row(SimpleNamespace):
    """A record: its columns as attributes, or in brackets."""

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


class Vec(tuple):
    """A vector of numbers: arithmetic entry by entry."""

    def _with(self, other: Any, do: Any) -> Vec:
        others = other if isinstance(other, tuple) else (other,) * len(self)
        return Vec(do(a, b) for a, b in zip(self, others, strict=True))

    def __add__(self, other: Any) -> Vec:
        return self._with(other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Vec:
        return self if other == 0 else self._with(other, lambda a, b: b + a)

    def __sub__(self, other: Any) -> Vec:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Vec:  # type: ignore[override]
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__  # type: ignore[assignment]

    def __truediv__(self, other: Any) -> Vec:
        return self._with(other, lambda a, b: a / b)

    def __neg__(self) -> Vec:
        return Vec(-a for a in self)


@dataclass
class Model:
    rows: Rows
    likelihood: Any
    prior: Any
    whole: bool


@dataclass
class Log:
    """What the releases were given, in the order in which they ran."""

    given: list[Any] = field(default_factory=list)
    order: Any = field(default_factory=numbers)

    def answer(self, value: Any) -> Any:
        """A released value: whole where the true one is, and never the true one."""
        shift = 1 + next(self.order) % 3
        self.given.append(value)
        return value + shift if not isinstance(value, Vec) else Vec(item + shift for item in value)


@dataclass(frozen=True)
class Label:
    """A value of a Category column: knows its place among the labels."""

    text: str
    labels: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return self.text == (other.text if isinstance(other, Label) else other)

    def __hash__(self) -> int:
        return hash(self.text)


def language(log: Log, public: frozenset[str]) -> dict[str, Any]:
    """The names of the language, as functions of plain values. `public` columns are public."""

    def total(rows: Any) -> Any:
        rows = [Vec(row) if isinstance(row, tuple) else row for row in rows]
        start = Vec((0,) * len(rows[0])) if rows and isinstance(rows[0], Vec) else 0
        return builtins.sum(rows, start)

    def count(rows: Rows) -> int:
        if rows and all(isinstance(row, bool) for row in rows) and not rows.bare:
            return builtins.sum(rows)
        return len(rows)

    def onehot(value: Any, k: int | None = None) -> Vec:
        size, at = _place(value)
        size = size if k is None else k
        return Vec(int(i == at) for i in range(size))

    def cross(*parts: Any) -> Label:
        sizes = [_place(part) for part in parts]
        at = 0
        for size, place in sizes:
            at = at * size + place
        n = 1
        for size, _ in sizes:
            n *= size
        return Label(str(at), tuple(str(i) for i in range(n)))

    def pairs_of(rows: Rows, by: str) -> list[Any]:
        labels = rows.labels[by]  # type: ignore[attr-defined]
        actual = []
        for label in labels:
            piece = Rows(row for row in rows if _text(getattr(row, by)) == label)
            piece.read, piece.labels = rows.read | {by}, rows.labels  # type: ignore[attr-defined]
            actual.append((label, piece))
        return actual

    def group_by(rows: Rows, by: str, most: int) -> Rows:
        keys = dict.fromkeys(getattr(row, by) for row in rows)
        own = {key: [row for row in rows if getattr(row, by) == key] for key in keys}
        assert all(len(held) <= most for held in own.values())
        persons = []
        for held in own.values():
            person = Person(held)
            person.labels = rows.labels  # type: ignore[attr-defined]
            persons.append(person)
        return rows.like(persons)

    def pieces_of(rows: Rows, by: str) -> list[Any]:
        return [piece for _, piece in pairs_of(rows, by)]

    def listed(values: list[Any], over: Any, read: tuple[str, ...], bare: bool) -> Any:
        actual = Rows(values)
        if isinstance(over, Rows):
            actual.read, actual.labels = over.read | set(read), over.labels  # type: ignore[attr-defined]
            single = bool(over) and not hasattr(over[0], "__dict__")
            actual.bare = single and bool(actual.read) and bare and (over.bare or not over.read)
            actual.over = over  # type: ignore[attr-defined]
        return actual

    def zipped(*lists: Any) -> Any:
        pairs = builtins.zip(*lists, strict=True)
        return lists[0].like(pairs) if isinstance(lists[0], Rows) else list(pairs)

    def quotient(a: Any, b: Any) -> Any:
        return a / b if isinstance(a, Vec) else Fraction(a) / b

    def fold(rows: Rows, start: Any, step: Any) -> Any:
        for row in rows:
            start = step(start, row)
        return start

    def transition_counts(rows: Rows, *, order: str, by: str | None = None) -> Vec:
        records = list(rows.over)  # type: ignore[attr-defined]
        places = [(by and getattr(row, by), getattr(row, order)) for row in records]
        size, counts = _place(rows[0])[0], {}
        held = {
            place: _place(row)[1]
            for place, row in zip(places, rows, strict=True)
            if places.count(place) == 1
        }
        for (unit, step), state in held.items():
            if (unit, step + 1) in held:
                pair = state, held[unit, step + 1]
                counts[pair] = counts.get(pair, 0) + 1
        return Vec(counts.get((a, b), 0) for a in range(size) for b in range(size))

    def statistics(model: Model) -> Any:
        kind = model.likelihood[0]
        if model.prior[0] == "partial_pooling":
            by = model.prior[1][-1]
            cells = [onehot(getattr(row, by)) for row in model.rows.over]  # type: ignore[attr-defined]
            pairs = zip(cells, model.rows, strict=True)
            return total([Vec(entry * row for entry in cell) for cell, row in pairs])
        if model.likelihood == ("normal", ()):
            kind = "unknown"
        if kind == "chances":
            hot = [onehot(cross(*row) if isinstance(row, tuple) else row) for row in model.rows]
            return total(hot)
        if kind in SUMMED:
            return total([SUMMED[kind](row) for row in model.rows])
        if kind == "categorical":
            return total([onehot(row) for row in model.rows])
        if kind == "linear_model":
            return total(
                [
                    Vec(row[i] * row[j] for i in range(len(row)) for j in range(i, len(row)))
                    for row in model.rows
                ]
            )
        if kind == "poisson" or model.whole:
            return total(model.rows)
        if kind == "bernoulli":
            return total([Vec((int(row), 1 - int(row))) for row in model.rows])
        return total([Vec((1, row)) for row in model.rows])

    def parameters(model: Model) -> Any:
        kind = model.likelihood[0]
        rows = model.rows
        hot = [onehot(row) if kind == "categorical" else Vec((int(row), 1 - row)) for row in rows]
        return Vec(model.prior[1]) + total(hot)

    def exponential(*, score: Any, candidates: Any, **_: Any) -> Any:
        if not callable(score):
            log.given.append(("model", statistics(score.posterior)))
            next(log.order)
            return ("released",)
        log.given.append(Vec(score(candidate) for candidate in candidates))
        return candidates[next(log.order) % len(candidates)]

    def above_threshold(queries: Any, *, threshold: Any, **_: Any) -> Any:
        log.given.append(Vec((*queries, threshold)))
        return next(log.order) % (len(queries) + 1)

    def per_record(rows: Rows, *, score: Any, candidates: Any, epsilon: Any) -> Any:
        log.given.append(Vec(score(row, candidate) for row in rows for candidate in candidates))
        next(log.order)
        return ("noisy",)

    def answers(rows: Rows, *, epsilon: Any) -> Any:
        log.given.append(Vec(_place(row)[1] for row in rows))
        next(log.order)
        return ("noisy",)

    def sampled(model: Model, *, grid: Any, **_: Any) -> Any:
        log.given.append(("model", statistics(model)))
        return grid[next(log.order) % len(grid)]

    def observe(rows: Any, likelihood: Any, prior: Any) -> Any:
        kind = likelihood if isinstance(likelihood, tuple) else likelihood()
        if not isinstance(rows, Rows):
            return ("noisy model",)
        return Model(rows, kind, prior, rows.read <= public)

    def prior(name: str) -> Any:
        return lambda *args, **named: Released((name, (*args, *named.values())))

    def normal(*args: Any, **named: Any) -> Any:
        return Released(("normal", (*args, *named.values())))

    return {
        **{
            "sum": total,
            "count": count,
            "onehot": onehot,
            "cross": cross,
            "fold": fold,
            "zip": zipped,
        },
        **{"field": lambda row, name: getattr(row, name), "pairs_of": pairs_of},
        "group_by": group_by,
        "clip": lambda value, low, high: min(max(value, low), high),
        **{"observe": observe, "infer": lambda model: model, "statistics": statistics},
        **{"parameters": parameters, "bernoulli": prior("bernoulli"), "beta": prior("beta")},
        **{"categorical": prior("categorical"), "dirichlet": _dirichlet, "normal": normal},
        **{"poisson": prior("poisson"), "gamma": prior("gamma")},
        "linear_model": prior("linear_model"),
        **{name: prior(name) for name in LATER},
        "laplace": lambda value, **_: log.answer(_vector(value)),
        "gaussian": lambda value, **_: log.answer(_vector(value)),
        **{"exponential": exponential, "per_record_exponential": per_record},
        "above_threshold": above_threshold,
        "transition_counts": transition_counts,
        **{"randomized_response": answers, "posterior_sample": sampled},
        "hellinger": lambda model: _Score(model),
        "posteriors_of": lambda *_, **__: [("released",)],
        "grid_of": lambda *_, **__: [("released",)],
        "linspace": lambda low, high, k: [
            low + (high - low) * Fraction(i, k - 1) for i in range(k)
        ],
        **{name: lambda *_, **__: RELEASED for name in AFTER},
        **FUNCTIONS,
        "require": lambda _: None,
        **{"pieces_of": pieces_of, "listed": listed, "quotient": quotient, "Fraction": Fraction},
    }


LATER = (
    *("logistic", "poisson_regression", "geometric", "negative_binomial", "exponential_time"),
    *("mixture", "normal_inverse_gamma", "partial_pooling", "chances", "hypotheses"),
    "markov_chain",
)
"""Likelihoods and priors of which the programs of the corpus have the bounds that follow."""


def _unit(x: Any, low: int, high: int) -> Fraction:
    """The number between -1 and 1 that lies where x lies between its bounds."""
    return (2 * Fraction(x) - low - high) / (high - low)


def _triangle(*row: Any) -> Vec:
    return Vec(row[i] * row[j] for i in range(len(row)) for j in range(i, len(row)))


SUMMED: dict[str, Any] = {
    "logistic": lambda row: _triangle(1, _unit(row[1], 18, 90), _unit(row[2], 0, 1)),
    "poisson_regression": lambda row: _triangle(1, _unit(row[1], 18, 90), _unit(row[2], 0, 12)),
    "unknown": lambda x: _triangle(1, _unit(x, 0, 60)),
    "exponential_time": lambda row: Vec((int(row[1]), Fraction(row[0]) / 60)),
    "mixture": lambda x: Vec(
        int(i == min(math.floor(Fraction(x) / 60 * 24), 23)) for i in range(24)
    ),
    "negative_binomial": lambda k: k,
}
"""What is summed of each row, by the likelihood, in the corpus' programs."""


class Released(tuple):
    """A released posterior, whose numbers are made up: `SUMMARIES` has them too."""

    mean, sd = Fraction(2, 5), Fraction(1, 10)

    def quantile(self, p: Any) -> Any:
        return Fraction(p) / 2

    def samples(self, draws: Any) -> Any:
        return self

    def probability(self, low: Any, high: Any) -> Any:
        return Fraction(high) / 4 - Fraction(low) / 4

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if isinstance(key, int | slice) else Fraction(1, 4)


RELEASED = Released(("released",))
AFTER = ("plug_in", "noise_aware", "nuts", "predictive")
SUMMARIES: dict[str, Any] = {
    "mean": lambda *_: RELEASED.mean,
    "sd": lambda *_: RELEASED.sd,
    "quantile": lambda p, _: RELEASED.quantile(p),
    "probability": RELEASED.probability,
}
FUNCTIONS: dict[str, Any] = {
    **{
        name: lambda x, name=name: Fraction(getattr(math, name)(x))
        for name in ("sqrt", "log", "exp", "lgamma")
    },
    "floor": math.floor,
    "round": lambda x: math.floor(x + Fraction(1, 2)),
}


@dataclass
class _Score:
    posterior: Model


def _dirichlet(*args: Any) -> Any:
    return ("dirichlet", args[0] if len(args) == 1 else args)


def _vector(value: Any) -> Any:
    return Vec(value) if isinstance(value, (tuple, list)) else value


def _text(value: Any) -> str:
    return value.text if isinstance(value, Label) else str(value)


def _place(value: Any) -> tuple[int, int]:
    """How many values there are, and which this is."""
    if isinstance(value, Label):
        return len(value.labels), value.labels.index(value.text)
    if isinstance(value, bool):
        return 2, int(value)
    return 0, int(value)


class Plain(ast.NodeTransformer):
    """Generators as lists, decimals as fractions, types and decorators left out."""

    def __init__(self, text: str) -> None:
        self.text = text

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._listed(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._listed(node)

    def _listed(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        first = node.generators[0]
        _name_pieces(first)
        target = ast.dump(first.target).replace("Store", "Load")
        bare = target == ast.dump(node.elt)
        read = {
            node.attr
            for test in first.ifs
            for node in ast.walk(test)
            if isinstance(node, ast.Attribute)
        }
        plain = [
            node for test in first.ifs for node in ast.walk(test) if isinstance(node, ast.Call)
        ]
        if first.ifs and (plain or not read):
            read.add("?")
        columns = ast.Tuple([ast.Constant(item) for item in sorted(read)], ast.Load())
        comp = ast.ListComp(node.elt, node.generators)
        over = first.iter if isinstance(first.iter, ast.Name) else ast.Constant(None)
        return ast.Call(
            ast.Name("listed", ast.Load()), [comp, over, columns, ast.Constant(bare)], []
        )

    def visit_For(self, node: ast.For) -> ast.AST:
        _name_pieces(node)
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, float):
            exact = ast.Constant(ast.get_source_segment(self.text, node) or str(node.value))
            return ast.Call(ast.Name("Fraction", ast.Load()), [exact], [])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            return ast.Call(ast.Name("quotient", ast.Load()), [node.left, node.right], [])
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list, node.returns = [], None
        for item in (*node.args.args, *node.args.kwonlyargs):
            item.annotation = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        assert node.value is not None
        return ast.Assign([node.target], node.value)


def _name_pieces(node: Any) -> None:
    """partition(...) gives pieces, or pairs of labels and pieces: the target says which."""
    _name_in(node.iter, node.target)


def _name_in(over: Any, target: Any) -> None:
    called = over.func if isinstance(over, ast.Call) else None
    if isinstance(called, ast.Name) and called.id == "partition":
        called.id = "pairs_of" if isinstance(target, ast.Tuple) else "pieces_of"
    elif isinstance(called, ast.Name) and called.id in ("zip", "enumerate"):
        targets = target.elts[called.id == "enumerate" :]
        for argument, inner in zip(over.args, targets, strict=True):
            _name_in(argument, inner)


def run(text: str, name: str, rows: Rows, public: frozenset[str]) -> tuple[Any, list[Any]]:
    """What the program returns on these rows, and what its releases were given."""
    tree = ast.parse(text)
    kept = [
        statement
        for statement in tree.body
        if isinstance(statement, ast.FunctionDef)
        or (isinstance(statement, ast.Assign) and not _is_type(statement.value))
    ]
    plain = Plain(text)
    module = ast.Module([plain.visit(item) for item in kept], [])
    log = Log()
    names = language(log, public)
    exec(compile(ast.fix_missing_locations(module), name, "exec"), names)  # the tests' own corpus
    return names[name](rows), log.given


def _is_type(node: ast.expr) -> bool:
    head = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(head, ast.Name) and head.id[:1].isupper() and isinstance(node, ast.Subscript)
