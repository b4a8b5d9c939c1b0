"""Lists of (epsilon, delta) releases: every level holds, and what can't be composed says so."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest

from bayesdp.accounting.costs import delta_composition
from bayesdp.accounting.what_if import WhatIf, what_if
from bayesdp.errors import InputError, UnsupportedError

PAIR = {"model": "clusters", "size": 2}


def asked(*releases: dict[str, Any], delta: float = 1e-6, **more: Any) -> WhatIf:
    return what_if({"population": PAIR, "releases": list(releases)}, delta=delta, **more)


def spent_once(epsilon: float, delta: float = 0.0, **more: Any) -> dict[str, Any]:
    return {"dp_epsilon": epsilon, **({"dp_delta": delta} if delta else {}), **more}


def test_costs_and_deltas_add_up_and_are_converted_once() -> None:
    answer = asked(spent_once(0.25, 1e-9), spent_once(0.5, 2e-9), spent_once(0.125))
    basic = next(rule for rule in answer.rules if rule.rule == "basic").point
    assert basic is not None
    assert (basic.dp_epsilon, basic.dp_delta) == (0.875, pytest.approx(3e-9))
    assert basic.bdp_epsilon == pytest.approx(1.75, rel=1e-12)
    # Group privacy of pairs: delta (1 + e^eps).
    assert basic.bdp_delta == pytest.approx(3e-9 * (1 + math.exp(0.875)))
    assert answer.sound <= basic.bdp_epsilon
    assert [release.bdp for release in answer.releases] == pytest.approx([0.5, 1.0, 0.25])
    assert answer.naive == pytest.approx(1.75)


def test_many_small_costs_compose_better_than_they_add_up() -> None:
    pytest.importorskip("dp_accounting")
    answer = asked(*[spent_once(0.1, 1e-9)] * 60, delta=1e-4)
    by_rule = {rule.rule: rule.point for rule in answer.rules}
    assert all(by_rule.values())
    levels = {name: point.bdp_epsilon for name, point in by_rule.items() if point}
    assert levels["optimal"] < levels["advanced"] < levels["basic"]
    assert answer.sound == levels["optimal"] < 0.7 * answer.naive
    assert answer.to_dict()["rules"][0]["rule"] == "optimal"


def leaky(bit: int, epsilon: float, delta: float) -> dict[str, float]:
    """The worst (epsilon, delta) mechanism on a bit: it tells the bit with probability delta."""
    keep = (1 - delta) / (1 + math.exp(-epsilon))
    return {f"sure {bit}": delta, str(bit): keep, str(1 - bit): 1 - delta - keep}


@pytest.mark.parametrize("many", [1, 2, 3])
def test_levels_hold_for_the_worst_mechanisms_on_equal_records(many: int) -> None:
    """Two records that are one bit, and answers about each of them, `many` times."""
    epsilon, delta = 0.4, 1e-3
    actual = asked(*[spent_once(epsilon, delta)] * many, delta=0.02)
    laws = []
    for bit in (0, 1):
        law = {(): 1.0}
        for _ in range(2 * many):
            answer = leaky(bit, epsilon, delta)
            law = {(*y, z): p * q for (y, p), (z, q) in product(law.items(), answer.items())}
        laws.append(law)
    there = sum(
        max(0.0, p - math.exp(actual.sound) * laws[1].get(y, 0.0)) for y, p in laws[0].items()
    )
    assert there <= 0.02
    # The sum of costs is reached by two records: with less it would not hold.
    less = sum(
        max(0.0, p - math.exp(0.6 * actual.sound) * laws[1].get(y, 0.0)) for y, p in laws[0].items()
    )
    assert less > 0.02


@pytest.mark.parametrize(
    ("release", "key"),
    [
        (spent_once(0.5, 1e-9, block={"records": [0]}), "releases[1].block"),
        ({"rho": 0.1}, "releases[1].rho"),
        ({"bdp_epsilon": 0.1}, "releases[1].bdp_epsilon"),
        ({"dp_delta": 1e-9}, "releases[1].dp_delta"),
        (spent_once(0.5, 1.0), "releases[1].dp_delta"),
        (spent_once(0.5, -1e-9), "releases[1].dp_delta"),
        ({"dp_epsilon": 0.5, "dp_delta": "1e-9"}, "releases[1].dp_delta"),
        ({"dp_epsilon": 0.5, "dp_delta": True}, "releases[1].dp_delta"),
        ({"dp_epsilon": 0.5, "dp_delta": math.nan}, "releases[1].dp_delta"),
    ],
)
def test_what_does_not_fit_is_named(release: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError) as refusal:
        asked(spent_once(0.5, 1e-9), release)
    assert refusal.value.key == key


def test_a_delta_is_needed_and_must_be_reached() -> None:
    with pytest.raises(InputError, match="--delta"):
        asked(spent_once(0.5, 1e-9), delta=0.0)
    with pytest.raises(UnsupportedError, match="multiply the deltas"):
        asked(spent_once(0.5, 1e-9), spent_once(0.5, 1e-9), delta=2e-9)
    # Each of the two reaches half of the delta, and both together don't reach the whole.
    alone = asked(spent_once(1.0, 1e-8), delta=0.75e-7)
    assert alone.releases[0].bdp == pytest.approx(2.0)
    with pytest.raises(UnsupportedError, match="multiply the deltas"):
        asked(spent_once(1.0, 1e-8), spent_once(1.0, 1e-8), delta=1.5e-7)


def test_a_delta_of_0_needs_no_share() -> None:
    """In a list with deltas a release without any has its level for every event."""
    alone = asked({"dp_epsilon": 0.2, "dp_delta": 0.0}, delta=0.5)
    assert alone.releases[0].bdp == pytest.approx(0.4)


def test_without_the_extra_the_other_rules_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise UnsupportedError("composition", "optimal", expected="basic", remedy="Install it.")

    monkeypatch.setattr(delta_composition, "_library", missing)
    answer = asked(spent_once(0.5, 1e-9), spent_once(0.5, 1e-9))
    last = answer.rules[-1]
    assert (last.rule, last.point, last.missing) == ("optimal", None, "Install it.")
    assert answer.sound == pytest.approx(2.0)
    assert "basic" in answer.reason
