"""Which keys every step of a derivation has: exactly those that the kernel reads.

Numbers and words that no rule reads would be shown beside checked ones, so a step that has any is
refused. What a rule reads of `details` is in `DETAILS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bayesdp.kernel.approximate import RULE as DP_RULE
from bayesdp.kernel.arithmetic import UnknownError, exact, follows, require, whole
from bayesdp.kernel.judgement import RULES
from bayesdp.kernel.program_queries import RULE as PROGRAM
from bayesdp.kernel.stated import same, stated_population, stated_spend

DETAILS: Mapping[str, frozenset[str]] = {
    "finite-law": frozenset({"proofs"}),
    "markov-count": frozenset({"mechanism"}),
    "markov-recursion": frozenset({"steps", "closed"}),
    "markov-threshold": frozenset({"steps", "closed"}),
    "markov-window": frozenset({"closed"}),
}
"""What each theorem's rule reads of its step's `details`; all others read nothing."""

COMPOSITION = "sequential-composition"


def keys(part: Mapping[str, Any], needed: str, where: str, maybe: str = "") -> None:
    """`InvalidError` unless the part has the needed keys, and no others than `maybe`."""
    found, due = set(part), set(needed.split())
    unknown = sorted(found - due - set(maybe.split()))
    require(not unknown, f"no rule says what {unknown} means", where)
    require(due <= found, f"{sorted(due - found)} is missing", where)


def check_steps(document: Mapping[str, Any]) -> Any:
    """All steps of a derivation; those inside a program's own are the programs' part to check."""
    root = document["derivation"]
    plain = document.get("population")
    population = None if plain is None else stated_population(plain)
    if root["rule"] == "relations":
        _relations(document)
    elif root["rule"] == "release":
        _release(document)
    elif root["rule"] != PROGRAM:
        covers = document["population"].get("covers", [])
        _alone(root, covers)
    return population


def _alone(step: Mapping[str, Any], covers: Sequence[str]) -> None:
    """A conversion of any mechanism: no column is set apart from those that it covers."""
    _conversion(step, 0)
    evidence = step["evidence"]
    told = evidence["covers"], evidence["independent"], evidence.get("interval")
    require(same(list(told), [list(covers), [], None]), "columns that nobody declares", "covers")


def _conversion(step: Mapping[str, Any], below: int) -> None:
    """A step from DP to BDP; `below` it a composition or none, and a family's members."""
    rule, evidence, premises = step["rule"], step["evidence"], step["premises"]
    if rule not in RULES:
        raise UnknownError("no rule of this name", str(rule))
    keys(step, "rule conclusion evidence premises", rule)
    keys(step["conclusion"], "notion epsilon adversary", rule, "delta")
    needed = "population covers independent secrets cost"
    keys(evidence, needed, rule, "interval delta details")
    stated_population(evidence["population"])
    _cost(evidence["cost"], rule)
    if "delta" in evidence:
        _delta(evidence["delta"], rule)
    details = evidence.get("details", {})
    keys(details, "", f"{rule}: details", " ".join(DETAILS.get(rule, ())))
    _proofs(details.get("proofs", []), f"{rule}: proofs")
    if details.get("steps") is not None:
        whole(details["steps"], "steps")
    members = evidence["population"]["members"] if rule == "family" else []
    require(len(premises) == below + len(members), "a premise too many or too few", rule)
    for member in premises[below:]:
        _conversion(member, 0)
        follows(member["conclusion"]["epsilon"], step["conclusion"]["epsilon"], "family")
        for key in ("covers", "independent", "interval"):
            told = member["evidence"].get(key), evidence.get(key)
            require(same(*told), f"{key}: a member's is another", rule)


def _proofs(proofs: Sequence[Mapping[str, Any]], where: str) -> None:
    """Each is about another question, and made of whole numbers and flows."""
    about = set()
    for proof in proofs:
        keys(proof, "i K x_K x_i x_i' multiplier flows", where)
        known, values = proof["K"], proof["x_K"]
        for one in (*known, *values, proof["i"], proof["x_i"], proof["x_i'"]):
            whole(one, where)
        require(len(known) == len(values) == len(set(known)), "what is known", where)
        require(proof["i"] not in known, "the record that is attacked is known", where)
        require(proof["x_i"] != proof["x_i'"], "two values that are one", where)
        require(exact(proof["multiplier"]) >= 0, "a negative multiplier", where)
        for first, second, amount in proof["flows"]:
            require(whole(first, where) != whole(second, where), "a flow to itself", where)
            require(exact(amount) >= 0, "a negative flow", where)
        place = tuple(sorted(zip(known, values, strict=True)))
        about.add((proof["i"], place, proof["x_i"], proof["x_i'"]))
    require(len(about) == len(proofs), "two proofs of one question", where)


def _cost(cost: Mapping[str, Any], where: str) -> None:
    maybe = "by_column rho_any rho_lipschitz rho_slack"
    keys(cost, "any lipschitz slack", f"{where}: cost", maybe)
    for column in cost.get("by_column", []):
        keys(column, "column width dp_epsilon slack", f"{where}: cost", "rho rho_slack")


def _delta(proof: Mapping[str, Any], where: str) -> None:
    if proof["way"] == "renyi":
        keys(proof, "counted way alpha", f"{where}: delta")
        return
    keys(proof, "counted way dp_epsilon dp_delta", f"{where}: delta", "alpha")
    none = proof["way"] == "point" or proof.get("alpha") is None
    require(none, "an order that nothing rests on", f"{where}: delta")


# -- relations --------------------------------------------------------------------------------


def _relations(document: Mapping[str, Any]) -> None:
    root, claim = document["derivation"], document["claim"]
    keys(claim["parameters"], "size default", "claim")
    keys(root["conclusion"], "claims", "relations")
    for one in (*claim["claims"], *root["conclusion"]["claims"]):
        keys(one, "notion level", "claims")
    covers = (document["population"] or {}).get("covers", [])
    for step in root["premises"]:
        while step["rule"] != "given":
            keys(step["conclusion"], "notion level", step["rule"])
            keys(step["evidence"], "hypotheses", step["rule"], "conversion")
            if "conversion" in step["evidence"]:
                _alone(step["evidence"]["conversion"], covers)
            (step,) = step["premises"]
        keys(step["conclusion"], "notion level", "given")


# -- releases ---------------------------------------------------------------------------------


def _release(document: Mapping[str, Any]) -> None:
    root, claim, state = document["derivation"], document["claim"], document["data_set"]
    of_bdp = claim["notion"] == "bdp"
    more = " adversary scope secrets" if of_bdp else ""
    keys(claim, "notion epsilon delta dp_epsilon" + more, "claim", "dp_rho")
    if not of_bdp:
        require(document["population"] is None, "DP is about no population", "population")
    keys(root["conclusion"], "notion epsilon", "release", "delta")
    keys(root["evidence"], "total", "release", "delta")
    own, *data_set = root["premises"]
    composition = own if own["rule"] == COMPOSITION else own["premises"][0]
    _composition(composition)
    for step, below in ((own, 1), *((one, 0) for one in data_set)):
        if of_bdp:
            _conversion(step, below)
        elif step["rule"] == DP_RULE:
            keys(step["conclusion"], "notion epsilon delta", DP_RULE)
            keys(step["evidence"], "cost delta", DP_RULE)
            _cost(step["evidence"]["cost"], DP_RULE)
            _delta(step["evidence"]["delta"], DP_RULE)
            require(len(step["premises"]) == below, "a premise too many or too few", DP_RULE)
        elif step is not composition:
            require(step["rule"] == "data-set", "no rule of this name", str(step["rule"]))
            keys(step["conclusion"], "notion epsilon", "data-set")
            bare = step["evidence"] == {} and step["premises"] == []
            require(bare and step["conclusion"]["notion"] == "dp", "more than a sum", "data-set")
    for spend in state["earlier_spends"]:
        stated_spend(spend)


def _composition(step: Mapping[str, Any]) -> None:
    keys(step["conclusion"], "notion epsilon", COMPOSITION, "rho")
    keys(step["evidence"], "adjacency", COMPOSITION)
    for one in step["premises"]:
        evidence, conclusion, rule = one["evidence"], one["conclusion"], str(one["rule"])
        if rule == PROGRAM:
            keys(evidence, "query fields spends", rule, "gaussian")
            for spend in evidence["spends"]:
                stated_spend(spend)
            continue
        gaussian = rule == "discrete-gaussian"
        summed = evidence["query"]["kind"] in ("sum", "mean")
        moved = " sensitivity_squared" if gaussian else " sensitivity"
        needed = "query scale step spend" + moved + (" grid" if summed else "")
        keys(evidence, needed, rule)
        stated_spend(evidence["spend"])
        keys(conclusion, "notion epsilon kind" + (" rho" if gaussian else ""), rule)
        nothing = not gaussian or conclusion["epsilon"] == 0.0
        require(nothing, "a pure cost of Gaussian noise", rule)
        require(one["premises"] == [], "a premise that nothing rests on", rule)
        if summed:
            _grid(evidence["grid"], rule)


def _grid(grid: Mapping[str, Any], where: str) -> None:
    keys(grid, "lo hi bits masked slack", where)
    bits = whole(grid["bits"], "bits")
    require(bits <= 62, "no such grid", where)
    require(exact(grid["slack"]) == Fraction(2, 2**bits), "the grid's slack", where)
