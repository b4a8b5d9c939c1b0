"""The kernel's rules for panels: what they prove and what they refuse."""

from __future__ import annotations

import math
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bayesdp.kernel import InvalidError, certified_level, check
from bayesdp.kernel.consistency import check_together
from bayesdp.kernel.reading import stated_columns, stated_population
from bayesdp.notions import Cost
from bayesdp.populations import Panel, parse
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.theorems import Question, report
from bayesdp.theorems.with_delta import report_with_delta
from tests.effort import runs
from tests.kernel.steps import bare, make_step
from tests.oracles import finite
from tests.oracles.populations import a_law
from tests.theorems.test_panels import random_panel

RULES = ("panel-contraction", "panel-blocks")
SMALL = ((2, 2), (1, 3), (3, 1))
"""The series and steps of panels that brute force is quick about."""
WEATHER = Panel(
    series=40,
    length=365,
    own_previous=3.0,
    others_previous=1.0,
    others_now=1.0,
    shared_previous=5.0,
    shared_now=1.5,
)
HOUSEHOLD = Panel(series=4, length=28, own_previous=4.0, others_previous=1.1, others_now=1.3)
ALONE = Panel(series=1, length=9, own_previous=3.0)
SHORT = Panel(
    series=3,
    length=2,
    own_previous=3.0,
    others_previous=1.0,
    others_now=1.2,
    shared_previous=2.0,
    shared_now=1.5,
)
PANELS = {"weather": WEATHER, "household": HOUSEHOLD, "alone": ALONE, "two steps": SHORT}


def honest(rule: str, panel: Panel, dp_epsilon: float) -> dict[str, Any]:
    cost = Cost(any=dp_epsilon)
    bounds = report(Question(panel), cost).bounds
    bound = next(bound for bound in bounds if bound.theorem == rule)
    details = dict(bound.evidence)
    return make_step(rule, bare(panel), cost, epsilon=bound.epsilon, details=details)


@pytest.mark.parametrize("dp_epsilon", [1e-9, 0.02, 0.7, 6.0])
@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS)
@pytest.mark.parametrize("rule", RULES)
def test_the_engine_s_level_is_proved(rule: str, panel: Panel, dp_epsilon: float) -> None:
    step = honest(rule, panel, dp_epsilon)
    claimed = step["conclusion"]["epsilon"]
    assert certified_level(step) == pytest.approx(claimed, rel=1e-12)


def test_messages_below_the_least_prove_nothing() -> None:
    """Each of them by itself, as long as a pair of its kind is there."""
    step = honest("panel-contraction", WEATHER, 0.1)
    messages = step["evidence"]["details"]["messages"]
    used = [place for place, message in enumerate(messages) if message > 0.0]
    assert len(used) == 4  # other members pass nothing on but through the state
    for place in used:
        lower = [m * (1.0 - 1e-6 * (i == place)) for i, m in enumerate(messages)]
        step["evidence"]["details"]["messages"] = lower
        with pytest.raises(InvalidError, match="a step raises it"):
            certified_level(step)


def test_large_numbers_cost_the_cluster() -> None:
    vast = Panel(series=2**25, length=2**25, own_previous=1e300, others_previous=1e300)
    step = make_step("panel-blocks", bare(vast), Cost(any=2.0**-10))
    assert certified_level(step) == 2.0**40


def test_without_messages_each_is_the_logarithm_of_its_odds_ratio() -> None:
    step = make_step("panel-contraction", bare(HOUSEHOLD), Cost(any=0.5))
    logs = 2.0 * math.log(4.0) + 6.0 * math.log(1.1) + 3.0 * math.log(1.3)
    assert certified_level(step) == pytest.approx(0.5 + logs, rel=1e-12)


@pytest.mark.parametrize("open_", ["others_now", "shared_now"])
def test_what_is_left_open_within_a_step_has_no_bound_through_pairs(open_: str) -> None:
    population = {key: value for key, value in bare(WEATHER).items() if key != open_}
    step = make_step("panel-contraction", population, Cost(any=0.5))
    with pytest.raises(InvalidError, match="left open"):
        certified_level(step)
    assert certified_level(make_step("panel-blocks", population, Cost(any=0.5))) > 0.5


@pytest.mark.parametrize(
    "changes",
    [
        {"own_previous": 0.9},
        {"others_now": 0.0},
        {"series": 0},
        {"length": 1.5},
        {"shared_previous": None, "shared_now": 2.0},
        {"own_previous": None},
        {"transition": [[0.5, 0.5], [0.5, 0.5]]},
    ],
)
def test_what_is_not_a_panel_is_refused(changes: dict[str, Any]) -> None:
    population = bare(HOUSEHOLD) | changes
    for key in [key for key, value in changes.items() if value is None]:
        del population[key]
    with pytest.raises(InvalidError):
        certified_level(make_step("panel-blocks", population, Cost(any=0.5)))


@pytest.mark.parametrize("rule", [*RULES, "graph-contraction"])
def test_rules_are_about_their_models(rule: str) -> None:
    population = bare(HOUSEHOLD) if rule not in RULES else {"model": "clusters", "size": 3}
    with pytest.raises(InvalidError, match="not about the model"):
        certified_level(make_step(rule, population, Cost(any=0.5)))


def test_nothing_below_brute_force_is_proved() -> None:
    """Random messages: whatever the kernel takes for a proof is one."""
    rng = np.random.default_rng(23)
    proved = 0
    for case in range(runs(300, least=15)):
        spec = random_panel(rng, *SMALL[case % len(SMALL)])
        panel, dp_epsilon = parse(spec), float(rng.choice([0.05, 1.0]))
        step = make_step("panel-blocks", bare(panel), Cost(any=dp_epsilon))
        levels = [certified_level(step)]
        if "others_now" in spec and ("shared_now" in spec or "shared_previous" not in spec):
            best = honest("panel-contraction", panel, dp_epsilon)
            messages = np.asarray(best["evidence"]["details"]["messages"])
            for _ in range(3):
                guess = messages * rng.uniform(0.97, 1.05, size=6)
                best["evidence"]["details"]["messages"] = guess.tolist()
                try:
                    levels.append(certified_level(best))
                except InvalidError:
                    continue
                proved += 1
        truth = finite.worst_case(a_law(rng, spec).joint, dp_epsilon, "any").level
        assert min(levels) >= truth - 1e-9, (spec, dp_epsilon)
    assert proved > 0


@pytest.mark.parametrize("panel", [WEATHER, HOUSEHOLD], ids=["weather", "household"])
def test_levels_with_a_delta_are_proved(panel: Panel) -> None:
    levels = report_with_delta(Question(panel), Cost(any=0.1, rho_any=0.001), 1e-6)
    assert levels.best.theorem.startswith("panel-")
    assert check(conversion_certificate(panel, levels).to_dict())


def together(population: dict[str, Any], **columns: Any) -> None:
    """A release of nine rows of households that declares this population, and these columns."""
    roles = {"household": {"role": "cluster"}, "person": {"role": "series"}, "day": DAYS}
    declared = {k: v for k, v in (roles | columns).items() if v} | {"x": {"states": [0, 1]}}
    stated = SimpleNamespace(unit="row", rows_per_record=1, max_rows=None, people=None, n=9)
    check_together(stated, stated_population(population), stated_columns(declared))


DAYS: dict[str, Any] = {"role": "order", "step": 1}


@pytest.mark.parametrize("missing", ["household", "person", "day"])
def test_columns_say_which_row_is_which(missing: str) -> None:
    together(bare(HOUSEHOLD))
    with pytest.raises(InvalidError, match="columns don't say which cluster, series and place"):
        together(bare(HOUSEHOLD), **{missing: None})


@pytest.mark.parametrize(("households", "days", "fits"), [(3, 2, True), (2, 2, False)])
def test_there_are_no_more_records_than_places(households: int, days: int, fits: bool) -> None:
    columns = {
        "household": {"role": "cluster", "states": list(range(households))},
        "day": DAYS | {"states": list(range(days))},
    }
    panel = bare(Panel(series=2, length=28, own_previous=2.0, others_previous=1.0))
    with nullcontext() if fits else pytest.raises(InvalidError, match="room for"):
        together(panel, **columns)
    # A cluster of any dependence has a record of each of its series on a day.
    together({"model": "clusters", "size": 9}, **columns)
    with pytest.raises(InvalidError, match="room for"):
        together({"model": "clusters", "size": 9}, **columns, person=None)
