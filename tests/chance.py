"""What tests may conclude from noise that can't be seeded, and how often that is wrong.

The noise of releases comes from OpenDP, whose samplers take no seed (all other draws of tests are
seeded: see `conftest.py`). So the tests listed in `FALSE_ALARMS` can fail though nothing is wrong.
Each says with which probability at most, and all of them together stay below `MOST`.

Such a test has the fixture `chance`, which keeps its account. It must see the right law
(`expect`, `expect_law`), which fails with probability `ALARM` at most. And it must see that a wrong
law doesn't fit (`expect_not`, `expect_other`), by as little as the factors `OFF` of the scale: that
fails with a probability that is computed. All probabilities are exact binomial tails. A test that
isn't listed, or takes more than it declares, fails always.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import exp
from typing import Any

ALARM = 1e-9
"""The probability that one expectation fails by chance."""

MOST = 1e-6
"""The probability that any test of the suite fails by chance."""

OFF = (1.15, 0.87)
"""Factors of a scale that a test has to see."""


@dataclass(frozen=True)
class FalseAlarms:
    """How often a test runs (once for each of its parameters), and fails by chance in each run."""

    runs: int
    each: float


FALSE_ALARMS: dict[str, dict[str, FalseAlarms]] = {
    "audit/test_bound.py": {
        "test_a_sampler_of_release_noise": FalseAlarms(1, 1e-8),
    },
    "mechanisms/test_batches.py": {
        "test_bytes_are_fair_and_independent": FalseAlarms(1, 2e-8),
        "test_choices_for_each_row_are_softmax_draws": FalseAlarms(1, 1e-8),
        "test_what_doubles_leave_open_has_the_same_law": FalseAlarms(1, 1e-8),
        "test_answers_of_three_and_more_states": FalseAlarms(1, 1e-8),
    },
    "mechanisms/test_samplers.py": {
        "test_the_noise_has_its_scale_and_no_other": FalseAlarms(2, 1e-8),
        "test_a_sampler_of_another_scale_is_seen": FalseAlarms(4, 1e-8),
        "test_the_noise_has_its_law_on_the_whole_numbers": FalseAlarms(2, 1e-8),
        "test_noise_is_centred_on_the_value_and_independent_between_calls": FalseAlarms(2, 1e-8),
    },
    "mechanisms/test_selection.py": {
        "test_choices_have_their_law_and_no_other": FalseAlarms(2, 1e-8),
    },
    "mechanisms/test_randomized_response.py": {
        "test_the_artefact_that_runs_has_the_stated_channel": FalseAlarms(2, 1e-8),
        "test_many_answers_at_once_are_those_of_one_after_the_other": FalseAlarms(1, 1e-8),
        "test_a_collected_answer_has_the_stated_law": FalseAlarms(1, 1e-8),
    },
    "programs/run/test_noise.py": {
        "test_noise_on_whole_numbers": FalseAlarms(2, 1e-8),
        "test_a_program_s_noise_has_the_scale_of_its_cost": FalseAlarms(1, 1e-8),
        "test_choices_are_softmax_draws": FalseAlarms(1, 1e-8),
        "test_answers_are_k_ary_randomized_response": FalseAlarms(1, 1e-8),
    },
    "release/test_every_kind.py": {
        "test_the_noise_has_its_scale_and_no_other": FalseAlarms(9, 1e-8),
        "test_choices_of_a_quantile_have_their_odds_and_no_others": FalseAlarms(1, 1e-8),
    },
    "release/test_found_groups.py": {
        "test_the_noise_has_its_scale_and_no_other": FalseAlarms(1, 1e-8),
    },
    "release/test_noise.py": {
        "test_the_right_scale_passes_and_others_are_rejected": FalseAlarms(3, 1e-8),
        "test_noise_is_fresh_for_every_number": FalseAlarms(1, 1e-8),
        "test_errors_are_kept_as_often_as_said": FalseAlarms(1, 1e-8),
    },
    "release/test_products.py": {
        "test_the_noise_has_its_scale_and_no_other": FalseAlarms(2, 1e-8),
    },
    "release/test_variance.py": {
        "test_the_noise_of_a_variance_has_its_scale_and_no_other": FalseAlarms(1, 1e-8),
    },
    "release/test_delta.py": {
        "test_released_noise_has_the_planned_scale_and_no_other": FalseAlarms(1, 1e-8),
    },
    "release/test_programs.py": {
        "test_the_noise_is_what_the_cost_says": FalseAlarms(1, 1e-8),
    },
}
"""The tests that can fail by chance: by their file below `tests/`, and by name."""

Law = Mapping[Any, float]


class Chance:
    """The account of a test that declares with which probability it fails by chance."""

    def __init__(self, declared: float) -> None:
        self.declared = declared
        self.taken = 0.0

    def takes(self, probability: float) -> None:
        """For an assertion that fails by chance with this probability at most."""
        self.taken += probability
        assert self.taken <= self.declared, (
            f"the test fails by chance with probability {self.taken:.3g}, and declares "
            f"{self.declared:.3g}: see tests/chance.py"
        )

    def expect(self, hits: int, draws: int, probability: float) -> None:
        """As many of the draws are hits as are where each is with this probability."""
        self.takes(ALARM)
        assert fits(hits, draws, probability), (hits, draws, probability)

    def expect_not(self, hits: int, draws: int, claimed: float, true: float) -> None:
        """The hits don't fit the claimed probability; `true` is the one that they really have."""
        self.takes(missed(draws, claimed, true))
        assert not fits(hits, draws, claimed), (hits, draws, claimed)

    def expect_law(self, sample: Iterable[Hashable], law: Law) -> None:
        """Each of the law's `events` occurs as often as it should in independent draws."""
        self.takes(ALARM)
        counts = Counter(sample)
        assert follows(counts, law), counts

    def expect_other(self, sample: Iterable[Hashable], claimed: Law, true: Law) -> None:
        """Some event doesn't fit the claimed law; `true` is the law that the draws really have."""
        counts, listed = Counter(sample), events(claimed)
        draws, alarm = counts.total(), ALARM / len(listed)
        self.takes(min(missed(draws, _of(claimed, e), _of(true, e), alarm) for e in listed))
        assert not follows(counts, claimed), claimed


def follows(counts: Counter[Any], law: Law) -> bool:
    """Whether all `events` fit; draws of the law do but with probability `ALARM` at most."""
    listed = events(law)
    return set(counts) <= set(law) and all(
        fits(sum(counts[v] for v in event), counts.total(), _of(law, event), ALARM / len(listed))
        for event in listed
    )


def fits(hits: int, draws: int, probability: float, alarm: float = ALARM) -> bool:
    """The two-sided exact binomial test, which fails by chance with probability `alarm` at most."""
    from scipy.stats import binom

    law = binom(draws, probability)
    return bool(min(law.cdf(hits), law.sf(hits - 1)) > alarm / 2)


def missed(draws: int, claimed: float, true: float, alarm: float = ALARM) -> float:
    """At least the probability that hits of probability `true` fit the claimed probability."""
    from scipy.stats import binom

    # What fits is an interval; its ends are found from outside.
    low, high = (int(binom.ppf(tail, draws, claimed)) for tail in (alarm / 4, 1.0 - alarm / 4))
    return float(min(binom.cdf(high, draws, true), binom.sf(low - 1, draws, true)))


def events(law: Law) -> list[frozenset[Any]]:
    """Each value by itself; of whole numbers of both signs also all within some distance of 0.

    And those above 0, and the even ones.
    """
    listed = [frozenset([value]) for value in law]
    if all(isinstance(value, int) for value in law) and min(law) < 0:
        within = [frozenset(v for v in law if abs(v) <= most) for most in range(1, max(law))]
        signs = [frozenset(v for v in law if v > 0), frozenset(v for v in law if v % 2 == 0)]
        listed += within + signs
    return listed


def _of(law: Law, event: Iterable[Any]) -> float:
    return min(sum(law[value] for value in event if value in law), 1.0)


def _on_whole_numbers(weight: Callable[[int], float], reach: int) -> dict[int, float]:
    weights = {z: weight(z) for z in range(-reach, reach + 1)}
    total = sum(sorted(weights.values()))
    return {z: w / total for z, w in weights.items()}


def discrete_laplace(scale: float) -> dict[int, float]:
    """The law with weights `e^(-|z| / scale)`; what is left out is below 1e-17."""
    return _on_whole_numbers(lambda z: exp(-abs(z) / scale), int(40 * scale) + 1)


def discrete_gaussian(scale: float) -> dict[int, float]:
    """The law with weights `e^(-z^2 / (2 scale^2))`; what is left out is below 1e-18."""
    return _on_whole_numbers(lambda z: exp(-((z / scale) ** 2) / 2), int(9 * scale) + 1)


def within(law: Law, reach: float) -> float:
    """The probability of at most this distance from 0."""
    return sum(weight for z, weight in law.items() if abs(z) <= reach)
