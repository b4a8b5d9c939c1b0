"""`compose`: naive claims beside what is proved and what is true."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bayesdp.accounting import Reading, Spend
from bayesdp.accounting.costs.composition import converted
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
    ("population", "base", "scale", "first", "two"),
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
    population: dict, base: float, scale: float, first: float, two: float
) -> None:
    run = {"channel": hit(base, scale)}
    answer = asked(population, run, run)
    assert [r.bdp for r in answer.releases] == pytest.approx([first, first], abs=1e-5)
    assert answer.naive == pytest.approx(2 * first, abs=1e-5)
    assert answer.exact == pytest.approx(two, abs=1e-5)
    assert answer.violated
    assert not answer.proved
    assert answer.sound >= answer.exact


def test_parallel_is_not_the_maximum() -> None:
    releases = [{"channel": answer(k), "block": {"records": [k]}} for k in (0, 1)]
    actual = asked(SAME, *releases)
    assert (actual.naive, actual.exact) == (pytest.approx(1.0), pytest.approx(2.0))
    assert actual.sound == pytest.approx(2.0)
    assert actual.violated
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
    answer = asked(
        FAIR,
        {"channel": noisy},
        {"channel": randomized_response((2, 2), 1.0).tolist()},
        adversary="uninformed",
    )
    assert answer.exact == pytest.approx(1.8912, abs=1e-4)
    assert answer.naive == pytest.approx(1.0, abs=1e-6)
    assert answer.violated


def test_blocks_of_costs() -> None:
    releases = [
        {"dp_epsilon": 0.3, "block": {"column": "region", "values": ["north"]}},
        {"dp_epsilon": 0.2, "block": {"column": "region", "values": ["south"]}},
        {"dp_epsilon": 0.25},
        {"dp_epsilon": 0.1, "add_remove": 0.1, "block": {"private": "ill", "value": "flu"}},
        {"dp_epsilon": 0.1, "add_remove": 0.1, "block": {"private": "ill", "value": "cold"}},
    ]
    answer = asked(CLUSTERS, *releases)
    assert answer.price.dp_epsilon == pytest.approx(0.75)
    assert answer.sound == pytest.approx(2.25)
    assert answer.naive == pytest.approx(3 * (0.25 + 0.3 + 0.1))
    assert answer.added == pytest.approx(3 * 0.95)
    assert (answer.exact, answer.violated, answer.proved) == (None, None, False)
    # Blocks that overlap are none.
    overlapping = [{"dp_epsilon": 0.1, "block": {"records": r}} for r in ([0, 1], [1])]
    assert asked(CLUSTERS, *overlapping).naive == pytest.approx(0.6)
    assert asked(CLUSTERS, *overlapping).price.dp_epsilon == pytest.approx(0.2)
    around = [{"dp_epsilon": 0.1, "block": {"records": r}} for r in ([0, 1], [1, 2], [2, 0])]
    assert asked(CLUSTERS, *around).naive == pytest.approx(0.9)
    assert asked(CLUSTERS, *around).price.dp_epsilon == pytest.approx(0.2)


def test_blocks_are_shown_as_they_were_stated() -> None:
    stated = [
        {"column": "region", "values": ["south", "east", "east"]},
        {"records": [["b", 1], ["a", 0]]},
        {"private": "ill", "value": "flu"},
        None,
    ]
    shown = [planned.to_dict()["block"] for planned in asked(CLUSTERS, *blocks(*stated)).releases]
    assert shown == stated


def test_a_delta_for_zcdp() -> None:
    releases = [{"rho": 0.001}, {"rho": 0.002}, {"dp_epsilon": 0.1}]
    with pytest.raises(InputError, match="--delta"):
        asked(CLUSTERS, *releases)
    answer = asked(CLUSTERS, *releases, delta=1e-6)
    assert answer.price.rho == pytest.approx(0.003)
    assert answer.sound < answer.naive  # one conversion beats three, and the deltas' shares
    assert answer.proved


def test_at_a_delta_releases_are_what_a_ledger_keeps() -> None:
    """A hundred pure costs of 0.1 are 0.5 in zCDP; each on its own block of two, half of that."""
    small = {"dp_epsilon": 0.1}
    together = asked(CLUSTERS, *[small] * 100, delta=1e-6)
    assert together.sound == pytest.approx(asked(CLUSTERS, {"rho": 0.5}, delta=1e-6).sound)
    assert together.sound < 0.7 * asked(CLUSTERS, {"dp_epsilon": 10.0}, delta=1e-6).sound
    blocks = [small | {"block": {"column": "c", "values": [v]}} for v in ("n", "s")]
    half = asked(CLUSTERS, *blocks * 50, delta=1e-6)
    assert half.sound == pytest.approx(asked(CLUSTERS, {"rho": 0.25}, delta=1e-6).sound)
    spends = [Spend("d", "row", "q", "any", 0.1) for _ in range(100)]
    reading = Reading("bdp", 1e9, CLUSTERS, delta=1e-6)
    assert together.sound == converted(reading, spends, fixed=True).best.epsilon


def test_a_channel_of_a_tiny_level_is_not_free() -> None:
    """Its logarithms are equal, the probabilities are not: neither cost nor level is 0."""
    channel = [[1e-200, 1.0], [1e-200 * (1.0 + 5e-15), 1.0]]
    answer = asked({"model": "finite", "probabilities": [0.5, 0.5]}, {"channel": channel})
    assert min(answer.price.dp_epsilon, answer.sound, answer.releases[0].bdp) > math.log1p(4e-15)


def test_random_channels() -> None:
    rng = np.random.default_rng(9)
    violated = 0
    for _ in range(runs(300)):
        joint = random_joint(rng, (2, 2), zeros=0.3)
        channels = [random_channel(rng, (2, 2), float(rng.uniform(0.2, 2))) for _ in range(2)]
        population = {"model": "finite", "probabilities": joint.tolist()}
        adversary = str(rng.choice(["any", "uninformed", "informed"]))
        answer = asked(
            population,
            *({"channel": channel.tolist()} for channel in channels),
            adversary=adversary,
        )
        brute, _, _ = leakage(joint, product_channel(*channels), adversary)
        assert answer.exact == pytest.approx(brute, abs=1e-9)
        assert answer.exact <= answer.sound + 1e-9
        each = [exact_leakage(joint, c.reshape(4, -1), adversary) for c in channels]
        assert answer.naive == pytest.approx(sum(each), abs=1e-8)
        violated += answer.violated
        assert not (answer.violated and (adversary == "informed" or answer.proved))
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
    read_back = json.loads(done.stdout)
    assert read_back["violated"] is True
    assert read_back["exact"]["bdp"] == pytest.approx(math.log(1573))
    assert read_back["naive"]["claim"] == pytest.approx(math.log(22) * 2)
    assert read_back["steps"]["what"] == "sequential"
    shown = run(str(file)).stdout
    for words in (
        "7.36074",
        "6.18209",
        "level: 8.90667",
        "The naive claim is FALSE",
        "add up at the DP level",
    ):
        assert words in shown
    file.write_text(json.dumps({"releases": [{"dp_epsilon": 0.5, "block": {"records": [0]}}]}))
    done = run(str(file), "--population", json.dumps(CLUSTERS), "--json")
    assert json.loads(done.stdout)["sound"]["bdp_epsilon"] == pytest.approx(1.5)
    assert "The naive claim holds" in run(str(file), "--population", json.dumps(CLUSTERS)).stdout
    file.write_text(json.dumps({"population": CLUSTERS, "releases": [{"rho": 0.1}]}))
    assert run(str(file)).exit_code == 2
    assert run(str(file), "--delta", "1e-6").exit_code == 0
    assert "rho 0.1" in run(str(file), "--delta", "1e-6").stdout
    pair = [{"dp_epsilon": 0.25, "dp_delta": 1e-9}, {"dp_epsilon": 0.125}]
    file.write_text(json.dumps({"population": CLUSTERS, "releases": pair}))
    shown = run(str(file), "--delta", "1e-6").stdout
    assert "(0.25, 1e-09)" in shown
    both = [{"bdp_epsilon": 1.0, "any_history": True}] * 2
    file.write_text(json.dumps({"population": CLUSTERS, "releases": both}))
    refused = run(str(file), "--json")
    assert refused.exit_code == 1
    assert "levels-do-not-add" in json.loads(refused.stdout)["error"]
    for text in ("[]", "{", '{"relaeses": []}'):
        file.write_text(text)
        assert run(str(file)).exit_code == 2
    assert run(str(tmp_path / "none.json")).exit_code == 2


FLU = {"private": "ill", "value": "flu"}


def blocks(*given: dict | None) -> list[dict]:
    return [{"dp_epsilon": 1.0, "add_remove": 1.0, "block": block} for block in given]


def test_equal_values_are_one_block() -> None:
    """What reads one block twice costs twice, however its value is spelt."""
    item = [{"private": "ill", "value": value} for value in (1, 1.0)]
    assert asked(CLUSTERS, *blocks(*item)).price.dp_epsilon == 2.0
    assert asked(CLUSTERS, *blocks(*item)).naive == pytest.approx(6.0)
    public = [{"column": "ill", "values": [value]} for value in (1, 1.0, 2)]
    assert asked(CLUSTERS, *blocks(*public)).price.dp_epsilon == 2.0
    assert asked(CLUSTERS, *blocks(*public)).naive == pytest.approx(6.0)
    other = [{"private": "ill", "value": value} for value in (1, 2)]
    assert asked(CLUSTERS, *blocks(*other)).naive == pytest.approx(3.0)
    # The two are read twice, one of them twice more: in one block, costs add up.
    assert asked(CLUSTERS, *blocks(*item, *item, other[1])).price.dp_epsilon == 5.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((FLU, FLU | {"value": "Flu "}), "more than case, spaces"),
        ((FLU, FLU | {"value": 1}), "of one kind"),
        ((FLU | {"value": True}, FLU | {"value": 1}), "of one kind"),
        ((FLU, {"column": "ill", "values": ["flu"]}), "public or private"),
        (({"column": "a", "values": ["1"]}, {"column": "a", "values": [1]}), "of one kind"),
        (({"records": [0]}, {"records": [["the only one", 0]]}), "of one kind"),
        (({"records": [["a", 0]]}, {"records": [["A", 1]]}), "more than case, spaces"),
        (({"records": [["1", 0]]}, {"records": [[1, 0]]}), "of one kind"),
        (({"records": [-1]},), "numbers from 0"),
        (({"records": [[True, 0]]},), "numbers from 0"),
        (({"records": [0, ["a", 0]]},), "all by number, or all by cluster and number"),
        (({"records": [["a", True]]},), "numbers from 0"),
        ((FLU | {"value": ["flu"]},), "block.value"),
        ((FLU | {"private": 1},), "a column's name"),
        (({"column": "a", "values": [0, 10**30]},), "2\\^53"),
    ],
)
def test_values_that_may_be_the_same(given: tuple, words: str) -> None:
    with pytest.raises(InputError, match=words):
        asked(CLUSTERS, *blocks(*given))


def test_families_by_name_are_blocks() -> None:
    answer = asked(CLUSTERS, *blocks({"records": [["a", 0]]}, {"records": [["b", 0]]}))
    assert answer.price.dp_epsilon == 1.0


GAUSSIAN = {"model": "gaussian", "covariance": [[1.0, 0.2], [0.2, 1.0]]}
HEIGHT = {"dp_epsilon": 1.0, "kind": "lipschitz", "column": "height", "interval": [150, 200]}


def test_lipschitz_levels_name_their_condition(tmp_path: Path) -> None:
    alone = asked(GAUSSIAN, {"dp_epsilon": 1.0, "kind": "lipschitz"})
    assert alone.sound == pytest.approx(1.2)
    assert "secrets inside the clipping interval" in alone.to_dict()["condition"]["in_words"]
    twice = asked(GAUSSIAN, HEIGHT, HEIGHT)
    assert twice.sound == pytest.approx(2.4)
    condition = twice.to_dict()["condition"]
    assert (condition["column"], condition["interval"]) == ("height", [150.0, 200.0])
    assert condition["added_as_lipschitz"] is True
    bare = {"dp_epsilon": 1.0, "kind": "lipschitz"}
    for other in (HEIGHT | {"column": "weight"}, HEIGHT | {"interval": [150, 190]}, bare):
        answer = asked(GAUSSIAN, HEIGHT, other)
        assert answer.sound == pytest.approx(4.0), other
        assert answer.to_dict()["condition"]["added_as_lipschitz"] is False
    assert asked(GAUSSIAN, bare, bare).sound == pytest.approx(4.0)
    assert asked(GAUSSIAN, HEIGHT, {"dp_epsilon": 1.0}).sound == pytest.approx(3.2)
    assert asked(CLUSTERS, HEIGHT).condition is None
    file = tmp_path / "releases.json"
    file.write_text(json.dumps({"population": GAUSSIAN, "releases": [HEIGHT, HEIGHT]}))
    shown = run(str(file)).stdout
    assert "for secrets inside the clipping interval [150, 200] of 'height' only" in shown


def test_vectors_have_no_single_interval() -> None:
    vectors = {
        "model": "gaussian",
        "columns": ["height", "weight"],
        "bounds": [[150, 200], [40, 120]],
        "covariance": np.eye(4).tolist(),
        "size": 2,
    }
    answer = asked(vectors, HEIGHT)
    assert answer.sound == answer.releases[0].bdp == pytest.approx(2.0)
    assert "vectors" in answer.to_dict()["condition"]["in_words"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "lipshitz"}, "Did you mean 'lipschitz'"),
        ({"kind": []}, "kind"),
        ({"kind": "any"}, "column"),
        ({"column": ""}, "a column's name"),
        ({"interval": [1, 1]}, "lower, upper"),
        ({"interval": [1, 10**400]}, "lower, upper"),
        ({"interval": [math.nan, 1]}, "lower, upper"),
        ({"interval": 3}, "lower, upper"),
        ({"any_history": "false"}, "true or false"),
        ({"dp_epsilon": True}, "at least 0"),
        ({"dp_epsilon": 1e308}, "up to 1e\\+100"),
        ({"dp_epsilon": 10**400}, "up to 1e\\+100"),
    ],
)
def test_wrong_kinds_and_costs(change: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        asked(GAUSSIAN, HEIGHT | change)


def test_deltas_have_the_minimum_of_studies() -> None:
    for delta in (1e-320, 1e-31, -1e-9, math.nan):
        with pytest.raises(InputError, match="1e-30"):
            asked(CLUSTERS, {"rho": 0.1}, delta=delta)
    assert math.isfinite(asked(CLUSTERS, {"rho": 0.1}, delta=1e-30).sound)


def test_large_lists_are_refused_at_once() -> None:
    with pytest.raises(InputError, match="at most 2000 releases"):
        asked(CLUSTERS, *[{"dp_epsilon": 1e-3}] * 2001)
    many = [{"dp_epsilon": 1e-3, "block": {"records": list(range(5001))}}] * 2
    with pytest.raises(InputError, match="at most 10000 in all"):
        asked({"model": "independent"}, *many)


def test_documents_have_one_meaning(tmp_path: Path) -> None:
    file = tmp_path / "releases.json"
    costs = '[{"dp_epsilon": 9.0, "dp_epsilon": 0.1}]'
    file.write_text(f'{{"population": {json.dumps(CLUSTERS)}, "releases": {costs}}}')
    done = run(str(file))
    assert done.exit_code == 2
    assert "'dp_epsilon' stands twice" in done.stderr
    file.write_text(f'{{"releases": [{{"dp_epsilon": {"1" * 400}}}]}}')
    done = run(str(file))
    assert done.exit_code == 2
    assert "digits" in done.stderr
    largest = [{"dp_epsilon": 1e308}] * 2
    file.write_text(json.dumps({"population": CLUSTERS, "releases": largest}))
    assert run(str(file), "--json").exit_code == 2


def test_columns_taken_as_public_are_named(tmp_path: Path) -> None:
    public = [
        {"dp_epsilon": 0.3, "block": {"column": name, "values": [value]}}
        for name, value in (("diag", "flu"), ("diag", "cold"), ("re\x1bgion", "north"))
    ]
    private = {"dp_epsilon": 0.1, "add_remove": 0.1, "block": {"private": "ill", "value": 1}}
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"population": CLUSTERS, "releases": [*public, private]}))
    outcome = CliRunner().invoke(app, ["compose", str(path), "--json"])
    assert outcome.exit_code == 0, outcome.output
    assuming = json.loads(outcome.stdout)["assuming"]
    assert assuming == ["if 'diag' is public", "if 're\x1bgion' is public"]
    text = CliRunner().invoke(app, ["compose", str(path)]).output
    (line,) = [
        part
        for part in " ".join(text.split()).split("DP cost of all")[:1]
        if "Proved level" in part
    ]
    assert "), if 'diag' is public, if 're?gion' is public" in line
    assert asked(CLUSTERS, {"dp_epsilon": 0.3}, private).assuming == ()
