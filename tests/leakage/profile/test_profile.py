"""`bayesdp.profile` and the command: keys, scopes, defaults, refusals, speed."""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import bayesdp
from bayesdp.cli import app
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.leakage.profile import LawAndChannel
from bayesdp.notions import CATALOGUE
from bayesdp.populations import Family, Finite, Independent, MarkovChain, Network
from tests.oracles import finite

ROOT = Path(__file__).resolve().parents[3]
TWINS = {"model": "finite", "probabilities": [[0.5, 0.0], [0.0, 0.5]]}
PAIR = {"model": "finite", "probabilities": [[0.45, 0.05], [0.05, 0.45]]}
COUNT = [[[0.8, 0.2], [0.5, 0.5]], [[0.5, 0.5], [0.2, 0.8]]]
REVEAL = [[[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


def run(document: Any, *options: str, status: int = 0) -> Any:
    Path("model.json").write_text(document if isinstance(document, str) else json.dumps(document))
    result = CliRunner().invoke(app, ["profile", "model.json", *options])
    assert result.exit_code == status, result.output
    return result


def document(model: Any, *options: str, status: int = 0) -> Any:
    return json.loads(run(model, "--json", *options, status=status).stdout)


def test_the_document_has_the_promised_keys():
    shown = document({"population": PAIR, "channel": COUNT})
    assert set(shown["bdp"]) == {"any", "uninformed", "informed"}
    assert set(shown["causal"]) == {"do", "see"}
    dp = math.log(2.5)
    assert shown["dp"] == pytest.approx(dp, abs=1e-12)
    any_level, _, _ = finite.leakage(np.array(PAIR["probabilities"]), np.array(COUNT))
    assert shown["bdp"]["any"] == pytest.approx(any_level, abs=1e-12)
    assert shown["mp"] == pytest.approx(any_level, abs=1e-12)
    assert shown["causal"]["see"] == shown["bdp"]["uninformed"]
    # Setting one record leaves the other fair: (.8 + .5) / (.5 + .2).
    assert shown["causal"]["do"] == pytest.approx(math.log(13.0 / 7.0), abs=1e-12)
    assert shown["sp"] == pytest.approx(math.tanh(dp / 4.0), abs=1e-12)
    assert shown["bsp"] >= math.tanh(any_level / 4.0) - 1e-12
    assert shown["bsp_known"] == pytest.approx(math.tanh(any_level / 4.0), abs=1e-12)
    assert shown["group_dp"] == pytest.approx([dp, math.log(4.0)], abs=1e-12)
    assert shown["strong_dp"] == pytest.approx(dp, abs=1e-12)
    assert shown["independent_bdp"] == pytest.approx(dp, abs=1e-12)
    # Somebody is 1 against nobody is: the law .1, .45 of the others against the cell (0, 0).
    somebody = (0.1 * 0.5 + 0.45 * 0.8) / 0.55
    assert shown["pufferfish"] == pytest.approx(math.log(somebody / 0.2), abs=1e-12)
    assert set(shown["attained_by"]) == {*CATALOGUE, "bsp-known", "mp-of-prior"}
    assert shown["infinite"] == []
    assert shown["scope"] == "population"


def test_an_infinite_level_is_null_and_named():
    shown = document({"population": TWINS, "channel": REVEAL})
    for key in ("dp", "mp", "strong_dp", "independent_bdp", "pufferfish"):
        assert shown[key] is None, key
    assert shown["bdp"] == {"any": None, "uninformed": None, "informed": 0.0}
    assert shown["sp"] == shown["bsp"] == 1.0
    assert shown["causal"]["do"] == pytest.approx(math.log(3.0))
    assert set(shown["infinite"]) >= {"dp", "bdp", "mp", "bdp-uninformed"}
    assert "bdp-informed" not in shown["infinite"]
    assert "unlimited" in run({"population": TWINS, "channel": REVEAL}).output


def test_a_mechanism_works_as_in_leakage():
    item = document({"population": PAIR, "channel": COUNT})
    other = document({"population": PAIR, "mechanism": {"channel": COUNT}, "source": "us"})
    assert item == other


def test_the_table_names_values_and_delta():
    network = {
        "model": "network",
        "nodes": [
            {"name": "mother", "states": ["healthy", "ill"], "table": [0.9, 0.1]},
            {
                "name": "child",
                "states": ["healthy", "ill"],
                "parents": ["mother"],
                "table": [[0.95, 0.05], [0.4, 0.6]],
            },
        ],
    }
    said = run({"population": network, "channel": COUNT}, "--epsilon", "0.5").output
    assert "mother = ill" in said
    assert "Delta at epsilon 0.5" in said
    assert "Groups of 1 to 2 records" in said
    for key in CATALOGUE:
        assert key in said


def test_defaults():
    model = {"population": PAIR, "channel": COUNT}
    worst = document(model)
    each = [document(model, "--default", d) for d in ("0", "1", "0,1")]
    assert worst["sp"] == max(case["sp"] for case in each)
    assert worst["bsp"] == max(case["bsp"] for case in each[:2])
    assert each[2]["default"] == [0, 1]
    assert worst["default"] is None
    for wrong in ("2", "-1", "0,1,1", "x", "0.5"):
        assert "default" in run(model, f"--default={wrong}", status=2).output


def test_a_default_that_the_population_never_has_is_refused():
    """It would leave `bsp` with nothing to speak of, at level 0."""
    law = {"model": "finite", "probabilities": [[0.5, 0.0], [0.5, 0.0]]}
    said = run({"population": law, "channel": COUNT}, "--default", "1", status=2).output
    assert "positive probability" in said
    assert document({"population": law, "channel": COUNT})["bsp"] > 0.0


def test_a_default_that_is_not_possible_everywhere_is_said():
    covered = document({"population": TWINS, "channel": COUNT}, "--default", "0")
    assert covered["default_covers"] is False
    assert (
        "nothing about those"
        in run({"population": TWINS, "channel": COUNT}, "--default", "0").output
    )
    assert document({"population": TWINS, "channel": COUNT})["default_covers"] is True


def test_a_family_has_the_largest_levels_of_its_members():
    members = [Finite(probabilities=law) for law in ([[0.25] * 2] * 2, PAIR["probabilities"])]
    whole = bayesdp.profile(Family(members=tuple(members)), COUNT)
    each = [bayesdp.profile(member, COUNT) for member in members]
    turned = bayesdp.profile(Family(members=tuple(reversed(members))), COUNT)
    for key in CATALOGUE:
        assert whole.level(key) == max(case.level(key) for case in each), key
        assert turned.level(key) == whole.level(key), key
    for both in (whole, turned):
        assert both.bsp_known.level == max(case.bsp_known.level for case in each)
        assert both.mp_of_prior.level == max(case.mp_of_prior.level for case in each)
    by = whole.levels["bdp"].by
    assert by is not None
    assert by.member == 1
    assert whole.to_dict()["scope"] == "family"
    assert {claim.scope for claim in whole.claims()} == {"family", "all"}
    worst = [case.delta(0.3) for case in each]
    assert whole.delta(0.3).bdp["any"] == max(item.bdp["any"] for item in worst)
    with pytest.raises(InputError, match="same records"):
        bayesdp.profile(Family(members=(members[0], Finite(probabilities=[0.5, 0.5]))), COUNT)


def test_claims_carry_every_notion():
    claims = list(bayesdp.profile(Finite(probabilities=PAIR["probabilities"]), COUNT).claims())
    assert [claim.notion for claim in claims] == list(CATALOGUE)
    assert claims[2].size == 2
    assert all(claim.in_words() for claim in claims)


def test_claims_are_never_below_the_true_level() -> None:
    """A computed level may lie below the true one by its error: a claim may not."""
    whole = bayesdp.profile(Finite(probabilities=PAIR["probabilities"]), COUNT)
    for claim in whole.claims():
        level = whole.level(claim.notion)
        assert level + 0.9 * whole.error <= claim.level <= level + 1.1 * whole.error
    # The logarithms of these two probabilities are one double.
    tiny = [[1e-200, 1.0], [1e-200 * (1.0 + 5e-15), 1.0]]
    lost = bayesdp.profile(Finite(probabilities=[0.5, 0.5]), tiny)
    assert lost.dp == 0.0
    claims = {claim.notion: claim.level for claim in lost.claims()}
    assert min(claims["dp"], claims["bdp"], claims["causal-do"]) > math.log1p(4e-15)
    # A distance isn't above 1, and where there is nothing to compare the level is 0.
    open_channel = bayesdp.profile(Finite(probabilities=[0.5, 0.5]), [[1.0, 0.0], [0.0, 1.0]])
    claims = {claim.notion: claim.level for claim in open_channel.claims()}
    assert (claims["sp"], claims["dp"]) == (1.0, math.inf)
    twins = bayesdp.profile(Finite(probabilities=[[0.5, 0.0], [0.0, 0.5]]), COUNT)
    claims = {claim.notion: claim.level for claim in twins.claims()}
    assert claims["bdp-informed"] == 0.0


def test_declared_secrets():
    secrets = {
        "secrets": [
            {"name": "ill", "values": [1]},
            {"name": "all ill", "values": [1], "at_least": 2},
            {"name": "first", "records": [0], "values": [0]},
        ],
        "pairs": [["all ill", "not ill"]],
    }
    shown = document({"population": PAIR, "channel": COUNT, "pufferfish": secrets})
    assert shown["pufferfish"] == pytest.approx(math.log(4.0))  # cell (1, 1) against (0, 0)
    assert sorted(shown["attained_by"]["pufferfish"]["secrets"]) == ["all ill", "not ill"]
    del secrets["pairs"]
    more = document({"population": PAIR, "channel": COUNT, "pufferfish": secrets})
    assert more["pufferfish"] < shown["pufferfish"]


@pytest.mark.parametrize(
    ("secrets", "key"),
    [
        ([], "pufferfish"),
        ({"secrets": [{"name": "a", "values": [2]}]}, "secrets[0].values"),
        ({"secrets": [{"name": "a", "values": [1], "records": [2]}]}, "secrets[0].records"),
        ({"secrets": [{"name": "a", "values": [1], "at_least": 3}]}, "secrets[0].at_least"),
        ({"secrets": [{"name": "a", "value": 1}]}, "secrets[0].value"),
        ({"secrets": [{"name": "a", "values": [1]}] * 2}, "secrets[1].name"),
        ({"secrets": [{"name": "a", "values": [1]}], "pairs": [["a", "b"]]}, "pairs[0]"),
        ({"secrets": [{"name": "a", "values": [1]}], "pairs": ["a"]}, "pairs[0]"),
        ({"secrets": [{"name": "a", "values": [1]}], "pairs": [[[], "a"]]}, "pairs[0]"),
        ({"secrets": [], "couples": []}, "couples"),
    ],
)
def test_wrong_secrets_are_refused(secrets: Any, key: str):
    said = run({"population": PAIR, "channel": COUNT, "pufferfish": secrets}, status=2).output
    assert key in said


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("{", "JSON"),
        ('{"channel": [], "channel": []}', "'channel' stands twice"),
        ({"population": PAIR, "channel": [[[10**400, 0]] * 2] * 2}, "digits"),
        ({"population": PAIR, "channel": [[[10**299, 0]] * 2] * 2}, "a probability"),
        ("[]", "MODEL"),
        ({"channel": COUNT}, "MODEL.population"),
        ({"population": PAIR}, "MODEL.channel"),
        ({"population": PAIR, "channel": COUNT, "mechanism": {"channel": COUNT}}, "MODEL.channel"),
        ({"population": PAIR, "mechanism": {"table": COUNT}}, "MODEL.mechanism"),
        ({"population": PAIR, "chanel": COUNT}, "Did you mean 'channel'"),
        ({"population": PAIR, "channel": COUNT[0]}, "channel"),
        ({"population": PAIR, "channel": [[[0.8, 0.1]] * 2] * 2}, "sum to 1"),
        ({"population": {"model": "independent"}, "channel": COUNT}, "finite law"),
        ({"population": {"model": "clusters", "size": 2}, "channel": COUNT}, "finite law"),
    ],
)
def test_wrong_models_are_refused(model: Any, key: str):
    assert key in run(model, status=2).output


def test_huge_models_are_refused_at_once():
    chain = MarkovChain(transition=[[0.9, 0.1], [0.1, 0.9]], length=40)
    with pytest.raises(UnsupportedError, match="extended tensor"):
        bayesdp.profile(chain, [0.5, 0.5])
    ten = MarkovChain(transition=[[0.9, 0.1], [0.1, 0.9]], length=10)
    with pytest.raises(UnsupportedError, match="Fewer records"):
        bayesdp.profile(ten, np.full((*(2,) * 10, 128), 1.0 / 128))
    law = np.full((2,) * 10, 2.0**-10)
    with pytest.raises(UnsupportedError, match="extended tensor"):
        LawAndChannel.of(law, np.full((*law.shape, 128), 1.0 / 128))
    with pytest.raises(InputError, match="sum to 1"):
        LawAndChannel.of([0.5, 0.6], [[0.5, 0.5]] * 2)
    with pytest.raises(UnsupportedError, match="finite law"):
        bayesdp.profile(Independent(), COUNT)


def test_networks_and_chains_are_laws_too():
    chain = MarkovChain(transition=[[0.9, 0.1], [0.2, 0.8]], length=2)
    network = Network(
        nodes=[
            {"name": "a", "states": 2, "table": [2.0 / 3.0, 1.0 / 3.0]},
            {"name": "b", "states": 2, "parents": ["a"], "table": [[0.9, 0.1], [0.2, 0.8]]},
        ]
    )
    item, other = bayesdp.profile(chain, COUNT), bayesdp.profile(network, COUNT)
    for key in CATALOGUE:
        assert item.level(key) == pytest.approx(other.level(key), abs=1e-12)


def test_four_records_take_less_than_two_seconds(tmp_path: Path):
    """The whole process, by the processor's clock, which other processes don't slow down."""
    rng = np.random.default_rng(4)
    joint = rng.random((3, 3, 3, 3))
    channel = rng.random((3, 3, 3, 3, 8)) + 0.1
    channel /= channel.sum(axis=-1, keepdims=True)
    population = {"model": "finite", "probabilities": (joint / joint.sum()).tolist()}
    path = tmp_path / "four.json"
    path.write_text(json.dumps({"population": population, "channel": channel.tolist()}))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "bayesdp.cli", "profile", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert json.loads(done.stdout)["bdp"]["any"] > 0.0
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2.0
