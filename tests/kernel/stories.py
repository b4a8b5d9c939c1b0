"""Certificates for checks that no change in one place shows, and whether they are valid.

Some are the forgeries of other tests, whose tables say what is wrong with each. The rest tell a
story of their own: a study is made for the forgery, and everything else in it is as it should be.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from bayesdp.errors import BayesdpError
from bayesdp.notions import Cost
from bayesdp.notions.vocabulary import Adversary
from bayesdp.populations import parse
from bayesdp.release import Study
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.statements.queries import cell_labels
from bayesdp.theorems import Question, report
from tests.kernel import test_forged_details as details
from tests.kernel import test_forged_results as results
from tests.kernel import test_forgeries as forgeries
from tests.kernel import test_relations
from tests.kernel.all_kinds import POPULATIONS
from tests.kernel.test_forgeries import renewed
from tests.kernel.test_keys import ASKED, COLUMNS, plain, released
from tests.release import program_studies, test_blocks, test_gaussian, test_mechanism
from tests.release.program_studies import asks

Document = dict[str, Any]
Change = Callable[[Document], object]


def _folder() -> Path:
    return Path(mkdtemp(prefix="bayesdp-stories-"))


def _document(study: Study) -> Document:
    return plain(study.release().certificate)


def queries_of(document: Document) -> list[Document]:
    """The steps of its queries."""
    (first, *_), composed = document["derivation"]["premises"], "sequential-composition"
    composition = first if first["rule"] == composed else first["premises"][0]
    steps: list[Document] = composition["premises"]
    return steps


# -- the forgeries of other tests ----------------------------------------------------------------


def from_tables() -> Iterator[Document]:
    """A forgery for each line of their tables."""
    for columns, population, queries, honest, rows, _ in results.COUNTS.values():
        document = results.released(columns, population, *queries)
        results.said_over(document, *honest)
        results.said_over(document, *(max(many, 1) for many in rows))
        yield renewed(document)
    for query, change, *_ in results.NUMBERS.values():
        yield renewed(_changed(results.released(results.PAIRED, results.PAIRS, query), change))
    for change in results.PROGRAMS.values():
        yield renewed(_changed(json.loads(results._of_programs()), change))
    for columns, population, query, covers, change, _ in forgeries.POPULATIONS.values():
        document = forgeries.released(columns, population, query, covers)
        forgeries.everywhere(document, change)
        yield renewed(document)
    for columns, query, covers, change, _ in forgeries.COLUMNS.values():
        yield renewed(_changed(forgeries.released(columns, forgeries.ALONE, query, covers), change))
    laplace = released(_folder(), "laplace", 2)
    for change in details.DETAILS.values():
        yield _changed(copy.deepcopy(laplace), change)
    for spec, told_of_it in details.NO_POPULATION.values():
        population = parse({"source": "made up", **spec})
        informed = population.leakage(1.0, adversary="informed")
        document = plain(conversion_certificate(population, informed))
        for stated in (document["population"], document["derivation"]["evidence"]["population"]):
            stated |= copy.deepcopy(told_of_it)
        yield renewed(document)


def _changed(document: Document, change: Change) -> Document:
    change(document)
    return document


# -- stories -------------------------------------------------------------------------------------


STILL = """

@program
def still(people: Database[Person]) -> Private[tuple[Real, Real]]:
    total = gaussian(sum(clip(p.height, 150, 190) for p in people), epsilon=0.5, delta=1e-7)
    nothing = gaussian(sum(0 for p in people), epsilon=0.5, delta=1e-7)
    return total, nothing
"""


def _vectors() -> Study:
    """Gaussian noise on vector records: on one of their columns, and on what is any kind."""
    table = test_gaussian.TABLE[test_gaussian.TABLE.who != "father"].reset_index(drop=True)
    bounds = {"height": {"bounds": [120, 220]}, "weight": {"bounds": [30, 130]}}
    return Study(
        table,
        dataset="vectors",
        n=len(table),
        columns={"family": {"role": "cluster"}, **bounds},
        population=test_gaussian.VECTOR,
        budget={"epsilon": 4.0, "delta": 1e-6, "noise": "gaussian"},
        queries=[
            {"name": "height", "kind": "mean", "column": "height"},
            {"name": "tall", "kind": "count", "where": "height > 180"},
        ],
        ledger=str(_folder() / "ledger.db"),
    )


@cache
def _texts() -> dict[str, str]:
    """The studies' honest certificates."""
    earlier = _folder()
    test_blocks.study(earlier / "ledger.db", "region == 'north'").release()
    gaussian = {"model": "gaussian", "size": 2, "max_correlation": 0.2, "covers": ["height"]}
    made = {
        # An earlier release was on a block of a column that this one does not read.
        "earlier block": test_blocks.study(earlier / "ledger.db", None),
        "lipschitz": program_studies.study(
            _folder(),
            asks("height"),
            columns=program_studies.changed(smokes=None),
            population=gaussian | {"source": "us"},
        ),
        "programs": program_studies.study(
            _folder(), asks("both"), asks("northern"), budget={"epsilon": 9.0, "delta": 1e-6}
        ),
        "still": program_studies.study(
            _folder(),
            asks("still"),
            text=program_studies.PEOPLE + STILL,
            budget={"epsilon": 9.0, "delta": 1e-6},
        ),
        "complete series": test_mechanism.study(_folder()),
    }
    texts = {name: json.dumps(_document(study)) for name, study in made.items()}
    day = {"day": {"public": True, "states": [1, 2, 3, 4]}}
    texts["grouped"] = json.dumps(
        released(_folder(), "grouped", columns=COLUMNS | day, queries=[ASKED[0] | {"by": "day"}])
    )
    texts["bins"] = json.dumps(results.released(results.PAIRED, results.PAIRS, results.BINS))
    texts["laplace alone"] = json.dumps(released(_folder(), "laplace alone"))
    texts["laplace"] = json.dumps(released(_folder(), "laplace", 2))
    pure = {"epsilon": 4.0, "spend": 1.0, "notion": "dp"}
    delta = pure | {"delta": 1e-6, "noise": "gaussian"}
    texts["dp delta twice"] = json.dumps(
        released(_folder(), "dp delta twice", 2, budget=delta, population=None)
    )
    texts["vectors"] = json.dumps(_document(_vectors()))
    below = COLUMNS | {"x": {"bounds": [-4.2, 0.6]}}
    of_the_ill = ASKED[1] | {"where": "ill == 1"}
    texts["numbers below 0"] = json.dumps(
        released(_folder(), "numbers below 0", columns=below, queries=[of_the_ill])
    )
    texts["hardly any noise"] = json.dumps(
        released(_folder(), "hardly any noise", queries=ASKED[:1], budget={"epsilon": 8.0})
    )
    texts["dp twice"] = json.dumps(released(_folder(), "dp twice", 2, budget=pure))
    return texts


def honest(name: str) -> Document:
    """The honest certificate of a study of this name."""
    document: Document = json.loads(_texts()[name])
    return document


def _private_block(document: Document) -> None:
    del document["columns"]["region"]["public"]


def _imputed(document: Document) -> None:
    document["columns"]["height"]["missing"] = {"impute": 160}


def _imputed_codes(document: Document) -> None:
    document["columns"]["height"]["missing"] = {"codes": [999], "impute": 160}


def _argument(name: str, value: object) -> Change:
    def change(document: Document) -> None:
        queries_of(document)[0]["evidence"]["query"]["parameters"] = {name: value}

    return change


def _gaps(document: Document) -> None:
    forgeries.everywhere(document, lambda population: population.update(complete=False))


def _cost_of_nothing(document: Document) -> None:
    queries_of(document)[1]["conclusion"]["rho"] = 0.0


def _failed(words: str, **other: Any) -> Change:
    def change(document: Document) -> None:
        answered = document["results"][-1]
        ((name, value),) = answered["releases"].items()
        said = value if isinstance(value, dict) else {"value": value}
        words_before = (
            f"The rest of the program failed ({words}). What it released until then has been "
        )
        answered["outputs"] = [
            {"type": "released", **said, "name": f"{answered['query']}, {name}"},
            {"type": "failure", "value": f"{words_before}paid for, and is kept.", **other},
        ]

    return change


def _unit(document: Document) -> None:
    document["results"][1]["outputs"][0]["unit"] = "miles"


def _public_count(document: Document) -> None:
    """Nothing private is counted, and nothing is said to be read."""
    document["columns"]["day"] = {"public": True, "states": [1, 2, 3, 4]}
    step = queries_of(document)[0]["evidence"]
    step["query"]["where"], step["spend"]["reads"] = "day == 1", []
    for spend in document["data_set"]["earlier_spends"]:
        if spend["query"] == "n":
            spend["reads"] = []


def _costs_in_evidence(part: str, share: float) -> Change:
    def change(document: Document) -> None:
        for step in document["derivation"]["premises"]:
            step["evidence"]["cost"][part] *= share

    return change


def _data_set(part: str, share: float) -> Change:
    def change(document: Document) -> None:
        document["data_set"][part] *= share

    return change


def _no_dataset(document: Document) -> None:
    document["data_set"]["earlier_spends"][0]["dataset"] = "another"


def _stated_delta(document: Document) -> None:
    """A point of the mechanism's curve that the release does not show."""
    step = document["derivation"]["premises"][0]
    pure = step["evidence"]["cost"]["any"]
    delta = {"counted": "pure", "way": "stated", "dp_epsilon": pure, "dp_delta": 1e-9}
    step["evidence"]["delta"], step["conclusion"]["delta"] = delta, 1e-6
    document["claim"]["delta"] = document["derivation"]["conclusion"]["delta"] = 1e-6
    document["derivation"]["evidence"]["delta"] = document["data_set"]["delta"] = 1e-6


def _private_groups(document: Document) -> None:
    del document["columns"]["day"]["public"]


def _another_label(document: Document) -> None:
    document["columns"]["region"]["states"] = ["north", "south", "west"]


def _less_slack(document: Document) -> None:
    for spend in queries_of(document)[0]["evidence"]["spends"]:
        spend["slack"] *= 0.5
    _costs_in_evidence("slack", 0.5)(document)


def _claims_less_dp(document: Document) -> None:
    document["claim"]["dp_epsilon"] *= 1 - 1e-13


def _concludes_more(document: Document) -> None:
    queries_of(document)[0]["conclusion"]["epsilon"] *= 2
    document["results"][0]["dp_epsilon"] *= 2


def _bins_beyond(document: Document) -> None:
    """Cells of a histogram that no value of the column lies in."""
    query = queries_of(document)[0]["evidence"]["query"]
    query["bins"] = [6.0, 7.0, 8.0]
    bounds = document["columns"]["x"]["bounds"]
    cells = cell_labels((6.0, 7.0, 8.0), tuple(bounds))
    shown = [document["results"][0] | {"cell": cell} for cell in cells]
    document["results"] = shown


def _data_set_below(document: Document) -> None:
    """The level of all spends and the step that concludes it: not what they add up to."""
    document["data_set"]["level"] *= 0.9
    document["derivation"]["premises"][-1]["conclusion"]["epsilon"] *= 0.9


def _negative_cost(document: Document) -> None:
    """Of noise on a number that does not move, which costs nothing."""
    queries_of(document)[0]["evidence"]["gaussian"]["gaussian_2"] = "-1/1000"


STORIES: dict[str, tuple[str, Change]] = {
    "a block of a private column": ("earlier block", _private_block),
    "a lipschitz cost of imputed values": ("lipschitz", _imputed),
    "a lipschitz cost of imputed codes": ("lipschitz", _imputed_codes),
    "an argument that the cost is not for": ("programs", _argument("level", 0.25)),
    "an argument of another name": ("programs", _argument("width", 0.5)),
    "a complete series that may have gaps": ("complete series", _gaps),
    "a zCDP cost of nothing": ("programs", _cost_of_nothing),
    "a failure with a unit": ("lipschitz", _failed("X", unit="cm")),
    "a failure with hidden letters": ("programs", _failed("X\u202e")),
    "a failure in other words": ("programs", _failed("X\nY")),
    "a unit that no column has": ("programs", _unit),
    "a count of public values": ("laplace", _public_count),
    "a step's cost below the spends": ("laplace", _costs_in_evidence("any", 0.5)),
    "a step's cost above the spends": ("laplace", _costs_in_evidence("any", 2.0)),
    "a data set's cost above the spends": ("laplace", _data_set("dp_epsilon", 2.0)),
    "a delta of a mechanism that is not shown": ("laplace alone", _stated_delta),
    "groups by a private column": ("grouped", _private_groups),
    "a label that the program does not have": ("programs", _another_label),
    "less slack than the steps add": ("lipschitz", _less_slack),
    "a DP cost a hair below the sum": ("laplace", _claims_less_dp),
    "a query's cost above its spend": ("laplace", _concludes_more),
    "bins beyond the bounds": ("bins", _bins_beyond),
    "a negative cost of a number that is still": ("still", _negative_cost),
    "another data set's spends": ("laplace", _no_dataset),
    "a data set's level below the sum": ("dp twice", _data_set_below),
}
"""A study, and the change that makes its certificate a forgery."""


def forged() -> Iterator[Document]:
    """The forgeries of all stories."""
    for name, change in STORIES.values():
        yield renewed(_changed(honest(name), change))
    yield from _no_populations()
    yield from _less_than_follows()
    yield from _other_steps()


NO_POPULATION: tuple[tuple[Document, Document], ...] = (
    (
        {"model": "graph", "records": 2, "states": 2, "factors": [
            {"between": [0, 1], "table": [[2.0, 1.0], [1.0, 2.0]]}
        ]},
        {"factors": [
            {"between": [0, 1], "table": [[1.0, 0.0], [0.0, 0.0]]},
            {"between": [0, 1], "table": [[0.0, 0.0], [0.0, 1.0]]},
        ]},
    ),
    (
        {"model": "gaussian", "covariance": [[1.0, 0.3], [0.3, 1.0]]},
        {"covariance": [[1.0, -1.5], [-1.5, 1.0]]},
    ),
    (
        {"model": "family", "members": [
            {"model": "gaussian", "covariance": [[1.0, 0.3], [0.3, 1.0]]},
            {"model": "clusters", "size": 2},
        ]},
        {"members": [
            {"model": "gaussian", "covariance": [[1.0, -1.5], [-1.5, 1.0]]},
            {"model": "clusters", "size": 2},
        ]},
    ),
)  # fmt: skip
"""Populations, and what makes of each a declaration that no population meets."""
ENOUGH = 99.0
ADVERSARIES: tuple[Adversary, ...] = ("any", "informed")


def _no_populations() -> Iterator[Document]:
    """By every theorem, under a level that is large enough for any."""
    for spec, told_of_it in NO_POPULATION:
        for adversary in ADVERSARIES:
            population = parse({"source": "us", **spec})
            cost = Cost(lipschitz=0.5) if spec["model"] == "gaussian" else HALF
            full = report(Question(population, adversary, "bounded", 1.0), cost)
            for bound in full.bounds:
                try:
                    alone = replace(full, bounds=(bound,))
                    document = plain(conversion_certificate(population, alone))
                except (BayesdpError, LookupError):
                    continue  # this bound has no certificate of its own
                step = document["derivation"]
                for stated in (document["population"], step["evidence"]["population"]):
                    stated |= copy.deepcopy(told_of_it)
                document["claim"]["epsilon"] = step["conclusion"]["epsilon"] = ENOUGH
                yield renewed(document)


def _less_than_follows() -> Iterator[Document]:
    """Of the levels that follow from another, each claimed to be lower."""
    chain = parse(POPULATIONS["chain"])
    made = test_relations.honest_document({"dp": 0.5}, chain)
    for place in range(len(made["claim"]["claims"])):
        document = copy.deepcopy(made)
        for holder in (document["claim"], document["derivation"]["conclusion"]):
            holder["claims"][place]["level"] *= 0.9
        yield test_relations.sealed(document)


HALF = Cost(any=0.5)


def _converted(spec: Document, rule: str, adversary: Any = "any", cost: Cost = HALF) -> Document:
    """The honest conversion of this cost by this theorem."""
    population = parse({"source": "us", **spec})
    full = report(Question(population, adversary, "bounded", 1.0), cost)
    (bound,) = (bound for bound in full.bounds if bound.theorem == rule)
    return plain(conversion_certificate(population, replace(full, bounds=(bound,))))


LONG = {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 10**8}


def _other_steps() -> Iterator[Document]:
    """Conversions whose step is about less than the claim is, or proves less."""
    made = _converted(POPULATIONS["family"], "family")
    members = made["derivation"]["premises"]
    small = min(members, key=lambda step: float(step["conclusion"]["epsilon"]))
    easier = copy.deepcopy(made)
    steps = easier["derivation"]["premises"]
    for step in steps:
        step["evidence"]["population"] = copy.deepcopy(small["evidence"]["population"])
        step["conclusion"] = copy.deepcopy(small["conclusion"])
    yield _claimed(easier, small["conclusion"]["epsilon"])
    weaker = copy.deepcopy(made)
    for step in weaker["derivation"]["premises"]:
        step["conclusion"] |= {"adversary": "informed", "epsilon": 0.5}
    yield _claimed(weaker, 0.5)
    bounded = copy.deepcopy(made)
    for step in bounded["derivation"]["premises"]:
        other = {"bounded": "unbounded", "unbounded": "bounded"}
        step["evidence"]["secrets"] = other[step["evidence"]["secrets"]]
    yield renewed(bounded)
    for rule in ("cluster-size", "family"):
        name = "clusters" if rule == "cluster-size" else rule
        below = _converted(POPULATIONS[name], rule)
        below["derivation"]["conclusion"]["epsilon"] *= 0.9
        yield renewed(below)
        free = _converted(POPULATIONS[name], rule)
        free["claim"]["dp_rho"] = 0.25
        yield renewed(free)
    above = _converted(POPULATIONS["clusters"], "cluster-size")
    above["derivation"]["conclusion"]["epsilon"] *= 1.5
    yield renewed(above)
    free = _converted(POPULATIONS["covariance"], "gaussian-covariance", cost=Cost(lipschitz=0.5))
    free["claim"]["secrets"] = free["derivation"]["evidence"]["secrets"] = "unbounded"
    yield renewed(free)
    fixed = _converted(POPULATIONS["order 2"], "markov-window")
    for stated in (fixed["population"], fixed["derivation"]["evidence"]["population"]):
        stated["transition"] = [[[1.0, 0.0]] * 2] * 2
    yield _claimed(fixed, ENOUGH)
    document = long_chain()
    del document["derivation"]["evidence"]["details"]["closed"]
    yield _claimed(document, ENOUGH)


def _claimed(document: Document, level: float) -> Document:
    document["claim"]["epsilon"] = document["derivation"]["conclusion"]["epsilon"] = level
    return renewed(document)


def long_chain() -> Document:
    """The honest conversion for a chain that is too long to follow to its end."""
    return _converted(LONG, "markov-recursion", "uninformed")


def slow() -> Iterator[Document]:
    """A witness of the tails that is a little too small: seconds go by until this is certain."""
    document = long_chain()
    for side in document["derivation"]["evidence"]["details"]["closed"]:
        for row in side:
            row[:] = [entry * 0.999 for entry in row]
    yield _claimed(document, ENOUGH)


def valid() -> Iterator[Document]:
    """The honest certificates that the stories begin with."""
    yield from map(honest, _texts())
    yield long_chain()


__all__ = ["STORIES", "forged", "from_tables", "honest", "queries_of", "slow", "valid"]
