"""Forged chains of relations: each is refused by one check, and by no other.

Their assumptions are those that they would have if nothing were required of them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from flint import arb

from bayesdp import kernel
from bayesdp.kernel import ROUNDING
from bayesdp.kernel.conversions.hypotheses import Facts
from tests.kernel.all_kinds import POPULATIONS, certificate
from tests.kernel.test_relations import honest_document
from tests.theorems.test_implied import CHAIN, TWINS

Document = dict[str, Any]
SPEC = {"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 9}


def given(notion: str, level: float) -> Document:
    conclusion = {"notion": notion, "level": level}
    return {"rule": "given", "conclusion": conclusion, "evidence": {}, "premises": []}


def then(below: Document, relation: str, notion: str, level: float, *hypotheses: str) -> Document:
    """One relation more above a chain."""
    return {
        "rule": f"relation:{relation}",
        "conclusion": {"notion": notion, "level": level},
        "evidence": {"hypotheses": list(hypotheses)},
        "premises": [below],
    }


def document(
    *chains: Document, population: Document | None = SPEC, declared: tuple[str, ...] = ()
) -> Document:
    """The certificate of these chains, which claims what they conclude."""
    claims = [chain["conclusion"] for chain in chains]
    plain: Document = {
        "format": "bayesdp-certificate",
        "version": 1,
        "software": "bayesdp 0.1.0",
        "rounding": ROUNDING,
        "claim": {"claims": claims, "parameters": {"size": 2, "default": 0}},
        "population": population,
        "declared": list(declared),
        "assumptions": [],
        "derivation": {
            "rule": "relations",
            "conclusion": {"claims": claims},
            "evidence": {},
            "premises": list(chains),
        },
        "digest": "",
    }
    return sealed(json.loads(json.dumps(plain)))  # nothing in it stands in two places


def sealed(plain: Document) -> Document:
    """With the assumptions of what nobody checks."""
    room = "bayesdp.kernel.conversions.relations"
    names = ("require", "agree", "at_least", "follows")
    nothing: dict[str, Any] = {name: lambda *_, **__: None for name in names}
    nothing["conversion_level"] = lambda *_: arb(0)
    with (
        patch.multiple(room, **nothing),
        patch("bayesdp.kernel.conversions.hypotheses.require", nothing["require"]),
    ):
        return plain | {"assumptions": kernel.relation_assumptions(plain)}


def _of_other_claims(plain: Document, **claim: Any) -> Document:
    changed = copy.deepcopy(plain)
    for holder in (changed["claim"], changed["derivation"]["conclusion"]):
        holder["claims"][0] |= claim
    return sealed(changed)


def forged() -> Iterator[Document]:
    """The forgeries, none of which is valid."""
    dp, sp, bdp = given("dp", 0.5), given("sp", 0.5), given("bdp", 0.5)
    strong = then(dp, "dp-to-strong-dp", "strong-dp", 0.5)
    yield document(given("zcdp", 0.5))
    yield document(given("sp", 1.5))
    yield document(then(given("bdp", 4.0), "bdp-to-bsp", "bsp", 1.5))
    yield document(then(sp, "dp-to-strong-dp", "strong-dp", 0.5))
    yield document(then(dp, "dp-to-strong-dp", "sp", 0.5))
    yield document(then(dp, "dp-to-strong-dp", "strong-dp", 0.4))
    yield document(then(dp, "dp-to-group-dp", "group-dp", 0.9))
    yield document(then(bdp, "bdp-to-dp", "dp", 0.5))
    yield document(then(bdp, "bdp-to-dp", "dp", 0.5, "full-support", "mutual-independence"))
    yield document(then(dp, "dp-to-bdp", "bdp", 0.5))
    yield document(then(dp, "dp-to-bdp-uninformed", "bdp-uninformed", 0.5))
    yield document(strong, declared=("full-support",), population=_bare(TWINS.spec()))
    yield _of_other_claims(document(strong), notion="dp")
    yield _of_other_claims(document(strong), level=0.4)
    other = document(strong)
    other["claim"] = copy.deepcopy(other["claim"])
    other["claim"]["claims"][0]["level"] = 0.4
    yield other
    yield document(strong) | {"rounding": "to the nearest"}
    yield from _conversions()
    yield _of_one_population()
    yield _not_definite()


def _of_one_population() -> Document:
    """The level of groups from one that a theorem gives for this population alone."""
    made = honest_document({"dp": 0.5}, CHAIN)
    chains = made["derivation"]["premises"]
    chain = next(c for c in chains if c["conclusion"]["notion"] == "bdp-uninformed")
    every, level = "every-population", chain["conclusion"]["level"]
    groups = then(chain, "bdp-uninformed-to-group-dp", "group-dp", level, every)
    return document(groups, population=made["population"], declared=(every,))


def _not_definite() -> Document:
    """Every database is possible under a Gaussian law, if it is one."""
    population = {"model": "gaussian", "covariance": [[1.0, -1.5], [-1.5, 1.0]]}
    with patch.object(Facts, "_shown", return_value=True):
        of_it = then(given("bdp", 0.5), "bdp-to-dp", "dp", 0.5, "full-support")
        return document(of_it, population=population)


def _bare(spec: Document) -> Document:
    return {key: value for key, value in spec.items() if key != "source"}


def _conversions() -> Iterator[Document]:
    """Of chains through a theorem: more than follows, or a conversion of something else."""
    made = honest_document({"dp": 0.5}, CHAIN)
    chain = next(c for c in made["derivation"]["premises"] if c["conclusion"]["notion"] == "bdp")
    population = made["population"]
    yield _with(chain, population, lambda inside: inside["conclusion"].update(epsilon=99.0))
    yield _with(chain, population, lambda inside: inside["evidence"]["cost"].update(any=0.4))
    yield _with(chain, population, lambda inside: inside["evidence"]["cost"].update(slack=0.1))
    lower = copy.deepcopy(chain)
    lower["conclusion"]["level"] *= 0.9
    lower["evidence"]["conversion"]["conclusion"]["epsilon"] *= 0.9
    yield document(lower, population=population)
    informed = copy.deepcopy(chain)
    informed["conclusion"]["level"] = 0.5
    inside = informed["evidence"]["conversion"]
    inside["conclusion"] |= {"adversary": "informed", "epsilon": 0.5}
    inside["evidence"]["details"] = {}
    yield document(informed, population=population)
    beside = then(given("dp", 0.5), "dp-to-strong-dp", "strong-dp", 0.5)
    beside["evidence"]["conversion"] = chain["evidence"]["conversion"]
    yield document(beside, population=population)
    delta = certificate("delta conversion")["derivation"]
    at_delta = copy.deepcopy(chain)
    at_delta["evidence"]["conversion"] = delta
    at_delta["premises"] = [given("dp", 0.1)]
    at_delta["conclusion"]["level"] = delta["conclusion"]["epsilon"]
    yield document(at_delta, population=POPULATIONS["clusters"])


def _with(chain: Document, population: Document, change: Any) -> Document:
    changed = copy.deepcopy(chain)
    change(changed["evidence"]["conversion"])
    return document(changed, population=population)


def honest() -> Iterator[Document]:
    """Valid ones, that the forgeries are near to."""
    dp = given("dp", 0.5)
    strong = then(dp, "dp-to-strong-dp", "strong-dp", 0.5)
    yield document(dp)
    yield document(strong, declared=("record-secrets",))
    yield document(strong, then(strong, "strong-dp-to-dp", "dp", 0.6))
    yield document(then(dp, "dp-to-group-dp", "group-dp", 1.0), population=None)
    yield document(given("sp", 1.0))
    everywhere = ("every-population",)
    uninformed = given("bdp-uninformed", 0.5)
    shown = then(uninformed, "bdp-uninformed-to-group-dp", "group-dp", 0.5, *everywhere)
    yield document(shown, declared=everywhere, population=None)
    yield document(then(given("bdp", 0.5), "bdp-to-dp", "dp", 0.5, "full-support"))
