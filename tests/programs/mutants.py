"""Mutants of the checker's rules: one line of its source changed, so that it claims less.

Each names the program that gains by it. `mutated` loads the checker anew with that line changed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

from bayesdp.programs import check

PACKAGE = "bayesdp.programs.check"
ORDER = (
    *(
        "refusals",
        "intervals",
        "parameters",
        "divisors",
        "rows",
        "cases",
        "sensitivity",
        "candidates",
        "kinds",
        "lemmas",
        "scores",
        "sizes",
    ),
    *("solvers", "refine", "noise", "prices", "costs", "verdict"),
)


class Mutant(NamedTuple):
    """`old` stands once in the module's source."""

    module: str
    old: str
    new: str
    probe: str


@cache
def source(module: str) -> str:
    return (Path(check.__path__[0]) / f"{module}.py").read_text(encoding="utf-8")


@cache
def code(module: str) -> CodeType:
    return compile(source(module), f"{module}.py", "exec")


@contextmanager
def mutated(mutant: Mutant) -> Iterator[Callable[..., object]]:
    """The mutated checker's `check`; inside, every import finds the mutated modules."""
    text = source(mutant.module)
    assert text.count(mutant.old) == 1, (mutant, text.count(mutant.old))
    kept = {name: sys.modules.get(f"{PACKAGE}.{name}") for name in ORDER}
    package = sys.modules[PACKAGE]
    try:
        for name in ORDER:
            module = ModuleType(f"{PACKAGE}.{name}")
            sys.modules[f"{PACKAGE}.{name}"] = module
            setattr(package, name, module)
            if name == mutant.module:
                changed = text.replace(mutant.old, mutant.new)
                exec(compile(changed, f"{name} (mutant)", "exec"), module.__dict__)
            else:
                exec(code(name), module.__dict__)
        yield sys.modules[f"{PACKAGE}.verdict"].check
    finally:
        for name, module in kept.items():
            if module is None:
                sys.modules.pop(f"{PACKAGE}.{name}", None)
                if hasattr(package, name):
                    delattr(package, name)
            else:
                sys.modules[f"{PACKAGE}.{name}"] = module
                setattr(package, name, module)


MUTANTS = (
    # -- where values lie
    Mutant("intervals", "UNIT = Interval(Fraction(0), Fraction(1))",
           "UNIT = Interval(Fraction(0), Fraction(1, 2))", "half and half"),
    Mutant("intervals", "low = Fraction(0) if one.low <= 0 <= one.high else min(ends)",
           "low = min(ends)", "square"),
    Mutant("intervals", "for y in (b.low, b.high)", "for y in (b.high,)", "product"),
    Mutant("intervals", "        high = 1 / one.low\n", "        high = 1 / (one.low + 1)\n",
           "over the size in rows"),
    Mutant("intervals", "lowest = min(raised.low, high.low)", "lowest = max(raised.low, high.low)",
           "clipped"),
    Mutant("intervals", "return Interval(Fraction(0), one.largest)",
           "return Interval(Fraction(0), one.high)", "absolute"),
    Mutant("intervals", "low = None if self.low is None else min(self.low, Fraction(0))",
           "low = self.low", "filtered"),
    Mutant("intervals", "max(-self.low, self.high)", "self.high", "below 0, entering"),
    Mutant("intervals", "other = _negated(right)", "other = right", "difference in rows"),
    Mutant("intervals", "return Interval(_least(parts[1:]), _most(parts[1:]))", "return parts[1]",
           "choice in rows"),
    Mutant("intervals", "return Interval(_least(parts), min(highs) if highs else None)",
           "return parts[-1]", "smaller of two"),
    Mutant("intervals", "return Interval(max(lows) if lows else None, _most(parts))",
           "return parts[-1]", "larger of two"),
    Mutant("intervals", "return (one.low is not None and one.low > 0)",
           "return (one.low is not None and one.low >= 0)", "a size less 1"),
    Mutant("intervals", "return None if most is None else value * most",
           "return None if most is None else value", "times a public sum"),
    # -- what rows add
    Mutant("rows", "    \"\"\"The columns that decide whether a row is kept.\"\"\"\n"
           "    return columns(part.filter) | {c for c, _ in part.pieces}",
           "    return frozenset(c for c, _ in part.pieces)", "filtered"),
    Mutant("rows", "    \"\"\"The columns that decide whether a row is kept.\"\"\"\n"
           "    return columns(part.filter) | {c for c, _ in part.pieces}",
           "    return columns(part.filter)", "private pieces at 2"),
    Mutant("sensitivity", "Part(pieces_of(data), data.args[0], data.args[1], 0, Fraction(1))",
           "Part(pieces_of(data), data.args[0], ONE, 0, Fraction(1))", "plain sum"),
    Mutant("rows", "ends = (part.factor * one.low, part.factor * one.high)",
           "ends = (one.low, one.high)", "three times"),
    Mutant("rows", "    if expr.op == \"div\" and not nonzero(", "    if False and not nonzero(",
           "a division in a row"),
    Mutant("rows", "low.high > high.low", "False", "a clip that may be turned"),
    Mutant("rows", "if len(set(labels)) != len(labels):", "if False:", "two cells of one name"),
    Mutant("rows", "return min(max(numbers[0], numbers[1]), numbers[2])", "return numbers[2]",
           "clipped whole number"),
    Mutant("rows", '"add": a + b', '"add": a', "sum in rows"),
    Mutant("rows", '"mul": a * b', '"mul": b', "product of whole numbers"),
    Mutant("rows", "return part.filter == TRUE or bool(evaluate(part.filter, row, kinds))",
           "return True", "count of some"),
    Mutant("rows", "total += part.factor * value", "total += value", "three whole numbers"),
    Mutant("rows", "range(int(kind.low), int(kind.high) + 1)",
           "range(int(kind.low), int(kind.high))", "whole number"),
    Mutant("rows", "return (False, True)", "return (True,)", "half and half"),
    Mutant("rows", "        return kind.labels\n", "        return kind.labels[:1]\n", "one label"),
    Mutant("rows", "        return abs(numbers[0])\n", "        return Fraction(0)\n",
           "absolute whole number"),
    # -- how far values move
    Mutant("sensitivity", 'return World("add-remove", self.context, self.fold)',
           "return self", "at 2"),
    Mutant("sensitivity", "return numbers[0] * numbers[1]", "return numbers[0]",
           "one number for each entry"),
    Mutant("sensitivity", ' or world.adjacency == "add-remove"', "", "count, entering"),
    Mutant("sensitivity", 'return expr.op == "fold" or any(', "return any(", "fold"),
    Mutant("sensitivity", "return [a + b for a, b in zip(left, right, strict=True)]",
           "return [a for a, b in zip(left, right, strict=True)]", "sum of sums"),
    Mutant("sensitivity", "p.factor * factor)", "p.factor)", "three times"),
    Mutant("sensitivity", "_scaled(entries(left, world), 1 / factor)",
           "_scaled(entries(left, world), factor)", "over a half"),
    Mutant("sensitivity", "return [entry for one in parts if one is not None for entry in one]",
           "return parts[0]", "two sums"),
    Mutant("sensitivity", 'number(moved if norm == "l1" else moved * moved)', "number(moved)",
           "fold with Gaussian noise"),
    Mutant("sensitivity", "if any(is_private(one, world) for one in expr.args[1:]):", "if False:",
           "a clip at a private value"),
    Mutant("sensitivity", 'most = Expr("max", tuple(one.value for one in parts))',
           "most = parts[0].value", "larger of two sums"),
    Mutant("sensitivity", '            total = Expr("add", (total, one.value))\n',
           "            pass\n", "clipped sum and sum"),
    Mutant("sensitivity", 'value = total if norm == "l1" else Expr("mul", (total, total))',
           "value = total", "clipped sums with Gaussian noise"),
    Mutant("sensitivity", "or not isinstance(length, tuple) or isinstance(own, tuple):",
           "or True:", "one number for each entry"),
    Mutant("sensitivity", '    if expr.op == "mul" and is_private(left', '    if False and (left',
           "a product of two sums"),
    Mutant("sensitivity", "        if is_private(right, world):\n", "        if False:\n",
           "a private divisor"),
    Mutant("sensitivity", "if not nonzero(one_bound(right, world.context)):", "if False:",
           "a size less 1"),
    Mutant("sensitivity", 'powers = 1 if norm == "l1" else 2', "powers = 1",
           "times the size with Gaussian noise"),
    Mutant("sensitivity", "return number(_smallest(found))", "return number(found.largest)",
           "over a released value"),
    Mutant("sensitivity", "    return number(found.largest)\n",
           "    return number(abs(found.high))\n", "times a released value"),
    Mutant("sensitivity", "    return -found.high\n", "    return -found.low\n",
           "over a released value below 0"),
    Mutant("sensitivity", 'total += width if norm == "l1" else width * width', "total += width",
           "two sums with Gaussian noise"),
    Mutant("sensitivity", "        return inside.largest\n", "        return inside.width\n",
           "at 2, entering"),
    Mutant("sensitivity", "if part_columns(part) <= world.public:",
           "if condition_columns(part) <= world.public:", "plain sum"),
    Mutant("sensitivity", "width = inside.with_zero().width", "width = inside.width", "filtered"),
    Mutant("sensitivity", "        (one.pieces, one.filter, one.group, abs(one.factor))\n"
           "        == (first.pieces, first.filter, first.group, abs(first.factor))",
           "        (one.pieces, one.filter, one.group)\n"
           "        == (first.pieces, first.filter, first.group)",
           "cells of different weight"),
    Mutant("sensitivity", "        (one.pieces, one.filter, one.group, abs(one.factor))\n"
           "        == (first.pieces, first.filter, first.group, abs(first.factor))",
           "        (one.pieces, one.filter, abs(one.factor))\n"
           "        == (first.pieces, first.filter, abs(first.factor))", "cells of two tables"),
    Mutant("sensitivity", "distinct = len({one.index for (one,) in found}) == len(found)",
           "distinct = True", "one cell twice"),
    Mutant("sensitivity", "else min(2, len(found))", "else 1", "cells"),
    Mutant("sensitivity", 'return cells * (factor if norm == "l1" else factor * factor)',
           "return cells * factor", "three times cells with Gaussian noise"),
    Mutant("sensitivity", "one.low < -1 or one.high > 1 for one in base", "False for one in base",
           "wide moments"),
    Mutant("sensitivity", "triangle = Fraction(d * (d + 1), 2)",
           "triangle = Fraction(d * (d - 1), 2)", "moments"),
    Mutant("sensitivity", "Fraction(4 * (d * d // 4))", "Fraction(2 * (d * d // 4))",
           "moments with Gaussian noise"),
    Mutant("sensitivity", "against = [zero] if", "against = rows if", "whole number, entering"),
    Mutant("sensitivity", "shared = sorted(names & world.public)", "shared = sorted(names)",
           "whole number"),
    Mutant("sensitivity", "sum((m * m for m in moves), Fraction(0))", "sum(moves, Fraction(0))",
           "two whole numbers with Gaussian noise"),
    # -- case by case
    Mutant("cases", "Leaf(((expr, False),), ZERO)]", "Leaf(((expr, False),), ONE)]",
           "a truth value in rows"),
    Mutant("cases", "if (test[0], not test[1]) not in one.tests:", "if test not in one.tests:",
           "twice the same choice"),
    Mutant("cases", "        return found == so\n", "        return found\n", "a cut, entering"),
    Mutant("cases", "return found == so", "return found or so", "a private cut"),
    Mutant("cases", "shared = read <= world.public", "shared = True", "public halves"),
    Mutant("cases", "self.both = [a for a in self.free if columns(a) <= shared]",
           "self.both, shared = list(self.free), {*self.kinds}", "a private cut"),
    Mutant("cases", "self.together = [c for c in self.fixed if c in shared]",
           "self.together, shared = list(self.fixed), {*self.kinds}", "private halves"),
    Mutant("cases", '{nothing} if self.world.adjacency == "add-remove" else states', "states",
           "all and some of them at 2, entering"),
    Mutant("cases", "moved = max(up, -down)", "moved = up", "public halves below 0, entering"),
    Mutant("cases", 'total += moved if norm == "l1" else moved * moved', "total += moved",
           "public halves with Gaussian noise"),
    Mutant("cases", "factors.get(one.key, Fraction(0)) + one.factor", "one.factor",
           "all and some of them"),
    Mutant("cases", "low + one.factor * value, high + one.factor * value",
           "low + value, high + value", "three times a cut"),
    Mutant("cases", "            tests.append((part.filter, True))\n", "            pass\n",
           "all less some of them"),
    Mutant("cases", "tests = [_piece(*one, context.columns) for one in part.pieces]", "tests = []",
           "all less a piece"),
    Mutant("cases", "down, up = low - most, high - least", "down, up = low - least, high - most",
           "public halves"),
    Mutant("cases", "down, up = down + least_of, up + most_of", "pass",
           "a public number, less some"),
    Mutant("cases", "return any(self._holds(", "return all(self._holds(",
           "one of two conditions, entering"),
    # -- kinds, whole numbers, candidates
    Mutant("kinds", '    if world.adjacency != "replace-one":\n        return None\n', "",
           "plain sum, entering"),
    Mutant("kinds", '    if data.data[0] or data.args[0] != Expr("const", (), (True,)):\n'
           "        return None\n", "", "filtered"),
    Mutant("kinds", "if low < high else None", "", "clipped outside"),
    Mutant("kinds", 'in ("real", "int") or kind.public', 'in ("real", "int")', "public sum"),
    Mutant("rows", 'kind.kind in ("bool", "int")', 'kind.kind in ("bool", "int", "real")',
           "sigma of whole numbers for others"),
    Mutant("kinds", "Interval(min(lows), max(highs)) if len(lows)",
           "Interval(max(lows), max(highs)) if len(lows)", "a score that grows with its candidate"),
    # -- distances of posteriors
    Mutant("lemmas", "m = size.least - 1", "m = size.least", "coin"),
    Mutant("lemmas", "products = [(a, b + m), (a + m, b)]", "products = [(a, b + m)]",
           "four tosses, a lopsided prior"),
    Mutant("lemmas", "return moved if entering else max(moved, _replaced((a, b)))", "return moved",
           "coin behind a filter"),
    Mutant("lemmas", "moved = max(_entered(a), _entered(b))", "moved = _entered(max(a, b))",
           "coin with a strong prior, entering"),
    Mutant("lemmas", "(a + d / 2).lgamma() - (", "(a + d).lgamma() - (", "rate"),
    Mutant("lemmas", "t2 / (8 * s2", "t2 / (16 * s2", "mean"),
    Mutant("lemmas", "(x + half).lgamma() - (", "(x + half + half).lgamma() - (", "coin"),
    Mutant("lemmas", "(upper * scale).ceil()", "(upper * scale).floor()", "coin"),
    Mutant("lemmas", "squared.max(0).sqrt().upper()", "squared.max(0).upper()", "coin"),
    Mutant("scores", "each.width if size.public else each.high", "each.width",
           "rate behind a filter"),
    Mutant("scores", "sd, size.least)", "sd, size.least + 1)", "mean"),
    Mutant("scores", "    read = columns(data.args[0]) | {column for column, _ in pieces_of(data)}",
           "    read = {column for column, _ in pieces_of(data)}", "mean behind a filter"),
    Mutant("scores", "if not read and low is not None else 1", "if low is not None else 1",
           "coins of pieces"),
    Mutant("scores", "        if each.low < 0:", "        if False:", "counts below 0"),
    # -- how many candidates
    Mutant("candidates", "if found.low is None or found.low < least:", "if False:",
           "a grid of one point"),
    Mutant("candidates", "    if later and found.high is None:", "    if False:",
           "as many points as noise says"),
    Mutant("candidates", "    if most > MOST_CANDIDATES:", "    if False:", "too many points"),
    Mutant("candidates", "if _later(candidates) and many.high is not None else many.low",
           "if False else many.low", "a clip that is too wide"),
    # -- sizes
    Mutant("sizes", "bound + 1 if bound.denominator == 1 else bound)",
           "bound + 2 if bound.denominator == 1 else bound)", "coin with a size above 0"),
    Mutant("sizes", '            if op in ("ge", "eq"):\n',
           '            if op in ("ge", "eq", "le"):\n', "coin with at most five"),
    Mutant("sizes", '"ge": "le"', '"ge": "ge"', "coin with at most five, turned"),
    Mutant("sizes", 'if expr.op == "and":', 'if expr.op in ("and", "or"):',
           "coin with five or one"),
    Mutant("sizes", "return low is None or high is None or ceil(low) <= floor(high)",
           "return True", "no size at all"),
    # -- folds, assertions
    Mutant("refine", '        if adjacency != "replace-one":\n', "        if False:\n",
           "fold, entering"),
    Mutant("refine",
           '        self.prove("a step of the fold never widens a gap", problem, expr)\n', "",
           "a fold that doubles"),
    Mutant("refine", "{numeral(bound)})", "{numeral(2 * bound)})", "fold"),
    Mutant("refine", 'step = Expr("if", (data.args[0], step, Expr("acc")))', "pass",
           "fold over some"),
    Mutant("refine", 'problem.say(f"(< {left} {right})")', 'problem.say(f"(> {left} {right})")',
           "nine over the size"),
    Mutant("solvers", "if kind.public else f\"column {name} of {row}\"",
           "if True else f\"column {name} of {row}\"", "fold"),
    # -- noise
    Mutant("noise", "squared / (2 * sigma * sigma)", "squared / (4 * sigma * sigma)",
           "sigma for a vector"),
    Mutant("noise", "return _exact(sigma, root, epsilon)", "return _exact(sigma, 1, epsilon)",
           "sigma for three times"),
    # -- what a release costs
    Mutant("prices", 'moved = self.moves(release.args[0], "l1", self.world)',
           'moved = self.moves(release.args[0], "l2", self.world)', "half a bit"),
    Mutant("prices", 'moved = self.moves(release.args[0], "l2", self.world)',
           'moved = self.moves(release.args[0], "l1", self.world)', "sum with Gaussian noise"),
    Mutant("prices", "            if given < needed:\n", "            if False:\n",
           "an assertion below"),
    Mutant("prices", "width = one_bound(score.args[0], inside.context).width",
           "width = one_bound(score.args[0], inside.context).width / 2", "answers"),
    Mutant("prices", "if not size_of(data, self.world).public:", "if False:",
           "answers behind a filter"),
    Mutant("prices", "else 2 * entering", "else entering", "sample"),
    Mutant("prices", "else 2 * entering", "else entering", "sample behind a filter"),
    Mutant("prices", "moved = high - low\n", "moved = max(-low, high) / 2\n", "sample, entering"),
    Mutant("prices", "entering = power * moved", "entering = power * moved / 2",
           "samples of private pieces"),
    Mutant("prices", "return epsilon * a / b", "return epsilon * b / a", "at 2"),
    Mutant("prices", "if is_private(expr, self.world) or has_rows(expr):", "if False:",
           "a private result"),
    Mutant("prices", "            self.public_only(candidates)\n", "", "candidates from data"),
    Mutant("prices", "                self.public_only(model.args[1])\n", "", "exposure from data"),
    Mutant("prices", 'if found is None or (name in ("epsilon", "delta", "power") and found <= 0):',
           "if found is None:", "a negative power"),
    Mutant("prices", "                check_row(one.args[0], world.context)\n",
           "                pass\n", "an answer that fails"),
    # -- what commands cost together
    Mutant("costs", "        cost = _added([one.cost for one in prices])\n",
           "        cost = _dearest([one.cost for one in prices])\n", "two releases"),
    Mutant("costs", "            cost = _dearest([one.cost for one in sides])\n",
           "            cost = sides[0].cost\n", "branch"),
    Mutant("costs", "return (column, label) in pieces_of(expr)", "return True",
           "pieces that read everything"),
    Mutant("costs", "            return _added(costs)\n", "            return _dearest(costs)\n",
           "pieces that read everything"),
    Mutant("costs", 'if command.public or self.world.adjacency == "add-remove":', "if True:",
           "private pieces"),
    Mutant("costs", "pairs = [_added([x, y])", "pairs = [_dearest([x, y])", "private pieces"),
    Mutant("costs", "        if any(one is None for one in moving):\n", "        if False:\n",
           "private pieces over the size"),
    Mutant("costs", "        both = _added(known) if len(known) == len(entering) else None\n",
           "        both = _dearest(known) if len(known) == len(entering) else None\n",
           "private pieces twice"),
    Mutant("costs", "both = _dearest(known) if len(known) == 2 else None",
           "both = known[0] if len(known) == 2 else None", "private pieces with a branch"),
    Mutant("costs", 'both = _dearest(known) if node["parts"]["confined"] else _added(known)',
           "both = _dearest(known)", "pieces of pieces that read all of them"),
    Mutant("costs", "        if command.public != kind.public:\n", "        if False:\n",
           "a private column called public"),
    Mutant("costs", "if len(set(listed)) != len(listed) or", "if", "a piece twice"),
    # -- the verdict
    Mutant("verdict", "if declared is not None and declared < derived:", "if False:",
           "declared too little"),
    Mutant("verdict", "program.declared_delta is None and delta > 0:", "False:",
           "a delta that is not declared"),
    Mutant("verdict", "    for one in program.returns:\n        costs.after(one)\n", "",
           "a private result"),
    Mutant("verdict", 'if program.adjacency == "replace-one" else {}', "", "a private size"),
    Mutant("verdict", 'if kinds and all(one == kinds[0]', 'if kinds and any(one == kinds[0]',
           "sums of two columns"),
)  # fmt: skip

EQUIVALENT = (
    (
        Mutant("scores", "    if min(positive) <= 0:", "    if False:", ""),
        "A prior's parameters are shown to be above 0 where it is written (check_parameters), in "
        "whatever release it stands; this is a second look.",
    ),
    (
        Mutant(
            "sensitivity",
            '        if self.adjacency == "add-remove":\n            return frozenset()\n',
            "",
            "",
        ),
        "Where a record enters or leaves, the rules never ask which columns are shared: is_private "
        "says yes to every sum before, the box takes the largest size before, moments the "
        "triangle, enumerated compares with nothing whatever group a row is in, and size_of asks "
        "for replace-one first.",
    ),
    (
        Mutant(
            "rows",
            '    if expr.op not in ROW or (expr.op == "acc" and not step):',
            "    if expr.op not in ROW:",
            "",
        ),
        "`acc` has no bounds, so a sum, filter or score that reads it outside a fold is refused "
        "for want of them; a filter that reads it can't be evaluated on any row, so that a run "
        "stops before it shows anything.",
    ),
    (
        Mutant("lemmas", ", _entered(first))", ")", ""),
        "r is below 1, so 1 - r(a) r(b) is at least 1 - r(a): the replaced record moves further.",
    ),
)
"""Mutants that change nothing, each with the proof."""
