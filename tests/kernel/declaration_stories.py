"""Forged declarations: columns, roles, units and numbers of rows that can't all be so.

Each is refused by one check of the kernel alone: everything else in it goes together.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd

from bayesdp.kernel.rules.markov_count import count_mechanism
from bayesdp.release import Study
from tests.kernel import stories
from tests.kernel import test_forged_results as results
from tests.kernel.all_kinds import DELTA, ORDER, certificate
from tests.kernel.release_stories import counting
from tests.kernel.stories import queries_of
from tests.kernel.test_forgeries import COUNT, GRAPH, S, everywhere, renewed
from tests.kernel.test_forgeries import released as described
from tests.kernel.test_keys import ASKED, CHAIN, plain, released

Document = dict[str, Any]
Change = Callable[[Document], object]
ANY_VALUES = {"kind": "any values that the population gives a positive probability"}
HALVES = [0.5, 0.5]


def _folder() -> Path:
    return Path(mkdtemp(prefix="bayesdp-declarations-"))


def _informed(document: Document) -> None:
    """Against an informed adversary every level is the DP cost, whatever the population."""
    levels = []
    for step in document["derivation"]["premises"]:
        cost = step["evidence"]["cost"]
        levels.append(cost["any"] + cost["lipschitz"])
        step["conclusion"] |= {"adversary": "informed", "epsilon": levels[-1]}
        step["evidence"]["details"] = {}
    document["claim"] |= {"adversary": "informed", "epsilon": levels[0], "secrets": ANY_VALUES}
    document["derivation"]["conclusion"]["epsilon"] = levels[0]
    document["data_set"] |= {"level": levels[-1], "secrets": ANY_VALUES}


def _about(document: Document, population: Document, *covers: str, **evidence: Any) -> None:
    """The certificate is about another population, in all of its places."""
    document["population"] = {"source": "us", "covers": list(covers), **population}
    for step in document["derivation"]["premises"]:
        step["evidence"] |= {"population": population, "covers": list(covers), **evidence}


def _evidence(document: Document, number: int = 0) -> Document:
    evidence: Document = queries_of(document)[number]["evidence"]
    return evidence


# -- a count over one complete series ----------------------------------------------------------


def _may_have_gaps(document: Document) -> None:
    _informed(document)
    everywhere(document, lambda population: population.pop("complete"))


def _counted_persons(document: Document) -> None:
    _may_have_gaps(document)
    document |= {"unit": "who", "rows_per_unit": 1}
    document["columns"]["who"] = {"public": True}
    _evidence(document)["spend"]["unit"] = "who"


def _a_record_less(document: Document) -> None:
    _may_have_gaps(document)
    document["n"] -= 1


def _no_chain(document: Document) -> None:
    _informed(document)
    document["columns"]["s"] = {"bounds": [0.0, 5.0]}
    law = {"model": "autoregressive", "coefficient": 0.4, "length": document["n"]}
    _about(document, law, "s", secrets="unbounded")
    for step in document["derivation"]["premises"]:
        step["rule"] = "autoregressive"


def _two_states(document: Document) -> None:
    _informed(document)
    law = document["derivation"]["premises"][0]["evidence"]["population"]
    document["columns"]["u"] = {"states": [0, 1]}
    _about(document, law | {"transition": [[0.25] * 4] * 4}, "s", "u")
    evidence = _evidence(document)
    evidence["query"]["where"] = "s == 1 and u == 1"
    evidence["spend"]["reads"] = ["s", "u"]


def _more_positions(document: Document) -> None:
    document["columns"]["t"]["states"] = list(range(document["n"] + 1))


@cache
def _of_a_chain() -> str:
    chain = {"columns": ORDER, "population": CHAIN, "queries": ASKED[:1], "budget": DELTA}
    return json.dumps(released(_folder(), "chain", **chain))


def _of_gaussian_noise() -> Document:
    """A count with Gaussian noise, which the theorem about counts says nothing of."""
    document: Document = json.loads(_of_a_chain())
    for holder in (document["claim"], document["derivation"]["premises"][0]["conclusion"]):
        holder["adversary"] = "informed"
    evidence = _evidence(document)
    evidence["query"]["tightness"] = "mechanism"
    evidence["spend"]["mechanism"] = count_mechanism(CHAIN["length"])
    return document


# -- what a population covers ------------------------------------------------------------------


def _a_state_of_no_value(document: Document) -> None:
    columns = document["columns"]
    columns |= {"tall": {"from": "x", "cuts": [7.0]}, "x": {"bounds": [0.0, 5.0]}}
    document["population"]["covers"] = ["tall"]
    for step in document["derivation"]["premises"]:
        step["evidence"]["covers"] = ["tall = x cut at [7.0]"]
    evidence = _evidence(document)
    evidence["query"]["where"] = "tall == 1"
    evidence["spend"]["reads"] = ["tall = x cut at [7.0]"]


def _gaussian_states(document: Document) -> None:
    _about(document, {"model": "gaussian", "size": 2, "max_correlation": 0.1}, "ill", "x")
    for step in document["derivation"]["premises"]:
        cost = step["evidence"]["cost"]
        cost |= {"any": cost["any"] + cost["lipschitz"], "lipschitz": 0.0, "slack": 0.0}


def _covers_a_public_column(document: Document) -> None:
    document["columns"]["day"] = {"public": True}
    law = document["derivation"]["premises"][0]["evidence"]["population"]
    _about(document, law, "day", "ill", "x")


def _records_of_other_states(document: Document) -> None:
    nodes: list[Document] = [{"name": name, "law": HALVES} for name in "abc"]
    nodes.append({"name": "d", "law": [0.25, 0.25, 0.5]})
    _about(document, {"model": "tree", "nodes": nodes}, "ill")
    document["columns"]["day"] = {"public": True}
    for step in document["derivation"]["premises"]:
        step["rule"] = "tree-recursion"
    _informed(document)


def _in_a_file(document: Document) -> None:
    _about(document, {"model": "network", "bif": "people.bif"}, "ill")
    document["columns"]["day"] = {"public": True}


# -- who is who --------------------------------------------------------------------------------


def _nobody_is_named(document: Document) -> None:
    document["columns"]["who"] = {"role": "member", "states": ["a", "b"]}


def _no_column_of_names(document: Document) -> None:
    everywhere(document, lambda population: population.update(roles=["a", "b"]))


def _members_of_other_names(document: Document) -> None:
    member = {"model": "gaussian", "covariance": [[1.0, 0.3], [0.3, 1.0]]}
    members = [member | {"roles": ["a", other]} for other in "bc"]
    document["columns"] |= {"who": {"role": "member", "states": ["a"]}}
    document["columns"]["ill"]["independent"] = True
    _about(document, {"model": "family", "members": members}, "x", independent=["ill"])


def _between_positions(document: Document) -> None:
    document["columns"]["day"]["states"] = [1, 2, 3, 4.5]


def _private_unit(document: Document) -> None:
    document["columns"]["pair"] = {"states": [1, 2]}


def _several_rows_of_one_value(document: Document) -> None:
    document["columns"]["ill"]["independent"] = True
    law = {"model": "gaussian", "size": 1, "max_correlation": 0.0}
    _about(document, law, "x", independent=["ill"], interval=[0.0, 5.0])
    for step in document["derivation"]["premises"]:
        step["rule"] = "cluster-size"


def _too_large_a_table(document: Document) -> None:
    """Sums of so many records, each of up to 2^40 steps, are 2^62."""
    document["n"] = 2**22


# -- what may be asked -------------------------------------------------------------------------


def _averaged(document: Document, name: str, kind: str, number: int, rows: int = 2) -> None:
    """A sum or count is said to be an average over so many rows."""
    _evidence(document, number)["query"]["kind"] = kind
    for result in document["results"]:
        if result["query"] == name:
            result |= {"kind": kind, "rows": rows, "value": result["value"] / rows}
            result["error"]["value"] /= rows
            result["noise"]["step"] /= rows


def _histogram_of_a_public_column(document: Document) -> None:
    evidence = _evidence(document, 1)
    del evidence["query"]["bins"]
    evidence["query"]["column"] = evidence["spend"]["column"] = "day"
    evidence["spend"]["reads"] = []
    names = [result["query"] for result in document["results"]]
    first, last = names.index("bins"), len(names) - names[::-1].index("bins")
    days = [document["results"][first] | {"cell": day} for day in (1, 2, 3, 4)]
    document["results"][first:last] = days


def _sum_of_a_public_column(document: Document) -> None:
    document["columns"]["z"] = {"bounds": [0.0, 5.0], "public": True, "unit": "cm"}
    evidence = _evidence(document, 4)
    evidence["query"]["column"] = evidence["spend"]["column"] = "z"
    evidence["spend"]["reads"] = ["ill"]


def _a_step_less(document: Document) -> None:
    """Rounded down, both ends of this column are one step further apart than its grid has."""
    evidence = _evidence(document)
    assert evidence["sensitivity"] == 2**40 + 1
    evidence["sensitivity"] -= 1


FORGED: tuple[tuple[str, Change], ...] = (
    ("numbers below 0", _a_step_less),
    ("counting", _counted_persons),
    ("counting", _a_record_less),
    ("counting", _no_chain),
    ("counting", _two_states),
    ("counting", _more_positions),
    ("chain release", _a_state_of_no_value),
    ("chain release", _records_of_other_states),
    ("chain release", _in_a_file),
    ("chain release", _between_positions),
    ("covariance release", _no_column_of_names),
    ("laplace release", _gaussian_states),
    ("laplace release", _covers_a_public_column),
    ("laplace release", _nobody_is_named),
    ("laplace release", _members_of_other_names),
    ("laplace release", _too_large_a_table),
    ("panel release", lambda document: document["columns"].pop("who")),
    ("person release", _private_unit),
    ("person release", _several_rows_of_one_value),
    ("person release", lambda document: _averaged(document, "n", "proportion", 0, 4)),
    ("wide release", lambda document: _averaged(document, "part", "mean", 4)),
    ("wide release", _histogram_of_a_public_column),
    ("wide release", _sum_of_a_public_column),
)


# -- how many rows there are -------------------------------------------------------------------


ILL_ELSEWHERE = "a == 2 and ill == 1"


def _averages(*wheres: str, asked: Sequence[Document] = ()) -> Document:
    """Means of the rows of these conditions, in a table of eight; and what is asked besides."""
    public = {"public": True, "states": [1, 2]}
    columns = {"a": public, "b": public, "x": {"bounds": [0.0, 5.0]}, "pair": {"role": "cluster"}}
    table = {"a": [1] * 6 + [2] * 2, "b": [2, 1] + [1] * 5 + [2], "x": [1.0] * 8, "pair": range(8)}
    frame = pd.DataFrame(table | {"ill": [0, 1] * 4})
    study = Study(
        frame,
        dataset="averages",
        n=8,
        columns=columns | {"ill": {"states": [0, 1]}},
        population={"model": "clusters", "size": 1, "covers": ["ill", "x"], "source": "us"},
        budget={"epsilon": 4.0},
        queries=[
            *({"name": where, "kind": "mean", "column": "x", "where": where} for where in wheres),
            *asked,
        ],
        ledger=str(_folder() / "ledger.db"),
    )
    return plain(study.release().certificate)


def _rows() -> Iterator[Document]:
    crossed = _averages("a == 1", "b == 1", "a == 1 and b == 1")
    results.said_over(crossed, 6, 6, 3)
    yield crossed  # four or more are in both
    within = _averages("a == 1", "a == 1 and (b == 1 or a == 2)")
    results.said_over(within, 6, 7)
    yield within
    beside = _averages("a == 1 and b == 1", "a == 2 and b == 1")
    results.said_over(beside, 6, 6)
    yield beside
    elsewhere = _averages("a == 1 and b == 1")
    _evidence(elsewhere)["spend"]["block"] = {"column": "a", "values": [2]}
    yield elsewhere  # the block is not what the query reads
    derived = _averages("a == 1", "b == 1")
    derived["columns"]["c"] = {"from": "a", "cuts": [1.5], "public": True}
    derived["public_blocks"] = ["b", "c"]
    _evidence(derived)["query"]["where"] = "c == 0"
    _evidence(derived)["spend"]["block"] = {"column": "c", "values": [0]}
    yield derived  # blocks are of columns of the table
    kinds = _averages("a == 1", asked=[{"name": "n", "kind": "count", "where": ILL_ELSEWHERE}])
    spends = [_evidence(kinds, number)["spend"] for number in (0, 1)]
    cost = kinds["derivation"]["premises"][0]["evidence"]["cost"]
    cost |= {"any": spends[1]["dp_epsilon"]}
    cost |= {"lipschitz": spends[0]["dp_epsilon"], "slack": spends[0]["slack"]}
    yield kinds  # of each kind the most, which no record pays together
    nowhere = _averages("a == 1", "a == 2")
    _evidence(nowhere, 1)["query"]["where"] = "a == 1 and a == 2"
    yield nowhere


MADE: dict[str, Callable[[], Document]] = {
    "counting": counting,
    "numbers below 0": lambda: stories.honest("numbers below 0"),
}


def valid() -> Iterator[Document]:
    """Honest certificates: of all records of a graph, of no dependent column, of two of one."""
    yield described({"s": S, "g": {"public": True}}, GRAPH, COUNT)
    none = certificate("chain release")
    none["columns"]["ill"]["independent"] = True
    _about(none, none["derivation"]["premises"][0]["evidence"]["population"], independent=["ill"])
    yield renewed(none)
    both = certificate("wide release")
    both["population"]["covers"] = ["ill", "old", "x"]
    for step in both["derivation"]["premises"]:
        step["evidence"]["covers"] = ["ill", "old = x cut at [2.5]", "x"]
    yield renewed(both)


def forged() -> Iterator[Document]:
    """The forgeries."""
    for name, change in FORGED:
        document = MADE[name]() if name in MADE else certificate(name)
        before = copy.deepcopy(document)
        change(document)
        assert document != before, name
        yield renewed(document)
    yield renewed(_of_gaussian_noise())
    for document in _rows():
        yield renewed(document)
