"""What a valid certificate claims, as plain data and in words: levels, costs, theorem, population.

Of a certificate that is not valid nothing is repeated. The numbers are those that the kernel has
derived again; in words they have six digits, rounded up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesdp.accounting.costs.rounded import up_words
from bayesdp.release.words import cost_words
from bayesdp.statements.assumptions import named
from bayesdp.statements.populations import in_short

Document = Mapping[str, Any]


def claim_of(document: Document) -> dict[str, Any]:
    """What a certificate claims; it has to be valid, so that all that is read here is there.

    `subject` is its kind: `release`, `conversion` (of every mechanism of a DP cost), `relations`
    (levels of several notions) or `program`. Levels are in nats.
    """
    rule, claim = document["derivation"]["rule"], document["claim"]
    subject = rule if rule in _WORDS else "conversion"
    claim_fields: dict[str, Any] = {"subject": subject, "digest": document["digest"]}
    if subject == "relations":
        return (
            claim_fields
            | {"levels": [dict(level) for level in claim["claims"]]}
            | _population(document)
        )
    claim_fields |= {"notion": claim["notion"], "level": claim["epsilon"], "delta": claim["delta"]}
    if subject == "program":
        return claim_fields | {"adjacency": claim["adjacency"]}
    step = document["derivation"]["premises"][0] if subject == "release" else document["derivation"]
    claim_fields |= {
        "theorem": step["rule"],
        **{key: claim[key] for key in ("dp_epsilon", "dp_rho", "dp_delta") if key in claim},
        **{key: claim[key] for key in ("adversary", "secrets") if key in claim},
        **_population(document),
    }
    if subject == "release":
        state = document["data_set"]
        whole = {"level": state["level"], "delta": state.get("delta", 0.0)}
        claim_fields |= {
            "dataset": document["dataset"],
            "records": document["n"],
            "data_set": whole,
        }
        optional = ("people", "ledger")
        claim_fields |= {key: document[key] for key in optional if document.get(key) is not None}
    return claim_fields


def claim_words(claim: Document) -> list[str]:
    """What a certificate claims, in a few lines; none where it is not valid."""
    return [*_WORDS[claim["subject"]](claim), f"digest {claim['digest']}"] if claim else []


def _population(document: Document) -> dict[str, Any]:
    population = document.get("population")
    if population is None:
        return {}
    return {"population": {"model": population["model"], "declares": in_short(population)}}


def _level(notion: str, level: float, delta: float) -> str:
    at = f" at delta {up_words(delta)}" if delta > 0.0 else ""
    return f"the {notion.upper()} level {up_words(level)}{at}"


def _of_release(claim: Document) -> list[str]:
    whole, dataset = claim["data_set"], f"the data set {named(claim['dataset'])}"
    if "people" in claim:
        dataset = f"all data sets of the people {named(claim['people'])}"
    together = _level(claim["notion"], whole["level"], whole["delta"])
    return [
        f"this release has {_level(claim['notion'], claim['level'], claim['delta'])}",
        f"all releases of {dataset} so far have {together}",
        *_adversary(claim),
        f"by the theorem {claim['theorem']}, from the {_cost(claim)}",
        *(_entry(claim["ledger"]) if "ledger" in claim else []),
    ]


def _entry(entry: Mapping[str, Any]) -> list[str]:
    return [f"its debit is entry {entry['sequence']} of its ledger, with the head {entry['head']}"]


def _of_conversion(claim: Document) -> list[str]:
    return [
        f"every mechanism of the stated kind and {_cost(claim)} has "
        f"{_level(claim['notion'], claim['level'], claim['delta'])}",
        *_adversary(claim),
        f"by the theorem {claim['theorem']}",
    ]


def _of_relations(claim: Document) -> list[str]:
    return [
        f"{level['notion']} at the level {up_words(level['level'])}" for level in claim["levels"]
    ]


def _of_program(claim: Document) -> list[str]:
    level = _level(claim["notion"], claim["level"], claim["delta"])
    return [f"the program has {level}, adjacency {claim['adjacency']}"]


def _adversary(claim: Document) -> list[str]:
    if claim["notion"] == "dp":
        return []
    return [f"against the adversary '{claim['adversary']}', for the population that is assumed"]


def _cost(claim: Document) -> str:
    delta = claim.get("dp_delta", 0.0)
    at = f" at delta {up_words(delta)}" if delta > 0.0 else ""
    return cost_words(claim["dp_epsilon"], claim.get("dp_rho", 0.0)) + at


_WORDS = {
    "release": _of_release,
    "conversion": _of_conversion,
    "relations": _of_relations,
    "program": _of_program,
}
