"""Seeing and doing against enumeration, against the tensor engine, and the theorem do <= eps."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from bayesdp.causal import CausalModel, NoisyCount, NoisySum
from bayesdp.causal.mechanism import dp_level
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.leakage.profile import profile
from bayesdp.leakage.tensor import tensor_leakage
from tests.causal.models import oracle_nodes, random_channel, random_model, relatives
from tests.effort import runs
from tests.oracles import causal as oracle
from tests.oracles import finite
from tests.oracles.causal_definitions import as_channel


def lookup(channel: np.ndarray) -> Callable[..., np.ndarray]:
    return lambda *x: channel[x]


def _close(a: float, b: float, error: float) -> bool:
    return a == b if math.inf in (a, b) else abs(a - b) <= error + 1e-12


@pytest.mark.prove
def test_channels_agree_with_enumeration() -> None:
    rng = np.random.default_rng(51)
    infinite = 0
    for _ in range(runs(400)):
        model = random_model(rng)
        channel = random_channel(rng, model.sizes)
        nodes = oracle_nodes(model)
        for how in ("see", "do"):
            for node in model.nodes:
                actual = getattr(model, how)(channel, node.name)
                truth = oracle.level(nodes, model.records, lookup(channel), node.name, how)
                assert _close(actual.epsilon, truth, actual.error), (how, node.name)
                infinite += truth == math.inf
    assert infinite


@pytest.mark.prove
def test_sums_agree_with_enumeration() -> None:
    rng = np.random.default_rng(52)
    for _ in range(runs(150)):
        model = random_model(rng)
        scores = tuple(tuple(int(s) for s in rng.integers(-2, 4, size=k)) for k in model.sizes)
        if max(max(row) - min(row) for row in scores) == 0:
            continue
        mechanism = NoisySum(sum=scores, epsilon=float(rng.uniform(0.1, 2.0)))
        outcome = oracle.noisy_total(scores, mechanism.epsilon, reach=5)
        for how in ("see", "do"):
            for i, name in enumerate(model.records):
                actual = getattr(model, how)(mechanism, i)
                truth = oracle.level(oracle_nodes(model), model.records, outcome, name, how)
                assert _close(actual.epsilon, truth, actual.error)


@pytest.mark.prove
def test_what_attains_a_level_attains_it() -> None:
    rng = np.random.default_rng(53)
    attained = 0
    for _ in range(runs(200)):
        model = random_model(rng)
        channel = random_channel(rng, model.sizes)
        for effect in (model.see(channel, 1), model.do(channel, 1)):
            best = effect.attains
            if best is None:
                assert effect.epsilon == 0.0
                continue
            attained += 1
            laws = [
                oracle.output_law(
                    oracle_nodes(model),
                    model.records,
                    lookup(channel),
                    effect.record,
                    effect.values.index(value),
                    effect.how,
                )[int(best.outcome)]
                for value in (best.value, best.other)
            ]
            assert laws == pytest.approx([best.likely, best.unlikely], abs=1e-12)
            if laws[1] > 0.0:
                assert math.log(laws[0] / laws[1]) == pytest.approx(effect.epsilon, abs=1e-9)
    assert attained


@pytest.mark.prove
def test_doing_stays_within_dp_in_every_model() -> None:
    """Theory 5.3: also with zeros, with values that never occur, and for infinite levels."""
    rng = np.random.default_rng(54)
    reached = 0
    for _ in range(runs(3000)):
        model = random_model(rng, records=int(rng.integers(1, 5)))
        both = model.compare(random_channel(rng, model.sizes))
        for done in both.do:
            assert done.epsilon <= both.dp_epsilon + done.error
            reached += done.epsilon >= both.dp_epsilon - 1e-9 > 0.0
    assert reached  # so the bound can't be lowered


@pytest.mark.prove
def test_seeing_is_the_uninformed_leakage_of_the_induced_population() -> None:
    rng = np.random.default_rng(55)
    for _ in range(runs(200)):
        model = random_model(rng)
        channel = random_channel(rng, model.sizes)
        joint = model.population().array
        tensor = tensor_leakage(joint, channel)
        for i, level in enumerate(tensor.levels["uninformed"].by_record):
            assert _close(model.see(channel, i).epsilon, level, 1e-11)
        assert model.compare(channel).dp_epsilon == tensor.dp
        assert _close(
            tensor.levels["uninformed"].bdp, finite.leakage(joint, channel, "uninformed")[0], 1e-10
        )


@pytest.mark.prove
def test_where_doing_is_the_marginal_law_of_the_others() -> None:
    """Setting a data point leaves the others at their own law, whatever the graph above them."""
    rng = np.random.default_rng(56)
    for _ in range(runs(100)):
        model = random_model(rng)
        channel = random_channel(rng, model.sizes)
        joint = model.population().array
        for i in range(3):
            rest = np.expand_dims(joint.sum(axis=i), i)[..., None]
            others = tuple(j for j in range(3) if j != i)
            laws = (rest * channel).sum(axis=others)
            done = model.do(channel, i)
            assert np.asarray(done.laws) == pytest.approx(laws, abs=1e-12)


def test_the_profile_of_the_population_says_the_same() -> None:
    rng = np.random.default_rng(62)
    for _ in range(6):
        model = random_model(rng)
        channel = random_channel(rng, model.sizes)
        both = model.compare(channel)
        seen = profile(model.population(), channel)
        for ours, theirs in ((both.most_done, seen.do), (both.most_seen, seen.see)):
            assert _close(ours.epsilon, theirs, 1e-9)


# ------------------------------------------------------ numbers to remember


def test_three_relatives() -> None:
    """1 and 1 if independent, 1 and 3 if identical."""
    for k in range(3):
        identical = relatives(3).compare()
        assert identical.do[k].epsilon == pytest.approx(1.0, abs=1e-12)
        assert identical.see[k].epsilon == pytest.approx(3.0, abs=1e-12)
        independent = relatives(3, copies=0.0).compare()
        assert independent.do[k].epsilon == pytest.approx(1.0, abs=1e-12)
        assert independent.see[k].epsilon == pytest.approx(1.0, abs=1e-12)
    assert identical.dp_epsilon == 1.0
    assert identical.see[0].upper >= 3.0


def test_an_edge_between_data_points_breaks_the_theorem() -> None:
    """Flip .1, eps 1: setting the first record sets the second too. The spec refuses the edge."""
    flip = [[0.9, 0.1], [0.1, 0.9]]
    nodes = [
        oracle.Node("first", 2, (), [0.5, 0.5]),
        oracle.Node("second", 2, ("first",), flip),
    ]
    outcome = oracle.noisy_total([(0, 1), (0, 1)], 1.0)
    broken = oracle.level(nodes, ["first", "second"], outcome, "first", "do")
    exact = 1.0 + math.log((0.9 * math.e + 0.1) / (0.9 + 0.1 * math.e))
    assert broken == pytest.approx(exact, abs=1e-12)
    assert broken == pytest.approx(1.776, abs=5e-4)
    plain = [
        {"name": "first", "role": "data", "states": 2, "table": [0.5, 0.5]},
        {"name": "second", "role": "data", "states": 2, "parents": ["first"], "table": flip},
    ]
    with pytest.raises(InputError, match="between the attributes"):
        CausalModel(nodes=plain)
    # The remedy: the edge between the attributes. Then setting a record sets no other, and setting
    # the person still does.
    remedy = CausalModel(
        nodes=[
            {"name": "a", "role": "attribute", "states": 2, "table": [0.5, 0.5]},
            {"name": "b", "role": "attribute", "states": 2, "parents": ["a"], "table": flip},
            {"name": "first", "role": "data", "parents": ["a"]},
            {"name": "second", "role": "data", "parents": ["b"]},
        ],
        mechanism={"count": "1", "epsilon": 1.0},
    )
    assert remedy.do(record="first").epsilon == pytest.approx(1.0, abs=1e-12)
    assert remedy.do(record="a").epsilon == pytest.approx(exact, abs=1e-12)
    assert remedy.see(record="first").epsilon == pytest.approx(exact, abs=1e-12)


def test_seeing_can_be_less_than_doing() -> None:
    """The second is always the opposite of the first: the count is known beforehand."""
    model = CausalModel(
        nodes=[
            {"name": "a", "role": "attribute", "states": 2, "table": [0.3, 0.7]},
            {"name": "x", "role": "data", "parents": ["a"]},
            {
                "name": "y",
                "role": "data",
                "states": 2,
                "parents": ["a"],
                "table": [[0.0, 1.0], [1.0, 0.0]],
            },
        ],
        mechanism={"count": "1", "epsilon": 1.0},
    )
    both = model.compare()
    assert [item.epsilon for item in both.see] == [0.0, 0.0]
    assert both.see[0].attains is None
    assert both.see[0].words() == ""
    assert [item.epsilon for item in both.do] == pytest.approx([1.0, 1.0], abs=1e-12)
    assert "adds nothing" in both.reading()[1]


def test_values_that_never_occur_are_set_but_not_seen() -> None:
    model = CausalModel(
        nodes=[
            {"name": "x", "role": "data", "states": ["a", "b", "c"], "table": [0.5, 0.5, 0.0]},
            {"name": "z", "role": "data", "states": ["d"], "table": [1.0]},
        ]
    )
    channel = [[[0.5, 0.5]], [[0.4, 0.6]], [[0.0, 1.0]]]
    seen, done = model.see(channel, "x"), model.do(channel, "x")
    assert seen.impossible == ("c",)
    assert seen.laws[2] is None
    assert seen.epsilon == pytest.approx(math.log(1.25))
    assert done.impossible == ()
    assert done.epsilon == math.inf
    assert done.to_dict()["epsilon"] is None
    assert "infinitely many" in done.words()
    assert model.compare(channel).dp_epsilon == math.inf
    for effect in (model.see(channel, "z"), model.do(channel, "z")):
        assert effect.epsilon == 0.0
        assert effect.attains is None


def test_twenty_relatives_need_no_table_of_a_million_databases() -> None:
    """Given the gene they are independent: a binomial law by hand."""
    copies, ill, n = 0.5, 0.1, 20
    model = relatives(n, ill, copies)
    seen = model.see(record=7)
    rates = [(1 - copies) * ill, copies + (1 - copies) * ill]
    prior = [1 - ill, ill]
    a = math.exp(-1.0)

    def law(value: int) -> np.ndarray:
        given = [p * (r if value else 1 - r) for p, r in zip(prior, rates, strict=True)]
        counts = np.zeros(n + 1)
        for weight, rate in zip(given, rates, strict=True):
            for k in range(n):
                mass = math.comb(n - 1, k) * rate**k * (1 - rate) ** (n - 1 - k)
                counts[k + value] += weight / sum(given) * mass
        return np.array([[a ** abs(y - t) for y in range(n + 1)] for t in range(n + 1)]).T @ counts

    ratio = np.log(law(1) / law(0))
    assert seen.epsilon == pytest.approx(float(np.abs(ratio).max()), abs=1e-10)
    assert model.do(record=7).epsilon == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(UnsupportedError, match="databases"):
        model.population()


def test_a_long_chain_is_fine_and_a_wide_table_is_refused() -> None:
    step = [[0.9, 0.1], [0.2, 0.8]]
    nodes = [{"name": "h0", "role": "latent", "states": 2, "table": [0.5, 0.5]}]
    for k in range(1, 60):
        nodes.append(
            {
                "name": f"h{k}",
                "role": "latent",
                "states": 2,
                "parents": [f"h{k - 1}"],
                "table": step,
            }
        )
    nodes += [{"name": f"x{k}", "role": "data", "parents": [f"h{k}"]} for k in range(60)]
    model = CausalModel(nodes=nodes)
    count = NoisyCount(count="1", epsilon=0.5)
    assert model.do(count, "x30").epsilon == pytest.approx(0.5, abs=1e-11)
    assert model.see(count, "x30").epsilon > 1.5
    with pytest.raises(UnsupportedError, match="State a count"):
        model.see([0.5, 0.5], 0)
    dense = [{"name": "a", "role": "attribute", "states": 100, "table": [0.01] * 100}]
    rows: list = [0.01] * 100
    for k in range(1, 5):
        dense.append({"name": f"b{k}", "role": "attribute", "states": 100, "table": rows})
    dense += [
        {
            "name": f"d{k}",
            "role": "data",
            "states": 1,
            "parents": ["a", f"b{k}"],
            "table": [[[1.0]] * 100] * 100,
        }
        for k in range(1, 5)
    ]
    assert CausalModel(nodes=dense).do([[[[[1.0]]]]], 0).epsilon == 0.0
    keep_all = CausalModel(nodes=dense)
    with pytest.raises(UnsupportedError, match="cells"):
        keep_all.marginal("a", "b1", "b2", "b3", "b4")


def test_probabilities_too_small_for_double_precision_are_refused() -> None:
    nodes = [
        {"name": f"x{k}", "role": "data", "states": 2, "table": [1.0 - 1e-40, 1e-40]}
        for k in range(10)
    ]
    model = CausalModel(nodes=nodes)
    with pytest.raises(UnsupportedError, match="take it for 0"):
        model.see(NoisyCount(count="1", epsilon=1.0), 0)
    rare = [node | {"table": [1.0 - 1e-200, 1e-200]} for node in nodes[:2]]
    with pytest.raises(UnsupportedError, match="take it for 0"):
        CausalModel(nodes=rare).population()
    pair = CausalModel(nodes=nodes[:2])
    tiny = [[[1.0, 1e-300], [1.0, 1e-300]], [[1.0, 1e-300], [1.0, 1e-200]]]
    with pytest.raises(UnsupportedError, match="take it for 0"):
        pair.see(tiny, 0)


def test_noise_is_as_stated() -> None:
    """A count clamped to its range: a law that sums to one, and exactly of its cost."""
    model = relatives(3)
    for epsilon in (0.01, 1.0, 30.0):
        compiled = model.compiled(NoisyCount(count=("ill",), epsilon=epsilon))
        channel = as_channel(compiled, model.sizes)
        assert channel.sum(axis=-1) == pytest.approx(1.0, abs=1e-12)
        assert dp_level(channel) == pytest.approx(epsilon, rel=1e-12)
        assert compiled.dp_epsilon == epsilon
    every = model.compiled(NoisyCount(count=("ill", "well"), epsilon=1.0))
    assert every.dp_epsilon == 0.0
    shifted = model.compiled({"sum": [-1, 4], "epsilon": 1.0})
    assert shifted.outcomes == tuple(map(str, range(-3, 13)))
    assert dp_level(as_channel(shifted, model.sizes)) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        ({"count": "sick", "epsilon": 1.0}, "a value of the data points"),
        ({"count": "ill"}, "mechanism.epsilon"),
        ({"count": "ill", "epsilon": 0.0}, "mechanism.epsilon"),
        ({"count": "ill", "epsilon": 1.0, "delta": 0.1}, "mechanism.delta"),
        ({"cuont": "ill", "epsilon": 1.0}, "Did you mean 'count'"),
        ({}, "nothing"),
        ({"sum": [1, 2, 3], "epsilon": 1.0}, "a score for each value"),
        ({"sum": [[0, 1]], "epsilon": 1.0}, "a score for each value"),
        ({"sum": [0, 5000], "epsilon": 1.0}, "steps"),
        ({"count": "ill", "epsilon": 400.0}, "steps"),
        ([[0.5, 0.5]], "one axis for each record"),
        ({"channel": "no"}, "no array"),
    ],
)
def test_wrong_mechanisms(mechanism: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        relatives(3).see(mechanism, 0)


@pytest.mark.parametrize("record", ["nobody", 3, -1, True])
def test_wrong_records(record: object) -> None:
    with pytest.raises(InputError, match="record"):
        relatives(3).do(record=record)
