"""Files as programs save them and papers print them: read with what they say, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesdp.errors import InputError, TableMismatchError
from bayesdp.populations import Graph, Network
from bayesdp.release import Study
from bayesdp.verification import verify
from tests.release.integers import Integers, integers_of

BOM = "\ufeff"


def saved(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")


@pytest.fixture
def integers(monkeypatch: pytest.MonkeyPatch) -> Integers:
    return integers_of(monkeypatch)


def study(folder: Path, text: str) -> Study:
    saved(folder / "study.toml", text)
    return Study.load(folder / "study.toml")


# A table of neighbours, saved by a spreadsheet -----------------------------------------------

TIES = [(0, 1), (0, 2), (1, 2), (2, 3)]
CONTACTS = """
[data]
source = "people.csv"
dataset = "contacts"
n = 4

[data.columns]
"Erkrankt (ja/nein)" = { states = ["nein", "ja"] }

[population]
model = "graph"
records = 4
edges = { file = "neighbours.csv", both_ways = true }
table = [[3, 1], [1, 3]]
covers = ["Erkrankt (ja/nein)"]

[budget]
epsilon = 2.0

[[query]]
name = "ill"
kind = "count"
where = "`Erkrankt (ja/nein)` == 'ja'"
"""


def test_neighbours_saved_by_a_spreadsheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [pair for a, b in TIES for pair in ((a, b), (b, a))]
    lines = ["Person;Nachbar", *(f'{a};"{b}"' for a, b in sorted(rows)), ""]
    saved(tmp_path / "neighbours.csv", BOM + "\r\n".join(lines) + "\r\n")
    saved(tmp_path / "people.csv", BOM + '"Erkrankt (ja/nein)"\r\nja\r\nnein\r\nja\r\nja\r\n')
    made = study(tmp_path, CONTACTS)
    assert isinstance(made.spec.population, Graph)
    plain = Graph(records=4, edges=TIES, table=[[3, 1], [1, 3]])
    assert made.spec.population.edges.pairs.tolist() == plain.edges.pairs.tolist()
    assert made.spec.population.leakage(0.5).best == plain.leakage(0.5).best
    # The kernel reads no files: it says so, and neither takes nor refutes the level.
    assert integers_of(monkeypatch, "UNKNOWN")(made) == {"ill": {None: (3,)}}


# A Bayesian network whose tables are rounded ---------------------------------------------------

XRAY = """network "lung" { property software "a program"; }
variable "Lung Parench" { type discrete [ 3 ] { Normal, Oedema/Cong, "Asy/Patchy" }; }
variable CO2>=7.5 { type discrete [ 3 ] { <7.5, 7.5-12, 12+ }; }
probability ( "Lung Parench" ) { table 0.6667, 0.1667, 0.1667; }
probability ( CO2>=7.5 | "Lung Parench" ) {
  (Normal) 0.8333333, 0.0833333, 0.0833333;
  (Oedema/Cong) 0.2857, 0.2857, 0.4286;
  ("Asy/Patchy") 1e-04, 0.4999, 0.5000;
}
"""
PATIENTS = """
[data]
source = "patients.csv"
dataset = "lung"
n = 2

[data.columns]
"x.ray" = { states = ["a", "b", "c"] }

[population]
model = "network"
bif = "lung.bif"
covers = ["x.ray"]

[budget]
epsilon = 2.0

[[query]]
name = "b or c"
kind = "proportion"
where = "`x.ray` in ['b', 'c']"
"""


def test_a_network_with_rounded_tables(tmp_path: Path, integers: Integers) -> None:
    saved(tmp_path / "lung.bif", BOM + XRAY.replace("\n", "\r\n"))
    saved(tmp_path / "patients.csv", "x.ray\na\nc\n")
    made = study(tmp_path, PATIENTS)
    network = made.spec.population
    assert isinstance(network, Network)
    assert network.nodes[0].states == ("Normal", "Oedema/Cong", "Asy/Patchy")
    assert network.nodes[0].table == pytest.approx([0.6667 / 1.0001] + [0.1667 / 1.0001] * 2)
    verdict = verify(made.release().certificate)
    assert verdict.verdict == "VALID ASSUMING"
    again = study(tmp_path, PATIENTS.replace('dataset = "lung"', 'dataset = "lungs"'))
    assert integers(again) == {"b or c": {None: (1,)}}
    note = "the network in lung.bif; probabilities that summed to 1 within 0.0001 were rescaled"
    assert any(note in words for words in verdict.assuming)
    saved(tmp_path / "lung.bif", XRAY.replace("0.2857, 0.4286", "0.2857, 0.4266"))
    with pytest.raises(InputError, match=r"lung\.bif, line 7\).*They sum to 0\.998\."):
        study(tmp_path, PATIENTS)


# A matrix of ratings, whose default is for good -------------------------------------------------

RATINGS = """
[data]
source = "firms.csv"
dataset = "ratings"
n = 7

[data.columns]
"firm no." = { role = "series" }
year = { role = "order", step = 1 }
rating = { states = ["A", "B", "C", "D"] }

[population]
model = "markov"
length = 6
transition = [[0.9081, 0.0833, 0.0068, 0.0017],
              [0.0270, 0.8605, 0.1002, 0.0122],
              [0.0011, 0.0764, 0.7953, 0.1273],
              [0, 0, 0, 1]]
initial = [0.5, 0.3, 0.2, 0]
covers = ["rating"]

[budget]
epsilon = 4.0

[[query]]
name = "defaults"
kind = "count"
where = "rating == 'D'"
"""
FIRMS = """firm no.,year,rating
1,2001,A
1,2002,B
1,2004,D
1,2005,D
2,2003,C
2,2004,C
2,2005,B
"""


def test_ratings_with_an_absorbing_default(tmp_path: Path, integers: Integers) -> None:
    saved(tmp_path / "firms.csv", FIRMS)
    made = study(tmp_path, RATINGS)
    verdict = verify(made.release().certificate)
    assert verdict.verdict == "VALID ASSUMING"
    again = study(tmp_path, RATINGS.replace('"ratings"', '"ratings again"'))
    assert integers(again) == {"defaults": {None: (2,)}}
    assert any("summed to 1 within 0.0001 were rescaled" in words for words in verdict.assuming)
    with pytest.raises(
        InputError, match=r"'stationary'.*State 0 is left for good.*how series begin"
    ):
        study(tmp_path, RATINGS.replace("initial", "# initial"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("1,2005,D", "1,2005,B", "'B' 1 step after 'D' (1 time)"),
        ("2,2003,C", "2,2003,D", "'D' in the first record of a series (1 time)"),
    ],
)
def test_firms_that_ratings_say_are_impossible(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    saved(tmp_path / "firms.csv", FIRMS.replace(old, new))
    made = study(tmp_path, RATINGS)
    assert words in made.inspect()[0].message
    with pytest.raises(TableMismatchError, match="nothing was spent"):
        made.release()
    assert made.spends() == []


# Names with dots, spaces and digits, and words of Python ----------------------------------------

NAMES = """
[data]
source = "survey.csv"
dataset = "survey"
n = 6

[data.columns]
"hh.id" = { role = "cluster" }
"body height" = { bounds = [140, 210], unit = "cm" }
"2019" = { states = ["in", "out"] }
class = { public = true, states = [1, 2] }
from = { states = ["a", "b"] }
"tall.person" = { from = "body height", where = "`body height` > 180" }

[population]
model = "clusters"
size = 2
covers = ["body height", "2019", "from", "tall.person"]

[budget]
epsilon = 8.0

[[query]]
name = "in 2019"
kind = "count"
where = "`2019` == 'in' and `from` != 'b' and not `tall.person` == 1"
by = "class"

[[query]]
name = "height"
kind = "mean"
column = "body height"

[[query]]
name = "hist"
kind = "histogram"
column = "2019"
"""
SURVEY = """hh.id,body height,2019,class,from
1.5,170,in,1,a
1.5,182.5,in,1,a
x y,165,out,2,b
x y,190,in,2,a
3,155,in,1,a
4,168,in,2,a
"""


def test_names_with_dots_and_spaces(tmp_path: Path, integers: Integers) -> None:
    saved(tmp_path / "survey.csv", SURVEY)
    totals = integers(study(tmp_path, NAMES))
    assert totals["in 2019"] == {1: (2,), 2: (1,)}
    assert totals["hist"] == {None: (5, 1)}
    for bare in ("2019 == 'in'", "from != 'b'", "tall.person == 1"):
        with pytest.raises(InputError, match=f"Write `{bare.split(' ')[0]}`"):
            study(tmp_path, NAMES.replace(NAMES.split('where = "')[2].split('"')[0], bare))
