"""The worst case over all mechanisms for a finite law: every attack, certified (theory 3.3).

For each attack `(i, K)` and values `x_K, x_i, x_i'` the level is `eps + ln sup p . h / q . h` over
log-Lipschitz `h` on the unknown records, `p` and `q` being their laws given the two values. Attacks
are first bounded together, cheaply; only those that may exceed the worst found are solved.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesdp.arrays import Floats
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.leakage.domain import Domain, domain_of
from bayesdp.leakage.linear_program import DualSolution, by_enumeration, by_program, one_record
from bayesdp.leakage.reveal import Compared, Reveal
from bayesdp.notions import Adversary
from bayesdp.numbers import NOT_NEGATIVE, UNIT, ZERO, LowerBound, UpperBound, down, largest, up

GIVEN_ERROR = 8 * UNIT
"""The relative rounding error of each cell in a law that was given by cells and rescaled."""


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack on `record` by somebody who knows `known`: two of its values are compared."""

    record: int
    known: tuple[int, ...]
    known_values: tuple[int, ...]
    value: int
    other: int

    def to_dict(self) -> dict[str, Any]:
        """The attack as plain data."""
        return {
            "record": self.record,
            "known": list(self.known),
            "known_values": list(self.known_values),
            "value": self.value,
            "other": self.other,
        }


@dataclass(frozen=True, slots=True)
class WorstCase:
    """A certified level, a level (rounded down) that some mechanism attains, and the attack.

    `programs` counts the linear programs that had to be solved.
    """

    epsilon: UpperBound
    attained: LowerBound
    attack: Attack | None
    programs: int = 0


@dataclass(frozen=True, eq=False)
class _Batch:
    """Attacks whose unknown records have the same numbers of values; laws `(count, cells)`."""

    domain: Domain
    p: Floats
    q: Floats
    parts: tuple[Compared, ...]

    @property
    def listed(self) -> bool:
        """Whether all attacks are solved at once, without linear programs."""
        return len(self.domain.shape) == 1 or self.domain.enumerable

    def attack(self, place: int, shape: Sequence[int]) -> Attack:
        """The attack at a position."""
        starts = [part.start for part in self.parts]
        part = self.parts[int(np.searchsorted(starts, place, side="right")) - 1]
        row = place - part.start
        sizes = [shape[j] for j in part.known]
        setting = np.unravel_index(part.column[row], sizes) if sizes else ()
        return Attack(
            part.record,
            part.known,
            tuple(int(v) for v in setting),
            int(part.value[row]),
            int(part.other[row]),
        )


class FiniteWorstCase:
    """The worst case for one joint law (one axis a record) and one class of adversaries."""

    def __init__(self, joint: Floats, adversary: Adversary, law_error: float = GIVEN_ERROR) -> None:
        self.joint = joint
        self.law_error = law_error
        self.adversary = adversary
        self.batches = _batches(joint, adversary)
        self.first = next(_informed(joint), None)

    def level(self, dp_epsilon: float, deadline: Deadline = NEVER) -> WorstCase:
        """The level in nats: at least `dp_epsilon` if some record has two possible values, else 0.

        Raises `OutOfTimeError` at the deadline.
        """
        if (self.first is None and not self.batches) or dp_epsilon == 0.0:
            return WorstCase(ZERO, NOT_NEGATIVE, None)
        if not self.batches:  # all other records are known: nothing is averaged
            return WorstCase(UpperBound(dp_epsilon), LowerBound(dp_epsilon), self.first)
        best = _Best(1.0, 1.0, None if self.first is not None else (self.batches[0], 0))
        waiting: list[tuple[float, _Batch, int]] = []
        for batch, ratios in self.bounds(dp_epsilon, enumerate_small=True):
            deadline.check()
            if batch.listed:
                place = int(np.argmax(ratios))
                best.take(float(ratios[place]), float(ratios[place]), batch, place)
            else:
                waiting.extend((float(r), batch, place) for place, r in enumerate(ratios))
        waiting.sort(key=lambda item: -item[0])
        programs = 0
        for bound, batch, place in waiting:
            if bound <= best.attained:
                break
            deadline.check()
            solution = by_program(
                batch.p[place], batch.q[place], batch.domain, dp_epsilon, deadline
            )
            best.take(min(bound, solution.upper), solution.attained, batch, place)
            programs += 1
        # A relative error of the laws changes an average by at most that share of the range of the
        # function, which lies between 1 and `e^(n eps)`.
        swing = min(1.0, math.expm1(min(1.0, dp_epsilon * self.joint.ndim)))
        error = 4.0 * (self.law_error * swing * (1.0 + 1e-9) + self.joint.size * UNIT)
        # In a batch of listed vertices the bound on a ratio is also attained.
        tried = error + (16.0 * self.joint.size + 100.0) * UNIT
        where = best.where
        return WorstCase(
            UpperBound(
                up(dp_epsilon + up(math.log1p(best.upper - 1.0 + best.upper * error), 8), 4)
            ),
            LowerBound(max(dp_epsilon, down(dp_epsilon + math.log(best.attained) - tried, 4))),
            self.first if where is None else where[0].attack(where[1], self.joint.shape),
            programs,
        )

    def bounds(
        self, dp_epsilon: float, *, enumerate_small: bool
    ) -> Iterator[tuple[_Batch, Floats]]:
        """Upper bounds on all ratios without linear programs, batch by batch."""
        reveal = Reveal(self.joint, dp_epsilon)
        for batch in self.batches:
            ratios = diameter_bound(batch.p, batch.q, batch.domain, dp_epsilon)
            listed = batch.domain.enumerable and enumerate_small
            if listed:
                exact = by_enumeration(batch.p, batch.q, batch.domain, dp_epsilon)
                ratios = np.minimum(ratios, exact * (1.0 + 4.0 * (batch.domain.cells + 8) * UNIT))
            if self.adversary == "any":
                for part in batch.parts:
                    rows = part.value, part.other, part.column
                    if not listed and len(batch.domain.shape) > 1:
                        revealed = reveal.bound(part.record, part.known)[rows]
                        ratios[part.places] = np.minimum(ratios[part.places], revealed)
                    reveal.put(part, ratios[part.places])
            largest(ratios)  # refuses NaN, which sorting would lose
            yield batch, ratios

    def certificates(self, dp_epsilon: float, claimed: float) -> list[dict[str, Any]]:
        """The proof that no attack exceeds `claimed`; see `theorems.finite_law`."""
        limit = math.exp(claimed - dp_epsilon) * (1.0 - 1e-9)
        proofs = []
        for batch, ratios in self.bounds(dp_epsilon, enumerate_small=False):
            for place in np.flatnonzero(ratios > limit).tolist():
                solution = by_program(batch.p[place], batch.q[place], batch.domain, dp_epsilon)
                attack = batch.attack(place, self.joint.shape)
                proofs.append(_proof(attack, solution, batch.domain))
        return proofs


@dataclass
class _Best:
    """The largest ratios so far, up to the rounding that is allowed for at the end."""

    upper: float
    attained: float
    where: tuple[_Batch, int] | None = None

    def take(self, upper: float, attained: float, batch: _Batch, place: int) -> None:
        self.upper = largest(self.upper, upper, attained)
        if attained > self.attained:
            self.attained, self.where = attained, (batch, place)


@lru_cache(maxsize=256)
def expected_seconds(shape: tuple[int, ...], adversary: Adversary) -> float:
    """Time for one level, from the number and the size of the programs, on a usual machine.

    Against any adversary cheap bounds leave few programs to solve; a fifth is allowed for.
    """
    programs = entries = 0.0
    for record, size in enumerate(shape):
        for known in known_sets(len(shape), record, adversary):
            domain = Domain(tuple(shape[j] for j in range(len(shape)) if j not in (record, *known)))
            count = size * (size - 1) * math.prod(shape[j] for j in known)
            entries += count * domain.cells
            if len(domain.shape) > 1 and not domain.enumerable:
                degree = sum(domain.shape) - len(domain.shape)
                programs += count * (0.001 + 0.02 * (degree * domain.cells / 896.0) ** 1.6)
    return (0.2 if adversary == "any" else 1.0) * programs + 1e-6 * entries


def diameter_bound(p: Floats, q: Floats, domain: Domain, dp_epsilon: float) -> Floats:
    """A bound on ratios by the largest distance of two cells; for a single record it is exact.

    `p` and `q` have one law in a row, over the cells of `domain`; one bound for each row.
    """
    return one_record(p, q, len(domain.shape) * dp_epsilon)


def known_sets(records: int, record: int, adversary: Adversary) -> Iterator[tuple[int, ...]]:
    """The sets of records that an adversary who attacks `record` may know, except all others.

    Records are numbered from 0 to `records - 1`.
    """
    others = [j for j in range(records) if j != record]
    sizes = {"any": range(len(others)), "uninformed": range(min(1, len(others))), "informed": ()}
    for size in sizes[adversary]:
        yield from itertools.combinations(others, size)


def grouped(joint: Floats, record: int, known: Sequence[int]) -> Floats:
    """The joint law with three axes: values of `record`, cells of `known`, cells of the rest."""
    unknown = [j for j in range(joint.ndim) if j != record and j not in known]
    moved = np.transpose(joint, (record, *known, *unknown))
    known_cells = math.prod(joint.shape[j] for j in known)
    return moved.reshape(joint.shape[record], known_cells, -1)


def _batches(joint: Floats, adversary: Adversary) -> tuple[_Batch, ...]:
    """All attacks that leave records unknown, those with the fewest unknown records first."""
    by_shape: dict[tuple[int, ...], list[tuple[Compared, Floats, Floats]]] = {}
    for record in range(joint.ndim):
        for known in known_sets(joint.ndim, record, adversary):
            shape = tuple(joint.shape[j] for j in range(joint.ndim) if j not in (record, *known))
            laws, possible = conditionals(grouped(joint, record, known))
            pairs = possible[:, None, :] & possible[None, :, :]
            pairs &= ~np.eye(len(possible), dtype=bool)[:, :, None]
            value, other, column = np.nonzero(pairs)
            if len(value):
                entries = by_shape.setdefault(shape, [])
                start = sum(len(part.value) for part, _, _ in entries)
                part = Compared(record, known, start, value, other, column)
                entries.append((part, laws[value, column], laws[other, column]))
    return tuple(
        _Batch(
            domain_of(shape),
            np.concatenate([p for _, p, _ in by_shape[shape]]),
            np.concatenate([q for _, _, q in by_shape[shape]]),
            tuple(part for part, _, _ in by_shape[shape]),
        )
        for shape in sorted(by_shape, key=len)
    )


def conditionals(blocks: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Laws of the last axis given the others, and where the condition is possible."""
    mass = blocks.sum(axis=-1)
    possible = mass > 0.0
    return blocks / np.where(possible, mass, 1.0)[..., None], possible


def _informed(joint: Floats) -> Iterator[Attack]:
    """Attacks by somebody who knows all other records."""
    for record in range(joint.ndim):
        known = tuple(j for j in range(joint.ndim) if j != record)
        blocks = grouped(joint, record, known)[:, :, 0]
        for column in np.flatnonzero((blocks > 0.0).sum(axis=0) > 1).tolist():
            first, second = np.flatnonzero(blocks[:, column] > 0.0)[:2].tolist()
            setting = tuple(
                int(v) for v in np.unravel_index(column, [joint.shape[j] for j in known])
            )
            yield Attack(record, known, setting, first, second)


def _proof(attack: Attack, solution: DualSolution, domain: Domain) -> dict[str, Any]:
    tails, heads = domain.edges
    positive_flows = np.flatnonzero(solution.flows > 0.0)
    return {
        "i": attack.record,
        "K": list(attack.known),
        "x_K": list(attack.known_values),
        "x_i": attack.value,
        "x_i'": attack.other,
        "multiplier": solution.multiplier,
        "flows": [
            [int(tails[e]), int(heads[e]), float(f"{solution.flows[e]:.15g}")]
            for e in positive_flows.tolist()
        ],
    }
