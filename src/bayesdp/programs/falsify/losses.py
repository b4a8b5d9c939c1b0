"""The law of what a release shows, and how well it tells two databases apart.

Every loss is of an ordered pair: `forward` is the largest log-ratio of the first law to the second.
Laplace noise: the sum of the shifts over the scale, reached in the tail. Gaussian noise: the joint
shift over sigma. Channels: all outcomes. Several releases of one transcript are independent given
what was released before, so that their losses add up and their Gaussian shifts are joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import erfc, exp, inf, log, sqrt

Atom = tuple[float, float]
"""(log-ratio, probability under the first law)."""
STEPS, MOST_ATOMS = 24, 3000


@dataclass(frozen=True)
class Loss:
    """The privacy loss between two laws, in both directions."""

    forward: float = 0.0
    backward: float = 0.0
    squared: float = 0.0
    """The squared shift of Gaussian noise, in sigmas."""
    parts: tuple[tuple[str, tuple[float, ...]], ...] = field(default=(), compare=False)

    @property
    def pure(self) -> float:
        """The pure loss in the worse direction; infinite if there is Gaussian noise that moves."""
        return inf if self.squared else max(self.forward, self.backward)

    def delta(self, epsilon: float) -> float:
        """The smallest delta at this epsilon, not above the truth: atoms are rounded down."""
        if inf in (self.forward, self.backward):
            return 1.0
        if not self.squared and self.pure <= epsilon:
            return 0.0
        return max(self._one_way(epsilon, back) for back in (False, True))

    def _one_way(self, epsilon: float, back: bool) -> float:
        atoms: list[Atom] = [(0.0, 1.0)]
        for kind, numbers in self.parts:
            atoms = _merged(_times(atoms, _atoms(kind, numbers, back)))
        shift = sqrt(self.squared)
        return sum(p * _gaussian(epsilon - loss, shift) for loss, p in atoms)

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon at this delta."""
        if not delta:
            return self.pure
        low, high = 0.0, 64.0
        if self.delta(high) > delta:
            return inf
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high


NOTHING = Loss()
TOLD_APART = Loss(inf, inf)


def together(losses: Sequence[Loss]) -> Loss:
    """The loss of a transcript whose releases are independent given the earlier ones."""
    return Loss(
        sum(loss.forward for loss in losses),
        sum(loss.backward for loss in losses),
        sum(loss.squared for loss in losses),
        tuple(part for loss in losses for part in loss.parts),
    )


def laplace(shifts: Sequence[float], scale: float) -> Loss:
    """The loss of independent Laplace noise on each entry."""
    moved = [abs(shift) for shift in shifts if shift]
    if not moved:
        return NOTHING
    if not scale:
        return TOLD_APART
    parts = tuple(shift / scale for shift in moved)
    return Loss(sum(parts), sum(parts), 0.0, tuple(("laplace", (loss,)) for loss in parts))


def gaussian(squared: float, sigma: float) -> Loss:
    """The loss of Gaussian noise on a vector that moves by the root of `squared`."""
    if not squared:
        return NOTHING
    return Loss(squared=squared / sigma**2) if sigma else TOLD_APART


def channel(here: Sequence[float], there: Sequence[float]) -> Loss:
    """The loss of two finite laws, given as log-probabilities of the same outcomes."""
    if len(here) != len(there):
        return TOLD_APART
    if tuple(here) == tuple(there):
        return NOTHING
    gaps = [a - b for a, b in zip(here, there, strict=True) if max(a, b) > -inf]
    numbers = (*here, *there)
    return Loss(max(gaps), -min(gaps), 0.0, (("channel", numbers),))


def softmax(weights: Sequence[float]) -> tuple[float, ...]:
    """Log-probabilities of exp(weights)."""
    top = max(weights)
    whole = top + log(sum(exp(weight - top) for weight in weights))
    return tuple(weight - whole for weight in weights)


def _atoms(kind: str, numbers: tuple[float, ...], back: bool) -> list[Atom]:
    if kind == "channel":
        half = len(numbers) // 2
        here, there = numbers[:half], numbers[half:]
        if back:
            here, there = there, here
        return [(a - b, exp(a)) for a, b in zip(here, there, strict=True) if a > -inf]
    (shift,) = numbers
    # With noise |x|: log-ratio t for x <= 0, t - 2x up to t, -t beyond.
    atoms = [(shift, 0.5), (-shift, exp(-shift) / 2)]
    for i in range(STEPS):
        start, end = shift * i / STEPS, shift * (i + 1) / STEPS
        atoms.append((shift - 2 * end, (exp(-start) - exp(-end)) / 2))
    return atoms


def _times(some: list[Atom], others: list[Atom]) -> list[Atom]:
    return [(a + b, p * q) for a, p in some for b, q in others]


def _merged(atoms: list[Atom]) -> list[Atom]:
    if len(atoms) <= MOST_ATOMS:
        return atoms
    grid: dict[int, float] = {}
    for loss, p in atoms:
        step = int(loss * 500 // 1)
        grid[step] = grid.get(step, 0.0) + p
    return [(step / 500, p) for step, p in grid.items()]


def _gaussian(epsilon: float, shift: float) -> float:
    """Hockey-stick divergence of N(shift, 1) from N(0, 1)."""
    if not shift:
        return max(0.0, 1 - exp(min(epsilon, 700.0)))
    if epsilon > 600:
        return 0.0
    over, under = shift / 2 - epsilon / shift, -shift / 2 - epsilon / shift
    return max(0.0, _cdf(over) - exp(epsilon) * _cdf(under))


def _cdf(x: float) -> float:
    return erfc(-x / sqrt(2)) / 2


def calibrated(epsilon: float, delta: float, moved: float) -> float:
    """The least sigma for a shift of `moved`: bisection on the exact curve of Gaussian noise."""
    low, high = moved * 1e-6, moved
    while _gaussian(epsilon, moved / high) > delta:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _gaussian(epsilon, moved / middle) > delta else (low, middle)
    return high


def discrete_delta(sigma: float, shift: int, epsilon: float) -> float:
    """Delta of discrete Gaussian noise on a whole number that moves by `shift`."""
    reach = int(40 * sigma) + abs(shift) + 10
    weights = {k: exp(-k * k / (2 * sigma * sigma)) for k in range(-reach, reach + 1)}
    whole = sum(weights.values())
    lost = (
        max(w - exp(epsilon) * weights.get(k + abs(shift), 0.0), 0.0) for k, w in weights.items()
    )
    return sum(lost) / whole
