"""Valid documents to start from."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.golden.cases import DAYS, DAYS_CSV, PEOPLE, PEOPLE_CSV

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
CHAIN = [[0.9, 0.1], [0.3, 0.7]]

POPULATIONS: tuple[dict[str, Any], ...] = (
    {"model": "independent"},
    {"model": "clusters", "size": 3, "covers": ["a"], "source": "us"},
    {"model": "unknown", "records": 5},
    {"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]]},
    {"model": "markov", "transition": CHAIN, "length": 12, "initial": "stationary"},
    {"model": "markov", "transition": CHAIN, "length": 5, "initial": [0.5, 0.5]},
    {
        "model": "markov",
        "transition_lower": [[0.8, 0.05], [0.2, 0.6]],
        "transition_upper": [[0.95, 0.2], [0.4, 0.8]],
        "length": 6,
    },
    {
        "model": "markov",
        "order": 2,
        "transition": [CHAIN, [[0.6, 0.4], [0.2, 0.8]]],
        "length": 8,
    },
    {
        "model": "markov",
        "transition": [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]],
        "length": 6,
    },
    {
        "model": "tree",
        "nodes": [
            {"name": "a", "law": [0.7, 0.3]},
            {"name": "b", "parent": "a", "transition": CHAIN},
            {"name": "c", "parent": "a", "transition": CHAIN},
        ],
    },
    {
        "model": "graph",
        "records": 3,
        "states": 2,
        "factors": [
            {"between": [0], "table": [0.9, 0.1]},
            {"between": [0, 1], "table": [[1.0, 0.5], [0.5, 1.0]]},
            {"between": [1, 2], "table": [[1.0, 0.8], [0.8, 1.0]]},
        ],
    },
    {"model": "graph", "records": 9, "grid": [3, 3], "table": [[2.0, 1.0], [1.0, 2.0]]},
    {
        "model": "network",
        "nodes": [
            {"name": "rain", "states": ["yes", "no"], "parents": [], "table": [0.2, 0.8]},
            {
                "name": "wet",
                "states": ["yes", "no"],
                "parents": ["rain"],
                "table": [[0.9, 0.1], [0.2, 0.8]],
            },
        ],
    },
    {"model": "gaussian", "covariance": [[1.0, 0.3], [0.3, 1.0]]},
    {"model": "gaussian", "precision": [[2.0, -0.5], [-0.5, 2.0]]},
    {"model": "gaussian", "size": 4, "max_correlation": 0.2},
    {"model": "autoregressive", "coefficient": 0.5, "length": 10},
    {
        "model": "family",
        "members": [
            {"model": "clusters", "size": 2},
            {"model": "finite", "probabilities": [[0.3, 0.2], [0.2, 0.3]]},
        ],
    },
)
CAUSAL = tuple(EXAMPLES.glob("*.toml"))
TABLES = {
    "people.csv": PEOPLE_CSV,
    "days.csv": DAYS_CSV,
    "risks.csv": "smokes,risk\nno,0\nyes,1\n",
    "pairs.csv": "height_a,height_b\n171,168\n158,-9\n",
}
EDGES = "first,second\n0,1\n1,2\n2,3\n3,4\n4,0\n"
MARKET = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 2 2\n3 3 2\n2 1 -0.5\n"

MORE_QUERIES = (
    'kind = "sum"\ncolumn = "height"\nby = "role"',
    'kind = "proportion"\nwhere = "smokes == \'yes\' and height > 160"',
    'kind = "histogram"\ncolumn = "smokes"',
    'kind = "histogram"\ncolumn = "height"\nbins = [120, 150, 180, 220]',
    'kind = "quantile"\nprobability = 0.5\ncolumn = "height"\nstep = 5',
    'kind = "variance"\ncolumn = "height"',
    'kind = "count"\nwhere = "height >= 150"\nweighted_by = "height"',
    'kind = "covariance"\ncolumn = ["height", "income"]',
    'kind = "regression"\noutcome = "income"\non = ["height"]\nby = "role"',
    'kind = "series"\ncolumn = "smokes"\nanswers = "ranges"',
    'kind = "series"\nby = "role"\ncolumn = "height"\nanswers = "cumulative"\nstrategy = "tree"',
    'kind = "median"\ncolumn = "height"\ncandidates = [130, 150, 170]\nby = "role"',
)
_ANSWERS = 'kind = "randomized_response"\ncolumn = "smokes"\nepsilon = 0.25\n'
PERSONS = """
[data]
source = "people.csv"
dataset = "persons"
unit = "family"
n = 2
max_rows = 3

[data.columns]
family = { public = true }
role = { public = true, states = ["child", "parent"] }
town = { groups = "from data" }
height = { bounds = [120, 220], missing = { impute = 150 } }
smokes = { states = ["yes", "no"], other = "no" }
risk = { states = [0, 1, 2], missing = { impute = 2 } }

[[data.join]]
table = "risks.csv"
on = "smokes"
columns = ["risk"]
unmatched = "missing"

[population]
model = "independent"
covers = ["height", "smokes", "risk"]
source = "us"

[budget]
notion = "dp"
epsilon = 4.0
delta = 1e-6
mechanism_delta = 5e-7

[[query]]
name = "towns"
kind = "count"
by = "town"
max_rows = 2

[[query]]
name = "risks"
kind = "histogram"
column = ["risk", "smokes"]
by = "role"
max_groups = 1
max_rows_per_group = 2

[[query]]
name = "heights"
kind = "sum"
column = "height"
max_rows = 2
total_bounds = [150, 400]
"""
WIDE = """
[data]
source = "pairs.csv"
dataset = "pairs"
n = 4

[data.wide]
row = "pair"
records = { height = ["height_a", "height_b"] }
position = { name = "part", values = ["a", "b"] }

[data.columns]
pair = { role = "cluster" }
part = { public = true, states = ["a", "b"] }
height = { bounds = [120, 220], missing = { codes = [-9], impute = 150 } }
tall = { from = "height", where = "height > 170" }

[population]
model = "clusters"
size = 2
covers = ["height"]
source = "us"

[budget]
epsilon = 4.0

[[query]]
name = "height by part"
kind = "mean"
column = "height"
by = "part"

[[query]]
name = "tall"
kind = "proportion"
where = "tall == 1"
"""


def studies() -> tuple[str, ...]:
    """Studies of the small tables."""
    more = "".join(f'\n[[query]]\nname = "q{i}"\n{text}\n' for i, text in enumerate(MORE_QUERIES))
    derived = 'tall = { from = "height", cuts = [150, 180] }\n[population]'
    gaussian = PEOPLE.replace("epsilon = 3.0", 'epsilon = 3.0\ndelta = 1e-6\nnoise = "gaussian"')
    private = PEOPLE.replace(
        'model = "clusters"\nsize = 3', 'model = "gaussian"\nsize = 3\nmax_correlation = 0.2'
    ).replace('covers = ["height", "smokes"]', 'covers = ["height"]')
    tall = PEOPLE.replace("[population]", derived)
    perturbed = PEOPLE + '[[query]]\nname = "a"\n' + _ANSWERS
    more = PEOPLE.replace('["height", "smokes"]', '["height", "smokes", "income"]') + more
    return (PEOPLE, more, DAYS, gaussian, private, tall, perturbed, PERSONS, WIDE)


@cache
def programs() -> tuple[str, ...]:
    """The programs of the docs."""
    return tuple(
        path.read_text(encoding="utf-8") for path in sorted((EXAMPLES / "programs").glob("*.py"))
    )


@cache
def bif() -> str:
    """A published network."""
    return (EXAMPLES / "asia.bif").read_text(encoding="utf-8")


FORMATS = {
    "parquet": "people.parquet",
    "gzip": "people.csv.gz",
    "duckdb": "people.duckdb::people",
    "excel": "people.xlsx",
    "stata": "people.dta",
    "spss": "people.sav",
    "sas": "people.xpt",
}
"""The kinds of files of a table beside plain CSV, and the source that a study names."""


@cache
def in_format(kind: str) -> bytes:
    """The table of people in a file of this kind."""
    import gzip
    from tempfile import TemporaryDirectory

    import pandas as pd
    import pyreadstat

    frame = pd.read_csv(io.StringIO(PEOPLE_CSV))
    with TemporaryDirectory() as folder:
        path = Path(folder) / FORMATS[kind].partition("::")[0]
        if kind == "gzip":
            path.write_bytes(gzip.compress(PEOPLE_CSV.encode(), mtime=0))
        elif kind == "duckdb":
            _in_duckdb(path)
        elif kind == "parquet":
            frame.to_parquet(path, index=False)
        elif kind == "excel":
            frame.to_excel(path, index=False)
        else:
            write = {"stata": "write_dta", "spss": "write_sav", "sas": "write_xport"}[kind]
            getattr(pyreadstat, write)(frame, path)
        return path.read_bytes()


def _in_duckdb(path: Path) -> None:
    import duckdb

    csv = path.with_suffix(".csv")
    csv.write_text(PEOPLE_CSV)
    with duckdb.connect() as connection:  # small blocks, so that damage is seldom in empty ones
        connection.execute(f"ATTACH '{path}' AS made (BLOCK_SIZE 16384)")
        connection.execute("CREATE TABLE made.people AS FROM read_csv(?)", [str(csv)])


@cache
def certificates() -> tuple[str, ...]:
    """Certificates of releases, of levels and of a program, made in a folder of their own."""
    import os
    from tempfile import TemporaryDirectory

    from typer.testing import CliRunner

    from bayesdp.cli import app

    before = Path.cwd()
    with TemporaryDirectory(prefix="bayesdp-fuzz-") as folder:
        os.chdir(folder)
        try:
            for name, text in TABLES.items():
                Path(name).write_text(text)
            made: list[list[str]] = []
            for i, study in enumerate(studies()):
                Path(f"s{i}.toml").write_text(study.replace('dataset = "', f'dataset = "{i}'))
                made.append(["release", f"s{i}.toml", "--certificate", f"{i}.json"])
            for i, population in enumerate(POPULATIONS):
                command = ["leakage", json.dumps(population), "--epsilon", "0.5", "--seconds", "2"]
                made.append([*command, "--certificate", f"p{i}.json"])
            coin = str(EXAMPLES / "programs" / "coin.py")
            made.append(["program", "check", coin, "--certificate", "coin.json"])
            made.append(["notions", "--given", "bdp=1", "--certificate", "notions.json"])
            for command in made:
                CliRunner().invoke(app, command)
            texts = [path.read_text() for path in sorted(Path().glob("*.json"))]
        finally:
            os.chdir(before)
    assert len(texts) > 20
    return tuple(texts)
