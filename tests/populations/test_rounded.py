"""Published laws are rounded: they are read, rescaled, and their certificates say so."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp.causal import CausalModel
from bayesdp.errors import InputError
from bayesdp.populations import Family, Finite, MarkovChain, Network, Tree
from bayesdp.populations.base import Population, Rescaling
from bayesdp.populations.registry import parse
from bayesdp.release import Study
from bayesdp.verification import verify
from tests.effort import runs


def chain(row: Any, **more: Any) -> MarkovChain:
    return MarkovChain(transition=[row] * len(row), length=3, **more)


@pytest.mark.parametrize("decimals", range(4, 9))
def test_every_rounded_law_is_read(decimals: int) -> None:
    """But for zeros at the end of all its numbers; and in single precision."""
    rng = np.random.default_rng(decimals)
    for _ in range(runs(2000)):
        law = rng.dirichlet(np.ones(rng.integers(2, 9)))
        rounded = np.round(law, decimals)
        if any(len(repr(x)) >= decimals + 2 for x in rounded.tolist()):
            read = Rescaling().law(rounded.tolist(), "law")
            assert abs(sum(map(Fraction, read)) - 1) < 1e-15
            assert Rescaling().law(read, "law") == read
        single = Rescaling().law(law.astype(np.float32).tolist(), "law")
        assert np.allclose(single, law, atol=1e-6)


@pytest.mark.parametrize(
    ("row", "off"),
    [
        ([0.3333, 0.3333, 0.3333], "0.0001"),
        ([0.9081, 0.0833, 0.0068, 0.0006, 0.0012, 0.0001], "0.0001"),
        ([0.3333333, 0.3333333, 0.3333333], "0.0000001"),
        ([0.33333334, 0.33333334, 0.33333334], "0.0000001"),
        ([0.12345, 0.87656], "0.00001"),
    ],
)
def test_rounded_rows_are_rescaled_and_it_is_said(row: list[float], off: str) -> None:
    note = f"probabilities that summed to 1 within {off} were rescaled"
    population = chain(row)
    assert population.source == note
    scaled = [x / sum(row) for x in row]
    assert population.transition[0] == pytest.approx(scaled, rel=1e-15)
    for again in (parse(population.spec()), population):
        assert again.spec() == population.spec()
    assert chain(row, source="a yearbook").source == f"a yearbook; {note}"


@pytest.mark.parametrize(
    "row",
    [
        [0.333, 0.333, 0.333],
        [0.5, 0.4],
        [0.5, 0.499],
        [0.3333, 0.3333, 0.3331],
        [0.2500, 0.7499999, 0.0001],
        [0.33333, 0.33333, 0.33337],
        [1.0, 0.000001001],
        [0.5, 0.5, 2e-5],
    ],
)
def test_other_sums_are_refused(row: list[float]) -> None:
    with pytest.raises(InputError, match="as far as rounding to 4 or more decimals lets them"):
        chain(row)


def test_sums_of_decimals_are_not_said_to_be_rounded() -> None:
    assert chain([0.1] * 10).source == ""
    assert chain([0.1 + 1e-10, 0.9]).source == ""


THIRDS = [0.3333, 0.3333, 0.3333]


@pytest.mark.parametrize(
    "population",
    [
        lambda: MarkovChain(transition=np.full((3, 3), 1 / 3), initial=THIRDS, length=2),
        lambda: Finite(probabilities=[THIRDS]),
        lambda: Tree(nodes=[{"name": "a", "law": THIRDS}]),
        lambda: Tree(
            nodes=[
                {"name": "a", "law": [0.5, 0.5]},
                {"name": "b", "parent": "a", "transition": [[0.5, 0.25, 0.25], THIRDS]},
            ]
        ),
        lambda: Network(nodes=[{"name": "a", "states": 3, "table": THIRDS}]),
        lambda: Family(members=[chain(THIRDS)]).members[0],
        lambda: CausalModel(
            nodes=[{"name": "a", "role": "data", "states": 3, "table": THIRDS}]
        ).population(),
    ],
)
def test_each_model_says_it(population: Any) -> None:
    made: Population = population()
    assert made.source == "probabilities that summed to 1 within 0.0001 were rescaled"
    assert parse(made.spec()) == made


BIF = """network unknown {}
variable lung {
  type discrete [ 3 ] { Asy/Patchy, "<5, or (less)", "5/*12" };
}
variable flow { type discrete [ 2 ] { Lt_to_Rt, 12+ }; }
probability ( lung ) { table 0.3330, 0.3330, 0.3339; } // off by 0.0001
probability ( flow | lung ) {
  (Asy/Patchy) 0.0300, 0.9700;
  ("<5, or (less)") .5e0, 5e-1; /* in between */
  ("5/*12") 1.0000000, 0.0000001;
}
"""


def test_a_published_network(tmp_path: Path) -> None:
    (tmp_path / "lung.bif").write_text(BIF)
    network = Network(bif=str(tmp_path / "lung.bif"))
    off = "probabilities that summed to 1 within 0.0001 were rescaled"
    assert network.source == f"the network in lung.bif; {off}"
    assert network.nodes[0].states == ("Asy/Patchy", "<5, or (less)", "5/*12")
    assert network.nodes[1].states == ("Lt_to_Rt", "12+")
    assert network.nodes[0].table == pytest.approx([0.333 / 0.9999] * 2 + [0.3339 / 0.9999])
    assert network.nodes[1].table[2][1] == pytest.approx(1e-7)
    assert parse(network.spec()) == network
    (tmp_path / "off.bif").write_text(BIF.replace("0.3330, 0.3330, 0.3339", "0.333, 0.333, 0.333"))
    with pytest.raises(InputError, match=r"off\.bif, line 6\).*They sum to 0\.999\."):
        Network(bif=str(tmp_path / "off.bif"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("network unknown {}", 'network unknown "{" }'),
        ("( lung )", '"(" lung )'),
        ("( flow | lung )", '( flow "|" lung )'),
        ("0.3339; }", '0.3339 ";" }'),
        ("type discrete", '"type" discrete'),
    ],
)
def test_what_is_in_quotes_is_a_word(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "wrong.bif").write_text(BIF.replace(old, new, 1))
    with pytest.raises(InputError, match=r"wrong\.bif, line"):
        Network(bif=str(tmp_path / "wrong.bif"))


def test_a_certificate_holds_the_rescaled_law(tmp_path: Path) -> None:
    row = [0.6667, 0.3334]
    made = Study(
        pd.DataFrame({"day": [1, 2, 3], "x": [0, 1, 1]}),
        dataset="rounded",
        n=3,
        columns={"day": {"role": "order", "step": 1}, "x": {"states": [0, 1]}},
        population=chain(row, covers=["x"]),
        budget={"epsilon": 1.0},
        queries=[{"name": "q", "kind": "count", "where": "x == 1"}],
        ledger=str(tmp_path / "ledger.db"),
    )
    document = json.loads(made.release().certificate.to_json())
    law = document["population"]["transition"][0]
    assert law == pytest.approx([0.6667 / 1.0001, 0.3334 / 1.0001])
    assert "summed to 1 within 0.0001 were rescaled" in document["population"]["source"]
    assert verify(document).verdict == "VALID ASSUMING"
    assert any("were rescaled" in words for words in verify(document).assuming)
