"""Mutants of the rules and of what proposes by them: a line changed, so that less is claimed.

Each names the program that gains by it. `mutated` loads rules and checker anew
with that line changed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

RULES = (
    *(
        "refusals",
        "effort",
        "reading",
        "functions",
        "cancelled",
        "ranges",
        "rows",
        "cases",
        "transitions",
        "levels",
        "sensitivities",
        "distances",
    ),
    *("noise", "sizes", "obligations", "setting", "releases", "costs", "document"),
)
CHECKER = (
    *("refusals", "reading", "candidates", "divisors", "parameters", "messages", "solvers"),
    *("sizes", "refine", "noise", "explain", "derive", "checker"),
)
ORDER = (
    *(f"bayesdp.kernel.programs.{rule}" for rule in RULES),
    *(f"bayesdp.programs.check.{item}" for item in CHECKER),
)


class Mutant(NamedTuple):
    """`old` stands once in the module's source. Two modules of one name are told apart."""

    module: str
    old: str
    new: str
    probe: str

    @property
    def name(self) -> str:
        """The module's whole name."""
        actual = [item for item in ORDER if item.endswith(f".{self.module}")]
        return actual[0]


@cache
def source(name: str) -> str:
    package, *inside = name.split(".")
    root = Path(importlib.import_module(package).__path__[0])
    return root.joinpath(*inside).with_suffix(".py").read_text(encoding="utf-8")


@cache
def code(name: str) -> CodeType:
    return compile(source(name), f"{name}.py", "exec")


@contextmanager
def mutated(mutant: Mutant) -> Iterator[Callable[..., object]]:
    """The mutated checker's `check`; inside, every import finds the mutated modules."""
    text = source(mutant.name)
    assert text.count(mutant.old) == 1, (mutant, text.count(mutant.old))
    kept = {name: importlib.import_module(name) for name in ORDER}
    try:
        for name in ORDER:
            module = ModuleType(name)
            _put(name, module)
            if name == mutant.name:
                changed = text.replace(mutant.old, mutant.new)
                exec(compile(changed, f"{name} (mutant)", "exec"), module.__dict__)
            else:
                exec(code(name), module.__dict__)
        yield sys.modules["bayesdp.programs.check.checker"].check
    finally:
        for name, module in kept.items():
            _put(name, module)


def _put(name: str, module: ModuleType) -> None:
    package, _, last = name.rpartition(".")
    sys.modules[name] = module
    setattr(sys.modules[package], last, module)


MUTANTS = (
    # -- functions
    Mutant("functions", "return _below(ends[0], more), _above(ends[1], more)",
           "return _above(ends[0], more), _above(ends[0], more)", "a logarithm in rows"),
    Mutant("functions", "        return ends[0], ends[1]\n",
           "        return ends[0], ends[1] - 1\n", "a floor in rows"),
    Mutant("functions", 'return low >= 0 if op == "sqrt" else low > 0', "return True",
           "a logarithm of a released value"),
    Mutant("functions", 'return low >= 0 if op == "sqrt" else low > 0', "return low > 0 or True",
           "a root of a released value"),
    Mutant("functions", "return low >= -MOST_EXPONENT and high <= MOST_EXPONENT",
           "return low >= -MOST_EXPONENT", "an exponential without an end"),
    Mutant("functions", "return value + abs(value) * MARGIN + more", "return value / 2",
           "times a root"),
    Mutant("functions", "_above(max(ends), TINY)", "_above(min(ends), TINY)", "times a lgamma"),
    Mutant("functions", "return low >= -MOST_EXPONENT and high", "return high",
           "an exponential without a lower end"),
    Mutant("functions", "return value + abs(value) * MARGIN + more", "return value * 2 / 3",
           "a logarithm as a factor"),
    Mutant("functions", "        return Fraction(floor(x))",
           "        return Fraction(floor(x / 2))", "a floor in rows"),
    Mutant("ranges", "return Range(*function_range(op, args[0].low, args[0].high))",
           "return Range(*function_range(op, args[0].low, args[0].low))", "an exponential in rows"),
    Mutant("levels", "            self.context.range(node)  # refused where it may have no value",
           "            pass", "an exponential of a released value"),
    Mutant("levels", 'of_released = kinds == [OTHER] and node.args[0].op == "public"',
           "of_released = True", "a mean of a number"),
    # -- what cancels
    Mutant("cancelled", 'if term.op == "clip" and above:', 'if term.op == "clip":',
           "a clip less its end"),
    Mutant("cancelled", "above=factor < 0", "above=factor > 0", "a clip less its end"),
    Mutant("cancelled", '"min" if above else "max"', '"max" if above else "min"',
           "the size less a maximum"),
    Mutant("cancelled", "return term.args[2:]", "return term.args[1:2]",
           "the size less a clip from there"),
    Mutant("cancelled", "end = place[0] if factor > 0 else place[1]", "end = place[0]",
           "the size less two clips"),
    Mutant("cancelled", "bounded(factor * node.data[0])", "bounded(node.data[0])",
           "the size less a clip and more"),
    # -- where values lie
    Mutant("ranges", "UNIT = Range(ZERO, Fraction(1))",
           "UNIT = Range(ZERO, Fraction(1, 2))", "a truth value in rows"),
    Mutant("ranges", "else Range(column.low, column.high),)",
           "else Range(column.low, (column.low + column.high) / 2),)", "half and half"),
    Mutant("ranges", "return Range(ZERO if place.low <= 0 <= place.high else min(ends), max(ends))",
           "return Range(min(ends), max(ends))", "square"),
    Mutant("ranges", "for y in (b.low, b.high)]", "for y in (b.high,)]", "product"),
    Mutant("ranges", "else 1 / end for end", "else 1 / (end + 1) for end", "over the size in rows"),
    Mutant("ranges", "min(max(value.low, low.low), high.low)",
           "max(max(value.low, low.low), high.low)", "clipped"),
    Mutant("ranges", "return Range(ZERO if inside else min(ends), max(ends))",
           "return Range(ZERO if inside else min(ends), args[0].high)", "absolute"),
    Mutant("ranges", "return self.hull(Range(ZERO, ZERO))",
           "return Range(self.low, max(self.high, ZERO))", "filtered"),
    Mutant("ranges", "return max(abs(Fraction(self.low)), abs(Fraction(self.high)))",
           "return Fraction(self.high)", "below 0, entering"),
    Mutant("ranges", "Range(_sum(args[0].low, -args[1].high), _sum(args[0].high, -args[1].low))",
           "Range(_sum(args[0].low, args[1].low), _sum(args[0].high, args[1].high))",
           "difference in rows"),
    Mutant("ranges", "return Range(min(args[1].low, args[2].low), max(args[1].high, args[2].high))",
           "return args[1]", "choice in rows"),
    Mutant("ranges", "Range(min(lows), min(highs)) if", "args[-1] if", "smaller of two"),
    Mutant("ranges", "else Range(max(lows), max(highs))", "else args[-1]", "larger of two"),
    Mutant("ranges", "return self.low > 0 or self.high < 0",
           "return self.low >= 0 or self.high < 0",
           "a size less 1"),
    Mutant("ranges", "rows = self.size if every else Range(ZERO, self.size.high)",
           "rows = UNIT", "times a public sum"),
    # -- what rows add
    Mutant("rows", "return columns_of(self.filter) | {column for column, _ in self.pieces}",
           "return frozenset(column for column, _ in self.pieces)", "filtered"),
    Mutant("rows", "return columns_of(self.filter) | {column for column, _ in self.pieces}",
           "return columns_of(self.filter)", "private pieces at 2"),
    Mutant("ranges", "or not columns_of(part) <= self.public)",
           "or not columns_of(part.args[0].args[0]) <= self.public)", "plain sum"),
    Mutant("sensitivities", "shift += abs(factor) * width", "shift += width", "three times"),
    Mutant("levels", "            if part.op == \"div\":\n", "            if False:\n",
           "a division in a row"),
    Mutant("levels", "ordered = low.high <= high.low", "ordered = True",
           "a clip that may be turned"),
    Mutant("levels", "distinct = len(set(labels)) == len(labels)", "distinct = True",
           "two cells of one name"),
    Mutant("rows", "min(max(_number(args[0]), _number(args[1])), _number(args[2]))",
           "_number(args[2])", "clipped whole number"),
    Mutant("rows", "lambda x, y: x + y", "lambda x, y: x", "sum in rows"),
    Mutant("rows", "lambda x, y: x * y", "lambda x, y: y", "product of whole numbers"),
    Mutant("rows", "if term.filter != TRUE and not evaluated(term.filter):", "if False:",
           "count of some"),
    Mutant("rows", "sum((factor * contribution(term) for term, factor",
           "sum((contribution(term) for term, factor", "three whole numbers"),
    Mutant("rows", "range(int(column.low), int(column.high) + 1)",
           "range(int(column.low), int(column.high))", "whole number"),
    Mutant("rows", "return (False, True)", "return (True,)", "half and half"),
    Mutant("rows", "        return column.labels\n", "        return column.labels[:1]\n",
           "one label"),
    Mutant("rows", "abs(_number(args[0]))", "Fraction(0)", "absolute whole number"),
    # -- how far values move
    Mutant("ranges", 'return replace(self, adjacency="add-remove")', "return self", "at 2"),
    Mutant("ranges", 'a - b if node.op == "sub" else a * b)', 'a - b if node.op == "sub" else a)',
           "one number for each entry"),
    Mutant("ranges", 'self.adjacency == "add-remove" or not', "not", "count, entering"),
    Mutant("ranges", 'part.op in ("fold", "transitions")\n', "False\n", "fold"),
    # -- transitions
    Mutant("ranges", 'part.op in ("fold", "transitions")\n', 'part.op == "fold"\n',
           "transitions"),
    Mutant("transitions", '"l1": Fraction(4)', '"l1": Fraction(3)', "transitions"),
    Mutant("transitions", '"l2": Fraction(6)', '"l2": Fraction(5)',
           "transitions with Gaussian noise"),
    Mutant("transitions", "SAME, OTHER = Fraction(2), Fraction(1)",
           "SAME, OTHER = Fraction(1), Fraction(1)", "who stays"),
    Mutant("transitions", "SAME, OTHER = Fraction(2), Fraction(1)",
           "SAME, OTHER = Fraction(2), Fraction(1, 2)", "who leaves"),
    Mutant("transitions", "far = SAME if before == behind else OTHER",
           "far = OTHER if before == behind else SAME", "who stays"),
    Mutant("transitions", 'far if norm == "l1" else far * far', "far",
           "who stays, with Gaussian noise"),
    Mutant("transitions", "isqrt(many_transitions(transitions))", "many_transitions(transitions)",
           "who stays"),
    Mutant("transitions", "known = column is not None and column.public",
           "known = column is not None", "transitions in a private order"),
    Mutant("transitions", 'whole = key is not keys[0] or column.kind == "int"', "whole = True",
           "transitions in an order of numbers"),
    Mutant("transitions", 'if context.adjacency == "add-remove":', "if False:",
           "transitions, entering"),
    Mutant("transitions", "chosen = deciding <= context.public", "chosen = True",
           "transitions behind a private filter"),
    Mutant("transitions", "columns_of(data.args[0]) | {column for column, _ in pieces(data)}",
           "columns_of(data.args[0])", "transitions in a private piece"),
    Mutant("transitions", "columns_of(data.args[0]) | {column for column, _ in pieces(data)}",
           "{column for column, _ in pieces(data)}", "transitions behind a private filter"),
    Mutant("transitions", "allow(len(keys) in (1, 2),", "allow(True,", "transitions by three"),
    Mutant("ranges", 'counted = data.op == "data" and data.args[1].op == "onehot"',
           'counted = data.op == "data"', "transitions of numbers"),
    Mutant("rows", "for term, factor in y.items():", "for term, factor in ():", "sum of sums"),
    Mutant("rows", "{term: factor * weight for", "{term: weight for", "three times"),
    Mutant("rows", "_times(parts[0], 1 / number)", "_times(parts[0], number)", "over a half"),
    Mutant("rows", "return [entry for entries in known for entry in entries]", "return known[0]",
           "two sums"),
    Mutant("sensitivities", "const(_power(means.folds(node), norm))", "const(means.folds(node))",
           "fold with Gaussian noise"),
    Mutant("sensitivities", "private = any(context.moved(end) for end in node.args[1:])",
           "private = False", "a clip at a private value"),
    Mutant("sensitivities", "total = _largest(values) if",
           "total = values[0] if", "larger of two sums"),
    Mutant("sensitivities", '        total = Node("add", (total, part))\n', "        pass\n",
           "clipped sum and sum"),
    Mutant("sensitivities",
           'value = total if norm == "l1" else _simple(Node("mul", (total, total)))',
           "value = total", "clipped sums with Gaussian noise"),
    Mutant("sensitivities", 'if op in ("add", "sub") and len(context.ranges(arg)) < length:',
           "if False:", "one number for each entry"),
    Mutant("sensitivities", "allow(not several, ", "allow(True, ", "a product of two sums"),
    Mutant("sensitivities", "allow(not context.moved(right), ",
           "allow(True, ", "a private divisor"),
    Mutant("sensitivities", "allow(context.range(right).nonzero, ",
           "allow(True, ", "a size less 1"),
    Mutant("sensitivities", 'for _ in range(1 if norm == "l1" else 2):', "for _ in range(1):",
           "times the size with Gaussian noise"),
    Mutant("sensitivities", "return const(min(abs(end)", "return const(max(abs(end)",
           "over a released value"),
    Mutant("sensitivities", "return const(place.largest())",
           "return const(abs(Fraction(place.high)))", "times a released value"),
    Mutant("sensitivities", "return const(min(abs(end)", "return const(max(abs(end)",
           "over a released value below 0"),
    Mutant("sensitivities", "total += _power(shift, norm)", "total += shift",
           "two sums with Gaussian noise"),
    Mutant("sensitivities", "        return place.largest()\n", "        return place.width()\n",
           "at 2, entering"),
    Mutant("sensitivities",
           'if context.adjacency == "replace-one" and term.columns <= context.public:',
           'if context.adjacency == "replace-one" and term.deciding <= context.public:',
           "plain sum"),
    Mutant("sensitivities",
           "(place if term.deciding <= context.public else place.or_zero()).width()",
           "place.width()", "filtered"),
    Mutant("sensitivities", "sorted((_power(factor, norm) for factor in vector[1]), reverse=True)",
           "sorted(_power(factor, norm) for factor in vector[1])", "cells of different weight"),
    Mutant("sensitivities", "{(term.pieces, term.filter, term.value) for term, _ in terms}",
           "{(term.pieces, term.filter) for term, _ in terms}", "cells of two tables"),
    Mutant("sensitivities", "len(same) > 1 or len(distinct) < len(terms) or", "len(same) > 1 or",
           "one cell twice"),
    Mutant("sensitivities", 'factors[: 1 if context.adjacency == "add-remove" else 2]',
           "factors[:1]", "cells"),
    Mutant("sensitivities", "sorted((_power(factor, norm) for factor in vector[1])",
           "sorted((factor for factor in vector[1])", "three times cells with Gaussian noise"),
    Mutant("sensitivities", "(factors, reverse=True), Fraction(0))[:2]",
           "(factors), Fraction(0))[:2]", "numbers in cells of different weight"),
    Mutant("sensitivities", "place = context.range(number).or_zero()",
           "place = Range(Fraction(0), Fraction(context.range(number).width()))",
           "numbers in cells, entering"),
    Mutant("sensitivities", "return _power(first * place.largest(), norm)",
           "return _power(second * place.largest(), norm) / 2", "numbers in cells, entering"),
    Mutant("sensitivities", "stays = _power(first * place.width(), norm)",
           "stays = Fraction(0)", "numbers of both signs in one cell"),
    Mutant("sensitivities", "if columns_of(vector_of) <= context.public:",
           "if True:", "numbers in cells"),
    Mutant("sensitivities", "stays = _power(first * place.width(), norm)",
           "stays = _power(first * place.largest(), norm)", "numbers in filtered cells"),
    Mutant("sensitivities", "place = context.range(number).or_zero()",
           "place = context.range(number)", "numbers above 0 in filtered cells"),
    Mutant("sensitivities", "if not all(len(entry) == 1 for entry in entries):", "if False:",
           "a cell and a sum"),
    Mutant("sensitivities", "return first, [abs(factor) for _, factor in terms]",
           "return first, [factor for _, factor in terms]", "numbers in cells, below 0"),
    Mutant("sensitivities", "return max(stays, sum(moved, Fraction(0)))",
           "return sum(moved, Fraction(0))", "numbers of both signs in one cell"),
    Mutant("sensitivities", "return max(stays, sum(moved, Fraction(0)))",
           "return max(stays, *moved)", "numbers in cells"),
    Mutant("sensitivities", "moved = [_power(factor * place.largest(), norm)",
           "moved = [factor * place.largest()", "numbers in cells with Gaussian noise"),
    Mutant("sensitivities", "if any(place.low < -1 or place.high > 1 for place in places):",
           "if False:", "wide moments"),
    Mutant("sensitivities", "enters = Fraction(d * (d + 1), 2)",
           "enters = Fraction(d * (d - 1), 2)", "moments"),
    Mutant("sensitivities", "Fraction(4 * (d * d // 4)", "Fraction(2 * (d * d // 4)",
           "moments with Gaussian noise"),
    Mutant("sensitivities", 'against = nothing if context.adjacency == "add-remove" else group',
           "against = group", "whole number, entering"),
    Mutant("sensitivities", "shared = sorted(names & context.public)", "shared = sorted(names)",
           "whole number"),
    Mutant("sensitivities", "sum((a - b) ** 2 for", "sum(abs(a - b) for",
           "two whole numbers with Gaussian noise"),
    # -- case by case
    Mutant("cases", "(frozenset({(node, False)}), NOTHING)]", "(frozenset({(node, False)}), ONE)]",
           "a truth value in rows"),
    Mutant("cases", "for so, side in ((True, yes), (False, no))", "for so, side in ((True, yes),)",
           "twice the same choice"),
    Mutant("cases", "            return held is so\n", "            return held\n",
           "a cut, entering"),
    Mutant("cases", "            return held is so\n", "            return held or so\n",
           "a private cut"),
    Mutant("cases", "if read <= cases_.context.public:", "if True:", "public halves"),
    Mutant("cases", "if (columns_of(atom) <= shared) is public]", "if public]", "a private cut"),
    Mutant("cases", "if (name in shared) is public)", "if public)", "private halves"),
    Mutant("cases", "against = {(nothing,) * len(summands)} if enters else rows", "against = rows",
           "all and some of them at 2, entering"),
    Mutant("cases", "return max(up, -down)", "return up", "public halves below 0, entering"),
    Mutant("cases", 'sum((shift if norm == "l1" else shift * shift for shift in shifts), ZERO)',
           "sum(shifts, ZERO)", "public halves with Gaussian noise"),
    Mutant("cases", "factors[summand.key] += summand.factor",
           "factors[summand.key] = summand.factor", "all and some of them"),
    Mutant("cases", "exactly += summand.factor * value", "exactly += value", "three times a cut"),
    Mutant("cases", "            always.append((term.filter, True))\n", "            pass\n",
           "all less some of them"),
    Mutant("cases", "always = [_in_piece(*piece, context) for piece in term.pieces]", "always = []",
           "all less a piece"),
    Mutant("cases", "down, up = first[0] - second[1], first[1] - second[0]",
           "down, up = first[0] - second[0], first[1] - second[1]", "public halves"),
    Mutant("cases", "down, up = down + least, up + most", "pass", "a public number, less some"),
    Mutant("cases", 'if test.op == "and" else any(parts)', 'if test.op == "and" else all(parts)',
           "one of two conditions, entering"),
    # -- kinds, whole numbers, candidates
    Mutant("releases", '    if context.adjacency != "replace-one":\n        return ANY_KIND\n', "",
           "plain sum, entering"),
    Mutant("releases", " or node.args[0].args[0] != TRUE or pieces(node.args[0]):", ":",
           "filtered"),
    Mutant("releases", "(low, high)) if low < high else ANY_KIND", "(low, high))",
           "clipped outside"),
    Mutant("releases", "column is None or column.public or", "column is None or", "public sum"),
    Mutant("levels", 'return column is not None and column.kind in ("int", "bool")',
           'return column is not None and column.kind in ("int", "bool", "real")',
           "sigma of whole numbers for others"),
    Mutant("releases", "Range(min(place.low for place in ends),",
           "Range(max(place.low for place in ends),", "a score that grows with its candidate"),
    # -- the first query above a threshold
    Mutant("derive", "        return number(max(known))", "        return number(min(known))",
           "searched"),
    Mutant("derive", "entering = max(known) if", "entering = min(known) if", "searched in pieces"),
    # -- distances of posteriors
    Mutant("distances", "others = records - 1", "others = records", "coin"),
    Mutant("distances", "largest([traded(a + others, b), traded(a, b + others)])",
           "largest([traded(a, b + others)])", "four tosses, a lopsided prior"),
    Mutant("distances", "return largest([gain, traded(low[0], low[1])]) if replaced else gain",
           "return gain", "coin behind a filter"),
    Mutant("distances", "gain = gained(low[0])", "gain = gained(low[-1])",
           "coin with a strong prior, entering"),
    Mutant("distances", "ball(shape + shift / 2).lgamma()", "ball(shape + shift).lgamma()", "rate"),
    Mutant("distances", "apart * apart * precision / 8)", "apart * apart * precision / 16)",
           "mean"),
    Mutant("distances", "ball(a + HALF).lgamma()", "ball(a + HALF + HALF).lgamma()", "coin"),
    Mutant("derive", "TEN_DIGITS).ceil()", "TEN_DIGITS).floor()", "coin"),
    Mutant("distances", "return squared.sqrt() if", "return squared if", "coin"),
    Mutant("releases", "place.width() if fixed else place.largest()", "place.width()",
           "rate behind a filter"),
    Mutant("releases", "records = setting.least if", "records = setting.least + 1 if", "mean"),
    Mutant("releases", "    read = columns_of(data.args[0]) | {column for column, _ in "
           "pieces(data)}\n    entering", "    read = frozenset()\n    entering",
           "mean behind a filter"),
    Mutant("releases", "if fixed and not read else 1", "if fixed else 1", "coins of pieces"),
    Mutant("releases", 'allow(place.low >= 0, "counts"', 'allow(True, "counts"', "counts below 0"),
    # -- how many candidates
    Mutant("candidates", "if place.low < least:", "if False:", "a grid of one point"),
    Mutant("candidates", "    if later and not place.finite:", "    if False:",
           "as many points as noise says"),
    Mutant("candidates", "    if most > MOST_CANDIDATES:", "    if False:", "too many points"),
    Mutant("candidates", "if _later(candidates) and many.finite else many.low",
           "if False else many.low", "a clip that is too wide"),
    # -- sizes
    Mutant("ranges", "bound.denominator > 1 else bound + 1)",
           "bound.denominator > 1 else bound + 2)",
           "coin with a size above 0"),
    Mutant("ranges", 'if op in (">=", ">", "="):', 'if op in (">=", ">", "=", "<="):',
           "coin with at most five"),
    Mutant("ranges", '_TURNED = {">=": "<="', '_TURNED = {">=": ">="',
           "coin with at most five, turned"),
    Mutant("ranges", '    if node.op == "and":\n', '    if node.op in ("and", "or"):\n',
           "coin with five or one"),
    Mutant("check.sizes", "ceil(low) <= floor(high)", "True", "no size at all"),
    # -- folds, assertions
    Mutant("sensitivities",
           '        if context.adjacency == "add-remove":\n            raise Unproved',
           "        if False:\n            raise Unproved", "fold, entering"),
    Mutant("refine", "            self.prove(WIDENS, never_widens(expr, self.context), expr)\n", "",
           "a fold that doubles"),
    Mutant("obligations", 'problem.assertions.append((">", ("-", x, y), numeral(bound)))',
           'problem.assertions.append((">", ("-", x, y), numeral(2 * bound)))', "fold"),
    Mutant("obligations", "return step if data.args[0] == TRUE else", "return step if True else",
           "fold over some"),
    Mutant("refine", '("<", left, right)', '(">", left, right)', "nine over the size"),
    Mutant("obligations", "if name in self.context.public else", "if True else", "fold"),
    # -- noise
    Mutant("check.noise", "squared / (2 * sigma * sigma)", "squared / (4 * sigma * sigma)",
           "sigma for a vector"),
    Mutant("check.noise", "return _exact(sigma, root, epsilon)", "return _exact(sigma, 1, epsilon)",
           "sigma for three times"),
    # -- what a release costs
    Mutant("derive", 'bound = _least(setting, value, "l1", context)',
           'bound = _least(setting, value, "l2", context)', "half a bit"),
    Mutant("derive", 'bound = _least(setting, value, "l2", setting.context)',
           'bound = _least(setting, value, "l1", setting.context)', "sum with Gaussian noise"),
    Mutant("derive", "        elif asserted_number < derived_number:\n", "        elif False:\n",
           "an assertion below"),
    Mutant("derive", "number(width.width())", "number(width.width() / 2)", "answers"),
    Mutant("releases", 'allow(not tells_size, "answers"', 'allow(True, "answers"',
           "answers behind a filter"),
    Mutant("derive", "else 2 * entering", "else entering", "sample"),
    Mutant("releases", "cost = entering + entering if", "cost = entering if",
           "sample behind a filter"),
    Mutant("releases", "spread = high - low\n",
           "spread = max(-low, high) / 2\n", "sample, entering"),
    Mutant("releases", "entering = power * spread", "entering = power * spread / 2",
           "samples of private pieces"),
    Mutant("derive", "return epsilon * a / b", "return epsilon * b / a", "at 2"),
    Mutant("ranges", 'part.op in ("sum", "count")\n', 'part.op == "count"\n', "a private result"),
    Mutant("ranges", 'part.op in ("sum", "count")\n',
           'part.op == "count"\n', "candidates from data"),
    Mutant("ranges", 'part.op in ("sum", "count")\n', 'part.op == "count"\n', "exposure from data"),
    Mutant("derive", 'if value is None or (name in ("epsilon", "delta", "power") and value <= 0):',
           "if value is None:", "a negative power"),
    Mutant("levels", "            if part.op == \"div\":\n", "            if False:\n",
           "an answer that fails"),
    # -- what commands cost together
    Mutant("costs", "return CommandsCost(added([spend.cost for spend in spent])",
           "return CommandsCost(dearest([spend.cost for spend in spent])", "two releases"),
    Mutant("costs", "            dearest([spend.cost for spend in spent]), entering",
           "            spent[0].cost, entering", "branch"),
    Mutant("costs", "(column, label) in pieces(node)", "True", "pieces that read everything"),
    Mutant("costs", "            return added(costs), None if",
           "            return dearest(costs), None if",
           "pieces that read everything"),
    Mutant("costs", 'if command.public or self.setting.context.adjacency == "add-remove":',
           "if True:",
           "private pieces"),
    Mutant("costs", "reverse=True)[:2]", "reverse=True)[:1]", "private pieces"),
    Mutant("costs", "        if known is None:\n",
           "        known = known or []\n        if False:\n",
           "private pieces over the size"),
    Mutant("costs", "else added(known)\n        plain", "else dearest(known)\n        plain",
           "private pieces twice"),
    Mutant("costs", "else dearest(known)\n        plain", "else known[0]\n        plain",
           "private pieces with a branch"),
    Mutant("costs", "return added(costs), None if known is None else added(known)",
           "return added(costs), None if known is None else dearest(known)",
           "pieces of pieces that read all of them"),
    Mutant("costs", "known_public = command.public is column.public", "known_public = True",
           "a private column called public"),
    Mutant("costs", " and len(set(labels)) == len(labels)", "", "a piece twice"),
    # -- the verdict
    Mutant("checker", "if declared_cost is not None and declared_cost < derived_cost:", "if False:",
           "declared too little"),
    Mutant("checker", "program.declared_delta is None and delta > 0:", "False:",
           "a delta that is not declared"),
    Mutant("levels", 'is_public = self.context.adjacency == "replace-one"', "is_public = True",
           "a private size"),
    Mutant("document", "all(kind == kinds[0] for",
           "any(kind == kinds[0] for", "sums of two columns"),
)  # fmt: skip

EQUIVALENT = (
    (
        Mutant(
            "levels", 'require(fits, "a parameter may be', 'require(True, "a parameter may be', ""
        ),
        "A prior's parameters are shown to be above 0 where it is written (check_parameters), in "
        "whatever release it stands; this is a second look.",
    ),
    (
        Mutant(
            "ranges",
            'return self.program.public if self.adjacency == "replace-one" else frozenset()',
            "return self.program.public",
            "",
        ),
        "Where a record enters or leaves, the rules never ask which columns are shared: `moved` "
        "says yes to every sum before, the box takes the largest size before, moments the "
        "triangle, enumerated and cases compare with nothing whatever group a row is in, and "
        "hellinger asks for replace-one first.",
    ),
    (
        Mutant("levels", 'allow(self.step, "row-op"', 'allow(True, "row-op"', ""),
        "`acc` has no bounds, so a sum or score that reads it outside a fold is refused for want "
        "of them; a filter that reads it can't be evaluated on any row, so that a run stops before "
        "it shows anything.",
    ),
    (
        Mutant(
            "distances",
            "largest([gain, traded(low[0], low[1])]) if replaced",
            "traded(low[0], low[1]) if replaced",
            "",
        ),
        "r is below 1, so 1 - r(a) r(b) is at least 1 - r(a): the replaced record moves further.",
    ),
    (
        Mutant("explain", "if scope.context.moved(expr) or has_rows(expr):", "if False:", ""),
        "The kinds of public values are asked for next, and refuse what moves or is a row: this "
        "only points at the whole expression.",
    ),
    (
        Mutant("derive", "            self.explain.public(candidates, scope)\n", "", ""),
        "The rule of the release asks for the kinds of its candidates as public values again.",
    ),
    (
        Mutant("derive", "                self.explain.public(model.args[1], scope)\n", "", ""),
        "The rule of the release asks for the kinds of a likelihood's parameters as public values.",
    ),
    (
        Mutant(
            "checker",
            "        walk.explain.public(returned, after, noted=True)\n",
            "        pass\n",
            "",
        ),
        "What is returned is asked for its kind as a public value at the end; this adds notes and "
        "names what is private first.",
    ),
)
"""Mutants that change no verdict, each with the proof."""
