"""How much noise a release gets, and where it comes from.

Scales are in steps, computed as exact fractions and rounded up to a double, which is the law's own
parameter: OpenDP's samplers take it as it is. With S the sensitivity that the checker derived (or
that was asserted, which is no less) and `slack` what the steps add to it, a Laplace scale is
`S (1 + slack / s) / (epsilon unit)`, s the least of S and of the sensitivity where one record only
enters or leaves: then a replaced record costs `(S + slack) / scale <= epsilon`, and one that enters
costs at most the `entering` of the derivation. The same holds for the other mechanisms.

**Laplace** (`laplace`). Noise of scale `S / e` on each entry, `S` in l1: the log-density of a
result moves by at most `e |x - x'|_1 / S <= e`. If a record only enters or leaves, and the value
then moves by at most `A`, the same noise costs `e A / S`: this is the `entering` of a derivation,
which partitions by private columns need (8.2). On the grid the scale is raised for the extra steps
(6), so that `e` stays exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from bayesdp.errors import InputError
from bayesdp.mechanisms.laplace import MAX_SCALE, MIN_SCALE
from bayesdp.numbers import float_above
from bayesdp.programs.run.values.grid_steps import FINEST, Steps, in_steps
from bayesdp.programs.run.values.private import RESOLUTION, PrivateValue, power_of_two

if TYPE_CHECKING:
    from bayesdp.arrays import Ints

WIDEST = Fraction(10) ** 300
TWICE = Fraction(2)
"""The softmax's scale over Laplace's, since the sum of the weights moves too."""

OF_THRESHOLD, OF_QUERY = Fraction(5, 2), Fraction(10, 3)
"""The scales of a threshold's and of a query's noise over Laplace's: see theory 8.5."""


class Samplers(Protocol):
    """The source of all randomness. Tests and the falsifier put given draws in its place."""

    def laplace(self, values: Sequence[int], scale: float) -> Sequence[int]:
        """Each value plus discrete Laplace noise of this scale, in steps."""

    def gaussian(self, values: Sequence[int], scale: float) -> Sequence[int]:
        """Each value plus discrete Gaussian noise of this scale, in steps."""

    def choose(self, scores: Sequence[int], scale: float) -> int:
        """A position among the scores, with probability proportional to exp(score / scale)."""

    def choose_each(self, scores: Ints, scale: float) -> Sequence[int]:
        """As `choose`, for each row of a table of scores."""

    def respond(self, codes: Sequence[int], states: int, dp_epsilon: float) -> Sequence[int]:
        """Randomized response: each code kept or replaced by another, at this cost each."""


class OpenDP:
    """OpenDP's samplers. There is no seed."""

    def laplace(self, values: Sequence[int], scale: float) -> Sequence[int]:
        """Discrete Laplace noise."""
        from bayesdp.mechanisms import DiscreteLaplace

        return DiscreteLaplace(scale).release(values)

    def gaussian(self, values: Sequence[int], scale: float) -> Sequence[int]:
        """Discrete Gaussian noise."""
        from bayesdp.mechanisms import DiscreteGaussian

        return DiscreteGaussian(scale).release(values)

    def choose(self, scores: Sequence[int], scale: float) -> int:
        """The largest of the scores with Gumbel noise."""
        return int(_noisy_max(scale)([int(score) for score in scores]))

    def choose_each(self, scores: Ints, scale: float) -> Sequence[int]:
        """The same law for each row, drawn together from fair bits (`mechanisms.batches`)."""
        from bayesdp.mechanisms.batches import MOST_PLACES, softmax_each

        if scores.shape[1] > MOST_PLACES:
            return [self.choose(row.tolist(), scale) for row in scores]
        drawn: list[int] = softmax_each(scores, scale).tolist()
        return drawn

    def respond(self, codes: Sequence[int], states: int, dp_epsilon: float) -> Sequence[int]:
        """k-ary randomized response, a draw for each record."""
        answers = response(states, dp_epsilon).release(codes)
        return [int(str(answer)) for answer in answers]


def response(states: int, dp_epsilon: float) -> Any:
    """Randomized response on the codes 0 to states - 1."""
    from bayesdp.mechanisms import RandomizedResponse

    return RandomizedResponse.for_cost(tuple(range(states)), dp_epsilon)


@lru_cache(maxsize=64)
def _noisy_max(scale: float) -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    # Noise of the zCDP flavour is Gumbel's: the largest is then a softmax draw. Its pure cost is
    # not what OpenDP's map says; it is proved in theory 8.5 and tested on the true channel.
    measure = dp.zero_concentrated_divergence()
    return dp.m.make_noisy_max(domain, dp.linf_distance(T="i64"), measure, scale=scale)


def below(exact: Fraction) -> float:
    """The largest double that is at most the exact number."""
    return -float_above(-exact)


@dataclass(frozen=True)
class NoiseCalibration:
    """The cost of a release, and the sensitivity that scales its noise.

    `entering` is the cost that the derivation gives to a record that only enters or leaves, if any.
    """

    epsilon: Fraction
    sensitivity: Fraction
    entering: Fraction | None = None

    def factor(self, slack: Fraction) -> Fraction:
        """The factor 1 + slack / s by which noise is scaled up for the grid's slack."""
        return 1 + slack / self.least if slack else Fraction(1)

    @property
    def least(self) -> Fraction:
        """The smaller of the two moves that are priced. Grids are fine compared with it."""
        if self.entering is not None and 0 < self.entering < self.epsilon:
            return self.entering * self.sensitivity / self.epsilon
        return self.sensitivity

    def steps(self, amount: PrivateValue) -> Steps:
        """A private value in steps so coarse that Laplace noise fits, if that is possible."""
        steps = in_steps(amount, self.least)
        while steps.unit < self._coarsest and self._scale(steps.unit, steps.slack) > MAX_SCALE:
            steps = in_steps(amount, self.least, 2 * steps.unit)
        return steps

    @property
    def _coarsest(self) -> Fraction:
        """Half of the coarsest step that is used for the noise's sake: see theory 8.5, slack."""
        return min(self.least, self.sensitivity * Fraction(1, 2 ** (RESOLUTION + 1)))

    def grid(
        self, lattice: Fraction, slack: Fraction, times: Fraction = TWICE
    ) -> tuple[Fraction, Fraction]:
        """The step for scores that lie on a lattice, and the slack including the rounding to it.

        `times` is by how much more the scores are noised than by Laplace's scale.
        """
        unit, more = lattice or Fraction(1), Fraction(0)
        if self.least / unit > FINEST:
            unit = more = Fraction(2) ** (power_of_two(self.least) - RESOLUTION)
        while unit < self._coarsest and times * self._scale(unit, slack + more) > MAX_SCALE:
            unit = more = 2 * unit
        return unit, slack + more

    def _scale(self, unit: Fraction, slack: Fraction) -> Fraction:
        return self.move(slack) / (self.epsilon * unit)

    def move(self, slack: Fraction) -> Fraction:
        """The sensitivity that scales the noise; the steps' slack where the value can't move."""
        return self.sensitivity * self.factor(slack) if self.sensitivity else slack

    def laplace(self, unit: Fraction, slack: Fraction) -> float:
        """The Laplace scale in steps."""
        return in_range(self._scale(unit, slack))

    def threshold(self, unit: Fraction, slack: Fraction) -> tuple[float, float]:
        """The Laplace scales, in steps, of a threshold and of the queries held against it."""
        scale = self._scale(unit, slack)
        return in_range(OF_THRESHOLD * scale), in_range(OF_QUERY * scale)

    def choice(self, unit: Fraction, slack: Fraction) -> float:
        """The softmax's scale in steps."""
        return in_range(TWICE * self._scale(unit, slack))


def in_range(exact: Fraction) -> float:
    """A scale that the samplers take, not below the exact scale.

    Raises `InputError` for a scale whose noise doesn't fit 64-bit integers.
    """
    if exact > Fraction(MAX_SCALE):
        raise InputError(
            "epsilon",
            expected="a cost for which noise fits 64-bit integers",
            remedy="Use a larger epsilon.",
            shown=False,
        )
    return max(float_above(exact), MIN_SCALE)


def in_units(scale: float, unit: Fraction) -> float:
    """A scale in steps as a scale in the value's unit.

    Raises `InputError` for a scale beyond what doubles hold.
    """
    exact = Fraction(scale) * unit
    if exact > WIDEST:
        raise InputError(
            "epsilon", expected="a cost for which the noise is below 1e300", shown=False
        )
    return float(exact)
