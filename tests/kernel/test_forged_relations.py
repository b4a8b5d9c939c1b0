"""Relations under hypotheses that the population refutes: forgeries that were VALID once.

Each is a certificate of the day that declares the hypothesis and no population, with a population
put into it.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from bayesdp import kernel
from bayesdp.certificate import content_of, digest
from bayesdp.errors import InputError
from bayesdp.populations import parse
from bayesdp.release.certificates.implications import implications_certificate
from bayesdp.theorems.relations.search import implied

Document = dict[str, Any]

STICKY = {"model": "markov", "transition": [[0.99, 0.01], [0.01, 0.99]], "length": 9}
ALTERNATING = {"model": "markov", "transition": [[0.0, 1.0], [1.0, 0.0]], "length": 9}
ONE_WAY = {
    "model": "markov",
    "transition_lower": [[0.4, 0.4], [0.0, 1.0]],
    "transition_upper": [[0.6, 0.6], [0.0, 1.0]],
    "initial": [0.5, 0.5],
    "length": 9,
}
FIXED_ALTERNATING = {
    "model": "markov",
    "transition_lower": [[0.0, 1.0], [1.0, 0.0]],
    "transition_upper": [[0.0, 1.0], [1.0, 0.0]],
    "length": 9,
}
BETWEEN = {
    "model": "markov",
    "transition_lower": [[0.4, 0.4], [0.4, 0.4]],
    "transition_upper": [[0.6, 0.6], [0.6, 0.6]],
    "length": 9,
}
PAIRS = {
    "model": "markov",
    "order": 2,
    "transition": [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]],
    "length": 9,
}
EDGE = [[9.0, 1.0], [1.0, 9.0]]
LONG = [{"between": [i, i + 1], "table": EDGE} for i in range(39)]
DEPENDENT = {
    "markov": STICKY,
    "alternating": ALTERNATING,
    "intervals": BETWEEN,
    "order-2": PAIRS,
    "clusters": {"model": "clusters", "size": 50},
    "unknown": {"model": "unknown", "records": 50},
    "autoregressive": {"model": "autoregressive", "coefficient": 0.9, "length": 9},
    "max-correlation": {"model": "gaussian", "size": 50, "max_correlation": 0.99},
    "covariance": {"model": "gaussian", "covariance": [[1.0, 0.99], [0.99, 1.0]]},
    "precision": {"model": "gaussian", "precision": [[1.0, -0.9], [-0.9, 1.0]]},
    "finite": {"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]]},
    "graph": {
        "model": "graph",
        "records": 2,
        "states": 2,
        "factors": [{"between": [0, 1], "table": EDGE}],
    },
    "long-graph": {"model": "graph", "records": 40, "states": 2, "factors": LONG},
    "grid": {"model": "graph", "grid": [30, 30], "states": 2, "table": EDGE},
    "edges": {"model": "graph", "records": 3, "states": 2, "edges": [[0, 2]], "table": EDGE},
    "tree": {
        "model": "tree",
        "nodes": [
            {"name": "a", "law": [0.5, 0.5]},
            {"name": "b", "parent": "a", "transition": [[0.99, 0.01], [0.01, 0.99]]},
        ],
    },
    "network": {
        "model": "network",
        "nodes": [
            {"name": "a", "states": 2, "table": [0.5, 0.5]},
            {"name": "b", "states": 2, "table": [0.5, 0.5]},
            {
                "name": "c",
                "states": 2,
                "parents": ["a", "b"],
                "table": [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]],
            },
        ],
    },
    "family": {
        "model": "family",
        "members": [{"model": "clusters", "size": 50}, {"model": "independent"}],
    },
}
"""The network's records are pairwise independent."""

FAIR = {"model": "markov", "transition": [[0.5, 0.5], [0.5, 0.5]], "length": 9}
CASES = [({"dp": 1.0}, "bdp", ["mutual-independence"], name) for name in DEPENDENT] + [
    (
        {"causal-do": 1.0},
        "bdp-uninformed",
        ["causal-structure", "mutual-independence"],
        "markov",
    ),
    ({"bdp": 1.0}, "dp", ["full-support"], FIXED_ALTERNATING),
    ({"bdp-informed": 1.0}, "dp", ["full-support"], ONE_WAY),
    ({"bsp": 0.2}, "bdp", ["default-possible"], ALTERNATING),
    ({"bsp": 0.2}, "bdp", ["default-possible"], FIXED_ALTERNATING),
]


def made(given: dict[str, float], notion: str, assume: list[str]) -> Document:
    """What follows by declared hypotheses, whatever the population."""
    consequence = implied(given, None, assume, size=2, default=0)
    document: Document = json.loads(implications_certificate(consequence, [notion]).to_json())
    assert kernel.check(document).verdict == "VALID ASSUMING"
    return document


def sealed(document: Document) -> Document:
    document = copy.deepcopy(document)
    try:
        document["assumptions"] = kernel.relation_assumptions(document)
    except Exception:  # what derives nothing keeps its list
        document["assumptions"] = list(document["assumptions"])
    return document | {"digest": digest(content_of(document))}


@pytest.mark.parametrize(("given", "notion", "assume", "forged"), CASES)
def test_a_declaration_that_the_population_refutes(
    given: dict[str, float],
    notion: str,
    assume: list[str],
    forged: str | Document,
):
    spec = DEPENDENT[forged] if isinstance(forged, str) else forged
    document = made(given, notion, assume)
    document["population"] = spec
    verdict = kernel.check(sealed(document))
    assert verdict.verdict == "INVALID"
    assert verdict.reason == f"the population refutes {assume[-1]}"
    with pytest.raises(InputError, match="is false: ") as refused:
        implied(given, parse(spec), assume, size=2, default=0)
    assert refused.value.key == "assume"


def test_a_default_between_two_values():
    document = made({"dp": 1.0}, "sp", ["default-in-domain"])
    document["claim"]["parameters"]["default"] = 0.5
    document["population"] = FAIR
    verdict = kernel.check(sealed(document))
    assert (verdict.verdict, verdict.reason) == (
        "INVALID",
        "the population refutes default-in-domain",
    )
    # Of clusters nobody declares which values there are: .5 may be one of them, and it is said.
    document["population"] = {"model": "clusters", "size": 3}
    verdict = kernel.check(sealed(document))
    assert verdict.verdict == "VALID ASSUMING"
    assert "the default record has the value 0.5" in verdict.assuming
    assert any("default-in-domain" in said for said in verdict.assuming)


PINNED = {
    "model": "markov",
    "transition_lower": [[0.25, 0.75], [0.0, 0.5]],
    "transition_upper": [[0.25, 0.75], [0.5, 1.0]],
    "length": 1,
}
"""A record of the stationary law, in which 0 may be impossible; full support is left open."""


def test_what_follows_from_declarations_is_not_what_the_population_refutes():
    """A default that is possible follows from full support, unless the population refutes it."""
    document = made({"bsp": 0.2}, "bdp", ["full-support", "default-in-domain"])
    document["population"] = PINNED
    verdict = kernel.check(sealed(document))
    assert verdict.verdict == "INVALID"
    assert verdict.reason == "the population refutes default-possible"
    known = implied({"bsp": 0.2}, parse(PINNED), ["full-support"], size=2, default=0)
    steps = {step.relation for consequence in known.implied for step in consequence.path}
    assert "bsp-to-sp" in steps
    assert "bsp-to-bdp" not in steps
