"""Nothing stands in a certificate that the kernel doesn't read: no key, no step, no other words."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayesdp.certificate import content_of, digest
from bayesdp.kernel import Verdict, assumptions, check
from bayesdp.populations import parse
from bayesdp.release import Study
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.release.certificates.implications import implications_certificate
from bayesdp.statements.assumptions import LEDGER
from bayesdp.theorems.relations.search import implied

Document = dict[str, Any]
TABLE = pd.DataFrame(
    {
        "pair": [1, 1, 2, 2],
        "ill": [0, 1, 0, 0],
        "x": [1.0, 2, 3, 4],
        "day": [1, 2, 3, 4],
        "who": [1, 2] * 2,
        "smokes": ["no", "yes", "no", "no"],
        "w": [1.0, 0.5, 2.0, 1.5],
    }
)
COLUMNS: Document = {
    "pair": {"role": "cluster"},
    "ill": {"states": [0, 1]},
    "x": {"bounds": [0.0, 5.0]},
}
CLUSTERS = {"model": "clusters", "size": 2, "covers": ["ill", "x"], "source": "us"}
CHAIN = {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 4, "covers": ["ill"]}
LAW = {"model": "finite", "probabilities": [[0.3, 0.2], [0.1, 0.4]]}
FAMILY = {
    "model": "family",
    "members": [{"model": "clusters", "size": 2}, {"model": "clusters", "size": 1}],
}
ASKED = [
    {"name": "n", "kind": "count", "where": "ill == 1"},
    {"name": "s", "kind": "sum", "column": "x"},
]


def released(folder: Path, name: str, times: int = 1, **other: Any) -> Document:
    made: Document = {
        "dataset": name,
        "n": 4,
        "columns": COLUMNS,
        "population": CLUSTERS,
        "budget": {"epsilon": 4.0, "spend": 1.0},
        "queries": ASKED,
        "ledger": str(folder / f"{name}.db"),
    }
    study = Study(TABLE, **(made | other))
    for _ in range(times):
        certificate = study.release(again=True).certificate
    return plain(certificate)


def plain(certificate: Any) -> Document:
    document: Document = json.loads(certificate.to_json())
    assert check(document).verdict == "VALID ASSUMING", check(document)
    return document


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    folder = tmp_path_factory.mktemp("ledgers")
    delta = {"epsilon": 4.0, "delta": 1e-6, "spend": 1.0, "noise": "gaussian"}
    law, family = parse(LAW), parse(FAMILY)
    columns = {"day": {"role": "order", "step": 1}, "ill": {"states": [0, 1]}}
    gaussian = {"budget": delta}
    dp = {"budget": delta | {"notion": "dp"}, "population": None}
    (folder / "days.csv").write_text("day,rain\n1,0.5\n2,1\n3,2\n4,4\n")
    return {
        "clusters": released(folder, "clusters", 2, **gaussian),
        "laplace": released(folder, "laplace", 2),
        "dp": released(folder, "dp", **dp),
        "pure dp": released(
            folder, "pure dp", 2, budget={"epsilon": 4.0, "spend": 1.0, "notion": "dp"}
        ),
        "chain": released(folder, "chain", columns=columns, population=CHAIN, queries=ASKED[:1]),
        "parts": released(folder, "parts", 2, **looked_up(folder)),
        "law": plain(conversion_certificate(law, law.leakage(1.0))),
        "family": plain(conversion_certificate(family, family.leakage(1.0))),
        "informed": plain(
            conversion_certificate(family, family.leakage(1.0, adversary="informed"))
        ),
        "relations": plain(
            implications_certificate(implied({"dp": 0.7}, law, (), size=2, default=0))
        ),
    }


def looked_up(folder: Path) -> Document:
    """A wide table, whose rows hold two records each, with a column of a public table."""
    columns = {
        "pair": {"role": "cluster"},
        "x": {"bounds": [0.0, 5.0]},
        "day": {"public": True},
        "rain": {"public": True, "states": [0.5, 1, 2, 4]},
    }
    return {
        "n": 8,
        "wide": {
            "records": {"x": ["x", "who"]},
            "position": {"name": "at", "values": ["a", "b"]},
        },
        "join": {"table": str(folder / "days.csv"), "on": "day", "columns": ["rain"]},
        "columns": columns,
        "population": CLUSTERS | {"size": 4, "covers": ["x"]},
        "queries": [ASKED[1] | {"by": "rain"}],
    }


def record_is(document: Document, words: str) -> None:
    """Other words on what a record is."""
    said = document["assumptions"]
    (place,) = [i for i, text in enumerate(said) if text.startswith("a record is")]
    said[place] = words


NAMES = (
    "clusters", "laplace", "dp", "pure dp", "chain", "parts", "law", "family", "informed",
    "relations",
)  # fmt: skip


def verdict(document: Document) -> Verdict:
    content = content_of(document)
    return check(content | {"digest": digest(content)})


def parts(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a document has a mapping."""
    if isinstance(node, dict):
        yield path
    for key, item in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(item, dict | list):
            yield from parts(item, (*path, key))


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


@pytest.mark.parametrize("name", NAMES)
def test_a_key_that_no_rule_reads_is_refused(name: str, documents: dict[str, Document]) -> None:
    """Wherever it stands: in a claim, a step, its evidence, a cost, a grid, a spend, a result."""
    document = documents[name]
    places = [path for path in parts(document) if path != ("columns",)]
    assert len(places) > 5
    for path in places:
        for key in ("note", "factor", "epsilon_of_everybody"):
            changed = copy.deepcopy(document)
            at(changed, path)[key] = 0.0
            assert verdict(changed).verdict == "INVALID", (path, key)


@pytest.mark.parametrize("name", NAMES)
def test_a_premise_too_many_is_refused(name: str, documents: dict[str, Document]) -> None:
    """A false step, or an honest one again, beside those that a rule reads."""
    document = documents[name]
    false = {"rule": "trust me", "conclusion": {"epsilon": 0}, "evidence": {}, "premises": []}
    for path in [path for path in parts(document) if "premises" in at(document, path)]:
        honest = at(document, path)["premises"][:1]
        for more in (false, *honest):
            changed = copy.deepcopy(document)
            at(changed, path)["premises"].append(copy.deepcopy(more))
            assert verdict(changed).verdict in ("INVALID", "UNKNOWN"), path


def both(key: str, value: Any) -> Callable[[Document], None]:
    """In the population and in every step about it."""

    def change(document: Document) -> None:
        for path in list(parts(document)):
            if path and path[-1] == "population":
                at(document, path)[key] = value

    return change


def composed(document: Document) -> Document:
    actual: Document = document["derivation"]["premises"][0]
    while actual["rule"] != "sequential-composition":
        actual = actual["premises"][0]
    return actual


LIES: dict[str, tuple[str, Callable[[Document], Any]]] = {
    "words of claims": (
        "relations",
        lambda d: [
            place["claims"][0].update(words="nobody learns anything")
            for place in (d["claim"], d["derivation"]["conclusion"])
        ],
    ),
    "scope of DP": ("dp", lambda d: d["claim"].update(scope="every population")),
    "adversary of DP": ("dp", lambda d: d["claim"].update(adversary="any")),
    "secrets of DP": ("dp", lambda d: d["claim"].update(secrets=d["data_set"]["secrets"])),
    "secrets of a DP data set": ("dp", lambda d: d["data_set"].update(secrets="everything")),
    "population of DP": ("dp", lambda d: d.update(population=CLUSTERS)),
    "population of pure DP": ("pure dp", lambda d: d.update(population={"model": "independent"})),
    "rule of a DP level": (
        "pure dp", lambda d: d["derivation"]["premises"][1].update(rule="trust me")
    ),
    "words of a population": ("clusters", both("note", "certified for all")),
    "words of a family": (
        "family",
        lambda d: [
            item.update(source="certified") for item in d["population"]["members"]
        ],
    ),
    "pure cost of Gaussian noise": (
        "clusters", lambda d: composed(d)["premises"][0]["conclusion"].update(epsilon=-1.0)
    ),
    "slack of a grid": (
        "laplace", lambda d: composed(d)["premises"][1]["evidence"]["grid"].update(slack=0.0)
    ),
    "slack of kind any": (
        "laplace", lambda d: composed(d)["premises"][0]["evidence"]["spend"].update(slack=-1.0)
    ),
    "pure cost of a result": ("clusters", lambda d: d["results"][0].update(dp_epsilon=0.0)),
    "zCDP cost of a result": ("laplace", lambda d: d["results"][0].update(dp_rho=0.0)),
    "bins of a count": (
        "laplace",
        lambda d: composed(d)["premises"][0]["evidence"]["query"].update(bins=[0, 1, 2]),
    ),
    "covers of a conversion": (
        "law", lambda d: d["derivation"]["evidence"].update(covers=["everything"])
    ),
    "covers of a member": (
        "family",
        lambda d: d["derivation"]["premises"][0]["evidence"].update(covers=["everything"]),
    ),
    "level of a member": (
        "family", lambda d: d["derivation"]["premises"][0]["conclusion"].update(epsilon=0.0)
    ),
    "interval of a conversion": (
        "law", lambda d: d["derivation"]["evidence"].update(interval=[0.0, 1.0])
    ),
    "a role": ("clusters", lambda d: d["columns"]["pair"].update(role="dp")),
    "a role twice": ("clusters", lambda d: d["columns"].update(q={"role": "cluster"})),
    "no cluster column": ("clusters", lambda d: without(d, "pair")),
    "no order column": ("chain", lambda d: without(d, "day")),
    "a whole row": ("parts", lambda d: record_is(d, "a record is one row of the table")),
    "a whole row, in spends of parts": (
        "parts", lambda d: [d.pop("parts"), d.update(assumptions=assumptions(d))]
    ),
    "a spend of a whole row": (
        "parts", lambda d: composed(d)["premises"][0]["evidence"]["spend"].update(unit="row")
    ),
    "a row of fewer parts": ("parts", lambda d: d["parts"].update(number=1)),
    "a row of more parts": ("parts", lambda d: d["parts"].update(number=3)),
    "other parts": (
        "parts",
        lambda d: [d["parts"].update(position="who"), d.update(assumptions=assumptions(d))],
    ),
    "earlier spends of whole rows": (
        "parts", lambda d: d["data_set"]["earlier_spends"][0].update(unit="row")
    ),
    "no word on a public table": ("parts", lambda d: d.pop("joined")),
    "another public table": ("parts", lambda d: d["joined"][0].update(table="weeks.csv")),
    "a public table of no columns": (
        "parts",
        lambda d: [d["joined"][0].update(columns=[]), d.update(assumptions=assumptions(d))],
    ),
    "no word on the ledger": ("laplace", lambda d: d["assumptions"].remove(LEDGER)),
}  # fmt: skip


def without(document: Document, column: str) -> None:
    del document["columns"][column]
    document["assumptions"] = assumptions(document)


@pytest.mark.parametrize("lie", LIES)
def test_what_is_not_derived_is_refused(lie: str, documents: dict[str, Document]) -> None:
    name, change = LIES[lie]
    document = copy.deepcopy(documents[name])
    change(document)
    assert document != documents[name]
    named = lie == "rule of a DP level"  # it may be a rule of a later version
    assert verdict(document).verdict == ("UNKNOWN" if named else "INVALID")


def test_one_record_needs_no_cluster_column(tmp_path: Path) -> None:
    columns = {key: COLUMNS[key] for key in ("ill", "x")}
    alone = {"model": "clusters", "size": 1, "covers": ["ill", "x"]}
    released(tmp_path, "alone", columns=columns, population=alone)


def test_dp_of_a_study_with_a_population_says_nothing_of_it(tmp_path: Path) -> None:
    """A column derived from a covered one is priced as what it is derived from."""
    columns = COLUMNS | {"big": {"from": "x", "where": "x > 2"}}
    covers = CLUSTERS | {"covers": ["ill", "big"]}
    document = released(
        tmp_path, "both", columns=columns, population=covers, budget={"notion": "dp", "epsilon": 1},
        queries=[{"name": "n", "kind": "count", "where": "big == 1"}],
    )  # fmt: skip
    assert document["population"] is None


@pytest.mark.parametrize("name", ["clusters", "laplace", "dp", "pure dp", "chain"])
def test_a_complete_ledger_is_assumed(name: str, documents: dict[str, Document]) -> None:
    """Nothing in a certificate shows that `earlier_spends` is all of them."""
    assert LEDGER in check(documents[name]).assuming
