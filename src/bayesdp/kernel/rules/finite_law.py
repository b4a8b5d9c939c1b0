"""Finite laws: the worst case over all mechanisms (theory 3.3).

For each attack `(i, K, x_K, x_i, x_i')` the least of: a threshold with the cost of all unknown
records at once; revealing one unknown record (from few to many); flows from the evidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import ball, exact, require, watched
from bayesdp.kernel.judgement import Conversion
from bayesdp.kernel.models.joints import JointPart, parts
from bayesdp.kernel.steps.ratios import one_cost, threshold, two_states

Key = tuple[int, tuple[tuple[int, int], ...], int, int]


def bound(conversion: Conversion) -> arb:
    """`eps + ln` of the largest ratio over all parts and attacks; 0 where there is no attack."""
    proofs: dict[Key, Any] = {}
    for proof in conversion.details.get("proofs", []):
        known = tuple(sorted(zip(proof["K"], proof["x_K"], strict=True)))
        proofs[proof["i"], known, proof["x_i"], proof["x_i'"]] = proof
    worst, asked, attacked = arb(1), set[Key](), False
    pieces = list(parts(conversion.population))
    work = sum(map(_work, pieces)) if conversion.adversary == "any" else 0
    # Not unknown: the package then states a level by another theorem.
    require(work <= MOST_WORK, "its law is too large to be asked about whatever is known")
    for part in pieces:
        searched = _Part(part, ball(conversion.total).exp(), proofs)
        worst = worst.max(searched.worst(conversion.adversary))
        asked |= searched.asked
        attacked = attacked or bool(searched.ratios)
    require(set(proofs) <= asked, "a proof of a question that the law doesn't ask")
    return ball(conversion.total) + worst.log() if attacked else arb(0)


MOST_WORK = 120_000
"""Cells of all questions together, for all that may be known: a few seconds on a quiet machine."""


def _work(part: JointPart) -> int:
    """For each set of known records: their possible values, times the values of the others."""
    _, sizes, law = part
    possible = sum(weight > 0 for weight in law.values())
    if len(sizes) > 16:
        return MOST_WORK + 1
    work: int = 0
    for known in product((False, True), repeat=len(sizes)):
        values = math.prod(size for size, is_known in zip(sizes, known, strict=True) if is_known)
        others = [size for size, is_known in zip(sizes, known, strict=True) if not is_known]
        work += min(values, possible) * math.prod(others) * sum(size // 2 for size in others)
    return work


class _Part:
    """One joint law; `ratios` holds what is proved of attacks with fewer unknown records."""

    def __init__(self, part: JointPart, factor: arb, proofs: dict[Key, Any]) -> None:
        self.records, self.sizes, self.law = part
        self.factor, self.proofs = factor, proofs
        self.ratios: dict[Key, arb] = {}
        self.asked: set[Key] = set()

    def worst(self, adversary: str) -> arb:
        worst = arb(1)
        axes = range(len(self.sizes))
        fewest = len(self.sizes) - 1 if adversary == "uninformed" else 0
        most = 0 if adversary == "informed" else len(self.sizes) - 1
        for unknown in range(fewest, most + 1):
            for i in axes:
                others = [j for j in axes if j != i]
                for free in combinations(others, unknown):
                    known = [j for j in others if j not in free]
                    for key, p, q in self._attacks(i, known, free):
                        ratio = self._ratio(key, free, p, q, adversary)
                        self.ratios[key] = ratio
                        worst = worst.max(ratio)
        return worst

    def _attacks(
        self, i: int, known: list[int], free: tuple[int, ...]
    ) -> Iterator[tuple[Key, list[Fraction], list[Fraction]]]:
        """Both laws of the unknown records, for values that are possible."""
        for values in self._cells(tuple(known)):
            place = dict(zip(known, values, strict=True))
            rows = []
            for value in range(self.sizes[i]):
                place[i] = value
                row = self._row(place, free)
                total = sum(row, Fraction(0))
                rows.append([weight / total for weight in row] if total > 0 else None)
            fixed = tuple(zip(known, values, strict=True))
            for given, instead in product(range(self.sizes[i]), repeat=2):
                p, q = rows[given], rows[instead]
                if given != instead and p is not None and q is not None:
                    yield (i, fixed, given, instead), p, q

    def _row(self, place: dict[int, int], free: tuple[int, ...]) -> list[Fraction]:
        row = []
        for cell in self._cells(free):
            watched()
            full = place | dict(zip(free, cell, strict=True))
            row.append(self.law[tuple(full[j] for j in range(len(self.sizes)))])
        return row

    def _cells(self, free: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        return product(*(range(self.sizes[j]) for j in free))

    def _ratio(
        self, key: Key, free: tuple[int, ...], p: list[Fraction], q: list[Fraction], adversary: str
    ) -> arb:
        i, known, given, instead = key
        named = tuple(sorted((self.records[j], value) for j, value in known))
        about = (self.records[i], named, given, instead)
        self.asked.add(about)
        if not free or p == q:
            return arb(1)
        first, second = [ball(w) for w in p], [ball(w) for w in q]
        best = one_cost(first, second, self.factor ** len(free))
        for k in free if adversary == "any" and len(free) > 1 else ():
            revealed = self._reveal(key, free, k, p, q)
            best = best.min(revealed) if revealed is not None else best
        proof = self.proofs.get(about)
        return best if proof is None else best.min(self._flows(proof, free, first, second))

    def _reveal(
        self, key: Key, free: tuple[int, ...], k: int, p: list[Fraction], q: list[Fraction]
    ) -> arb | None:
        """The bound by revealing record `k`; `None` where a ratio given `x_k` isn't bounded yet."""
        i, known, given, instead = key
        size, axis = self.sizes[k], free.index(k)
        laws = [[Fraction(0)] * size, [Fraction(0)] * size]
        for cell, a, b in zip(self._cells(free), p, q, strict=True):
            laws[0][cell[axis]] += a
            laws[1][cell[axis]] += b
        more = []
        for value in range(size):
            inner = self.ratios.get((i, tuple(sorted((*known, (k, value)))), given, instead))
            if inner is None and laws[0][value] > 0:
                return None
            more.append(inner if inner is not None else arb(1))
        weights = [ball(a) * m for a, m in zip(laws[0], more, strict=True)]
        target = [ball(b) for b in laws[1]]
        fixed = tuple(sorted((*known, (i, instead))))
        cost = [
            [
                arb(1) if v == w else self.factor * self.ratios.get((k, fixed, v, w), arb(1))
                for w in range(size)
            ]
            for v in range(size)
        ]
        total = sum(weights, arb(0))
        ratio = two_states if size == 2 else threshold
        return total * ratio([weight / total for weight in weights], target, cost)

    def _flows(self, proof: Any, free: tuple[int, ...], p: list[arb], q: list[arb]) -> arb:
        """The bound by a proof's flows: `lam + sum_v max(0, p - lam q - out + c in) / Q(v)`."""
        cells = list(self._cells(free))
        multiplier = ball(exact(proof["multiplier"]))
        need = [a - multiplier * b for a, b in zip(p, q, strict=True)]
        for v, w, amount in proof["flows"]:
            flow = exact(amount)
            near = sum(a != b for a, b in zip(cells[v], cells[w], strict=True)) == 1
            require(flow >= 0 and near, "a flow between cells that are not adjacent")
            need[v] -= ball(flow)
            need[w] += self.factor * ball(flow)
        total = multiplier
        for v, cell in enumerate(cells):
            if not bool(need[v] <= 0):
                apart = [sum(a != b for a, b in zip(cell, w, strict=True)) for w in cells]
                mean = sum((b / self.factor**d for b, d in zip(q, apart, strict=True)), arb(0))
                total += need[v].upper().max(arb(0)) / mean
        return total
