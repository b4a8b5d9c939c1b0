"""The odometer and the filter, against processes whose costs depend on what was answered."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayesdp.accounting import Filter, Odometer, Reading, Spend
from bayesdp.accounting.costs.composition import UnspokenColumnError, level
from bayesdp.errors import BudgetExceededError, InputError
from tests.accounting.random_compositions import Grower, Place, attacks, random_world
from tests.effort import runs

CLUSTERS = {"model": "clusters", "size": 3}


def spend(eps: float, *values: object, **other: object) -> Spend:
    block = {"column": "region", "values": list(values)} if values else None
    made: dict = {"dataset": "d", "unit": "row"} | other
    return Spend(query="q", kind="any", dp_epsilon=eps, block=block, **made)


def test_an_odometer_reads_the_same_sum_in_any_notion() -> None:
    odometer = Odometer("d")
    dp, bdp = Reading("dp", 1.0), Reading("bdp", 1.0, CLUSTERS)
    assert odometer.level(dp) == 0.0 <= odometer.level(bdp) < 1e-300
    odometer.add(spend(0.25, "north"), spend(0.125))
    odometer.add(spend(0.25, "south"))
    assert odometer.level(dp) == odometer.cost.dp_epsilon == 0.375
    assert odometer.level(bdp) == pytest.approx(1.125)
    assert (odometer.within(dp), odometer.within(bdp)) == (True, False)
    assert len(odometer.spends) == 3


@pytest.mark.parametrize("other", [{"dataset": "e"}, {"unit": "person"}])
def test_other_data_sets_and_units_are_refused(other: dict) -> None:
    for item in (Odometer("d"), Filter("d", Reading("dp", 1.0))):
        with pytest.raises(InputError, match="don't add up"):
            item.add(spend(0.25), spend(0.25, **other))
        assert item.spends == ()


def test_a_filter_refuses_what_exceeds_a_total_and_nothing_else() -> None:
    dp, bdp = Reading("dp", 1.0), Reading("bdp", 1.5, CLUSTERS)
    kept = Filter("d", dp, bdp)
    kept.add(spend(0.25))
    assert not kept.allows(spend(0.5))
    with pytest.raises(BudgetExceededError, match=r"now at 0.75.*rise to 2.25.*0.75 is left"):
        kept.add(spend(0.5))
    assert len(kept.spends) == 1
    kept.add(spend(0.2499, "north"))
    kept.add(spend(0.2499, "south"))  # a refused step does not close the filter
    assert kept.level(bdp) <= 1.5
    exact = Filter("d", dp)
    for _ in range(4):
        exact.add(spend(0.25))
    assert exact.level(dp) == 1.0  # the total itself is allowed
    assert not exact.allows(spend(5e-324))
    with pytest.raises(InputError, match="at least one reading"):
        Filter("d")


def test_a_filter_with_a_delta_takes_gaussian_steps() -> None:
    reading = Reading("dp", 1.0, delta=1e-6)
    kept = Filter("d", reading)
    steps = 0
    while kept.allows(gaussian := Spend("d", "row", "q", "any", 0.0, rho=1e-3)):
        kept.add(gaussian)
        steps += 1
    assert 10 < steps < 30
    assert kept.level(reading) <= 1.0
    with pytest.raises(BudgetExceededError):
        kept.add(gaussian)


def test_costs_that_depend_on_answers() -> None:
    """Whatever is answered, the running level bounds what these answers tell."""
    rng = np.random.default_rng(6)
    nearest = 0.0
    for _ in range(runs(1500)):
        world = random_world(rng)
        grower = Grower(rng, world, "any")
        spec = world.population.spec()
        reading = Reading("bdp", 1e6, spec, covers=())
        total = Reading("bdp", float(rng.uniform(0.5, 3)), spec, covers=())
        running = [(np.ones(world.joint.size), Filter("d", total))]
        for _ in range(3):
            following = []
            for column, odometer in running:
                following += _step(rng, grower, column, odometer)
            running = following
        losses = []
        for column, odometer in running:
            loss = _told(world.joint, column)
            losses.append(loss)
            assert loss <= odometer.level(reading) + 1e-9
            assert loss <= total.total + 1e-9
            if odometer.spends:
                nearest = max(nearest, loss / level(reading, odometer.spends))
        assert sum(column for column, _ in running) == pytest.approx(1.0)
    assert nearest > 0.95


def _step(
    rng: np.random.Generator, grower: Grower, column: np.ndarray, before: Filter
) -> list[tuple[np.ndarray, Filter]]:
    """One more mechanism, whose cost and block were chosen after this answer."""
    region = str(rng.choice(["north", "south", "everywhere"]))
    eps = float(rng.uniform(0.05, 1.0))
    here = spend(eps) if region == "everywhere" else spend(eps, region)
    if not before.allows(here):
        return [(column, before)]
    records = tuple(i for i, where in enumerate(grower.regions) if region in ("everywhere", where))
    (channel,) = grower._channels(Place(records), eps, 0.0, 1)
    made = []
    for answer in channel.T:
        after = Filter("d", *before.readings)
        after.add(*before.spends, here)
        made.append((column * answer, after))
    return made


def _told(joint: np.ndarray, column: np.ndarray) -> float:
    """The leakage of one sequence of answers."""
    events, group = attacks(joint.shape, "any")
    weighted = events * joint.ravel()
    mass = weighted.sum(axis=1)
    logs = [math.log(item) for item in (weighted @ column)[mass > 0] / mass[mass > 0]]
    kept = group[mass > 0]
    return max(
        max(np.array(logs)[kept == number]) - min(np.array(logs)[kept == number])
        for number in set(kept.tolist())
    )


def test_gaussian_noise_is_within_no_pure_reading() -> None:
    """It has no level there: the answer is no, and not an exception."""
    gaussian = spend(0.0, rho=1e-9)
    for pure in (Reading("dp", 1e6), Reading("bdp", 1e6, CLUSTERS)):
        odometer, kept = Odometer("d"), Filter("d", pure, Reading("dp", 5.0, delta=1e-6))
        odometer.add(gaussian)
        assert odometer.within(pure) is False
        assert kept.allows(gaussian) is False
        with pytest.raises(BudgetExceededError, match="no level without a delta"):
            kept.add(gaussian)
        assert kept.spends == ()
        assert kept.allows(spend(0.25)) is True


def test_columns_that_a_reading_is_silent_about_are_not_within_it() -> None:
    reading = Reading("bdp", 1e6, CLUSTERS, covers=("x",))
    kept, odometer = Filter("d", reading), Odometer("d")
    other = spend(0.25, reads=("y",))
    assert kept.allows(other) is False
    with pytest.raises(UnspokenColumnError, match="Three ways out"):
        kept.add(other)
    assert kept.spends == ()
    odometer.add(other)
    assert odometer.within(reading) is False
    assert kept.allows(spend(0.25, reads=("x",))) is True
