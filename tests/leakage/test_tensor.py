"""The tensor engine against brute force, and between the DP level and the worst case."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bayesdp.cli import app
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.leakage import tensor
from bayesdp.leakage.channel import channel_leakage, read_channel
from bayesdp.leakage.tensor import channel_of, tensor_leakage
from bayesdp.notions import ADVERSARIES
from bayesdp.populations import Clusters, Finite, Graph, MarkovChain, Network, Tree
from tests.effort import runs
from tests.oracles import chains, finite, mechanisms
from tests.theorems.test_vectors import ask, vectors

SAME = 1e-12


def random_shape(rng: np.random.Generator) -> tuple[int, ...]:
    """One to five records of two to four values, at most 32 cells."""
    while True:
        shape = tuple(int(size) for size in rng.integers(2, 5, size=int(rng.integers(1, 6))))
        if math.prod(shape) <= 32:
            return shape


def random_pair(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, bool]:
    """A law and a channel; the third says whether the channel is eps-DP with a finite level."""
    shape = random_shape(rng)
    joint = mechanisms.random_joint(rng, shape, zeros=float(rng.choice([0.0, 0.3, 0.7])))
    channel = mechanisms.random_channel(rng, shape, float(rng.uniform(0.1, 3.0)))
    if rng.random() < 0.7:
        return joint, channel, True
    channel = channel * (rng.random(channel.shape) < 0.8)
    channel[channel.sum(axis=-1) == 0.0, 0] = 1.0
    return joint, channel / channel.sum(axis=-1, keepdims=True), False


def same(actual: float, truth: float) -> bool:
    return actual == truth or abs(actual - truth) <= SAME


@pytest.mark.prove
def test_tensor_is_brute_force_and_below_the_worst_case_and_every_theorem():
    rng = np.random.default_rng(390)
    infinite = 0
    for run in range(runs(5000)):
        joint, channel, private = random_pair(rng)
        cells = math.prod(size + 1 for size in joint.shape)
        block = int(rng.integers(1, channel.shape[-1] + 1))
        reached = tensor_leakage(joint, channel, memory=(24 + 20 * block) * cells)
        case = (run, joint.tolist(), channel.tolist())
        for adversary in ADVERSARIES:
            truth, _, _ = finite.leakage(joint, channel, adversary)
            level = reached.levels[adversary]
            assert same(level.bdp, truth), (adversary, level, truth, case)
            assert level.bdp == max(level.by_record), (adversary, case)
            if level.attained is not None:
                assert same(attained(joint, channel, level.attained), level.bdp), case
        assert same(reached.dp, finite.dp_level(channel)), case
        infinite += math.isinf(reached.levels["any"].bdp)
        if private and run % 5 == 0:
            below_every_bound(joint, reached, case)
    assert infinite > 0


def attained(joint, channel, attack) -> float:
    """The leakage of one attack at one outcome, by its definition."""

    def chance(value: int) -> float:
        place: list = [slice(None)] * joint.ndim
        place[attack.record] = value
        for j, known in zip(attack.known, attack.known_values, strict=True):
            place[j] = known
        law = joint[tuple(place)]
        return float((law * channel[(*place, attack.outcome)]).sum() / law.sum())

    bottom = chance(attack.other)
    return math.log(chance(attack.value) / bottom) if bottom > 0.0 else math.inf


def below_every_bound(joint, actual, case) -> None:
    """Mechanism <= worst case over mechanisms <= every other theorem."""
    population = Finite(probabilities=joint)
    for adversary in ADVERSARIES:
        report = population.leakage(actual.dp + actual.error, adversary=adversary)
        bounds = {bound.theorem: bound.epsilon for bound in report.bounds}
        level = actual.levels[adversary].bdp
        assert level <= bounds["finite-law"] + SAME, (adversary, bounds, level, case)
        assert bounds["finite-law"] <= min(bounds.values()) * (1 + 1e-10), (adversary, bounds, case)


def small_populations(rng: np.random.Generator):
    """Structured populations of three binary records, with their law by the oracle."""
    kernel = rng.dirichlet((1.0, 1.0), size=2)
    yield MarkovChain(transition=kernel, length=3), chains.joint(kernel, "stationary", 3)
    table = rng.dirichlet((1.0, 1.0), size=(2, 2))
    yield (
        MarkovChain(transition=table, length=3, order=2),
        chains.joint(table, "stationary", 3),
    )
    nodes = [
        {"name": "b", "parent": "a", "transition": rng.dirichlet((1.0, 1.0), size=2).tolist()},
        {"name": "a", "law": rng.dirichlet((1.0, 1.0)).tolist()},
        {"name": "c", "parent": "a", "transition": rng.dirichlet((1.0, 1.0), size=2).tolist()},
    ]
    yield Tree(nodes=nodes), chains.tree(nodes)
    factors = [
        {"between": list(pair), "table": rng.uniform(0.2, 1.0, size=(2, 2)).tolist()}
        for pair in ((2, 0), (0, 1), (1, 2))
    ]
    yield (
        Graph(records=3, states=2, factors=factors),
        chains.factor_graph(3, 2, factors),
    )
    first, second, both = (
        rng.dirichlet((1.0, 1.0), size=size).tolist() for size in ((), (), (2, 2))
    )
    law = np.einsum("a,b,abc->cab", first, second, both)
    yield (
        Network(
            nodes=[
                {"name": "c", "states": 2, "parents": ["a", "b"], "table": both},
                {"name": "a", "states": 2, "table": first},
                {"name": "b", "states": ["low", "high"], "table": second},
            ]
        ),
        law,
    )


@pytest.mark.prove
@pytest.mark.usefixtures("few_contexts")
def test_structured_populations_and_their_order():
    """The chain mechanism <= finite-law <= every other theorem, where several theorems apply."""
    rng = np.random.default_rng(391)
    for _ in range(runs(200)):
        for population, joint in small_populations(rng):
            channel = mechanisms.random_channel(rng, (2, 2, 2), float(rng.uniform(0.1, 3.0)))
            for adversary in ADVERSARIES:
                exact = channel_leakage(population, channel, adversary=adversary)
                truth, _, _ = finite.leakage(joint, channel, adversary)
                assert same(exact.level.bdp, truth)
                report = population.leakage(exact.dp_epsilon, adversary=adversary)
                bounds = {bound.theorem: bound for bound in report.bounds}
                assert exact.level.bdp <= bounds["finite-law"].epsilon + SAME
                assert bounds["finite-law"].tight == "exact"
                lowest = min(bound.epsilon for bound in report.bounds)
                assert bounds["finite-law"].epsilon <= lowest * (1 + 1e-10) + SAME, bounds


@pytest.mark.parametrize("vector", vectors("channels.json"), ids=lambda v: v["name"])
def test_reference_values_through_the_command_line(vector, tmp_path):
    path = tmp_path / "channel.json"
    path.write_text(json.dumps({"channel": vector["channel"]}))
    answer = ask("leakage", json.dumps(vector["population"]), "--mechanism", str(path))
    assert answer["exact"]["bdp"] == pytest.approx(vector["bdp"], abs=1e-7)
    assert answer["exact"]["dp"] == pytest.approx(vector["dp"], abs=1e-7)
    assert answer["dp_epsilon"] >= vector["dp"] - 1e-15
    assert answer["best"]["epsilon"] >= vector["bdp"]
    given = ask(
        "leakage",
        json.dumps(vector["population"]),
        "--mechanism",
        str(path),
        "--epsilon",
        repr(vector["dp"] + 1.0),
    )
    assert given["dp_epsilon"] == pytest.approx(vector["dp"] + 1.0)
    assert given["exact"] == answer["exact"]
    shown = CliRunner().invoke(
        app, ["leakage", json.dumps(vector["population"]), "--mechanism", str(path)]
    )
    assert "What this mechanism leaks, exactly" in shown.stdout
    assert "Most is told by outcome" in " ".join(shown.stdout.split())


FLIP = [[0.75, 0.25], [0.25, 0.75]]


def test_by_hand():
    """Two equal records, randomized response on the first: flip 1/4, so ln 3 for both records."""
    joint = np.array([[0.5, 0.0], [0.0, 0.5]])
    channel = np.stack([np.array(FLIP), np.array(FLIP)], axis=1)  # the second record is not read
    reached = tensor_leakage(joint, channel)
    assert reached.dp == pytest.approx(math.log(3.0), abs=1e-15)
    assert reached.levels["any"].by_record == pytest.approx([math.log(3.0)] * 2, abs=1e-15)
    assert reached.levels["uninformed"].bdp == pytest.approx(math.log(3.0), abs=1e-15)
    assert reached.levels["informed"].bdp == 0.0  # one record tells the other


def test_a_level_lost_in_logarithms_is_not_0() -> None:
    """Two probabilities of which the logarithms are one double, and what they really leak."""
    least = 1e-200
    more = least * (1.0 + 5e-15)
    law = Finite(probabilities=[0.5, 0.5])
    answer = channel_leakage(law, [[least, 1.0], [more, 1.0]])
    assert answer.tensor.dp == 0.0
    assert answer.dp_epsilon > math.log1p(4e-15)
    for level in answer.tensor.levels.values():
        assert level.bdp.upper > math.log1p(4e-15)
    # Where nothing differs, or there is nothing to compare, 0 is 0.
    same = channel_leakage(law, [[0.1, 0.9], [0.1, 0.9]])
    assert same.dp_epsilon == same.level.bdp.upper == 0.0
    equal = Finite(probabilities=[[0.5, 0.0], [0.0, 0.5]])
    leakage = channel_leakage(equal, np.stack([FLIP, FLIP], axis=1), adversary="informed")
    assert leakage.level.bdp.upper == 0.0
    assert leakage.dp_epsilon >= math.log(3.0)


def test_zeros_and_infinities():
    joint = np.full((2, 2), 0.25)
    open_book = np.eye(4).reshape(2, 2, 4)
    reached = tensor_leakage(joint, open_book)
    assert reached.dp == math.inf
    assert reached.levels["any"].bdp == reached.levels["uninformed"].bdp == math.inf
    # An outcome that can't be under the law tells nothing, however extreme its probabilities are.
    law = np.array([[0.5, 0.5], [0.0, 0.0]])
    channel = np.zeros((2, 2, 3))
    channel[0] = [0.5, 0.5, 0.0]
    channel[1] = [0.0, 0.0, 1.0]
    certain = tensor_leakage(law, channel)
    assert certain.dp == math.inf
    assert certain.levels["any"].bdp == 0.0
    # Probabilities near the end of double precision keep their ratios ...
    small = np.array([[1.0 - 3e-250, 3e-250], [1.0 - 1e-250, 1e-250]])
    assert tensor_leakage(np.array([0.5, 0.5]), small).levels["any"].bdp == pytest.approx(
        math.log(3.0), abs=1e-12
    )
    # ... and products beyond it are refused, not taken for 0.
    tiny = np.array([1.0 - 1e-200, 1e-200])
    with pytest.raises(UnsupportedError, match="1e-280"):
        tensor_leakage(tiny, np.array([[0.5, 0.5], [1.0 - 1e-200, 1e-200]]))


def test_memory_and_progress():
    rng = np.random.default_rng(5)
    joint = mechanisms.random_joint(rng, (2,) * 6)
    channel = mechanisms.exponential(rng, (2,) * 6, 1.0, outcomes=5)
    whole = tensor_leakage(joint, channel)
    assert tensor_leakage(joint, channel, memory=45 * 3**6) == whole
    with pytest.raises(UnsupportedError, match="MiB"):
        tensor_leakage(joint, channel, memory=40 * 3**6)


def test_progress_is_told_from_the_first_second_on(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(tensor.time, "monotonic", lambda: next(clock))
    shares: list[float] = []
    rng = np.random.default_rng(5)
    joint = mechanisms.random_joint(rng, (2, 2))
    channel = mechanisms.exponential(rng, (2, 2), 1.0, outcomes=2)
    tensor_leakage(joint, channel, memory=44 * 9, progress=shares.append)
    assert shares == pytest.approx([0.5, 0.75, 1.0])


@pytest.mark.parametrize(
    ("channel", "why"),
    [
        ([[0.5, 0.5]], "shape 2 x outcomes"),
        ([0.5, 0.5], "shape 2 x outcomes"),
        ([[0.5, 0.5], [1.0]], "no array"),
        ([["a", "b"], ["c", "d"]], "no array"),
        ([[1.5, -0.5], [0.5, 0.5]], r"channel\[0\]\[0\]"),
        ([[0.5, float("nan")], [0.5, 0.5]], r"channel\[0\]\[1\]"),
        ([[0.5, 0.5], [0.5, 0.4]], r"channel\[1\].*sum 0.9"),
        ([[], []], "no array"),
    ],
)
def test_bad_channels(channel, why):
    with pytest.raises(InputError, match=why):
        channel_of(channel, (2,))


def test_populations_without_a_joint_law():
    for population, why in (
        (Clusters(size=2), "not a finite law"),
        (MarkovChain(transition=FLIP, length=100), "100 records"),
        (
            MarkovChain(
                transition_lower=[[0.5, 0.1], [0.1, 0.5]],
                transition_upper=[[0.9, 0.5], [0.5, 0.9]],
                length=2,
            ),
            "intervals",
        ),
        (
            Graph(
                records=1,
                states=2,
                factors=[
                    {"between": [0], "table": [0.0, 1.0]},
                    {"between": [0], "table": [1.0, 0.0]},
                ],
            ),
            "no database",
        ),
    ):
        with pytest.raises(UnsupportedError, match=why):
            channel_leakage(population, FLIP if population.model == "graph" else [FLIP, FLIP])


def test_mechanism_files(tmp_path: Path):
    path = tmp_path / "m.json"
    for text, why in (
        ("[", "JSON"),
        ("[]", "channel"),
        ('{"chanel": []}', "channel"),
        ('{"channel": [], "outcomes": 2}', "known key"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=why):
            read_channel(path)
    with pytest.raises(InputError, match="readable"):
        read_channel(tmp_path / "none.json")


def test_command_line_refusals(tmp_path: Path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"channel": FLIP}))
    item = '{"model": "finite", "probabilities": [0.5, 0.5]}'

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, ["leakage", item, *arguments])
        assert result.exit_code == 2
        return result.stderr

    assert "at least the mechanism's own 1.098612" in run(
        "--mechanism", str(path), "--epsilon", "1"
    )
    assert "--delta" in run("--mechanism", str(path), "--delta", "0.1")
    assert "--epsilon" in run()
    path.write_text(json.dumps({"channel": [[1, 0], [0, 1]]}))
    answer = ask("leakage", item, "--mechanism", str(path))
    assert answer["exact"]["bdp"] is None
    assert answer["exact"]["dp"] is None
    assert answer["bounds"] == []
