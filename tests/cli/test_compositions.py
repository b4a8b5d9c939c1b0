"""`compose`: naive claims beside what is proved and what is true."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bayesdp.accounting.what_if import what_if
from bayesdp.cli import app
from bayesdp.errors import InputError, Refusal
from tests.accounting.random_compositions import exact_leakage
from tests.effort import runs
from tests.oracles.finite import leakage, product_channel
from tests.oracles.mechanisms import random_channel, random_joint, randomized_response

CLUSTERS = {"model": "clusters", "size": 3}
SAME = {"model": "finite", "probabilities": [[0.5, 0.0], [0.0, 0.5]]}
UNEQUAL = {"model": "finite", "probabilities": [[9 / 19, 9 / 19], [0, 1 / 19]]}
FAIR = {"model": "finite", "probabilities": [[0.25, 0.25], [0.25, 0.25]]}


def hit(base: float, scale: float) -> list[Any]:
    """`P[Y = 1 | x] = base^(x1 + x2) / scale`."""
    return [
        [[1 - base ** (i + j) / scale, base ** (i + j) / scale] for j in (0, 1)] for i in (0, 1)
    ]


def asked(population: dict, *releases: dict, **options: Any) -> Any:
    return what_if({"population": population, "releases": list(releases)}, **options)


def answer(record: int, eps: float = 1.0) -> list[Any]:
    costs = [0.0, 0.0]
    costs[record] = eps
    return randomized_response((2, 2), costs).tolist()


@pytest.mark.parametrize(
    ("population", "base", "scale", "one", "two"),
    [
        (UNEQUAL, 11.0, 242.0, math.log(22), math.log(1573)),
        (
            {"model": "finite", "probabilities": [[0.1 / 1.225, 0.9 / 1.225], [0, 0.225 / 1.225]]},
            1.5,
            4.5,
            0.50078,
            1.03407,
        ),
    ],
)
def test_levels_do_not_add(
    population: dict, base: float, scale: float, one: float, two: float
) -> None:
    run = {"channel": hit(base, scale)}
    found = asked(population, run, run)
    assert [r.bdp for r in found.releases] == pytest.approx([one, one], abs=1e-5)
    assert found.naive == pytest.approx(2 * one, abs=1e-5)
    assert found.exact == pytest.approx(two, abs=1e-5)
    assert found.violated
    assert not found.proved
    assert found.sound >= found.exact


def test_parallel_is_not_the_maximum() -> None:
    releases = [{"channel": answer(k), "block": {"records": [k]}} for k in (0, 1)]
    found = asked(SAME, *releases)
    assert (found.naive, found.exact) == (pytest.approx(1.0), pytest.approx(2.0))
    assert found.sound == pytest.approx(2.0)
    assert found.violated
    honest = asked(
        {
            "model": "graph",
            "records": 2,
            "states": 2,
            "factors": [{"between": [k], "table": [1.0, 1.0]} for k in (0, 1)],
        },
        *releases,
    )
    assert honest.sound == pytest.approx(1.0)
    assert not honest.violated
    assert honest.proved


def test_uninformed_levels_do_not_add() -> None:
    parity = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    noisy = (parity @ randomized_response((2,), 3.0)).tolist()
    found = asked(
        FAIR,
        {"channel": noisy},
        {"channel": randomized_response((2, 2), 1.0).tolist()},
        adversary="uninformed",
    )
    assert found.exact == pytest.approx(1.8912, abs=1e-4)
    assert found.naive == pytest.approx(1.0, abs=1e-6)
    assert found.violated


def test_blocks_of_costs() -> None:
    releases = [
        {"dp_epsilon": 0.3, "block": {"column": "region", "values": ["north"]}},
        {"dp_epsilon": 0.2, "block": {"column": "region", "values": ["south"]}},
        {"dp_epsilon": 0.25},
        {"dp_epsilon": 0.1, "add_remove": 0.1, "block": {"private": "ill", "value": "flu"}},
        {"dp_epsilon": 0.1, "add_remove": 0.1, "block": {"private": "ill", "value": "cold"}},
    ]
    found = asked(CLUSTERS, *releases)
    assert found.price.dp_epsilon == pytest.approx(0.75)
    assert found.sound == pytest.approx(2.25)
    assert found.naive == pytest.approx(3 * (0.25 + 0.3 + 0.1))
    assert found.added == pytest.approx(3 * 0.95)
    assert (found.exact, found.violated, found.proved) == (None, None, False)
    # Blocks that overlap are none.
    overlapping = [{"dp_epsilon": 0.1, "block": {"records": r}} for r in ([0, 1], [1])]
    assert asked(CLUSTERS, *overlapping).naive == pytest.approx(0.6)
    assert asked(CLUSTERS, *overlapping).price.dp_epsilon == pytest.approx(0.2)


def test_a_delta_for_zcdp() -> None:
    releases = [{"rho": 0.001}, {"rho": 0.002}, {"dp_epsilon": 0.1}]
    with pytest.raises(InputError, match="--delta"):
        asked(CLUSTERS, *releases)
    found = asked(CLUSTERS, *releases, delta=1e-6)
    assert found.price.rho == pytest.approx(0.003)
    assert found.sound < found.naive  # one conversion beats three, and the deltas' shares
    assert found.proved


def test_random_channels() -> None:
    rng = np.random.default_rng(9)
    violated = 0
    for _ in range(runs(300)):
        joint = random_joint(rng, (2, 2), zeros=0.3)
        channels = [random_channel(rng, (2, 2), float(rng.uniform(0.2, 2))) for _ in range(2)]
        population = {"model": "finite", "probabilities": joint.tolist()}
        adversary = str(rng.choice(["any", "uninformed", "informed"]))
        found = asked(
            population, *({"channel": one.tolist()} for one in channels), adversary=adversary
        )
        brute, _, _ = leakage(joint, product_channel(*channels), adversary)
        assert found.exact == pytest.approx(brute, abs=1e-9)
        assert found.exact <= found.sound + 1e-9
        each = [exact_leakage(joint, c.reshape(4, -1), adversary) for c in channels]
        assert found.naive == pytest.approx(sum(each), abs=1e-8)
        violated += found.violated
        assert not (found.violated and (adversary == "informed" or found.proved))
    assert runs(300) < 100 or violated > 0


@pytest.mark.parametrize(
    ("release", "words"),
    [
        ({}, "dp_epsilon, rho or bdp_epsilon"),
        ({"dp_epsilom": 1.0}, "Did you mean 'dp_epsilon'"),
        ({"dp_epsilon": -1.0}, "at least 0"),
        ({"channel": answer(0), "dp_epsilon": 1.0}, "nothing beside a channel"),
        ({"channel": [[1.0]]}, "nested array"),
        ({"channel": answer(0), "block": {"records": [1]}}, "depends on record 0"),
        ({"channel": answer(0), "block": {"records": [7]}}, "numbers of records"),
        ({"channel": np.eye(4).reshape(2, 2, 4).tolist()}, "excludes no value"),
        ({"dp_epsilon": 1.0, "block": {"rows": [1]}}, "records"),
        ({"dp_epsilon": 1.0, "block": {"records": []}}, "isn't empty"),
        ({"dp_epsilon": 1.0, "block": {"records": ["a"]}}, "pairs"),
        (7, "an object"),
    ],
)
def test_malformed(release: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        asked(SAME, release)


def test_malformed_documents() -> None:
    with pytest.raises(InputError, match="population"):
        what_if({"releases": [{"dp_epsilon": 1.0}]})
    for releases in (None, [], {}):
        with pytest.raises(InputError, match="list of releases"):
            what_if({"population": CLUSTERS, "releases": releases})
    with pytest.raises(InputError, match="delta"):
        asked(CLUSTERS, {"dp_epsilon": 1.0}, delta=1.0)
    with pytest.raises(Refusal, match="levels-do-not-add"):
        asked(CLUSTERS, *[{"bdp_epsilon": 1.0, "any_history": True}] * 2)
    with pytest.raises(Refusal, match=r"\[100, 110\]"):
        asked(CLUSTERS, {"dp_epsilon": 1.0, "block": {"private": "ill", "value": "flu"}})
    # A public block that the channels don't keep to is seen.
    lies = [
        {"channel": answer(0, 2.0), "block": {"column": "region", "values": [value]}}
        for value in ("north", "south")
    ]
    with pytest.raises(InputError, match="outside of its block"):
        asked(FAIR, *lies)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["compose", *arguments], env={"COLUMNS": "200"})


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "releases.json"
    twice = [{"name": name, "channel": hit(11.0, 242.0)} for name in ("first", "second")]
    file.write_text(json.dumps({"population": UNEQUAL, "releases": twice}))
    done = run(str(file), "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["violated"] is True
    assert found["exact"]["bdp"] == pytest.approx(math.log(1573))
    assert found["naive"]["claim"] == pytest.approx(math.log(22) * 2)
    assert found["steps"]["what"] == "sequential"
    shown = run(str(file)).stdout
    for words in ("7.3607", "6.1821", "The naive claim is FALSE", "add up at the DP level"):
        assert words in shown
    file.write_text(json.dumps({"releases": [{"dp_epsilon": 0.5, "block": {"records": [0]}}]}))
    done = run(str(file), "--population", json.dumps(CLUSTERS), "--json")
    assert json.loads(done.stdout)["sound"]["bdp_epsilon"] == pytest.approx(1.5)
    assert "The naive claim holds" in run(str(file), "--population", json.dumps(CLUSTERS)).stdout
    file.write_text(json.dumps({"population": CLUSTERS, "releases": [{"rho": 0.1}]}))
    assert run(str(file)).exit_code == 2
    assert run(str(file), "--delta", "1e-6").exit_code == 0
    assert "rho 0.1" in run(str(file), "--delta", "1e-6").stdout
    both = [{"bdp_epsilon": 1.0, "any_history": True}] * 2
    file.write_text(json.dumps({"population": CLUSTERS, "releases": both}))
    refused = run(str(file), "--json")
    assert refused.exit_code == 1
    assert "levels-do-not-add" in json.loads(refused.stdout)["error"]
    for text in ("[]", "{", '{"relaeses": []}'):
        file.write_text(text)
        assert run(str(file)).exit_code == 2
    assert run(str(tmp_path / "none.json")).exit_code == 2
